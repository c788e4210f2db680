/**
 * A stack's journal file. The one run that may write it locks it, reads it, appends lines, and checks before and after
 * each write that the file is still its own. The `pending` command appends answers, and takes over the open creates of
 * another stack. Throws only `JournalError`s, whose messages are for users.
 */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { JournalError, joined, shellWord } from "../base/index.js";
import {
  acquireLock,
  cureFor,
  type Disk,
  expectWritable,
  type Lock,
  type LockOptions,
  removeLeftovers,
  replacePrivate,
  syncFolder,
  systemDisk,
} from "../files/index.js";
import { parseKey } from "../state/index.js";
import {
  closedLine,
  DamagedJournal,
  isOpen,
  type JournalLine,
  journalText,
  lineOf,
  readJournal,
  type StackJournal,
} from "./journal-entry.js";
import { endedPath, journalPath, type StackPlace } from "./places.js";

export interface JournalOptions extends StackPlace, LockOptions {
  /** The folder of all journals. */
  folder: string;
  /** Names of runs that use the journal. `pending` ignores Pulumi's pending operations of these runs. @default none */
  runs?: readonly string[];
  say?: ((message: string) => void) | undefined;
}

/** How many run names a journal keeps. A killed run whose creates are still unresolved is assumed to be among them. */
const MAX_RUNS = 20;

export class JournalFile {
  readonly path: string;
  readonly #disk: Disk;
  #lock: Lock | undefined;
  #file: number | undefined;
  #bytes = 0;
  #isOver = false;
  #waiting: ({ text: string } & PromiseWithResolvers<void>)[] = [];

  constructor(private readonly options: JournalOptions) {
    this.path = journalPath(options, options.folder);
    this.#disk = options.disk ?? systemDisk;
  }

