import {
  type JournalEntry,
  type OpenCreate,
  pluginProvider,
  type Records,
  type StackPlace,
} from "../journal/index.js";
import { fingerprintOfBody, pluginTokenOf, resourceOfType } from "../kinds/index.js";
import { plannedObjects } from "../plan/index.js";
import { mayBeSameAccount } from "../settings/index.js";
import {
  ACCOUNT,
  type CreateRecord,
  identifyingIn,
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
  stackNamesIn,
} from "./contents.js";

export interface Create {
  readonly ref: ExportedObject["ref"];
  /** With an id, it was created. */
  readonly record: CreateRecord & Partial<JournalEntry>;
  /** Who knows about it; `record`: Pulumi's of an interrupted run, perhaps of another machine. */
  readonly known: "state" | "journal" | "record";
  /** The stack whose journal has it, if that is another one. */
  readonly elsewhere?: StackPlace | undefined;
  /** Which of the stack's journals has it, or will have it. */
  readonly provider?: string | undefined;
  /** Of an open one, the objects that its resource or member has or had: no create made them since. */
  readonly formerIds?: readonly string[];
  /** Of an outdated one, what the state has under its key from another create. */
  readonly held?: string | undefined;
}

export interface Facts {
  readonly place: StackPlace;
  /** Of all its providers. */
  readonly journals: readonly StackPlace[];
  /** Whether somebody has to answer: also if the state was written under another stack's name that has open creates. */
  readonly isAsked: boolean;
  /** Whether Pulumi has a record of creates that were interrupted. */
  readonly isRecorded: boolean;
  /** Creates of this stack that need an answer, in natural order. */
  readonly open: readonly Create[];
  /** Creates of other stacks of the project that no state is known to have. */
  readonly elsewhere: readonly Create[];
  /** What earlier runs created, and the state does not have. */
  readonly made: readonly Create[];
  /** What a journal has as open, and the state has: it is brought up to date. */
  readonly outdated: readonly Create[];
  /** All that this machine's journal of the stack has. */
  readonly notes: readonly Create[];
  /** By `objectKey`: the resource that has an object in the state. */
  readonly inState: ReadonlyMap<string, Create["ref"]>;
}

/** @param isSameAccount whether two recorded accounts are one. */
export function factsIn(
  stack: ExportedStack,
  {
    own,
    runs,
    elsewhere: others,
  }: {
    /** All journals of the stack: each provider has one. */
    readonly own: readonly {
      readonly records: Records;
      readonly provider?: string | undefined;
    }[];
    /** Names of the runs that used any of this machine's journals. */
    readonly runs: readonly string[];
    /** What other stacks of the project have open. */
    readonly elsewhere: readonly OpenCreate[];
  },
  place: StackPlace,
  isSameAccount = mayBeSameAccount,
): Facts {
  const state = stateView(stack, isSameAccount);
  const noteOf = (record: OpenCreate, provider?: string): Create => {
    const { key, elsewhere } = record;
    const ref = refOfKey(key, (elsewhere ?? place).stack);
    return { ref, record, known: "journal", elsewhere, provider };
  };
  const noted = own.flatMap(({ records, provider }) =>
    [...records.values()].map((record) => noteOf(record, provider)),
  );
  // An alias may have moved a resource to another provider: what is open there comes first.
  const byKey = new Map(noted.map((note) => [note.ref.key, note]));
  for (const note of noted.filter(isUnseen)) byKey.set(note.ref.key, note);
  const notes = [...byKey.values()];
  const unseen = [...notes.filter(isUnseen), ...others.map((each) => noteOf(each))];
  const left = unseen.filter((note) => !state.isSeen(note));
  const elsewhere = left.filter((note) => note.elsewhere !== undefined);
  const missing = left.filter(
    (note) => note.elsewhere === undefined && state.isMissing(note),
  );
  const missingByKey = new Map(missing.map((note) => [note.ref.key, note.record]));

  const open = new Map<string, Create>();
  for (const [key, each] of recordedIn(stack, place)) {
    const made = missingByKey.get(key);
    // The journal of the run that was interrupted has each create that it has sent.
    const isOfThisMachine = each.runs.every((run) => runs.includes(run));
    // An older object says nothing about another machine's create.
    const isMadeSince =
      made?.id !== undefined && each.runs.every((run) => isSinceRun(run, made.at));
    if (isOfThisMachine || isMadeSince || state.isAnswered(each, byKey.get(key)?.record))
      continue;
    open.set(key, each);
  }
  for (const note of missing)
    if (note.record.state === "sent")
      open.set(note.ref.key, joinedRecords(note, open.get(note.ref.key)));
  for (const each of state.unresolved) open.set(each.ref.key, each);
  const names = stackNamesIn(stack);
  return {
    place,
    journals: own.map(({ provider }) => ({ ...place, provider })),
    isAsked:
      open.size > 0 ||
      elsewhere.some((note) => names.includes(note.elsewhere?.stack ?? "")),
    isRecorded: stack.pending.some(({ type }) => type === "creating"),
    open: byName(open.values()).map((each) => {
      return { ...each, formerIds: state.formerIdsOf(each) };
    }),
    elsewhere: byName(elsewhere),
    made: byName(missing.filter(({ record }) => record.state !== "sent")),
    outdated: unseen
      .filter((note) => state.isSeen(note))
      .map((note) => ({ ...note, held: state.heldInstead(note) })),
    notes,
    inState: new Map(
      state.current.map(({ ref, id = "" }) => [objectKey(ref.kind, id), ref]),
    ),
  };
}

