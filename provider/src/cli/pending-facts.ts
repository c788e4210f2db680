/**
 * Finds the creates of unknown outcome: in the state, in this machine's journals, and in the pending operations that
 * Pulumi keeps after an interrupted run. Each create is listed once, even if its resource was renamed. Pure.
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
import { decideObjects } from "../plan/index.js";
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
  sendingId,
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
  /** A record with an id was created. */
  record: CreateRecord & Partial<JournalEntry>;
  /** Where the create was found. `another stack`: in its journal; `pulumi`: in a pending operation, of any machine. */
  knownBy: "state" | "journal" | "another stack" | "pulumi";
  /** The journal that has the create, or will have it. */
  journal: StackPlace;
  /** For an open create: the ids that its resource or member has or had. None of them can be this create's. */
  formerIds?: readonly string[];
  /** For a superseded create: the id that the state has under its key, from another create. */
  held?: string | undefined;
}

export interface Facts {
  place: StackPlace;
  /** Differs once a run has saved the state, or changed the creates that the stack's journals have open. */
  version: string;
  /** Whether the state has pending operations that create. */
  isRecorded: boolean;
  /** Creates of this stack that need an answer, in natural order. */
  open: readonly Create[];
  /** Open creates of the project's other stacks. */
  elsewhere: readonly Create[];
  /** Creates whose objects are known to exist, and are not in the state. */
  made: readonly Create[];
  /** Creates that a journal has as open, while the state accounts for them: the journal is brought up to date. */
  outdated: readonly Create[];
  /** All records in this machine's journals of the stack. */
  notes: readonly Create[];
  /** By `objectKey`: the resource that has an object in the state. */
  inState: ReadonlyMap<string, Create["ref"]>;
}

/** @param journals all of this machine's. @param isSameAccount whether two recorded accounts are one. */
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
  /** Sendings whose outcome the state knows, as `sendingId` names them. */
  const resolved = new Set(
    stack.resources.flatMap(({ outputs = {} }) => resolvedIn(outputs)),
  );

  /**
   * How the state accounts for a create of a journal:
   * - `seen`: the state has the create's object, or knows its outcome;
   * - `superseded`: the state has another create's object in its place, so nobody is asked;
   * - `elsewhere`: not at all; the create is another stack's;
   * - `sent`, `made`: not at all; the create is this stack's, without and with an id;
   * - `skipped`: the state lists the create as unresolved, or the create made an object while the state has another;
   * - `ended`: the record is confirmed or closed.
   */
  const fateOf = (note: Create) => {
    const { ref, record } = note;
    if (!isUnseen(note)) return "ended";
    if (resolved.has(sendingId(record))) return "seen";
    const found = byId.get(objectKey(ref.kind, record.id ?? "none")) ?? [];
    const { account } = record;
    if (found.some(({ resource }) => isSameAccount(account, resource.outputs?.[ACCOUNT])))
      return "seen";
    if (note.knownBy === "another stack") return "elsewhere";
    const held = byKey.get(ref.key);
    if (held?.id !== undefined && held.id !== record.replaces) {
      if (record.id !== undefined) return "skipped";
      // Copied from Pulumi's pending operations while that run was going on; the run has saved its object since.
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
  /** Whether the create was made or answered after its run began. Anything earlier is about an earlier create. */
  const isAnswered = (create: Recorded) => {
    const { ref, run, markFor } = create;
    // The object that the create was to replace may be replaced by now: each former id gives a possible mark.
    const marks = [undefined, ...formerIdsOf(create, byKey.get(ref.key))].map(markFor);
    const moments = [...resolved].flatMap((sending) => {
      const [mark = "", moment = ""] = sending.split(" ");
      return marks.includes(mark) ? moment : [];
    });
    moments.push(endedAt.get(ref.key) ?? "");
    return run !== "" && moments.some((moment) => isSinceRun(run, moment));
  };
  // Pending operations of this machine's runs are left out: the journal has each create that such a run has sent.
  const knownRuns = new Set(journals.flatMap(({ runs }) => runs));
  const recorded = stack.pending
    .toReversed()
    .flatMap((each) => createsOf(each, stack, place))
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

/** The records in this stack's journals, each key once, and the open creates of the project's other stacks. */
function notesIn(journals: readonly StackJournal[], place: StackPlace): Create[] {
  const isHere = ({ stack, backend }: StackPlace) =>
    stack === place.stack && backend === place.backend;
  // Each provider of the stack has a journal.
  const noted = journals
    .filter(isHere)
    .flatMap(({ records, runs: _, ...journal }) =>
      [...records.values()].map((record) => noteOf(record, journal, "journal")),
    );
  // After an alias to another provider, two journals have the key: the last entry wins, so an open create counts.
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

/** Whether the record is neither confirmed nor closed. */
export function isUnseen({ record }: Create) {
  return ["sent", "created", "reported"].includes(String(record.state));
}

function byName(creates: Iterable<Create>) {
  return inNaturalOrder(creates, ({ ref }) => `${ref.short} ${ref.urn}`);
}

/** The address of the journal that a resource's creates are noted in. */
function journalOf(ref: Create["ref"], { provider = "" }: Resource, place: StackPlace) {
  const [, , , name = ""] = provider.split("::");
  return { ...place, provider: isOfPlugin(ref) ? pluginProvider(name) : undefined };
}

/** A create in one of Pulumi's pending operations: it was sent, or about to be. */
interface Recorded extends Create {
  /** The name of the run that sent it; empty if that is not known. */
  run: string;
  /** The mark that the create has if it was to replace this object. */
  markFor: (replaces: string | undefined) => string;
}

/** Joins two records of one key. If they differ, nobody knows which was sent: only a name that both share is kept. */
function joinedRecords(create: Create, other: Create | undefined): Create {
  const { body, name } = create.record;
  // A body with secrets has no fingerprint, so whether the two differ isn't known.
  if (!other || (body !== "" && body === other.record.body)) return create;
  const record = { ...create.record, body: "", facts: {} };
  if (name !== other.record.name) record.name = undefined;
  return { ...create, record, knownBy: "pulumi" };
}

/** The creates of one pending operation. */
function createsOf(
  { type, resource }: ExportedStack["pending"][number],
  { resources, time }: ExportedStack,
  place: StackPlace,
): Recorded[] {
  const { urn, aliases = [], inputs = {} } = resource;
  const of = resourceOfType(resource.type);
  // Nothing is known about a set whose `events` are secret as a whole.
  if (!of || isSecret(inputs.events)) return [];
  const isSet = "member" in of;
  const former = resources.find(
    (each) => [urn, ...aliases].includes(each.urn) && each.delete !== true,
  );
  // A set that the state has isn't being created. While a set is updated, the state has it as it was before.
  const isNew = type === "creating" && !(isSet && former);
  if (!isNew && !(type === "updating" && isSet)) return [];
  const kind = kindOf(of);
  const objects = decideObjects(
    kind,
    readStored(of, former?.id, former?.outputs ?? {}),
    readDeclared(of, inputs),
  );
  // A run without a changed argument keeps the name of an earlier run in the inputs, perhaps another machine's. Then
  // only the export's time is known: the operation began before it, so any later answer counts.
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
