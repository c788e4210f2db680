/**
 * A stack's journal on the disk: read by anybody, written by one run at a time, which knows when it is that one no longer.
 */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { type Clock, JournalError, momentOf, shellWord } from "../base/index.js";
import {
  AppendFile,
  acquireLock,
  type Disk,
  isInPlace,
  type Lock,
  LockHeld,
  LockLost,
  openPrivate,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  syncFolder,
  systemDisk,
  UntrustedFile,
  withLockNow,
} from "../files/index.js";
import type { CreateRecord } from "../state/index.js";
import { addRunEnd, readRunEnds } from "./beside-journal.js";
import {
  JournalDamaged,
  joinedRecords,
  journalOf,
  lineOf,
  type Note,
  type Revise,
  readJournal,
  recordsIn,
  reviseNow,
  writeNow,
} from "./notes.js";
import { pathsIn } from "./places.js";

/** Enough for 100,000 open notes; a larger file is no journal of ours. */
const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

export interface JournalOptions {
  readonly folder: string;
  /** `<organization>/<project>/<stack>` */
  readonly stack: string;
  readonly clock: Clock;
  readonly newMark: () => string;
  /** How long another run of the same stack may be waited for. */
  readonly maxWaitMs: number;
  /** When this run's engine was started, which has read the state no earlier; by default the store's own beginning. */
  readonly beganMs?: number | undefined;
  /** Where the engine keeps its states. @default unknown */
  readonly backend?: string | undefined;
  /**
   * The engine saves the state only at the end of the run, after it has ended this process (`PULUMI_SKIP_CHECKPOINTS`): until the
   * next run sees it in the state, nobody knows whether what the engine was handed is there.
   */
  readonly savedLast?: boolean;
  readonly disk?: Disk | undefined;
}

