/**
 * A stack's memory on the disk, as the one run that may write it uses it: locked, read, appended line by line, and
 * asked whether it is still this run's. And what is written into it outside its stack's runs: the answers of people and
 * of searches, by the command, and what it had under its former name. Throws only `JournalError`s, in words for users.
 */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { JournalError, shellWord } from "../base/index.js";
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
  withLock,
} from "../files/index.js";
import { aboutWhom } from "../state/index.js";
import { isUnseen, type Line, lineOf, MemoryDamaged, type MemoryRecord, readMemory, textOf } from "./memory-lines.js";
import { endedPath, memoryPath, type StackPlace } from "./places.js";

export interface MemoryOptions extends StackPlace, LockOptions {
  /** @default this machine's, of all stacks */
  readonly folder?: string;
}

export class MemoryFile {
  readonly path: string;
  readonly #disk: Disk;
  #lock: Lock | undefined;
  #file: number | undefined;
  #bytes = 0;
  #isOver = false;
  #waiting: { readonly text: string; resolve(): void; reject(error: unknown): void }[] = [];

  constructor(private readonly options: MemoryOptions) {
    this.path = memoryPath(options, options.folder);
    this.#disk = options.disk ?? systemDisk;
  }

  /** For a preview, which writes nothing: why an `up` could not write it. */
  whyNotWritable(): JournalError | undefined {
    try {
      expectWritable(this.path, this.#disk);
      return undefined;
    } catch (error) {
      return inWords(this.path, error);
    }
  }

  /** Takes the file for this run and rewrites it with one line per record. @returns the records. */
  async open(): Promise<Map<string, MemoryRecord>> {
    const { path } = this;
    const disk = this.#disk;
    try {
      const lock = await acquireLock(`${path}.lock`, this.options);
      this.#lock = lock;
      if (this.#isOver) throw new Error("the run has ended");
      disk.rmSync(endedPath(path), { force: true }); // a former run's
      removeLeftovers(path, Date.now(), disk);
      const { records } = readMemory(path, disk) ?? { records: new Map() };
      replacePrivate(path, textOf(this.options, records.values()), disk, lock.confirm);
      syncFolder(dirname(path), disk); // a run that was killed in between may have given the file its name
      this.#file = disk.openSync(path, constants.O_WRONLY | constants.O_APPEND);
      this.#bytes = disk.fstatSync(this.#file).size;
      return records;
    } catch (error) {
      this.release(); // one that could not be read must stay as it is, at the end of the run too
      throw inWords(path, error);
    }
  }

  /**
   * Resolves when the lines are on the disk. Those of one event loop turn share a write: many creates cost few syncs.
   * @param before what is said first if that fails.
   */
  async append(lines: readonly object[], before = ""): Promise<void> {
    const text = lines.map(lineOf).join("");
    try {
      await new Promise<void>((resolve, reject) => {
        if (this.#waiting.push({ text, resolve, reject }) === 1) setImmediate(() => this.#write());
      });
    } catch (error) {
      throw inWords(this.path, error, before);
    }
  }

  /** For the end of a run: adds these lines, and lets another run have it. Synchronous; never fails. */
  endNow(lines: readonly object[]): void {
    this.append(lines).catch(() => undefined); // the next run asks for what these lines say
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

  #write(): void {
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

  #put(text: string): void {
    const file = this.#expectOurs();
    try {
      this.#disk.writeFileSync(file, text);
      this.#disk.fsyncSync(file);
      this.#bytes += Buffer.byteLength(text);
    } catch (error) {
      // A full disk may have taken half a line, and what is noted after it must stay readable.
      this.#disk.ftruncateSync(file, this.#bytes);
      throw error;
    }
    this.#expectOurs(); // what was written meanwhile may be where nobody reads it
  }

  /** @returns the open file. @throws LockLost; an error if it is not this run's any more; the system's errors. */
  #expectOurs(): number {
    if (this.#file === undefined || this.#lock === undefined) throw new Error("the run has ended");
    this.#lock.confirm();
    const opened = this.#disk.fstatSync(this.#file);
    const found = this.#disk.lstatSync(this.path, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev)
      throw new Error("it was removed while this run was using it, and nothing more is sent");
    return this.#file;
  }
}

type Here = LockOptions & { readonly folder: string };

/** All are on the disk when it resolves. @throws JournalError a run is using the memory, or it is damaged. */
export async function writeAnswers(place: StackPlace, lines: readonly Line[], here: Here): Promise<void> {
  const file = new MemoryFile({ ...here, ...place });
  await file.open();
  await file.append(lines).finally(() => file.release());
}

/**
 * The stack has another name since its last run: what its former name's memory has is this one's. Killed in between,
 * both have it, and the former one is joined again.
 * @param write into this one's, which a run has open. @throws JournalError a run uses one of them, or it is damaged.
 */
export async function takeOverFormer(
  former: StackPlace,
  now: StackPlace,
  here: Here,
  write = (lines: readonly Line[]) => writeAnswers(now, lines, here),
): Promise<void> {
  const { folder, disk = systemDisk } = here;
  const path = memoryPath(former, folder);
  const recordsOf = (place: StackPlace) => readMemory(memoryPath(place, folder), disk)?.records;
  try {
    if (recordsOf(former) === undefined) return;
    await withLock(`${path}.lock`, here, async (lock) => {
      const known = recordsOf(now) ?? new Map<string, MemoryRecord>();
      // Of a removed stack that had this name before, the new one may have records.
      const lines = [...(recordsOf(former)?.values() ?? [])].filter((each) => isUnseen(each) || !known.has(each.key));
      const other = lines.find(({ key, at, id }) => {
        const had = known.get(key);
        return had !== undefined && isUnseen(had) && (had.at !== at || had.id !== id);
      });
      if (other !== undefined)
        throw new MemoryDamaged(`it and that of ${now.stack} have different creates of ${aboutWhom(other.key).label}`);
      await write(lines);
      lock.confirm();
      disk.rmSync(path, { force: true });
      syncFolder(dirname(path), disk);
    });
  } catch (error) {
    throw inWords(path, error);
  }
}

/** @param path the memory's. @param error whatever came of using it. @param before what came of the create. */
export function inWords(path: string, error: unknown, before = "Nothing was sent. "): JournalError {
  if (error instanceof JournalError) return error;
  const memory = `The memory ${path}, which keeps an interrupted run from creating things twice`;
  const advice =
    error instanceof MemoryDamaged
      ? `Look in the account for objects that an interrupted run may have created, set existingId for those, then remove the file:\n  rm ${shellWord(path)}`
      : `${cureFor(error, path) ?? "Fix that"}, and run this again.`;
  return new JournalError(`${before}${memory}, can't be used: ${(error as Error).message}. ${advice}`);
}
