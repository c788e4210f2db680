/** A stack's saved state as an index, which is built once, and the creates that it has as in flight. Pure. */
import type { Values } from "../base/index.js";
import {
  type AnyKind,
  fingerprintOfBody,
  type Kind,
  resourceOfType,
} from "../kinds/index.js";
import {
  decideObjects,
  isFirstSending,
  isToCreate,
  type PlannedObject,
  type SavedCreates,
} from "../plan/index.js";
import { isPlatformId } from "../rules/index.js";
import { mayBeSameAccount } from "../settings/index.js";
import {
  ACCOUNT,
  identifyingIn,
  kindOf,
  markIn,
  objectKey,
  readDeclared,
  readStored,
  resolvedIn,
  runIn,
  type SentCreate,
} from "../state/index.js";
import {
  type ExportedObject,
  type ExportedStack,
  holdsSecret,
  isSecret,
  objectsIn,
  providerIn,
  type Resource,
  refIn,
} from "./export.js";

/** A create in one of Pulumi's pending operations: it was sent, or was about to be. */
interface ListedCreate extends SentCreate {
  /** The resource's. */
  urn: string;
  /** The plugin's provider that has the resource; undefined for the dynamic provider. */
  provider: string | undefined;
}

export interface SavedState extends ExportedStack, SavedCreates {
  /** All objects, also those that were replaced and only await their removal. */
  all: readonly ExportedObject[];
  /** The current objects, in natural order: without those that were replaced and only await their removal. */
  objects: readonly ExportedObject[];
  /** The current objects by their keys in the journal. */
  byKey: ReadonlyMap<string, ExportedObject>;
  /** The resources with this id in the state. */
  withId(id: string): readonly Resource[];
  /** The objects with this id, also those that were replaced and only await their removal. */
  allWith(kind: Kind["name"], id: string): readonly ExportedObject[];
  /** The current objects with this id. */
  holdersOf(kind: Kind["name"], id: string): readonly ExportedObject[];
  /** The creates of all pending operations, the earliest operation's first. */
  sent: readonly ListedCreate[];
  sentByKey: ReadonlyMap<string, readonly ListedCreate[]>;
  /** The resource whose pending operation has the create with this mark. */
  urnOf(mark: string): string | undefined;
  /** The marks of the creates that an earlier run had sent, and an interrupted one may have sent again. */
  sentAgain: ReadonlySet<string>;
}

export function savedStateOf(stack: ExportedStack): SavedState {
  const { resources, pending } = stack;
  const current = resources.filter((each) => each.delete !== true);
  const byUrn = new Map(current.map((each) => [each.urn, each]));
  const sent = pending.toReversed().flatMap((each) => sentCreates(each, byUrn));
  const listed = new Map(sent.map(({ mark, urn }) => [mark, urn]));
  const everyone = [...resources, ...pending.map(({ resource }) => resource)];
  const runs = everyone.map(({ inputs = {} }) => runIn(inputs).run);
  const all = objectsIn(resources);
  const objects = all.filter(({ resource }) => resource.delete !== true);
  const byId = Map.groupBy(resources, ({ id = "" }) => id);
  const byObject = Map.groupBy(all, ({ kind, id = "" }) => objectKey(kind.name, id));
  const allWith = (kind: Kind["name"], id: string) =>
    byObject.get(objectKey(kind, id)) ?? [];
  return {
    ...stack,
    isEmpty: resources.length === 0,
    all,
    objects,
    byKey: new Map(objects.map((each) => [each.ref.key, each])),
    unresolved: new Set(objects.flatMap(({ record }) => record?.mark ?? [])),
    withId: (id) => byId.get(id) ?? [],
    allWith,
    holdersOf: (kind, id) =>
      allWith(kind, id).filter(({ resource }) => resource.delete !== true),
    hasObject: (kind, id, account) =>
      allWith(kind, id).some(({ resource }) =>
        mayBeSameAccount(account, resource.outputs?.[ACCOUNT]),
      ),
    runs: new Set(runs.filter((run) => run !== "")),
    resolved: new Map(resources.flatMap(({ outputs = {} }) => [...resolvedIn(outputs)])),
    sent,
    sentByKey: Map.groupBy(sent, ({ key }) => key),
    sentAgain: new Set([
      ...sent.filter((each) => !isFirstSending(each)).map(({ mark }) => mark),
      ...unresolvedWhile(pending, objects),
    ]),
    lists: (mark) => listed.has(mark),
    urnOf: (mark) => listed.get(mark),
  };
}

