/**
 * The engine's `create`, `update` and `delete`: makes a resource's objects what is declared, each at most once; then
 * deletes what has left a set, last and only if everything else went well; and writes the next state.
 */
import { randomUUID } from "node:crypto";
import {
  type AdvertisingError,
  count,
  idRanges,
  RefusedError,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import { displayName, type Kind, type SetKind } from "../kinds/index.js";
import { type Action, adoptedBy, type PlannedObject } from "../plan/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  argumentsIn,
  CREATED,
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
  sendingOf,
  unresolvedIn,
  writeStored,
} from "../state/index.js";
import { createBlocker, createToTakeOver } from "./create.js";
import { hasWork, momentToKeep, ObjectOperations } from "./execute.js";
import {
  leftMessage,
  replacedNotice,
  savedAsSentMessage,
  setFailureMessage,
  unresolvedMessage,
  usedMessage,
} from "./messages.js";
import { nextState } from "./next-state.js";
import { progressOf, type Severity } from "./notices.js";
import {
  assertSameAccount,
  type FailedDelete,
  idAfter,
  isTrouble,
  type ObjectTask,
  type Outcomes,
  ResourceFailure,
  toAdvertisingError,
} from "./outcome.js";
import { type Plan, planObjects } from "./plan-resource.js";
import type { Change, Runtime } from "./runtime.js";
import { markFor, replacedBy } from "./search.js";

/** What is to be done with a resource's objects. */
interface ResourcePlan extends Plan {
  readonly resource: Kind | SetKind;
  readonly ref: ResourceRef;
  readonly inputs: Values;
}

/** What became of them. */
interface ApplyResult extends Deletes {
  readonly tasks: readonly ObjectTask[];
  readonly outcomes: Outcomes;
  /** Whether nothing failed. */
  readonly isWell: boolean;
  /** What has left the resource and stays live, unless something else manages it. */
  readonly unmanaged: readonly LeftLive[];
  readonly after: StoredSet;
  readonly outs: Values;
}

/** @throws AdvertisingError, ResourceFailure something failed. */
export async function createResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  inputs: Values,
): Promise<{ id: string; outs: Values }> {
  const plan = planObjects(resource, runtime, ref, { id: "", olds: {}, news: inputs });
  const work = { resource, ref, inputs, ...plan };
  if ("member" in resource) {
    const id = `set-${randomUUID()}`; // means nothing to the platform
    return { id, outs: setOutputs(runtime, work, await applyPlan(runtime, work), id) };
  }
  const before = runtime.deployment.plannedSingles.get(ref.key);
  const objects = plan.objects.map((object) => asCreateOrAdopt(object, before?.object));
  const done = await applyPlan(runtime, {
    ...work,
    objects,
    stored: before?.stored ?? plan.stored,
  });
  const created = singleOutputs(work, done);
  tellCreated(resource, runtime, ref, done);
  return created;
}

/**
 * The engine's `create` always makes or adopts an object. It gets no old state, so what the `diff` saw of the replaced
 * object is added.
 */
function asCreateOrAdopt(
  object: PlannedObject,
  before: PlannedObject | undefined,
): PlannedObject {
  const adopts = adoptedBy(object.entry);
  const action: Action = adopts === undefined ? { do: "create" } : { do: "adopt", id: adopts };
  if (before === undefined) return { ...object, action };
  const { id, olds, unresolved, former } = before;
  const isDeleted = former?.isDeleted === true;
  return {
    ...object,
    action,
    olds,
    unresolved,
    former: id === undefined ? undefined : { id, isDeleted },
  };
}

/** @returns the next outputs. @throws AdvertisingError, ResourceFailure something failed; a set's has the next outputs. */
export async function updateResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<Values> {
  const isSet = "member" in resource;
  const open = unresolvedIn(change.olds);
  if (!isSet && open !== undefined)
    throw new ResourceFailure(unresolvedMessage([{ ref, record: open }]));
  const work = {
    resource,
    ref,
    inputs: change.news,
    ...planObjects(resource, runtime, ref, change),
  };
  const done = await applyPlan(runtime, work);
  if (isSet) return setOutputs(runtime, work, done, change.id);
  return singleOutputs(work, done).outs;
}

