/**
 * Which creates have an unknown outcome: what the state has, what only this machine's journals have, and what only
 * Pulumi's record of an interrupted run has; each create once, whatever its name is now. Pure.
 */
import type { JournalEntry, OpenCreate, Records, StackPlace } from "../journal/index.js";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { plannedObjects } from "../plan/index.js";
import { mayBeSameAccount } from "../settings/index.js";
import {
  ACCOUNT,
  type CreateRecord,
  identifyingIn,
  isSinceRun,
  keyOfUrn,
  leftLiveIn,
  markIn,
  markOf,
  markOfCreate,
  memberOf,
  objectKey,
  type ResourceRef,
  RUN,
  readDeclared,
  readStored,
  refAt,
  refOfKey,
  resolvedIn,
  secretArgumentsIn,
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
  stackNamesIn,
} from "./contents.js";

/** A resource or member, by one of its names. */
export type CreateRef = Pick<
  ResourceRef,
  "key" | "kind" | "member" | "short" | "urn" | "resourceUrn"
>;

/** What a journal has of a create. */
export interface Note {
  readonly ref: CreateRef;
  readonly record: JournalEntry;
  /** The stack whose journal has it, if that is another one. */
  readonly elsewhere?: StackPlace | undefined;
  /** What the state has under its key, perhaps from another create. */
  readonly held?: string | undefined;
}

export interface Create {
  readonly ref: CreateRef;
  /** Other names of the same create: the journal may have it under a former one. */
  readonly otherRefs: readonly CreateRef[];
  /** With an id, it was created, and no state is known to have it. */
  readonly record: CreateRecord & Pick<JournalEntry, "id">;
  /** Who knows about it; `record`: only Pulumi's of an interrupted run. */
  readonly known: "state" | "journal" | "record";
  readonly elsewhere?: StackPlace | undefined;
  /** That stack does not exist any more. */
  readonly isOfGone?: boolean;
  /** That stack may be this one under its former name. */
  readonly isPerhapsOurs?: boolean;
  /** What another run was about to send, with other arguments. */
  readonly alternative?: CreateRecord | undefined;
  /** Objects that its resource or member has or had: no create made them since. */
  readonly formerIds: readonly string[];
}

export interface Journals {
  readonly own: Records;
  /** Names of the runs that the own journal was used by. */
  readonly runs: readonly string[];
  /** What other stacks of the project have open. */
  readonly elsewhere: readonly OpenCreate[];
  /** Whether a stack does not exist any more: it was renamed, perhaps to this one, or removed. */
  readonly isGone: (place: StackPlace) => boolean;
}

export interface Facts {
  /** Creates of this stack that need an answer, in natural order. */
  readonly open: readonly Create[];
  /** Creates of other stacks of the project that no state is known to have. */
  readonly elsewhere: readonly Create[];
  /** What earlier runs created, and the state does not have. */
  readonly made: readonly Note[];
  /** What a journal has as open, and the state has: it is brought up to date. */
  readonly outdated: readonly Note[];
  /** All that this machine's journal of the stack has, by key. */
  readonly notes: ReadonlyMap<string, Note>;
  /** The resource that has an object in the state, or else in the journal, by `objectKey`. */
  readonly inState: ReadonlyMap<string, CreateRef>;
  readonly inJournal: ReadonlyMap<string, CreateRef>;
}

/** Whether two recorded accounts are one. */
export type AreSameAccount = (one: unknown, other: unknown) => boolean;

const NO_PLACE: StackPlace = { backend: "", stack: "" };

