/**
 * `pulumi-advertising leftovers` and `report leftovers`: what is live on the platform and managed by nobody any more, as the state
 * itself notes it, and as earlier states of the same stack tell; and how objects are taken off that list.
 */
import { count, own, printable } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { leftLiveIn, leftLiveKind, nameInUrn, writeLeftLive } from "../state/index.js";
import { changeStack } from "./change-stack.js";
import { contentsOf, csvOf, type Entry, nameOf, shown } from "./contents.js";
import { command, textOf } from "./harness.js";
import { STACK_OPTIONS } from "./pulumi.js";
import {
  type ExportedStack,
  expectNothingPending,
  objectsIn,
  type Resource,
  readExport,
  type State,
  stateIn,
} from "./stack-export.js";

const HELP = `Usage: pulumi-advertising leftovers --done ID [options]

Takes an object off the list that \`report leftovers\` prints, once somebody has tidied it up in the platform's own interface. The state
says so from then on; nothing is sent, and no preview shows a change.

  --done ID              the object's id, as the list has it; ConversionEvent:ID or Advertiser:ID where both have the same one;
                         may be given several times
  --stack NAME           another stack than the selected one
  --cwd FOLDER           the Pulumi program's folder

Exit codes: 0 done, 2 it could not be done, and nothing was changed.`;

export const leftoversCommand = command({
  help: HELP,
  options: { done: { type: "string", multiple: true, default: [] as string[] }, ...STACK_OPTIONS },
  run: async ({ done: wanted, ...choice }) => {
    if (wanted.length === 0) {
      throw new Error("it takes --done ID; the list is what `pulumi-advertising report leftovers` prints");
    }
    const done = await changeStack(choice, (exported) => {
      const { stack, done: marked } = markDone(exported, wanted, new Date().toISOString());
      return { stack, after: () => marked };
    });
    for (const { kind, id, name, key } of done) {
      console.log(
        `Off the list: ${kind} ${id}${name === "" ? "" : ` "${printable(name)}"`}, which ${key} had left live`,
      );
    }
    return 0;
  },
});

