/**
 * What people, or a search, say of creates of unknown outcome: checked against what is known of them, and carried out. What the state has is settled by
 * a refresh of just those resources, whose `read` the answers are handed to; what only this machine's memory or Pulumi's record has by lines of the
 * memory, which the next `up` here goes by. Pulumi's own lock and save are the only ones: no state is written here.
 */
import { asTyped, enumerate, momentOf, systemClock } from "../base/index.js";
import { LIVE_ID } from "../rules/index.js";
import { MAX_LISTED, nameInUrn, objectKey } from "../state/index.js";
import { type Line, memoryFolder, type StackPlace, writeAnswers } from "../store/index.js";
import type { ExportedStack } from "./contents.js";
import type { StackChoice } from "./harness.js";
import { type Create, type Facts, factsIn, type Note } from "./pending-facts.js";
import { refresh, stateOf } from "./pulumi.js";

/** As it is typed. */
export interface Given {
  /** `X=ID` */
  readonly created: readonly string[];
  readonly notCreated: readonly string[];
  readonly forget: readonly string[];
}

export interface Answer {
  readonly create: Create;
  /** The platform's; none if it was not created. */
  readonly id: string | undefined;
}

/** @throws Error with all that is wrong; then none of them counts. */
export function readAnswers(given: Given, facts: Facts): { readonly answers: Answer[]; readonly forgotten: Note[] } {
  const faults: string[] = [];
  const answers = new Map<string, Answer>();
  const forgotten = new Map<string, Note>();
  const [pending, noted] = [byName(facts.open), byName([...(facts.notes?.values() ?? [])])];

  const meant = <T extends Pick<Create, "ref">>(text: string, names: ReadonlyMap<string, T[]>, none: string) => {
    const found = names.get(text) ?? [];
    const resources = new Set(found.map(({ ref }) => ref.resourceUrn)).size;
    const urns = found.map(({ ref }) => ref.urn);
    if (resources > 1) faults.push(`"${text}" is the name of several, so give the URN: ${enumerate(urns, MAX_LISTED)}`);
    if (resources === 0) faults.push(`"${text}" ${none}`);
    return resources === 1 ? found : [];
  };
  const answer = (create: Create, id: string | undefined) => {
    const { key, short } = create.ref;
    const why = id === undefined ? undefined : whyNotIts(create, id, facts, [...answers.values()]);
    if (answers.has(key)) faults.push(`"${short}" is given two answers`);
    else if (why !== undefined) faults.push(why);
    else answers.set(key, { create, id });
  };
  const NONE = "is not a pending create (`pulumi-advertising pending` lists them)";

  for (const text of given.created) {
    const [, name = text, id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (!LIVE_ID.test(id)) faults.push(`--created takes X=ID with a number from 1 up as ID; got "${text}"`);
    else for (const create of meant(name, pending, NONE)) answer(create, id);
  }
  for (const text of given.notCreated) for (const create of meant(text, pending, NONE)) answer(create, undefined);
  for (const text of given.forget) {
    for (const note of meant(text, noted, "is nothing that the memory of this machine has")) {
      const { key, short } = note.ref;
      if (answers.has(key)) faults.push(`"${short}" is given two answers`);
      else forgotten.set(key, note);
    }
  }
  if (faults.length > 0) throw new Error(`nothing was settled: ${faults.join("; ")}`);
  return { answers: [...answers.values()], forgotten: [...forgotten.values()] };
}

/** In words, why an object is not what this create made. @param others answers that count. */
export function whyNotIts(
  { ref, formerIds }: Create,
  id: string,
  { holders, notes }: Facts,
  others: readonly Answer[],
) {
  const twin = others.find(({ create, id: its }) => its === id && create.ref.kind === ref.kind);
  if (twin !== undefined) return `${id} can't be both "${ref.short}" and "${twin.create.ref.short}"`;
  const noted = notes?.get(ref.key)?.record;
  // A later run has taken it over or adopted it, and was interrupted too: the state has just the unknown outcome.
  if (noted?.id === id && noted.state !== "none" && !formerIds.includes(id)) return undefined;
  const holder = holders.get(objectKey(ref.kind, id));
  if (holder?.key === ref.key || formerIds.includes(id))
    return `${id} is not the id of "${ref.short}": it is an object that this resource has or had before, such as the one to replace`;
  return holder && `${id} is not the id of "${ref.short}": ${holder.says}`;
}

/** By each name that people may give: of itself, and of its set. */
function byName<T extends Pick<Create, "ref">>(all: readonly T[]): ReadonlyMap<string, T[]> {
  const names = new Map<string, T[]>();
  for (const each of all) {
    const { urn, short, resourceUrn } = each.ref;
    for (const name of new Set([urn, nameInUrn(urn), short, resourceUrn, nameInUrn(resourceUrn)]))
      names.set(name, [...(names.get(name) ?? []), each]);
  }
  return names;
}

/** What the provider's `read` reads: JSON, an id or null by mark. */
const ANSWERS = "ADVERTISING_ANSWERS";

/** As many as fit into one variable of the environment, of which Linux takes 128 KiB. Others stay listed. */
const AT_ONCE = 1000;

/**
 * @param place where this machine's memory is.
 * @returns the answers that count now; in words, why others do not; and the state after a refresh.
 * @throws Error if none counts; with Pulumi's words, if a run is under way or a passphrase is wrong.
 */
export async function settle(
  answers: readonly Answer[],
  { notes }: Facts,
  place: StackPlace | undefined,
  choice: StackChoice,
): Promise<{ settled: readonly Answer[]; failed: string | undefined; after: ExportedStack | undefined }> {
  const others = answers.filter(({ create }) => create.known !== "state");
  const asked = answers.filter(({ create }) => create.known === "state").slice(0, AT_ONCE);
  const urns = [...new Set(asked.map(({ create }) => create.ref.resourceUrn))];
  const byMark = Object.fromEntries(asked.map(({ create, id }) => [create.record.mark, id ?? null]));
  const refreshed = async () => refresh(urns, { [ANSWERS]: JSON.stringify(byMark) }, choice);
  const failed = asked.length === 0 ? undefined : await refreshed().catch((error: Error) => error.message);
  const after = asked.length === 0 ? undefined : await stateOf(choice);
  const open = after === undefined ? [] : factsIn(after, undefined, undefined).open;
  const still = new Set(open.flatMap(({ known, record }) => (known === "state" ? record.mark : [])));
  const settled = asked.filter(({ create }) => !still.has(create.record.mark));
  const unlock = `If Pulumi says that the stack is locked, let that run end. Only if you are sure that none is under way:\n  ${asTyped("pulumi cancel")}`;
  const why = `${failed ?? "Pulumi's refresh has not changed them"}\n${unlock}`;
  if (asked.length > 0 && settled.length === 0) throw new Error(`nothing was settled: ${why}`);
  const noted = settled.filter(({ create }) => notes?.get(create.ref.key)?.record.state === "sent");
  await note([...others, ...noted].flatMap(linesOf), place);
  return { settled: [...others, ...settled], failed: settled.length === asked.length ? undefined : why, after };
}

function linesOf({ create: { ref, record, known, or }, id }: Answer): Line[] {
  const [{ key }, { replaces }, at] = [ref, record, momentOf(systemClock)];
  // What the create was to replace is still live: the next run says so.
  if (id === undefined && known === "state" && replaces !== undefined)
    return [{ key, state: "live", id: replaces, at }];
  if (id === undefined) return [{ key, state: "none", at }];
  if (known === "state") return [{ key, state: "live", id, at, name: record.name }];
  // Of two that differ, nobody knows which it is: it is taken for what the program has.
  const sent = or === undefined ? record : { mark: record.mark, body: "" };
  const isNew = known === "record" || or !== undefined;
  return [...(isNew ? [{ ...sent, key, state: "sent", at } as const] : []), { key, state: "made", id }];
}

/** Writes into this machine's memory. */
export async function note(lines: readonly Line[], place: StackPlace | undefined): Promise<void> {
  if (lines.length === 0) return;
  if (place === undefined) throw new Error("`pulumi stack --show-name` does not say whose memory this is");
  await writeAnswers(place, lines, { folder: memoryFolder() });
}
