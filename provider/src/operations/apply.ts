/**
 * The engine's `create` and `update`. Makes a resource's objects as they are declared, each at most once;
 * then, only if all that succeeded, deletes the objects that have left a set; and writes the next state.
 */
import { randomUUID } from "node:crypto";
import { isoNow, withoutUndefined } from "../base/index.js";
import { providerReference } from "../kinds/index.js";
import {
  departuresOf,
  isRemoved,
  isToCreate,
  nextState,
  type ObjectAfter,
  type PlannedObject,
} from "../plan/index.js";
import {
  argumentsIn,
  type LeftLive,
  markIn,
  objectKey,
  objectRef,
  PROVIDER,
  type ResourceRef,
  replacedKey,
  SINGLE,
  type StoredSet,
  secretArgumentsIn,
  writeStored,
} from "../state/index.js";
import { planOfCreate } from "./decide-create.js";
import { deleteObjects } from "./deletes.js";
import { createdAt } from "./execute.js";
import {
  leftMessage,
  replacedNotice,
  savedAsSentMessage,
  setFailureMessage,
  unresolvedMessage,
  usedMessage,
} from "./messages.js";
import {
  type FailedDelete,
  isTrouble,
  type ObjectTask,
  type Outcomes,
  ResourceFailure,
  replacedBy,
  type SavedResource,
} from "./outcome.js";
import {
  noteReached,
  type Plan,
  planObjects,
  withOpenCreates,
  withReplaced,
} from "./plan-resource.js";
import type { Change, Runtime } from "./runtime.js";

/** The outcomes for a resource's objects, and the next state. */
interface ApplyResult {
  outcomes: Outcomes;
  /** The objects that have left the resource and stay live, which nothing has said, and that no other resource has. */
  unmanaged: readonly LeftLive[];
  after: StoredSet;
  /** The outputs, which the engine saves also if the call fails. */
  saved: Omit<SavedResource, "id">;
  failedDeletes: readonly FailedDelete[];
}

/**
 * The engine's `create` and `update`. @param change without an id and old state for a create.
 * @throws AdvertisingError, ResourceFailure if anything failed; a ResourceFailure may have the next outputs, which the
 * engine saves.
 */
export async function applyResource(runtime: Runtime, ref: ResourceRef, change: Change) {
  try {
    return await apply(runtime, ref, change);
  } catch (error) {
    runtime.deployment.isIncomplete = true;
    throw error;
  }
}

async function apply(runtime: Runtime, ref: ResourceRef, change: Change) {
  const plan = await withReplaced(await withOpenCreates(planObjects(runtime, ref, change)));
  const done = await runtime.work.hold(applyPlan(plan));
  // The engine gets these outcomes, and saves them.
  for (const outcome of done.outcomes.values()) {
    if (outcome.kind === "created") runtime.journal().markReturned(outcome.mark);
    if (outcome.kind === "unresolved") runtime.journal().markReturned(outcome.record.mark);
  }
  if ("member" in plan.resource) {
    // The set's own id means nothing to the platform.
    const id = change.id || `set-${randomUUID()}`;
    return { id, outs: setOutputs(plan, done, id) };
  }
  if (change.id === "") tellCreated(plan, done);
  return singleOutputs(plan, done);
}