  /** Why an `up` could not write the journal, for a preview, which writes nothing; undefined if it could. */
  writeProblem(): JournalError | undefined {
    try {
      expectWritable(this.path, this.#disk);
      return undefined;
    } catch (error) {
      return journalErrorFrom(this.path, error);
    }
  }

  /** Locks the file for this run, and rewrites it with one line per record. @returns the journal as it was. */
  async open(): Promise<StackJournal> {
    const { path } = this;
    const disk = this.#disk;
    const onWait = (holder: string, leftMs: number) =>
      this.options.say?.(
        `The stack's journal is in use by ${holder}, perhaps an interrupted run that is still ending. ` +
          `This run waits for it, at most ${Math.ceil(leftMs / 1000)} s more.`,
      );
    try {
      const lock = await acquireLock(`${path}.lock`, { ...this.options, onWait });
      this.#lock = lock;
      if (this.#isOver) throw new Error("this run has ended");
      // A former run's note must not count for this one.
      disk.rmSync(endedPath(path), { force: true });
      removeLeftovers(path, Date.now(), disk);
      const journal = readJournal(path, disk);
      const runs = new Set([...journal.runs, ...(this.options.runs ?? [])]);
      const last = [...runs].slice(-MAX_RUNS);
      const text = journalText(this.options, last, journal.records.values());
      replacePrivate(path, text, disk, lock.assertHeld);
      // The rename must survive a power failure before any request relies on a line in this file.
      syncFolder(dirname(path), disk);
      this.#file = disk.openSync(path, constants.O_WRONLY | constants.O_APPEND);
      this.#bytes = disk.fstatSync(this.#file).size;
      return journal;
    } catch (error) {
      // Released, so that the end of the run can't append to a journal that could not be read.
      this.release();
      throw journalErrorFrom(path, error);
    }
  }

  /**
   * Resolves when the lines are on the disk. All lines of one turn of the event loop share a write and a sync, so many
   * creates cost few syncs. @param before begins the error's message.
   */
  async append(lines: readonly object[], before = ""): Promise<void> {
    const text = lines.map(lineOf).join("");
    const batched = { text, ...Promise.withResolvers<void>() };
    if (this.#waiting.push(batched) === 1) setImmediate(() => this.#write());
    await batched.promise.catch((error) => {
      throw journalErrorFrom(this.path, error, before);
    });
  }

  /** Ends the run's use: appends the lines and releases the lock. Synchronous; never fails. */
  endNow(lines: readonly object[]): void {
    // If the write fails, the next run finds these facts in the state, or asks about the creates.
    this.append(lines).catch(() => undefined);
    this.#write();
    this.release();
  }

  /** Releases the lock. If `open` is still waiting for it, `open` itself releases it. Never fails. */
  release(): void {
    this.#isOver = true;
    try {
      if (this.#file !== undefined) this.#disk.closeSync(this.#file);
    } catch {
      // The end of the process closes the file too.
    }
    this.#file = undefined;
    this.#lock?.release();
    this.#lock = undefined;
  }

  #write() {
    const batch = this.#waiting;
    this.#waiting = [];
    const text = batch.map((each) => each.text).join("");
    try {
      if (text !== "") this.#put(text);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #put(text: string) {
    const file = this.#assertStillOurs();
    try {
      this.#disk.writeFileSync(file, text);
      this.#disk.fsyncSync(file);
      this.#bytes += Buffer.byteLength(text);
    } catch (error) {
      // A full disk may have taken half a line, and the lines after it must stay readable.
      this.#disk.ftruncateSync(file, this.#bytes);
      throw error;
    }
    // If the file was replaced during the write, the lines are in a file that nobody reads.
    this.#assertStillOurs();
  }

  /** @returns the open file. @throws LockLost; Error if this run has ended or the file was replaced; system errors. */
  #assertStillOurs() {
    if (this.#file === undefined || !this.#lock) throw new Error("this run has ended");
    this.#lock.assertHeld();
    const opened = this.#disk.fstatSync(this.#file);
    const found = this.#disk.lstatSync(this.path, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev)
      throw new Error(
        "it was removed while this run was using it, and nothing more is sent",
      );
    return this.#file;
  }
}

type Here = Omit<JournalOptions, keyof StackPlace | "runs">;

/**
 * Appends lines to a journal; they are on the disk when this resolves. @param runs names of runs whose creates the
 * lines are about. @throws JournalError if a run is using the journal, or the journal is damaged.
 */
export async function appendLines(
  place: StackPlace,
  lines: readonly JournalLine[],
  here: Here,
  runs: readonly string[] = [],
): Promise<void> {
  const file = new JournalFile({ ...here, ...place, runs });
  await file.open();
  await file.append(lines).finally(() => file.release());
}

/**
 * Moves the open creates of another stack's journal into this stack's, for a stack that was renamed or whose backend
 * has another address. After a kill halfway, both journals have the creates, and the same call completes the move.
 * @returns how many creates. @throws JournalError if a run is using one of the journals, one is damaged, or this
 * stack has another open create under the same key.
 */
export async function takeOverOpen(
  former: StackPlace,
  now: StackPlace,
  here: Here,
): Promise<number> {
  const file = new JournalFile({ ...here, ...former });
  const { records: all, runs } = await file.open();
  const open = [...all.values()].filter(isOpen);
  try {
    const { records } = readJournal(journalPath(now, here.folder), here.disk);
    for (const { key, mark, id } of open) {
      const own = records.get(key);
      if (!own || !isOpen(own) || own.mark === mark) continue;
      // An answer in this stack has named the same object.
      if (id !== undefined && own.id === id) continue;
      // This one may be overwritten: `pending` lists it again as long as Pulumi's pending operation is there.
      if (own.atLatest === true && own.id === undefined) continue;
      throw new JournalError(
        `Nothing was taken over: this stack has another open create of ${parseKey(key).label}. Resolve that first.`,
      );
    }
    await appendLines(now, open, here, runs);
    await file.append(open.map(({ key }) => closedLine(key)));
    return open.length;
  } finally {
    file.release();
  }
}

/** @param path the journal's. @param error from reading or writing it. @param before begins the message. */
export function journalErrorFrom(
  path: string,
  error: unknown,
  before = "Nothing was sent. ",
): JournalError {
  if (error instanceof JournalError) return error;
  const { message } = error as Error;
  let advice = `${joined(". ", cureFor(error, path), "Run this again")}.`;
  if (error instanceof DamagedJournal)
    advice = [
      "Look in the account for objects that an interrupted run may have created,",
      `set existingId for those, then remove the file:\n  rm ${shellWord(path)}`,
    ].join(" ");
  return new JournalError(
    `${before}The journal ${path} can't be used: ${message}. ${advice}`,
  );
}
