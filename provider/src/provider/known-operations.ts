/**
 * Reads, changes and deletes live objects, if the installation has an operation for that; and compares an object with the program before
 * it is adopted.
 */
import { isDeepStrictEqual } from "node:util";
import { ArgumentsError, asRecord, RefusedError, type Values } from "../base/index.js";
import type { Sendings, WireRecord } from "../client/index.js";
import {
  abilitiesOf,
  type Created,
  type Differences,
  differencesIn,
  hasValue,
  knownAdoption,
  type Member,
  matchesCreate,
  type Unproven,
  visibleFromMs,
  withDifferences,
} from "../decision/index.js";
import { bodyOf, fingerprintOfBody, type Kind, type Operation, type OptionalOperation } from "../kinds/index.js";
import { show } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import {
  aboutWhom,
  CREATED,
  type CreateRecord,
  lastMomentSent,
  memberRef,
  type Ref,
  type StoredSet,
  staysLive,
  whatIsKnown,
} from "../state/index.js";
import { expectToSettle, openBeside } from "./before.js";
import { createdHere, expectStillFree } from "./holding.js";
import type { WithArguments } from "./inputs.js";
import type { Outcome } from "./outcome.js";
import type { Runtime, Services } from "./services.js";
import { mayBeDeleted, platformWarning, sentAgain, tellAll, tooEarly } from "./tell.js";

interface Named {
  readonly id: string;
  readonly label: string;
  readonly created?: Created | undefined;
  /** What a message says to do if it does not exist; by default, how a managed one leaves the state. */
  readonly ifNotThere?: string;
}

/** @param properties a single resource's in the state. */
export function createdIn({ [CREATED]: at }: Values): Created | undefined {
  return typeof at === "string" ? { at } : undefined;
}

/**
 * When an object was created, for the state. Nothing if only creates are known: then no request could be answered too early, and the state
 * of thousands of objects stays smaller.
 */
export function momentToKeep(kind: Kind, { reading, now }: Services): string | undefined {
  const can = abilitiesOf(kind, reading.settings);
  return can.read || can.update || can.delete ? now() : undefined;
}

export function createdInSet({ created }: StoredSet): Created | undefined {
  return created === undefined ? undefined : { at: created, isOfSet: true };
}

/** @param record a create that made an object. */
export function createdBy(
  record: Pick<CreateRecord, "at" | "isEarliest">,
  { clock }: Pick<Services, "clock">,
): Created {
  return { at: new Date(lastMomentSent(record, clock.wallMs())).toISOString(), isSent: true };
}

/** What it takes to know whether an object is gone. */
export type Looker = Pick<Services, "reading" | "clock" | "client" | "seen" | "rememberedOf">;

/**
 * For an object that is not found. If it was created before an operation was known, the state does not say when, but this machine's notes may.
 * @returns none if its absence proves that it is gone: long after its create, or if it was read or deleted since.
 */
export function unproven(
  kind: Kind,
  services: Omit<Looker, "client">,
  { id, created }: Pick<Named, "id" | "created">,
): Unproven | undefined {
  const { reading, clock, seen } = services;
  const { at = createdHere(kind, services, id), isOfSet = false, isSent = false } = created ?? {};
  const createdMs = Date.parse(at ?? "") + (isSent ? reading.settings.requestTimeoutSeconds * 1000 : 0);
  if (at === undefined || Number.isNaN(createdMs)) return undefined;
  const fromMs = visibleFromMs(createdMs, reading.settings);
  if (clock.wallMs() >= fromMs || seen.has(kind.name, id) || seen.isDeleted(kind.name, id)) return undefined;
  return { created: { at, isOfSet, isSent }, until: new Date(fromMs).toISOString() };
}

/** @throws RefusedError if the object is so new that its absence proves nothing. */
function expectProven(kind: Kind, services: Services, named: Named): void {
  const { id, label } = named;
  const early = unproven(kind, services, named);
  if (early !== undefined) throw new RefusedError(tooEarly(label, id, early));
}

/** Callers have checked with `abilitiesOf` that there is such an operation. */
function operationOf(kind: Kind, { reading }: Services, name: OptionalOperation): Operation {
  const operation = knownOperations(kind, reading.settings)[name];
  if (operation === undefined) throw new Error(`${name} without the operation`);
  return operation;
}

