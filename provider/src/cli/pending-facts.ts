/**
 * Which creates have an unknown outcome: what the state has, what only this machine's journals have, and what only
 * Pulumi's record of an interrupted run has; each create once, whatever its name is now. Pure.
 */
import { shellWord } from "../base/index.js";
import type { JournalEntry, OpenCreate, Records, StackPlace } from "../journal/index.js";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { plannedMembers, plannedSingle } from "../plan/index.js";
import { isEqualAccount } from "../settings/index.js";
import {
  ACCOUNT,
  type CreateRecord,
  identifyingIn,
  isSinceRun,
  keyOfUrn,
  leftLiveIn,
  MARK,
  markOf,
  markOfCreate,
  memberOf,
  objectKey,
  RUN,
  readDeclaredSet,
  readMark,
  readStoredSet,
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
  stackNamesIn,
} from "./contents.js";

/** A resource or member, by one of its names. */
export type CreateRef = Pick<ReturnType<typeof refAt>, "key" | "kind" | "member" | "short" | "urn" | "resourceUrn">;

export interface Create {
  readonly ref: CreateRef;
  /** Other names of the same create: the journal may have it under a former one. */
  readonly otherRefs: readonly CreateRef[];
  /** With an id, it was created, and no state is known to have it. */
  readonly record: CreateRecord & Pick<JournalEntry, "id">;
  /** Who knows about it; `record`: only Pulumi's of an interrupted run. */
  readonly known: "state" | "journal" | "record";
  /** The stack whose journal has it, if that is another one. */
  readonly elsewhere?: StackPlace | undefined;
  /** That stack does not exist any more. */
  readonly isOfGone?: boolean;
  /** What another run was about to send, with other arguments. */
  readonly or?: CreateRecord | undefined;
  /** Objects that its resource or member has or had: no create made them since. */
  readonly formerIds: readonly string[];
}

/** What a person, or a search, says about a create. */
export interface Answer {
  readonly create: Create;
  /** The platform's; undefined if it was not created. */
  readonly id: string | undefined;
  /** The resource that has this object in the state, if that is another one: the create is dropped. */
  readonly managedAs?: string | undefined;
}

export interface Note {
  readonly ref: CreateRef;
  readonly record: JournalEntry;
  readonly elsewhere?: StackPlace | undefined;
  /** What the state has under its key, perhaps from another create. */
  readonly held?: string | undefined;
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
  /** What else an interrupted run of this machine was about to send: it did not, or the journal knew what became of it. */
  readonly known: readonly CreateRef[];
  /** What a journal has as open, and the state has: it is brought up to date. */
  readonly outdated: readonly Note[];
  /** All that this machine's journal of the stack has, by key. */
  readonly notes: ReadonlyMap<string, Note>;
  /** The resource that has an object in the state, or else in the journal, by `objectKey`. */
  readonly inState: ReadonlyMap<string, CreateRef>;
  readonly inJournal: ReadonlyMap<string, CreateRef>;
}

interface Found extends Pick<Create, "ref" | "record" | "known" | "or"> {
  readonly otherRefs?: readonly CreateRef[];
}

