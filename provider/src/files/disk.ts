/**
 * The operating system's file calls that promises rest on, so that a test can put a disk in their place that loses its power. `node:fs` is the
 * real one. They are synchronous, for what is small, and for a process that ends; but for a file that grows while others wait, line by
 * line, each on the disk before its writer goes on ({@link AppendFile}).
 */
import fs, { constants } from "node:fs";
import { promisify } from "node:util";

export interface Disk {
  /** @returns a number that stands for the open file. */
  openSync(path: string, flags: string | number, mode?: number): number;
  readFileSync(file: number, encoding: "utf8"): string;
  /** Writes where the file was opened to write: at its end, or from its beginning. */
  writeFileSync(file: number, text: string): void;
  fsyncSync(file: number): void;
  fchmodSync(file: number, mode: number): void;
  closeSync(file: number): void;
  fstatSync(file: number): Status;
  statSync(path: string, options: { readonly throwIfNoEntry: false }): Status | undefined;
  lstatSync(path: string, options: { readonly throwIfNoEntry: false }): Status | undefined;
  linkSync(from: string, to: string): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { readonly force: true }): void;
  utimesSync(path: string, accessed: Date, modified: Date): void;
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): unknown;
  readdirSync(path: string): string[];
  readonly promises: { open(path: string, flags: number): Promise<OpenFile> };
}

export interface OpenFile {
  readonly fd: number;
  appendFile(text: string): Promise<void>;
  truncate(bytes: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export interface Status {
  readonly mode: number;
  readonly uid: number;
  readonly size: number;
  readonly nlink: number;
  /** These two distinguish one file from another. */
  readonly ino: number;
  readonly dev: number;
  readonly mtimeMs: number;
  isFile(): boolean;
}

/** Calls on a descriptor, since Yarn's Plug'n'Play has a `FileHandle` without some of these. */
async function open(path: string, flags: number): Promise<OpenFile> {
  let fd = await promisify(fs.open)(path, flags);
  let underWay: Promise<unknown> = Promise.resolve();
  const call = (work: Promise<void>) => {
    underWay = Promise.allSettled([underWay, work]);
    return work;
  };
  return {
    get fd() {
      return fd;
    },
    appendFile: (text) => call(promisify(fs.appendFile)(fd, text)),
    truncate: (bytes) => call(promisify(fs.ftruncate)(fd, bytes)),
    datasync: () => call(promisify(fs.fdatasync)(fd)),
    // Once, and after what is under way: the system gives the number to the next file that is opened, which must be neither closed nor written to.
    async close() {
      const opened = fd;
      fd = -1;
      await underWay;
      if (opened >= 0) await promisify(fs.close)(opened);
    },
  };
}

export const systemDisk: Disk = Object.create(fs, { promises: { value: { open } } });

/** A pipe would block without O_NONBLOCK; a link could lead anywhere. Both constants are absent on Windows. */
export const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A file that grows by whole lines. Writers that come while one write is under way share the next one: many creates in flight cost few syncs. */
export class AppendFile {
  #waiting: { readonly line: string; readonly done: (error?: unknown) => void }[] = [];
  #writing = false;

  private constructor(
    private readonly path: string,
    private readonly disk: Disk,
    private readonly confirm: () => void,
    private readonly handle: OpenFile,
    private bytes: number,
  ) {}

  /**
   * @param path of a file that is there, and was checked.
   * @param confirm throws where the file is not this writer's any more: called before each write, so that nothing is
   *   written then, and after it, since what was written meanwhile may be where nobody reads it.
   */
  static async open(path: string, disk: Disk, confirm: () => void): Promise<AppendFile> {
    const handle = await disk.promises.open(path, constants.O_WRONLY | constants.O_APPEND | SAFELY);
    return new AppendFile(path, disk, confirm, handle, disk.fstatSync(handle.fd).size);
  }

  /** Resolves once `line` is on the disk. @throws the system's error where it could not be written; what `confirm` throws. */
  append(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, done: (error) => (error === undefined ? resolve() : reject(error as Error)) });
      if (!this.#writing) void this.#write();
    });
  }

  /** For the end of a process: writes at once, unless a line is under way, of which there may be half on the disk. @throws as {@link append} */
  appendNow(lines: string): void {
    if (this.#writing) return;
    this.#confirm();
    this.disk.writeFileSync(this.handle.fd, lines);
    this.disk.fsyncSync(this.handle.fd);
  }

  /** What is appended from now on fails; what is under way ends. */
  close(): void {
    this.handle.close().catch(() => undefined); // the end of the process does it too
  }

  #confirm(): void {
    this.confirm();
    const opened = this.disk.fstatSync(this.handle.fd);
    const found = this.disk.lstatSync(this.path, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev)
      throw new Error("it was removed while this run was using it, and nothing more is sent");
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      let failure: unknown;
      try {
        this.#confirm();
        await this.#put(batch.map(({ line }) => line).join(""));
        this.#confirm();
      } catch (error) {
        failure = error;
      }
      for (const { done } of batch) done(failure);
    }
    this.#writing = false;
  }

  async #put(text: string): Promise<void> {
    try {
      await this.handle.appendFile(text);
      await this.handle.datasync();
      this.bytes += Buffer.byteLength(text);
    } catch (error) {
      // A full disk may have taken half a line, and what is noted after it must stay readable.
      await this.handle.truncate(this.bytes).catch(() => undefined);
      throw error;
    }
  }
}
