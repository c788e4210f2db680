/** Files that only their owner may read: checked before they are trusted, and replaced whole or not at all. */
import { randomUUID } from "node:crypto";
import fs, { constants } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { shellWord } from "../base/index.js";

/**
 * The operating system's file calls that promises rest on, so that a test can put a disk in their place that loses its
 * power. All are synchronous: what they do is small, and the end of a process waits for nothing.
 */
export interface Disk {
  /** @returns a number that stands for the open file. */
  openSync(path: string, flags: string | number, mode?: number): number;
  readFileSync(file: number | string, encoding: "utf8"): string;
  /** Writes where the file was opened to write: at its end, or from its beginning. */
  writeFileSync(file: number, text: string): void;
  ftruncateSync(file: number, bytes: number): void;
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
  accessSync(path: string, mode: number): void;
}

export type Status = Pick<fs.Stats, "mode" | "uid" | "size" | "nlink" | "ino" | "dev" | "mtimeMs" | "isFile">;

export const systemDisk: Disk = fs;

/** A pipe would block without O_NONBLOCK; a link could lead anywhere. Both constants are absent on Windows. */
const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** With the reason in words; nothing was changed. */
export class UntrustedFile extends Error {
  constructor(
    message: string,
    /** What to do about it, as a clause. */
    readonly cure?: string,
  ) {
    super(message);
  }
}

const NO_FILE = "it is no regular file, but a link, a folder or the like";
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
/** In such a folder, as /tmp, only a file's owner may remove or replace it. */
const STICKY = 0o1000;
/** POSIX modes and owners mean nothing on Windows, where a user's cache folder is private by its own rules. */
export const HAS_MODES = process.platform !== "win32";
const LEFTOVER_AFTER_MS = 60_000;
/** Enough for 200,000 objects; a larger file is none of ours. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Creates `folder` for the owner alone, if missing. @throws UntrustedFile if everybody may replace what it holds. */
export function makePrivateFolder(folder: string, disk: Disk): void {
  try {
    disk.mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    expectWritable(join(folder, "a file"), disk); // says why: of a read-only volume mkdir says ENOENT
    throw error;
  }
  checkFolder(folder, disk);
}

function checkFolder(folder: string, disk: Disk): void {
  const { mode = 0 } = disk.statSync(folder, { throwIfNoEntry: false }) ?? {};
  if (HAS_MODES && (mode & constants.S_IWOTH) !== 0 && (mode & STICKY) === 0)
    throw isModeless(folder)
      ? modeless("other users can write to its folder", folder)
      : new UntrustedFile("other users can write to its folder", `Run chmod go-w ${shellWord(folder)}`);
}

/** Linux's numbers of file systems that show modes which no chmod changes: CIFS, SMB 2, FAT, exFAT. */
const MODELESS = [0xff534d42, 0xfe534d42, 0x4d44, 0x2011bab0];

function isModeless(folder: string): boolean {
  return process.platform === "linux" && MODELESS.includes(fs.statfsSync(folder).type);
}

function modeless(problem: string, path: string): UntrustedFile {
  const options = `uid=${process.getuid?.()},file_mode=0600,dir_mode=0700`;
  const cure = `Mount that volume with ${options}${elsewhere(path, "on another disk")}`;
  return new UntrustedFile(`${problem}, and its volume (such as CIFS or FAT) keeps no modes`, cure);
}

/** For files in the cache folder: another place. What was noted has to go with it, or creates could be sent twice. */
function elsewhere(path: string, where: string): string {
  if (!isMovable(path)) return "";
  return `, or copy ${shellWord(cacheFolder())} into a folder ${where}, and name that folder with XDG_CACHE_HOME`;
}

/** Only Linux has a variable for the cache folder's place. */
function isMovable(path: string): boolean {
  return process.platform === "linux" && `${path}/`.startsWith(`${cacheFolder()}/`);
}

/** The command by which root makes it this user's. */
function chown(path: string): string {
  const what = isMovable(path) ? `-R ${process.getuid?.()} ${shellWord(cacheFolder())}` : "";
  return `chown ${what || `${process.getuid?.()} ${shellWord(path)}`}`;
}

/** @returns what to do about a file that can't be used, as a clause; none if that is not known. */
export function cureOf(error: unknown, path: string): string | undefined {
  if (error instanceof UntrustedFile) return error.cure;
  const { code = "" } = error as NodeJS.ErrnoException;
  if (["ENOSPC", "EDQUOT"].includes(code)) return `Make room on the disk of ${path}`;
  if (!["EACCES", "EPERM", "EROFS"].includes(code)) return undefined;
  if (isMovable(path) && !fs.existsSync(cacheFolder()))
    return "Set XDG_CACHE_HOME to a folder that you can write to, and that later runs have too";
  if (code === "EROFS") return `Make its volume writable${elsewhere(path, "on another disk")}`;
  const asRoot = HAS_MODES ? ` (as root: ${chown(path)})` : "";
  return `Make ${path} and its folder writable for you alone${asRoot}${elsewhere(path, "of yours")}`;
}

/** Asks without a trace, for a preview. @throws the system's error where a run could not make `path`. */
export function expectWritable(path: string, disk: Disk): void {
  let folder = dirname(path);
  while (disk.statSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder);
  disk.accessSync(folder, constants.W_OK | constants.X_OK);
}

