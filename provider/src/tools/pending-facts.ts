/**
 * What is known of creates of unknown outcome: the facts of the state, of the engine's own record of killed runs, and of the journals
 * of this machine, put together so that each resource is there once. `pending` lists them, judges answers by them, looks for them
 * and settles them. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, type Values } from "../base/index.js";
import { conversionEvent, fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  DELETES,
  eventIn,
  IDENTITY,
  isUnresolved,
  journalKeyOf,
  MARK,
  memberMark,
  memberOf,
  readDeclared,
  readDeclaredSet,
  readMark,
  readStoredSet,
  recordIn,
  SECRET_SIGNATURE,
  splitMember,
  storedFingerprint,
  tellingIn,
  UNRESOLVED,
} from "../state/index.js";
import type { Live } from "../store/index.js";
import {
  accountIn,
  currentByUrn,
  type Deployment,
  type ExportedStack,
  type PendingOperation,
  type Resource,
  visible,
} from "./stack-export.js";

/** One of our creates that is not settled. */
export interface PendingCreate {
  /** Of a set's member, with its key behind it. */
  readonly urn: string;
  /** Of the object. */
  readonly kind: Kind["name"];
  /** The create, as the strongest of the records that know it has it. */
  readonly record: CreateRecord;
  /** Further creates of the same resource, of other runs that were killed: any of them may have made its object. */
  readonly also?: readonly CreateRecord[];
  /**
   * The state holds it as unresolved; or the engine's own record of a killed run implies it, and holds what is needed to take it
   * into the state; or only a journal of this machine has it.
   */
  readonly known: "state" | "engine" | "journal";
  /** The object that the state holds under this URN, whose place this one takes. */
  readonly held?: { readonly id: string; readonly isDeleted: boolean } | undefined;
  /** Of a set's member: its entry as it was sent. */
  readonly entry?: Values;
}

export interface Pending {
  /** Those that nobody knows the outcome of, and those that were created with other arguments than are wanted now. */
  readonly open: readonly PendingCreate[];
  /** Those that the next `pulumi up` takes over where they are declared as they were, since a journal knows their ids. */
  readonly created: readonly PendingCreate[];
  /** How many of the engine's pending creates are settled since: the engine keeps them until it is told to clear them. */
  readonly history: number;
  /** The resources of creates that the engine's record has, as it would have saved them; the latest of each URN. */
  readonly inFlight: ReadonlyMap<string, Resource>;
  /** The sets with pending members, each as it is saved once those are settled. */
  readonly sets: readonly { readonly resource: Resource; readonly members: readonly PendingCreate[] }[];
}

type Notes = ReadonlyMap<string, readonly CreateRecord[]>;

/** @param notes what the journals of this machine remember of the stack, in the order of sending. */
export function pendingIn({ deployment }: ExportedStack, notes: readonly CreateRecord[]): Pending {
  const current = currentByUrn(deployment.resources ?? []);
  const noted: Notes = Map.groupBy(notes, ({ key }) => aboutWhom(key).urn);
  const { open: sent, history } = creatingIn(deployment, current);
  const sets = setsIn(deployment, current, noted);
  const facts = [
    ...(deployment.resources ?? []).flatMap(savedIn),
    ...sent.flatMap((resource) => sentIn(resource, current.get(resource.urn), noted.get(resource.urn) ?? [])),
    ...sets.flatMap(({ members }) => members),
  ];
  const known = [...Map.groupBy(facts, ({ urn }) => urn)].map(([urn, those]) => together(those, noted.get(urn) ?? []));
  const inFlight = new Map(sent.map((resource) => [resource.urn, resource]));
  const isTakenOver = (create: PendingCreate) => {
    const resource = inFlight.get(create.urn);
    return create.known === "engine" && resource !== undefined && noteOf(resource, noted) !== undefined;
  };
  const open = known.filter((create) => !isTakenOver(create));
  const created = known.filter(isTakenOver).map((create): PendingCreate => ({ ...create, known: "journal" }));
  // A resource that was renamed since has its create under its new name.
  const marks = new Set(open.flatMap(recordsOf).map(({ mark }) => mark));
  const isListed = new Set(known.map(({ urn }) => urn));
  for (const [urn, all] of noted) {
    if (isListed.has(urn)) continue;
    const object = objectAt(current, urn);
    // What the state holds, the next run's diff finds out too.
    const isHeld = ({ id, fingerprint }: CreateRecord) =>
      object !== undefined && (id === undefined ? fingerprint === object.fingerprint() : id === object.id);
    const left = all.filter((record) => !marks.has(record.mark) && !isHeld(record));
    const [record, ...also] = left.toSorted((a, b) => Number(b.id !== undefined) - Number(a.id !== undefined));
    if (record === undefined) continue;
    const held = object?.id === undefined ? undefined : { id: object.id, isDeleted: false };
    const { kind } = aboutWhom(record.key);
    (record.id === undefined ? open : created).push({ urn, kind, record, also, known: "journal", held });
  }
  const membersOf = (set: string) =>
    open.filter(({ urn, known: by }) => by !== "journal" && splitMember(urn).of === set);
  return {
    open,
    created,
    history,
    inFlight,
    sets: sets.flatMap(({ resource }) => {
      const members = membersOf(resource.urn);
      return members.length === 0 ? [] : [{ resource, members }];
    }),
  };
}

