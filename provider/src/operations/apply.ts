/**
 * The engine's `create`, `update` and `delete`. Makes a resource's objects as they are declared, each at most once;
 * then, only if all that succeeded, deletes the objects that have left a set; and writes the next state.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type AdvertisingError,
  idRanges,
  LoginError,
  RefusedError,
  SettingsError,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import { displayName, fingerprintOfBody, type Kind, type SetKind } from "../kinds/index.js";
import type { Action, PlannedObject } from "../plan/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  argumentsIn,
  CREATED,
  completeArguments,
  isOfPlugin,
  keptForRead,
  kindOf,
  type LeftLive,
  memberLabel,
  objectRef,
  PROVIDER,
  type ResourceRef,
  readStored,
  SINGLE,
  type StoredSet,
  secretArgumentsIn,
  sendingId,
  writeStored,
} from "../state/index.js";
import { createToTakeOver, namesakeOf, replacedBy, taskMark } from "./create.js";
import { createdAt, ObjectOperations, type Target } from "./execute.js";
import {
  leftMessage,
  replacedNotice,
  savedAsSentMessage,
  setFailureMessage,
  unresolvedMessage,
  usedMessage,
} from "./messages.js";
import {
  assertSameAccount,
  type FailedDelete,
  idAfter,
  isTrouble,
  type ObjectTask,
  type Outcome,
  type Outcomes,
  ResourceFailure,
  type SavedResource,
  sentAsOf,
  toAdvertisingError,
} from "./outcome.js";
import { type Plan, planObjects } from "./plan-resource.js";
import type { Change, Runtime, Severity } from "./runtime.js";

/** The outcomes for a resource's objects, and the next state. */
interface ApplyResult {
  outcomes: Outcomes;
  /** The objects that have left the resource and stay live, without those that another resource manages. */
  unmanaged: readonly LeftLive[];
  after: StoredSet;
  outs: Values;
  /** For the error of a failed call. The engine saves these unchanged, so they include the provider. */
  saved: Omit<SavedResource, "id">;
  /** The ids of the objects that were deleted for a set. */
  deletedIds: readonly string[];
  failedDeletes: readonly FailedDelete[];
}

/** @throws AdvertisingError, ResourceFailure if anything failed. */
export async function createResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  inputs: Values,
): Promise<{ id: string; outs: Values }> {
  const change = { id: "", olds: {}, news: inputs };
  const plan = planObjects(resource, runtime, ref, change);
  if ("member" in resource) {
    // The set's own id means nothing to the platform.
    const id = `set-${randomUUID()}`;
    return { id, outs: setOutputs(plan, await applyPlan(plan), id) };
  }
  // The engine gives `create` no old state, so that comes from `check` and `diff`.
  const { planned: before, deletesInStateAndProgram = false } = runtime.deployment.checked(
    ref.key,
  );
  const held = replacedBy(runtime, ref, before?.object.id);
  const isDeleted = before?.object.former?.isDeleted ?? deletesInStateAndProgram;
  const former = held === undefined ? undefined : { id: held, isDeleted };
  const unresolved = before?.object.unresolved;
  const objects = plan.objects.map((object) => ({ ...object, unresolved, former }));
  const whole = { ...plan, objects, stored: before?.stored ?? plan.stored };
  const done = await applyPlan(whole);
  const created = singleOutputs(whole, done);
  tellCreated(whole, done);
  return created;
}

/**
 * @returns the next outputs. @throws AdvertisingError, ResourceFailure if anything failed; a ResourceFailure may have
 * the next outputs, which the engine saves.
 */
export async function updateResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<Values> {
  const plan = planObjects(resource, runtime, ref, change);
  const done = await applyPlan(plan);
  if ("member" in resource) return setOutputs(plan, done, change.id);
  return singleOutputs(plan, done).outs;
}

/**
 * The engine calls this only if `retainOnDelete` is off. It can be repeated: a missing object counts as deleted.
 * @param leaving `ref` only from a plugin: a dynamic provider isn't told which resource it is. @throws AdvertisingError
 */