/** @param place undefined if nobody says which stack it is. @param isSameAccount of the stack's objects. */
export function factsIn(
  stack: ExportedStack,
  journals: Journals,
  place: StackPlace = NO_PLACE,
  isSameAccount: AreSameAccount = mayBeSameAccount,
): Facts {
  const state = new StateView(stack, isSameAccount);
  const notes = [...journals.own.values()].map((record): Note => {
    return { ref: refOfKey(record.key, place.stack), record };
  });
  const unseen = notes.filter(({ record }) => !["confirmed", "closed"].includes(record.state));
  const left = unseen.filter((note) => state.fateOf(note) === "open");
  const sent = left.filter(({ record }) => record.state === "sent");
  const others = journals.elsewhere.map(({ elsewhere = NO_PLACE, ...record }) => {
    return { ref: refOfKey(record.key, elsewhere.stack), record, elsewhere };
  });
  const elsewhere = others.filter((note) => state.fateOf(note) !== "seen");

  const recorded = recordedIn(stack, place);
  const leftByKey = new Map(left.map(({ ref, record }) => [ref.key, record]));
  // A stack that has objects has them under its name, or under the one that it had before.
  const names = stackNamesIn(stack);
  const isPerhapsOurs = ({ elsewhere: there }: { readonly elsewhere: StackPlace }) =>
    journals.isGone(there) && (names.length === 0 || names.includes(there.stack));
  // What the journal of a renamed stack has is listed there.
  const formerKeys = new Set(others.filter(isPerhapsOurs).map(({ ref }) => ref.key));
  const inRecord = [...recorded.values()].filter((each) => {
    const { key } = each.ref;
    if (formerKeys.has(key) || isNewer(leftByKey.get(key), each.runs)) return false;
    if (state.held.get(key)?.record !== undefined) return false;
    // The journal of the run that was interrupted has each create that it has sent.
    if (each.runs.every((run) => journals.runs.includes(run))) return false;
    return !isAnswered(each, journals.own.get(key), state);
  });

  const createOf = (found: Omit<Create, "formerIds">): Create => {
    return { ...found, formerIds: state.formerIdsOf(found) };
  };
  const open = [
    ...state.unresolved.map(({ ref, record }) => {
      const same = unseen.filter(
        (note) => note.record.mark === record.mark && note.ref.key !== ref.key,
      );
      return createOf({ ref, record, known: "state", otherRefs: same.map((note) => note.ref) });
    }),
    ...sent.map(({ ref, record }) => {
      const other = recorded.get(ref.key);
      const or = [other?.record, other?.alternative].find((each) => isOther(record, each));
      return createOf({ ref, record, known: "journal", otherRefs: [], alternative: or });
    }),
    ...inRecord.map(({ ref, record, alternative: or }) =>
      createOf({ ref, record, known: "record", otherRefs: [], alternative: or }),
    ),
  ];
  return {
    open: byName(open),
    elsewhere: byName(elsewhere).map((note): Create => {
      const isOfGone = journals.isGone(note.elsewhere);
      const known = { isOfGone, isPerhapsOurs: isPerhapsOurs(note) };
      return { ...note, known: "journal", ...known, otherRefs: [], formerIds: [] };
    }),
    made: byName(left.filter(({ record }) => record.state !== "sent")),
    outdated: [...unseen, ...others]
      .filter((note) => state.fateOf(note) === "seen")
      .map((note) => ({ ...note, held: state.heldInstead(note) })),
    notes: new Map(notes.map((note) => [note.ref.key, note])),
    inState: holdersById(state.current),
    inJournal: holdersById(
      notes.filter(isCreatedHere).map(({ ref, record }) => ({ ref, id: record.id })),
    ),
  };
}

/** What was only adopted here says nothing about who created it. */
function isCreatedHere({ record: { state, body } }: Note): boolean {
  return state !== "closed" && (state !== "confirmed" || body !== "");
}

function holdersById(
  objects: readonly { readonly ref: CreateRef; readonly id: string | undefined }[],
): ReadonlyMap<string, CreateRef> {
  const holders = new Map<string, CreateRef>();
  for (const { ref, id } of objects)
    if (id !== undefined) holders.set(objectKey(ref.kind, id), ref);
  return holders;
}

function byName<T extends { readonly ref: CreateRef }>(items: readonly T[]): T[] {
  return inNaturalOrder(items, ({ ref }) => `${ref.short} ${ref.urn}`);
}

