/** Files that only their owner may read: checked before they are trusted, and replaced whole or not at all. */
import { randomUUID } from "node:crypto";
import fs, { constants } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { shellWord } from "../base/index.js";

/**
 * The operating system's file calls, as a type, so that tests can use a simulated disk that loses its power. All calls
 * are synchronous: they are small, and the end of a process waits for nothing.
 */
export type Disk = typeof fs;

export const systemDisk = fs;

/** A pipe would block without O_NONBLOCK. On Windows both constants are undefined, which counts as 0. */
const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A file can't be trusted or used. The message says why; nothing was changed. */
export class UnusableFile extends Error {
  constructor(
    message: string,
    /** The user's next step, as a clause. */
    readonly cure?: string,
  ) {
    super(message);
  }
}

const NO_FILE = "it isn't a regular file (links aren't followed)";
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
/** The mode bit of a folder such as /tmp, in which only a file's owner may remove or replace the file. */
const STICKY = 0o1000;
/** POSIX modes and owners mean nothing on Windows, where a user's cache folder is private by its own rules. */
export const HAS_MODES = process.platform !== "win32";
const LEFTOVER_AFTER_MS = 60_000;
/** Enough for 200,000 objects; a larger file can't be ours. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Creates `folder` for the owner alone, if missing. @throws UnusableFile if everybody may replace its files. */
export function makePrivateFolder(folder: string, disk: Disk) {
  if (!disk.existsSync(folder)) {
    // Throws a better error than mkdir, which fails with ENOENT on a read-only volume.
    expectWritable(folder, disk);
    disk.mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  }
  checkFolder(folder, disk);
}

function checkFolder(folder: string, disk: Disk) {
  const { mode = 0 } = disk.statSync(folder, { throwIfNoEntry: false }) ?? {};
  const isOpenToAll = (mode & constants.S_IWOTH) !== 0 && (mode & STICKY) === 0;
  if (!HAS_MODES || !isOpenToAll) return;
  throw new UnusableFile(
    `other users can write to its folder (mode ${(mode & 0o777).toString(8)})`,
    privacyCure(folder, folder),
  );
}

/** @param what the path, or more. On a volume without modes (CIFS, FAT) only another place helps. */
function privacyCure(path: string, what = `${path} and its folder`) {
  const cure = `Make ${what} yours, and writable for you alone`;
  const folders = { XDG_CACHE_HOME: cacheFolder(), XDG_STATE_HOME: stateFolder() };
  const [variable, folder] =
    Object.entries(folders).find(([, each]) => path.startsWith(each)) ?? [];
  if (folder === undefined || process.platform !== "linux") return cure;
  // Journals must be copied too, or creates could be sent twice.
  return `${cure}; or copy ${shellWord(folder)}, if it exists, into another folder of yours, and set ${variable} to that folder`;
}

/** @param error from a use of `path`. @returns what to do, as a clause; undefined if that isn't known. */
export function cureFor(error: unknown, path: string) {
  if (error instanceof UnusableFile) return error.cure;
  if (hasCode(error, "ENOSPC", "EDQUOT")) return `Make room on the disk of ${path}`;
  if (hasCode(error, "EACCES", "EPERM", "EROFS")) return privacyCure(path);
}

/** Whether an error has one of these system error codes. */
export function hasCode(error: unknown, ...codes: readonly string[]) {
  const { code = "" } = error as NodeJS.ErrnoException;
  return codes.includes(code);
}

/** For a preview: checks without writing anything. @throws the system's error if a run couldn't create `path`. */
export function expectWritable(path: string, disk: Disk) {
  let folder = dirname(path);
  while (!disk.existsSync(folder)) folder = dirname(folder);
  disk.accessSync(folder, constants.W_OK | constants.X_OK);
}

/**
 * Reads a regular file of this user; never a link, a folder, a pipe or a device, and never waits for one. Makes the file
 * private if others may read it. @returns undefined if there is no file. @throws UnusableFile; system errors.
 */
export function readPrivate(path: string, disk = systemDisk) {
  const file = openPrivate(path, disk);
  if (file === undefined) return undefined;
  try {
    return readOpened(file, path, disk);
  } finally {
    disk.closeSync(file);
  }
}