/** Whether no run has seen what became of it. */
export function isUnseen({ record }: Create): boolean {
  return ["sent", "created", "reported"].includes(String(record.state));
}

function byName(creates: Iterable<Create>): Create[] {
  return inNaturalOrder(creates, ({ ref }) => `${ref.short} ${ref.urn}`);
}

/** What a state shows about creates. */
function stateView({ resources }: ExportedStack, isSameAccount: typeof mayBeSameAccount) {
  const objects = objectsIn(resources);
  const byId = Map.groupBy(objects, ({ kind, id = "" }) => objectKey(kind.name, id));
  const current = objects.filter(({ resource }) => resource.delete !== true);
  const byKey = new Map(current.map((each) => [each.ref.key, each]));
  const unresolved = current.flatMap(({ ref, record, resource }): Create[] => {
    if (record === undefined) return [];
    return [{ ref, record, known: "state", provider: providerOf(resource) }];
  });
  const unresolvedMarks = new Set(unresolved.map(({ record }) => record.mark));
  /** Those that a person has found to be created, as `sendingOf` names them. */
  const sendings = new Set(resources.flatMap(({ outputs = {} }) => resolvedIn(outputs)));

  /** Its object, by id and account, or that a person has found it. */
  const has = ({ ref, record }: Create) => {
    const { id, account } = record;
    const found = byId.get(objectKey(ref.kind, id ?? "none")) ?? [];
    const isObject = ({ resource }: ExportedObject) =>
      isSameAccount(account, resource.outputs?.[ACCOUNT]);
    return sendings.has(sendingOf(record)) || found.some(isObject);
  };
  /** The object under its key in this stack, if another create made it. */
  const heldInstead = (note: Create) => {
    if (note.elsewhere !== undefined || has(note)) return undefined;
    const id = byKey.get(note.ref.key)?.id;
    return id === note.record.replaces ? undefined : id;
  };
  const formerIdsOf = ({ ref, record }: Create) => {
    const { id, resource } = byKey.get(ref.key) ?? {};
    const left = leftLiveIn(resource?.outputs ?? {});
    const own = left.filter(({ key }) => key === ref.member).map((each) => each.id);
    return [id, record.replaces, ...own].filter((each) => each !== undefined);
  };
  return {
    current,
    unresolved,
    heldInstead,
    formerIdsOf,
    /** Whether it shows what became of an open create of a journal, or has another object in its place. */
    isSeen: (note: Create) =>
      has(note) || (note.record.id === undefined && heldInstead(note) !== undefined),
    /** Whether nothing in it is about a create of this stack's journal that it does not show. */
    isMissing: (note: Create) =>
      heldInstead(note) === undefined &&
      byKey.get(note.ref.key)?.record === undefined &&
      !unresolvedMarks.has(note.record.mark),
    /** Whether somebody has answered since: what it had before that run says nothing about it. */
    isAnswered(recorded: Recorded, entry: Create["record"] | undefined): boolean {
      const { runs, markFor } = recorded;
      // What it was to replace may be replaced by now.
      const marks = [undefined, ...formerIdsOf(recorded)].map(markFor);
      const moments = [...sendings].flatMap((sending) => {
        const [mark = "", at = ""] = sending.split(" ");
        return marks.includes(mark) ? at : [];
      });
      if (entry?.state === "closed" || entry?.state === "confirmed") moments.push(entry.at);
      return moments.some((at) => runs.every((run) => run !== "" && isSinceRun(run, at)));
    },
  };
}

