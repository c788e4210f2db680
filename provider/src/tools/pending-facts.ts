/**
 * What is known of creates of unknown outcome: the facts of the state, of the engine's own record of interrupted runs, and of the journals
 * of this machine, put together so that each resource is there once. `pending` lists them, judges answers by them, looks for them
 * and settles them. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, own, type Values, withoutUndefined } from "../base/index.js";
import { type Member, membersOf } from "../decision/index.js";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  DELETES,
  formerIdsIn,
  IDENTITY,
  isUnresolved,
  journalKeyOf,
  MARK,
  memberMark,
  memberOf,
  readBriefing,
  readDeclaredSet,
  readMark,
  readStoredSet,
  recordIn,
  splitMember,
  storedFingerprint,
  tellingIn,
} from "../state/index.js";
import type { Live } from "../store/index.js";
import {
  currentByUrn,
  type Deployment,
  type ExportedStack,
  holdsSecret,
  managing,
  objectsIn,
  type Resource,
  readable,
  type StoredObject,
  stateIn,
  visible,
} from "./stack-export.js";

export interface PendingCreate {
  /** Of a set's member, with its key behind it. */
  readonly urn: string;
  /** Those that its records have it by, from before a rename, if nothing has them now: messages may have said them. */
  readonly formerly?: readonly string[];
  readonly kind: Kind["name"];
  /** The create, as the strongest of the records that know it has it. */
  readonly record: CreateRecord;
  /** Further creates of the same resource, of other interrupted runs, whose ids nobody knows. Each may have made its object. */
  readonly also?: readonly CreateRecord[];
  /**
   * The state holds it as unresolved; or the engine's own record of an interrupted run implies it, and holds what is needed to take it
   * into the state; or only a journal of this machine has it.
   */
  readonly known: "state" | "engine" | "journal";
  /** The object that the state holds under this URN, whose place this one takes. */
  readonly held?: { readonly id: string; readonly isDeleted: boolean } | undefined;
  /** Of a set's member: ids that it has or had, as the state says. A search does not take them for what this create made. */
  readonly formerIds?: readonly string[];
  /** Of a set's member that the state or the engine's record has: its entry as it was sent. */
  readonly entry?: Values;
  /** Of a single resource that the engine's record has: as it has it. Of one that was created, if the next run takes it over as that. */
  readonly creating?: Creating | undefined;
}

export interface Pending {
  /** Those that nobody knows the outcome of, and those that were created with other arguments than are wanted now. */
  readonly open: readonly PendingCreate[];
  /** Those that the next `pulumi up` takes over where they are declared as they were, since a journal knows their ids. */
  readonly created: readonly PendingCreate[];
  /** How many of the engine's pending creates are settled since: the engine keeps them until somebody clears them. */
  readonly history: number;
  /** The single resources of creates that the engine's record has, as it would have saved them, by URN; the earliest last. */
  readonly inFlight: ReadonlyMap<string, readonly Creating[]>;
  /** The sets that interrupted runs were creating, by URN, as they are saved with nothing created yet, at no account. */
  readonly newSets: ReadonlyMap<string, Resource>;
}

/** A create of a single resource, as the engine noted it before it asked for it. */
export interface Creating {
  readonly kind: Kind;
  readonly resource: Resource;
}

type Notes = ReadonlyMap<string, readonly CreateRecord[]>;