export async function deleteResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  leaving: { id: string; properties: Values; ref?: ResourceRef },
): Promise<void> {
  const { id, properties, ref } = leaving;
  const { eventIds } = readStored(resource, id, properties);
  // The create is unresolved: the object to delete is not known.
  if (eventIds.size === 0) return;
  const label = ref ? `${ref.label} (${id})` : `${resource.name} ${id}`;
  assertSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`);
  const operations = new ObjectOperations(kindOf(resource), runtime);
  const wanted = [...eventIds].map(([key, object]) => {
    return { key, id: object, ref: ref && objectRef(ref, key) };
  });
  // After an error the state keeps the whole set, so the next run deletes the other objects too.
  const [first] = await deleteObjects(operations, label, wanted, properties);
  if (first) throw first.error;
  for (const { id } of wanted) runtime.deployment.noteLeaving(operations.kind, id);
}

/** Makes the objects as they are declared, and deletes the objects that have left a set. */
async function applyPlan(plan: Plan): Promise<ApplyResult> {
  const { runtime, resource, kind, ref, stored, objects, inputs, secret } = plan;
  const operations = new ObjectOperations(kind, runtime);
  const tasks = tasksOf(plan);
  // All members are checked before any is sent: if one is blocked, no new event of the set is created.
  for (const task of tasks) {
    const { action, ref: own, replaces, mark } = task;
    const isNew = action.do === "create" || action.do === "replace";
    if (!isNew || createToTakeOver(runtime, own, replaces, mark) !== undefined) continue;
    if (namesakeOf(runtime, task) !== undefined)
      runtime.deployment.firstBlocked ??= own.label;
  }
  const outcomes = await operations.executeAll(tasks);
  const all = [...outcomes.values()];
  const created = all.filter((outcome) => outcome.kind === "created");
  const journal = runtime.journal(ref);
  for (const task of tasks)
    if (outcomes.get(task.key)?.kind === "created") journal.markReturned(task.ref.key);
  const isWell = !all.some(isTrouble);
  const at = runtime.now();
  const leaving = objects.flatMap((object): LeftLive[] => {
    const { key } = object;
    // In a single resource's `create`, only `former` has the old id.
    const id = object.id ?? object.former?.id;
    const isSame = !isRemoved(object) && id === (idAfter(outcomes.get(key)) ?? object.id);
    if (id === undefined || isSame) return [];
    const name = displayName(kind, stored.events.get(key) ?? {}, secret);
    return [withoutUndefined({ id, at, name, key: key || undefined })];
  });
  // The engine itself calls `delete` for a single resource's former object.
  const isSingle = resource === kind;
  const isWanted = ({ id }: LeftLive) => !isSingle && isWell && plan.deletes(id);
  const wanted = leaving.filter(isWanted);
  const failedDeletes = await deleteObjects(operations, ref.label, wanted, plan.olds);
  const isDeleted = ({ id }: LeftLive) => runtime.deleted.has(kind.name, id);
  const deletedIds = wanted.filter(isDeleted).map(({ id }) => id);
  // Another resource has these objects now, and this resource's journal records don't say so yet.
  const moved = leaving.filter(({ id }) => runtime.deployment.holderOf(kind, id));
  if (isWell) for (const { id } of moved) runtime.deployment.noteLeaving(kind, id);
  // A removed object that could not be deleted stays in the state, so that the next run tries again.
  const isStill = ({ id, action }: PlannedObject) =>
    action.do === "delete" && (!isWell || failedDeletes.some((each) => each.id === id));
  const remaining = objects.filter((object) => !isRemoved(object) || isStill(object));
  const after = nextState(plan, remaining, outcomes);
  if (created.length > 0) after.created = createdAt(runtime) ?? after.created;
  const resolved = objects
    .filter(({ key }) => !after.unresolved.has(key))
    .flatMap(({ unresolved }) => unresolved ?? []);
  const takenOver = created.flatMap(({ sending }) => sending ?? []);
  after.resolved = [
    ...new Set([...stored.resolved, ...resolved.map(sendingId), ...takenOver]),
  ];
  const held = new Set(after.eventIds.values());
  if (isSingle)
    for (const { former } of objects) if (former?.isDeleted) held.add(former.id);
  const isUnmanaged = (object: LeftLive) => !held.has(object.id) && !isDeleted(object);
  after.left = [...stored.left, ...leaving].filter(isUnmanaged);
  const unmanaged = leaving.filter(
    (each) => isUnmanaged(each) && !runtime.deployment.isClaimedOrAdopted(kind, each.id),
  );
  const outs: Values = withoutUndefined({
    ...(isSingle && argumentsIn(inputs)),
    ...writeStored(resource, after, exactId, runtime.account),
    ...(plan.can.read ? keptForRead(inputs) : undefined),
  });
  const saved = {
    properties: { ...outs, [PROVIDER]: inputs[PROVIDER] },
    secret: secretArgumentsIn(inputs),
  };
  return { outcomes, unmanaged, after, outs, saved, deletedIds, failedDeletes };
}

function tasksOf({
  runtime,
  kind,
  ref,
  stored,
  inputs,
  objects,
  secret,
}: Plan): ObjectTask[] {
  // A set's deletes come after the tasks.
  const rest = ["same", "retain", "delete"];
  const hasWork = ({ action }: PlannedObject) => !rest.includes(action.do);
  return objects.filter(hasWork).map((object) => {
    const own = objectRef(ref, object.key);
    const replaces = replacedBy(runtime, own, object.id ?? object.former?.id);
    const left = stored.left.filter(({ key = SINGLE }) => key === object.key);
    const formerIds = left.map(({ id }) => id);
    if (replaces !== undefined) formerIds.push(replaces);
    const mark = taskMark(runtime, own, replaces, inputs);
    return { ...object, kind, ref: own, secret, replaces, formerIds, mark };
  });
}

function isRemoved({ action }: PlannedObject) {
  return action.do === "retain" || action.do === "delete";
}

/**
 * A refused delete does not stop the others; after any other failure no further delete begins.
 * @param label the resource's. @param properties the resource's in the state.
 */
async function deleteObjects(
  operations: ObjectOperations,
  label: string,
  wanted: readonly (Pick<LeftLive, "id" | "key"> & Pick<Target, "ref">)[],
  properties: Values,
): Promise<FailedDelete[]> {
  const failedDeletes: FailedDelete[] = [];
  const created = properties[CREATED];
  let trouble: AdvertisingError | undefined;
  // The workers share one iterator, so each object is deleted by one of them.
  const next = wanted.values();
  const worker = async () => {
    for (const { id, key = SINGLE, ref } of next) {
      try {
        if (trouble) throw trouble;
        const own = key === SINGLE ? label : `${memberLabel(label, key)} (${id})`;
        await operations.delete({ id, label: own, ref, created }, properties);
      } catch (error) {
        const failure = toAdvertisingError(error);
        if (!(failure instanceof RefusedError)) trouble ??= failure;
        failedDeletes.push({ id, key, error: failure });
      }
    }
  };
  const { maxConcurrentRequests } = operations.runtime.settings;
  await Promise.all(Array.from({ length: maxConcurrentRequests }, worker));
  return failedDeletes;
}

/**
 * The state after an `up`; `applyPlan` adds the objects that are left live.
 * @param objects the ones that stay in the state.
 */
function nextState(
  { kind, stored, declared, secret }: Plan,
  objects: readonly PlannedObject[],
  outcomes: Outcomes,
): StoredSet {
  const { advertiserId, defaults } = declared;
  const next: StoredSet = {
    ...stored,
    advertiserId,
    defaults,
    events: new Map(),
    eventIds: new Map(),
    sentAs: new Map(),
    unresolved: new Map(),
  };
  for (const { key, action, isDeclared, entry, olds, ...object } of objects) {
    const outcome = outcomes.get(key);
    const idNow = idAfter(outcome);
    if (outcome?.kind === "unresolved") next.unresolved.set(key, outcome.record);
    else if (idNow === undefined && object.unresolved)
      next.unresolved.set(key, object.unresolved);
    const id = idNow ?? object.id;
    if (id === undefined) continue;
    next.eventIds.set(key, id);
    next.events.set(key, entry);
    if (outcome?.kind === "created" && outcome.sentAs) next.sentAs.set(key, outcome.sentAs);
    // Without a known update the doubt about a failed one stays, until an update is known again.
    if (action.do === "same" && object.sentAs?.isUnsure)
      next.sentAs.set(key, object.sentAs);
    if (idNow !== undefined || (action.do === "same" && isDeclared)) continue;
    // The replacement was not created, or the update failed: the state keeps describing the old object.
    const then = stored.events.get(key) ?? {};
    // Old values may have been secret, and the current inputs would not keep them so.
    next.events.set(key, secret.size === 0 ? then : {});
    const body = fingerprintOfBody(kind, olds);
    const facts = secret.has("advertiserId") ? {} : olds;
    const { sentAs = sentAsOf(kind, { body, facts }) } = object;
    const isDescribed =
      object.sentAs === undefined &&
      isDeepStrictEqual(olds, completeArguments(declared, then));
    // An object of unknown owner can't be updated, only replaced.
    const mayResend = kind.owner === undefined || sentAs.owner !== undefined;
    if (mayResend && isFailedUpdate(action, outcome))
      next.sentAs.set(key, { ...sentAs, isUnsure: true });
    else if (!isDescribed || secret.size > 0) next.sentAs.set(key, sentAs);
  }
  return next;
}

/**
 * Whether a failed update may have been carried out: then the next run sends it again, even if the change is undone.
 */
function isFailedUpdate({ do: work }: Action, outcome: Outcome | undefined) {
  if (work !== "update" || outcome?.kind !== "failed") return false;
  // After these errors the update certainly was not sent, or was refused.
  return !(outcome.error instanceof LoginError || outcome.error instanceof SettingsError);
}

/** A single resource's id and outputs, or the error with which its call fails. */
function singleOutputs(
  { ref, objects }: Plan,
  { outcomes, outs, saved, after }: ApplyResult,
): { id: string; outs: Values } {
  const outcome = outcomes.get(SINGLE);
  const id = after.eventIds.get(SINGLE) ?? "";
  if (outcome?.kind === "failed") {
    const { error } = outcome;
    const isUpdate = objects.some(({ action }) => action.do === "update");
    // After a plain error, the engine leaves the state as it is.
    if (!isUpdate || after.sentAs.get(SINGLE)?.isUnsure !== true) throw error;
    const text = `${error.message}\nThe next \`pulumi up\` sends all arguments, even if you undo the change.`;
    throw new ResourceFailure(text, { id, ...saved }, error.code);
  }
  if (outcome?.kind === "unresolved") {
    // Never only digits: the platform's ids are.
    const id = `unresolved-${outcome.record.mark}`;
    throw new ResourceFailure(unresolvedMessage([{ ref, ...outcome }]), { id, ...saved });
  }
  if (outcome?.kind === "created" && outcome.sentAs)
    throw new ResourceFailure(savedAsSentMessage([{ ref, id }]), { id, ...saved });
  return { id, outs };
}

