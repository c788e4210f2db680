/**
 * The operating system's file calls that promises rest on, so that a test can put a disk in their place that loses its power.
 * `node:fs` is the real one, as it is. The synchronous ones are for what is small, and for a process that ends.
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

/** What tells one file from another, exactly. */
interface Inode {
  readonly ino: bigint;
  readonly dev: bigint;
}

export const systemDisk: Disk = fs;