/** All that it throws are {@link JournalError}s, in words for users. */
export class JournalFile {
  readonly path: string;
  readonly #options: JournalOptions;
  readonly #disk: Disk;
  readonly #beganMs: number;
  readonly #runEnd: string;
  /** What other runs were handed that this one is behind, as far as it was looked at. */
  #overtaking: readonly CreateRecord[] | undefined;
  #lock: Lock | undefined;
  #file: AppendFile | undefined;
  /** Throws where the open file is not this run's any more. */
  #confirmOurs: (() => void) | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#disk = options.disk ?? systemDisk;
    const { journal, runEnd } = pathsIn(options.folder, options.stack);
    this.path = journal;
    this.#runEnd = runEnd;
    this.#beganMs = Math.min(options.beganMs ?? Infinity, options.clock.wallMs());
  }

  /** Whether another run has ended since this run's engine may have read the state, as far as the journal was read. */
  get isOvertaken(): boolean {
    return this.#overtaking !== undefined;
  }

  /** Whether this run has it, never had it, or has lost it. */
  get use(): "held" | "none" | "lost" {
    if (this.#lock === undefined) return "none";
    return this.#file !== undefined && this.#lock.isHeld() ? "held" : "lost";
  }

  /** Without a lock. */
  async read(): Promise<CreateRecord[]> {
    try {
      const bytes = await readPrivate(this.path, MAX_JOURNAL_BYTES, this.#disk);
      this.#overtaking = this.#lookForOvertaking();
      return bytes === undefined ? [] : readJournal(bytes.toString("utf8"));
    } catch (error) {
      throw inWords(this.path, error);
    }
  }

  /**
   * Takes it for this run, and writes it without the settled notes, so that they do not pile up.
   * @returns the records that were kept. @throws {JournalError} another run has ended meanwhile, too: this one knows too little.
   */
  async open(keep: (entry: CreateRecord) => boolean): Promise<CreateRecord[]> {
    const { clock, newMark, maxWaitMs } = this.#options;
    const disk = this.#disk;
    try {
      this.#lock ??= await acquireLock(`${this.path}.lock`, { clock, unique: newMark(), maxWaitMs, disk });
      const lock = this.#lock;
      await removeLeftovers(this.path, clock.wallMs(), disk).catch(() => undefined); // only to tidy
      const kept = (await this.read()).filter(keep);
      const text = journalOf(joinedRecords(this.#overtaking ?? [], kept));
      await replacePrivate(this.path, text, newMark(), lock.confirm, disk);
      syncFolder(dirname(this.path), disk);
      if (this.#overtaking !== undefined) {
        throw unusable(
          this.path,
          "another run of this stack has ended since this one began, and this one does not know what the other created",
          "Run this again.",
        );
      }
      const handle = await openPrivate(this.path, constants.O_WRONLY | constants.O_APPEND, disk);
      if (handle === undefined) throw new Error("it vanished");
      this.#confirmOurs = () => {
        lock.confirm();
        if (isInPlace(handle, this.path, disk)) return;
        throw unusable(
          this.path,
          "it was removed while this run was using it; nothing more is sent",
          "Run this again.",
          "",
        );
      };
      this.#file = new AppendFile(handle, Buffer.byteLength(text), this.#confirmOurs);
      return kept;
    } catch (error) {
      // A journal that could not be read must stay as it is, at the end of the run too.
      this.release();
      throw inWords(this.path, error);
    }
  }

  /** Resolves when the note is on the disk. Only once it is open. */
  async append(note: Note): Promise<void> {
    try {
      if (this.#file === undefined) throw new Error("it is not open");
      await this.#file.append(lineOf(note));
    } catch (error) {
      if (error instanceof LockLost || error instanceof JournalError) throw inWords(this.path, error);
      throw unusable(
        this.path,
        `it can't be written (${(error as Error).message})`,
        "Make room or fix the permissions.",
        note.note === "sent" ? NOTHING_SENT : "",
      );
    }
  }

  /** @throws {JournalError} it is not this run's any more. */
  confirm(): void {
    try {
      this.#confirmOurs?.();
    } catch (error) {
      throw inWords(this.path, error);
    }
  }

  /**
   * For a run that ends cleanly, and has the journal. Synchronous.
   * @param left what is to be remembered. @param handed what the engine was handed.
   */
  endNow(left: readonly CreateRecord[], handed: readonly CreateRecord[]): void {
    const { clock, backend = "" } = this.#options;
    // Before the journal forgets: a kill between the two must not lose them.
    if (handed.length > 0) {
      addRunEnd(this.#runEnd, { ended: momentOf(clock), backend, records: handed }, this.#disk);
    }
    writeNow(this.path, left, this.#disk);
  }

  /** For a run that ends cleanly, and never had the journal (J5). Synchronous. */
  putBackNow(): void {
    const records = this.#lookForOvertaking() ?? [];
    if (records.length === 0) return;
    const work = () => writeNow(this.path, joinedRecords(records, this.recordsNow()), this.#disk);
    withLockNow(`${this.path}.lock`, work, this.#disk);
  }

  /** What stands in it, at once. @throws JournalDamaged; the system's errors. */
  recordsNow(): CreateRecord[] {
    return recordsIn(this.path, this.#disk);
  }

  reviseNow(revise: Revise): void {
    reviseNow(this.path, revise, this.#disk);
  }

  /** The marks of what engines were handed by runs that had ended when this one began. */
  savedBefore(): ReadonlySet<string> {
    const before = this.#runEnds((endedMs) => endedMs <= this.#beganMs);
    return new Set(before.flatMap(({ records }) => records.map(({ mark }) => mark)));
  }

  #lookForOvertaking(): readonly CreateRecord[] | undefined {
    // A moment in the future is that of a clock that was set back.
    const nowMs = this.#options.clock.wallMs();
    const later = this.#runEnds((endedMs) => endedMs > this.#beganMs && endedMs <= nowMs);
    return later.length === 0 ? undefined : later.flatMap(({ records }) => records);
  }

  /** The ends of runs of this backend at those moments. */
  #runEnds(isThen: (endedMs: number) => boolean) {
    const { backend = "" } = this.#options;
    return readRunEnds(this.#runEnd, this.#disk).filter(
      (end) => end.backend === backend && isThen(Date.parse(end.ended)),
    );
  }

  /** Lets another run have it. Never fails. */
  release(): void {
    this.#file?.close();
    this.#lock?.release();
    this.#lock = undefined;
  }
}

/** @param path the journal's. @param error whatever came of using it. */
function inWords(path: string, error: unknown): JournalError {
  if (error instanceof JournalError) return error;
  if (error instanceof LockHeld) {
    return unusable(
      path,
      `another run of this stack is using it (${error.holder})`,
      "Let that run end (or end it), and run this again.",
    );
  }
  if (error instanceof LockLost) {
    return new JournalError(
      `Another run of this stack took over the journal ${path} while this one was stopped or cut off from the disk; ` +
        "nothing more is sent. Let that run end, and run this again.",
    );
  }
  if (error instanceof JournalDamaged) {
    return unusable(
      path,
      error.message,
      `Look in the account for objects that an interrupted run may have created, set existingId for those, then remove the file:\n  rm ${shellWord(path)}`,
    );
  }
  if (error instanceof UntrustedFile) return unusable(path, error.message, "Fix that, and run this again.");
  return unusable(
    path,
    (error as Error).message,
    "Make the folder writable, or set advertising:cookieFile to a file in one that is: the journal is kept beside it " +
      "(where it does not know what an interrupted run left here).",
  );
}

/** @param what is wrong. @param next what to do. @param before what came of the create, where anything was to be sent. */
function unusable(path: string, what: string, next: string, before: string = NOTHING_SENT): JournalError {
  const journal = `The journal ${path}, which keeps an interrupted run from creating things twice`;
  return new JournalError(`${before}${journal}, can't be used: ${what}. ${next}`);
}

const NOTHING_SENT = "Nothing was sent. ";
