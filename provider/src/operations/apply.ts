/**
 * The engine's `create`, `update` and `delete`: makes a resource's objects what is declared, each at most once; then
 * deletes what has left a set, last and only if everything else went well; and writes the next state.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type AdvertisingError, count, idRanges, RefusedError, type Values, withoutUndefined } from "../base/index.js";
import { displayName, fingerprintOfBody, type Kind, type SetKind } from "../kinds/index.js";
import { type Action, adoptedBy, type PlannedObject } from "../plan/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  argumentsIn,
  CREATED,
  eventIn,
  keptForRead,
  kindOf,
  type LeftLive,
  memberLabel,
  objectRef,
  PROVIDER,
  type ResourceRef,
  readStored,
  type SentAs,
  SINGLE,
  type StoredSet,
  type Unresolved,
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
import { progressOf, type Severity } from "./notices.js";
import {
  asOurs,
  expectSameAccount,
  Incomplete,
  idAfter,
  isTrouble,
  type Kept,
  type ObjectTask,
  type Outcome,
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

type Done = Awaited<ReturnType<typeof carryOut>>;

/** The id of a set means nothing to the platform. @throws AdvertisingError, Incomplete something failed. */
export async function createResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  inputs: Values,
): Promise<{ id: string; outs: Values }> {
  const isSet = "member" in resource;
  const id = isSet ? `set-${randomUUID()}` : "";
  const plan = planObjects(resource, runtime, ref, { id, olds: {}, news: inputs });
  const work = { resource, ref, inputs, ...plan };
  if (isSet) return { id, outs: setOutputs(runtime, work, await carryOut(runtime, work), id) };
  const before = runtime.deployment.held.get(ref.key);
  const objects = plan.objects.map((object) => asNew(object, before?.object));
  const done = await carryOut(runtime, { ...work, objects, stored: before?.stored ?? plan.stored });
  const created = idOrError(work, done);
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
  return { ...object, action, olds, unresolved, former: id === undefined ? undefined : { id, isDeleted } };
}

/** @returns the next outputs. @throws AdvertisingError, Incomplete something failed; a set's has the next outputs. */
export async function updateResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<Values> {
  const isSet = "member" in resource;
  const open = isSet ? undefined : unresolvedIn(change.olds);
  if (open !== undefined) throw new Incomplete(unresolvedMessage(ref, open));
  const work = { resource, ref, inputs: change.news, ...planObjects(resource, runtime, ref, change) };
  const done = await carryOut(runtime, work);
  return isSet ? setOutputs(runtime, work, done, change.id) : idOrError(work, done).outs;
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
  const isSet = "member" in resource;
  const wanted = [...stored.eventIds].map(([key, object]) => {
    return { key, id: object, label: isSet ? `${memberLabel(label, key)} (${object})` : label };
  });
  const operations = new ObjectOperations(kindOf(resource), runtime);
  const { gone, kept } = await deleteAll(operations, wanted, properties);
  const [first] = kept;
  if (first === undefined) return;
  if (!isSet) throw first.error;
  const done = `${gone.size} of ${count(wanted.length, "event")} deleted. Not deleted: ${idRanges(kept.map((each) => each.id))}.`;
  throw new Incomplete(`${label}: ${done} ${first.error.message}`, undefined, first.error.code);
}