/** @param notes what the journals of this machine remember of the stack, in the order of sending. */
export function pendingIn(stack: ExportedStack, notes: readonly CreateRecord[]): Pending {
  const { deployment } = stack;
  const { resources: stored, time } = stateIn(stack);
  const resources = managing(stored);
  const current = currentByUrn(resources);
  const objects = objectsIn(resources);
  const noted: Notes = Map.groupBy(notes, ({ key }) => aboutWhom(key).urn);
  const { open: sent, history } = creatingIn(deployment, current, noted);
  const { sets, history: ofSets } = sentSetsIn(deployment, current);
  const inFlight = Map.groupBy(sent, ({ resource }) => resource.urn);
  const facts = [
    ...objects.flatMap(unresolvedIn),
    ...[...inFlight].flatMap(([urn, those]) => sentIn(those, current.get(urn), noted.get(urn) ?? [])),
    ...sets.flatMap((set) => {
      const isOnly = sets.every((each) => each === set || each.urn !== set.urn);
      return membersInFlight(set, current.get(set.urn), noted, { since: time, isOnly });
    }),
  ];
  const idBy = new Map(notes.flatMap(({ mark, id }) => (id === undefined ? [] : [[mark, id] as const])));
  const known = [...Map.groupBy(facts, ({ urn }) => urn)].map(([urn, those]) =>
    together(those, noted.get(urn) ?? [], idBy),
  );
  const isAsSent = ({ record, creating }: PendingCreate) =>
    creating !== undefined && record.fingerprint === fingerprintOfBody(creating.kind, creating.resource.inputs ?? {});
  /** The journal alone says what is left to ask: it knows what the engine's record has. */
  const isOfJournal = (create: PendingCreate) =>
    create.known === "engine" &&
    idOf(create.record) !== undefined &&
    ((create.also ?? []).length > 0 || isAsSent(create));
  const open = known.filter((create) => !isOfJournal(create));
  const created: PendingCreate[] = [];
  const creatingBy = new Map(facts.filter(isAsSent).map(({ record, creating }) => [record.mark, creating]));
  // A resource that was renamed since has its create under its new name.
  const marks = new Set(open.flatMap(recordsOf).map(({ mark }) => mark));
  const currentObjects = new Map(
    objects.filter(({ resource }) => resource.delete !== true).map((object) => [object.urn, object]),
  );
  for (const [urn, all] of noted) {
    const object = currentObjects.get(urn);
    const left = all.filter((record) => !marks.has(record.mark) && !isOf(object, record));
    const held = object?.id === undefined ? undefined : { id: object.id, isDeleted: false };
    const formerIds = object?.in === undefined ? [] : formerIdsIn(object.in.set, object.in.key);
    const about = { urn, known: "journal", held, formerIds } as const;
    // One of which nobody knows is asked about, whatever another run has made of the same resource.
    const [unknown, ...also] = left.filter(({ id }) => id === undefined);
    if (unknown !== undefined) open.push({ ...about, kind: aboutWhom(unknown.key).kind, record: unknown, also });
    for (const record of left)
      if (record.id !== undefined)
        created.push({ ...about, kind: aboutWhom(record.key).kind, record, creating: creatingBy.get(record.mark) });
  }
  const saved = (set: Resource) => ({
    ...set,
    outputs: { ...visible(set), eventIds: {} },
  });
  const notesByMark = Map.groupBy(notes, ({ mark }) => mark);
  const named = (create: PendingCreate): PendingCreate => {
    const names = recordsOf(create).flatMap(({ urn, mark }) => [
      ...(urn === undefined ? [] : [urn]),
      ...(notesByMark.get(mark) ?? []).map(({ key }) => aboutWhom(key).urn),
    ]);
    const isFormer = (urn: string) => urn !== create.urn && !current.has(splitMember(urn).of);
    const formerly = [...new Set(names)].filter(isFormer);
    return formerly.length === 0 ? create : { ...create, formerly };
  };
  // Of several runs that were killed while they created a set, the earliest has its arguments.
  return {
    open: open.map(named),
    created,
    history: history + ofSets,
    inFlight,
    newSets: new Map(sets.map((set) => [set.urn, saved(set)])),
  };
}

/** The URN that each note's resource has now, as far as a create that it is about says so. */
export function namesNow(pending: readonly PendingCreate[]): (note: CreateRecord) => string {
  const byMark = new Map(pending.flatMap((create) => recordsOf(create).map(({ mark }) => [mark, create.urn] as const)));
  return ({ mark, key }) => byMark.get(mark) ?? aboutWhom(key).urn;
}

/** A create and all that other runs sent of the same resource. */
export function recordsOf({ record, also = [] }: PendingCreate): CreateRecord[] {
  return [record, ...also];
}

/** As a journal of this machine has it, or the state. */
export function idOf({ id, createdAs }: CreateRecord): string | undefined {
  return id ?? createdAs;
}

/**
 * The facts about one resource as one create. What the state holds goes before what the engine's record implies; of several
 * interrupted runs the earliest whose id nobody knows, which the engine notes last (measured with 3.259.0). An id comes from the journal's
 * note of that very create, which alone knows answers. Every further one is kept: each may have arrived, and which of them made an object
 * is asked when that is settled.
 */
function together(
  facts: readonly PendingCreate[],
  notes: readonly CreateRecord[],
  idBy: ReadonlyMap<string, string>,
): PendingCreate {
  const all = facts.map((fact) => ({ ...fact, record: { ...fact.record, id: idBy.get(fact.record.mark) } }));
  const unknown = all.findLast(({ record }) => record.id === undefined);
  const best = all.find(({ known }) => known === "state") ?? unknown ?? (all.at(-1) as PendingCreate);
  // Without marks, what was sent distinguishes one create from another.
  const identityOf = ({ mark, name, facts, fingerprint }: CreateRecord) =>
    mark === "" ? JSON.stringify([name, facts, fingerprint]) : mark;
  const others = new Map([...all.map(({ record }) => record), ...notes].map((record) => [identityOf(record), record]));
  others.delete(identityOf(best.record));
  return { ...best, also: [...others.values()].filter(({ id }) => id === undefined) };
}