/** Whose journal is about a resource. */
function providerOf({ type, provider = "" }: Resource): string | undefined {
  const [, , , name = ""] = provider.split("::");
  const of = resourceOfType(type);
  if (of === undefined || type !== pluginTokenOf(of.name)) return undefined;
  return pluginProvider(name);
}

/** What Pulumi's record of interrupted runs has of one create. */
interface Recorded extends Create {
  /** The names of those runs; empty for one that gave none. */
  readonly runs: readonly string[];
  /** Its mark, if it was to replace this object. */
  readonly markFor: (replaces: string | undefined) => string;
}

/** What was sent, or was about to be, by key. */
function recordedIn(stack: ExportedStack, place: StackPlace): Map<string, Recorded> {
  const { time } = stack;
  const current = stack.resources.filter((each) => each.delete !== true);
  const byUrn = new Map(current.map((each) => [each.urn, each]));
  const all = new Map<string, Recorded>();
  for (const { type, resource } of stack.pending.toReversed())
    for (const each of sentIn(type, resource, byUrn.get(resource.urn), {
      ...place,
      time,
    })) {
      const before = all.get(each.ref.key);
      const runs = [...(before?.runs ?? []), ...each.runs];
      all.set(each.ref.key, { ...joinedRecords(each, before), runs });
    }
  return all;
}

/** Of two that differ, nobody knows which one was sent: it is known by their name alone, if they share it. */
function joinedRecords<T extends Create>(create: T, other: Create | undefined): T {
  const { body, name } = create.record;
  // Of a body with secrets nobody knows.
  if (other === undefined || (body !== "" && body === other.record.body)) return create;
  const record = { ...create.record, body: "", facts: {} };
  if (name !== other.record.name) record.name = undefined;
  return { ...create, record, known: "record" };
}

/** The creates of one operation. @param former the resource in the state. */
function sentIn(
  type: string,
  resource: Resource,
  former: Resource | undefined,
  place: StackPlace & Pick<ExportedStack, "time">,
): Recorded[] {
  const { urn, inputs = {} } = resource;
  const of = resourceOfType(resource.type);
  // Of an all-secret set nothing is known.
  if (of === undefined || isSecret(inputs.events)) return [];
  const isSet = "member" in of;
  // A set in the state was created; during an update it is as it was before.
  const isNew = type === "creating" && !(isSet && former);
  const isOpen = isNew || (type === "updating" && isSet);
  if (!isOpen) return [];
  const kind = kindOf(of);
  const objects = plannedObjects(
    kind,
    readStored(of, former?.id, former?.outputs ?? {}),
    readDeclared(of, inputs),
  );
  // Without a changed argument, a run keeps the name of an earlier one, perhaps another machine's. Then the record is as
  // old as the state at least: an answer that was given later counts.
  const isItsOwn = type === "creating" || inputs[RUN] !== former?.inputs?.[RUN];
  const run = isItsOwn ? String(inputs[RUN] ?? "") : place.time && `${place.time} `;
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
    const provider = providerOf(resource);
    const ref = refIn(of, urn, key);
    return { ref, record, known: "record", provider, runs: [run], markFor };
  });
}
