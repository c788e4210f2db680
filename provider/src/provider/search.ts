/**
 * Searches the platform for the object of a create of unknown outcome, by the mark that it was sent with; and the marks themselves, which are
 * in a resource's inputs, so that the engine's record of an interrupted run has them.
 */

import { isDeepStrictEqual } from "node:util";
import { AdvertisingError, agree, asRecord, count, enumerate, momentOf } from "../base/index.js";
import { visibleFromMs } from "../decision/index.js";
import { belongsAlready, type Kind } from "../kinds/index.js";
import { knownOperations } from "../settings/index.js";
import { type CreateRecord, MARK, memberMark, readMark, writeMark } from "../state/index.js";
import { argumentsIn, type Properties } from "./inputs.js";
import { createdBy, isProvenGone, type Looker } from "./known-operations.js";
import type { Services } from "./services.js";

type Sent = Pick<CreateRecord, "mark" | "at" | "field">;

export interface Look {
  /** True if it was sent in this run: then it never counts as not made. */
  readonly wasJustSent: boolean;
  /** Whether to search only once. @default false */
  readonly isOnce?: boolean;
  /** Whether the next `up` looks for it; otherwise only `pending --search` does. @default true */
  readonly isSaved?: boolean;
  /** Former ids of its resource, perhaps with the same mark: a set's member keeps its mark as long as the arguments stay. */
  readonly formerIds?: readonly string[] | undefined;
}

export type Finding =
  | { readonly kind: "found"; readonly id: string }
  /**
   * There is none, and by now there won't be: it was not carried out, or what it made is gone.
   * @param gone ids that a search has found, and that a read proves to be no longer on the platform.
   */
  | { readonly kind: "not-made"; readonly gone: readonly string[] }
  /** Not known yet. @param words what was asked and what came back, and what happens next. */
  | { readonly kind: "open"; readonly words: string };

/** Its create has an unknown outcome. */
const IF_NOT_THERE = "If it is not there, answer with --not-created.";

/** The growing pauses before each search, because a new object may be found only later. */
const PAUSES_S = [1, 2, 4, 8, 15];

/** @returns "found" only for an object that is not known to be gone: if it can be, it was read. */
export async function lookFor(
  kind: Kind,
  runtime: Looker,
  label: string,
  sent: Sent,
  { wasJustSent, isOnce = false, isSaved = true, formerIds = [] }: Look,
): Promise<Finding> {
  const { settings } = runtime.reading;
  const { search } = knownOperations(kind, settings);
  if (search === undefined || sent.field === undefined) throw new Error("search without the operation");
  const wanted = { kind, operation: search, field: sent.field, mark: sent.mark, label };
  const dueMs = resendDueMs(sent, runtime);
  const created = createdBy({ at: sent.at }, runtime);
  /** A search may list a deleted object, which is not taken over. */
  const isGone = (id: string) => isProvenGone(kind, runtime, { id, label, created, ifNotThere: IF_NOT_THERE });
  let answer = "";
  let looks = 0;
  const later = isOnce ? [] : PAUSES_S;
  for (const pause of wasJustSent ? later : [0, ...later]) {
    try {
      if (pause > 0) await runtime.clock.sleep(pause * 1000);
      // Determined before the search: an object that is created meanwhile must not count as not made.
      const isDue = !wasJustSent && dueMs !== undefined && runtime.clock.wallMs() >= dueMs;
      looks++;
      const ids: string[] = [];
      const gone: string[] = [];
      const listed = await runtime.client().search(wanted);
      for (const each of listed.filter((id) => !formerIds.includes(id))) ((await isGone(each)) ? gone : ids).push(each);
      const [id] = ids;
      if (ids.length > 1) return { kind: "open", words: severalIn(ids, sent) };
      if (id !== undefined) return { kind: "found", id };
      if (isDue) return { kind: "not-made", gone };
      answer = gone.length === 0 ? "there is none." : `${noneFound(gone)}.`;
    } catch (error) {
      // A failed search says nothing about the create.
      if (!(error instanceof AdvertisingError)) throw error;
      answer = error.message;
    }
  }
  const until = momentOf(runtime.clock);
  return {
    kind: "open",
    words: `${searchedFor(sent)} ${count(looks, "time")} until ${until}: ${answer} ${isSaved ? nextIn(dueMs) : LOOK_AGAIN}`,
  };
}

