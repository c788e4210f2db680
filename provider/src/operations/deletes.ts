/**
 * The engine's `delete`, and each delete that is sent: for a resource that left the program, and for objects that left a
 * set. In doubt an object stays live.
 */
import {
  type AdvertisingError,
  BadAnswerError,
  BlockedCreateError,
  isPlain,
  NotSentError,
  RefusedError,
  type Values,
} from "../base/index.js";
import { type AnyKind, asksToDelete, resourceOfType } from "../kinds/index.js";
import { asUnresolved } from "../plan/index.js";
import {
  accountIn,
  isInRun,
  isSecret,
  keepingOption,
  providerIn,
  type Resource,
} from "../record/index.js";
import {
  CREATED,
  kindOf,
  type LeftLive,
  memberLabel,
  objectKey,
  objectRef,
  parseKey,
  type ResourceRef,
  readStored,
  refOfUrn,
  resourceKeyIn,
  SINGLE,
  type StoredSet,
} from "../state/index.js";
import { ObjectOperations, type Target } from "./execute.js";
import { UNREADABLE, withFate } from "./fates.js";
import {
  alsoBelongsTo,
  deletedNotice,
  eventLeftMessage,
  forgottenMessage,
  incompleteMessage,
  keptMessage,
  notDeletedNotice,
  stillListedMessage,
  tooEarlyNotice,
} from "./messages.js";
import { assertSameAccount, type FailedDelete, toAdvertisingError } from "./outcome.js";
import type { Runtime } from "./runtime.js";

interface DeleteTarget extends Target {
  /** The id of the set that still has the object in the state, perhaps under its former name. */
  setId?: string;
}

/**
 * The engine calls this unless `retainOnDelete` is true. It can be repeated: a missing object counts as deleted.
 * @param leaving `ref` only from a plugin: a dynamic provider isn't told which resource it is. @throws AdvertisingError
 */
export async function deleteResource(
  resource: AnyKind,
  runtime: Runtime,
  leaving: { id: string; properties: Values; ref?: ResourceRef },
) {
  const { id, properties } = leaving;
  const { eventIds, left, unresolved } = readStored(resource, id, properties);
  runtime.record.notePassed(isResource(resource, id, properties));
  const ref = leaving.ref ?? (await deletedRef(resource, runtime, id));
  if (ref) {
    runtime.begin(ref);
    await assertResolved(runtime, ref, id, unresolved);
  }
  if (eventIds.size === 0) return;
  let label = ref?.label ?? `${resource.name} ${id}`;
  // A set's own id means nothing to people.
  const isSet = "member" in resource;
  if (ref && !isSet) label += ` (${id})`;
  const { deployment, record } = runtime;
  // With `--continue-on-error`, the engine deletes what a program in Python hasn't declared because of the error.
  if (ref && deployment.isIncomplete && !deployment.isInProgram(ref.key))
    throw new NotSentError(incompleteMessage(label));
  for (const each of await resourcesLike(resource, runtime, id, properties))
    assertSameAccount(runtime, accountIn(each), label);
  const operations = new ObjectOperations(kindOf(resource), runtime);
  const wanted = [...eventIds].map(([key, object]) => {
    return { key, id: object, ref: ref && objectRef(ref, key) };
  });
  // Only the engine's own options replace a set. The end of the run shows which of its events nothing has then.
  if (isSet && ref && (await record.state()) && deployment.isInProgram(ref.key)) {
    for (const each of wanted) deployment.staying.add(operations.kind, each.id);
  } else {
    // After an error the state keeps the whole set, so the next run deletes the other objects too.
    const failed = await deleteObjects(operations, label, wanted, properties);
    const [first] = failed;
    if (first) {
      const { error } = first;
      if (isSet || error instanceof BadAnswerError) error.message = keptMessage(failed);
      throw error;
    }
  }
  // After what leaves now.
  if (ref) operations.fates.tellFormerlyLeft(ref, left);
}

/** @throws BlockedCreateError if nothing would list a create of unknown outcome any more once this resource has left. */
async function assertResolved(
  { deployment, record }: Runtime,
  ref: ResourceRef,
  id: string,
  unresolved: StoredSet["unresolved"],
) {
  const { all } = await record.open();
  const sent = all.filter((each) => {
    const isOwn = resourceKeyIn(each.key) === ref.key && record.willForget(each);
    return isOwn && !record.hasSeen(each) && !deployment.isInProgram(ref.key);
  });
  if (sent.length + unresolved.size === 0) return;
  const saved = await record.stateNow();
  // Another provider may have taken it over since this run began.
  const lost = sent.filter(({ mark }) => {
    return !saved?.resolved.has(mark) && !saved?.unresolved.has(mark);
  });
  // It was replaced, and before that its creates were resolved.
  const isReplaced = saved?.withId(id).some((each) => each.delete);
  const listed = [...unresolved].filter(([, { mark }]) => {
    if (isReplaced || record.resolved.has(mark) || saved?.resolved.has(mark)) return false;
    const others = saved?.unresolved.get(mark) ?? [];
    return others.every(({ urn }) => urn === ref.resourceUrn);
  });
  const open = [
    ...lost.map((each) => ({ ref: parseKey(each.key), record: asUnresolved(each) })),
    ...listed.map(([key, each]) => ({ ref: objectRef(ref, key), record: each })),
  ];
  if (open.length === 0) return;
  for (const each of open) deployment.named.add(each.record.mark);
  throw new BlockedCreateError(forgottenMessage(open));
}

