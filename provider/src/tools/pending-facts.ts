/**
 * What is known of creates of unknown outcome: the facts of the state, of the engine's own record of interrupted runs, and of the journals
 * of this machine, put together so that each resource is there once. `pending` lists them, judges answers by them, looks for them
 * and settles them. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, own, type Values, withoutUndefined } from "../base/index.js";
import { knownAdoption, type Member, membersOf } from "../decision/index.js";
import { fingerprintOfBody, type Kind, kindNamed, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  DELETES,
  formerIdsIn,
  isUnresolved,
  MARK,
  memberMark,
  memberOf,
  objectKey,
  readDeclaredSet,
  readMark,
  readStoredSet,
  recordIn,
  sentLast,
  splitMember,
  tellingIn,
} from "../state/index.js";
import { fingerprintIn, holdsSecret, managing, objectsIn, readable, type StoredObject } from "./contents.js";
import {
  currentByUrn,
  type Deployment,
  type ExportedStack,
  type Resource,
  stackOfUrn,
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
  /** Of how many resources the engine's pending creates are settled since: the engine keeps them until somebody clears them. */
  readonly history: number;
  /** The single resources of creates that the engine's record has, as it would have saved them, by URN; the earliest first. */
  readonly inFlight: ReadonlyMap<string, readonly Creating[]>;
  /** The sets that interrupted runs were creating, by URN, as they are saved with nothing created yet, at no account. */
  readonly newSets: ReadonlyMap<string, Resource>;
}

/** A create of a single resource, as the engine noted it before it asked for it. */
export interface Creating {
  readonly kind: Kind;
  readonly resource: Resource;
}

/** The fingerprint of the body that it makes. */
export function bodyOf({ kind, resource }: Creating): string {
  return fingerprintOfBody(kind, resource.inputs ?? {});
}

type Notes = ReadonlyMap<string, readonly CreateRecord[]>;

/**
 * @param notes what the journals of this machine remember of the stack, in the order of sending.
 * @param isSettled whether this machine knows that an adoption has settled a create, which its set still has as unresolved.
 */
