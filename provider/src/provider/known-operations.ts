/**
 * Reads, changes and deletes live objects, if the installation has an operation for that; and compares one with what the program declares
 * before it is adopted.
 */
import { isDeepStrictEqual } from "node:util";
import { ArgumentsError, asRecord, RefusedError, type Values } from "../base/index.js";
import type { WireRecord } from "../client/index.js";
import {
  abilitiesOf,
  type Created,
  type Differences,
  differencesIn,
  hasValue,
  matchesCreate,
  type Unproven,
  visibleFromMs,
  withDifferences,
} from "../decision/index.js";
import { bodyOf, type Kind, type Operation, type OptionalOperation } from "../kinds/index.js";
import { show } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import {
  aboutWhom,
  CREATED,
  type CreateRecord,
  lastMomentSent,
  type StoredSet,
  staysLive,
  whatIsKnown,
} from "../state/index.js";
import { openBeside } from "./before.js";
import { createdHere } from "./holding.js";
import type { WithArguments } from "./inputs.js";
import type { Outcome } from "./outcome.js";
import type { Runtime, Services } from "./services.js";
import { platformWarning, tellAll, tooEarly } from "./tell.js";

interface Named {
  readonly id: string;
  readonly label: string;
  readonly created?: Created | undefined;
}

/** @param properties what the state holds of a single resource. */
export function createdIn({ [CREATED]: at }: Values): Created | undefined {
  return typeof at === "string" ? { at } : undefined;
}

/**
 * When an object was created, as its state keeps it. Nothing if only creates are known: then nothing is asked whose answer could come too
 * early, and the state of thousands stays smaller.
 */
export function momentToKeep(kind: Kind, { reading, now }: Services): string | undefined {
  const can = abilitiesOf(kind, reading.settings);
  return can.read || can.update || can.delete ? now() : undefined;
}

export function createdInSet({ created }: StoredSet): Created | undefined {
  return created === undefined ? undefined : { at: created, isOfSet: true };
}

/** @param record a create that has made an object. */
export function createdBy(record: CreateRecord, { clock }: Services): Created {
  return { at: new Date(lastMomentSent(record, clock.wallMs())).toISOString(), isSent: true };
}

/**
 * Asked of an object that is not found. The state of an object that was created before the operation was known does not say when: then
 * the notes of this machine may.
 * @returns none where its absence proves that it is gone: long after its create, or where it was read since.
 */
export function unproven(kind: Kind, services: Services, { id, created }: Named): Unproven | undefined {
  const { reading, clock, seen } = services;
  const { at = createdHere(kind, services, id), isOfSet = false, isSent = false } = created ?? {};
  const createdMs = Date.parse(at ?? "") + (isSent ? reading.settings.requestTimeoutSeconds * 1000 : 0);
  if (at === undefined || Number.isNaN(createdMs)) return undefined;
  const fromMs = visibleFromMs(createdMs, reading.settings);
  if (clock.wallMs() >= fromMs || seen.has(kind.name, id)) return undefined;
  return { created: { at, isOfSet, isSent }, until: new Date(fromMs).toISOString() };
}

/** @throws RefusedError the object was just created: that the platform does not find it proves nothing. */
function expectProven(kind: Kind, services: Services, named: Named): void {
  const { id, label } = named;
  const early = unproven(kind, services, named);
  if (early !== undefined) throw new RefusedError(tooEarly(label, id, early));
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
  return services.track(async (expectMayBegin) => {
    expectMayBegin();
    const record = await services.client().read({ kind, operation, ...named });
    services.noteRead();
    if (record !== undefined && unproven(kind, services, named) !== undefined) services.seen.note(kind.name, named.id);
    return record;
  });
}

/**
 * Asked before what an earlier run has created is taken over: whether it is gone by now. Without a known read nobody can say; and as long
 * as its absence would prove nothing, nothing is asked.
 * @throws AdvertisingError nothing is known of it.
 */
export async function isProvenGone(kind: Kind, services: Runtime, named: Named): Promise<boolean> {
  if (!abilitiesOf(kind, services.reading.settings).read) return false;
  if (unproven(kind, services, named) !== undefined || (await readLive(kind, services, named)) !== undefined)
    return false;
  services.run.noteGone(kind, named.id);
  return true;
}

/** As {@link setFields}, of these arguments and nothing else. */
export async function updateLive(
  kind: Kind,
  services: Runtime,
  named: Named,
  olds: Values,
  news: Values,
  changed: readonly string[],
): Promise<boolean> {
  const fields = changedFields(kind, olds, news, changed);
  return Object.keys(fields).length === 0 || setFields(kind, services, named, fields);
}

/**
 * Has the platform set these fields of an object.
 * @param fields in wire names.
 * @returns whether it did; otherwise it is certain that the object is gone. @throws AdvertisingError it may be asked again.
 */
