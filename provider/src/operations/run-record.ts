/**
 * The facts that a run takes from Pulumi's record and this machine's journals. They are read once, beside the run's other
 * work. A run that changes nothing doesn't wait for them.
 *
 * The record may stop something at any time. It permits something (a delete) only if it shows this run's own: a
 * resource as the engine has passed it to this run, or the operation that is under way. Otherwise it may be another
 * backend's.
 */
import type { Clock } from "../base/index.js";
import type { Disk } from "../files/index.js";
import {
  type EngineNotes,
  type Journal,
  type RunJournal,
  rewriteJournals,
} from "../journal/index.js";
import { type Kind, resourceOfType } from "../kinds/index.js";
import {
  asLastSent,
  isMade,
  isOfState,
  type NotedCreate,
  type OpenCreate,
  OpenCreates,
  objectOf,
  openCreates,
  settledJournals,
} from "../plan/index.js";
import {
  accountIn,
  allResources,
  type ExportedObject,
  type ExportedStack,
  type InterruptedChanges,
  providerIn,
  type Resource,
  type SavedState,
  savedStateOf,
} from "../record/index.js";
import type { IsSameAccount } from "../settings/index.js";
import {
  keyOfUrn,
  noteNames,
  type ObjectRef,
  parseKey,
  pendingLine,
  resourceKeyIn,
  senderIn,
  type Unresolved,
} from "../state/index.js";

interface RecordOptions {
  /** Whether a run is this one, in this process or another provider's. */
  isThisRun: (run: string) => boolean;
  isSameAccount: IsSameAccount;
  provider: string | undefined;
  read: () => Promise<ExportedStack>;
  /** Undefined if this run doesn't know its stack. */
  journal: () => Journal | undefined;
  /** Undefined in a run that is neither an `up` nor a refresh, or if the engine isn't known. */
  notes: EngineNotes | undefined;
  /** An `up` waits for runs that are still ending. */
  isUp: () => boolean;
  /** If false, what this run has resolved counts only once a later run has seen it in the state. */
  hasCheckpoints: boolean;
  warn: (message: string) => void;
  clock: Clock;
}

/** A backend that saves late may show the operation under way only then. */
const READ_AFTER_MS = [0, 500, 1500];

/** A first read that has failed later than this, for example by its time limit, isn't tried again. */
const AT_ONCE_MS = 5000;

/** How long a read for a delete counts for the next ones. */
const SHARED_MS = 1000;

export class RunRecord {
  /** The saved state, once it was read. */
  arrived: SavedState | undefined;
  isUnreadable = false;
  /** An object of this provider that the state has under another account. */
  foreign: ExportedObject | undefined;
  /** The journals' creates for whose resource the state has another object. */
  readonly superseded: OpenCreate[] = [];
  #reading: Promise<SavedState | undefined> | undefined;
  #now: Promise<SavedState | undefined> | undefined;
  readonly #opening = new Map<boolean, Promise<OpenCreates>>();
  #isBelieved = false;
  #journals: readonly RunJournal[] = [];
  /** By mark, the keys of open creates at the start, as they were sent. */
  openKeys: ReadonlyMap<string, string> = new Map();
  /** By mark, the creates as the record's operations and the journals have them. */
  #lastSent: ReadonlyMap<string, OpenCreate> = new Map();
  /** The marks of creates that the state lists as unresolved after this run, so that no journal has to. */
  readonly listedAfter = new Set<string>();
  /** Resources as the engine has passed them to this run. */
  readonly #passed: ((resource: Resource) => boolean)[] = [];
  /** Objects (`objectKey`) and creates (marks) that the engine has shown in the state. */
  readonly seenInState = new Set<string>();
  /** The marks of creates that this run has resolved. */
  readonly resolved = new Set<string>();

  constructor(private readonly options: RecordOptions) {}

  get hasBegun() {
    return this.#reading !== undefined;
  }