/**
 * Whether the state holds what this create made, as the next run's diff finds out too. What `--replace` asked for has the same
 * arguments as the object whose place it was to take.
 */
function isOf(object: StoredObject | undefined, { id, fingerprint, replaces }: CreateRecord): boolean {
  if (object?.id === undefined) return false;
  return id === undefined ? object.id !== replaces && fingerprint === fingerprintIn(object) : id === object.id;
}

function fingerprintIn({ kind, resource, in: place }: StoredObject): string {
  return place === undefined
    ? fingerprintOfBody(kind, resource.inputs ?? {})
    : storedFingerprint(kind, place.set, place.key);
}

function unresolvedIn({ kind, urn, record, resource, in: place, id }: StoredObject): PendingCreate[] {
  // `--replace` of an unresolved resource leaves it there twice.
  if (record === undefined || (place !== undefined && resource.delete === true)) return [];
  const create: PendingCreate = { urn, kind: kind.name, record, known: "state" };
  if (place === undefined) return [create];
  // After a failed update the engine's inputs are the former ones, which may lack the event: the record says the most of it.
  const told = { ...record.facts, ...withoutUndefined({ [kind.nameProperty]: record.name }) };
  const { existingId: _, advertiserId: __, ...entry } = asRecord(own(resource.inputs?.events, place.key) ?? told);
  return [{ ...create, held: formerObject(id, resource.inputs), formerIds: formerIdsIn(place.set, place.key), entry }];
}

function formerObject(id: string | undefined, inputs: Resource["inputs"]): PendingCreate["held"] {
  return id === undefined ? undefined : { id, isDeleted: inputs?.[DELETES] === true };
}

/**
 * What the engine's record of interrupted runs says of the creates of one resource, each with what the journal knows of that very one. A note
 * is of one create at most: of those without a mark, it is that with the note's body, otherwise the latest.
 */
function sentIn(
  creating: readonly Creating[],
  former: Resource | undefined,
  notes: readonly CreateRecord[],
): PendingCreate[] {
  const markIn = ({ resource }: Creating) => readMark(resource.inputs?.[MARK]);
  const marks = new Set(creating.map((each) => markIn(each)?.mark));
  const left = notes.filter(({ mark }) => !marks.has(mark));
  const noteOf = new Map<Creating, CreateRecord | undefined>();
  const unmarked = creating.filter((each) => markIn(each) === undefined);
  const take = (each: Creating, fits: (note: CreateRecord) => boolean) => {
    const at = noteOf.has(each) ? -1 : left.findLastIndex(fits);
    if (at >= 0) noteOf.set(each, left.splice(at, 1)[0]);
  };
  for (const each of unmarked) {
    const body = fingerprintOfBody(each.kind, each.resource.inputs ?? {});
    take(each, ({ fingerprint }) => fingerprint === body);
  }
  for (const each of unmarked) take(each, () => true);
  const held = isUnresolved(former?.outputs) ? undefined : formerObject(former?.id, former?.inputs);
  return creating.map((each) => {
    const { kind, resource } = each;
    const sent = markIn(each);
    const note = sent === undefined ? noteOf.get(each) : notes.findLast(({ mark }) => mark === sent.mark);
    const { key = "", at = "", fingerprint = "", replaces } = note ?? {};
    const telling = tellingIn(kind, readable(resource.inputs), new Set());
    const by = { mark: sent?.mark ?? note?.mark ?? "", field: sent?.field ?? note?.field };
    const record = { ...telling, ...by, key, at, fingerprint, replaces };
    return { urn: resource.urn, kind: kind.name, record, known: "engine", held, creating: each };
  });
}

/**
 * The creates that the engine's record has. History is what a later run has settled: the state holds the resource as unresolved,
 * unless by another mark, or with the create's arguments. Where a journal does not tell that it was to take the place of just that
 * object, nobody can see that `--replace` asked for it.
 */
