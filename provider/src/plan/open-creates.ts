/**
 * Which creates of earlier runs are open. Pulumi's record (the saved state with its pending operations) is compared with
 * this machine's journals. Runs, previews and `pending` ask this. Pure.
 *
 * | a create is | if |
 * |---|---|
 * | never sent | it has its run's mark, and that run's journal is on this machine, and doesn't have it |
 * | ended | the state has its object, or had it; or the state or a journal says that it wasn't carried out, and no journal has its id |
 * | superseded | the state has another object for its resource than the one that it was to replace |
 * | unresolved | the state lists it as unresolved |
 * | open | otherwise |
 *
 * A journal is this state's if the record names its run, or a run that the state named then. With checkpoints off, also
 * if the guess of the backend is the same, and the state is empty, or still the one that the run began with (`pending`
 * notes the time of its own refresh), or has an object that the run created. From any other journal of this place, or of
 * one whose state was copied to this place, nothing is taken over: its creates are `doubtful`, and a person is asked. So is
 * a create whose outcome the engine has got, and which the record has no more: it was saved, or the record was cleared.
 */
import { withoutUndefined } from "../base/index.js";
import type { KindName } from "../kinds/index.js";
import {
  type CreateRecord,
  idOfObject,
  isOfPlugin,
  markOf,
  type ObjectRef,
  objectKey,
  parseKey,
  type SentCreate,
  type Unresolved,
  whatHappened,
} from "../state/index.js";

/** The saved state's facts about creates and their objects. */
export interface SavedCreates {
  /** When the state was saved; empty for a stack that was never saved. */
  time: string;
  isEmpty: boolean;
  /** The runs that resources and pending operations name. */
  runs: ReadonlySet<string>;
  /** The creates in pending operations. */
  sent: readonly SentCreate[];
  /** The outcomes of creates, by mark: an object (`objectKey`), or an empty text. */
  resolved: ReadonlyMap<string, string>;
  byKey: ReadonlyMap<string, { id: string | undefined; ref?: ObjectRef }>;
  /** The creates that the state lists as unresolved, by mark. */
  unresolved: ReadonlyMap<string, readonly (OpenCreate & Unresolved)[]>;
  /** Whether a resource has this object. @param account where the object was created, if that is known. */
  hasObject(kind: KindName, id: string, account: string | undefined): boolean;
  /** The resources or members that had this object, and left it live. */
  leftBy(kind: KindName, id: string): readonly { ref: ObjectRef }[];
}

/** A create as a journal has it. */
export interface NotedCreate extends OpenCreate {
  /**
   * - `sent`: the create may have been carried out, and nobody knows the id;
   * - `created`: the id is known;
   * - `closed`: the create certainly was not carried out, or somebody has answered so.
   */
  state: "sent" | "created" | "closed";
  /** The engine has got the outcome, and saves each one. */
  isReturned?: boolean;
}

/** The journal of an earlier run. */
export interface NotedRun {
  run: string;
  /** {@link SavedCreates.time} of the state that the run began with. */
  from?: string;
  /** The plugin's provider; undefined for the dynamic provider. */
  provider?: string | undefined;
  /** Some of the runs that this state named: the record may forget this run. */
  stateRuns?: readonly string[];
  /** Whether Pulumi saves each operation of the run before it begins; absent if that isn't known. */
  hasCheckpoints?: boolean;
  /** By mark. */
  entries: ReadonlyMap<string, NotedCreate>;
}

export interface OpenCreate extends SentCreate {
  /** Set if the create is known to have made an object. */
  id?: string | undefined;
  account?: string;
  /** The plugin's provider that sent it, if a journal has it. */
  provider?: string | undefined;
  isDoubtful?: boolean;
  /** The state lists it as unresolved. */
  isInState?: boolean;
  /** The URN of the resource in the state or in a pending operation that has it. */
  urn?: string;
}