/** Whether a resource of the record is the one that the engine passes to a call, by its type, id and outputs. */
function isResource(of: AnyKind, id: string, properties: Values) {
  return ({ type, id: other, outputs = {} }: Resource) =>
    resourceOfType(type) === of &&
    other === id &&
    Object.entries(properties).every(
      ([name, value]) =>
        !isPlain(value) || isSecret(outputs[name]) || outputs[name] === value,
    );
}

/** The resources in the record that may be the one which the engine passes to a call of this provider. */
export async function resourcesLike(
  of: AnyKind,
  { record, provider }: Runtime,
  id: string,
  properties: Values,
) {
  const isPassed = isResource(of, id, properties);
  const all = (await record.state())?.withId(id) ?? [];
  return all.filter((each) => isPassed(each) && providerIn(each) === provider);
}

/** The resource that the engine deletes, by Pulumi's record; undefined if that isn't sure. */
async function deletedRef(resource: AnyKind, runtime: Runtime, id: string) {
  const saved = await runtime.record.state();
  if (!saved) return undefined;
  const isMeant = (each: Resource) => {
    const isOwn = providerIn(each) === runtime.provider && each.id === id;
    return isOwn && !each.external && resourceOfType(each.type) === resource;
  };
  const underWay = saved.pending.filter(({ type }) => type === "deleting");
  let meant = underWay.map((each) => each.resource).filter(isMeant);
  if (meant.length === 0) meant = saved.withId(id).filter(isMeant);
  const urns = new Set(meant.map(({ urn }) => urn));
  const [urn] = urns;
  if (urns.size === 1 && urn !== undefined) return refOfUrn(resource.name, urn);
}

/**
 * A refused delete does not stop the others; after any other failure no further delete begins.
 * @param label the resource's. @param properties the resource's in the state.
 */
export async function deleteObjects(
  operations: ObjectOperations,
  label: string,
  wanted: readonly (Pick<LeftLive, "key"> & Omit<DeleteTarget, "label">)[],
  properties: Values,
) {
  const { kind, runtime, can } = operations;
  let trouble: AdvertisingError | undefined;
  const deleteAll = async (objects: typeof wanted) => {
    const failed: (FailedDelete & (typeof wanted)[number])[] = [];
    // The workers share one iterator, so each object is deleted by one of them.
    const next = objects.values();
    const worker = async () => {
      for (const target of next) {
        const { id, key = SINGLE } = target;
        try {
          if (trouble) throw trouble;
          const own = key === SINGLE ? label : `${memberLabel(label, key)} (${id})`;
          const ifAbsent = can.read && key !== SINGLE ? "" : undefined;
          await deleteObject(operations, { ...target, label: own, ifAbsent }, properties);
        } catch (error) {
          const failure = toAdvertisingError(error);
          const isRefused = failure instanceof RefusedError;
          if (!isRefused) trouble ??= failure;
          const mayBeGone = isRefused || failure instanceof BadAnswerError;
          failed.push({
            ...target,
            key,
            error: failure,
            canRefresh: mayBeGone && can.read,
          });
        }
      }
    };
    await Promise.all(
      Array.from({ length: runtime.settings.maxConcurrentRequests }, worker),
    );
    return failed;
  };
  const failed = await deleteAll(wanted);
  // The platform doesn't find an object that an earlier run has deleted, which counts once a delete has worked now.
  const mayBeMissing = failed.length > 0 && failed.length < wanted.length && !trouble;
  const last = mayBeMissing ? await deleteAll(failed) : failed;
  const deleted = wanted.filter(({ id }) => runtime.deployment.deleted.has(kind, id));
  if (deleted.length > 0) runtime.messages.tellEach(deletedNotice(label, deleted), "info");
  return last;
}

/**
 * The only place that sends a delete. In doubt the object stays live, and a message names its id.
 * @param properties the resource's, in the state.
 * @throws AdvertisingError if the object was not deleted, or that is not known. The delete may be sent again.
 */
