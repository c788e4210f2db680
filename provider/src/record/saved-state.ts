/** A stack's saved state as an index, which is built once, and the creates that it has as in flight. Pure. */
import { asRecord } from "../base/index.js";
import {
  asksToDelete,
  bodyOf,
  fingerprintOfBody,
  type Kind,
  type KindName,
  ownerIn,
  resourceOfType,
} from "../kinds/index.js";
import {
  decideObjects,
  isToCreate,
  type OpenCreate,
  type PlannedObject,
} from "../plan/index.js";
import { isPlatformId } from "../rules/index.js";
import { type IsSameAccount, mayBeSameAccount } from "../settings/index.js";
import {
  identifyingIn,
  kindOf,
  MARKS,
  markIn,
  objectKey,
  providerAt,
  readDeclared,
  readStored,
  resolvedIn,
  senderIn,
} from "../state/index.js";
import {
  accountIn,
  allResources,
  type ExportedStack,
  holdsSecret,
  isSecret,
  leftIn,
  objectsIn,
  providerIn,
  type Resource,
  refIn,
  SECRET_VALUE,
} from "./export.js";

const PLUGIN_PROVIDER = "pulumi:providers:advertising";

/** A create in one of Pulumi's pending operations: it was sent, or was about to be. */
export interface ListedCreate extends OpenCreate {
  /** The resource's. */
  urn: string;
  /** The resource of the state that the operation updates, perhaps under a former name; undefined for a new one. */
  stateUrn: string | undefined;
}

/** The operation that an interrupted run may have sent. */
export interface Interruption {
  sent: "update" | "delete";
  /** The request fields of an update; absent if they are secret. */
  fields?: readonly string[] | undefined;
}

/** The requests that interrupted updates and deletes may have sent. Pulumi's next save drops these operations from its record. */
export interface InterruptedChanges {
  creates: readonly ListedCreate[];
  /** By `objectKey`. */
  objects: readonly (readonly [object: string, by: Interruption])[];
}

export type SavedState = ReturnType<typeof savedStateOf>;

interface RunFacts {
  /** Whether a run is this one: its own operations are no interrupted ones. */
  isThisRun?: (run: string) => boolean;
  /** The changes that this engine's preview, or another process of it, read before Pulumi saved. */
  before?: InterruptedChanges | undefined;
}

export function savedStateOf(
  stack: ExportedStack,
  { isThisRun = () => false, before = { creates: [], objects: [] } }: RunFacts = {},
) {
  const { resources, pending } = stack;
  const current = resources.filter((each) => !each.delete);
  const named = current.flatMap((each) =>
    namesOf(each).map((name) => [name, each] as const),
  );
  const byName = new Map(named);
  const operations = pending.toReversed().map((each) => readOperation(each, byName));
  const listedNow = operations.flatMap((each) => each.sent);
  const marks = new Set(listedNow.map(({ mark }) => mark));
  const dropped = before.creates.filter(({ mark }) => !marks.has(mark));
  const sent = [...dropped, ...listedNow];
  const listed = new Map(sent.map((each) => [each.mark, each]));
  const earlier = operations.filter(({ run }) => !isThisRun(run));
  const objectChanges = [...before.objects, ...earlier.flatMap(({ changes }) => changes)];
  const runs = allResources(stack).map(({ inputs = {} }) => senderIn(inputs).run);
  runs.push(...dropped.map(({ run }) => run));
  const all = objectsIn(resources);
  const objects = all.filter(({ resource }) => !resource.delete);
  const unresolved = objects.flatMap(({ ref, record, resource }) => {
    if (!record) return [];
    const account = accountIn(resource);
    const provider = providerIn(resource);
    const { key, resourceUrn: urn } = ref;
    return { ...record, key, run: "", account, provider, urn, isInState: true };
  });
  const outcomes = resources.flatMap(({ urn, delete: isOld, outputs = {} }) =>
    Array.from(resolvedIn(outputs), ([mark, object]) => ({ urn, isOld, mark, object })),
  );
  const answers = outcomes.filter(({ isOld, mark }) => !isOld && listed.has(mark));
  const byId = Map.groupBy(resources, ({ id = "" }) => id);
  const byObject = Map.groupBy(all, ({ kind, id = "" }) => objectKey(kind.name, id));
  const byOwner = Map.groupBy(objects, ({ kind, values }) =>
    objectKey(kind.ownerKind?.name ?? kind.name, String(ownerIn(kind, values))),
  );
  const left = resources.flatMap(leftIn);
  const byLeft = Map.groupBy(left, ({ id, ref }) => objectKey(ref.kind, id));
  const providers = new Map<string, Set<unknown>>();
  for (const { type, urn } of current)
    if (type === PLUGIN_PROVIDER) providers.set(providerAt(urn), new Set());
  for (const each of current.filter(({ type }) => resourceOfType(type))) {
    // The classes' resources have one provider.
    const name = providerIn(each) ?? "";
    providers.set(name, (providers.get(name) ?? new Set()).add(accountIn(each)));
  }
  const allWith = (kind: KindName, id: string) => byObject.get(objectKey(kind, id)) ?? [];
  return {
    ...stack,
    // A run saves these first, perhaps before it reads the record.
    isEmpty: resources.every(({ type }) => /^pulumi:(pulumi:Stack$|providers:)/.test(type)),
    /** All objects, also those that were replaced and only await their removal. */
    all,
    /** The current objects, in natural order: without those that were replaced and only await their removal. */
    objects,
    /** The current objects by their keys in the journal. */
    byKey: new Map(objects.map((each) => [each.ref.key, each])),
    unresolved: Map.groupBy(unresolved, ({ mark }) => mark),
    /** The current resource with this URN. */
    resourceAt: (urn: string) => byName.get(urn),
    /** The current sets that hide which objects they have, since their ids are secret. */
    hiding: current.filter(({ type, outputs = {} }) => {
      return resourceOfType(type) && holdsSecret(outputs.eventIds);
    }),
    /** The resources with this id in the state. */
    withId: (id: string) => byId.get(id) ?? [],
    /** The objects with this id, also those that were replaced and only await their removal. */
    allWith,
    /** The current objects with this id. */
    holdersOf: (kind: KindName, id: string) =>
      allWith(kind, id).filter(({ resource }) => !resource.delete),
    /** Whether there is another provider for the same account: one of the plugin without resources may be for any. */
    hasOtherProvider: (own = "", isSameAccount: IsSameAccount) =>
      providers.entries().some(([name, accounts]) => {
        if (name === own) return false;
        return accounts.size === 0 || accounts.values().some(isSameAccount);
      }),
    /** The current objects that belong to this one, or may: their advertiser is secret. */
    ownedBy: (kind: KindName, id: string) =>
      [id, SECRET_VALUE].flatMap((each) => byOwner.get(objectKey(kind, each)) ?? []),
    hasObject: (kind: KindName, id: string, account: string | undefined) =>
      allWith(kind, id).some(({ resource }) =>
        mayBeSameAccount(account, accountIn(resource)),
      ),
    leftBy: (kind: KindName, id: string) => byLeft.get(objectKey(kind, id)) ?? [],
    runs: new Set(runs.filter((run) => run !== "")),
    resolved: new Map(outcomes.map(({ mark, object }) => [mark, object])),
    /** The creates of all pending operations, the earliest operation's first. */
    sent,
    sentByKey: Map.groupBy(sent, ({ key }) => key),
    /** By `objectKey`, the resources that keep the object as the outcome of a listed create. */
    answeredBy: Map.groupBy(answers, ({ object }) => object),
    /** By `objectKey`, of objects that the state has. */
    interrupted: new Map(objectChanges),
    changes: {
      creates: sent.filter(({ run, isOfUpdate }) => isOfUpdate && !isThisRun(run)),
      objects: objectChanges,
    },
    /** The create with this mark, in the latest pending operation that has it. */
    listed: (mark: string) => listed.get(mark),
  };
}

