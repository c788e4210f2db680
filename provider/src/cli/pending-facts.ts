/**
 * Which creates have an unknown outcome: what the state has, what only this machine's journals have, and what only
 * Pulumi's record of an interrupted run has; each create once, whatever its name is now. Pure.
 */
import {
  type JournalEntry,
  type OpenCreate,
  openElsewhere,
  pluginProvider,
  type StackJournal,
  type StackPlace,
} from "../journal/index.js";
import { fingerprintOfBody, resourceOfType } from "../kinds/index.js";
import { plannedObjects } from "../plan/index.js";
import { mayBeSameAccount } from "../settings/index.js";
import {
  ACCOUNT,
  type CreateRecord,
  identifyingIn,
  isOfPlugin,
  isSinceRun,
  keyOfUrn,
  kindOf,
  leftLiveIn,
  markIn,
  markOf,
  markOfCreate,
  objectKey,
  RUN,
  readDeclared,
  readStored,
  refOfKey,
  resolvedIn,
  sendingOf,
} from "../state/index.js";
import {
  type ExportedObject,
  type ExportedStack,
  holdsSecret,
  inNaturalOrder,
  isSecret,
  objectsIn,
  type Resource,
  refIn,
} from "./contents.js";

export interface Create {
  ref: ExportedObject["ref"];
  /** With an id, it was created. */
  record: CreateRecord & Partial<JournalEntry>;
  /** Who knows about it; `another stack`: its journal; `pulumi`: its record of an interrupted run, of any machine. */
  knownBy: "state" | "journal" | "another stack" | "pulumi";
  /** The one that has it, or will have it. */
  journal: StackPlace;
  /** For an open create: the ids that its resource or member has or had. None of them can be this create's. */
  formerIds?: readonly string[];
  /** Of an outdated one, what the state has under its key from another create. */
  held?: string | undefined;
}

export interface Facts {
  place: StackPlace;
  /** Another one once a run of the stack has changed its state, or what its journals have open. */
  version: string;
  /** Whether Pulumi has a record of creates that were interrupted. */
  isRecorded: boolean;
  /** Creates of this stack that need an answer, in natural order. */
  open: readonly Create[];
  /** Creates of other stacks of the project that no state is known to have. */
  elsewhere: readonly Create[];
  /** What earlier runs created, and the state does not have. */
  made: readonly Create[];
  /** What a journal has as open, and the state has: it is brought up to date. */
  outdated: readonly Create[];
  /** All that this machine's journal of the stack has. */
  notes: readonly Create[];
  /** By `objectKey`: the resource that has an object in the state. */
  inState: ReadonlyMap<string, Create["ref"]>;
}