/** @returns none if it certainly does not exist. @throws AdvertisingError if nothing is known about it. */
export async function readLive(kind: Kind, services: Services, named: Named): Promise<WireRecord | undefined> {
  const operation = operationOf(kind, services, "read");
  return services.track(async (expectMayBegin) => {
    expectMayBegin();
    const record = await services.client().read({ kind, operation, ...named });
    services.noteRead();
    if (record !== undefined) services.seen.noteDelete(kind.name, named.id, false);
    if (record !== undefined && unproven(kind, services, named) !== undefined) services.seen.note(kind.name, named.id);
    return record;
  });
}

/**
 * Whether an object that a create made is gone by now. Without a known read that can't be known; and as long as its absence would prove
 * nothing, it is not read.
 * @throws AdvertisingError if nothing is known about it.
 */
export async function isProvenGone(
  kind: Kind,
  looker: Looker,
  { created, ...target }: Named & Required<Pick<Named, "created" | "ifNotThere">>,
): Promise<boolean> {
  const { read } = knownOperations(kind, looker.reading.settings);
  if (read === undefined || unproven(kind, looker, { id: target.id, created }) !== undefined) return false;
  return (await looker.client().read({ kind, operation: read, ...target })) === undefined;
}

/** Like {@link setFields}, with only these arguments. */
export async function updateLive(
  kind: Kind,
  services: Runtime,
  named: Named,
  olds: Values,
  news: Values,
  changed: readonly string[],
): Promise<boolean> {
  const fields = changedFields(kind, olds, news, changed);
  if (Object.keys(fields).length === 0) return true;
  const { seen } = services;
  const before = seen.updateOf(kind.name, named.id);
  const names = [...new Set([...before.names, ...changed])];
  const note = (isSent: boolean) => seen.noteUpdate(kind.name, named.id, isSent ? { names } : before);
  const isThere = await sendNoted(note, (sendings) => setFields(kind, services, named, fields, sendings));
  seen.noteDone(kind.name, named.id, { names, done: fingerprintOfBody(kind, news) });
  if (!isThere) services.run.noteGone(kind, named.id);
  return isThere;
}

/**
 * Sends an update or a delete of which this machine remembers, from just before it is sent, that it may have been carried out.
 * @param note called with false if it surely was not.
 */
async function sendNoted<T>(note: (isSent: boolean) => void, send: (sendings: Sendings) => Promise<T>): Promise<T> {
  let mayBeDone = false;
  const sendings: Sendings = {
    beforeSend: async () => {
      mayBeDone = true;
      note(true);
    },
    onNotDone: () => {
      mayBeDone = false;
    },
  };
  try {
    return await send(sendings);
  } catch (error) {
    if (!mayBeDone) note(false);
    throw error;
  }
}

/**
 * Sets these fields of an object on the platform.
 * @param fields in wire names.
 * @returns false if the object is certainly gone. @throws AdvertisingError after which it may be sent again.
 */
async function setFields(
  kind: Kind,
  services: Runtime,
  named: Named,
  fields: Values,
  sendings?: Sendings,
): Promise<boolean> {
  const operation = operationOf(kind, services, "update");
  await services.expectNewest();
  const warnings = await services.track(async (expectMayBegin) => {
    expectMayBegin();
    return services.client().update({ kind, operation, ...named }, fields, sendings);
  });
  if (warnings === undefined) {
    expectProven(kind, services, named);
    return false;
  }
  tellAll(
    services,
    warnings.map((warning) => platformWarning(named.label, warning)),
  );
  return true;
}

/** Fields by wire names; `null` for an argument that no longer has a value, or a default. */
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
  // Without a difference, an update of unknown outcome is sent again.
  const isAgain = isDeepStrictEqual(before, after);
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (isAgain || !isDeepStrictEqual(before[field], after[field])) fields[field] = after[field] ?? null;
  }
  return fields;
}

/**
 * An object that does not exist counts as deleted. Nothing is sent for one that this machine has deleted: an interrupted or failed run has kept
 * it in the state.
 * @throws AdvertisingError if it was not deleted, or that is not known: it may be sent again.
 */
export async function deleteObject(kind: Kind, services: Runtime, named: Named): Promise<void> {
  if (!services.seen.isDeleted(kind.name, named.id)) await sendDelete(kind, services, named);
  services.run.noteGone(kind, named.id);
}