/**
 * Reads a regular file of this user; never a link, a folder, a pipe or a device, and never waits for one. One that
 * others may read is made private. @returns none where there is no file. @throws UntrustedFile; system errors.
 */
export function readPrivate(path: string, disk: Disk = systemDisk): string | undefined {
  checkFolder(dirname(path), disk);
  let file: number;
  try {
    file = disk.openSync(path, constants.O_RDONLY | SAFELY);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw ["ELOOP", "ENXIO"].includes(code) ? new UntrustedFile(NO_FILE) : error;
  }
  try {
    const status = disk.fstatSync(file);
    if (!status.isFile()) throw new UntrustedFile(NO_FILE);
    if (HAS_MODES && status.uid !== process.getuid?.()) throw foreign(path, status.uid);
    if (status.size > MAX_BYTES) throw new UntrustedFile(`it is larger than ${MAX_BYTES} bytes`);
    if (HAS_MODES && (status.mode & 0o077) !== 0) makePrivate(file, path, disk);
    return disk.readFileSync(file, "utf8");
  } finally {
    disk.closeSync(file);
  }
}

function foreign(path: string, owner: number): UntrustedFile {
  const problem = `it belongs to another user (${owner}, and you are ${process.getuid?.()})`;
  return new UntrustedFile(problem, `Run as root: ${chown(path)}${elsewhere(path, "of yours")}`);
}

function makePrivate(file: number, path: string, disk: Disk): void {
  try {
    disk.fchmodSync(file, OWNER_ONLY_FILE);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw ["EPERM", "ENOTSUP"].includes(code) ? modeless("other users can read it", path) : error;
  }
}

/** A file that only gives hints: empty where there is none, or where it can't be read. */
export function readHints(path: string, disk: Disk = systemDisk): string {
  try {
    return disk.readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Adds lines to a file that only gives hints. Never fails: its readers know less then. */
export function appendHints(path: string, lines: string, disk: Disk = systemDisk): void {
  try {
    makePrivateFolder(dirname(path), disk);
    const file = disk.openSync(path, "a", OWNER_ONLY_FILE);
    disk.writeFileSync(file, lines);
    disk.closeSync(file);
  } catch {
    // See the promise.
  }
}

/**
 * Replaces a private file whole: readers see the old one or the new one, and a crash leaves one of them; the new one
 * after {@link syncFolder}. @param confirm throws where the file must not be replaced any more; called last.
 * @throws UntrustedFile where anything but this user's regular file is there; what `confirm` throws; system errors.
 */
export function replacePrivate(path: string, content: string, disk: Disk, confirm: () => void): void {
  makePrivateFolder(dirname(path), disk);
  readPrivate(path, disk); // a link or a folder is not overwritten: somebody put it there for a reason
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeNew(temporary, content, disk);
    confirm();
    disk.renameSync(temporary, path);
  } catch (error) {
    disk.rmSync(temporary, { force: true });
    throw error;
  }
}

/** @throws system errors; EEXIST where there is one. */
export function writeNew(path: string, content: string, disk: Disk): void {
  const file = disk.openSync(path, "wx", OWNER_ONLY_FILE);
  try {
    disk.writeFileSync(file, content); // whole, or it throws
    disk.fsyncSync(file);
  } finally {
    disk.closeSync(file);
  }
}

/**
 * Makes the names of a folder's files survive a machine that loses its power, and the folder itself, which may be as
 * new: where the system can do that. @throws the system's error where it could not be done.
 */
export function syncFolder(folder: string, disk: Disk): void {
  let file: number | undefined;
  try {
    file = disk.openSync(folder, constants.O_RDONLY);
    disk.fsyncSync(file);
  } catch (error) {
    if (!isNotPossible(error)) throw error;
  } finally {
    if (file !== undefined) disk.closeSync(file);
  }
  if (dirname(folder) !== folder) syncFolder(dirname(folder), disk);
}

/** Windows opens no folders, some file systems don't sync them, and some folders may be written to and not read. */
function isNotPossible(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return ["EACCES", "EPERM", "EISDIR", "EINVAL", "EBADF", "ENOTSUP", "ENOSYS", "EROFS"].includes(code);
}

/** Removes the temporary files that killed processes left beside `path`. Never fails: it only tidies. */
export function removeLeftovers(path: string, nowMs: number, disk: Disk): void {
  try {
    for (const name of disk.readdirSync(dirname(path))) {
      if (!name.startsWith(`${basename(path)}.`) || !name.endsWith(".tmp")) continue;
      const leftover = join(dirname(path), name);
      const { mtimeMs = nowMs } = disk.statSync(leftover, { throwIfNoEntry: false }) ?? {};
      if (nowMs - mtimeMs > LEFTOVER_AFTER_MS) disk.rmSync(leftover, { force: true });
    }
  } catch {
    // See the promise.
  }
}

/** Where each operating system keeps what a program may lose: a contract, since runs find earlier runs' files there. */
export function cacheFolder(platform = process.platform, environment = process.env, home = homedir()): string {
  const name = "pulumi-advertising";
  if (platform === "darwin") return join(home, "Library", "Caches", name);
  if (platform === "win32") return join(environment.LOCALAPPDATA || join(home, "AppData", "Local"), name, "Cache");
  return join(environment.XDG_CACHE_HOME || join(home, ".cache"), name);
}