/** Makes the objects what is declared. A set deletes what has left it; for a single resource, the engine does. */
async function carryOut(runtime: Runtime, work: Work) {
  const { resource, ref, stored, objects, inputs, circumstances } = work;
  const kind = kindOf(resource);
  const isSet = "member" in resource;
  const secret = secretIn(resource, runtime, ref.key, inputs);
  const todo = objects.filter(hasWork);
  const tell = (text: string) => runtime.tellAt("info", ref.resourceUrn, `${ref.label}: ${text}`);
  const progress = progressOf(todo.length, runtime.clock, tell);
  const tasks = todo.map((object): ObjectTask => {
    const { key, id = object.former?.id } = object;
    const own = objectRef(resource, ref, key);
    const replaces = replacedBy(runtime, own, id);
    const left = stored.left.filter((each) => (each.key ?? SINGLE) === key);
    const formerIds = [...left.map((each) => each.id), replaces].filter((each) => each !== undefined);
    const mark = markFor(runtime, own, replaces, inputs);
    return { ...object, ref: own, secret, created: stored.created, replaces, formerIds, mark };
  });
  noteRefusals(kind, runtime, tasks);
  const operations = new ObjectOperations(kind, runtime);
  const outcomes = await operations.executeAll(tasks, progress);
  const journal = runtime.journal(ref.identity);
  for (const [key, outcome] of outcomes)
    if (outcome.kind === "created") journal.given(objectRef(resource, ref, key).key);
  const isWell = ![...outcomes.values()].some(isTrouble);
  const at = runtime.now();
  const leaving = objects.flatMap((object): LeftLive[] => {
    const { key, id = object.former?.id } = object;
    const now = isRemoved(object) ? undefined : (idAfter(outcomes.get(key)) ?? object.id);
    if (id === undefined || id === now) return [];
    const name = displayName(kind, stored.events.get(key) ?? {}, secret);
    return [withoutUndefined({ id, at, name, key: isSet ? key : undefined })];
  });
  const isToDelete = ({ id }: LeftLive) => isWell && circumstances.can.delete && circumstances.deletes(id);
  const toDelete = leaving.filter(isToDelete).map(({ id, key = "" }) => {
    return { key, id, label: `${memberLabel(ref.label, key)} (${id})` };
  });
  const { gone, kept } = isSet
    ? await deleteAll(operations, toDelete, work.olds)
    : { gone: new Set(objects.flatMap(({ former }) => (former?.isDeleted === true ? former.id : []))), kept: [] };
  // What was removed, and could not be deleted, stays in the state, so that the next run tries again.
  const isStill = ({ id, action }: PlannedObject) =>
    action.do === "delete" && (!isWell || kept.some((each) => each.id === id));
  const remaining = objects.filter((object) => !isRemoved(object) || isStill(object));
  const after = stateAfter(runtime, { ...work, objects: remaining }, secret, outcomes);
  const held = new Set(after.eventIds.values());
  const isLeft = ({ id }: LeftLive) => !gone.has(id) && !held.has(id) && !runtime.deleted.has(kind.name, id);
  after.left = [...stored.left, ...leaving].filter(isLeft);
  const forRead = circumstances.can.read ? keptForRead(inputs) : {};
  const given = isSet ? {} : argumentsIn(inputs);
  const written = writeStored(resource, after, exactId, runtime.account);
  const outs: Values = withoutUndefined({ ...given, ...written, ...forRead });
  return { outcomes, unmanaged: leaving.filter(isLeft), gone, kept, after, outs, isWell, replaced: tasks[0]?.replaces };
}

/** A single resource's id and outputs, or the error with which its call fails. */
function idOrError({ ref, inputs }: Work, { outcomes, outs, after }: Done): { id: string; outs: Values } {
  const outcome = outcomes.get(SINGLE);
  const saved = { ...outs, [PROVIDER]: inputs[PROVIDER] };
  if (outcome === undefined) return { id: after.eventIds.get(SINGLE) ?? "", outs };
  if (outcome.kind === "failed") throw outcome.error;
  if (outcome.kind === "unresolved") {
    const { record, why } = outcome;
    // Never only digits, as the platform's ids are.
    throw new Incomplete(unresolvedMessage(ref, record, why), { id: `unresolved-${record.mark}`, properties: saved });
  }
  const { id } = outcome;
  if (outcome.kind === "created" && outcome.sentAs !== undefined)
    throw new Incomplete(savedAsSentMessage(ref, id), { id, properties: saved });
  return { id, outs };
}

/** A set's outputs. @param id of the set. @throws Incomplete something failed. */
function setOutputs(runtime: Runtime, work: Work, done: Done, id: string): Values {
  const { ref, objects, stored, inputs } = work;
  const { outcomes, unmanaged, gone, kept, after, outs, isWell } = done;
  const kind = kindOf(work.resource);
  const tell = (severity: Severity, text: string | undefined) => runtime.tellAt(severity, ref.resourceUrn, text);
  tell("info", takenOverMessage(outcomes, ref));
  tell("info", adoptedMessage(objects, outcomes));
  const nobodys = unmanaged.filter((each) => !runtime.deployment.isKept(kind, each.id));
  tell("warn", leftMessage(kind, nobodys, after.eventIds));
  if (gone.size > 0) tell("info", `Deleted on the platform, as retainOnDelete: false says: ${idRanges([...gone])}.`);
  if (isWell && kept.length === 0) return outs;
  const { text, code } = setFailureMessage(kind, ref, objects, outcomes, kept, after.eventIds);
  // Without a member, nothing is saved: the next run creates the set.
  const isNothing = [stored, after].every((each) => each.eventIds.size + each.unresolved.size === 0);
  const saved = { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } };
  throw new Incomplete(text, isNothing ? undefined : saved, code);
}