/** @param journals all of this machine. @param isSameAccount whether two recorded accounts are one. */
export function factsIn(
  stack: ExportedStack,
  journals: readonly StackJournal[],
  place: StackPlace,
  isSameAccount = mayBeSameAccount,
): Facts {
  const objects = objectsIn(stack.resources);
  const byId = Map.groupBy(objects, ({ kind, id = "" }) => objectKey(kind.name, id));
  const current = objects.filter(({ resource }) => resource.delete !== true);
  const byKey = new Map(current.map((each) => [each.ref.key, each]));
  const unresolved = current.flatMap(({ ref, record, resource }): Create[] => {
    if (!record) return [];
    const journal = journalOf(ref, resource, place);
    return [{ ref, record, knownBy: "state", journal }];
  });
  const unresolvedMarks = new Set(unresolved.map(({ record }) => record.mark));
  /** Those that a person has found to be created, as `sendingOf` names them. */
  const resolved = new Set(
    stack.resources.flatMap(({ outputs = {} }) => resolvedIn(outputs)),
  );

  /**
   * What the state shows about a create of a journal:
   * - `seen`: its object, or that a person has found it;
   * - `superseded`: in its place another create's object, so that nobody is asked;
   * - `elsewhere`: nothing, and it is another stack's;
   * - `sent`, `made`: nothing about a create of this stack, without and with an id;
   * - `skipped`: it is listed without the journal, or no more;
   * - `ended`: it is not asked, since a run has seen what became of it.
   */
  const fateOf = (note: Create) => {
    const { ref, record } = note;
    if (!isUnseen(note)) return "ended";
    if (resolved.has(sendingOf(record))) return "seen";
    const found = byId.get(objectKey(ref.kind, record.id ?? "none")) ?? [];
    const { account } = record;
    if (found.some(({ resource }) => isSameAccount(account, resource.outputs?.[ACCOUNT])))
      return "seen";
    if (note.knownBy === "another stack") return "elsewhere";
    const held = byKey.get(ref.key);
    if (held?.id !== undefined && held.id !== record.replaces) {
      if (record.id !== undefined) return "skipped";
      // That run was under way when Pulumi's record was read, and has saved what it created.
      return record.atLatest ? "seen" : "superseded";
    }
    if (held?.record || unresolvedMarks.has(record.mark)) return "skipped";
    return record.state === "sent" ? "sent" : "made";
  };

  const all = notesIn(journals, place);
  const {
    seen = [],
    superseded = [],
    elsewhere = [],
    sent = [],
    made = [],
    skipped = [],
    ended = [],
  } = Object.fromEntries(Map.groupBy(all, fateOf));
  const notes = all.filter(({ knownBy }) => knownBy === "journal");
  const endedAt = new Map(
    [...made, ...ended].map(({ ref, record }) => [ref.key, record.at]),
  );
  /** Whether it was made, or somebody has answered, since: what there was before that run says nothing about it. */
  const isAnswered = (create: Recorded) => {
    const { ref, run, markFor } = create;
    // What it was to replace may be replaced by now.
    const marks = [undefined, ...formerIdsOf(create, byKey.get(ref.key))].map(markFor);
    const moments = [...resolved].flatMap((sending) => {
      const [mark = "", moment = ""] = sending.split(" ");
      return marks.includes(mark) ? moment : [];
    });
    moments.push(endedAt.get(ref.key) ?? "");
    return run !== "" && moments.some((moment) => isSinceRun(run, moment));
  };
  // The journal of a run on this machine has each create that it has sent.
  const knownRuns = new Set(journals.flatMap(({ runs }) => runs));
  const recorded = stack.pending
    .toReversed()
    .flatMap((each) => sentIn(each, stack, place))
    .filter((each) => !knownRuns.has(each.run) && !isAnswered(each));
  const open = new Map<string, Create>();
  for (const each of [...recorded, ...sent])
    open.set(each.ref.key, joinedRecords(each, open.get(each.ref.key)));
  for (const each of unresolved) open.set(each.ref.key, each);
  return {
    place,
    version: JSON.stringify([stack.time, skipped, sent, made]),
    isRecorded: stack.pending.some(({ type }) => type === "creating"),
    open: byName(open.values()).map((each) => {
      return { ...each, formerIds: formerIdsOf(each, byKey.get(each.ref.key)) };
    }),
    elsewhere: byName(elsewhere),
    made: byName(made),
    outdated: [
      ...seen,
      ...superseded.map((note) => ({ ...note, held: byKey.get(note.ref.key)?.id })),
    ],
    notes,
    inState: new Map(current.map(({ ref, id = "" }) => [objectKey(ref.kind, id), ref])),
  };
}

function formerIdsOf({ ref, record }: Create, held?: ExportedObject) {
  const left = leftLiveIn(held?.resource.outputs ?? {});
  const own = left.filter(({ key }) => key === ref.member).map(({ id }) => id);
  return [held?.id, record.replaces, ...own].filter((id) => id !== undefined);
}

/** What this machine's journals have of the stack, each key once, and what other stacks of the project have open. */
function notesIn(journals: readonly StackJournal[], place: StackPlace): Create[] {
  const isHere = ({ stack, backend }: StackPlace) =>
    stack === place.stack && backend === place.backend;
  // Each provider has one.
  const noted = journals
    .filter(isHere)
    .flatMap(({ records, runs: _, ...journal }) =>
      [...records.values()].map((record) => noteOf(record, journal, "journal")),
    );
  // An alias may have moved a resource to another provider: what is open there counts.
  const notes = new Map(
    [...noted, ...noted.filter(isUnseen)].map((note) => [note.ref.key, note]),
  );
  const others = journals.filter((journal) => !isHere(journal));
  const ofOthers = openElsewhere(place, others).map(({ elsewhere = place, ...record }) =>
    noteOf(record, elsewhere, "another stack"),
  );
  return [...notes.values(), ...ofOthers];
}

