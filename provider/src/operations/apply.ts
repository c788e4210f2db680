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
  unresolvedMessage,
  writeStored,
} from "../state/index.js";
import { createBlocker, takeableOf } from "./create.js";
import { hasWork, momentToKeep, ObjectOperations } from "./execute.js";
import {
  adoptedMessage,
  exchangedNotice,
  leftMessage,
  replacedNotice,
  savedAsSentMessage,
  setFailureMessage,
  takenOverMessage,
  takenOverMessageOf,
} from "./messages.js";
import { nextState } from "./next-state.js";
import { progressOf, type Severity } from "./notices.js";
import {
  asOurs,
  expectSameAccount,
  Incomplete,
  idAfter,
  isTrouble,
  type Kept,
  type ObjectTask,
  type Outcomes,
} from "./outcome.js";
import { type Plan, planObjects } from "./plan-resource.js";
import type { Change, Runtime } from "./runtime.js";
import { markFor, replacedBy } from "./search.js";
import { secretIn } from "./secrets.js";

/** What is to be done with a resource's objects. */
interface Work extends Plan {
  readonly resource: Kind | SetKind;
  readonly ref: ResourceRef;
  readonly inputs: Values;
}

/** What became of them. */
interface Done extends Deletes {
  readonly tasks: readonly ObjectTask[];
  readonly outcomes: Outcomes;
  /** Whether nothing failed. */
  readonly isWell: boolean;
  /** What has left the resource and stays live, unless something else manages it. */
  readonly unmanaged: readonly LeftLive[];
  readonly after: StoredSet;
  readonly outs: Values;
}

/** @throws AdvertisingError, Incomplete something failed. */
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
    return { id, outs: setOutputs(runtime, work, await carryOut(runtime, work), id) };
  }
  const before = runtime.deployment.held.get(ref.key);
  const objects = plan.objects.map((object) => asNew(object, before?.object));
  const done = await carryOut(runtime, { ...work, objects, stored: before?.stored ?? plan.stored });
  const created = singleOutputs(work, done);
  tellCreated(resource, runtime, ref, done);
  return created;
}

