/**
 * What a run learns from Pulumi's record and this machine's journals: read once, in parallel with whatever else there is
 * to do. A run that changes nothing doesn't wait for it.
 *
 * The record may stop something at any time. It permits something (a delete) only if it shows this run's own: a
 * resource as the engine has passed it to this run, or the operation that is under way. Otherwise it may be another
 * backend's.
 */
import { type Clock, inStack } from "../base/index.js";
import type { Journal, RunJournal } from "../journal/index.js";
import {
  type CreatesAtStart,
  finishedJournals,
  isOfState,
  type OpenCreate,
  OpenCreates,
  objectOf,
  openCreates,
  startOf,
  withEndedClosed,
} from "../plan/index.js";
import {
  type ExportedStack,
  type Resource,
  type SavedState,
  savedStateOf,
} from "../record/index.js";
import { ACCOUNT, runIn } from "../state/index.js";

interface RecordOptions {
  /** Whether a run is this one, in this process or another provider's. */
  isThisRun: (run: string) => boolean;
  read: () => Promise<ExportedStack>;
  /** Undefined if this run doesn't know its stack. */
  journal: () => Journal | undefined;
  warn: (message: string) => void;
  clock: Clock;
}

/** A backend that saves late may show the operation under way only then. */
const READ_AGAIN_AFTER_MS = [500, 1500];

/** How long a read for a delete counts for the next ones. */
const SHARED_MS = 1000;

export class RunRecord {
  /** The saved state, once it was read. */
  arrived: SavedState | undefined;
  #reading: Promise<SavedState | undefined> | undefined;
  #now: Promise<SavedState | undefined> | undefined;
  readonly #opening = new Map<boolean, Promise<OpenCreates>>();
  #believed: Promise<boolean> | undefined;
  #creates: CreatesAtStart = { open: [], superseded: [] };
  #journals: readonly RunJournal[] = [];
  /** The marks of creates that the state lists as unresolved after this run. */
  readonly #listedAfter = new Set<string>();
  #listed: Map<string, SavedState["sent"]> | undefined;
  /** The marks in `#creates`. */
  #openMarks: ReadonlySet<string> = new Set();
  /** Resources as the engine has passed them to this run. */
  readonly #passed: ((resource: Resource) => boolean)[] = [];
  /** Objects (`objectKey`) and creates (marks) that this run has seen in the state, or has resolved. */
  readonly #seen = new Set<string>();

  constructor(private readonly options: RecordOptions) {}

  get hasBegun(): boolean {
    return this.#reading !== undefined;
  }

  /** Starts to read the record. */
  begin(): void {
    void this.state();
  }

  /** The saved state; undefined, with one warning, if Pulumi can't be asked. */
  state(): Promise<SavedState | undefined> {
    const { read, warn } = this.options;
    this.#reading ??= read()
      .then((stack) => {
        this.arrived = savedStateOf(stack);
        return this.arrived;
      })
      .catch((error: Error) => {
        warn(
          `Pulumi's record of this stack can't be read: ${error.message}. ` +
            "So only this machine's journal prevents a second create, and nothing is deleted on the platform. " +
            `If a run of this stack was interrupted elsewhere, run \`${inStack("npx pulumi-advertising pending")}\` first.`,
        );
        return undefined;
      });
    return this.#reading;
  }

