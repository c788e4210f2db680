/**
 * What is done with live objects where the installation is known to have a way to: reading them for refreshes, for `get` and before
 * an adoption, which holds what the platform answers against what is declared; changing them in place; and taking them off the platform.
 */
import { isDeepStrictEqual } from "node:util";
import { AdvertisingError, ArgumentsError, asRecord, own, RefusedError, type Values } from "../base/index.js";
import type { WireRecord } from "../client/index.js";
import { abilitiesOf, type Created, hasValue, visibleFromMs } from "../decision/index.js";
import {
  bodyOf,
  fingerprintOfBody,
  type Kind,
  type Limits,
  type Operation,
  type OptionalOperation,
} from "../kinds/index.js";
import { asAccepted, defaultOf, exactId, formsOf, isPlatformId } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import { CREATED, eventIn, type StoredSet } from "../state/index.js";
import type { Properties } from "./inputs.js";
import type { Runtime, Services } from "./services.js";
import {
  driftNotice,
  goneInUpdate,
  goneNotice,
  justCreatedNotice,
  platformWarning,
  tellAll,
  tooEarly,
} from "./tell.js";

interface Named {
  readonly id: string;
  /** For messages. */
  readonly label: string;
  readonly created?: Created | undefined;
}

/** @param properties what the state holds of a single resource. */
export function createdIn({ [CREATED]: at }: Values): Created | undefined {
  return typeof at === "string" ? { at } : undefined;
}

/**
 * What the state of an object that was just created says of when: nothing where nothing but creating is known, since nothing is asked then
 * whose answer could come too early, and the state of thousands stays smaller.
 */
export function momentToKeep(kind: Kind, { reading, now }: Services): string | undefined {
  const can = abilitiesOf(kind, reading.settings);
  return can.read || can.update || can.delete ? now() : undefined;
}

export function createdInSet({ created }: StoredSet): Created | undefined {
  return created === undefined ? undefined : { at: created, isOfSet: true };
}

/** @returns until when nothing is proved by its absence, ISO 8601; none where that is over, or where it was read since its create. */
function unprovenUntil(kind: Kind, { reading, clock, seen }: Services, { id, created }: Named): string | undefined {
  const createdMs = Date.parse(created?.at ?? "");
  if (Number.isNaN(createdMs)) return undefined;
  const fromMs = visibleFromMs(createdMs, reading.settings);
  return clock.wallMs() >= fromMs || seen.has(kind.name, id) ? undefined : new Date(fromMs).toISOString();
}

/** @throws RefusedError the object was just created: that the platform does not find it proves nothing. */
function expectProven(kind: Kind, services: Services, named: Named): void {
  const { id, label, created } = named;
  const until = unprovenUntil(kind, services, named);
  if (created !== undefined && until !== undefined) throw new RefusedError(tooEarly(label, id, created, until));
}

/** Callers have asked `abilitiesOf` whether there is such an operation. */
function operationOf(kind: Kind, { reading }: Services, name: OptionalOperation): Operation {
  const operation = knownOperations(kind, reading.settings)[name];
  if (operation === undefined) throw new Error(`${name} without the operation`);
  return operation;
}

/** @returns none where it is certain that there is none. @throws AdvertisingError nothing is known of it. */
export async function readLive(kind: Kind, services: Services, named: Named): Promise<WireRecord | undefined> {
  const operation = operationOf(kind, services, "read");
  return services.track(async (mayBegin) => {
    mayBegin();
    const record = await services.client().read({ kind, operation, ...named });
    services.noteRead();
    if (record !== undefined && unprovenUntil(kind, services, named) !== undefined)
      services.seen.note(kind.name, named.id);
    return record;
  });
}

/** What the program gets that refers to a live object by its id. @throws ArgumentsError there is none. */
export async function argumentsOfLive(kind: Kind, services: Services, id: string): Promise<Properties> {
  const label = `${kind.name} ${id}`;
  const record = await readLive(kind, services, { id, label });
  if (record === undefined)
    throw new ArgumentsError(`${label}: there is no ${kind.create.noun} ${id} on the platform.`);
  return { ...argumentsFrom(kind, services.reading.settings, record), [kind.idProperty]: exactId(id) };
}