/** Only if `retainOnDelete` was switched off. Repeatable: what is missing counts as deleted. @throws ResourceFailure */
export async function deleteResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  id: string,
  properties: Values,
): Promise<void> {
  const stored = readStored(resource, id, properties);
  if (stored.eventIds.size === 0) return; // unresolved, so that the object to delete is not known
  // Without its name, because the engine does not say whether that is secret.
  const label = `${resource.name} ${id}`;
  assertSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`);
  const operations = new ObjectOperations(kindOf(resource), runtime);
  if (!("member" in resource)) {
    await operations.delete({ id, label, created: properties[CREATED] }, properties);
    return;
  }
  const wanted = [...stored.eventIds].map(([key, object]) => ({ key, id: object }));
  const { deletedIds, failedDeletes } = await deleteMembers(
    operations,
    label,
    wanted,
    properties,
  );
  const [first] = failedDeletes;
  if (first === undefined) return;
  const left = idRanges(failedDeletes.map((each) => each.id));
  const done = `${deletedIds.size} of ${count(wanted.length, "event")} deleted. Not deleted: ${left}.`;
  throw new ResourceFailure(
    `${label}: ${done} ${first.error.message}`,
    undefined,
    first.error.code,
  );
}

/** Makes the objects what is declared, and deletes what has left a set. */
async function applyPlan(runtime: Runtime, work: ResourcePlan): Promise<ApplyResult> {
  const { resource, ref, stored, declared, objects, inputs, circumstances, secret } = work;
  const kind = kindOf(resource);
  const operations = new ObjectOperations(kind, runtime);
  const tasks = tasksOf(runtime, work);
  stopIfOneIsBlocked(kind, runtime, tasks);
  const tell = (text: string) =>
    runtime.tellAt("info", ref.resourceUrn, `${ref.label}: ${text}`);
  const outcomes = await operations.executeAll(
    tasks,
    progressOf(tasks.length, runtime.clock, tell),
  );
  const all = [...outcomes.values()];
  const journal = runtime.journal(ref.identity);
  for (const { ref: own } of tasks)
    if (outcomes.get(own.member ?? SINGLE)?.kind === "created") journal.markReturned(own.key);
  const isWell = !all.some(isTrouble);
  const at = runtime.now();
  const leaving = objects.flatMap((object): LeftLive[] => {
    const { key } = object;
    const id = object.id ?? object.former?.id; // in a create only `former` has it
    const isSame = !isRemoved(object) && id === (idAfter(outcomes.get(key)) ?? object.id);
    if (id === undefined || isSame) return [];
    const name = displayName(kind, stored.events.get(key) ?? {}, secret);
    return [withoutUndefined({ id, at, name, key: key || undefined })];
  });
  const { deletedIds, failedDeletes } = await deleteLeaving(operations, work, leaving, isWell);
  // What was removed, and could not be deleted, stays in the state, so that the next run tries again.
  const isStill = ({ id, action }: PlannedObject) =>
    action.do === "delete" && (!isWell || failedDeletes.some((each) => each.id === id));
  const remaining = objects.filter((object) => !isRemoved(object) || isStill(object));
  const after = nextState({ kind, stored, declared, secret }, remaining, outcomes);
  if (all.some((outcome) => outcome.kind === "created"))
    after.created = momentToKeep(runtime) ?? after.created;
  const resolved = objects
    .filter(({ key }) => !after.unresolved.has(key))
    .flatMap(({ unresolved }) => unresolved ?? []);
  const takenOver = all
    .filter((outcome) => outcome.kind === "created")
    .flatMap(({ sending }) => sending ?? []);
  after.resolved = [...new Set([...stored.resolved, ...resolved.map(sendingOf), ...takenOver])];
  const held = new Set(after.eventIds.values());
  const isUnmanaged = ({ id }: LeftLive) =>
    !deletedIds.has(id) && !held.has(id) && !runtime.deleted.has(kind.name, id);
  after.left = [...stored.left, ...leaving].filter(isUnmanaged);
  const unmanaged = leaving.filter(
    (each) => isUnmanaged(each) && !runtime.deployment.isClaimedOrAdopted(kind, each.id),
  );
  const outs: Values = withoutUndefined({
    ...(resource === kind && argumentsIn(inputs)),
    ...writeStored(resource, after, exactId, runtime.account),
    ...(circumstances.can.read && keptForRead(inputs)),
  });
  return {
    outcomes,
    unmanaged,
    deletedIds,
    failedDeletes,
    after,
    outs,
    isWell: isWell && failedDeletes.length === 0,
    tasks,
  };
}

function tasksOf(runtime: Runtime, work: ResourcePlan): ObjectTask[] {
  const { resource, ref, stored, inputs, secret } = work;
  return work.objects.filter(hasWork).map((object) => {
    const { key } = object;
    const id = object.id ?? object.former?.id; // in a create only `former` has it
    const own = objectRef(resource, ref, key);
    const replaces = replacedBy(runtime, own, id);
    const left = stored.left.filter((each) => (each.key ?? SINGLE) === key);
    const formerIds = [...left.map((each) => each.id), replaces].filter(
      (each) => each !== undefined,
    );
    const mark = markFor(runtime, own, replaces, inputs);
    return { ...object, ref: own, secret, created: stored.created, replaces, formerIds, mark };
  });
}

/** All are checked before any is sent: of a renamed set, no event goes out beside those that are blocked. */
function stopIfOneIsBlocked(kind: Kind, runtime: Runtime, tasks: readonly ObjectTask[]): void {
  for (const { action, ref, values, replaces, mark } of tasks) {
    const isNew = action.do === "create" || action.do === "replace";
    if (!isNew || createToTakeOver(runtime, ref, replaces, mark) !== undefined) continue;
    const blocker = createBlocker(kind, runtime, ref, values);
    if (blocker !== undefined) runtime.deployment.stopNewCreates(ref.label);
  }
}

function isRemoved({ action }: PlannedObject): boolean {
  return action.do === "retain" || action.do === "delete";
}

interface Deletes {
  /** Ids that are deleted here, and those that the engine is going to delete. */
  readonly deletedIds: ReadonlySet<string>;
  readonly failedDeletes: readonly FailedDelete[];
}

async function deleteLeaving(
  operations: ObjectOperations,
  { resource, ref, olds, objects, circumstances }: ResourcePlan,
  leaving: readonly LeftLive[],
  isWell: boolean,
): Promise<Deletes> {
  if (!("member" in resource)) {
    const former = objects.flatMap((object) => object.former ?? []);
    return {
      deletedIds: new Set(former.filter(({ isDeleted }) => isDeleted).map(({ id }) => id)),
      failedDeletes: [],
    };
  }
  if (!isWell || !circumstances.can.delete) return { deletedIds: new Set(), failedDeletes: [] };
  const wanted = leaving.filter(({ id }) => circumstances.deletes(id));
  return deleteMembers(operations, ref.label, wanted, olds);
}

/**
 * A refused delete does not stop the others; after any other failure no further one begins.
 * @param properties the set's in the state.
 */
async function deleteMembers(
  operations: ObjectOperations,
  setLabel: string,
  wanted: readonly Pick<LeftLive, "id" | "key">[],
  properties: Values,
): Promise<Deletes> {
  const deletedIds = new Set<string>();
  const failedDeletes: FailedDelete[] = [];
  const created = properties[CREATED];
  let trouble: AdvertisingError | undefined;
  const next = wanted.values();
  const worker = async () => {
    for (const { id, key = "" } of next) {
      try {
        if (trouble !== undefined) throw trouble;
        const label = `${memberLabel(setLabel, key)} (${id})`;
        if (await operations.delete({ id, label, created }, properties)) deletedIds.add(id);
      } catch (error) {
        const failure = toAdvertisingError(error);
        if (!(failure instanceof RefusedError)) trouble ??= failure;
        failedDeletes.push({ id, key, error: failure });
      }
    }
  };
  const { maxConcurrentRequests } = operations.runtime.reading.settings;
  await Promise.all(Array.from({ length: maxConcurrentRequests }, worker));
  return { deletedIds, failedDeletes };
}

/** A single resource's id and outputs, or the error with which its call fails. */
function singleOutputs(
  { ref, inputs }: ResourcePlan,
  { outcomes, outs, after }: ApplyResult,
): { id: string; outs: Values } {
  const outcome = outcomes.get(SINGLE);
  if (outcome === undefined) return { id: after.eventIds.get(SINGLE) ?? "", outs };
  if (outcome.kind === "failed") throw outcome.error;
  const properties = { ...outs, [PROVIDER]: inputs[PROVIDER] };
  if (outcome.kind === "unresolved") {
    const { record, why } = outcome;
    // Never only digits, as the platform's ids are.
    throw new ResourceFailure(unresolvedMessage([{ ref, record, why }]), {
      id: `unresolved-${record.mark}`,
      properties,
    });
  }
  const { id } = outcome;
  if (outcome.kind === "created" && outcome.sentAs !== undefined)
    throw new ResourceFailure(savedAsSentMessage([{ ref, id }]), { id, properties });
  return { id, outs };
}

/** Says what became of a single resource's create beside its id. */
function tellCreated(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  { outcomes, tasks }: ApplyResult,
): void {
  const { deployment, deleted } = runtime;
  const outcome = outcomes.get(SINGLE);
  const id = idAfter(outcome);
  if (outcome?.kind === "created" && outcome.isTakenOver)
    runtime.tellAt(
      "info",
      ref.resourceUrn,
      usedMessage(ref, [{ key: SINGLE, id: undefined }], outcomes),
    );
  const held = tasks[0]?.replaces;
  if (
    held === undefined ||
    held === id ||
    deployment.isClaimedOrAdopted(kind, held) ||
    deleted.has(kind.name, held)
  )
    return;
  // The engine has it deleted.
  if (deployment.checked(ref.key).deletesInStateAndProgram && !deployment.isStaying(kind, held))
    return;
  deployment.noteStaying(kind, held); // the engine may still ask for its delete, by the option in the state
  const now = `is ${id} now`;
  runtime.warnEach(replacedNotice(kind, ref, { id: held, isDeleted: false }, now));
}

/** A set's outputs. @param id of the set. @throws ResourceFailure something failed. */
function setOutputs(
  runtime: Runtime,
  work: ResourcePlan,
  done: ApplyResult,
  id: string,
): Values {
  const { ref, objects, stored, inputs } = work;
  const { outcomes, unmanaged, deletedIds, failedDeletes, after, outs } = done;
  const kind = kindOf(work.resource);
  const tell = (severity: Severity, text: string | undefined) =>
    runtime.tellAt(severity, ref.resourceUrn, text);
  tell("info", usedMessage(ref, objects, outcomes));
  tell("warn", leftMessage(kind, unmanaged));
  if (deletedIds.size > 0)
    tell(
      "info",
      `Deleted on the platform, as retainOnDelete: false says: ${idRanges([...deletedIds])}.`,
    );
  if (done.isWell) return outs;
  const { text, code } = setFailureMessage(ref, outcomes, failedDeletes);
  const hasMembers = [stored, after].some(
    (each) => each.eventIds.size + each.unresolved.size > 0,
  );
  // Without a member, nothing is saved: the next run creates the set.
  if (!hasMembers) throw new ResourceFailure(text, undefined, code);
  throw new ResourceFailure(
    text,
    { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } },
    code,
  );
}