/** @param place undefined if nobody says which stack it is. @param isSameAccount of the stack's objects. */
export function factsIn(
  stack: ExportedStack,
  journals: Journals,
  place: StackPlace | undefined,
  isSameAccount: (recorded: unknown, other: unknown) => boolean = isEqualAccount,
): Facts {
  const objects = objectsIn(stack.resources);
  const current = objects.filter(({ resource }) => resource.delete !== true);
  const held = new Map(current.map((each) => [each.ref.key, each]));
  const sight = sightOf(stack, objects, isSameAccount);
  const stackName = place?.stack ?? "";
  const noteOf = (record: JournalEntry): Note => ({ ref: refOfKey(record.key, stackName), record });
  const notes = new Map([...journals.own].map(([key, record]) => [key, noteOf(record)]));
  const remembered = [...notes.values()];

  const unseen = remembered.filter(({ record: { state } }) => state !== "confirmed" && state !== "closed");
  const isHeld = ({ ref, record: { replaces } }: Note) => {
    const now = held.get(ref.key)?.id;
    return now !== undefined && now !== replaces;
  };
  const marks = new Map(current.flatMap(({ record, ref }) => (record === undefined ? [] : [[record.mark, ref.key]])));
  const isUnresolvedInState = ({ ref, record }: Note) =>
    held.get(ref.key)?.record !== undefined || marks.has(record.mark);
  const left = unseen.filter((note) => !isHeld(note) && !sight.has(note) && !isUnresolvedInState(note));
  const leftKeys = new Set(left.map(({ ref }) => ref.key));

  const inState = current.flatMap(({ ref, record }): Found[] => {
    if (record === undefined) return [];
    const same = unseen.filter((note) => note.record.mark === record.mark && note.ref.key !== ref.key);
    return [{ ref, record, known: "state", otherRefs: same.map((note) => note.ref) }];
  });
  const resolved = stack.resources.flatMap(({ outputs = {} }) => resolvedIn(outputs));
  const recorded = new Map(recordedIn(stack, place).map((each) => [each.ref.key, each]));
  const inMemory = left.flatMap(({ ref, record }): Found[] => {
    if (record.state !== "sent") return [];
    const other = recorded.get(ref.key);
    const or = [other?.record, other?.or].flatMap((each) => each ?? []).find(isOtherThan(record));
    return [{ ref, record, known: "journal", or }];
  });
  // What the state had, or somebody answered, before that run says nothing about it.
  const isAnswered = ({ ref: { key }, record: { mark }, runs }: Recorded) => {
    const { state, at = "" } = journals.own.get(key) ?? {};
    const answeredAt = [
      ...(state === "closed" && at !== "" ? [at] : []),
      ...resolved.filter((sending) => sending.startsWith(`${mark} `)).map((sending) => sending.slice(mark.length + 1)),
    ];
    if (answeredAt.some((moment) => runs.every((run) => run !== undefined && isSinceRun(run, moment)))) return true;
    return held.get(key)?.record !== undefined || leftKeys.has(key);
  };
  const unanswered = [...recorded.values()].filter((each) => !isAnswered(each));
  // The journal of the run that was interrupted has each create that it has sent.
  const isOfThisMachine = ({ runs }: Recorded) => runs.every((run) => run !== undefined && journals.runs.includes(run));
  const gone = journals.elsewhere.filter(({ elsewhere: there }) => there !== undefined && journals.isGone(there));
  const goneKeys = new Set(gone.map(({ key }) => key));
  // What the journal of a renamed stack has is listed there.
  const inRecord = unanswered.filter((each) => !isOfThisMachine(each) && !goneKeys.has(each.ref.key));

  const createOf = ({ otherRefs = [], ...found }: Found): Create => {
    const object = held.get(found.ref.key);
    const left = leftLiveIn(object?.resource.outputs ?? {}).filter(({ key }) => key === object?.in?.key);
    const formerIds = [object?.id, found.record.replaces, ...left.map(({ id }) => id)];
    return { ...found, otherRefs, formerIds: formerIds.filter((id) => id !== undefined) };
  };
  const others = journals.elsewhere.map(({ elsewhere, ...record }) => {
    return { ref: refOfKey(record.key, elsewhere?.stack ?? ""), record, elsewhere };
  });
  // The state says that this stack had that name: what its journal has under a key is this resource's.
  const formerNames = new Set(stackNamesIn(stack));
  const isSeen = (note: Note) => {
    const isOurs = note.elsewhere === undefined || formerNames.has(note.elsewhere.stack);
    // An object that was made beside the state's one is another object, which a run tells of.
    return sight.has(note) || (isOurs && note.record.id === undefined && isHeld(note));
  };
  const elsewhere = others
    .filter((note) => !isSeen(note))
    .map(({ ref, record, elsewhere: there }): Create => {
      const isOfGone = there !== undefined && journals.isGone(there);
      return { ref, record, known: "journal", elsewhere: there, isOfGone, otherRefs: [], formerIds: [] };
    });
  // What was only adopted here says nothing about who created it.
  const journal = remembered.filter(
    ({ record: { state, body } }) => state !== "closed" && (state !== "confirmed" || body !== ""),
  );
  const byName = ({ ref }: { readonly ref: CreateRef }) => `${ref.short} ${ref.urn}`;
  return {
    open: inNaturalOrder([...inState, ...inMemory, ...inRecord].map(createOf), byName),
    elsewhere: inNaturalOrder(elsewhere, byName),
    made: inNaturalOrder(
      left.filter(({ record }) => record.state !== "sent"),
      byName,
    ),
    known: inNaturalOrder(unanswered.filter(isOfThisMachine), byName).map(({ ref }) => ref),
    outdated: [...unseen, ...others]
      .filter(isSeen)
      .map((note) => (sight.has(note) ? note : { ...note, held: held.get(note.ref.key)?.id })),
    notes,
    inState: new Map(
      current.flatMap(({ kind, id, ref }) => (id === undefined ? [] : [[objectKey(kind.name, id), ref]])),
    ),
    inJournal: new Map(
      journal.flatMap(({ ref, record: { id } }) => (id === undefined ? [] : [[objectKey(ref.kind, id), ref]])),
    ),
  };
}

/** What a state shows about creates: its objects, by id and account, and the creates that a person has found. */
function sightOf(
  stack: ExportedStack,
  objects: readonly ExportedObject[],
  isSameAccount: (recorded: unknown, other: unknown) => boolean,
) {
  const resolved = new Set(stack.resources.flatMap(({ outputs = {} }) => resolvedIn(outputs)));
  const byId = Map.groupBy(objects, ({ kind, id = "" }) => objectKey(kind.name, id));
  return {
    has: ({ ref, record }: Note) => {
      const { id, account } = record;
      if (resolved.has(sendingOf(record))) return true;
      if (id === undefined) return false;
      const found = byId.get(objectKey(ref.kind, id)) ?? [];
      return found.some(({ resource }) => isSameAccount(account, resource.outputs?.[ACCOUNT]));
    },
  };
}

