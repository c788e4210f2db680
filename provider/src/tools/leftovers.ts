/**
 * `pulumi-advertising leftovers`: what is live on the platform and managed by nobody any more, as the state itself notes it, and as earlier
 * exports of the same stack tell. One list, newest first.
 */
import { agree, count, printable } from "../base/index.js";
import { type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { leftLiveIn, memberInReports, nameInUrn, objectKey } from "../state/index.js";
import {
  type ExportedStack,
  inNaturalOrder,
  isReplaced,
  nameOf,
  objectsIn,
  type Resource,
  resourcesIn,
  type StoredObject,
  shown,
  stackNamesIn,
  timeOf,
  valuesOf,
  warnOfSecretSets,
} from "./contents.js";
import { chosen, command, csvOf, jsonOf, write } from "./harness.js";
import { exportIn, STACK_HELP, STACK_OPTIONS, stackName, stateOf } from "./pulumi.js";

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
    const earlier: ExportedStack[] = [];
    for (const file of before) earlier.push(await exportIn(file)); // one by one: standard input is there once
    const now = await stateOf(choice);
    // A state that was destroyed does not say whose it is.
    const isAsked = stackNamesIn(now).length === 0 && choice.state === undefined && before.length > 0;
    const names = isAsked ? [await stackName(choice)] : stackNamesIn(now);
    for (const [index, stack] of earlier.entries()) {
      const other = otherStackThan(names, stack);
      if (other !== undefined) throw new Error(`${before[index]} is a state of the stack ${other}, not of ${names[0]}`);
    }
    warnOfSecretSets([now, ...earlier].flatMap(resourcesIn));
    return write(inFormat(leftoversOf(now, earlier), before.length > 0), out);
  },
});

/** What is listed is taken for dead: so a state of another stack must not pass for an earlier one of this. @returns the other stack's name. */
export function otherStackThan(names: readonly (string | undefined)[], earlier: ExportedStack): string | undefined {
  const [stack] = stackNamesIn(earlier);
  return names.every((name) => name === undefined) || names.includes(stack) ? undefined : stack;
}

const COLUMNS = ["kind", "id", "name", "advertiserId", "key", "at", "why"] as const;

/**
 * - `name`: on the platform; empty if it is not known, `(secret)` if it must not be shown;
 * - `advertiserId`: of an event; empty where it is not known;
 * - `key`: the resource that held it, as its name in reports;
 * - `at`: when it left the state, ISO 8601; empty where it is not known.
 */
export type Leftover = Readonly<Record<(typeof COLUMNS)[number], string>> & { readonly kind: Kind["name"] };

/** @param earlier states of the same stack, in any order: they show what was removed. @returns what the state does not have (again). */
export function leftoversOf(now: ExportedStack, earlier: readonly ExportedStack[]): Leftover[] {
  const objects = objectsIn(resourcesIn(now));
  const found = [
    ...[now, ...earlier].flatMap(resourcesIn).flatMap(notedIn),
    ...objects.filter(isReplaced).map((each) => {
      const next = isRetained(each) ? "takes it out of the state" : "deletes it";
      return formerly(each, `replaced; the next \`pulumi up\` ${next}`);
    }),
    ...earlier
      .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
      .flatMap((state) => {
        const since = timeOf(state) === "" ? "in an earlier state" : `in the state of ${timeOf(state)}`;
        return objectsIn(resourcesIn(state)).map((each) => {
          const unless = isRetained(each) ? "" : "; live only if its delete was not done (retainOnDelete was off)";
          return formerly(each, `removed: it was ${since}${unless}`);
        });
      }),
  ];
  const objectOf = ({ kind, id }: Leftover) => objectKey(kind, id);
  const held = new Set(
    objects.filter((each) => !isReplaced(each)).map(({ kind, id = "" }) => objectKey(kind.name, id)),
  );
  const left = found.filter((each) => each.id !== "" && !held.has(objectOf(each)));
  // What is said first of an object counts.
  const first = new Map(left.toReversed().map((each) => [objectOf(each), each]));
  const byKey = inNaturalOrder(first.values(), ({ kind, key, id }) => `${kind} ${key} ${id}`);
  return byKey.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
}

/** What the state notes as left live. */
function notedIn({ urn, type, outputs = {} }: Resource): Leftover[] {
  const kind = (kindOfType(type) ?? setOfType(type)?.member)?.name;
  if (kind === undefined) return [];
  return leftLiveIn(outputs).map(({ id, at, name = "", key: member, owed }) => {
    const key = member === undefined ? nameInUrn(urn) : memberInReports(nameInUrn(urn), member);
    const why = member === undefined ? "replaced" : "replaced in its set, or removed from it";
    const again = owed === true ? "; it could not be deleted, and the next `pulumi up` tries again" : "";
    return { kind, id, name, advertiserId: "", key, at, why: why + again };
  });
}

/** Of something that no state notes: nobody knows since when. */
function formerly(object: StoredObject, why: string): Leftover {
  const { kind, id = "", key } = object;
  const advertiserId = "advertiserId" in kind.refersTo ? shown(valuesOf(object).advertiserId) : "";
  return { kind: kind.name, id, name: nameOf(object), advertiserId, key, at: "", why };
}

function isRetained({ resource: { retainOnDelete } }: StoredObject): boolean {
  return retainOnDelete === true;
}

/** Each ends with a line break. @param isCompared whether there was an earlier state. */
export const LEFTOVER_FORMATS: Readonly<
  Record<string, (leftovers: readonly Leftover[], isCompared: boolean) => string>
> = {
  text: asText,
  json: (leftovers) => jsonOf({ leftovers }),
  csv: (leftovers) => csvOf([[...COLUMNS], ...leftovers.map((each) => COLUMNS.map((column) => each[column]))]),
};

function asText(leftovers: readonly Leftover[], isCompared: boolean): string {
  if (leftovers.length === 0 && isCompared)
    return "Nothing that is live on the platform has left the state since the earlier export.\n";
  if (leftovers.length === 0) return "Nothing is known to be left live on the platform.\n";
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
