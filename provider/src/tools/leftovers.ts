/**
 * What is live on the platform and managed by nobody any more, as the state itself notes it, and as earlier states of the same stack tell;
 * and that list in each of its formats. Pure. `leftovers-command.ts` reads the states, and takes objects off the list.
 */
import { isDeepStrictEqual } from "node:util";
import { agree, asTyped, count, printable } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { leftLiveIn, leftLiveKind, nameInUrn, objectKey } from "../state/index.js";
import { contentsOf, csvOf, type Entry, holdersOf, jsonOf, managing, nameOf, shown } from "./contents.js";
import { type ExportedStack, type Resource, type State, stackIn, stateIn } from "./stack-export.js";

/**
 * What is listed is taken for dead: so a state of another stack must not pass for an earlier one of this.
 * @returns the other stack's name. Two states that share an object are of one stack, though it was renamed.
 */
export function otherStackThan(
  current: string | undefined,
  earlier: ExportedStack,
  now: ExportedStack,
): string | undefined {
  const stack = stackIn(earlier);
  if (stack === undefined || current === undefined || stack === current) return undefined;
  const held = identitiesOf(entriesIn(stateIn(now)));
  return [...identitiesOf(entriesIn(stateIn(earlier)))].some((each) => held.has(each)) ? undefined : stack;
}

export interface Leftover {
  readonly kind: Kind["name"];
  /** The platform's id, in digits; empty where nobody knows what became of its create. */
  readonly id: string;
  /** On the platform; empty if it is not known, `(secret)` if it must not be shown. */
  readonly name: string;
  /** Of an event: its advertiser's id; empty where it is not known. */
  readonly advertiserId: string;
  /** The resource that held it, as its name in the program. */
  readonly key: string;
  /** ISO 8601; empty where it is not known. */
  readonly at: string;
  readonly why: string;
  /**
   * `perhaps`: it was to be deleted with its resource, and is live only where that was not done. `unknown`: its create was sent, and it
   * left the state before anybody settled what became of it.
   */
  readonly live: "yes" | "perhaps" | "unknown";
}

export type DeletedAt = (kind: Kind["name"], id: string) => string | undefined;

/**
 * @param earlier states of the same stack, in any order: they show what was removed, which the state of now does not.
 * @param deletedAt when an object was deleted, ISO 8601, as far as this machine knows.
 * @returns newest first, without what the state has (again).
 */
export function leftoversOf(now: State, earlier: readonly State[], deletedAt: DeletedAt = () => undefined): Leftover[] {
  const [current, former] = [seenIn(now), earlier.map(seenIn)];
  const notes = [current, ...former].flatMap(({ noted }) => noted);
  const held = identitiesOf(current.held);
  const done = latestDone(notes);
  const found = new Map<string, Leftover>();
  /** @param last when it was seen last, as far as that is known. */
  const add = (leftover: Leftover, last: string) => {
    const identity = objectKey(leftover.kind, leftover.id);
    const ends = [done.get(identity), deletedAt(leftover.kind, leftover.id)].filter((at) => at !== undefined);
    // What came back, and was left again since, is on the list again.
    if (ends.some((at) => !(Date.parse(last) > Date.parse(at)))) return;
    if (!held.has(identity) && !found.has(identity)) found.set(identity, leftover);
  };
  for (const { leftover } of notes) add(leftover, leftover.at);
  for (const entry of [...current.replaced, ...current.awaiting.filter(isRetained)]) {
    const becomes = isRetained(entry) ? "takes it out of the state" : "deletes it";
    add(asLeftover(entry, `replaced; the next \`pulumi up\` ${becomes}`), now.time);
  }
  for (const { time, held: those, replaced, awaiting } of former.toSorted((a, b) => (a.time < b.time ? 1 : -1))) {
    const since = time === "" ? "in an earlier state" : `in the state of ${time}`;
    for (const entry of [...those, ...replaced, ...awaiting]) {
      add(asLeftover(entry, `removed: it was ${since} and is not now`), time);
    }
  }
  return [...found.values(), ...unsettledIn(current, former)].toSorted((a, b) => {
    if (a.at !== b.at) return a.at < b.at ? 1 : -1;
    return a.kind === b.kind ? Number(a.id) - Number(b.id) : a.kind < b.kind ? -1 : 1;
  });
}

