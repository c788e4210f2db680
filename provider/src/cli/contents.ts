/** A stack's objects for the reports: the current ones, and those that it left live. Pure. */
import { advertiser, asksToDelete, type KindName } from "../kinds/index.js";
import {
  type ExportedObject,
  type ExportedStack,
  inNaturalOrder,
  keepingOption,
  leftIn,
  objectsIn,
  type Resource,
} from "../record/index.js";
import { objectKey, replacedKey } from "../state/index.js";

export interface Leftover {
  kind: KindName;
  id: string;
  name: string;
  key: string;
  /** When the object left the state, ISO 8601; empty if that is not known. */
  at: string;
  why: string;
}

/**
 * The objects that the stack no longer manages, and that may be live. @param earlier former states of the stack, which
 * show removed objects.
 * @returns only objects that the state does not have now.
 */
export function leftoversOf(now: ExportedStack, earlier: readonly ExportedStack[]) {
  const onlyRead = new Set(
    now.resources.filter(({ external }) => external).map(({ type, id }) => `${type} ${id}`),
  );
  const found = [
    ...[now, ...earlier].flatMap(({ resources }) => resources.flatMap(notedIn)),
    ...objectsIn(now.resources)
      .filter(isReplaced)
      .map((each) => formerly(each, "is being replaced", onlyRead)),
    ...earlier.flatMap(({ time, resources }) => {
      const why = `left the state after the export of ${time || "an unknown time"}`;
      return objectsIn(resources).map((each) => formerly(each, why, onlyRead));
    }),
  ];
  // The first entry for an object wins.
  const left = new Map(
    found.toReversed().map((each) => [objectKey(each.kind, each.id), each]),
  );
  for (const { kind, id = "" } of currentObjectsIn(now.resources))
    left.delete(objectKey(kind.name, id));
  return inNaturalOrder(
    [...left.values()].filter(({ id }) => id !== ""),
    ({ kind, key, id }) => `${kind} ${key} ${id}`,
  );
}

/** Whether the object was replaced, or is to be (`deleteBeforeReplace`): the state has it until the next run. */
function isReplaced({ resource, ref, id }: ExportedObject) {
  const isOfSet = id !== undefined && ref.member?.endsWith(replacedKey("", id));
  return resource.delete || resource.pendingReplacement || isOfSet;
}

/** The objects that a report lists: all that aren't being replaced. */
export function currentObjectsIn(resources: readonly Resource[]) {
  return objectsIn(resources).filter((each) => !isReplaced(each));
}

/** The names of the stack's advertisers, by id. */
export function advertiserKeys(objects: readonly ExportedObject[]) {
  return new Map(
    objects.filter(({ kind }) => kind === advertiser).map(({ id = "", key }) => [id, key]),
  );
}

function notedIn(resource: Resource) {
  return leftIn(resource).map(({ id, at, name: noted, ref }) => {
    // `--replace` keeps a single resource's name, and notes none.
    const [single] = ref.member === undefined ? objectsIn([resource]) : [];
    const name = noted ?? single?.name ?? "";
    const { kind, shownName: key } = ref;
    return { kind, id, name, key, at, why: `left the state at ${at}; may be live` };
  });
}

/**
 * A leftover that the state does not list as left live, so the time at which it left the state isn't known.
 * @param onlyRead the types and ids of what the program reads: that isn't deleted.
 */
function formerly(
  { kind, id = "", name, key, resource }: ExportedObject,
  reason: string,
  onlyRead: ReadonlySet<string>,
) {
  const isRead = onlyRead.has(`${resource.type} ${id}`);
  let why = `${reason}; may be live`;
  if (asksToDelete(resource.outputs) && !keepingOption(resource) && !isRead)
    why = `${reason}; may have been deleted (deletionPolicy: "delete")`;
  return { kind: kind.name, id, name, key, at: "", why };
}
