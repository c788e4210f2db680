/** Plans a resource's objects from the program, the state and the open creates. Sends nothing. */
import {
  ArgumentsError,
  BlockedCreateError,
  hasValue,
  own,
  type Values,
} from "../base/index.js";
import { type AnyKind, type Kind, resourcesByName } from "../kinds/index.js";
import {
  addUnresolved,
  type Circumstances,
  DISPLACED,
  decideObjects,
  type Fate,
  isMade,
  type OpenCreates,
  type PlannedObject,
  type ResourceChange,
  sentAsIfUpdated,
} from "../plan/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  hiddenEventsMessage,
  kindOf,
  memberOf,
  objectKey,
  objectRef,
  parseKey,
  type ResourceRef,
  readDeclared,
  readStored,
  resourceKeyIn,
  SINGLE,
  type StoredSet,
  secretArgumentsIn,
} from "../state/index.js";
import type { Checked } from "./deployment.js";
import { ObjectOperations } from "./execute.js";
import type { ObjectFates } from "./fates.js";
import { interruptedNotice, type OpenObject, removalCure } from "./messages.js";
import type { NamedObject } from "./outcome.js";
import type { Change, Runtime } from "./runtime.js";

/** The planned actions of a resource's objects, with the facts that they follow from. */
export interface Plan extends Circumstances, ResourceChange {
  runtime: Runtime;
  resource: AnyKind;
  ref: ResourceRef;
  checked: Partial<Checked>;
  /** The resource's id in the state; empty if it is new. */
  id: string;
  /** The resource's outputs in the state. */
  olds: Values;
  inputs: Values;
  operations: ObjectOperations;
  fates: ObjectFates;
  fateOf(id: string): Fate;
  objects: readonly NamedObject[];
}

/** Plans by the state and the program. @throws ArgumentsError if the state lacks arguments. */
export function planObjects(runtime: Runtime, ref: ResourceRef, change: Change): Plan {
  const { id, olds, news: inputs } = change;
  const resource = resourcesByName[ref.resource];
  const kind = kindOf(resource);
  const operations = new ObjectOperations(kind, runtime);
  const { can, fates } = operations;
  const isSet = "member" in resource;
  // An alias may give the resource the state of another type, which then lacks this argument.
  const argument = isSet ? "events" : resource.nameProperty;
  if (Object.keys(olds).length > 0 && !hasValue(own(olds, argument)))
    throw new ArgumentsError(
      `${ref.label}: its state (id ${id}) has no ${argument}. Nothing was sent. If an alias gives it another type's state, remove the alias; else remove it from the state. To keep a live object, set existingId.`,
    );
  const checked = runtime.deployment.checked(ref.key);
  const { wasSecret = new Set() } = checked;
  const secret = secretArgumentsIn(inputs);
  for (const name of secret) runtime.secrets.addWithin(own(inputs, name), ["existingId"]);
  const plan = {
    runtime,
    resource,
    kind,
    ref,
    checked,
    id,
    olds,
    inputs,
    stored: readStored(resource, id, olds),
    declared: readDeclared(resource, inputs),
    secret: secretOfObjects(kind, secret.union(wasSecret)),
    operations,
    can,
    fates,
    fateOf: (object: string) => fates.fateOf({ id: object, ref }, olds),
  };
  const objects = namedObjects(plan);
  const displaced = objects.filter(({ leaving }) => leaving?.why === DISPLACED);
  const fateById = new Map(displaced.map(({ leaving }) => [leaving?.id, leaving]));
  return { ...plan, objects, fateOf: (each) => fateById.get(each) ?? plan.fateOf(each) };
}

/** The resource's own key, and those that it had by its aliases. */
function resourceKeys({ ref, checked: { formerKeys = [] } }: Omit<Plan, "objects">) {
  return [ref.key, ...formerKeys];
}

/** Decides about the objects. Their keys: the own one, then those by the resource's aliases and the `formerKey`. */
function namedObjects(plan: Omit<Plan, "objects">) {
  const { kind, ref, stored, declared } = plan;
  const resources = resourceKeys(plan);
  return decideObjects(kind, stored, declared, plan).map((object) => {
    const { key } = object;
    const own = objectRef(ref, key);
    const isSet = own.key !== ref.key;
    const members = [key, declared.formerKeys.get(key) ?? key];
    const keys = resources.flatMap((each) =>
      isSet ? members.map((member) => memberOf(each, member)) : each,
    );
    return { ...object, ref: own, keys: [...new Set(keys)] };
  });
}

/**
 * A plan with the open creates of unknown outcome that the state doesn't list yet. They count only where the plan would
 * send something, or where the set no longer declares them.
 * @throws BlockedCreateError if an interrupted run sent events of the set that nobody can tell, since they are secret.
 */
export async function withOpenCreates(given: Plan) {
  const plan = await withInterrupted(given);
  const { runtime, resource, ref, stored, objects } = plan;
  const isSet = "member" in resource;
  const isUnchanged = objects.every(isQuiet);
  if (isUnchanged && !isSet) return plan;
  const open = await runtime.record.open();
  // An unchanged set saves the creates that Pulumi's next save would drop.
  if (isUnchanged && atRisk(plan, open).length === 0) return plan;
  // Pulumi's record has it, but perhaps can't be read.
  const { inState = ref } = plan.checked;
  for (const [key, record] of stored.unresolved)
    open.note({ ...record, key: objectRef(inState, key).key, run: "", isInState: true });
  const hidden = isSet ? open.of(resourceKeys(plan)) : [];
  for (const { mark } of hidden) runtime.deployment.named.add(mark);
  const [first] = hidden;
  if (first) throw new BlockedCreateError(hiddenEventsMessage(parseKey(first.key)));
  const whole = { ...plan, stored: withUnresolved(plan, open) };
  return { ...whole, objects: namedObjects(whole) };
}

