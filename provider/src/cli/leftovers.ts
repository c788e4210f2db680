/** `pulumi-advertising leftovers`: what is live and no longer managed, as the state notes and earlier exports show. */
import { count, printable } from "../base/index.js";
import { type Kind, resourceOfType } from "../kinds/index.js";
import {
  kindOf,
  leftLiveIn,
  memberInReports,
  nameInUrn,
  objectKey,
} from "../state/index.js";
import {
  type ExportedObject,
  type ExportedStack,
  inNaturalOrder,
  isReplaced,
  objectsIn,
  type Resource,
  stackNamesIn,
  warnOfSecretSets,
} from "./contents.js";
import { chosen, command, csvOf, type Formats, jsonOf, write } from "./harness.js";
import { STATE_HELP, STATE_OPTIONS, stackName, stateOf } from "./pulumi.js";

const HELP = `Usage: pulumi-advertising leftovers [options]

Lists what this stack left live: objects that were replaced, or left a set; with --before also
what left the state since then.

  --before EXPORT        an earlier export or a backend's checkpoint file; several times
  --format FORMAT        text (default), json or csv
  --out FILE             writes to FILE
${STATE_HELP}`;

export const leftoversCommand = command({
  help: HELP,
  options: {
    before: { type: "string", multiple: true, default: [] as string[] },
    format: { type: "string", default: "text" },
    ...STATE_OPTIONS,
  },
  run: async ({ before, format, out, ...choice }) => {
    const inFormat = chosen(LEFTOVER_FORMATS, format, "format");
    const now = await stateOf(choice);
    const names: (string | undefined)[] = stackNamesIn(now);
    // A state that was destroyed does not say whose it is.
    if (names.length === 0 && choice.state === undefined)
      names.push(await stackName(choice));
    const earlier: ExportedStack[] = [];
    for (const file of before) {
      const state = await stateOf({ state: file }); // one by one: standard input is there once
      const [name] = stackNamesIn(state);
      // What is listed is taken for dead: so a state of another stack must not pass for an earlier one of this.
      if (name !== undefined && names[0] !== undefined && !names.includes(name))
        throw new Error(`${file} is a state of the stack ${name}, not of ${names[0]}`);
      earlier.push(state);
    }
    warnOfSecretSets([now, ...earlier].flatMap(({ resources }) => resources));
    return write(inFormat(leftoversOf(now, earlier)), out);
  },
});

export interface Leftover {
  readonly kind: Kind["name"];
  readonly id: string;
  readonly name: string;
  readonly key: string;
  /** When it left the state, ISO 8601; empty where it is not known. */
  readonly at: string;
  readonly why: string;
}

/** @param earlier states of this stack: they show what was removed. @returns what the state does not have (again). */
export function leftoversOf(
  now: ExportedStack,
  earlier: readonly ExportedStack[],
): Leftover[] {
  const objects = objectsIn(now.resources);
  const found = [now, ...earlier].flatMap(({ resources }) => resources.flatMap(notedIn));
  found.push(...objects.filter(isReplaced).map((each) => formerly(each, "replaced")));
  for (const { time, resources } of earlier) {
    const why = `removed since ${time || "an earlier export"}`;
    found.push(...objectsIn(resources).map((each) => formerly(each, why)));
  }
  // What is said first of an object counts.
  const left = new Map(
    found.toReversed().map((each) => [objectKey(each.kind, each.id), each]),
  );
  for (const { kind, id = "" } of objects.filter((each) => !isReplaced(each)))
    left.delete(objectKey(kind.name, id));
  const listed = [...left.values()].filter(({ id }) => id !== "");
  return inNaturalOrder(listed, ({ kind, key, id }) => `${kind} ${key} ${id}`);
}

function notedIn({ urn, type, outputs = {} }: Resource): Leftover[] {
  const of = resourceOfType(type);
  if (of === undefined) return [];
  const kind = kindOf(of).name;
  const resource = nameInUrn(urn);
  return leftLiveIn(outputs).map(({ id, at, name = "", key: member }) => {
    const key = member === undefined ? resource : memberInReports(resource, member);
    return { kind, id, name, key, at, why: "replaced, or removed from its set" };
  });
}

/** Of something that no state notes: nobody knows since when. */
function formerly({ kind, id = "", name, key, resource }: ExportedObject, reason: string) {
  let why = reason;
  if (resource.retainOnDelete !== true)
    why += "; live only if it is not deleted (retainOnDelete was off)";
  return { kind: kind.name, id, name, key, at: "", why };
}

const COLUMNS = ["kind", "id", "name", "key", "at", "why"] as const;

export const LEFTOVER_FORMATS: Formats<readonly Leftover[]> = {
  text: (leftovers) => {
    if (leftovers.length === 0)
      return "The state has no object that stays live and unmanaged.\n";
    const lines = leftovers.map(({ kind, id, name, key, at, why }) => {
      return `  ${printable(`${kind} ${id} "${name}" of ${key}: ${why} ${at}`)}\n`;
    });
    return (
      `${count(leftovers.length, "object")} that this stack no longer manages. Tags keep firing ` +
      `their ids: deactivate them in the platform's own interface.\n${lines.join("")}`
    );
  },
  json: (leftovers) => jsonOf({ leftovers }),
  csv: (leftovers) =>
    csvOf([COLUMNS, ...leftovers.map((each) => COLUMNS.map((name) => each[name]))]),
};