/** The marks of a set's unresolved creates while it was updated: a search may have ruled them out. */
function unresolvedWhile(
  pending: ExportedStack["pending"],
  objects: readonly ExportedObject[],
) {
  const updating = pending.filter(({ type }) => type === "updating");
  const urns = updating.flatMap(({ resource: { urn, aliases = [] } }) => [urn, ...aliases]);
  const updated = new Set(urns);
  return objects.flatMap(({ resource, record }) => {
    return record && updated.has(resource.urn) ? record.mark : [];
  });
}

/** @param byUrn the current resources. */
function sentCreates(
  { type, resource }: ExportedStack["pending"][number],
  byUrn: ReadonlyMap<string, Resource>,
): ListedCreate[] {
  const of = resourceOfType(resource.type);
  if (!of) return [];
  const { urn, aliases = [], inputs = {} } = resource;
  // Another set may have the former name of one that is created.
  const isNewSet = type === "creating" && "member" in of;
  const urns = isNewSet ? [urn] : [urn, ...aliases];
  const inState = urns.map((each) => byUrn.get(each)).find(Boolean);
  if (!mayCreate(type, of, inState)) return [];
  const isOfUpdate = type === "updating" || undefined;
  const objects = isSecret(inputs.events) ? [undefined] : createdIn(of, inputs, inState);
  return objects.map((object) => ({ ...sentCreate(of, resource, object), isOfUpdate }));
}

/** A set that the state has isn't being created. While it is updated, the state has it as it was before. */
function mayCreate(type: string, of: AnyKind, inState: Resource | undefined) {
  const isSet = "member" in of;
  if (type === "updating") return isSet;
  return type === "creating" && !(isSet && inState);
}

/** The objects that an operation creates: only those that a plan would create can have been sent. */
function createdIn(of: AnyKind, inputs: Values, inState?: Resource) {
  const { id, outputs = {} } = inState ?? {};
  const isSet = "member" in of;
  // The engine has decided already that a single object is created: a forced replacement has no changed argument.
  let stored = readStored(of, undefined, {});
  if (isSet) stored = readStored(of, id, outputs);
  const objects = decideObjects(kindOf(of), stored, readDeclared(of, inputs), {
    can: { update: runIn(inputs).canUpdate },
    deletes: () => false,
  });
  const created = objects.filter((object) => object.isDeclared && isToCreate(object));
  if (isSet || !isPlatformId(id)) return created;
  return created.map((object) => ({ ...object, id }));
}

/** @param object undefined if nothing is known of a set's events. */
function sentCreate(
  of: AnyKind,
  resource: Resource,
  object: PlannedObject | undefined,
): ListedCreate {
  const { urn, inputs = {} } = resource;
  const { key, member } = refIn(of, urn, object?.key);
  const { run, field } = runIn(inputs);
  return {
    at: "",
    key,
    run,
    urn,
    provider: providerIn(resource),
    field,
    mark: markIn(inputs, run, key, member),
    replaces: object?.id,
    ...contentsOf(kindOf(of), object),
  };
}

/** An object's fingerprint, name and facts, without secrets. */
function contentsOf(kind: Kind, object: PlannedObject | undefined) {
  const { entry, values = {} } = object ?? {};
  const names = Object.keys(values);
  // A secret entry may also have the arguments that the set's defaults show.
  const secret = names.filter((name) => isSecret(entry) || holdsSecret(values[name]));
  const isKnown = object !== undefined && !holdsSecret(values);
  return {
    body: isKnown ? fingerprintOfBody(kind, values) : "",
    ...identifyingIn(kind, values, new Set(secret)),
  };
}