/** A plan that sends all arguments of each object that an interrupted run may have updated. */
async function withInterrupted(plan: Plan) {
  const { runtime, kind, stored, can } = plan;
  if (!can.update && !can.delete) return plan;
  const { interrupted } = (await runtime.record.state()) ?? {};
  if (!interrupted?.size) return plan;
  for (const object of plan.objects) {
    const { ref, id = "", isDeclared } = object;
    const { sent } = interrupted.get(objectKey(kind.name, id)) ?? {};
    if (!sent || !can[sent] || (sent === "update" && !isDeclared)) continue;
    const cure = removalCure(ref, isDeclared && !isQuiet(object), can.read);
    runtime.messages.tellEach(interruptedNotice(ref, id, sent, cure));
  }
  if (!can.update) return plan;
  const sentAs = sentAsIfUpdated(plan, interrupted);
  if (!sentAs) return plan;
  const whole = { ...plan, stored: { ...stored, sentAs } };
  return { ...whole, objects: namedObjects(whole) };
}

function isQuiet({ action }: PlannedObject) {
  return action.do === "same";
}

/** The state, with all of the resource's creates of unknown outcome. */
function withUnresolved(plan: Plan, open: OpenCreates) {
  const { runtime, resource, kind, stored, objects } = plan;
  const unresolved = new Map(stored.unresolved);
  for (const [key, each] of unresolved)
    unresolved.set(key, runtime.record.asLastSent(each));
  const byKey = new Map(objects.flatMap((each) => each.keys.map((key) => [key, each])));
  // A set also has creates of events that it no longer declares.
  const isSet = "member" in resource;
  const own = resourceKeys(plan);
  const ended = endedMarks(kind, stored);
  for (const create of isSet ? open.own : open.of([...byKey.keys()])) {
    const object = byKey.get(create.key);
    const isOwn = object || own.includes(resourceKeyIn(create.key));
    if (!isOwn || isMade(create) || create.isInState) continue;
    if (!runtime.isSameAccount(create.account)) continue;
    // Pulumi's record says so too, but perhaps can't be read.
    if (ended.has(create.mark)) continue;
    if (object && isQuiet(object) && !runtime.record.willForget(create)) continue;
    // A run that knew the object of an earlier create has taken it over, and sent nothing.
    if (object && open.of(object.keys).some(isMade)) continue;
    // Perhaps the member's former key: commands use the names that `pending` has.
    let { member = SINGLE } = parseKey(create.key);
    if (object && unresolved.has(object.key)) member = object.key;
    addUnresolved(unresolved, member, create);
  }
  return { ...stored, unresolved };
}

/** The resource's creates that Pulumi's next save drops from its record. */
export function atRisk(plan: Plan, open: OpenCreates) {
  const own = resourceKeys(plan);
  return open.own.filter((each) => {
    return plan.runtime.record.willForget(each) && own.includes(resourceKeyIn(each.key));
  });
}

/** The marks of the creates that have made no object, or one that the resource has, by its own state. */
export function endedMarks({ name }: Kind, { resolved, eventIds }: StoredSet) {
  const known = new Set(Array.from(eventIds.values(), (id) => objectKey(name, id)));
  const ended = [...resolved].filter(([, made]) => made === "" || known.has(made));
  return new Set(ended.map(([mark]) => mark));
}

/**
 * The object that a single resource's create replaces. Under `up --replace`, and where it was only read before (`.get`),
 * the engine calls no `diff`, and only the record knows the object.
 */
async function replacedObject({ runtime, fates, ref, checked: { planned } }: Plan) {
  const saved = await runtime.record.state();
  if (planned) {
    const { id } = planned.object;
    if (id === undefined) return undefined;
    return planned.fateOf(id);
  }
  const { id, outputs, external: isRead } = saved?.resourceAt(ref.resourceUrn) ?? {};
  if (!isPlatformId(id)) return undefined;
  return { ...fates.fateOf({ id, ref }, outputs), isRead };
}

/**
 * The plan of a create, with what it replaces: the engine gives a single resource's create no old state, so that comes
 * from `check`, `diff` and the record. A set has it already.
 */
export async function withReplaced(plan: Plan) {
  const { resource, kind, checked, stored } = plan;
  if (resource !== kind || stored.eventIds.size > 0) return plan;
  const { planned } = checked;
  const leaving = await replacedObject(plan);
  const objects = plan.objects.map((object) => {
    const unresolved = planned?.object.unresolved ?? object.unresolved;
    return { ...object, unresolved, leaving };
  });
  return { ...plan, objects, stored: planned?.stored ?? stored };
}

export function noteReached({ runtime: { deployment }, objects }: Plan) {
  for (const { keys, action } of objects) {
    for (const key of keys) deployment.reached.add(key);
    if (action.do === "blocked") deployment.named.add(action.record.mark);
  }
}

/** The creates that stop the resource, with the names by which `pending` lists them, for commands. */
export function blockedIn({ runtime: { record }, objects }: Plan): OpenObject[] {
  return objects.flatMap(({ ref, action }) => {
    if (action.do !== "blocked") return [];
    return [{ ...action, ref: record.listedRef(action.record, ref) }];
  });
}

/** With any secret in a set's `events` or `defaults`, no argument of its members is shown. */
export function secretOfObjects(kind: Kind, secret: ReadonlySet<string>) {
  if (!secret.has("events") && !secret.has("defaults")) return secret;
  // The owner is shown: without it, an object could not be updated but only replaced.
  return new Set([...secret, ...kind.outputs.filter((name) => name !== kind.owner)]);
}