/** Whether the record proves that a journal is this state's. */
export function isOfState(
  journal: NotedRun,
  saved: SavedCreates,
  isThisRun = (_run: string) => false,
) {
  const { run, from, stateRuns = [], hasCheckpoints, entries } = journal;
  if ([run, ...stateRuns].some((each) => saved.runs.has(each))) return true;
  // Otherwise the record would name the run.
  if (hasCheckpoints) return false;
  // Neither an empty state nor its pending operations have named a run, then and now.
  const isNew = saved.isEmpty && [...saved.runs].every(isThisRun);
  const isOfEmpty = isNew && stateRuns.length === 0;
  if (isOfEmpty || (saved.time !== "" && from === saved.time)) return true;
  return entries.values().some(({ key, id, account }) => {
    return id !== undefined && saved.hasObject(parseKey(key).kind, id, account);
  });
}

/** A few are enough: some of them stay in the state. */
const MAX_STATE_RUNS = 10;

/** The part of a journal's header that describes the state at its run's start. */
export function startOf(saved: SavedCreates | undefined) {
  const stateRuns = [...(saved?.runs ?? [])].slice(0, MAX_STATE_RUNS);
  return { from: saved?.time ?? "", stateRuns };
}

/**
 * @param saved undefined if Pulumi can't be asked: then each journal of this place is taken for this state's.
 * @param isThisRun whether a run is this one: its own pending operations don't count.
 */
export function openCreates(
  saved: SavedCreates | undefined,
  journals: readonly NotedRun[],
  isThisRun = (_run: string) => false,
) {
  const noted = journals.flatMap((journal) => {
    const isDoubtful = saved !== undefined && !isOfState(journal, saved, isThisRun);
    const { provider, entries } = journal;
    return Array.from(entries.values(), (entry) => ({ ...entry, isDoubtful, provider }));
  });
  const entriesOf = new Map(journals.map(({ run, entries }) => [run, entries]));
  const listed = (saved?.sent ?? []).filter((create) => {
    const { run, mark } = create;
    // With another run's mark, that run may have sent it.
    const isNeverSent = isFirstSending(create) && entriesOf.get(run)?.has(mark) === false;
    return !isThisRun(run) && !isNeverSent;
  });
  const pending: NotedCreate[] = listed.map((create) => ({ ...create, state: "sent" }));
  const all = Map.groupBy([...pending, ...noted], ({ mark }) => mark);
  const open: OpenCreate[] = [];
  /** The journals' creates with an id for whose resource the state has another object. */
  const superseded: OpenCreate[] = [];
  /** By mark, all that journals and pending operations have. */
  const lastSent = new Map<string, OpenCreate>();
  for (const [mark, reports] of all) {
    const { state, ...create } = joinReports(reports);
    if (state === "closed") continue;
    const id = create.id ?? idOfObject(saved?.resolved.get(mark) ?? "");
    const known = { ...create, id };
    // The state had it, and somebody has taken it out; or the record was cleared.
    if (saved && reports.every(({ isReturned }) => isReturned)) known.isDoubtful = true;
    // A search would find another state's object too.
    if (known.isDoubtful) known.field = undefined;
    lastSent.set(mark, known);
    const standing = saved ? standingOf(known, saved) : "open";
    if (standing === "open") open.push(known);
    if (standing === "superseded" && create.id !== undefined) superseded.push(known);
  }
  return { open, superseded, lastSent };
}

/** Whether the run that names a create is the one that has sent it first. Any other keeps its mark. */
function isFirstSending({ run, key, mark }: SentCreate) {
  return mark === markOf(run, key);
}

/** How the saved state accounts for a create; see the table above. */
export function standingOf(create: OpenCreate, saved: SavedCreates) {
  const { key, mark, id, account, replaces, provider } = create;
  const { kind } = parseKey(key);
  // A response's id proves more than an answer.
  if (id === undefined && saved.resolved.get(mark) === "") return "ended";
  if (id !== undefined) {
    const hasLeft = saved.leftBy(kind, id).some(({ ref }) => ref.key === key);
    if (hasLeft || saved.hasObject(kind, id, account)) return "ended";
  }
  if (saved.unresolved.has(mark)) return "unresolved";
  const { id: idInState, ref } = saved.byKey.get(key) ?? {};
  // The other front end may have a resource of the same name.
  if (ref && isOfPlugin(ref) !== (provider !== undefined)) return "open";
  if (idInState !== undefined && idInState !== replaces) return "superseded";
  return "open";
}

