/**
 * The journal file of one run. The run's process locks it, appends lines, and checks before and after each write that
 * the file is still its own. Throws only `JournalError`s, whose messages are for users.
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
  makePrivateFolder,
  replacePrivate,
  syncFolder,
  systemDisk,
} from "../files/index.js";
import { DamagedJournal, headerLine, lineOf, type RunHeader } from "./journal-entry.js";

export interface JournalOptions extends LockOptions {
  /** The folder of all journals. */
  folder: string;
  say?: ((message: string) => void) | undefined;
}

export class JournalFile {
  readonly #disk: Disk;
  #lock: Lock | undefined;
  #file: number | undefined;
  #bytes = 0;
  #isOver = false;
  #waiting: ({ text: string } & PromiseWithResolvers<void>)[] = [];

  constructor(
    readonly path: string,
    private readonly options: JournalOptions,
  ) {
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

  /** Creates and locks the file. */
  async open(header: RunHeader): Promise<void> {
    const { path } = this;
    const disk = this.#disk;
    try {
      makePrivateFolder(dirname(path), disk);
      this.#lock = await acquireLock(lockPath(path), this.options);
      if (this.#isOver) throw new Error("this run has ended");
      // The file gets its name with its first line: a kill in between would leave one that stops later runs.
      replacePrivate(path, headerLine(header), disk, this.#lock.assertHeld);
      // The name must survive a power failure before any request relies on a line in this file.
      syncFolder(dirname(path), disk);
      this.#file = disk.openSync(path, constants.O_WRONLY | constants.O_APPEND);
      this.#bytes = disk.fstatSync(this.#file).size;
    } catch (error) {
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

  /** Ends the run's use. Synchronous; never fails. @param isKept whether something in the file is still open. */
  endNow(isKept: boolean): void {
    this.#write();
    try {
      this.#assertStillOurs();
      if (!isKept) this.#disk.rmSync(this.path, { force: true });
    } catch {
      // It isn't this run's any more, or the next run reads it.
    }
    this.release();
  }

  /** Releases the lock. If `open` is still waiting for it, `open` itself releases it. Never fails. */
  release(): void {
    this.#isOver = true;
    try {
      if (this.#file !== undefined) this.#disk.closeSync(this.#file);
    } catch {
      // Its lines are on the disk.
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

/** The lock of the process that writes a journal file. */
export function lockPath(path: string): string {
  return `${path}.lock`;
}

/**
 * Waits until the process that writes a journal file has ended. An interrupted run may still be ending, and note ids.
 * @throws JournalError if that takes longer than the options allow.
 */
export async function awaitEnd(path: string, options: JournalOptions): Promise<void> {
  const lock = lockPath(path);
  if (!(options.disk ?? systemDisk).existsSync(lock)) return;
  const onWait = (holder: string, leftMs: number) =>
    options.say?.(
      `The journal of an earlier run is in use by ${holder}, perhaps an interrupted run that is still ending. ` +
        `This run waits for it, at most ${Math.ceil(leftMs / 1000)} s more.`,
    );
  try {
    (await acquireLock(lock, { ...options, onWait })).release();
  } catch (error) {
    throw journalErrorFrom(path, error);
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
