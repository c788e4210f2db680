/** Which objects leave a resource in an `up`, and what the state has after it. Pure. */
import { isDeepStrictEqual } from "node:util";
import { type Values, withoutUndefined } from "../base/index.js";
import {
  bodyOf,
  displayName,
  fingerprintOfBody,
  type Kind,
  ownerIn,
} from "../kinds/index.js";
import {
  completeArguments,
  type DeclaredSet,
  objectKey,
  type SentAs,
  type StoredSet,
  type Unresolved,
} from "../state/index.js";
import type { PlannedObject } from "./decide.js";

/** The outcome of an `up` for an object; empty if it did nothing, or failed. */
export interface ObjectAfter {
  /** The object that the resource or member has now. */
  id?: string;
  /** Its create's outcome is unknown. */
  record?: Unresolved;
  sentAs?: SentAs;
  /** An update has failed that may have been carried out. */
  isUnsure?: boolean;
}

/** A resource, before and after the `up`. */
export interface ResourceChange {
  kind: Kind;
  stored: StoredSet;
  declared: DeclaredSet;
  objects: readonly PlannedObject[];
  /** The arguments that are secret, or were secret in the state. */
  secret: ReadonlySet<string>;
}

export function isRemoved({ action }: PlannedObject) {
  return action.do === "retain" || action.do === "delete";
}

/** The objects that a resource no longer has: removed, replaced, or displaced by another one. @param at ISO 8601 */
export function departuresOf(
  { kind, stored, objects, secret }: ResourceChange,
  after: ReadonlyMap<string, ObjectAfter>,
  at: string,
) {
  return objects.flatMap((object) => {
    const { key, formerKey = key } = object;
    // In a single resource's `create`, only `leaving` has the old id.
    const id = object.id ?? object.leaving?.id;
    const now = after.get(key)?.id ?? object.id;
    if (id === undefined || (!isRemoved(object) && id === now)) return [];
    const name = displayName(kind, stored.events.get(formerKey) ?? {}, secret);
    return [withoutUndefined({ id, at, name, key: formerKey || undefined })];
  });
}

/** The next state, but for the objects that are left live. @param objects the ones that stay in the state. */
export function nextState(change: ResourceChange, after: ReadonlyMap<string, ObjectAfter>) {
  const { stored, declared, objects } = change;
  const next: StoredSet = {
    ...stored,
    advertiserId: declared.advertiserId,
    defaults: declared.defaults,
    events: new Map(),
    eventIds: new Map(),
    sentAs: new Map(),
    unresolved: new Map(),
  };
  for (const object of objects) {
    const { key } = object;
    const now = after.get(key) ?? {};
    const record = now.record ?? (now.id === undefined ? object.unresolved : undefined);
    if (record) next.unresolved.set(key, record);
    const id = now.id ?? object.id;
    if (id === undefined) continue;
    next.eventIds.set(key, id);
    const { entry, sentAs } = argumentsAfter(change, object, now);
    next.events.set(key, entry);
    if (sentAs) next.sentAs.set(key, sentAs);
  }
  return next;
}

/** Describes an object as its create was sent, since its arguments may have changed. */
export function sentAsOf(
  kind: Kind,
  { body, args = {} }: { body: string | undefined; args?: Values | undefined },
): SentAs {
  const owner = ownerIn(kind, args);
  return withoutUndefined({ body, owner: owner === undefined ? owner : String(owner) });
}

/** The arguments that the state has of an object, and how it was sent if they don't describe it. */
function argumentsAfter(change: ResourceChange, object: PlannedObject, now: ObjectAfter) {
  const { stored, declared, secret } = change;
  const { key, formerKey = key, action, isDeclared, entry, olds, sentAs: was } = object;
  if (now.id !== undefined) return { entry, sentAs: now.sentAs };
  // Without a known update the doubt about a failed one stays, until an update is known again.
  if (action.do === "same" && isDeclared)
    return { entry, sentAs: was?.isUnsure ? was : undefined };
  // The replacement was not created, or the update failed: the state keeps describing the old object.
  const then = stored.events.get(formerKey) ?? {};
  // Old values may have been secret, and the current inputs would not keep them so.
  const kept = secret.size === 0 ? then : {};
  const fields = Object.keys(bodyOf(change.kind, object.values));
  const unsure = now.isUnsure ? unsureAs(change, object, fields) : undefined;
  if (unsure) return { entry: kept, sentAs: unsure };
  const isDescribed =
    was === undefined &&
    secret.size === 0 &&
    isDeepStrictEqual(olds, completeArguments(declared, then));
  return { entry: kept, sentAs: isDescribed ? undefined : asBefore(change, object) };
}

type Sending = Pick<ResourceChange, "kind" | "secret">;
/** An object as the state has it. */
type Former = Pick<PlannedObject, "olds" | "sentAs">;

/** How the state's object was sent. */
function asBefore({ kind, secret }: Sending, { olds, sentAs }: Former) {
  const args = secret.has("advertiserId") ? {} : olds;
  const body = fingerprintOfBody(kind, olds, secret);
  return sentAs ? { ...sentAs, body: sentAs.body ?? "" } : sentAsOf(kind, { body, args });
}

/**
 * How the state's object was sent, if an update may have changed it since: the next one sends all arguments. Undefined for
 * an object of unknown owner, which can't be updated, only replaced. @param sent the update's request fields, if known.
 */
function unsureAs(sending: Sending, former: Former, sent?: readonly string[]) {
  const sentAs = asBefore(sending, former);
  if (sending.kind.owner !== undefined && sentAs.owner === undefined) return undefined;
  const { sentAs: was, olds } = former;
  const isKnown = sent && (!was || was.fields);
  const before = was?.fields ?? Object.keys(bodyOf(sending.kind, olds));
  const fields = isKnown ? [...new Set([...before, ...sent])] : undefined;
  return withoutUndefined({ ...sentAs, isUnsure: true, fields });
}

/**
 * How a resource's objects were sent, by key, if an interrupted update may have changed some of them; otherwise undefined.
 * @param interrupted the operation that an interrupted run may have sent, by `objectKey`.
 */
export function sentAsIfUpdated(
  sending: Sending & Pick<ResourceChange, "stored">,
  interrupted: ReadonlyMap<string, { sent: string; fields?: SentAs["fields"] }> = new Map(),
) {
  const { kind, stored } = sending;
  const sentAs = new Map(stored.sentAs);
  let isAny = false;
  for (const [key, id] of stored.eventIds) {
    const { sent, fields } = interrupted.get(objectKey(kind.name, id)) ?? {};
    if (sent !== "update") continue;
    isAny = true;
    const olds = completeArguments(stored, stored.events.get(key) ?? {});
    const unsure = unsureAs(sending, { olds, sentAs: sentAs.get(key) }, fields);
    if (unsure) sentAs.set(key, unsure);
  }
  return isAny ? sentAs : undefined;
}