/** All are asked about before any is sent: of a renamed set, no event goes out beside those that are refused. */
function noteRefusals(kind: Kind, runtime: Runtime, tasks: readonly ObjectTask[]): void {
  for (const { action, ref, values, replaces, mark } of tasks) {
    const isNew = action.do === "create" || action.do === "replace";
    if (isNew && takeableOf(runtime, ref, replaces, mark) === undefined) createBlocker(kind, runtime, ref, values);
  }
}

function isRemoved({ action }: PlannedObject): boolean {
  return action.do === "retain" || action.do === "delete";
}

/** Says what became of a single resource's create beside its id. */
function tellCreated(kind: Kind, runtime: Runtime, ref: ResourceRef, { outcomes, replaced: held }: Done): void {
  const { deployment, deleted } = runtime;
  const outcome = outcomes.get(SINGLE);
  const id = idAfter(outcome);
  if (outcome?.kind === "created" && outcome.isTakenOver && id !== undefined) runtime.say(takenOverMessageOf(ref, id));
  if (held === undefined || held === id || deployment.isKept(kind, held) || deleted.has(kind.name, held)) return;
  // The engine has it deleted.
  if (deployment.checked(ref.key).wasDeleting && !deployment.isStaying(kind, held)) return;
  deployment.noteStaying(kind, held); // the engine may still ask for its delete, by the option in the state
  const now = `is ${id} now`;
  const isAdopted = outcome?.kind === "managed";
  const left = { id: held, isDeleted: false };
  runtime.warnEach(isAdopted ? exchangedNotice(ref, held, now) : replacedNotice(kind, ref, left, now));
}

/** The resource's state afterwards, but for what it has left live. */
function stateAfter(runtime: Runtime, work: Work, secret: ReadonlySet<string>, outcomes: Outcomes): StoredSet {
  const { stored } = work;
  const kind = kindOf(work.resource);
  const { advertiserId, defaults } = work.declared;
  const hasCreated = [...outcomes.values()].some((outcome) => outcome.kind === "created");
  const created = (hasCreated ? momentToKeep(runtime) : undefined) ?? stored.created;
  const eventIds = new Map<string, string>();
  const events = new Map<string, Values>();
  const sentAs = new Map<string, SentAs>();
  const unresolved = new Map<string, Unresolved>();
  for (const object of work.objects) {
    const { key } = object;
    const outcome = outcomes.get(key);
    const now = idAfter(outcome);
    const before = now === undefined ? object.unresolved : undefined;
    const open = outcome?.kind === "unresolved" ? outcome.record : before;
    if (open !== undefined) unresolved.set(key, open);
    const held = now ?? object.id;
    if (held === undefined) continue;
    eventIds.set(key, held);
    const shown = entryAfter(kind, { ...work, secret }, object, outcome);
    events.set(key, shown.entry);
    if (shown.sentAs !== undefined) sentAs.set(key, shown.sentAs);
  }
  return { advertiserId, defaults, events, eventIds, sentAs, unresolved, created, left: [] };
}

/** What the state has of an object, and what that does not describe. */
function entryAfter(
  kind: Kind,
  { stored, declared, secret }: Work & { readonly secret: ReadonlySet<string> },
  { key, action, isDeclared, entry, olds }: PlannedObject,
  outcome: Outcome | undefined,
): { readonly entry: Values; readonly sentAs?: SentAs | undefined } {
  if (outcome?.kind === "created") return { entry, sentAs: outcome.sentAs };
  if (idAfter(outcome) !== undefined || (action.do === "same" && isDeclared)) return { entry };
  // Its replacement was not created, or it was not updated: it is what it was.
  const then = stored.events.get(key) ?? {};
  const sentAs = stored.sentAs.get(key) ?? {
    body: fingerprintOfBody(kind, olds),
    owner: secret.has("advertiserId") ? undefined : String(stored.advertiserId),
  };
  // An old value may have been secret, and no input of now keeps it so.
  if (secret.size > 0) return { entry: {}, sentAs };
  const isDescribed = !stored.sentAs.has(key) && isDeepStrictEqual(olds, eventIn(declared, then));
  return { entry: then, sentAs: isDescribed ? undefined : sentAs };
}

/**
 * A refused delete does not stop the others; after any other failure no further one begins.
 * @param properties the resource's in the state.
 */
async function deleteAll(
  operations: ObjectOperations,
  wanted: readonly { readonly id: string; readonly key: string; readonly label: string }[],
  properties: Values,
) {
  const gone = new Set<string>();
  const kept: Kept[] = [];
  const created = properties[CREATED];
  let trouble: AdvertisingError | undefined;
  const next = wanted.values();
  const worker = async () => {
    for (const { id, key, label } of next) {
      try {
        if (trouble !== undefined) throw trouble;
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