function noteOf(record: OpenCreate, journal: StackPlace, knownBy: Create["knownBy"]) {
  return { ref: refOfKey(record.key, journal.stack), record, knownBy, journal };
}

/** Whether no run has seen what became of it. */
export function isUnseen({ record }: Create) {
  return ["sent", "created", "reported"].includes(String(record.state));
}

function byName(creates: Iterable<Create>) {
  return inNaturalOrder(creates, ({ ref }) => `${ref.short} ${ref.urn}`);
}

/** The journal that is about a resource. */
function journalOf(ref: Create["ref"], { provider = "" }: Resource, place: StackPlace) {
  const [, , , name = ""] = provider.split("::");
  return { ...place, provider: isOfPlugin(ref) ? pluginProvider(name) : undefined };
}

/** What Pulumi's record of an interrupted run has of one create: it was sent, or about to be. */
interface Recorded extends Create {
  /** That run's name; empty if it gave none. */
  run: string;
  /** Its mark, if it was to replace this object. */
  markFor: (replaces: string | undefined) => string;
}

/** If two differ, nobody knows which one was sent: only their name is kept, if they share it. */
function joinedRecords(create: Create, other: Create | undefined): Create {
  const { body, name } = create.record;
  // A body with secrets has no fingerprint, so whether the two differ isn't known.
  if (!other || (body !== "" && body === other.record.body)) return create;
  const record = { ...create.record, body: "", facts: {} };
  if (name !== other.record.name) record.name = undefined;
  return { ...create, record, knownBy: "pulumi" };
}

/** The creates of one operation. @param former the resource in the state. */
function sentIn(
  { type, resource }: ExportedStack["pending"][number],
  { resources, time }: ExportedStack,
  place: StackPlace,
): Recorded[] {
  const { urn, aliases = [], inputs = {} } = resource;
  const of = resourceOfType(resource.type);
  // Of an all-secret set nothing is known.
  if (!of || isSecret(inputs.events)) return [];
  const isSet = "member" in of;
  const former = resources.find(
    (each) => [urn, ...aliases].includes(each.urn) && each.delete !== true,
  );
  // A set that the state has isn't being created. During an update the state has it as before.
  const isNew = type === "creating" && !(isSet && former);
  if (!isNew && !(type === "updating" && isSet)) return [];
  const kind = kindOf(of);
  const objects = plannedObjects(
    kind,
    readStored(of, former?.id, former?.outputs ?? {}),
    readDeclared(of, inputs),
  );
  // Without a changed argument, a run keeps the name of an earlier one, perhaps another machine's. Then the record is as
  // old as the state at least: an answer that was given later counts.
  const isItsOwn = type === "creating" || inputs[RUN] !== former?.inputs?.[RUN];
  const run = isItsOwn ? String(inputs[RUN] ?? "") : time && `${time} `;
  const given = markIn(inputs);
  const ofResource = markOf(place.backend, place.stack, keyOfUrn(of.name, urn));
  // Only objects that the plan would still create can be what the interrupted run sent.
  const sent = objects.filter(
    ({ isDeclared, action }) => isDeclared && ["create", "replace"].includes(action.do),
  );
  return sent.map(({ key, id, values }) => {
    const markFor = (replaces: string | undefined) =>
      markOfCreate(given?.mark, ofResource, isSet ? key : undefined, replaces);
    const secret = new Set(Object.keys(values).filter((name) => holdsSecret(values[name])));
    const record = {
      at: "",
      body: secret.size === 0 ? fingerprintOfBody(kind, values) : "",
      replaces: id,
      ...identifyingIn(kind, values, secret),
      ...given,
      mark: markFor(id),
    };
    const ref = refIn(of, urn, key);
    const journal = journalOf(ref, resource, place);
    return { ref, record, knownBy: "pulumi", journal, run, markFor };
  });
}
