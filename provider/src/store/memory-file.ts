/**
 * A stack's memory on the disk, as the one run that may write it uses it: locked, read, appended line by line, and asked whether it is still this
 * run's. All that it throws are `JournalError`s, in words for users.
 */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { type Clock, JournalError, shellWord } from "../base/index.js";
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
  removeNow,
  replacePrivate,
  syncFolder,
  systemDisk,
} from "../files/index.js";
import { headerOf, lineOf, MemoryDamaged, type MemoryRecord, readLines, textOf } from "./memory-lines.js";
import { endedPath, type StackPlace } from "./places.js";

/** Enough for 200,000 objects; a larger file is none of ours. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface FileOptions extends StackPlace {
  readonly path: string;
  readonly clock: Clock;
  readonly newUnique: () => string;
  /** How long another run of the same stack may be waited for. */
  readonly maxWaitMs: number;
  readonly disk?: Disk | undefined;
}

export class MemoryFile {
  readonly #disk: Disk;
  #lock: Lock | undefined;
  #handle: Awaited<ReturnType<typeof openPrivate>>;
  #file: AppendFile | undefined;
  #underWay = 0;
  #isOver = false;

  constructor(private readonly options: FileOptions) {
    this.#disk = options.disk ?? systemDisk;
  }

  /** Takes it for this run, and rewrites it where that tidies it. @returns its records. */
  async open(): Promise<Map<string, MemoryRecord>> {
    const { path, clock, newUnique, maxWaitMs } = this.options;
    const disk = this.#disk;
    try {
      const lock = await acquireLock(`${path}.lock`, { clock, unique: newUnique(), maxWaitMs, disk });
      this.#lock = lock;
      removeNow(endedPath(path), disk); // a former run's
      await removeLeftovers(path, clock.wallMs(), disk).catch(() => undefined); // only to tidy
      let bytes = await readPrivate(path, MAX_BYTES, disk);
      const { records, isUntidy } = readLines(bytes?.toString("utf8") ?? headerOf(this.options));
      if (bytes === undefined || isUntidy) {
        bytes = Buffer.from(textOf(this.options, records.values()));
        await replacePrivate(path, bytes.toString("utf8"), newUnique(), lock.confirm, disk);
      }
      syncFolder(dirname(path), disk); // a run that was killed in between may have given the file its name
      this.#handle = await openPrivate(path, constants.O_WRONLY | constants.O_APPEND, disk);
      if (this.#handle === undefined) throw new Error("it vanished");
      this.#file = new AppendFile(this.#handle, bytes.length, () => this.#confirmOurs());
      if (this.#isOver) throw new Error("the run has ended");
      return records;
    } catch (error) {
      this.release(); // one that could not be read must stay as it is, at the end of the run too
      throw inWords(path, error);
    }
  }

  /** Resolves when the lines are on the disk. Only once it is open. @param before what is said first if that fails. */
  async append(lines: readonly object[], before = ""): Promise<void> {
    this.#underWay++;
    try {
      if (this.#file === undefined) throw new Error("it is not open");
      await this.#file.append(lines.map(lineOf).join(""));
    } catch (error) {
      throw inWords(this.options.path, error, before);
    } finally {
      this.#underWay--;
    }
  }

  #confirmOurs(): void {
    if (this.#lock === undefined || this.#handle === undefined) throw new Error("the run has ended");
    this.#lock.confirm();
    const isOurs = isInPlace(this.#handle, this.options.path, this.#disk);
    if (!isOurs) throw new Error("it was removed while this run was using it, and nothing more is sent");
  }

  /** For the end of a run, when there is hardly any time: adds these lines, and lets another run have it. Synchronous; never fails. */
  endNow(lines: readonly object[]): void {
    const { fd } = this.#handle ?? {};
    try {
      // If a line is under way, there may be half of it on the disk.
      if (lines.length > 0 && fd !== undefined && this.#underWay === 0) {
        this.#confirmOurs();
        this.#disk.writeFileSync(fd, lines.map(lineOf).join(""));
        this.#disk.fsyncSync(fd);
      }
    } catch {
      // The next run asks for what these lines say.
    }
    this.release();
  }

  /** Lets another run have it, once it is open if that is under way. Never fails. */
  release(): void {
    this.#isOver = true;
    this.#file?.close();
    this.#lock?.release();
    this.#lock = undefined;
  }
}

/** @param path the memory's. @param error whatever came of using it. @param before what came of the create. */
export function inWords(path: string, error: unknown, before = "Nothing was sent. "): JournalError {
  if (error instanceof JournalError) return error;
  const memory = `The memory ${path}, which keeps an interrupted run from creating things twice`;
  return new JournalError(`${before}${memory}, can't be used: ${(error as Error).message}. ${adviceFor(path, error)}`);
}

function adviceFor(path: string, error: unknown): string {
  if (error instanceof LockHeld || error instanceof LockLost) return "Let that run end, and run this again.";
  if (!(error instanceof MemoryDamaged)) return "Mend that, and run this again.";
  return `Look in the account for objects that an interrupted run may have created, set existingId for those, then remove the file:\n  rm ${shellWord(path)}`;
}