/** Makes the objects as they are declared, and deletes the objects that have left a set. */
async function applyPlan(plan: Plan) {
  const { runtime, resource, kind, ref, stored, objects, operations, fates } = plan;
  const { deployment } = runtime;
  noteReached(plan);
  const tasks = tasksOf(plan);
  await refuseFirst(plan, tasks);
  const outcomes = await operations.executeAll(tasks);
  const made: ReadonlyMap<string, ObjectAfter> = outcomes;
  const leaving = departuresOf(plan, made, isoNow(runtime.clock));
  for (const { id = "", key, ref: own } of objects)
    if ((made.get(key)?.id ?? id) !== id) deployment.unclaim(kind, id, own.key);
  const isWell = !outcomes.values().some(isTrouble);
  // The engine itself calls `delete` for a single resource's former object.
  const isSingle = resource === kind;
  const due = isSingle ? [] : leaving.filter(({ id }) => plan.fateOf(id).isDeleted);
  const wanted = isWell ? due : [];
  const failedDeletes = await deleteObjects(
    operations,
    ref.label,
    wanted.map((each) => {
      return { ...each, ref: objectRef(ref, each.key ?? SINGLE), setId: plan.id };
    }),
    plan.olds,
  );
  const waiting = new Set((isWell ? failedDeletes : due).map(({ id }) => id));
  const remaining = objects.flatMap((object) => remainderOf(object, waiting));
  const after = nextState({ ...plan, objects: remaining }, made);
  for (const { mark } of after.unresolved.values()) runtime.record.listedAfter.add(mark);
  after.resolved = await resolvedBy(plan, tasks, outcomes, leaving);
  const managedIds = new Set(after.eventIds.values());
  if (isSingle)
    for (const { leaving } of objects) if (leaving?.isDeleted) managedIds.add(leaving.id);
  const isUnmanaged = ({ id }: LeftLive) =>
    !managedIds.has(id) && !deployment.deleted.has(kind, id);
  // An object that was only read may be that of an open create: it's no former object.
  const isRead = isSingle && objects.some(({ leaving: each }) => each?.isRead);
  after.left = [...stored.left, ...(isRead ? [] : leaving)].filter(isUnmanaged);
  return {
    outcomes,
    unmanaged: leaving.filter(
      (each) =>
        isUnmanaged(each) &&
        !fates.isHeld({ id: each.id, ref }) &&
        // A delete that wasn't sent has said so.
        !deployment.staying.has(kind, each.id),
    ),
    after,
    saved: savedAs(plan, after, outcomes),
    failedDeletes,
  };
}

/**
 * An object for the next state. One that could not be deleted stays, so that the next run tries again; if it was replaced,
 * it stays beside its successor. @param waiting the ids of such objects.
 */
function remainderOf(object: PlannedObject, waiting: ReadonlySet<string>) {
  const { id = "", key, formerKey = key } = object;
  if (!waiting.has(id)) return isRemoved(object) ? [] : object;
  if (isRemoved(object)) return object;
  const old = { key: replacedKey(formerKey, id), formerKey, unresolved: undefined };
  return [object, { ...object, ...old }];
}

/** All members are checked before any is sent: if one is refused, no new event of the set is created. */
async function refuseFirst({ runtime }: Plan, tasks: readonly ObjectTask[]) {
  const news = tasks.filter(isToCreate);
  if (news.length === 0) return;
  const open = await runtime.record.open();
  const refused = news.find((task) => planOfCreate(runtime, task, open).do === "refused");
  if (refused) runtime.deployment.firstRefused ??= refused.ref.label;
}

/** The outcomes of this resource's earlier creates, as far as Pulumi's record still asks for them. */
async function resolvedBy(
  { runtime, kind, stored }: Plan,
  tasks: readonly ObjectTask[],
  outcomes: Outcomes,
  leaving: readonly LeftLive[],
) {
  const { record } = runtime;
  const resolved = new Map(stored.resolved);
  const open = tasks.length === 0 ? undefined : await record.open();
  for (const { key, keys, unresolved } of tasks) {
    const outcome = outcomes.get(key);
    if (outcome?.kind !== "created" && outcome?.kind !== "managed") continue;
    const earlier = open?.of(keys).map(({ mark }) => mark) ?? [];
    if (unresolved) earlier.push(unresolved.mark);
    for (const mark of earlier) {
      resolved.set(mark, objectKey(kind.name, outcome.id));
      record.resolved.add(mark);
    }
    // Whatever else Pulumi's record lists for it is over. Another machine may not know that.
    for (const mark of record.overOf(keys)) if (!resolved.has(mark)) resolved.set(mark, "");
  }
  // Once its object has left, a create has nothing to be taken over.
  const left = new Set(leaving.map(({ id }) => objectKey(kind.name, id)));
  for (const [mark, object] of resolved) if (left.has(object)) resolved.set(mark, "");
  return record.stillListed(resolved);
}