  /** The saved state; undefined, with one warning, if Pulumi can't be asked. The first call starts to read it. */
  state() {
    const { warn, notes, isThisRun, provider, isSameAccount } = this.options;
    this.#reading ??= this.#readTwice()
      .then((stack) => {
        const before = notes?.read() as InterruptedChanges | undefined;
        const saved = savedStateOf(stack, { isThisRun, before });
        const { creates, objects } = saved.changes;
        if (creates.length + objects.length > 0) notes?.write(saved.changes);
        this.foreign = saved.objects.find(({ resource }) => {
          if (providerIn(resource) !== provider) return false;
          return !isSameAccount(accountIn(resource));
        });
        this.arrived = saved;
        return saved;
      })
      .catch((error: Error) => {
        this.isUnreadable = true;
        warn(
          `Pulumi's record of this stack can't be read: ${error.message}. ` +
            "So only this machine's journal prevents a second create, nothing is deleted, and the ids of what leaves the state may not be named. " +
            `If a run of this stack was interrupted elsewhere, run \`${pendingLine()}\` first.`,
        );
        return undefined;
      });
    return this.#reading;
  }

  /** A second time if the first fails at once: the engine may just be writing the state. */
  #readTwice() {
    const { read, clock } = this.options;
    const beganMs = clock.monotonicMs();
    return read().catch(async (error) => {
      if (clock.monotonicMs() - beganMs > AT_ONCE_MS) throw error;
      await clock.sleep(500);
      return read();
    });
  }

  /**
   * The saved state as it is before a delete: another provider's process may have adopted the object since this run has
   * read it. Deletes that come together share one read. Undefined if the state can't be read, or isn't believed.
   */
  stateNow() {
    this.#now ??= this.#readNow().finally(() => {
      this.options.clock.alarm(SHARED_MS, () => {
        this.#now = undefined;
      });
    });
    return this.#now;
  }

  async #readNow() {
    const { read, clock } = this.options;
    const start = await this.state();
    if (!start) return undefined;
    this.#isBelieved ||= this.#showsOwn(start);
    for (const ms of READ_AFTER_MS) {
      await clock.sleep(ms);
      const saved = await read().then(savedStateOf, () => undefined);
      if (!saved) continue;
      this.#isBelieved ||= this.#showsOwn(saved);
      if (this.#isBelieved) return saved;
    }
  }

  #showsOwn({ resources, runs }: SavedState) {
    const isOwn = runs.values().some(this.options.isThisRun);
    return isOwn || resources.some((each) => this.#passed.some((isSame) => isSame(each)));
  }

  /** The creates of earlier runs that are still open. */
  open() {
    const isUp = this.options.isUp();
    const opening = this.#opening.get(isUp) ?? this.#open(isUp);
    this.#opening.set(isUp, opening);
    return opening;
  }

  async #open(isUp: boolean) {
    const { isThisRun, journal } = this.options;
    const saved = await this.state();
    const own = journal();
    if (!own) {
      // A refresh may ask about what is only read before it knows its stack.
      this.#opening.delete(isUp);
      return new OpenCreates();
    }
    const isAwaited = (run: RunJournal) =>
      isUp && (!saved || isOfState(run, saved, isThisRun));
    this.#journals = await own.readEarlier(saved?.runs ?? new Set(), isAwaited);
    const { open, superseded, lastSent } = openCreates(saved, this.#journals, isThisRun);
    this.superseded.push(...superseded);
    this.#lastSent = lastSent;
    this.openKeys = new Map(open.map(({ mark, key }) => [mark, key]));
    // An unresolved resource may have got another name in the program: then the engine drops it without asking.
    const all = [...open, ...(saved?.unresolved.values() ?? [])].flat();
    for (const { key } of all) noteNames(parseKey(key));
    const named = this.#namedHere(saved);
    // A create of the other front end is this one's only after a move.
    const ofHere = all.filter(({ key, provider }) => {
      return this.#isOfHere(provider) || !named.has(resourceKeyIn(key));
    });
    return new OpenCreates(all, ofHere);
  }

  /** Whether a provider has the same front end as this one. */
  #isOfHere(provider: string | undefined) {
    return (provider === undefined) === (this.options.provider === undefined);
  }

  /** The keys of the resources of this front end that the record had when the run began. */
  #namedHere(saved: SavedState | undefined) {
    const all = saved && allResources(saved);
    const keys = all?.flatMap((each) => {
      const { type, urn, inputs = {} } = each;
      const of = resourceOfType(type);
      const isEarlier = !this.options.isThisRun(senderIn(inputs).run);
      return of && isEarlier && this.#isOfHere(providerIn(each))
        ? keyOfUrn(of.name, urn)
        : [];
    });
    return new Set(keys);
  }

  /** The states of an object's resource, with those that this run has saved or is about to save. */
  statesOf(kind: Kind, id: string, ref: ObjectRef | undefined, saved: SavedState) {
    const underWay = saved.pending.filter(({ resource: { urn, inputs = {} } }) => {
      return urn === ref?.resourceUrn && this.options.isThisRun(senderIn(inputs).run);
    });
    const now = saved.resourceAt(ref?.resourceUrn ?? "") ?? [];
    const states = [...saved.holdersOf(kind.name, id), ...underWay];
    return [states.map(({ resource }) => resource), now].flat();
  }

  /** Notes a resource as the engine has passed it. @param isSame whether a resource of the record is that one. */
  notePassed(isSame: (resource: Resource) => boolean) {
    // A few are proof enough.
    if (this.#passed.length < 10) this.#passed.push(isSame);
  }

  /** Notes an adoption: what earlier runs have made for the resource or member is another object. */
  async noteAdopted(keys: readonly string[], id: string) {
    const made = (await this.open()).of(keys).filter(isMade);
    this.superseded.push(...made.filter((each) => each.id !== id));
  }

  hasSeen(create: Pick<OpenCreate, "key" | "id" | "mark">) {
    return this.#isShown(create) || this.resolved.has(create.mark);
  }

  /** Whether the engine has shown the create's outcome in the state. */
  #isShown(create: Pick<OpenCreate, "key" | "id" | "mark">) {
    return [create.mark, objectOf(create)].some((name) => this.seenInState.has(name));
  }

  /** Whether Pulumi's next save drops the create from its record: an interrupted update of a set has sent it. */
  willForget({ isOfUpdate, mark }: OpenCreate) {
    return isOfUpdate && this.arrived?.listed(mark) !== undefined;
  }

  asLastSent(record: Unresolved) {
    const { mark } = record;
    return asLastSent(record, this.#lastSent.get(mark), this.arrived?.listed(mark));
  }

  /** An unresolved create of an object, by the name that `pending` lists. */
  listedRef({ mark }: Unresolved, { key }: ObjectRef) {
    const [inState] = this.arrived?.unresolved.get(mark) ?? [];
    return parseKey(this.openKeys.get(mark) ?? inState?.key ?? key);
  }

  /** The marks that the record lists for these keys, of creates that are not open, or no longer. */
  overOf(keys: readonly string[]) {
    const listed = keys.flatMap((key) => this.arrived?.sentByKey.get(key) ?? []);
    const over = listed.filter((create) => {
      const isOver = !this.openKeys.has(create.mark) || this.hasSeen(create);
      return isOver && !this.options.isThisRun(create.run);
    });
    return over.map(({ mark }) => mark);
  }

  /** Only the outcomes that a pending operation still asks for. */
  stillListed(outcomes: ReadonlyMap<string, string>) {
    const { arrived } = this;
    return new Map([...outcomes].filter(([mark]) => !arrived || arrived.listed(mark)));
  }

  /** At a clean end: takes out of the earlier runs' journals what nobody needs any more. */
  closeJournals(disk: Disk) {
    const { hasCheckpoints, isSameAccount, isThisRun } = this.options;
    const isOpen = (create: NotedCreate) => {
      const { mark, account } = create;
      const isSettled = this.resolved.has(mark) || this.listedAfter.has(mark);
      const isShown = isSameAccount(account) && this.#isShown(create);
      return this.openKeys.has(mark) && !isShown && !(isSettled && hasCheckpoints);
    };
    rewriteJournals(settledJournals(this.#journals, this.arrived, isOpen, isThisRun), disk);
  }
}