/**
 * Compares the state with the live object, and tells what differs.
 * @returns what the state holds next: the very same where nothing differs; none where the object is gone.
 */
export async function refreshed(
  kind: Kind,
  runtime: Runtime,
  id: string,
  properties: Properties,
  created: Created | undefined,
): Promise<Properties | undefined> {
  const { settings } = runtime.reading;
  const named = { id, label: `${kind.name} ${id}`, created };
  const { label } = named;
  const record = await readLive(kind, runtime, named);
  const until = record === undefined ? unprovenUntil(kind, runtime, named) : undefined;
  if (created !== undefined && until !== undefined) {
    tellAll(runtime, [justCreatedNotice(label, created, until)]);
    return properties;
  }
  if (record === undefined) {
    runtime.run.noteGone(kind, id);
    tellAll(runtime, [goneNotice(label)]);
    return undefined;
  }
  const differences = differencesIn(kind, settings, properties, record);
  if (differences.size === 0) return properties;
  const isReplaced = knownOperations(kind, settings).update === undefined;
  tellAll(runtime, [driftNotice(label, [...differences.keys()], isReplaced)]);
  return withDifferences(properties, differences);
}

/**
 * Compares a set's members with the live objects.
 * @returns what the state holds next: the very same where nothing differs. @throws AdvertisingError of a member nothing is known.
 */
export async function refreshedSet(kind: Kind, runtime: Runtime, stored: StoredSet): Promise<StoredSet> {
  const [events, eventIds, earlier] = [new Map(stored.events), new Map(stored.eventIds), new Map(stored.earlier)];
  const created = createdInSet(stored);
  const troubles: AdvertisingError[] = [];
  let isChanged = false;
  await Promise.all(
    [...stored.eventIds].map(async ([key, id]) => {
      const entry = stored.events.get(key) ?? {};
      const values = { ...eventIn(stored, entry) };
      try {
        // What it was created with is not known any more where the set's own arguments are others since: it is looked at.
        const now = await refreshed(kind, runtime, id, stored.earlier.has(key) ? {} : values, created);
        if (now === undefined) for (const map of [events, eventIds, earlier]) map.delete(key);
        else if (now !== values && !stored.earlier.has(key)) {
          events.set(key, { ...entry, ...changedIn(values, now) });
          // Its owner is the set's: another one can only be remembered.
          if (now.advertiserId !== values.advertiserId) earlier.set(key, fingerprintOfBody(kind, now));
        } else return;
        isChanged = true;
      } catch (error) {
        if (!(error instanceof AdvertisingError)) throw error;
        troubles.push(error);
      }
    }),
  );
  const [first] = troubles;
  if (first !== undefined) {
    if (troubles.length > 1) first.message += ` (And ${troubles.length - 1} more events of this set met trouble.)`;
    throw first;
  }
  return isChanged ? { ...stored, events, eventIds, earlier } : stored;
}

function changedIn({ advertiserId: _, ...values }: Values, now: Values): Values {
  return Object.fromEntries(
    Object.keys(values).flatMap((property) => (now[property] === values[property] ? [] : [[property, now[property]]])),
  );
}

/** Has the platform change these arguments of an object, and nothing else. @throws AdvertisingError it may be asked again. */
export async function updateLive(
  kind: Kind,
  services: Services,
  named: Named,
  olds: Values,
  news: Values,
  changed: readonly string[],
): Promise<void> {
  const fields = changedFields(kind, olds, news, changed);
  if (Object.keys(fields).length > 0) await setFields(kind, services, named, fields);
}

/** Has the platform set these fields of an object. @param fields in wire names. @throws AdvertisingError as {@link updateLive}. */
export async function setFields(kind: Kind, services: Services, named: Named, fields: Values): Promise<void> {
  const operation = operationOf(kind, services, "update");
  await services.expectNewest();
  const warnings = await services.track(async (mayBegin) => {
    mayBegin();
    return services.client().update({ kind, operation, ...named }, fields);
  });
  if (warnings === undefined) {
    expectProven(kind, services, named);
    throw new RefusedError(goneInUpdate(named.label, named.id));
  }
  tellAll(
    services,
    warnings.map((warning) => platformWarning(named.label, warning)),
  );
}

