/**
 * This machine's notes of creates: each run of a stack has a file, with what it has sent and what came back, until the
 * run ends cleanly. After a clean end the state is the truth. Tests name these promises:
 *
 * M1. A create's entry is on the disk before each sending. Otherwise a kill could lead to two objects.
 * M2. An entry counts until the state accounts for its create, a person or a search resolves it, or it certainly wasn't
 *     carried out. What to make of the entries, `plan/open-creates.ts` decides.
 * M3. A mark has one entry, whichever files note it.
 * M4. Only the run itself writes its file. It checks before and after each write that the file is still its own. A
 *     later run waits until that process has ended.
 * M5. A journal that can't be read or written stops every create. Only an unfinished last line is ignored, since
 *     nothing is sent before its line is complete.
 * M6. An entry is never changed in place, and has nothing secret in it.
 *
 * | from | event | to |
 * |---|---|---|
 * | none, closed, sent (again) | a POST begins ({@link Journal.recordSending}) | sent |
 * | sent; none if only Pulumi's record had it | a response or search has the id ({@link Journal.recordCreated}) | created |
 * | sent | certainly not carried out ({@link Journal.recordNotCarriedOut}) | closed |
 * | any | all that the file has was returned to the engine, and the run ends cleanly | no file |
 */
import type { JournalError } from "../base/index.js";
import {
  type Disk,
  openPrivate,
  readOpened,
  replacePrivate,
  systemDisk,
} from "../files/index.js";
import {
  applyLine,
  headerLine,
  type JournalEntry,
  type JournalLine,
  journalPaths,
  lineOf,
  parseJournal,
  type RunHeader,
  type RunJournal,
  readJournal,
} from "./journal-entry.js";
import {
  awaitEnd,
  JournalFile,
  type JournalOptions,
  journalErrorFrom,
  lockPath,
} from "./journal-file.js";
import { journalPath, type StackPlace } from "./places.js";

export interface RunOfJournal
  extends Pick<RunHeader, "run" | "engine" | "provider" | "hasCheckpoints"> {
  place: StackPlace;
}

export class Journal {
  readonly #file: JournalFile;
  readonly #entries = new Map<string, JournalEntry>();
  #opening: Promise<void> | undefined;
  #trouble: JournalError | undefined;
  /** The marks of creates whose outcomes were returned to the engine. */
  readonly #returned = new Set<string>();
  /** The state that this run began with: noted once it is known, with the next entry. */
  start: Pick<RunHeader, "from" | "stateRuns"> = { from: "" };
  #isStartNoted = false;