function savedAs(
  { runtime, resource, kind, inputs }: Plan,
  after: StoredSet,
  outcomes: Outcomes,
) {
  if (outcomes.values().some(({ kind: how }) => how === "created"))
    after.created = createdAt(runtime) ?? after.created;
  const properties = withoutUndefined({
    // The plugin's too: after a move to the classes, Pulumi's refreshes and deletes find the provider only in the state.
    [PROVIDER]: providerReference(resource.name),
    deletionPolicy: inputs.deletionPolicy,
    ...(resource === kind && argumentsIn(inputs)),
    ...writeStored(resource, after),
  });
  return { properties, secret: secretArgumentsIn(inputs) };
}

function tasksOf(plan: Plan) {
  const { runtime, kind, stored, declared, inputs, objects, secret } = plan;
  // A set's deletes come after the tasks.
  const rest = ["same", "retain", "delete"];
  const work = objects.filter(({ action }) => !rest.includes(action.do));
  return work.map((object) => {
    const replaces = replacedBy(object);
    const keys = [object.key, declared.formerKeys.get(object.key)];
    const left = stored.left.filter(({ key = SINGLE }) => keys.includes(key));
    const formerIds = left.map(({ id }) => id);
    if (replaces !== undefined) formerIds.push(replaces);
    const mark = markIn(inputs, runtime.runName, object.ref.key, object.key);
    return { ...object, kind, secret, formerIds, mark };
  });
}

/** A single resource's id and outputs, or the error with which its call fails. */
function singleOutputs({ ref }: Plan, { outcomes, saved, after }: ApplyResult) {
  const outcome = outcomes.get(SINGLE);
  const id = after.eventIds.get(SINGLE) ?? "";
  const own = { id, ...saved };
  if (outcome?.kind === "failed") {
    const { error } = outcome;
    // After a plain error, the engine leaves the state as it is.
    if (!outcome.isUnsure || !after.sentAs.get(SINGLE)?.isUnsure) throw error;
    const text = `${error.message}\nThe next \`pulumi up\` sends all arguments, even if you undo the change.`;
    throw new ResourceFailure(text, own, error.code);
  }
  if (outcome?.kind === "unresolved") {
    // Never only digits: the platform's ids are.
    const id = `unresolved-${outcome.record.mark}`;
    throw new ResourceFailure(unresolvedMessage([{ ref, ...outcome }]), { id, ...saved });
  }
  if (outcome?.kind === "created" && outcome.sentAs)
    throw new ResourceFailure(savedAsSentMessage([{ ref, id, ...outcome.sentAs }]), own);
  return { id, outs: saved.properties };
}

/** The messages after a single resource's create: the old object that it replaces, then what earlier runs have made. */
function tellCreated(
  { runtime, kind, ref, objects }: Plan,
  { outcomes, unmanaged }: ApplyResult,
) {
  const { deployment, messages } = runtime;
  const outcome = outcomes.get(SINGLE);
  if (!outcome || !("id" in outcome)) return;
  for (const former of unmanaged) {
    // The engine may still call `delete` for this object, by the option in the state.
    deployment.staying.add(kind, former.id);
    const then = `is ${outcome.id} now`;
    const fate = { ...objects[0]?.leaving, ...former, isDeleted: false };
    messages.tellEach(replacedNotice(kind, ref, fate, then));
  }
  messages.tellAt("info", ref.resourceUrn, usedMessage(ref, objects, outcomes));
}

/** A set's outputs. @param id of the set. @throws ResourceFailure if anything failed. */
function setOutputs(
  { runtime, kind, ref, stored, objects, fateOf }: Plan,
  done: ApplyResult,
  id: string,
) {
  const { outcomes, unmanaged, failedDeletes, after } = done;
  const { messages } = runtime;
  const left = unmanaged.map(({ id, key }) => ({ key, ...fateOf(id) }));
  messages.tellAt("warn", ref.resourceUrn, leftMessage(kind, ref, left));
  messages.tellAt("info", ref.resourceUrn, usedMessage(ref, objects, outcomes));
  if (failedDeletes.length === 0 && !outcomes.values().some(isTrouble))
    return done.saved.properties;
  const { text, code } = setFailureMessage(ref, outcomes, failedDeletes);
  // A set without a member is not saved: the next run creates it.
  const hasMembers = [stored, after].some(
    (each) => each.eventIds.size + each.unresolved.size > 0,
  );
  throw new ResourceFailure(text, hasMembers ? { id, ...done.saved } : undefined, code);
}