/** Opens a file for {@link readOpened}; undefined if there is none. @throws as {@link readPrivate}. */
export function openPrivate(path: string, disk: Disk) {
  checkFolder(dirname(path), disk);
  try {
    return openUnlinked(path, constants.O_RDONLY, disk);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Opens a file, but never through a link, which could lead anywhere. @throws UnusableFile; system errors. */
export function openUnlinked(path: string, flags: number, disk: Disk) {
  try {
    if (!disk.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      return disk.openSync(path, flags | SAFELY, OWNER_ONLY_FILE);
  } catch (error) {
    if (!hasCode(error, "ELOOP", "ENXIO")) throw error;
  }
  throw new UnusableFile(NO_FILE, "Move it away");
}

/** Adds to a private file, which is created if it is missing. @throws as {@link openUnlinked}. */
export function appendPrivate(path: string, text: string, disk = systemDisk) {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  const file = openUnlinked(path, O_APPEND | O_CREAT | O_WRONLY, disk);
  try {
    disk.writeFileSync(file, text);
  } finally {
    disk.closeSync(file);
  }
}

/** Reads an open file, even if it was removed since. @throws as {@link readPrivate}. */
export function readOpened(file: number, path: string, disk: Disk) {
  const status = disk.fstatSync(file);
  if (!status.isFile()) throw new UnusableFile(NO_FILE, "Move it away");
  const user = process.getuid?.();
  if (HAS_MODES && status.uid !== user)
    throw new UnusableFile(
      `it belongs to the user ${status.uid}, and you are ${user}`,
      privacyCure(path),
    );
  if (status.size > MAX_BYTES)
    throw new UnusableFile(`it's larger than ${MAX_BYTES} bytes`);
  if (HAS_MODES && (status.mode & 0o077) !== 0) disk.fchmodSync(file, OWNER_ONLY_FILE);
  return disk.readFileSync(file, "utf8");
}

/**
 * Replaces a private file whole: readers see the old file or the new one. After a crash the file is the old or the new
 * one; once {@link syncFolder} has returned, the new one.
 * @param confirm called right before the rename; throws if the file must not be replaced any more.
 * @throws UnusableFile if the path isn't this user's regular file; what `confirm` throws; system errors.
 */
export function replacePrivate(
  path: string,
  content: string,
  disk: Disk,
  confirm?: () => void,
) {
  makePrivateFolder(dirname(path), disk);
  // Throws for a link or a folder, which somebody put there for a reason.
  readPrivate(path, disk);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeNew(temporary, content, disk);
    confirm?.();
    disk.renameSync(temporary, path);
  } catch (error) {
    disk.rmSync(temporary, { force: true });
    throw error;
  }
}

/** Creates a private file. @throws system errors; EEXIST if the file exists. */
export function writeNew(path: string, content: string, disk: Disk) {
  const file = disk.openSync(path, "wx", OWNER_ONLY_FILE);
  try {
    // Writes everything, or throws.
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
 * Makes the names of a folder's files survive a loss of power, and the names of the folder and its parents, which may be
 * new too. Does nothing where the system can't. @throws the system's error if the sync failed.
 */
export function syncFolder(folder: string, disk: Disk) {
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
export function removeLeftovers(path: string, nowMs: number) {
  try {
    for (const name of fs.readdirSync(dirname(path))) {
      if (!name.startsWith(`${basename(path)}.`) || !name.endsWith(".tmp")) continue;
      const leftover = join(dirname(path), name);
      const { mtimeMs = nowMs } = fs.statSync(leftover, { throwIfNoEntry: false }) ?? {};
      if (nowMs - mtimeMs > LEFTOVER_AFTER_MS) fs.rmSync(leftover, { force: true });
    }
  } catch {
    // Ignored: see the docstring.
  }
}

/** This user's folder of this package. @param variable names its parent on Linux; without it, `linux` is below home. */
function userFolder(macOs: string, windows: string, variable: string, linux: string) {
  const name = "pulumi-advertising";
  return () => {
    const { env, platform } = process;
    if (platform === "darwin") return join(homedir(), "Library", macOs, name);
    const local = env.LOCALAPPDATA || join(homedir(), "AppData", "Local");
    if (platform === "win32") return join(local, name, windows);
    return join(env[variable] || join(homedir(), linux), name);
  };
}

/** Where each operating system keeps what a program may lose: a contract, since runs find earlier runs' files there. */
export const cacheFolder = userFolder("Caches", "Cache", "XDG_CACHE_HOME", ".cache");

/** Like {@link cacheFolder}, for what a program must not lose. */
export const stateFolder = userFolder(
  "Application Support",
  "",
  "XDG_STATE_HOME",
  join(".local", "state"),
);