/** Whatever the `diff` said, the engine wants an object now, in place of the one that it had. */
function asNew(object: PlannedObject, before: PlannedObject | undefined): PlannedObject {
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

/** @returns the next outputs. @throws AdvertisingError, Incomplete something failed; a set's has the next outputs. */
export async function updateResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<Values> {
  const isSet = "member" in resource;
  const open = unresolvedIn(change.olds);
  if (!isSet && open !== undefined) throw new Incomplete(unresolvedMessage(ref, open));
  const work = {
    resource,
    ref,
    inputs: change.news,
    ...planObjects(resource, runtime, ref, change),
  };
  const done = await carryOut(runtime, work);
  if (isSet) return setOutputs(runtime, work, done, change.id);
  return singleOutputs(work, done).outs;
}

/** Only if `retainOnDelete` was switched off. Repeatable: what is missing counts as deleted. @throws Incomplete */
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
  expectSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`);
  const operations = new ObjectOperations(kindOf(resource), runtime);
  if (!("member" in resource)) {
    await operations.delete({ id, label, created: properties[CREATED] }, properties);
    return;
  }
  const wanted = [...stored.eventIds].map(([key, object]) => ({ key, id: object }));
  const { gone, kept } = await deleteMembers(operations, label, wanted, properties);
  const [first] = kept;
  if (first === undefined) return;
  const left = idRanges(kept.map((each) => each.id));
  const done = `${gone.size} of ${count(wanted.length, "event")} deleted. Not deleted: ${left}.`;
  throw new Incomplete(`${label}: ${done} ${first.error.message}`, undefined, first.error.code);
}

/** Makes the objects what is declared, and deletes what has left a set. */
async function carryOut(runtime: Runtime, work: Work): Promise<Done> {
  const { resource, ref, stored, declared, objects, inputs, circumstances } = work;
  const kind = kindOf(resource);
  const operations = new ObjectOperations(kind, runtime);
  const secret = secretIn(resource, runtime, ref.key, inputs);
  const tasks = tasksOf(runtime, work, secret);
  noteRefusals(kind, runtime, tasks);
  const tell = (text: string) => runtime.tellAt("info", ref.resourceUrn, `${ref.label}: ${text}`);
  const outcomes = await operations.executeAll(
    tasks,
    progressOf(tasks.length, runtime.clock, tell),
  );
  const all = [...outcomes.values()];
  const journal = runtime.journal(ref.identity);
  for (const { ref: own } of tasks)
    if (outcomes.get(own.member ?? SINGLE)?.kind === "created") journal.given(own.key);
  const isWell = !all.some(isTrouble);
  const at = runtime.now();
  const leaving = objects.flatMap((object): LeftLive[] => {
    const { key, id = object.former?.id } = object;
    const isSame = !isRemoved(object) && id === (idAfter(outcomes.get(key)) ?? object.id);
    if (id === undefined || isSame) return [];
    const name = displayName(kind, stored.events.get(key) ?? {}, secret);
    return [withoutUndefined({ id, at, name, key: key || undefined })];
  });
  const { gone, kept } = await deleteLeaving(operations, work, leaving, isWell);
  // What was removed, and could not be deleted, stays in the state, so that the next run tries again.
  const isStill = ({ id, action }: PlannedObject) =>
    action.do === "delete" && (!isWell || kept.some((each) => each.id === id));
  const remaining = objects.filter((object) => !isRemoved(object) || isStill(object));
  const after = nextState({ kind, stored, declared, secret }, remaining, outcomes);
  if (all.some((outcome) => outcome.kind === "created"))
    after.created = momentToKeep(runtime) ?? after.created;
  const resolved = objects
    .filter(({ key }) => !after.unresolved.has(key))
    .flatMap(({ unresolved }) => unresolved ?? []);
  after.resolved = [...new Set([...stored.resolved, ...resolved.map(sendingOf)])];
  const held = new Set(after.eventIds.values());
  const isLeft = ({ id }: LeftLive) =>
    !gone.has(id) && !held.has(id) && !runtime.deleted.has(kind.name, id);
  after.left = [...stored.left, ...leaving].filter(isLeft);
  const unmanaged = leaving.filter(
    (each) => isLeft(each) && !runtime.deployment.isKept(kind, each.id),
  );
  const outs: Values = withoutUndefined({
    ...(resource === kind && argumentsIn(inputs)),
    ...writeStored(resource, after, exactId, runtime.account),
    ...(circumstances.can.read && keptForRead(inputs)),
  });
  return {
    outcomes,
    unmanaged,
    gone,
    kept,
    after,
    outs,
    isWell: isWell && kept.length === 0,
    tasks,
  };
}

function tasksOf(runtime: Runtime, work: Work, secret: ReadonlySet<string>): ObjectTask[] {
  const { resource, ref, stored, inputs } = work;
  return work.objects.filter(hasWork).map((object) => {
    const { key, id = object.former?.id } = object;
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

/** All are asked about before any is sent: of a renamed set, no event goes out beside those that are refused. */
function noteRefusals(kind: Kind, runtime: Runtime, tasks: readonly ObjectTask[]): void {
  for (const { action, ref, values, replaces, mark } of tasks) {
    const isNew = action.do === "create" || action.do === "replace";
    if (isNew && takeableOf(runtime, ref, replaces, mark) === undefined)
      createBlocker(kind, runtime, ref, values);
  }
}

function isRemoved({ action }: PlannedObject): boolean {
  return action.do === "retain" || action.do === "delete";
}

interface Deletes {
  /** Ids that are deleted, or that the engine has deleted after this. */
  readonly gone: ReadonlySet<string>;
  readonly kept: readonly Kept[];
}

async function deleteLeaving(
  operations: ObjectOperations,
  { resource, ref, olds, objects, circumstances }: Work,
  leaving: readonly LeftLive[],
  isWell: boolean,
): Promise<Deletes> {
  if (!("member" in resource)) {
    const former = objects.flatMap((object) => object.former ?? []);
    return {
      gone: new Set(former.filter(({ isDeleted }) => isDeleted).map(({ id }) => id)),
      kept: [],
    };
  }
  if (!isWell || !circumstances.can.delete) return { gone: new Set(), kept: [] };
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
  const gone = new Set<string>();
  const kept: Kept[] = [];
  const created = properties[CREATED];
  let trouble: AdvertisingError | undefined;
  const next = wanted.values();
  const worker = async () => {
    for (const { id, key = "" } of next) {
      try {
        if (trouble !== undefined) throw trouble;
        const label = `${memberLabel(setLabel, key)} (${id})`;
        if (await operations.delete({ id, label, created }, properties)) gone.add(id);
      } catch (error) {
        const failure = asOurs(error);
        if (!(failure instanceof RefusedError)) trouble ??= failure;
        kept.push({ id, key, error: failure });
      }
    }
  };
  const { maxConcurrentRequests } = operations.runtime.reading.settings;
  await Promise.all(Array.from({ length: maxConcurrentRequests }, worker));
  return { gone, kept };
}

/** A single resource's id and outputs, or the error with which its call fails. */
function singleOutputs(
  { ref, inputs }: Work,
  { outcomes, outs, after }: Done,
): { id: string; outs: Values } {
  const outcome = outcomes.get(SINGLE);
  if (outcome === undefined) return { id: after.eventIds.get(SINGLE) ?? "", outs };
  if (outcome.kind === "failed") throw outcome.error;
  const properties = { ...outs, [PROVIDER]: inputs[PROVIDER] };
  if (outcome.kind === "unresolved") {
    const { record, why } = outcome;
    // Never only digits, as the platform's ids are.
    throw new Incomplete(unresolvedMessage(ref, record, why), {
      id: `unresolved-${record.mark}`,
      properties,
    });
  }
  const { id } = outcome;
  if (outcome.kind === "created" && outcome.sentAs !== undefined)
    throw new Incomplete(savedAsSentMessage([{ ref, id }]), { id, properties });
  return { id, outs };
}

/** Says what became of a single resource's create beside its id. */
function tellCreated(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  { outcomes, tasks }: Done,
): void {
  const { deployment, deleted } = runtime;
  const outcome = outcomes.get(SINGLE);
  const id = idAfter(outcome);
  if (outcome?.kind === "created" && outcome.isTakenOver)
    runtime.say(takenOverMessageOf(ref, outcome.id));
  const held = tasks[0]?.replaces;
  if (
    held === undefined ||
    held === id ||
    deployment.isKept(kind, held) ||
    deleted.has(kind.name, held)
  )
    return;
  // The engine has it deleted.
  if (deployment.checked(ref.key).wasDeleting && !deployment.isStaying(kind, held)) return;
  deployment.noteStaying(kind, held); // the engine may still ask for its delete, by the option in the state
  const now = `is ${id} now`;
  if (outcome?.kind === "managed") runtime.warnEach(exchangedNotice(ref, held, now));
  else runtime.warnEach(replacedNotice(kind, ref, { id: held, isDeleted: false }, now));
}

/** A set's outputs. @param id of the set. @throws Incomplete something failed. */
function setOutputs(runtime: Runtime, work: Work, done: Done, id: string): Values {
  const { ref, objects, stored, inputs } = work;
  const { outcomes, unmanaged, gone, kept, after, outs } = done;
  const kind = kindOf(work.resource);
  const tell = (severity: Severity, text: string | undefined) =>
    runtime.tellAt(severity, ref.resourceUrn, text);
  tell("info", takenOverMessage(outcomes, ref));
  tell("info", adoptedMessage(objects, outcomes));
  tell("warn", leftMessage(kind, unmanaged, after.eventIds));
  if (gone.size > 0)
    tell("info", `Deleted on the platform, as retainOnDelete: false says: ${idRanges([...gone])}.`);
  if (done.isWell) return outs;
  const { text, code } = setFailureMessage(kind, ref, objects, outcomes, kept, after.eventIds);
  const hasMembers = [stored, after].some((each) => each.eventIds.size + each.unresolved.size > 0);
  // Without a member, nothing is saved: the next run creates the set.
  if (!hasMembers) throw new Incomplete(text, undefined, code);
  throw new Incomplete(text, { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } }, code);
}