/** The messages after a single resource's create: an object that was taken over, and an old one that it replaces. */
function tellCreated(
  { runtime, kind, ref, objects }: Plan,
  { outcomes, unmanaged }: ApplyResult,
) {
  const { deployment, tellAt, warnEach } = runtime;
  const outcome = outcomes.get(SINGLE);
  const id = idAfter(outcome) ?? "";
  // An adoption was reported before.
  if (outcome?.kind === "created") {
    tellAt("info", ref.resourceUrn, usedMessage(ref, objects, outcomes));
  }
  const [object] = objects;
  // Only the engine knows a plugin resource's `retainOnDelete`, so the message names both cases.
  if (object?.former?.isDeleted && isOfPlugin(ref))
    warnEach(replacedNotice(kind, ref, object.former, `is ${id} now`));
  const [former] = unmanaged;
  if (!former || deployment.checked(ref.key).deletesInStateAndProgram) return;
  // The engine may still call `delete` for this object, by the option in the state.
  deployment.noteStaying(kind, former.id);
  warnEach(replacedNotice(kind, ref, { ...former, isDeleted: false }, `is ${id} now`));
}

/** A set's outputs. @param id of the set. @throws ResourceFailure if anything failed. */
function setOutputs(
  { runtime, kind, ref, objects, stored }: Plan,
  done: ApplyResult,
  id: string,
): Values {
  const { outcomes, unmanaged, deletedIds, failedDeletes, after } = done;
  const tell = (severity: Severity, text: string | undefined) =>
    runtime.tellAt(severity, ref.resourceUrn, text);
  tell("info", usedMessage(ref, objects, outcomes));
  tell("warn", leftMessage(kind, unmanaged));
  if (deletedIds.length > 0)
    tell(
      "info",
      `Deleted on the platform (retainOnDelete: false): ${idRanges(deletedIds)}.`,
    );
  if (failedDeletes.length === 0 && ![...outcomes.values()].some(isTrouble))
    return done.outs;
  const { text, code } = setFailureMessage(ref, outcomes, failedDeletes);
  // A set without a member is not saved: the next run creates it.
  const hasMembers = [stored, after].some(
    (each) => each.eventIds.size + each.unresolved.size > 0,
  );
  throw new ResourceFailure(text, hasMembers ? { id, ...done.saved } : undefined, code);
}