const RANK = { sent: 0, created: 1, closed: 2 };

/**
 * Joins the reports of one mark: who knows most about the outcome wins, then the last sending. What was sent is known
 * from who knows the object, or if all agree.
 */
function joinReports(given: readonly NotedCreate[]) {
  // Another state's answers say nothing about this state's create.
  const sure = given.filter(({ isDoubtful }) => !isDoubtful);
  const reports = sure.length > 0 ? sure : given;
  const byTime = reports.toSorted((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
  const sorted = byTime.toSorted((a, b) => RANK[a.state] - RANK[b.state]);
  const all: NotedCreate = Object.assign({}, ...sorted.map(withoutUndefined));
  // Whoever has found the object has noted the moment that it knew.
  all.at = byTime.at(-1)?.at ?? all.at;
  all.isDoubtful = reports.every(({ isDoubtful }) => isDoubtful);
  delete all.isReturned;
  // It is about one sending only.
  if (reports.length > 1) delete all.latest;
  const sending = reports.filter(
    ({ state }) => all.state !== "created" || state === "created",
  );
  const bodies = new Set(sending.map(({ body }) => body).filter((body) => body !== ""));
  const [body = ""] = bodies;
  if (bodies.size <= 1) return { ...all, body };
  const [first] = reports;
  // Without a search, a repeated run has sent nothing: only the earliest operation's create.
  if (first && all.field === undefined)
    return { ...all, body: first.body, args: first.args, name: first.name };
  return { ...all, ...agreed(all, reports) };
}

/** Notes an open create of a resource's object: several of one object are one, of which only what they agree about is known. */
export function addUnresolved(
  unresolved: Map<string, Unresolved>,
  member: string,
  create: OpenCreate,
) {
  const first = unresolved.get(member) ?? asUnresolved(create);
  unresolved.set(member, withoutUndefined({ ...first, ...agreed(first, [create]) }));
}

/** The name and arguments that several creates of one object share, if nobody knows which of them made it. */
function agreed(first: CreateRecord, others: readonly CreateRecord[]) {
  const { body, name, args = {} } = first;
  if (body !== "" && others.every((each) => each.body === body)) return {};
  const same = Object.entries(args).filter(([property, value]) =>
    others.every((each) => each.args?.[property] === value),
  );
  const isNamed = others.every((each) => each.name === name);
  return { body: "", name: isNamed ? name : undefined, args: Object.fromEntries(same) };
}

/**
 * The journals without what the state accounts for: if the state loses such an object later, somebody has taken it out.
 * Only the journals that change; one without entries is no longer needed.
 * @param isOpen whether a create is still open. @param isThisRun as of {@link openCreates}.
 */
export function settledJournals<J extends NotedRun>(
  journals: readonly J[],
  saved: SavedCreates | undefined,
  isOpen: (create: NotedCreate) => boolean,
  isThisRun?: (run: string) => boolean,
) {
  const all = journals.flatMap(({ entries }) => [...entries.values()]);
  const sent = new Set(all.flatMap(({ mark, state }) => (state === "sent" ? mark : [])));
  const listed = saved?.sent.filter((each) => standingOf(each, saved) === "open") ?? [];
  const asking = [...listed, ...all.filter(({ state }) => state !== "closed")];
  const asked = new Set(asking.map(({ mark }) => mark));
  // An answer counts as long as another journal, or a pending operation, asks for it.
  const isNeeded = (create: NotedCreate) => {
    const { state, mark } = create;
    if (state === "closed") return !saved || asked.has(mark);
    if (state === "created" && sent.has(mark)) return true;
    return isOpen(create);
  };
  return journals.flatMap((journal) => {
    // Another state may need it.
    if (saved && !isOfState(journal, saved, isThisRun)) return [];
    const { run, entries } = journal;
    let needed = [...entries].filter(([, create]) => isNeeded(create));
    if (needed.length > 0 && needed.length === entries.size) return [];
    const unsent = listed.some((each) => each.run === run && !entries.has(each.mark));
    // Without any entry, what the run has never sent would count as open.
    if (needed.length === 0 && unsent)
      needed = Array.from(entries, ([mark, each]) => [mark, { ...each, state: "closed" }]);
    return { ...journal, entries: new Map(needed) };
  });
}

/** Open creates by key, and by kind and name on the platform: indexes, since a set may have thousands of events. */
export class OpenCreates {
  readonly #byKey;
  /** The first ones last, where those that are over are taken off. */
  readonly #byName;

  /** @param own those that may be of this front end's resources. */
  constructor(
    readonly all: readonly OpenCreate[] = [],
    readonly own = all,
  ) {
    this.#byKey = Map.groupBy(own, ({ key }) => key);
    this.#byName = Map.groupBy(all.toReversed(), kindAndNameOf);
  }

  /** Whether there is none, also none that was noted. */
  get isEmpty() {
    return this.#byKey.size === 0;
  }

  /** Adds a create that the engine has shown in the state. */
  note(create: OpenCreate) {
    const { key, mark } = create;
    if (this.of([key]).some((each) => each.mark === mark)) return;
    addFirst(this.#byKey, key, create);
    addFirst(this.#byName, kindAndNameOf(create), create);
  }

  /** The creates of a resource or member, also under its former keys. */
  of(keys: readonly string[]) {
    return keys.flatMap((key) => this.#byKey.get(key) ?? []);
  }

  /**
   * The first create of this name that `isMeant` accepts; one of an unknown or secret name has any name.
   * @param isOver whether a create won't count any more. Thousands may have one name, so it isn't asked about again.
   */
  findNamed(
    kind: KindName,
    name: string,
    isOver: (create: OpenCreate) => boolean,
    isMeant: (create: OpenCreate) => boolean,
  ) {
    for (const each of [name, UNNAMED]) {
      const alike = this.#byName.get(`${kind} ${each}`) ?? [];
      for (let last = alike.at(-1); last && isOver(last); last = alike.at(-1)) alike.pop();
      const found = alike.findLast((create) => !isOver(create) && isMeant(create));
      if (found) return found;
    }
  }
}

function addFirst(index: Map<string, OpenCreate[]>, key: string, create: OpenCreate) {
  const all = index.get(key) ?? [];
  all.unshift(create);
  index.set(key, all);
}

function kindAndNameOf({ key, name = UNNAMED }: OpenCreate) {
  return `${parseKey(key).kind} ${name}`;
}

/** Stands for an unknown or secret name: no name on the platform is empty. */
const UNNAMED = "";

/** Whether the create's object is known, so that it can be taken over. */
export function isMade<C extends Pick<OpenCreate, "id" | "isDoubtful">>(
  create: C,
): create is C & { id: string } {
  return create.id !== undefined && !create.isDoubtful;
}

/** An open create without a known object, as a state lists it. */
export function asUnresolved(open: OpenCreate) {
  const { at, latest, mark, body, name, args, field, replaces } = open;
  let what = whatHappened(parseKey(open.key).label, open);
  if (open.isDoubtful)
    what +=
      " Only this machine's journal has it: the state may have had it before, or it may be another state's.";
  // The engine takes no `undefined` in a state.
  return withoutUndefined({ at, latest, mark, body, name, args, field, replaces, what });
}

/**
 * A create that the state lists as unresolved: what it says may be about an earlier sending than the last one.
 * @param last as the journals have it. @param operation the last one that may have sent it.
 */
export function asLastSent(
  record: Unresolved,
  last: OpenCreate | undefined,
  operation: SentCreate | undefined,
) {
  const { at, body, field } = record;
  const again = operation && !isFirstSending(operation) ? operation.body : undefined;
  if (again === undefined && (last?.at || at) === at) return record;
  const { latest: _, ...sent } = record;
  const isSame = [again, last?.body].every((each) => (each ?? body) === body);
  if (field === undefined || (isSame && body !== "")) return sent;
  // After a search, a run with other arguments may have sent it again.
  const { name: __, args: ___, ...unknown } = sent;
  return { ...unknown, body: "" };
}

export function objectOf({ key, id = "" }: Pick<OpenCreate, "key" | "id">) {
  return objectKey(parseKey(key).kind, id);
}
