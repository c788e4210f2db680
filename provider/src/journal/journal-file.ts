/**
 * A stack's journal on the disk, as the one run that may write it uses it: locked, read, appended line by line, and
 * asked whether it is still this run's. And what the command writes into it: answers of people and of searches, and
 * what another stack's journal has open. Throws only `JournalError`s, in words for users.
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
  /** Of all stacks' journals. */
  folder: string;
  /** Names of runs that use it, so that Pulumi's record of them can be told from another machine's. @default none */
  runs?: readonly string[];
  say?: ((message: string) => void) | undefined;
}

/** A run that was killed long ago, and never resolved, is one of the last so many. */
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

  /** For a preview, which writes nothing: why an `up` could not write it. */
  writeProblem(): JournalError | undefined {
    try {
      expectWritable(this.path, this.#disk);
      return undefined;
    } catch (error) {
      return journalErrorFrom(this.path, error);
    }
  }

  /** Takes the file for this run and rewrites it with one line per record. @returns what it had. */
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
      if (this.#isOver) throw new Error("the run has ended");
      // A former run's.
      disk.rmSync(endedPath(path), { force: true });
      removeLeftovers(path, Date.now(), disk);
      const journal = readJournal(path, disk);
      const runs = new Set([...journal.runs, ...(this.options.runs ?? [])]);
      const last = [...runs].slice(-MAX_RUNS);
      const text = journalText(this.options, last, journal.records.values());
      replacePrivate(path, text, disk, lock.assertHeld);
      // A run that was killed in between may have given the file its name.
      syncFolder(dirname(path), disk);
      this.#file = disk.openSync(path, constants.O_WRONLY | constants.O_APPEND);
      this.#bytes = disk.fstatSync(this.#file).size;
      return journal;
    } catch (error) {
      // One that could not be read must stay as it is, at the end of the run too.
      this.release();
      throw journalErrorFrom(path, error);
    }
  }

  /**
   * Resolves when the lines are on the disk. Those of one event loop turn share a write: many creates cost few syncs.
   * @param before what is said first if that fails.
   */
  async append(lines: readonly object[], before = ""): Promise<void> {
    const text = lines.map(lineOf).join("");
    const batched = { text, ...Promise.withResolvers<void>() };
    if (this.#waiting.push(batched) === 1) setImmediate(() => this.#write());
    await batched.promise.catch((error) => {
      throw journalErrorFrom(this.path, error, before);
    });
  }

  /** For the end of a run: adds these lines, and lets another run have it. Synchronous; never fails. */
  endNow(lines: readonly object[]): void {
    // The next run asks for what these lines say.
    this.append(lines).catch(() => undefined);
    this.#write();
    this.release();
  }

  /** Lets another run have it, once it is open if that is under way. Never fails. */
  release(): void {
    this.#isOver = true;
    try {
      if (this.#file !== undefined) this.#disk.closeSync(this.#file);
    } catch {
      // The end of the process does it too.
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
      // A full disk may have taken half a line, and what is noted after it must stay readable.
      this.#disk.ftruncateSync(file, this.#bytes);
      throw error;
    }
    // What was written meanwhile may be where nobody reads it.
    this.#assertStillOurs();
  }

  /** @returns the open file. @throws LockLost; an error if it is not this run's any more; the system's errors. */
  #assertStillOurs() {
    if (this.#file === undefined || !this.#lock) throw new Error("the run has ended");
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
 * All are on the disk when it resolves. @param runs names of runs whose creates are among them.
 * @throws JournalError a run is using the journal, or it is damaged.
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
 * What another stack's journal has open becomes this one's: that stack was renamed, or its backend has another address.
 * Killed in between, both have it, and the same call goes on. @returns how many creates that are.
 * @throws JournalError a run uses one of the two, it is damaged, or this stack has another open create under one's key.
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
      // Somebody has answered here for the same object.
      if (id !== undefined && own.id === id) continue;
      // What only Pulumi's record has is asked for as long as the record is there.
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

/** @param path the journal's. @param error whatever came of using it. @param before what came of the create. */
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
