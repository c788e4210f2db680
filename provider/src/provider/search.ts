/**
 * Looks on the platform for what a create of unknown outcome has made, by the mark that it was sent with; and the marks themselves,
 * which stand in a resource's inputs, so that the engine's record of an interrupted run holds them.
 */

import { isDeepStrictEqual } from "node:util";
import { AdvertisingError, count, enumerate, momentOf } from "../base/index.js";
import { visibleFromMs } from "../decision/index.js";
import { belongsAlready, type Kind } from "../kinds/index.js";
import { knownOperations } from "../settings/index.js";
import { type CreateRecord, MARK, memberMark, readMark, writeMark } from "../state/index.js";
import { argumentsIn, type Properties } from "./inputs.js";
import type { Services } from "./services.js";

type Sent = Pick<CreateRecord, "mark" | "at" | "field">;

export interface Look {
  /** In this run: then it is never taken for not made. */
  readonly wasJustSent: boolean;
  /** Not several times. @default false */
  readonly isOnce?: boolean;
  /** Ids that its resource had before, perhaps sent with the same mark: a set's member keeps its mark while the arguments stay. */
  readonly formerIds?: readonly string[] | undefined;
}

export type Finding =
  | { readonly kind: "found"; readonly id: string }
  /** There is none, and by now there won't be: it was not carried out. */
  | { readonly kind: "not-made" }
  /** Not known yet. @param words what was asked and what came back, and what happens next. */
  | { readonly kind: "open"; readonly words: string };

/** Before each look, growing: what was just made may be found only later. */
const PAUSES_S = [1, 2, 4, 8, 15];

type Searcher = Pick<Services, "reading" | "clock" | "client">;

export async function lookFor(
  kind: Kind,
  runtime: Searcher,
  label: string,
  sent: Sent,
  { wasJustSent, isOnce = false, formerIds = [] }: Look,
): Promise<Finding> {
  const { settings } = runtime.reading;
  const { search, read } = knownOperations(kind, settings);
  if (search === undefined || sent.field === undefined) throw new Error("search without the operation");
  const wanted = { kind, operation: search, field: sent.field, mark: sent.mark, label };
  const dueMs = resendDueMs(sent, runtime);
  const provenFromMs = visibleFromMs(Date.parse(sent.at) + settings.requestTimeoutSeconds * 1000, settings);
  /** A search may list what was deleted: that no create takes over. */
  const isGone = async (id: string) =>
    read !== undefined &&
    runtime.clock.wallMs() >= provenFromMs &&
    (await runtime.client().read({ kind, operation: read, id, label })) === undefined;
  let answer = "";
  let looks = 0;
  const later = isOnce ? [] : PAUSES_S;
  for (const pause of wasJustSent ? later : [0, ...later]) {
    try {
      if (pause > 0) await runtime.clock.sleep(pause * 1000);
      // Before it is asked: what is made meanwhile must not be taken for not made.
      const isDue = !wasJustSent && dueMs !== undefined && runtime.clock.wallMs() >= dueMs;
      looks++;
      const ids: string[] = [];
      for (const each of await runtime.client().search(wanted))
        if (!formerIds.includes(each) && !(await isGone(each))) ids.push(each);
      const [id] = ids;
      if (ids.length > 1) return { kind: "open", words: severalIn(ids, sent) };
      if (id !== undefined) return { kind: "found", id };
      if (isDue) return { kind: "not-made" };
      answer = "there is none.";
    } catch (error) {
      // A search in trouble says nothing of the create.
      if (!(error instanceof AdvertisingError)) throw error;
      answer = error.message;
    }
  }
  const until = momentOf(runtime.clock);
  return {
    kind: "open",
    words: `${searchedFor(sent)} ${count(looks, "time")} until ${until}: ${answer} ${nextIn(dueMs)}`,
  };
}

/** From when on a create that a search does not find was not carried out; none where that is never taken for granted. */
export function resendDueMs(
  { at }: Pick<Sent, "at">,
  { reading: { settings } }: Pick<Searcher, "reading">,
): number | undefined {
  const after = settings.operations?.resendAfterSeconds;
  const sentMs = Date.parse(at);
  if (after === undefined || Number.isNaN(sentMs)) return undefined;
  return visibleFromMs(sentMs + (settings.requestTimeoutSeconds + after) * 1000, settings);
}

function nextIn(dueMs: number | undefined): string {
  return dueMs === undefined
    ? "The next `pulumi up` looks again."
    : `The next \`pulumi up\` looks again, and from ${new Date(dueMs).toISOString()} on sends it again if there still is none.`;
}

function severalIn(ids: readonly string[], sent: Sent): string {
  return `${searchedFor(sent)}: there are ${ids.length}, ${enumerate(ids)}. Keep one of them, and remove the others on the platform.`;
}

/** What was found belongs to another resource, such as one that adopts it: then only a person can tell what is meant. */
export function isAnothers(sent: Pick<Sent, "field" | "mark">, id: string, other: string): string {
  return `${searchedFor(sent)}: found ${id}, and ${belongsAlready(id, other)}.`;
}

function searchedFor({ field, mark }: Pick<Sent, "field" | "mark">): string {
  return `Searched for ${field} = ${mark}`;
}

/**
 * The mark of a create as it stands in its inputs, and so in the engine's record of an interrupted run. Also if no search is known yet: it may
 * be when somebody looks for the create. None without a field for it.
 * @param goesOnWith the same create, which an earlier run has sent: the record of this run is of no second one (C3).
 */
export function newMarkInput(
  { reading: { settings }, newMark }: Services,
  goesOnWith?: Pick<Sent, "mark" | "field">,
): string | undefined {
  const { markField: field } = settings;
  if (field === undefined) return undefined;
  return writeMark({ field, mark: goesOnWith?.field === field ? goesOnWith.mark : newMark() });
}

/** The mark to send, where the inputs hold one for the field that is used now. */
export function markIn(inputs: Properties, { reading: { settings } }: Services): string | undefined {
  const sent = readMark(inputs[MARK]);
  return sent?.field === settings.markField ? sent?.mark : undefined;
}

/**
 * The mark of a set as it stands in its inputs, from which those of its members follow: another one with other arguments, so that a
 * run which changes nothing leaves the state as it is. It follows from the one before and the arguments: of several runs of one program that
 * were killed, Pulumi keeps the record of the last alone, and all of them have sent the same marks.
 * @param olds the inputs of before. @param values the checked arguments of now. @param hasSecret some of them are secret: nothing may follow
 *   from those. @returns none without a field for it.
 */
export function markInputOfSet(
  runtime: Services,
  olds: Properties,
  values: Properties,
  hasSecret: boolean,
): string | undefined {
  const fresh = newMarkInput(runtime);
  const { markField: field } = runtime.reading.settings;
  const before = markIn(olds, runtime);
  if (field === undefined || before === undefined) return fresh;
  if (isDeepStrictEqual(argumentsIn(olds), values)) return String(olds[MARK]);
  return hasSecret ? fresh : writeMark({ field, mark: memberMark(before, JSON.stringify(values)) });
}