export interface Leftover {
  readonly kind: Kind["name"];
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

/**
 * @param earlier states of the same stack, in any order: they show what was removed, which nothing of the state now tells.
 * @returns newest first, without what the state holds (again).
 */
export function leftoversOf(now: State, earlier: readonly State[]): Leftover[] {
  const held = new Set(entriesIn(now).map(({ kind, id }) => `${kind.name} ${id}`));
  const done = doneIn([now, ...earlier]);
  const found = new Map<string, Leftover>();
  /** @param last when it was seen last, as far as that is known. */
  const add = (leftover: Leftover, last: string) => {
    const identity = `${leftover.kind} ${leftover.id}`;
    const doneAt = done.get(identity);
    // What came back, and was left again since, is on the list again.
    if (doneAt !== undefined && !(Date.parse(last) > Date.parse(doneAt))) return;
    if (!held.has(identity) && !found.has(identity)) found.set(identity, leftover);
  };
  for (const state of [now, ...earlier]) for (const each of notedIn(state)) add(each, each.at);
  for (const entry of replacedIn(now)) {
    add(asLeftover(entry, "replaced; the next `pulumi up` takes it out of the state"), now.time);
  }
  for (const state of earlier.toSorted((a, b) => (a.time < b.time ? 1 : -1))) {
    const since = state.time === "" ? "in an earlier state" : `in the state of ${state.time}`;
    for (const entry of [...entriesIn(state), ...replacedIn(state)]) {
      add(asLeftover(entry, `removed: it stood ${since} and does not now`), state.time);
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
    return leftLiveIn(outputs).map(({ id, at, why, by, name = "", advertiserId = "", key: member }): Leftover => {
      const key = member === undefined ? nameInUrn(urn) : `${nameInUrn(urn)}/${member}`;
      const replaced = `replaced${by === undefined ? "" : ` by ${by}`}`;
      return { kind, id, name, advertiserId, key, at, why: why === "removed" ? "removed from its set" : replaced };
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

/** Of something that no state notes: nobody knows since when it is live alone. */
function asLeftover(entry: Entry, why: string): Leftover {
  const { kind, id = "", key, values } = entry;
  const advertiserId = "advertiserId" in kind.refersTo ? shown(values.advertiserId) : "";
  return { kind: kind.name, id, name: nameOf(entry), advertiserId, key, at: "", why };
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

/**
 * An earlier state, as `pulumi stack export` printed it, or as a file backend keeps it of each update
 * (`.pulumi/history/…/*.checkpoint.json`). @throws Error in words.
 */
export async function earlierStateOf(file: string): Promise<ExportedStack> {
  const text = await textOf(file);
  const latest = checkpointIn(text);
  try {
    return readExport(latest === undefined ? text : JSON.stringify({ version: 3, deployment: latest }));
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

function checkpointIn(text: string): unknown {
  try {
    return own(own(JSON.parse(text), "checkpoint"), "latest");
  } catch {
    return undefined; // told as what is no export
  }
}

/**
 * Takes objects off the list: the state says when somebody saw to them. Pure: an exported stack in, an exported stack out.
 * @param wanted ids, or `<kind>:<id>` where an advertiser and an event have the same one. @param at ISO 8601.
 * @returns the stack, and what is on the list no more.
 * @throws Error with all that is wrong with them, or where the import of the state would lose something.
 */
export function markDone(
  stack: ExportedStack,
  wanted: readonly string[],
  at: string,
): { readonly stack: ExportedStack; readonly done: readonly Leftover[] } {
  const { deployment } = stack;
  expectNothingPending(deployment);
  const done = chosenOf(wanted, stack);
  const isDone = (kind: string | undefined, id: string) => done.some((each) => each.kind === kind && each.id === id);
  const resources = (deployment.resources ?? []).map((resource): Resource => {
    const { type, outputs = {} } = resource;
    const [kind, left] = [leftLiveKind(type), leftLiveIn(outputs)];
    if (!left.some(({ id }) => isDone(kind, id))) return resource;
    const marked = left.map((each) => (isDone(kind, each.id) ? { ...each, done: at } : each));
    return { ...resource, outputs: { ...outputs, ...writeLeftLive(marked) } };
  });
  return { stack: { ...stack, deployment: { ...deployment, resources } }, done };
}

function chosenOf(wanted: readonly string[], stack: ExportedStack): Leftover[] {
  const faults: string[] = [];
  const listed = leftoversOf(stateIn(stack), []);
  const held = objectsIn(stack.deployment.resources ?? []);
  const chosen = [...new Set(wanted)].flatMap((text): Leftover[] => {
    const [, kind, id = ""] = /^(?:(\w+):)?(\d{1,30})$/.exec(text) ?? [];
    const found = listed.filter((each) => each.id === id && (kind === undefined || each.kind === kind));
    const [only] = found;
    const holder = held.find((each) => each.id === id && (kind === undefined || each.kind.name === kind))?.urn;
    if (id === "") faults.push(`--done takes an id of the list, such as 4711 or ConversionEvent:4711; got "${text}"`);
    else if (only === undefined && holder !== undefined)
      faults.push(`${text} is managed: the state holds it as ${holder}`);
    else if (only === undefined) faults.push(`${text} is not on the list`);
    else if (found.length > 1)
      faults.push(`${text} is ${found.map((each) => `${each.kind}:${id}`).join(" or ")}: say which`);
    else if (only.at === "")
      faults.push(`${text} still stands in the state: the next \`pulumi up\` takes it out; do that first`);
    else return [only];
    return [];
  });
  if (faults.length > 0) throw new Error(`nothing was taken off the list: ${faults.join("; ")}`);
  return chosen;
}