  /**
   * The saved state as it is before a delete: another provider's process may have adopted the object since this run has
   * read it. Deletes that come together share one read. Undefined if it fails.
   */
  stateNow(): Promise<SavedState | undefined> {
    if (!this.hasBegun) return this.state();
    this.#now ??= this.options
      .read()
      .then(savedStateOf)
      .catch(() => undefined)
      .finally(() => setTimeout(() => (this.#now = undefined), SHARED_MS).unref());
    return this.#now;
  }

  /** The creates of earlier runs that are still open. @param isUp if true, waits for runs that are still ending. */
  open(isUp: boolean): Promise<OpenCreates> {
    const opening = this.#opening.get(true) ?? this.#opening.get(isUp) ?? this.#open(isUp);
    this.#opening.set(isUp, opening);
    return opening;
  }

  async #open(isUp: boolean) {
    const { isThisRun, journal } = this.options;
    const saved = await this.state();
    const own = journal();
    if (!own) return new OpenCreates();
    own.start = startOf(saved);
    const isOurs = (run: Parameters<typeof isOfState>[0]) =>
      !saved || isOfState(run, saved);
    const journals = await own.readEarlier(
      saved?.runs ?? new Set(),
      isUp ? isOurs : undefined,
    );
    this.#creates = openCreates(saved, journals, isThisRun);
    this.#openMarks = new Set(this.#creates.open.map(({ mark }) => mark));
    this.#journals = journals;
    const open = new OpenCreates(this.#creates.open);
    // An unresolved resource may have got another name in the program: then the engine drops it without asking.
    for (const { ref, record, resource } of saved?.objects ?? []) {
      const { [ACCOUNT]: account } = resource.outputs ?? {};
      if (record)
        open.add({
          ...record,
          key: ref.key,
          run: "",
          account: account as string | undefined,
          isInState: true,
        });
    }
    return open;
  }

  /** The journal's creates for whose resource the state has another object. */
  get superseded(): readonly OpenCreate[] {
    return this.#creates.superseded;
  }

  /** Notes a resource as the engine has passed it. @param isSame whether a resource of the record is that one. */
  notePassed(isSame: (resource: Resource) => boolean): void {
    // A few are proof enough.
    if (this.#passed.length < 10) this.#passed.push(isSame);
  }

  /** @param name an object (`objectKey`) or a create (its mark) that the state has, or that this run has resolved. */
  noteSeen(name: string): void {
    this.#seen.add(name);
  }

  /** Notes a create that the state lists as unresolved after this run, so that no journal has to. */
  noteListed(mark: string): void {
    this.#listedAfter.add(mark);
  }

  hasSeen(create: OpenCreate): boolean {
    return this.#seen.has(create.mark) || this.#seen.has(objectOf(create));
  }

  /** Whether the record shows this run's own, so that it may permit something. */
  isBelieved(): Promise<boolean> {
    this.#believed ??= this.#believe();
    return this.#believed;
  }

  async #believe() {
    const { read, clock, isThisRun } = this.options;
    const isOwn = ({ resources, pending }: Pick<SavedState, "resources" | "pending">) =>
      pending.some(({ resource }) => isThisRun(runIn(resource.inputs ?? {}).run)) ||
      resources.some((resource) => this.#passed.some((isSame) => isSame(resource)));
    const saved = await this.state();
    if (!saved) return false;
    if (isOwn(saved)) return true;
    for (const ms of READ_AGAIN_AFTER_MS) {
      await clock.sleep(ms);
      const again = await read().catch(() => undefined);
      if (again && isOwn(again)) return true;
    }
    return false;
  }

  /** The marks that the record lists for these keys, of creates that are not open, or no longer. */
  overOf(keys: readonly string[]): string[] {
    this.#listed ??= Map.groupBy(this.arrived?.sent ?? [], ({ key }) => key);
    const listed = keys.flatMap((key) => this.#listed?.get(key) ?? []);
    const over = listed.filter(({ run, mark }) => {
      const isOver = !this.#openMarks.has(mark) || this.#seen.has(mark);
      return isOver && !this.options.isThisRun(run);
    });
    return over.map(({ mark }) => mark);
  }

  /** Only the outcomes that a pending operation still asks for. */
  stillListed(outcomes: ReadonlyMap<string, string>): Map<string, string> {
    const { arrived } = this;
    return new Map([...outcomes].filter(([mark]) => arrived?.lists(mark) !== false));
  }

  /**
   * The earlier runs' journals that nobody needs any more. With checkpoints off, what this run has resolved counts only
   * once a later run has seen it in the state.
   */
  finishedJournals(hasCheckpoints: boolean): RunJournal[] {
    const isOpen = (mark: string) => {
      const isSettled = this.#seen.has(mark) || this.#listedAfter.has(mark);
      return this.#openMarks.has(mark) && !(isSettled && hasCheckpoints);
    };
    return finishedJournals(this.#journals, this.arrived, isOpen);
  }

  /** The journals that go on, with the creates closed that the state accounts for. @param finished the others. */
  journalsToClose(finished: readonly RunJournal[]): RunJournal[] {
    const others = this.#journals.filter((each) => !finished.includes(each));
    if (!this.arrived) return [];
    return withEndedClosed(others, this.arrived);
  }
}