/** A create and all that other runs sent of the same resource. */
export function recordsOf({ record, also = [] }: PendingCreate): CreateRecord[] {
  return [record, ...also];
}

/**
 * The facts about one resource as one create. What the state holds goes before what the engine's record implies; of several
 * killed runs the latest is the one that the engine goes on with. An id comes from the journal, which alone knows answers. Every
 * further mark is kept: each of those creates may have arrived.
 */
function together(facts: readonly PendingCreate[], notes: readonly CreateRecord[]): PendingCreate {
  const best = facts.find(({ known }) => known === "state") ?? (facts.at(-1) as PendingCreate);
  const id = notes.findLast((note) => note.id !== undefined)?.id ?? best.record.id;
  const all = [...facts.map(({ record }) => record), ...notes].filter(({ mark }) => mark !== best.record.mark);
  const also = [...new Map(all.map((record) => [record.mark, record])).values()];
  return { ...best, record: { ...best.record, id }, also };
}

/** The note of a create's id, where the create is what the journal knows: then the next run takes it over. */
function noteOf(resource: Resource, noted: Notes): CreateRecord | undefined {
  const kind = kindOfType(resource.type);
  const note = noted.get(resource.urn)?.findLast(({ id }) => id !== undefined);
  const isOfThisBody = kind !== undefined && note?.fingerprint === fingerprintOfBody(kind, resource.inputs ?? {});
  return isOfThisBody ? note : undefined;
}

/** A resource that the state holds as unresolved. The arguments are taken from the inputs, where secret ones are encrypted. */
function savedIn({ urn, type, id, inputs, outputs }: Resource): PendingCreate[] {
  const kind = kindOfType(type);
  const record =
    kind === undefined ? undefined : recordIn(kind, { ...readable(inputs), [UNRESOLVED]: outputs?.[UNRESOLVED] }, id);
  return kind === undefined || record === undefined ? [] : [{ urn, kind: kind.name, record, known: "state" }];
}

/** What the engine's record of a killed run tells of a create, with what the journal knows of that very one. */
function sentIn(resource: Resource, former: Resource | undefined, notes: readonly CreateRecord[]): PendingCreate[] {
  const { urn, type, inputs } = resource;
  const kind = kindOfType(type);
  if (kind === undefined) return [];
  const sent = readMark(inputs?.[MARK]);
  const note = sent === undefined ? notes.at(-1) : notes.findLast(({ mark }) => mark === sent.mark);
  const { key = "", at = "", fingerprint = "" } = note ?? {};
  const telling = tellingIn(kind, readable(inputs), new Set());
  const by = { mark: sent?.mark ?? note?.mark ?? "", field: sent?.field ?? note?.field };
  const isSaved = former === undefined || isUnresolved(former.outputs);
  const held = isSaved ? undefined : heldIn(former?.id, former?.inputs);
  return [{ urn, kind: kind.name, record: { ...telling, ...by, key, at, fingerprint }, known: "engine", held }];
}

/**
 * The creates that the engine's record has. History is what a later run has settled: the state holds the resource with the create's
 * arguments (with the same ones the create may have been asked for by `--replace` alone), or as unresolved, unless by another mark.
 */