export function pendingIn(
  stack: ExportedStack,
  notes: readonly CreateRecord[],
  isSettled: (record: CreateRecord) => boolean = () => false,
): Pending {
  const { resources, time } = stateIn(stack);
  const current = currentByUrn(managing(resources));
  const stored = objectsIn(resources);
  const objects = new Map(stored.flatMap((each) => (each.resource.delete === true ? [] : [[each.urn, each]])));
  const noted: Notes = Map.groupBy(notes, ({ key }) => aboutWhom(key).urn);
  const noteBy = new Map(notes.map((note) => [note.mark, note]));
  /** In a run in which something else failed, so that the engine has not removed the unresolved resource yet. */
  const isTakenOver = ({ urn, resource, record }: StoredObject) => {
    const made = record && noteBy.get(record.mark)?.id;
    return resource.delete === true && made !== undefined && objects.get(urn)?.id === made;
  };
  const { creating, sets, history } = inFlightIn(stack.deployment, current, noted);
  const inFlight = Map.groupBy(creating, ({ resource }) => resource.urn);
  const facts = [
    ...stored
      .filter((each) => !isTakenOver(each))
      .flatMap(unresolvedIn)
      .filter(({ record }) => noteBy.has(record.mark) || !isSettled(record)),
    ...[...inFlight].flatMap(([urn, those]) => sentIn(those, current.get(urn), noted.get(urn) ?? [])),
    ...sets.flatMap((set) => {
      const isOnly = sets.every((each) => each === set || each.urn !== set.urn);
      return membersInFlight(set, current.get(set.urn), noted, { since: time, isOnly });
    }),
  ].map((fact) => {
    const note = noteBy.get(fact.record.mark);
    return { ...fact, record: { ...sentLast(fact.record, note ? [note] : []), id: note?.id } };
  });
  // A resource that was renamed since has its create under its new name.
  const marks = new Set(facts.map(({ record }) => record.mark));
  const all = [...facts, ...notes.filter(({ mark }) => !marks.has(mark)).map((note) => notedOf(note, objects))];
  const held = new Set([...objects.values()].map(({ kind, id = "" }) => objectKey(kind.name, id)));
  // A note may have the name that its resource, or the stack, had before.
  const isHeld = ({ urn, kind, known, record }: PendingCreate) =>
    isOf(objects.get(urn), record) ||
    (known === "journal" && record.id !== undefined && held.has(objectKey(kind, record.id)));
  const left = all.filter((each) => each.known === "state" || !isHeld(each));
  const names = new Set(resources.map((each) => stackOfUrn(each.urn)));
  const isOfFormerName = ({ urn, known }: PendingCreate) =>
    known === "journal" && names.size > 0 && !names.has(stackOfUrn(urn));

  const open: PendingCreate[] = [];
  const created: PendingCreate[] = [];
  for (const those of Map.groupBy(left, ({ urn }) => urn).values()) {
    const { asked, others } = asOne(those, isOfFormerName);
    if (asked !== undefined) open.push(withFormerNames(asked, noteBy, current));
    created.push(...others);
  }
  // Of several runs that were killed while they created a set, the earliest has its arguments.
  const newSets = sets
    .toReversed()
    .map((set) => [set.urn, { ...set, outputs: { ...visible(set), eventIds: {} } }] as const);
  return { open, created, history, inFlight, newSets: new Map(newSets) };
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
 * What is known of one resource's creates as one question. What the state holds goes before what the engine's record implies, that before
 * what only a journal has; of several runs the earliest whose id nobody knows. Every further one without an id is asked about with it: each may
 * have arrived. What has an id, and is not in the state, is left for the next run, unless that one does not see it.
 * @param isOfFormerName whether a journal has it under a name that the stack no longer has.
 */
function asOne(
  all: readonly PendingCreate[],
  isOfFormerName: (create: PendingCreate) => boolean,
): { readonly asked?: PendingCreate; readonly others: PendingCreate[] } {
  // Without marks, what was sent distinguishes one create from another.
  const identityOf = ({ record: { mark, name, facts, fingerprint } }: PendingCreate) =>
    mark === "" ? JSON.stringify([name, facts, fingerprint]) : mark;
  const those = [...Map.groupBy(all, identityOf).values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : {
          ...first,
          record: sentLast(
            first.record,
            others.map(({ record }) => record),
          ),
        },
  );
  const isAsSent = ({ record, creating }: PendingCreate) =>
    creating !== undefined && record.fingerprint === bodyOf(creating);
  const unknown = those.filter(({ record }) => idOf(record) === undefined);
  const best =
    those.find(({ known }) => known === "state") ??
    unknown[0] ??
    those.find((each) => each.known === "engine" && !isAsSent(each)) ??
    those.find(isOfFormerName);
  const others = those.filter((each) => each !== best && each.known !== "state" && !unknown.includes(each));
  const also = unknown.filter((each) => each !== best).map(({ record }) => record);
  return {
    ...(best && { asked: { ...best, also } }),
    others: others.map((each) => (isAsSent(each) ? each : { ...each, creating: undefined })),
  };
}

/** With the names that its records have it by, if nothing has those now. */
function withFormerNames(
  create: PendingCreate,
  noteBy: ReadonlyMap<string, CreateRecord>,
  current: ReadonlyMap<string, Resource>,
): PendingCreate {
  const names = recordsOf(create).flatMap(({ urn, mark }) => {
    const note = noteBy.get(mark);
    return [urn, note && aboutWhom(note.key).urn].filter((name) => name !== undefined);
  });
  const formerly = [...new Set(names)].filter((urn) => urn !== create.urn && !current.has(splitMember(urn).of));
  return formerly.length === 0 ? create : { ...create, formerly };
}

function notedOf(record: CreateRecord, objects: ReadonlyMap<string, StoredObject>): PendingCreate {
  const { urn, kind } = aboutWhom(record.key);
  const { id, resource, in: place } = objects.get(urn) ?? {};
  const formerIds = place === undefined ? [] : formerIdsIn(place.set, place.key);
  return { urn, kind, record, known: "journal", held: formerObject(id, resource?.inputs), formerIds };
}

/**
 * Whether the state holds what this create made, as the next run's diff finds out too. What `--replace` asked for has the same
 * arguments as the object whose place it was to take.
 */
function isOf(object: StoredObject | undefined, { id, fingerprint, replaces }: CreateRecord): boolean {
  if (object?.id === undefined) return false;
  if (id !== undefined) return id === object.id;
  // Two bodies that nobody knows are not the same.
  return object.id !== replaces && fingerprint !== "" && fingerprint === fingerprintIn(object);
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
  const isOfBody = (each: Creating, { fingerprint }: CreateRecord) => fingerprint === bodyOf(each);
  for (const fits of [isOfBody, () => true]) {
    for (const each of creating.toReversed()) {
      if (noteOf.has(each) || markIn(each) !== undefined) continue;
      const at = left.findLastIndex((note) => fits(each, note));
      if (at >= 0) noteOf.set(each, left.splice(at, 1)[0]);
    }
  }
  const held = isUnresolved(former?.outputs) ? undefined : formerObject(former?.id, former?.inputs);
  const sent = creating.map((each): PendingCreate => {
    const { kind, resource } = each;
    const mark = markIn(each);
    const note = mark === undefined ? noteOf.get(each) : notes.findLast((one) => one.mark === mark.mark);
    const telling = tellingIn(kind, readable(resource.inputs), new Set());
    const implied = { ...telling, mark: "", key: "", at: "", fingerprint: "", ...mark };
    return {
      urn: resource.urn,
      kind: kind.name,
      record: { ...implied, ...note },
      known: "engine",
      held,
      creating: each,
    };
  });
  // What a search has not found is sent again with the mark that the state has.
  const [again] = sent;
  const waiting = again && recordIn(kindNamed(again.kind), former?.outputs ?? {}, former?.id);
  if (again === undefined || waiting?.field === undefined) return sent;
  return [{ ...again, record: { ...waiting, isEarliest: true }, creating: undefined }, ...sent];
}

/**
 * The creates that the engine's record has, the earliest first: of single resources, and the sets whose members may have been sent, as
 * the run would have saved them. History is what a later run has settled. A single resource: the state holds it as unresolved, unless by another
 * mark, or with the create's arguments; where a journal does not say that it was to take the place of that very object, nobody can see that
 * `--replace` asked for it. A set: the state has it; if `--replace` asked for it, nobody can see that either.
 */
function inFlightIn({ pending_operations }: Deployment, current: ReadonlyMap<string, Resource>, noted: Notes) {
  // The engine puts the latest first (measured with 3.259.0).
  const all = (pending_operations ?? []).toReversed();
  const creating = all.flatMap(({ type, resource }): Creating[] => {
    const kind = kindOfType(resource.type);
    // An adoption sends no create. What is secret may be no id.
    const isCreate = type === "creating" && knownAdoption(readable(resource.inputs)) === undefined;
    return isCreate && kind !== undefined ? [{ kind, resource }] : [];
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
  const ofSets = all.filter(
    ({ type, resource }) => setOfType(resource.type) !== undefined && ["creating", "updating"].includes(type),
  );
  const isSetHistory = ({ type, resource }: (typeof all)[number]) => type === "creating" && current.has(resource.urn);
  const settled = [...creating.filter(isHistory), ...ofSets.filter(isSetHistory)];
  return {
    creating: creating.filter((each) => !isHistory(each)),
    sets: ofSets.filter((each) => !isSetHistory(each)).map(({ resource }) => resource),
    history: new Set(settled.map(({ resource }) => resource.urn)).size,
  };
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
 * What a run that was killed may have sent of a set. Where a journal of this machine has notes of that run about the set, it has one
 * about each create that was sent; where it has none, each may have been. A note is known to be of that run if it is later than all that was
 * saved: no other run has begun after it. The runs that create a new set have marks of their own, by which their notes are known too.
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
  // What waits may have been looked for, and sent again; not where the program names the object of something else.
  const isSent = ({ action, isDeclared, unresolved }: Member) =>
    isDeclared &&
    (["create", "replace"].includes(action.do) ||
      (action.do === "wait" && action.adopts === undefined && unresolved?.field !== undefined));
  const stored = readStoredSet(current?.outputs ?? {});
  const sent = membersOf(kind, stored, readDeclaredSet(inputs)).filter(isSent);
  // What is sent again keeps its mark.
  const markOf = ({ key, unresolved }: Member) =>
    unresolved?.mark ?? (ofSet === undefined ? "" : memberMark(ofSet.mark, key));
  const noteAbout = (member: Member) => {
    const mark = markOf(member);
    return noted.get(memberOf(setUrn, member.key))?.findLast((note) => mark === "" || note.mark === mark);
  };
  const isOfRun = (note: CreateRecord | undefined) =>
    note !== undefined &&
    (ofSet === undefined
      ? isOnly && Date.parse(note.at) > Date.parse(since)
      : current === undefined || Date.parse(note.at) > Date.parse(since));
  const isNoted = sent.some((member) => isOfRun(noteAbout(member)));
  return sent.flatMap((member): PendingCreate[] => {
    const { key, id, values, entry, unresolved } = member;
    const note = noteAbout(member);
    if (note === undefined ? isNoted : note.id !== undefined) return [];
    const hidden = new Set(Object.keys(values).filter((property) => holdsSecret(values[property])));
    // A large set is sent for a long time after the engine has noted it.
    const implied: CreateRecord = {
      key: note?.key ?? "",
      mark: markOf(member),
      field: unresolved?.field ?? ofSet?.field,
      fingerprint: hidden.size === 0 ? fingerprintOfBody(kind, values) : "",
      at: since,
      isEarliest: true,
      ...tellingIn(kind, values, hidden),
    };
    const urn = memberOf(setUrn, key);
    const record = { ...((isNoted && note) || implied), what: "It was in flight when a run was killed.", urn };
    const formerIds = formerIdsIn(stored, key);
    return [{ urn, kind: kind.name, record, known: "engine", held: formerObject(id, inputs), formerIds, entry }];
  });
}