/** In wire names; `null` for what has no value any more, and no default. */
function changedFields(kind: Kind, olds: Values, news: Values, changed: readonly string[]): Record<string, unknown> {
  const given = Object.fromEntries(
    changed.filter((name) => name !== "additionalFields").map((name) => [name, news[name]]),
  );
  const fields = bodyOf(kind, given);
  for (const [property, field] of Object.entries(kind.wireNames)) {
    if (changed.includes(property) && !hasValue(news[property])) fields[field] = null;
  }
  if (!changed.includes("additionalFields")) return fields;
  const [before, after] = [asRecord(olds.additionalFields), asRecord(news.additionalFields)];
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!isDeepStrictEqual(before[field], after[field])) fields[field] = after[field] ?? null;
  }
  return fields;
}

/** What is not there is deleted. @throws AdvertisingError it was not deleted, or nobody knows: it may be asked again. */
export async function deleteObject(kind: Kind, services: Services, named: Named): Promise<void> {
  const operation = operationOf(kind, services, "delete");
  await services.expectNewest();
  const wasThere = await services.track(async (mayBegin) => {
    mayBegin();
    return services.client().delete({ kind, operation, ...named });
  });
  if (!wasThere) expectProven(kind, services, named);
}

/** What differs, by argument: as the platform has it; `undefined` where it has nothing. */
export type Differences = ReadonlyMap<string, unknown>;

/** Only what was given, or has a default of ours, is compared, and only where the answer holds it. */
export function differencesIn(kind: Kind, limits: Limits, values: Values, record: Values): Differences {
  const rules = kind.rules(limits).shape;
  const found = new Map<string, unknown>();
  for (const [property, field] of Object.entries(kind.wireNames)) {
    const ours = values[property];
    if (!hasValue(ours) || !Object.hasOwn(record, field)) continue;
    const theirs = asAccepted(rules[property], record[field]);
    if (!isSame(ours, theirs ?? defaultOf(rules[property]))) found.set(property, theirs);
  }
  const ours = asRecord(values.additionalFields);
  const theirs = Object.entries(ours).map(([field, value]) => {
    return [field, Object.hasOwn(record, field) ? likeOurs(value, record[field]) : value] as const;
  });
  if (theirs.some(([field, value]) => !isSame(ours[field], value))) {
    found.set("additionalFields", Object.fromEntries(theirs));
  }
  return found;
}

/** Every argument that the answer holds, in the form that a program gives it. */
function argumentsFrom(kind: Kind, limits: Limits, record: Values): Properties {
  const rules = kind.rules(limits).shape;
  return Object.fromEntries(
    Object.entries(kind.wireNames).flatMap(([property, field]) => {
      const value = asAccepted(rules[property], own(record, field));
      return value === undefined ? [] : [[property, value]];
    }),
  );
}

/** What the state holds once it is told of the differences. */
export function withDifferences(values: Properties, differences: Differences): Properties {
  const updated = { ...values };
  for (const [property, theirs] of differences) {
    if (theirs === undefined) delete updated[property];
    else updated[property] = theirs;
  }
  return updated;
}

/** `theirs` in the form of `ours`, where it has one. */
function likeOurs(ours: unknown, theirs: unknown): unknown {
  if (!hasValue(ours)) return theirs ?? ours;
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.map((each, at) => likeOurs(each, theirs[at]));
  }
  if (isObject(ours) && isObject(theirs)) {
    const fields = Object.entries(ours).map(([name, each]) => [name, likeOurs(each, own(theirs, name) ?? null)]);
    return Object.fromEntries(fields);
  }
  return formsOf(theirs).find((each) => typeof each === typeof ours) ?? theirs ?? null;
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSame(ours: unknown, theirs: unknown): boolean {
  if (isDeepStrictEqual(ours, theirs)) return true;
  // An id is a number, or its digits where a number could not hold it.
  return (
    [ours, theirs].every((each) => /^(number|string)$/.test(typeof each)) && isId(ours) && `${ours}` === `${theirs}`
  );
}

function isId(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && isPlatformId(value));
}