function creatingIn(
  deployment: Deployment,
  current: ReadonlyMap<string, Resource>,
  noted: Notes,
): { readonly open: Creating[]; readonly history: number } {
  const creating = (deployment.pending_operations ?? []).flatMap(({ type, resource }): Creating[] => {
    const kind = kindOfType(resource.type);
    return type === "creating" && kind !== undefined ? [{ kind, resource }] : [];
  });
  const isHistory = ({ kind, resource: { urn, inputs } }: Creating) => {
    const held = current.get(urn);
    if (held === undefined) return false;
    const sent = readMark(inputs?.[MARK]);
    if (isUnresolved(held.outputs)) {
      return sent === undefined || sent.mark === recordIn(kind, held.outputs ?? {}, held.id)?.mark;
    }
    const isToReplace = noted.get(urn)?.some(({ replaces }) => replaces === held.id) === true;
    return !isToReplace && isDeepStrictEqual(compared(held.inputs), compared(inputs));
  };
  const open = creating.filter((each) => !isHistory(each));
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

/**
 * The sets whose members an interrupted run may have sent, as the run would have saved them. History is what the state has: a later run has
 * created it, or `--replace` asked for it, and nobody can see which.
 */
function sentSetsIn({ pending_operations }: Deployment, current: ReadonlyMap<string, Resource>) {
  const ofSets = (pending_operations ?? []).filter(({ resource }) => setOfType(resource.type) !== undefined);
  const isHistory = ({ type, resource }: (typeof ofSets)[number]) => type === "creating" && current.has(resource.urn);
  const isOpen = (each: (typeof ofSets)[number]) => ["creating", "updating"].includes(each.type) && !isHistory(each);
  return {
    sets: ofSets.filter(isOpen).map(({ resource }) => resource),
    history: ofSets.filter(isHistory).length,
  };
}

/**
 * What a run that was killed may have sent of a set. Where a journal of this machine has notes of that run about the set, it has one
 * about each create that was sent; where it has none, each may have been. A note is known to be of that run by its mark; without one, if
 * it is later than all that was saved: no other run has begun after it.
 * @param current as the state holds it, where it does. @param since when the state was saved.
 * @param isOnly whether no other interrupted run had begun this set.
 */
function membersInFlight(
  { urn: setUrn, type, inputs = {} }: Resource,
  current: Resource | undefined,
  noted: Notes,
  { since, isOnly }: { readonly since: string; readonly isOnly: boolean },
): PendingCreate[] {
  const kind = setOfType(type)?.member as Kind;
  const ofSet = readMark(inputs[MARK]);
  const markOf = (key: string) => (ofSet === undefined ? "" : memberMark(ofSet.mark, key));
  const noteAbout = (key: string) =>
    noted.get(memberOf(setUrn, key))?.findLast(({ mark }) => ofSet === undefined || mark === markOf(key));
  // What waits may have been looked for, and sent again; not where the program names the object of something else.
  const isSent = ({ action, isDeclared }: Member) =>
    isDeclared && (["create", "replace"].includes(action.do) || (action.do === "wait" && action.adopts === undefined));
  const stored = readStoredSet(current?.outputs ?? {});
  const sent = membersOf(kind, stored, readDeclaredSet(inputs)).filter(isSent);
  const isOfRun = (note: CreateRecord | undefined) =>
    note !== undefined && (ofSet !== undefined || (isOnly && Date.parse(note.at) > Date.parse(since)));
  const isNoted = sent.some(({ key }) => isOfRun(noteAbout(key)));
  return sent.flatMap(({ key, id, values, entry, unresolved }): PendingCreate[] => {
    const note = noteAbout(key);
    // By another mark than the state's, it is another create of the same event.
    const isSaved = unresolved !== undefined && (ofSet === undefined || unresolved.mark === markOf(key));
    if (isSaved || (note === undefined ? isNoted : note.id !== undefined)) return [];
    const hidden = new Set(Object.keys(values).filter((property) => holdsSecret(values[property])));
    // A large set is sent for a long time after the engine has noted it.
    const implied: CreateRecord = {
      key: "",
      mark: markOf(key),
      field: ofSet?.field,
      fingerprint: hidden.size === 0 ? fingerprintOfBody(kind, values) : "",
      at: since,
      isEarliest: true,
      ...tellingIn(kind, values, hidden),
    };
    const urn = memberOf(setUrn, key);
    const record = { ...(note ?? implied), what: "It was in flight when a run was killed.", urn };
    const formerIds = formerIdsIn(stored, key);
    return [{ urn, kind: kind.name, record, known: "engine", held: formerObject(id, inputs), formerIds, entry }];
  });
}

/** What settled creates are known by afterwards: the key in the journal, and what an inventory holds. */
export function livesIn(
  stack: ExportedStack,
  urns: ReadonlySet<string>,
): { readonly key: string; readonly live: Live }[] {
  return objectsIn(stateIn(stack).resources).flatMap((object) => {
    const { kind, urn, resource, in: place, id } = object;
    const identity = readBriefing(resource.inputs?.[IDENTITY])?.identity;
    if (!urns.has(urn) || resource.delete === true || id === undefined || identity === undefined) return [];
    const set = setOfType(resource.type);
    const ofResource = journalKeyOf(set?.name ?? kind.name, identity);
    const name = (place === undefined ? resource.inputs : place.set.events.get(place.key))?.[kind.nameProperty];
    const live = { id, fingerprint: fingerprintIn(object), ...(typeof name === "string" ? { name } : {}) };
    return [{ key: place === undefined ? ofResource : memberOf(ofResource, place.key), live }];
  });
}
