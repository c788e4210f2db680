/**
 * The operating system's file calls that promises rest on, so that a test can put a disk in their place that loses its power.
 * `node:fs` is the real one, as it is. The synchronous ones are for what is small, and for a process that ends. Also a file that is
 * written through them, line by line, each on the disk before its writer goes on ({@link AppendFile}).
 */
import fs from "node:fs";

export interface Disk {
  /** @returns a number that stands for the open file. */
  openSync(path: string, flags: string | number, mode?: number): number;
  readFileSync(file: number, encoding: "utf8"): string;
  /** Writes where the file was opened to write: at its end, or from its beginning. */
  writeFileSync(file: number, text: string): void;
  fsyncSync(file: number): void;
  closeSync(file: number): void;
  fstatSync(file: number): Status;
  fstatSync(file: number, options: { readonly bigint: true }): Inode;
  statSync(path: string, options: { readonly throwIfNoEntry: false }): Status | undefined;
  lstatSync(path: string, options: { readonly bigint: true; readonly throwIfNoEntry: false }): Inode | undefined;
  linkSync(from: string, to: string): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { readonly force: true }): void;
  /** @returns the first folder that it made; none where there was nothing to make. */
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): string | undefined;
  readdirSync(path: string): string[];
  readonly promises: {
    open(path: string, flags: string | number, mode?: number): Promise<OpenFile>;
    rename(from: string, to: string): Promise<void>;
    unlink(path: string): Promise<void>;
    mkdir(path: string, options: { readonly recursive: true; readonly mode: number }): Promise<string | undefined>;
    stat(path: string): Promise<Status>;
    lstat(path: string): Promise<Status>;
    chmod(path: string, mode: number): Promise<void>;
    utimes(path: string, accessed: Date, modified: Date): Promise<void>;
    readdir(path: string): Promise<string[]>;
  };
}

export interface OpenFile {
  readonly fd: number;
  readFile(): Promise<Buffer>;
  writeFile(text: string): Promise<void>;
  appendFile(text: string): Promise<void>;
  truncate(bytes: number): Promise<void>;
  datasync(): Promise<void>;
  stat(): Promise<Status>;
  chmod(mode: number): Promise<void>;
  close(): Promise<void>;
}

export interface Status {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly nlink: number;
  readonly mtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** What distinguishes one file from another, exactly. */
interface Inode {
  readonly ino: bigint;
  readonly dev: bigint;
}

export const systemDisk: Disk = fs;

/** A file that grows by whole lines. Writers that come while one write is under way share the next one: many creates in flight cost few syncs. */
export class AppendFile {
  #bytes: number;
  #waiting: { readonly line: string; readonly done: (error?: unknown) => void }[] = [];
  #writing = false;

  /**
   * @param bytes the file's length.
   * @param confirm throws where the file is not this writer's any more: called before each write, so that nothing is
   *   written then, and after it, since what was written meanwhile may be where nobody reads it.
   */
  constructor(
    private readonly handle: OpenFile,
    bytes: number,
    private readonly confirm: () => void = () => undefined,
  ) {
    this.#bytes = bytes;
  }

  /** Resolves once `line` is on the disk. @throws the system's error where it could not be written; what `confirm` throws. */
  append(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, done: (error) => (error === undefined ? resolve() : reject(error as Error)) });
      if (!this.#writing) void this.#write();
    });
  }

  /** What is appended from now on fails; what is under way ends. */
  close(): void {
    this.handle.close().catch(() => undefined); // the end of the process does it too
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      let failure: unknown;
      try {
        this.confirm();
        await this.#put(batch.map(({ line }) => line).join(""));
        this.confirm();
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
      this.#bytes += Buffer.byteLength(text);
    } catch (error) {
      // A full disk may have taken half a line, and what is noted after it must stay readable.
      await this.handle.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
  }
}
