/**
 * A resource's objects by key, as the engine's state and inputs have them. A single resource is read as a set of one
 * under the empty key, so that everything between reading and writing exists once. Pure.
 */
import { asRecord, pick, type Values } from "../base/index.js";
import type { AnyKind } from "../kinds/index.js";
import { exactId, isPlatformId } from "../rules/index.js";
import {
  CREATED,
  LEFT_LIVE,
  type LeftLive,
  leftLiveIn,
  mapOf,
  RESOLVED,
  resolvedIn,
  SENT_AS,
  type SentAs,
  UNKNOWN,
  UNRESOLVED,
  type Unresolved,
} from "./stored.js";

/** The key of a single resource's object. */
export const SINGLE = "";

/** The key under which a set's state keeps an object that was replaced, until it is deleted. */
export function replacedKey(key: string, id: string) {
  return `${key}#${id}`;
}

/** The kind of a resource's objects. */
export function kindOf(resource: AnyKind) {
  if ("member" in resource) return resource.member;
  return resource;
}

/** The inputs without hidden properties, whose names begin with two underscores. */
export function argumentsIn(inputs: Values) {
  return pick(inputs, (name) => !name.startsWith("__"));
}

/** A set as declared, from checked inputs. In a preview, any value may not be known yet. */
export interface DeclaredSet {
  advertiserId: unknown;
  /** Undefined for a single resource, which is read as a set of one. */
  defaults: unknown;
  /** Undefined if the events are not known yet. */
  events: ReadonlyMap<string, unknown> | undefined;
  formerKeys: ReadonlyMap<string, string>;
}

/** @param inputs undefined if the program does not declare the resource any more. */
export function readDeclared(resource: AnyKind, inputs: Values | undefined) {
  if ("member" in resource) return readDeclaredSet(inputs ?? {});
  const events = inputs && { [SINGLE]: argumentsIn(inputs) };
  return { ...readDeclaredSet({ events }), defaults: undefined };
}

export function readDeclaredSet({ advertiserId, defaults = {}, events }: Values) {
  const entries = new Map<string, unknown>();
  const formerKeys = new Map<string, string>();
  for (const [key, entry] of Object.entries(asRecord(events))) {
    // A former key is no argument of the event.
    const { formerKey, ...others } = asRecord(entry);
    entries.set(key, formerKey === undefined ? entry : others);
    if (typeof formerKey === "string" && formerKey !== UNKNOWN)
      formerKeys.set(key, formerKey);
  }
  const isKnown = events !== UNKNOWN;
  return { advertiserId, defaults, events: isKnown ? entries : undefined, formerKeys };
}

/** A resource in the state, by the keys of its objects. A copy, which the caller may change. */
export interface StoredSet extends Pick<DeclaredSet, "advertiserId" | "defaults"> {
  /** The entry with which each object was created or adopted; may be empty for an object in `sentAs`. */
  events: Map<string, Values>;
  eventIds: Map<string, string>;
  /** For the objects that their entries and the set's current arguments do not describe. */
  sentAs: Map<string, SentAs>;
  unresolved: Map<string, Unresolved>;
  /** After the resource's last create, by the platform's clock, ISO 8601; undefined if that is not known. */
  created: string | undefined;
  left: readonly LeftLive[];
  /** As {@link resolvedIn} returns it. */
  resolved: Map<string, string>;
}

/** @param id the resource's; a set's objects have ids of their own. @param outputs empty for a new resource. */
export function readStored(resource: AnyKind, id: string | undefined, outputs: Values) {
  if ("member" in resource) return readStoredSet(outputs);
  const only = (value: unknown) => (value === undefined ? {} : { [SINGLE]: value });
  const set = readStoredSet({
    ...outputs,
    events: only(outputs),
    eventIds: only(isPlatformId(id) ? id : undefined),
    sentAs: only(outputs[SENT_AS]),
    [UNRESOLVED]: only(outputs[UNRESOLVED]),
  });
  return { ...set, advertiserId: undefined, defaults: undefined };
}