export async function setFields(kind: Kind, services: Runtime, named: Named, fields: Values): Promise<boolean> {
  const operation = operationOf(kind, services, "update");
  await services.expectNewest();
  const warnings = await services.track(async (expectMayBegin) => {
    expectMayBegin();
    return services.client().update({ kind, operation, ...named }, fields);
  });
  if (warnings === undefined) {
    expectProven(kind, services, named);
    services.run.noteGone(kind, named.id);
    return false;
  }
  tellAll(
    services,
    warnings.map((warning) => platformWarning(named.label, warning)),
  );
  return true;
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
export async function deleteObject(kind: Kind, services: Runtime, named: Named): Promise<void> {
  const operation = operationOf(kind, services, "delete");
  await services.expectNewest();
  const wasThere = await services.track(async (expectMayBegin) => {
    expectMayBegin();
    return services.client().delete({ kind, operation, ...named });
  });
  if (!wasThere) expectProven(kind, services, named);
  services.run.noteGone(kind, named.id);
  // A `create` may follow in this run, if the engine was asked to replace the resource.
  await services.forgetCreate(kind.name, named.id);
}

interface Adoption extends WithArguments {
  readonly id: string;
  /** A create of unknown outcome that the state holds, and that this settles if it made this object. */
  readonly settles: CreateRecord | undefined;
  /** Journal keys of what the program declares no longer, and what may be this under its former name. */
  readonly formerly: readonly string[];
}

/**
 * Nothing is created. Where an update is known, the object is given the arguments that differ; otherwise it must have them.
 * @returns also if nothing was adopted: an earlier create of unknown outcome, which did not make this object, is to be settled first.
 * @throws AdvertisingError it is not there, differs, or could not be looked at. Nothing has changed, but perhaps by an update.
 */
export async function adoptExisting(kind: Kind, services: Runtime, adoption: Adoption): Promise<Outcome> {
  const { subject, id, values, secret } = adoption;
  const { label } = subject;
  const isRead = abilitiesOf(kind, services.reading.settings).read;
  const differences: Differences = isRead ? await lookAt(kind, services, adoption) : new Map();
  const theirs = withDifferences({ ...values }, differences);
  const open = await openBeside(kind, services, subject, id, theirs, adoption.settles);
  if (open !== undefined) {
    await services.journal(subject.identity).ended(open.mark, { kind: "unresolved" });
    // The journal goes on knowing what it knows. What only the state knows stays there.
    const { settles = open } = adoption;
    const record = settles.mark === open.mark ? open : { ...settles, searched: whatIsKnown(open) };
    return { kind: "unresolved", record: { ...record, urn: subject.urn, secret: [...secret] } };
  }
  if (differences.size > 0) {
    const isThere = await updateLive(kind, services, { id, label }, theirs, values, [...differences.keys()]);
    if (!isThere) throw notThere(kind, label, id);
  }
  await settle(kind, services, adoption, theirs);
  return { kind: "adopted", id };
}

/**
 * What was left unresolved about it is answered by this id, under whichever name it was noted: each create that may have made this object
 * (R4), and what earlier runs made of this resource. All else stays as it is.
 * @param theirs its arguments, as the platform has them where it was read.
 */
async function settle(kind: Kind, services: Services, adoption: Adoption, theirs: Values): Promise<void> {
  const { subject, id, settles, formerly } = adoption;
  const { identity, key, label } = subject;
  const isOfIt = (sent: CreateRecord) => sent.key === key || formerly.includes(sent.key);
  const isSettled = (sent: CreateRecord) =>
    aboutWhom(sent.key).kind === kind.name &&
    (sent.mark === settles?.mark ||
      sent.id === id ||
      (sent.key === key && sent.id !== undefined) ||
      (isOfIt(sent) && matchesCreate(kind, id, theirs, { ...sent, kind: kind.name })));
  try {
    const noted = await services.journal(identity).settle(isSettled);
    const others = new Set(noted.flatMap((sent) => (isOfIt(sent) && sent.id !== id ? (sent.id ?? []) : [])));
    for (const other of others) {
      services.say(
        `${label}: an interrupted run also created ${other}, which nothing manages. ${staysLive(kind, other)}.`,
      );
    }
  } catch (error) {
    services.say(`${label} was adopted as ${id}. ${(error as Error).message}`);
  }
}

function notThere(kind: Kind, label: string, id: string): ArgumentsError {
  return new ArgumentsError(
    `${label}: existingId ${id}: there is no ${kind.create.noun} ${id} on the platform. Nothing was changed. Correct existingId, or leave it out to create another one.`,
  );
}

/**
 * Holds what the program declares against the live object.
 * @returns the arguments that differ, as the platform has them: all can be changed in place.
 * @throws ArgumentsError the object is not there, or differs where it can't be changed. @throws AdvertisingError nothing is known of it.
 */
async function lookAt(
  kind: Kind,
  services: Services,
  { subject: { label }, id, values, secret }: Adoption,
): Promise<Differences> {
  const { settings } = services.reading;
  const record = await readLive(kind, services, { id, label });
  if (record === undefined) throw notThere(kind, label, id);
  const differences = differencesIn(kind, settings, values, record);
  const { update } = abilitiesOf(kind, settings);
  const wrong = [...differences].filter(([property]) => !update || property in kind.refersTo);
  if (wrong.length === 0) return differences;
  const told = wrong.map(([property, theirs]) =>
    secret.has(property) ? property : `${property} is ${show(theirs)} there, and ${show(values[property])} here`,
  );
  throw new ArgumentsError(
    `${label}: existingId ${id} differs: ${told.join("; ")}. Nothing was changed. Declare what is there, or correct existingId.`,
  );
}