/** From when on a create that a search does not find counts as not carried out; none if it never does. */
export function resendDueMs(
  { at }: Pick<Sent, "at">,
  { reading: { settings } }: Pick<Looker, "reading">,
): number | undefined {
  const after = settings.operations?.resendAfterSeconds;
  const sentMs = Date.parse(at);
  if (after === undefined || Number.isNaN(sentMs)) return undefined;
  return visibleFromMs(sentMs + (settings.requestTimeoutSeconds + after) * 1000, settings);
}

const LOOK_AGAIN = "Run `pulumi-advertising pending --search` again, before the next `pulumi up`.";

function nextIn(dueMs: number | undefined): string {
  return dueMs === undefined
    ? "The next `pulumi up` looks again."
    : `The next \`pulumi up\` looks again, and from ${new Date(dueMs).toISOString()} on sends it again if there still is none.`;
}

function severalIn(ids: readonly string[], sent: Sent): string {
  return `${searchedFor(sent)}: found ${count(ids.length, "object")}: ${enumerate(ids)}. ${KEEP_ONE}`;
}

/** What to do if one create, or several of one resource, may have made several objects. One may be that of another resource. */
export const KEEP_ONE =
  "Keep one of them, and remove the others on the platform, except those that another resource of the stack has.";

/** One clause, without a full stop, for a search that has found no object on the platform. @param gone ids that it has found all the same. */
export function noneFound(gone: readonly string[]): string {
  if (gone.length === 0) return "a search finds no object with its mark";
  return `a search found ${enumerate(gone)}, which ${agree(gone.length, "is", "are")} no longer on the platform`;
}

/** The message if the found object belongs to another resource, such as one that adopts it: then a person has to decide. */
export function isAnothers(sent: Pick<Sent, "field" | "mark">, id: string, other: string): string {
  return `${searchedFor(sent)}: found ${id}, and ${belongsAlready(id, other)}.`;
}

function searchedFor({ field, mark }: Pick<Sent, "field" | "mark">): string {
  return `Searched for ${field} = ${mark}`;
}

/**
 * The mark of a create for its inputs, and so for the engine's record of an interrupted run. Also if no search is known yet, because it may
 * be configured later. None without a field for it.
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

/** The mark to send, if the inputs have one for the present field. */
export function markIn(inputs: Properties, { reading: { settings } }: Services): string | undefined {
  const sent = readMark(inputs[MARK]);
  return sent?.field === settings.markField ? sent?.mark : undefined;
}

/**
 * The mark of a set for its inputs, from which those of its members are derived. A run without changes keeps it. One with changes derives
 * it from what the state has, whatever the changes are: Pulumi keeps only the record of the last of several interrupted runs, so all of
 * them must send the same marks, also if the program was edited in between (R7).
 * @param olds the former inputs; none if the set is new. @param values the checked arguments.
 * @returns none without a field for it.
 */
export function markInputOfSet(
  runtime: Services,
  identity: string,
  olds: Properties,
  values: Properties,
): string | undefined {
  const { markField: field } = runtime.reading.settings;
  if (field === undefined || Object.keys(olds).length === 0) return newMarkInput(runtime);
  const before = readMark(olds[MARK]);
  if (before?.field === field && isDeepStrictEqual(argumentsIn(olds), values)) return String(olds[MARK]);
  // Before there was a field for it, the state had no mark.
  const keys = Object.keys(asRecord(olds.events)).join(" ");
  return writeMark({ field, mark: memberMark(before?.mark ?? identity, before ? "next" : keys) });
}