function creatingIn(
  deployment: Deployment,
  current: ReadonlyMap<string, Resource>,
): { readonly open: Resource[]; readonly history: number } {
  const creating = (deployment.pending_operations ?? []).filter(isOurCreate).map(({ resource }) => resource);
  const isHistory = ({ urn, type, inputs }: Resource) => {
    const held = current.get(urn);
    const kind = kindOfType(type);
    if (held === undefined || kind === undefined) return false;
    if (!isUnresolved(held.outputs)) return isDeepStrictEqual(compared(held.inputs), compared(inputs));
    const sent = readMark(inputs?.[MARK]);
    return sent === undefined || sent.mark === recordIn(kind, held.outputs ?? {}, held.id)?.mark;
  };
  const open = creating.filter((resource) => !isHistory(resource));
  return { open, history: creating.length - open.length };
}

/** The arguments that make the object. Two secret ones never compare as equal: each encryption differs. */
function compared(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs ?? {})
      .filter(([name]) => !name.startsWith("__") && name !== "existingId")
      .map(([name, value]) => [name, holdsSecret(value) ? Symbol(name) : value]),
  );
}

export function isOurCreate({ resource, type }: PendingOperation): boolean {
  return type === "creating" && kindOfType(resource.type) !== undefined;
}

/** Each set that the state or the engine's record has, as it is to be saved, with the facts about its members. */
function setsIn(deployment: Deployment, current: ReadonlyMap<string, Resource>, noted: Notes) {
  const since = deployment.manifest?.time ?? "";
  const saved = [...current.values()]
    .filter(({ type }) => setOfType(type) !== undefined)
    .map((resource) => ({ resource, members: unresolvedMembers(resource) }));
  const inFlight = (deployment.pending_operations ?? []).flatMap(({ resource, type }) => {
    const held = current.get(resource.urn);
    const isSent = type === "updating" || (type === "creating" && held === undefined);
    if (setOfType(resource.type) === undefined || !isSent) return [];
    const members = membersInFlight(conversionEvent, resource, held, noted, since);
    return [{ resource: held ?? withoutMembers(resource, deployment), members }];
  });
  return [...Map.groupBy([...saved, ...inFlight], ({ resource }) => resource.urn).values()].map((those) => ({
    // Of several runs that were killed while they created the set, the latest has its arguments.
    resource: (those.find(({ resource }) => current.has(resource.urn)) ?? (those.at(-1) as (typeof those)[number]))
      .resource,
    members: those.flatMap(({ members }) => members),
  }));
}

/** A set that was being created, as it is saved with nothing created yet. */
function withoutMembers(resource: Resource, deployment: Deployment): Resource {
  return { ...resource, outputs: { ...visible(resource), ...accountIn(deployment), eventIds: {} } };
}

/** What the state holds as unresolved. */
function unresolvedMembers({ urn: setUrn, inputs, outputs }: Resource): PendingCreate[] {
  const { eventIds, unresolved } = readStoredSet(outputs ?? {});
  return [...unresolved].map(([key, record]) => ({
    urn: memberOf(setUrn, key),
    kind: conversionEvent.name,
    record,
    known: "state",
    held: heldIn(eventIds.get(key), inputs),
    entry: sentAs(asRecord(inputs?.events)[key]),
  }));
}

/** The object whose place another one takes. */
function heldIn(id: string | undefined, inputs: Resource["inputs"]): PendingCreate["held"] {
  return id === undefined ? undefined : { id, isDeleted: inputs?.[DELETES] === true };
}

/**
 * What a run that was killed may have sent of a set. Where a journal of this machine has notes of that run about the set, it has one
 * about each create that was sent; where it has none, each may have been.
 * @param pending as the run would have saved it. @param current as the state holds it, where it does.
 */