  constructor(
    private readonly of: RunOfJournal,
    private readonly options: JournalOptions,
  ) {
    this.#file = new JournalFile(
      journalPath({ ...of.place, run: of.run }, options.folder),
      options,
    );
  }

  get path(): string {
    return this.#file.path;
  }

  /** Never fails: {@link assertUsable}, which only creates call, throws the error. */
  openOnce(): Promise<void> {
    const { place, ...run } = this.of;
    this.#opening ??= this.#file
      .open({ stack: place.stack, ...run })
      .catch((error: JournalError) => {
        this.#trouble ??= error;
      });
    return this.#opening;
  }

  /** @throws JournalError if the journal can't be used (M4, M5). */
  async assertUsable(): Promise<void> {
    await this.openOnce();
    if (this.#trouble) throw this.#trouble;
  }

  /** Why an `up` could not use the journal, for a preview; undefined if it could. */
  get trouble(): JournalError | undefined {
    return this.#trouble ?? this.#file.writeProblem();
  }

  /**
   * The files of earlier runs that may be about this stack. If one can't be read, {@link assertUsable} throws.
   * @param runs the runs that Pulumi's record names. @param mayBeOurs whether to wait for a run that still writes its
   * file; undefined in a preview, which waits for none.
   */
  async readEarlier(
    runs: ReadonlySet<string>,
    mayBeOurs?: (run: RunJournal) => boolean,
  ): Promise<readonly RunJournal[]> {
    const { options, of } = this;
    const found: RunJournal[] = [];
    let path = options.folder;
    try {
      for (path of journalPaths(options, of.place, runs)) {
        const journal = path === this.path ? undefined : readJournal(path, options.disk);
        // Another provider's process of this run.
        const isSibling = of.engine !== undefined && journal?.engine === of.engine;
        if (!journal || isSibling) continue;
        const isAwaited = mayBeOurs?.(journal) === true;
        found.push((isAwaited && (await readAtEnd(path, options))) || journal);
      }
    } catch (error) {
      this.#trouble ??= journalErrorFrom(path, error);
    }
    return found;
  }

  /** Notes a create before it is sent. Nothing may be sent until this resolves (M1). @throws JournalError */
  async recordSending(entry: Omit<JournalEntry, "state" | "id">): Promise<void> {
    const line = { ...entry, state: "sent" } as const;
    await this.#write(line, "Nothing was sent. ");
    // Only after the write: if that fails, nothing is sent, and this run must not believe otherwise.
    applyLine(this.#entries, line);
  }

  /**
   * Notes the id of a create's object. @param found the create itself, for a search's result.
   * @throws JournalError if the id can't be noted; the object exists all the same.
   */
  async recordCreated(
    mark: string,
    id: string,
    found: Partial<JournalEntry> = {},
  ): Promise<void> {
    await this.#applyAndWrite({ ...found, mark, state: "created", id });
  }

  /** Notes that a create was certainly not carried out. @throws JournalError */
  async recordNotCarriedOut(mark: string): Promise<void> {
    await this.#applyAndWrite({ mark, state: "closed" });
  }

  /** Notes creates that only a pending operation has, which Pulumi's next save drops. Never fails. */
  async keep(creates: readonly Omit<JournalEntry, "state">[]): Promise<void> {
    const lines = creates.map((create) => ({ ...create, state: "sent" }) as const);
    await Promise.allSettled(lines.map((line) => this.#applyAndWrite(line)));
  }

  markReturned(mark: string): void {
    this.#returned.add(mark);
  }

  /**
   * Called when the engine ends the run, after it has saved the state. Synchronous; never fails.
   * @param finished the journals of earlier runs that nobody needs any more.
   * @param hasCheckpoints if false, a kill may have kept Pulumi from saving: a later run has to see the objects.
   */
  closeNow(finished: readonly RunJournal[], hasCheckpoints: boolean): void {
    const isOver = ({ mark, state }: JournalEntry) =>
      state === "closed" || (hasCheckpoints && this.#returned.has(mark));
    this.#file.endNow(![...this.#entries.values()].every(isOver));
    removeJournals(finished, this.options.disk);
  }

  release(): void {
    this.#file.release();
  }

  /** Applied first: the line is true for this run even if the write fails. @throws JournalError */
  async #applyAndWrite(line: JournalLine) {
    applyLine(this.#entries, line);
    await this.#write(line);
  }

  async #write(line: JournalLine, before = "") {
    await this.assertUsable();
    const lines = this.#isStartNoted ? [line] : [this.start, line];
    this.#isStartNoted = true;
    await this.#file.append(lines, before);
  }
}

/**
 * Waits for the run that writes a journal, then reads it: even if that run has removed it. The state that this run has
 * begun with may lack what that one has saved since.
 */
async function readAtEnd(path: string, options: JournalOptions) {
  const { disk = systemDisk } = options;
  const file = openPrivate(path, disk);
  if (file === undefined) return undefined;
  try {
    await awaitEnd(path, options);
    return parseJournal(readOpened(file, path, disk), path);
  } finally {
    disk.closeSync(file);
  }
}

/** Never fails: the next run reads again what can't be removed, or what its process still writes. */
export function removeJournals(
  journals: readonly RunJournal[],
  disk: Disk = systemDisk,
): void {
  for (const { path } of journals) {
    try {
      if (!disk.existsSync(lockPath(path))) disk.rmSync(path, { force: true });
    } catch {
      // See the docstring.
    }
  }
}

/** Replaces journals, with the same entries in other states. Never fails, like {@link removeJournals}. */
export function rewriteJournals(
  journals: readonly RunJournal[],
  disk: Disk = systemDisk,
): void {
  for (const { path, entries, ...header } of journals) {
    const lines = [headerLine(header), ...Array.from(entries.values(), lineOf)];
    try {
      if (!disk.existsSync(lockPath(path)))
        replacePrivate(path, lines.join(""), disk, () => undefined);
    } catch {
      // The next run reads it again.
    }
  }
}

/**
 * Writes the answers of a `pending` command as a journal file of its own; the lines are on the disk when this resolves.
 * @throws JournalError
 */
export async function writeAnswers(
  of: RunOfJournal & Pick<RunHeader, "from" | "stateRuns">,
  lines: readonly JournalLine[],
  options: JournalOptions,
): Promise<void> {
  const file = new JournalFile(
    journalPath({ ...of.place, run: of.run }, options.folder),
    options,
  );
  const { place, ...header } = of;
  await file.open({ stack: place.stack, ...header });
  await file.append(lines).finally(() => file.endNow(true));
}
