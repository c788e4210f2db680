/**
 * `pulumi-advertising leftovers`: what is live on the platform and managed by nobody any more, as the state itself notes it, and as earlier
 * exports of the same stack tell. One list, newest first.
 */
import { agree, count, printable } from "../base/index.js";
import { type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { ACCOUNT, leftLiveIn, memberInReports, nameInUrn, objectKey } from "../state/index.js";
import { Deleted, memoryFolder } from "../store/index.js";
import { contentsOf, csvOf, type Entry, inNaturalOrder, jsonOf, nameOf, shown, warnOfSecretSets } from "./contents.js";
import { chosen, command, write } from "./harness.js";
import { exportIn, STACK_HELP, STACK_OPTIONS, stackName, stateOf } from "./pulumi.js";
import { type ExportedStack, type Resource, type State, stackNamesIn, stateIn } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising leftovers [options]

Lists what this stack left live: objects that were replaced, or left a set; with --before also what left the state since an
earlier export, by a removal or \`pulumi destroy\`. Sends and changes nothing.

  --before EXPORT        what \`pulumi stack export\` printed earlier (- for standard input), or a checkpoint of a file
                         backend's history; may be given several times
  --state FILE           what \`pulumi stack export\` printed (- for standard input), instead of a stack
  --format FORMAT        text (default), json or csv
  --out FILE             writes to FILE
${STACK_HELP}

Exit codes: 0 done, 2 failed.`;

export const leftoversCommand = command({
  help: HELP,
  options: {
    before: { type: "string", multiple: true, default: [] as string[] },
    state: { type: "string" },
    format: { type: "string", default: "text" },
    out: { type: "string" },
    ...STACK_OPTIONS,
  },
  run: async ({ before, format, out, ...choice }) => {
    const inFormat = chosen(LEFTOVER_FORMATS, format, "format");
    const files: { readonly file: string; readonly stack: ExportedStack }[] = [];
    for (const file of before) files.push({ file, stack: await exportIn(file) });
    const now = await stateOf(choice);
    // A state that was destroyed does not say whose it is.
    const isAsked = choice.state === undefined && before.length > 0;
    const name = stackNamesIn(now)[0] ?? (isAsked ? await stackName(choice) : undefined);
    for (const { file, stack } of files) {
      const other = otherStackThan(name, stack, now);
      if (other !== undefined) throw new Error(`${file} is a state of the stack ${other}, not of ${name}`);
    }
    const earlier = files.map(({ stack }) => stateIn(stack));
    warnOfSecretSets(contentsOf(stateIn(now).resources), "so what is listed may be one of its events");
    for (const { resources } of earlier) warnOfSecretSets(contentsOf(resources), "so its events can't be listed");
    return write(inFormat(leftoversOf(stateIn(now), earlier), nothingKnown(earlier)), out);
  },
});

/**
 * What is listed is taken for dead: so a state of another stack must not pass for an earlier one of this.
 * @returns the other stack's name. Two states that share an object are of one stack, though it was renamed.
 */
export function otherStackThan(current: string | undefined, earlier: ExportedStack, now: ExportedStack) {
  const [stack] = stackNamesIn(earlier);
  if (stack === undefined || current === undefined || stack === current) return undefined;
  const held = idsOf(entriesIn(stateIn(now).resources));
  return [...idsOf(entriesIn(stateIn(earlier).resources))].some((each) => held.has(each)) ? undefined : stack;
}

const COLUMNS = ["kind", "id", "name", "advertiserId", "key", "at", "why"] as const;

/**
 * - `name`: on the platform; empty if it is not known, `(secret)` if it must not be shown;
 * - `advertiserId`: of an event; empty where it is not known;
 * - `key`: the resource that held it, as its name in reports;
 * - `at`: when it left the state, ISO 8601; empty where it is not known.
 */
export type Leftover = Readonly<Record<(typeof COLUMNS)[number], string>>;

/** @param earlier states of the same stack, in any order: they show what was removed. @returns what the state does not have (again). */
export function leftoversOf(now: State, earlier: readonly State[]): Leftover[] {
  const held = idsOf(entriesIn(now.resources));
  const all = [now, ...earlier].flatMap(({ resources }) => resources);
  const account = all.map(({ outputs }) => outputs?.[ACCOUNT]).find((each) => typeof each === "string");
  // What runs on this machine have deleted.
  const deleted = typeof account === "string" ? new Deleted(memoryFolder(), account) : undefined;
  const found = new Map<string, Leftover>();
  const add = (leftover: Leftover) => {
    const [kind, { id }] = [leftover.kind as Kind["name"], leftover];
    const identity = objectKey(kind, id);
    if (!held.has(identity) && !found.has(identity) && deleted?.has(kind, id) !== true) found.set(identity, leftover);
  };
  for (const leftover of notedIn(all)) add(leftover);
  for (const entry of replacedIn(now.resources)) {
    const next = isRetained(entry) ? "takes it out of the state" : "deletes it";
    add(leftoverFrom(entry, `replaced; the next \`pulumi up\` ${next}`));
  }
  for (const { time, resources } of earlier.toSorted((a, b) => (a.time < b.time ? 1 : -1))) {
    const since = time === "" ? "in an earlier state" : `in the state of ${time}`;
    for (const entry of [...entriesIn(resources), ...replacedIn(resources)]) {
      const unless = isRetained(entry) ? "" : "; live only if its delete was not done (retainOnDelete was off)";
      add(leftoverFrom(entry, `removed: it was ${since}${unless}`));
    }
  }
  const byKey = inNaturalOrder(found.values(), ({ kind, key, id }) => `${kind} ${key} ${id}`);
  return byKey.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
}

function entriesIn(resources: readonly Resource[]): Entry[] {
  const { advertisers, events } = contentsOf(resources.filter(({ external }) => external !== true));
  return [...advertisers, ...events].filter(({ id }) => id !== undefined);
}

/** In the state until the next run: replaced, or awaiting their replacement (`deleteBeforeReplace`). */
function replacedIn(resources: readonly Resource[]): Entry[] {
  const marked = resources.filter((each) => each.delete === true || each.pendingReplacement === true);
  return entriesIn(marked.map((each) => ({ ...each, delete: false, pendingReplacement: false })));
}

function idsOf(entries: readonly Entry[]): Set<string> {
  return new Set(entries.map(({ kind, id = "" }) => objectKey(kind.name, id)));
}

function isRetained({ resource: { retainOnDelete } }: Entry): boolean {
  return retainOnDelete === true;
}

/** What a state notes as left live. */
function notedIn(resources: readonly Resource[]): Leftover[] {
  return resources.flatMap(({ urn, type, outputs = {} }) => {
    const kind = (kindOfType(type) ?? setOfType(type)?.member)?.name;
    if (kind === undefined) return [];
    return leftLiveIn(outputs).map(({ id, at, name = "", key: member, owed }) => {
      const key = member === undefined ? nameInUrn(urn) : memberInReports(nameInUrn(urn), member);
      const why = member === undefined ? "replaced" : "replaced in its set, or removed from it";
      const again = owed === true ? "; it could not be deleted, and the next `pulumi up` tries again" : "";
      return { kind, id, name, advertiserId: "", key, at, why: why + again };
    });
  });
}

/** Of something that no state notes: nobody knows since when. */
function leftoverFrom(entry: Entry, why: string): Leftover {
  const { kind, id = "", key, values } = entry;
  const advertiserId = "advertiserId" in kind.refersTo ? shown(values.advertiserId) : "";
  return { kind: kind.name, id, name: nameOf(entry), advertiserId, key, at: "", why };
}

/** What is said if nothing is listed. */
export function nothingKnown(earlier: readonly State[]): string {
  if (earlier.length === 0) return "Nothing is known to be left live on the platform.\n";
  return "Nothing that is live on the platform has left the state since the earlier export.\n";
}

/** Each ends with a line break. @param nothing what is said if there is nothing. */
export const LEFTOVER_FORMATS: Readonly<Record<string, (leftovers: readonly Leftover[], nothing?: string) => string>> =
  {
    text: (leftovers, nothing = "") => (leftovers.length === 0 ? nothing : asText(leftovers)),
    json: (leftovers) => jsonOf({ leftovers }),
    csv: (leftovers) => csvOf([[...COLUMNS], ...leftovers.map((each) => COLUMNS.map((column) => each[column]))]),
  };

function asText(leftovers: readonly Leftover[]): string {
  const rows = [[...COLUMNS], ...leftovers.map((each) => COLUMNS.map((column) => printable(each[column])))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const [objects, them] = [count(leftovers.length, "object"), agree(leftovers.length, "it", "them")];
  return `${objects} that this stack no longer manages. Tags that were placed for ${them} keep firing: deactivate ${them} in the platform's own interface.
${lines.map((line) => `  ${line}\n`).join("")}`;
}