async function sendDelete(kind: Kind, services: Runtime, named: Named): Promise<void> {
  const operation = operationOf(kind, services, "delete");
  await services.expectNewest();
  // The state has the object, so no run has to take it over from the journal: from now on it may be gone.
  await services.forgetCreate(kind.name, named.id);
  const { seen } = services;
  const wasSent = seen.isDeleteSent(kind.name, named.id);
  const note = (isSent: boolean) => seen.noteDelete(kind.name, named.id, isSent || wasSent);
  await sendNoted(note, async (sendings) => {
    const wasThere = await services.track(async (expectMayBegin) => {
      expectMayBegin();
      return services.client().delete({ kind, operation, ...named }, sendings);
    });
    if (!wasThere) expectProven(kind, services, named);
  });
  seen.noteDeleted(kind.name, named.id);
}

/**
 * An object that stays in the state may be gone, if a run on this machine has sent a delete of it and was killed, or got no answer that
 * proves anything. A program that names it with `existingId` says that it is there. A refresh that has just asked goes on.
 * @param created when, by the state. @throws ArgumentsError
 */
export function expectNotDeleted(
  kind: Kind,
  runtime: Runtime,
  resource: Ref,
  members: readonly Pick<Member, "key" | "id" | "isDeclared" | "entry" | "former">[],
  created: Created | undefined,
): void {
  const { reading, seen, run } = runtime;
  const doubtful = members.filter(({ id = "", isDeclared, entry, former }) => {
    if (!isDeclared || former !== undefined || !seen.isDeleteSent(kind.name, id) || run.isUnseen(kind, id))
      return false;
    const isNamed = knownAdoption(entry) === id;
    if (isNamed && run.isUp === true) seen.noteDelete(kind.name, id, false);
    return !isNamed;
  });
  const [first] = doubtful;
  if (first === undefined) return;
  const { label, urn } = doubtful.length > 1 || first.key === "" ? resource : memberRef(resource, first.key);
  const ids = doubtful.map(({ id = "" }) => id);
  const { read } = abilitiesOf(kind, reading.settings);
  const [from] = ids
    .flatMap((id) => unproven(kind, runtime, { id, created })?.until ?? [])
    .toSorted()
    .toReversed();
  throw new ArgumentsError(mayBeDeleted(label, ids, read && { from }, first.key === "" ? urn : undefined));
}

/**
 * Called with what a read has shown: if that has each argument that updates of unknown outcome may have changed, their outcome is known.
 * @param values the object's in the state, or in the program that adopts it, as they are from now on.
 */
export function noteShown(
  kind: Kind,
  { seen }: Pick<Services, "seen">,
  id: string,
  record: WireRecord,
  values: Values,
): void {
  const { names } = seen.updateOf(kind.name, id);
  const isShown = (name: string) => {
    const field = kind.wireNames[name];
    if (field === undefined || !Object.hasOwn(record, field)) return false;
    return hasValue(values[name]) || !hasValue(record[field]);
  };
  if (names.length > 0 && names.every(isShown))
    seen.noteUpdate(kind.name, id, { names, done: fingerprintOfBody(kind, values) });
}

/** Says in a preview which objects are updated although nothing has changed in the program. */
export function tellSentAgain(
  kind: Kind,
  { run, seen, tellAt }: Runtime,
  resource: Ref,
  members: readonly Pick<Member, "id" | "action" | "fingerprint">[],
): void {
  if (run.isUp === true) return;
  const again = members.filter(
    ({ id = "", action, fingerprint = "" }) =>
      action.do === "update" && seen.unsureOf(kind.name, id, () => fingerprint).length > 0,
  );
  const ids = again.map(({ id = "" }) => id);
  if (ids.length > 0) tellAt("info", resource.resourceUrn, sentAgain(resource.label, ids));
}

interface Adoption extends WithArguments {
  readonly id: string;
  /** A create of unknown outcome in the state, which this adoption settles if the create made this object. */
  readonly settles: CreateRecord | undefined;
  /** Journal keys of resources that are no longer declared, and may be this one under its former name. */
  readonly formerly: readonly string[];
}

/**
 * Adopts an object without a create. With a known update, arguments that differ are set; otherwise they must not differ.
 * @returns also an outcome without an adoption, if an earlier create of unknown outcome that did not make this object is to be settled first.
 * @throws AdvertisingError if it does not exist, differs, or could not be read. Nothing has changed, except perhaps by an update.
 */