function membersInFlight(
  kind: Kind,
  pending: Resource,
  current: Resource | undefined,
  noted: Notes,
  since: string,
): PendingCreate[] {
  const declared = readDeclaredSet(pending.inputs ?? {});
  const stored = readStoredSet(current?.outputs ?? {});
  const ofSet = readMark(pending.inputs?.[MARK]);
  const notesAbout = (urn: string): CreateRecord[] => {
    const { key = "" } = splitMember(urn);
    const isOfThisRun = ({ mark }: CreateRecord) => ofSet === undefined || mark === memberMark(ofSet.mark, key);
    return (noted.get(urn) ?? []).filter(isOfThisRun);
  };
  const isOfThisSet = (urn: string) => urn !== pending.urn && splitMember(urn).of === pending.urn;
  const isNoted = [...noted.keys()].some((urn) => isOfThisSet(urn) && notesAbout(urn).length > 0);
  return [...(declared.events ?? [])].flatMap(([key, given]): PendingCreate[] => {
    const entry = asRecord(given);
    const urn = memberOf(pending.urn, key);
    const note = notesAbout(urn).at(-1);
    const id = stored.eventIds.get(key);
    const values = eventIn(declared, entry);
    const implied = sentMember(kind, values, key, pending, since);
    const saved = stored.unresolved.get(key);
    // By another mark than the state's, it is another create of the same event.
    const isSaved = saved !== undefined && (implied.field === undefined || saved.mark === implied.mark);
    if (entry.existingId !== undefined || isSaved) return [];
    if (id !== undefined && fingerprintOfBody(kind, values) === storedFingerprint(kind, stored, key)) return [];
    if (note === undefined ? isNoted : note.id !== undefined) return [];
    const record = { ...(note ?? implied), what: "It was in flight when a run was killed.", urn };
    const held = heldIn(id, pending.inputs);
    return [{ urn, kind: kind.name, record, known: "engine", held, entry: sentAs(entry) }];
  });
}

function sentAs(entry: unknown): Values {
  const { existingId: _, ...sent } = asRecord(entry);
  return sent;
}

/**
 * A member as the engine's record of its set implies it. A large set is sent for a long time after that was written.
 * @param values its whole arguments.
 */
function sentMember(kind: Kind, values: Values, key: string, { inputs }: Resource, since: string): CreateRecord {
  const ofSet = readMark(inputs?.[MARK]);
  const hidden = new Set(Object.keys(values).filter((property) => holdsSecret(values[property])));
  return {
    key: "",
    mark: ofSet === undefined ? "" : memberMark(ofSet.mark, key),
    field: ofSet?.field,
    fingerprint: hidden.size === 0 ? fingerprintOfBody(kind, values) : "",
    at: since,
    isEarliest: true,
    ...tellingIn(kind, values, hidden),
  };
}

function holdsSecret(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(SECRET_SIGNATURE);
}

/** Without secret values. */
function readable(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(inputs ?? {}).filter(([, value]) => typeof value !== "object"));
}

/** What the state holds under this URN, of a resource or of a member of a set. */
function objectAt(current: ReadonlyMap<string, Resource>, urn: string) {
  const resource = current.get(urn);
  const kind = resource === undefined ? undefined : kindOfType(resource.type);
  if (resource !== undefined && kind !== undefined) {
    return {
      resource,
      key: (identity: string) => journalKeyOf(kind.name, identity),
      id: resource.id,
      name: resource.inputs?.[kind.nameProperty],
      fingerprint: () => fingerprintOfBody(kind, resource.inputs ?? {}),
    };
  }
  const { of, key } = splitMember(urn);
  const holder = current.get(of);
  const set = holder === undefined ? undefined : setOfType(holder.type);
  if (holder === undefined || set === undefined || key === undefined) return undefined;
  const stored = readStoredSet(holder.outputs ?? {});
  const id = stored.eventIds.get(key);
  if (id === undefined) return undefined;
  return {
    resource: holder,
    key: (identity: string) => memberOf(journalKeyOf(set.name, identity), key),
    id,
    name: stored.events.get(key)?.[set.member.nameProperty],
    fingerprint: () => storedFingerprint(set.member, stored, key),
  };
}

/** What a settled create is known by afterwards: its key in the journal, and what an inventory holds. */
export function liveIn(
  { deployment }: ExportedStack,
  urn: string,
): { readonly key: string; readonly live: Live } | undefined {
  const object = objectAt(currentByUrn(deployment.resources ?? []), urn);
  const declared = readDeclared(object?.resource.inputs?.[IDENTITY]);
  if (object?.id === undefined || declared === undefined) return undefined;
  const { key, id, name, fingerprint } = object;
  return {
    key: key(declared.identity),
    live: { id, fingerprint: fingerprint(), ...(typeof name === "string" ? { name } : {}) },
  };
}