/** What an id means for a create. @param others answers that count. */
export function verdictOn(
  { ref, otherRefs, formerIds }: Create,
  id: string,
  { inState, inJournal, notes }: Facts,
  others: readonly Answer[],
): { readonly managedAs?: string; readonly conflict?: string } {
  const object = objectKey(ref.kind, id);
  const own = new Set([ref, ...otherRefs].map(({ key }) => key));
  const twin = others.find(({ create, id: its }) => its === id && create.ref.kind === ref.kind);
  if (twin !== undefined) return { conflict: `${id} can't be both "${ref.short}" and "${twin.create.ref.short}"` };
  const entry = notes.get(ref.key)?.record;
  // A later run has taken it over or adopted it, and was interrupted too: the state has just the unknown outcome.
  if (entry?.id === id && entry.state !== "closed" && !formerIds.includes(id)) return {};
  const holder = inState.get(object);
  if (formerIds.includes(id) || (holder !== undefined && own.has(holder.key)))
    return {
      conflict: `${id} is not the id of "${ref.short}": it is an object that this resource has or had before, such as the one to replace`,
    };
  if (holder !== undefined) return { managedAs: holder.short };
  const known = inJournal.get(object);
  if (known === undefined || own.has(known.key)) return {};
  return {
    conflict: `${id} is not the id of "${ref.short}": an earlier run created it as "${known.short}". If there is no other object, it was not created: --not-created ${shellWord(ref.short)}`,
  };
}

/** Of what is secret nobody knows. */
function isOtherThan({ body }: CreateRecord) {
  return (other: CreateRecord) => body !== "" && other.body !== "" && other.body !== body;
}

interface Recorded extends Found {
  /** The interrupted runs that it names; undefined for one that gave no name. */
  readonly runs: readonly (string | undefined)[];
}

const NOWHERE: StackPlace = { backend: "", stack: "" };

/** What Pulumi's record of interrupted runs says was sent, or was about to be; of several such runs the last. */
function recordedIn(stack: ExportedStack, { backend, stack: name }: StackPlace = NOWHERE): Recorded[] {
  const current = new Map(stack.resources.flatMap((each) => (each.delete === true ? [] : [[each.urn, each]])));
  const found = stack.pending.toReversed().flatMap(({ type, resource }): Recorded[] => {
    const { urn, type: token, inputs = {} } = resource;
    const former = current.get(urn);
    const set = setOfType(token);
    const given = readMark(inputs[MARK]);
    const kind = kindOfType(token) ?? set?.member;
    // A set in the state was created; during an update it is as it was before. Of an all-secret set nothing is known.
    const isNew = type === "creating" && (set === undefined || former === undefined);
    const isOpen = isNew || (type === "updating" && set !== undefined);
    if (kind === undefined || !isOpen || isSecret(inputs.events)) return [];
    const olds = former?.outputs ?? {};
    const members =
      set === undefined
        ? [plannedSingle(kind, former?.id, olds, inputs)]
        : plannedMembers(kind, readStoredSet(olds), readDeclaredSet(inputs));
    // What would be done now was not done.
    const sent = members.filter(({ isDeclared, action }) => isDeclared && ["create", "replace"].includes(action.do));
    const run = typeof inputs[RUN] === "string" ? inputs[RUN] : undefined;
    return sent.map(({ key: member, id, values }): Recorded => {
      const key = keyOfUrn((set ?? kind).name, urn);
      const own = { ...given, mark: markOfCreate(given?.mark, markOf(backend, name, key), set && member, id) };
      const ref = refAt(set === undefined ? key : memberOf(key, member), urn);
      return { ref, record: { ...recordOf(kind, values, id), ...own }, known: "record", runs: [run] };
    });
  });
  return [...Map.groupBy(found, ({ ref }) => ref.key).values()].flatMap((all) => {
    const last = all.at(-1);
    if (last === undefined) return [];
    const or = all.map(({ record }) => record).find(isOtherThan(last.record));
    return [{ ...last, or, runs: all.flatMap(({ runs }) => runs) }];
  });
}

/** Of a create that nobody has noted: as far as its arguments say. @param held the id in the state. */
function recordOf(kind: Kind, values: Readonly<Record<string, unknown>>, held: string | undefined): CreateRecord {
  const hidden = Object.keys(values).filter((name) => holdsSecret(values[name]));
  const secret = new Set([...secretArgumentsIn(values), ...hidden]);
  const body = secret.size > 0 ? "" : fingerprintOfBody(kind, values);
  const replaces = held === undefined ? {} : { replaces: held };
  return { at: "", mark: "", body, ...identifyingIn(kind, values, secret), ...replaces };
}