export async function adoptExisting(kind: Kind, services: Runtime, adoption: Adoption): Promise<Outcome> {
  const { subject, id, values, secret } = adoption;
  const { label } = subject;
  const isRead = abilitiesOf(kind, services.reading.settings).read;
  const differences: Differences = isRead ? await lookAt(kind, services, adoption) : new Map();
  const theirs = withDifferences({ ...values }, differences);
  await expectToSettle(kind, services, subject, id, theirs, adoption.formerly);
  expectStillFree(kind, services, subject, id);
  const open = await openBeside(kind, services, subject, id, theirs, adoption.settles);
  if (open !== undefined) {
    await services.journal(subject.identity).ended(open.mark, { kind: "unresolved" });
    // The journal keeps its notes. A create that only the state has stays there.
    const { settles = open } = adoption;
    const record =
      settles.mark === open.mark ? open : { ...settles, searched: whatIsKnown(open), refused: open.refused };
    return { kind: "unresolved", record: { ...record, urn: subject.urn, secret: [...secret] } };
  }
  if (differences.size > 0) {
    const isThere = await updateLive(kind, services, { id, label }, theirs, values, [...differences.keys()]);
    if (!isThere) throw notThere(kind, services, label, id);
  }
  await settle(kind, services, adoption, theirs);
  return { kind: "adopted", id };
}

/**
 * Settles with this id each create that may have made this object (R4), under any name, and what earlier runs created for this resource.
 * Other creates stay as they are.
 * @param theirs its arguments: the platform's if it was read.
 */
async function settle(kind: Kind, services: Runtime, adoption: Adoption, theirs: Values): Promise<void> {
  const { subject, id, settles, formerly } = adoption;
  const { identity, key, label } = subject;
  const isOfIt = (sent: CreateRecord) => sent.key === key || formerly.includes(sent.key);
  /** That resource fails for it, and takes it over once this one names another object. */
  const isOfAnother = (sent: CreateRecord) => !isOfIt(sent) && services.run.declared.has(sent.key);
  const isSettled = (sent: CreateRecord) =>
    aboutWhom(sent.key).kind === kind.name &&
    (sent.mark === settles?.mark ||
      (sent.id === id && !isOfAnother(sent)) ||
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

/** @throws RefusedError if the object is so new that its absence proves nothing. */
function notThere(kind: Kind, services: Services, label: string, id: string): ArgumentsError {
  expectProven(kind, services, { id, label });
  return new ArgumentsError(
    `${label}: existingId ${id}: there is no ${kind.create.noun} ${id} on the platform. Nothing was changed. Correct existingId, or leave it out. ` +
      `If ${id} was created a short time ago, run this again later.`,
  );
}

/**
 * Compares the program with the live object.
 * @returns the platform's values of the arguments that differ, all of which can be updated.
 * @throws ArgumentsError if the object does not exist, or differs in an argument that can't be updated. @throws AdvertisingError if nothing
 *   is known about it.
 */
async function lookAt(
  kind: Kind,
  services: Runtime,
  { subject: { label, key }, id, values, secret }: Adoption,
): Promise<Differences> {
  const { settings } = services.reading;
  const record = await readLive(kind, services, { id, label });
  if (record === undefined) throw notThere(kind, services, label, id);
  const differences = differencesIn(kind, settings, values, record);
  const { update } = abilitiesOf(kind, settings);
  const wrong = [...differences].filter(([property]) => !update || property in kind.refersTo);
  if (differences.size === 0) noteShown(kind, services, id, record, values);
  if (wrong.length === 0) return differences;
  const told = wrong.map(([property, theirs]) =>
    secret.has(property) ? property : `${property} is ${show(theirs)} there, and ${show(values[property])} here`,
  );
  const [former] = services.run.holders.whoGaveUp(kind.name, id).filter((by) => by !== key);
  const back =
    former === undefined
      ? ""
      : ` If it left ${aboutWhom(former).label} in this run, nothing manages it: to put it back there, declare it with existingId: ${id}.`;
  throw new ArgumentsError(
    `${label}: existingId ${id} differs: ${told.join("; ")}. Nothing was changed. Declare what is there, or correct existingId.${back}`,
  );
}