/** `pulumi state rename` changes only the first one. */
function namesOf({ urn, type, inputs = {} }: Resource) {
  return [urn, `${type} ${senderIn(inputs).identity || urn}`];
}

/**
 * Lists the creates that an interrupted operation may have sent, and the objects of the state that it may have changed.
 * @param byName the current resources.
 */
function readOperation(
  { type, resource }: ExportedStack["pending"][number],
  byName: ReadonlyMap<string, Resource>,
) {
  const { urn, aliases = [], inputs = {} } = resource;
  const { run, field, canUpdate, account } = senderIn(inputs);
  const sent: ListedCreate[] = [];
  const changes: [string, Interruption][] = [];
  const operation = { run, sent, changes };
  const of = resourceOfType(resource.type);
  if (!of) return operation;
  const kind = kindOf(of);
  const isSet = "member" in of;
  const isUpdate = type === "updating";
  const names = [...namesOf(resource), ...aliases];
  const inState = names.map((each) => byName.get(each)).find(Boolean);
  // While a resource is updated, the state has it as it was before. That one is created, the engine has decided already:
  // a forced replacement has no changed argument.
  let before: Partial<Resource> = {};
  if (isUpdate && inState) before = inState;
  if (type === "deleting") before = resource;
  const stored = readStored(of, before.id, before.outputs ?? {});
  const objects = decideObjects(kind, stored, readDeclared(of, inputs), {
    can: { update: canUpdate },
  });
  const mayDelete = asksToDelete(before.outputs);
  for (const { id, action, entry, values } of objects) {
    if (id === undefined) continue;
    const object = objectKey(kind.name, id);
    // A single resource's may send again what an interrupted update before it has sent.
    const isHidden = isSecret(entry) || isSecret(values.additionalFields);
    const fields = isHidden ? undefined : Object.keys(bodyOf(kind, values));
    if (isUpdate && (!isSet || action.do === "update"))
      changes.push([object, { sent: "update", fields }]);
    else if (mayDelete && (!isUpdate || action.do !== "same"))
      changes.push([object, { sent: "delete" }]);
  }
  // An object that the state only reads (`.get`) may be this create's own.
  const isObject = !isSet && !inState?.external && isPlatformId(inState?.id);
  const former = isObject ? inState?.id : undefined;
  const sentCreate = (member: string | undefined, object?: PlannedObject) => {
    const { key, member: own } = refIn(of, urn, member);
    return {
      ...{ at: "", key, run, urn, field, account, provider: providerIn(resource) },
      mark: markIn(inputs, run, key, own),
      replaces: object?.id ?? stored.eventIds.get(own ?? "") ?? former,
      stateUrn: inState?.urn,
      isOfUpdate: isUpdate || undefined,
      ...contentsOf(kind, object),
    };
  };
  if (type !== "creating" && !(isUpdate && isSet)) return operation;
  // Nothing is known of secret events.
  if (isSecret(inputs.events)) return { ...operation, sent: [sentCreate(undefined)] };
  const changed = objects.filter(({ isDeclared, action }) => {
    return isDeclared && action.do !== "same";
  });
  // Only those that a plan would create can have been sent.
  const created = changed.filter(isToCreate).map(({ key }) => key);
  // And what earlier runs have sent, which this one may send again, or has taken back.
  const members = new Set([...created, ...Object.keys(asRecord(inputs[MARKS]))]);
  const byKey = new Map(changed.map((object) => [object.key, object]));
  for (const member of members) sent.push(sentCreate(member, byKey.get(member)));
  return operation;
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