async function deleteObject(
  operations: ObjectOperations,
  target: DeleteTarget,
  properties: Values,
) {
  const { kind, runtime } = operations;
  const { deployment, record } = runtime;
  const { id } = target;
  // The engine calls `delete` by the option in its state. A message says that the object stays live.
  if (deployment.staying.has(kind, id)) return;
  let blocker = await deleteBlocker(operations, target, properties);
  if (!blocker && (await awaitEvents(operations, target)))
    blocker = await deleteBlocker(operations, target, properties);
  // In a cancelled run, a blocker may only mean that the record wasn't read.
  runtime.work.assertGoesOn();
  if (blocker) {
    deployment.staying.add(kind, id);
    runtime.messages.tellEach(notDeletedNotice(target.label, blocker));
    return;
  }
  const object = objectKey(kind.name, id);
  // Once the state has lost it, nothing would show what has become of its create.
  if (runtime.command?.command === "destroy" && record.arrived?.answeredBy.has(object))
    throw new NotSentError(stillListedMessage(target.label, "isn't deleted, because"));
  const send = async () => {
    if (deployment.deleted.has(kind, id)) return;
    const wasThere = await runtime.work.track(() =>
      runtime.client().delete(operations.request("delete", target)),
    );
    const until = wasThere ? undefined : operations.unprovenUntil(properties[CREATED]);
    if (until !== undefined) throw new RefusedError(tooEarlyNotice(target, until).text);
    deployment.deleted.add(kind, id);
  };
  const { deleting } = deployment;
  const sending = deleting.get(object) ?? send().finally(() => deleting.delete(object));
  deleting.set(object, sending);
  await sending;
}

/** How long an advertiser waits for the engine to come to its events. */
const MAX_STILL_MS = 1000;
const STEP_MS = 20;

/**
 * Waits for the deletes of an advertiser's events. Pulumi doesn't order them if the program names the advertiser by its id.
 * With few operations in parallel, the engine may not come to them meanwhile: then nothing waits any more in this run.
 * @returns whether it has waited. @throws NotSentError if an event may stay, since something has failed.
 */
async function awaitEvents({ kind, runtime }: ObjectOperations, target: DeleteTarget) {
  const { deployment, record, provider, command, work } = runtime;
  const owned = record.arrived?.ownedBy(kind.name, target.id) ?? [];
  const events = owned.filter(({ kind: of, id = "", resource }) => {
    const { urn, outputs } = resource;
    const isOwn = providerIn(resource) === provider && (!command || isInRun(urn, command));
    const isCalled = asksToDelete(outputs) && !keepingOption(resource);
    return isOwn && isCalled && !deployment.isClaimedOrAdopted(of, id);
  });
  let waitedMs = 0;
  let hasWaited = false;
  while (deployment.awaitsEvents) {
    const due = events.find(({ kind: of, id = "" }) => {
      return !deployment.deleted.has(of, id) && !deployment.staying.has(of, id);
    });
    if (!due) break;
    if (deployment.hasFailed)
      throw new NotSentError(eventLeftMessage(target.label, due.ref.label));
    const isUnderWay = deployment.deleting.has(objectKey(due.kind.name, due.id ?? ""));
    waitedMs = isUnderWay ? 0 : waitedMs + STEP_MS;
    deployment.awaitsEvents = waitedMs < MAX_STILL_MS;
    await work.clock.sleep(STEP_MS);
    hasWaited = true;
  }
  return hasWaited;
}

/**
 * Why an object must not be deleted; undefined if it may be deleted. A wrong `undefined` deletes an object that
 * another resource manages.
 */
async function deleteBlocker(
  { kind, runtime, fates }: ObjectOperations,
  target: DeleteTarget,
  properties: Values,
) {
  const { id, ref, setId } = target;
  const { command, deployment, provider } = runtime;
  const saved = await runtime.record.stateNow();
  const claimer = deployment.holderOf(kind, id);
  const holders = saved ? fates.othersIn(saved, { id, ref }) : [];
  const inState = holders.filter(({ resource }) => resource.id !== setId);
  const others = new Set(inState.map((each) => each.ref.key));
  if (claimer !== undefined) {
    // An interrupted run may have left the delete.
    if (others.size === 0 && claimer === ref?.key) return "the resource has it again";
    others.add(claimer);
  }
  if (others.size > 0) return alsoBelongsTo([...others]);
  let why = saved ? fates.whyKept(target, properties, saved) : UNREADABLE;
  // Only after a check does a preview of the classes have a process, which could tell.
  const isShown = provider !== undefined || deployment.hasChecked;
  if (command?.command === "up" && !isShown)
    why ??=
      "the program has no more resources of this package's classes, so no preview shows it";
  return why && withFate(kind, id, why);
}
