/**
 * A stack's memory on the disk, as the one run that may write it uses it: locked, read, appended line by line, and asked whether it is still this
 * run's. All that it throws are `JournalError`s, in words for users.
 */
import { dirname } from "node:path";
import { type Clock, JournalError, shellWord } from "../base/index.js";
import {
  AppendFile,
  acquireLock,
  cureFor,
  type Disk,
  type Lock,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  syncFolder,
  systemDisk,
} from "../files/index.js";
import { headerOf, lineOf, MemoryDamaged, type MemoryRecord, readLines, textOf } from "./memory-lines.js";
import { endedPath, type StackPlace } from "./places.js";

export interface FileOptions extends StackPlace {
  readonly path: string;
  readonly clock: Clock;
  /** How long another run of the same stack may be waited for. */
  readonly maxWaitMs: number;
  readonly disk?: Disk | undefined;
}

export class MemoryFile {
  readonly #disk: Disk;
  #lock: Lock | undefined;
  #file: AppendFile | undefined;
  #isOver = false;

  constructor(private readonly options: FileOptions) {
    this.#disk = options.disk ?? systemDisk;
  }

  /** Takes it for this run, and rewrites it where that tidies it. @returns its records. */
  async open(): Promise<Map<string, MemoryRecord>> {
    const { path, clock, maxWaitMs } = this.options;
    const disk = this.#disk;
    try {
      const lock = await acquireLock(`${path}.lock`, { clock, maxWaitMs, disk });
      this.#lock = lock;
      disk.rmSync(endedPath(path), { force: true }); // a former run's
      removeLeftovers(path, clock.wallMs(), disk);
      const text = readPrivate(path, disk);
      const { records, isUntidy } = readLines(text ?? headerOf(this.options));
      if (text === undefined || isUntidy)
        replacePrivate(path, textOf(this.options, records.values()), disk, lock.confirm);
      syncFolder(dirname(path), disk); // a run that was killed in between may have given the file its name
      this.#file = await AppendFile.open(path, disk, () => this.#confirmOurs());
      if (this.#isOver) throw new Error("the run has ended");
      return records;
    } catch (error) {
      this.release(); // one that could not be read must stay as it is, at the end of the run too
      throw inWords(path, error);
    }
  }

  /** Resolves when the lines are on the disk. Only once it is open. @param before what is said first if that fails. */
  async append(lines: readonly object[], before = ""): Promise<void> {
    try {
      if (this.#file === undefined) throw new Error("it is not open");
      await this.#file.append(lines.map(lineOf).join(""));
    } catch (error) {
      throw inWords(this.options.path, error, before);
    }
  }

  #confirmOurs(): void {
    if (this.#lock === undefined) throw new Error("the run has ended");
    this.#lock.confirm();
  }

  /** For the end of a run, when there is hardly any time: adds these lines, and lets another run have it. Synchronous; never fails. */
  endNow(lines: readonly object[]): void {
    try {
      if (lines.length > 0) this.#file?.appendNow(lines.map(lineOf).join(""));
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
  if (!(error instanceof MemoryDamaged)) return `${cureFor(error, path)}, and run this again.`;
  return `Look in the account for objects that an interrupted run may have created, set existingId for those, then remove the file:\n  rm ${shellWord(path)}`;
}