/** Creates of unknown outcome that left the state, where nothing else has taken their place or adopted their object. */
function unsettledIn(current: Seen, former: readonly Seen[]): Leftover[] {
  const placeOf = ({ kind, key }: Entry) => `${kind.name} ${key}`;
  const taken = new Set([...current.held, ...current.unsettled].map(placeOf));
  /** The same creates, perhaps under a new name of their resource. */
  const still = new Set(current.unsettled.map(({ record }) => record?.mark));
  const holders = holdersOf(current.held);
  const gone = new Map(former.flatMap(({ unsettled }) => unsettled).map((entry) => [placeOf(entry), entry]));
  return [...gone]
    .filter(([place, { kind, urn, record }]) => {
      if (record === undefined || taken.has(place) || still.has(record.mark)) return false;
      return holders.adoptedFor(kind, record, urn)?.isHeld !== true;
    })
    .map(([, entry]) => ({
      ...asLeftover(entry, `its create was sent at ${entry.record?.at}, and it was not settled in that state`),
      live: "unknown",
    }));
}

function seenIn(state: State) {
  const entriesOf = (marked: readonly Resource[]) =>
    entriesIn({ resources: marked.map((each) => ({ ...each, delete: false, pendingReplacement: false })), time: "" });
  return {
    time: state.time,
    held: entriesIn(state),
    unsettled: entriesIn(state, (entry) => entry.id === undefined && entry.record !== undefined),
    /** In the state until the next run. */
    replaced: entriesOf(state.resources.filter((each) => each.delete === true)),
    /** Await their replacement: `deleteBeforeReplace` has left their objects live, or deleted them. */
    awaiting: entriesOf(state.resources.filter((each) => each.pendingReplacement === true)),
    noted: notedIn(state),
  };
}
type Seen = ReturnType<typeof seenIn>;

function identitiesOf(entries: readonly Entry[]): Set<string> {
  return new Set(entries.map(({ kind, id = "" }) => objectKey(kind.name, id)));
}

function isRetained({ resource: { retainOnDelete } }: Entry): boolean {
  return retainOnDelete === true;
}

function entriesIn({ resources }: State, isMeant = ({ id }: Entry) => id !== undefined): Entry[] {
  const { advertisers, events } = contentsOf(managing(resources));
  return [...advertisers, ...events].filter(isMeant);
}

/** What a state notes as left live, and since when somebody has tidied it up. */
function notedIn({ resources }: State): { readonly leftover: Leftover; readonly done: string | undefined }[] {
  return resources.flatMap(({ urn, type, outputs = {} }) => {
    const kind = leftLiveKind(type);
    if (kind === undefined) return [];
    return leftLiveIn(outputs).map((left) => {
      const { id, at, why, by, name = "", advertiserId = "", key: member, toDelete, done } = left;
      const key = member === undefined ? nameInUrn(urn) : `${nameInUrn(urn)}/${member}`;
      const replaced = `replaced${by === undefined ? "" : ` by ${by}`}`;
      const again = toDelete === true ? "; it could not be deleted, and the next `pulumi up` tries again" : "";
      const reason = `${why === "removed" ? "removed from its set" : replaced}${again}`;
      const leftover: Leftover = { kind, id, name, advertiserId, key, at, why: reason, live: "yes" };
      return { leftover, done };
    });
  });
}

/** When somebody said last that an object is tidied up, or its set deleted it. */
function latestDone(notes: Seen["noted"]): ReadonlyMap<string, string> {
  const latest = new Map<string, string>();
  for (const { leftover, done } of notes) {
    const identity = objectKey(leftover.kind, leftover.id);
    if (typeof done === "string" && done > (latest.get(identity) ?? "")) latest.set(identity, done);
  }
  return latest;
}