/** @returns an empty set if nothing is stored. */
export function readStoredSet(outputs: Values) {
  const { advertiserId, defaults = {}, events, eventIds, sentAs } = outputs;
  return {
    advertiserId,
    defaults,
    events: mapOf(events, asRecord),
    eventIds: mapOf(eventIds, String),
    sentAs: mapOf(sentAs, (value) => value as SentAs),
    unresolved: mapOf(outputs[UNRESOLVED], (value) => value as Unresolved),
    created: outputs[CREATED] as string | undefined,
    left: leftLiveIn(outputs),
    resolved: resolvedIn(outputs),
  };
}

/** The outputs that {@link readStored} reads. An absent value is undefined. */
export function writeStored(resource: AnyKind, stored: StoredSet) {
  const { advertiserId, defaults, events, eventIds, sentAs, unresolved, left, resolved } =
    stored;
  const ids = Object.fromEntries(Array.from(eventIds, ([key, id]) => [key, exactId(id)]));
  const common = {
    [CREATED]: stored.created,
    [LEFT_LIVE]: left.length === 0 ? undefined : left,
    [RESOLVED]: filled(resolved),
  };
  if ("member" in resource)
    return {
      advertiserId,
      defaults,
      events: Object.fromEntries(events),
      eventIds: ids,
      sentAs: filled(sentAs),
      [UNRESOLVED]: filled(unresolved),
      ...common,
    };
  const entry = Object.entries(events.get(SINGLE) ?? {});
  return {
    ...Object.fromEntries(entry.map(([name, value]) => [name, value ?? undefined])),
    [resource.idProperty]: ids[SINGLE],
    [SENT_AS]: sentAs.get(SINGLE),
    [UNRESOLVED]: unresolved.get(SINGLE),
    ...common,
  };
}

/** A map as it's stored; undefined if it's empty. */
function filled(map: ReadonlyMap<string, unknown>) {
  if (map.size > 0) return Object.fromEntries(map);
}

/**
 * A stored set with each event under the key that the program gives it now. An event that the state already has under
 * its new key stays what it is: a `formerKey` may remain in the program.
 * @returns `moved`: the former key of each moved event, by its new key.
 */
export function withFormerKeysApplied(
  stored: StoredSet,
  { events, formerKeys }: DeclaredSet,
) {
  const isStored = (key: string) => stored.eventIds.has(key) || stored.unresolved.has(key);
  const moved = new Map(
    [...formerKeys].filter(
      ([key, former]) => !isStored(key) && isStored(former) && events?.has(former) !== true,
    ),
  );
  const newKeys = new Map(Array.from(moved, ([key, former]) => [former, key]));
  const keyNow = (key: string) => newKeys.get(key) ?? key;
  const renamed = <T>(map: ReadonlyMap<string, T>) =>
    new Map(Array.from(map, ([key, value]) => [keyNow(key), value]));
  const set = {
    ...stored,
    events: renamed(stored.events),
    eventIds: renamed(stored.eventIds),
    sentAs: renamed(stored.sentAs),
    unresolved: renamed(stored.unresolved),
    left: stored.left.map((object) =>
      object.key === undefined ? object : { ...object, key: keyNow(object.key) },
    ),
  };
  return { set, moved };
}

/** An object's complete arguments: the entry's win over the set's defaults; `null` removes a default. */
export function completeArguments(
  { advertiserId, defaults }: Pick<DeclaredSet, "advertiserId" | "defaults">,
  entry: Values,
) {
  if (defaults === undefined) {
    // A single resource has no shared arguments.
    const { existingId: _, ...own } = entry;
    return own;
  }
  const shared = asRecord(defaults);
  const event = {
    ...shared,
    ...entry,
    existingId: null,
    advertiserId,
    additionalFields: mergedFields(shared.additionalFields, entry.additionalFields),
  };
  return pick(event, (_, value) => value !== null);
}

function mergedFields(shared: unknown, ofEntry: unknown) {
  if (shared === UNKNOWN || ofEntry === UNKNOWN) return UNKNOWN;
  const fields = { ...asRecord(shared), ...asRecord(ofEntry) };
  if (Object.keys(fields).length === 0) return null;
  return fields;
}