/** What a state shows about creates. */
class StateView {
  readonly current: readonly ExportedObject[];
  readonly held: ReadonlyMap<string, ExportedObject>;
  readonly unresolved: readonly { readonly ref: CreateRef; readonly record: CreateRecord }[];
  /** Sendings that a person has found to be created. */
  readonly resolved: readonly { readonly mark: string; readonly at: string }[];
  /** The same as `sendingOf` names them. */
  readonly #sendings: ReadonlySet<string>;
  readonly #byId: ReadonlyMap<string, readonly ExportedObject[]>;
  readonly #unresolvedMarks: ReadonlySet<string>;
  /** The names that this stack had when its resources were written. */
  readonly #names: ReadonlySet<string>;

  constructor(
    stack: ExportedStack,
    private readonly isSameAccount: AreSameAccount,
  ) {
    const objects = objectsIn(stack.resources);
    this.current = objects.filter(({ resource }) => resource.delete !== true);
    this.held = new Map(this.current.map((each) => [each.ref.key, each]));
    this.unresolved = this.current.flatMap(({ ref, record }) => {
      return record === undefined ? [] : [{ ref, record }];
    });
    this.#sendings = new Set(
      stack.resources.flatMap(({ outputs = {} }) => resolvedIn(outputs)),
    );
    this.resolved = [...this.#sendings].map((sending) => {
      const [mark = "", at = ""] = sending.split(" ");
      return { mark, at };
    });
    this.#byId = Map.groupBy(objects, ({ kind, id = "" }) => objectKey(kind.name, id));
    this.#unresolvedMarks = new Set(this.unresolved.map(({ record }) => record.mark));
    this.#names = new Set(stackNamesIn(stack));
  }

  /**
   * What became of an open create of a journal: the state has it; has another object in its place, beside what it made;
   * has it as unresolved; or nothing is known.
   */
  fateOf(note: Note): "seen" | "beside" | "unresolved" | "open" {
    const { ref, record } = note;
    if (this.#has(note)) return "seen";
    const isReplaced = this.heldInstead(note) !== undefined;
    if (isReplaced && record.id === undefined) return "seen";
    if (isReplaced) return "beside";
    if (this.held.get(ref.key)?.record !== undefined) return "unresolved";
    if (this.#unresolvedMarks.has(record.mark)) return "unresolved";
    return "open";
  }

  /** The object under its key in this stack, if another create made it. */
  heldInstead(note: Note): string | undefined {
    const { ref, record, elsewhere } = note;
    const isOurs = elsewhere === undefined || this.#names.has(elsewhere.stack);
    if (!isOurs || this.#has(note)) return undefined;
    const id = this.held.get(ref.key)?.id;
    return id === record.replaces ? undefined : id;
  }

  /** Its object, by id and account, or that a person has found it. */
  #has({ ref, record }: Note): boolean {
    const { id, account } = record;
    if (this.#sendings.has(sendingOf(record))) return true;
    if (id === undefined) return false;
    const found = this.#byId.get(objectKey(ref.kind, id)) ?? [];
    return found.some(({ resource }) =>
      this.isSameAccount(account, resource.outputs?.[ACCOUNT]),
    );
  }

  formerIdsOf({ ref, record }: Pick<Create, "ref" | "record">): string[] {
    const object = this.held.get(ref.key);
    const left = leftLiveIn(object?.resource.outputs ?? {}).filter(
      ({ key }) => key === object?.ref.member,
    );
    const ids = [object?.id, record.replaces, ...left.map(({ id }) => id)];
    return ids.filter((id) => id !== undefined);
  }
}

/** Whether a journal's record tells of those runs' create. An older object says nothing about another machine's. */
function isNewer(entry: JournalEntry | undefined, runs: readonly string[]): boolean {
  if (entry === undefined) return false;
  return entry.state === "sent" || runs.every((run) => isSinceRun(run, entry.at));
}

/** Whether somebody has answered since: what the state had before that run says nothing about it. */
function isAnswered(
  recorded: Recorded,
  entry: JournalEntry | undefined,
  state: StateView,
): boolean {
  const { runs, markFor } = recorded;
  // What it was to replace may be replaced by now.
  const marks = [undefined, ...state.formerIdsOf(recorded)].map(markFor);
  const answers = state.resolved.filter(({ mark }) => marks.includes(mark));
  const moments = answers.map(({ at }) => at);
  if (entry?.state === "closed" && entry.at !== "") moments.push(entry.at);
  return moments.some((at) => runs.every((run) => run !== "" && isSinceRun(run, at)));
}

/** What Pulumi's record of interrupted runs has of one create. */
interface Recorded extends Pick<Create, "ref" | "record" | "alternative"> {
  /** The names of those runs; empty for one that gave none. */
  readonly runs: readonly string[];
  /** Its mark, if it was to replace this object. */
  readonly markFor: (replaces: string | undefined) => string;
}

/** What was sent, or was about to be, by key; of several such runs the last. */
function recordedIn(stack: ExportedStack, place: StackPlace): Map<string, Recorded> {
  const current = stack.resources.filter((each) => each.delete !== true);
  const byUrn = new Map(current.map((each) => [each.urn, each]));
  const operations = stack.pending.toReversed();
  const found = operations.flatMap(({ type, resource }) =>
    sentIn(type, resource, byUrn.get(resource.urn), place),
  );
  const all = new Map<string, Recorded>();
  for (const each of found) {
    const { key } = each.ref;
    const before = all.get(key);
    const earlier = [before?.alternative, before?.record];
    const or = earlier.find((one) => isOther(each.record, one));
    all.set(key, { ...each, alternative: or, runs: [...(before?.runs ?? []), ...each.runs] });
  }
  return all;
}

/** The creates of one operation. @param former the resource in the state. */
function sentIn(
  type: string,
  resource: Resource,
  former: Resource | undefined,
  place: StackPlace,
): Recorded[] {
  const { urn, type: token, inputs = {} } = resource;
  const set = setOfType(token);
  const kind = kindOfType(token) ?? set?.member;
  // A set in the state was created; during an update it is as it was before.
  const isNew = type === "creating" && (set === undefined || former === undefined);
  const isOpen = isNew || (type === "updating" && set !== undefined);
  // Of an all-secret set nothing is known.
  if (kind === undefined || !isOpen || isSecret(inputs.events)) return [];
  const olds = former?.outputs ?? {};
  const of = set ?? kind;
  const objects = plannedObjects(
    kind,
    readStored(of, former?.id, olds),
    readDeclared(of, inputs),
  );
  // Without a changed argument, a run keeps the name of an earlier one, perhaps another machine's.
  const isItsOwn = type === "creating" || inputs[RUN] !== former?.inputs?.[RUN];
  const run = isItsOwn ? String(inputs[RUN] ?? "") : "";
  const resourceKey = keyOfUrn(of.name, urn);
  const given = markIn(inputs);
  const ofResource = markOf(place.backend, place.stack, resourceKey);
  // Only objects that the plan would still create can be what the interrupted run sent.
  const sent = objects.filter(
    ({ isDeclared, action }) => isDeclared && ["create", "replace"].includes(action.do),
  );
  return sent.map(({ key, id, values }) => {
    const member = set && key;
    const markFor = (replaces: string | undefined) =>
      markOfCreate(given?.mark, ofResource, member, replaces);
    const ref = refAt(member === undefined ? resourceKey : memberOf(resourceKey, member), urn);
    const record = { ...unnotedRecord(kind, values, id), ...given, mark: markFor(id) };
    return { ref, record, runs: [run], markFor };
  });
}

/** Of a create that nobody has noted: as far as its arguments say. @param held the id in the state. */
function unnotedRecord(
  kind: Kind,
  values: Readonly<Record<string, unknown>>,
  held: string | undefined,
): CreateRecord {
  const hidden = Object.keys(values).filter((name) => holdsSecret(values[name]));
  const secret = new Set([...secretArgumentsIn(values), ...hidden]);
  const record = { at: "", mark: "", body: "", ...identifyingIn(kind, values, secret) };
  if (secret.size === 0) record.body = fingerprintOfBody(kind, values);
  return held === undefined ? record : { ...record, replaces: held };
}

/** Of what is secret nobody knows. */
function isOther({ body }: CreateRecord, other: CreateRecord | undefined): boolean {
  return body !== "" && other !== undefined && other.body !== "" && other.body !== body;
}