/** Of something that no state notes: nobody knows since when it is live alone. */
function asLeftover(entry: Entry, why: string): Leftover {
  const { kind, id = "", key, values } = entry;
  const advertiserId = "advertiserId" in kind.refersTo ? shown(values.advertiserId) : "";
  const live = isRetained(entry) ? "yes" : "perhaps";
  return { kind: kind.name, id, name: nameOf(entry), advertiserId, key, at: "", why, live };
}

/** What is said if nothing is listed. An earlier state with nothing in it, or the one of now, shows of no run what it took out. */
export function nothingSince(now: State, earlier: readonly State[]): string {
  // `pulumi state delete` keeps the time.
  const isOfNow = (state: State) => state.time === now.time && isDeepStrictEqual(state.resources, now.resources);
  const holdsNothing = (state: State) =>
    Object.values(seenIn(state)).every((part) => typeof part === "string" || part.length === 0);
  const why = earlier.every(holdsNothing)
    ? "has no object of this package"
    : earlier.every(isOfNow)
      ? "is the current state"
      : undefined;
  if (why === undefined) return "Nothing that is live on the platform has left the state since the earlier export.\n";
  return `The earlier export ${why}, so it shows nothing that a run took out. That needs the state from before the run: an export, with Pulumi
Cloud also \`pulumi stack export --version N\`, with a file backend also the checkpoint of the update before it in .pulumi/history.
`;
}

/** Each ends with a line break. @param nothing if earlier states were given: what is said if nothing has left the state since. */
export const LEFTOVER_FORMATS: Readonly<Record<string, (leftovers: readonly Leftover[], nothing?: string) => string>> =
  {
    text: asText,
    json: (leftovers) => jsonOf({ leftovers }),
    csv: (leftovers) => csvOf([[...COLUMNS, "live"], ...leftovers.map((each) => [...cellsOf(each), each.live])]),
  };

const COLUMNS = ["kind", "id", "name", "advertiserId", "key", "at", "why"] as const;

function cellsOf(leftover: Leftover): string[] {
  return COLUMNS.map((column) => leftover[column]);
}

const WHAT_IS_KNOWN = `Known are replacements, and events that left a set. What was removed with its resource, or by \`pulumi destroy\`, shows with an
earlier export of this stack: --before EXPORT.
`;

function asText(leftovers: readonly Leftover[], nothing?: string): string {
  const thoseThatAre = (live: Leftover["live"]) => leftovers.filter((each) => each.live === live);
  const [live, perhaps, unknown] = [thoseThatAre("yes"), thoseThatAre("perhaps"), thoseThatAre("unknown")];
  // What was removed with its resource is on no list that it could be taken off.
  const them = agree(live.length, "it", "them");
  const done = live.some(({ at }) => at !== "")
    ? ` What was replaced, or left a\nset, is on the list until it is taken off:\n  ${asTyped("npx pulumi-advertising leftovers --done '<id>'")}`
    : "";
  const tidy = `Tags that were placed for ${them} keep firing: deactivate ${them} in the platform's own interface.${done}\n`;
  return [
    leftovers.length === 0 ? (nothing ?? "Nothing is known to be left live on the platform.\n") : "",
    live.length === 0
      ? ""
      : `${count(live.length, "object is", "objects are")} live on the platform, and this stack no longer manages ${them}:\n${tableOf(live)}${tidy}`,
    perhaps.length === 0
      ? ""
      : `${count(perhaps.length, "object")} that retainOnDelete: false deletes with the resource ${agree(perhaps.length, "is", "are")} live only if that was not done yet, or never, for example after \`pulumi state delete\`:\n${tableOf(perhaps)}`,
    unknown.length === 0
      ? ""
      : `${count(unknown.length, "create")} of unknown outcome, no longer in the state. Look in the account: if an object is there, nothing manages it (adopt it with existingId), unless it was settled meanwhile:\n${tableOf(unknown)}`,
    nothing === undefined ? WHAT_IS_KNOWN : "",
  ].join("");
}

function tableOf(leftovers: readonly Leftover[]): string {
  const rows = [[...COLUMNS], ...leftovers.map((each) => cellsOf(each).map(printable))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}
