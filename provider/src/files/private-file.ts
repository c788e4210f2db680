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
export type Disk = typeof fs;

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

const NO_FILE = "it isn't a regular file (links aren't followed)";
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
  if (disk.statSync(folder, { throwIfNoEntry: false }) === undefined) {
    // The system's answer alone doesn't say why (ENOENT on a read-only volume).
    expectWritable(folder, disk);
    disk.mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  }
  checkFolder(folder, disk);
}

function checkFolder(folder: string, disk: Disk) {
  const { mode = 0 } = disk.statSync(folder, { throwIfNoEntry: false }) ?? {};
  const isOpenToAll = (mode & constants.S_IWOTH) !== 0 && (mode & STICKY) === 0;
  if (!HAS_MODES || !isOpenToAll) return;
  const problem = `other users can write to its folder (mode ${(mode & 0o777).toString(8)})`;
  const cure = `Run chmod go-w ${shellWord(folder)} or, if ${mountCure(folder)}`;
  throw new UntrustedFile(problem, cure);
}

/** What helps where no chmod does. */
function mountCure(path: string) {
  const options = `uid=${process.getuid?.()},file_mode=0600,dir_mode=0700`;
  const other = elsewhere(path);
  return `its volume keeps no modes (such as CIFS or FAT), mount it with ${options}${other}`;
}

/** For files in the cache folder: another place. What was noted has to go with it, or creates could be sent twice. */
function elsewhere(path: string) {
  if (!isMovable(path)) return "";
  return `, or copy ${shellWord(cacheFolder())} into another folder of yours, and set XDG_CACHE_HOME to that folder`;
}

/** Only Linux has a variable for the cache folder's place. */
function isMovable(path: string) {
  return process.platform === "linux" && `${path}/`.startsWith(`${cacheFolder()}/`);
}

/** The command by which root makes it this user's. */
function chown(path: string) {
  const files = isMovable(path) ? cacheFolder() : path;
  return `chown -R ${process.getuid?.()} ${shellWord(files)}`;
}

/** @param error what came of using `path`. @returns what to do, as a clause; none if that is not known. */
export function cureFor(error: unknown, path: string): string | undefined {
  if (error instanceof UntrustedFile) return error.cure;
  if (hasCode(error, "ENOSPC", "EDQUOT")) return `Make room on the disk of ${path}`;
  if (!hasCode(error, "EACCES", "EPERM", "EROFS")) return undefined;
  if (isMovable(path) && !fs.existsSync(cacheFolder()))
    return "Set XDG_CACHE_HOME to a folder that you can write to, and that later runs see";
  if (hasCode(error, "EROFS")) return `Make its volume writable${elsewhere(path)}`;
  const writable = `Make ${path} and its folder writable for you alone`;
  if (!HAS_MODES) return writable;
  return `${writable} (as root: ${chown(path)})${elsewhere(path)}`;
}

/** Whether the system gave one of these codes for a failed call. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return codes.includes(code);
}

/** Asks without a trace, for a preview. @throws the system's error where a run could not make `path`. */
export function expectWritable(path: string, disk: Disk): void {
  let folder = dirname(path);
  while (disk.statSync(folder, { throwIfNoEntry: false }) === undefined)
    folder = dirname(folder);
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
    if (hasCode(error, "ENOENT")) return undefined;
    if (hasCode(error, "ELOOP", "ENXIO")) throw new UntrustedFile(NO_FILE);
    throw error;
  }
  try {
    const status = disk.fstatSync(file);
    if (!status.isFile()) throw new UntrustedFile(NO_FILE);
    const user = process.getuid?.();
    if (HAS_MODES && status.uid !== user)
      throw new UntrustedFile(
        `it belongs to the user ${status.uid}, and you are ${user}`,
        `Run as root: ${chown(path)}${elsewhere(path)}`,
      );
    if (status.size > MAX_BYTES)
      throw new UntrustedFile(`it's larger than ${MAX_BYTES} bytes`);
    if (HAS_MODES && (status.mode & 0o077) !== 0) makePrivate(file, path, disk);
    return disk.readFileSync(file, "utf8");
  } finally {
    disk.closeSync(file);
  }
}

function makePrivate(file: number, path: string, disk: Disk) {
  try {
    disk.fchmodSync(file, OWNER_ONLY_FILE);
  } catch (error) {
    if (!hasCode(error, "EPERM", "ENOTSUP")) throw error;
    throw new UntrustedFile("other users can read it", `As ${mountCure(path)}`);
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
export function replacePrivate(
  path: string,
  content: string,
  disk: Disk,
  confirm: () => void,
): void {
  makePrivateFolder(dirname(path), disk);
  // A link or a folder is not overwritten: somebody put it there for a reason.
  readPrivate(path, disk);
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
    // Whole, or it throws.
    disk.writeFileSync(file, content);
    disk.fsyncSync(file);
  } finally {
    disk.closeSync(file);
  }
}

/** Windows opens no folders, some file systems don't sync them, and some folders may be written to and not read. */
const NOT_POSSIBLE = [
  "EACCES",
  "EPERM",
  "EISDIR",
  "EINVAL",
  "EBADF",
  "ENOTSUP",
  "ENOSYS",
  "EROFS",
];

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
    if (!hasCode(error, ...NOT_POSSIBLE)) throw error;
  } finally {
    if (file !== undefined) disk.closeSync(file);
  }
  if (dirname(folder) !== folder) syncFolder(dirname(folder), disk);
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
export function cacheFolder(
  platform = process.platform,
  environment = process.env,
  home = homedir(),
): string {
  const name = "pulumi-advertising";
  if (platform === "darwin") return join(home, "Library", "Caches", name);
  if (platform === "win32")
    return join(environment.LOCALAPPDATA || join(home, "AppData", "Local"), name, "Cache");
  return join(environment.XDG_CACHE_HOME || join(home, ".cache"), name);
}
