/**
 * What is live on the platform and managed by nobody any more: as the state itself notes it, and as earlier states of the
 * same stack tell.
 */

import { count, printable } from "../base/index.js";
import { leftLiveIn, leftLiveKind, nameInUrn } from "../state/index.js";
import { contentsOf, type Entry, type StoredResource } from "./contents.js";
import { csvOf } from "./csv.js";
import { shown } from "./secret.js";

export interface Leftover {
  readonly kind: Entry["kind"];
  /** The platform's id, in digits. */
  readonly id: string;
  /** On the platform; empty where it is not known, `(secret)` where it must not be told. */
  readonly name: string;
  /** Of an event: its advertiser's id; empty where it is not known. */
  readonly advertiserId: string;
  /** The resource that held it, as its name in the program. */
  readonly key: string;
  /** ISO 8601; empty where it is not known. */
  readonly at: string;
  /** In words. */
  readonly why: string;
}

/** A state of a stack. */
export interface State {
  readonly resources: readonly StoredResource[];
  /** When it was written, ISO 8601; empty where it does not say. */
  readonly time: string;
}

/**
 * @param earlier states of the same stack, in any order: they show what was removed, which nothing of the state now tells.
 * @returns newest first, without what the state holds (again).
 */
export function leftoversOf(now: State, earlier: readonly State[]): Leftover[] {
  const held = new Set(entriesIn(now).map(identityOf));
  const done = doneIn([now, ...earlier]);
  const found = new Map<string, Leftover>();
  /** @param last when it was seen last, as far as that is known. */
  const add = (leftover: Leftover, last: string) => {
    const identity = identityOf(leftover);
    const doneAt = done.get(identity);
    // What came back, and was left again since, is on the list again.
    if (doneAt !== undefined && !(Date.parse(last) > Date.parse(doneAt))) return;
    if (!held.has(identity) && !found.has(identity)) found.set(identity, leftover);
  };
  for (const state of [now, ...earlier]) for (const each of notedIn(state)) add(each, each.at);
  for (const { key, ...entry } of replacedIn(now)) {
    add(asLeftover({ key, ...entry }, "", "replaced; the next `pulumi up` takes it out of the state"), now.time);
  }
  for (const state of earlier.toSorted((a, b) => (a.time < b.time ? 1 : -1))) {
    const since = state.time === "" ? "in an earlier state" : `in the state of ${state.time}`;
    for (const entry of [...entriesIn(state), ...replacedIn(state)]) {
      if (entry.id !== undefined) add(asLeftover(entry, "", `removed: it stood ${since} and does not now`), state.time);
    }
  }
  return [...found.values()].toSorted((a, b) => {
    if (a.at !== b.at) return a.at < b.at ? 1 : -1;
    return a.kind === b.kind ? Number(a.id) - Number(b.id) : a.kind < b.kind ? -1 : 1;
  });
}

function entriesIn({ resources }: State): Entry[] {
  const { advertisers, events } = contentsOf(resources);
  return [...advertisers, ...events].filter(({ id }) => id !== undefined);
}

/** What was replaced, and stands in the state until the next run. */
function replacedIn({ resources }: State): Entry[] {
  const marked = resources.filter((each) => each.delete === true);
  return entriesIn({ resources: marked.map((each) => ({ ...each, delete: false })), time: "" });
}

function notedIn({ resources }: State): Leftover[] {
  return resources.flatMap(({ urn, type, outputs = {} }) => {
    const kind = leftLiveKind(type);
    if (kind === undefined) return [];
    return leftLiveIn(outputs).map(({ id, at, why, by, name = "", advertiserId = "", key }): Leftover => {
      const instead = by === undefined ? "" : ` by ${by}`;
      return {
        kind,
        id,
        name,
        advertiserId,
        key: key === undefined ? nameInUrn(urn) : `${nameInUrn(urn)}/${key}`,
        at,
        why: why === "removed" ? "removed from its set" : `replaced${instead}`,
      };
    });
  });
}

/** When somebody said last that an object is tidied up. */
function doneIn(states: readonly State[]): ReadonlyMap<string, string> {
  const latest = new Map<string, string>();
  for (const { type, outputs = {} } of states.flatMap(({ resources }) => resources)) {
    const kind = leftLiveKind(type);
    for (const { id, done } of kind === undefined ? [] : leftLiveIn(outputs)) {
      const identity = `${kind} ${id}`;
      if (typeof done === "string" && done > (latest.get(identity) ?? "")) latest.set(identity, done);
    }
  }
  return latest;
}

function asLeftover({ kind, id = "", key, values }: Entry, at: string, why: string): Leftover {
  const name = shown(values[kind === "Advertiser" ? "advertiserName" : "eventName"]);
  return { kind, id, name, advertiserId: kind === "Advertiser" ? "" : shown(values.advertiserId), key, at, why };
}

function identityOf({ kind, id }: Pick<Leftover, "kind"> & { readonly id: string | undefined }): string {
  return `${kind} ${id}`;
}

/** Each ends with a line break. */
export const LEFTOVER_FORMATS: Readonly<Record<string, (leftovers: readonly Leftover[]) => string>> = {
  text: asText,
  json: (leftovers) => `${JSON.stringify({ leftovers }, undefined, 2)}\n`,
  csv: (leftovers) => csvOf([COLUMNS, ...leftovers.map(cellsOf)]),
};

const COLUMNS = ["kind", "id", "name", "advertiserId", "key", "at", "why"] as const;

function cellsOf(leftover: Leftover): string[] {
  return COLUMNS.map((column) => leftover[column]);
}

const WHAT_IS_KNOWN = `Known are replacements, and events that left a set. A resource that was removed took what was known of it out of the
state: earlier exports of this stack (--before FILE) show those too.`;

function asText(leftovers: readonly Leftover[]): string {
  if (leftovers.length === 0) return `Nothing is known to be left live on the platform.\n${WHAT_IS_KNOWN}\n`;
  const rows = [[...COLUMNS], ...leftovers.map((each) => cellsOf(each).map(printable))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(),
  );
  return [
    `${count(leftovers.length, "object")} live on the platform that this stack does not manage any more:`,
    ...lines,
    "Tags that were placed for them keep firing. Deactivate them in the platform's own interface, and take them off this list:",
    "  npx pulumi-advertising leftovers --done <id>",
    WHAT_IS_KNOWN,
    "",
  ].join("\n");
}
