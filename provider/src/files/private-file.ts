/**
 * Files that only their owner may read: checked before they are trusted, created by one process alone, replaced whole or not at all.
 */
import { constants } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import envPaths from "env-paths";
import { type Disk, type OpenFile, type Status, systemDisk } from "./disk.js";

/** A file that must not be used, with the reason in words; nothing was changed. */
export class UntrustedFile extends Error {}

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
/** In such a folder, as /tmp, only a file's owner may remove or replace it. */
const STICKY = 0o1000;
const ROOT = 0;
/** POSIX modes and owners mean nothing on Windows, where a user's cache folder is private by its own rules. */
const HAS_MODES = process.platform !== "win32";
/** A temporary file this old was left by a process that was killed. */
const LEFTOVER_AFTER_MS = 60_000;

/** A pipe would block without O_NONBLOCK; a link could lead anywhere. Both constants are absent on Windows. */
const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Creates `folder` for the owner alone, where it is missing. @throws UntrustedFile where others may replace what is in it. */
export async function makePrivateFolder(folder: string, disk: Disk = systemDisk): Promise<void> {
  await disk.promises.mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  await checkFolder(folder, disk);
}

/**
 * Tightens a folder that this package makes; any other one is left as it is, and must be one where nobody else can put a
 * file in the place of ours. Nothing where it is missing. @throws UntrustedFile
 */
async function checkFolder(folder: string, disk: Disk): Promise<void> {
  if (!HAS_MODES) return;
  try {
    for (let made = folder; isMadeByUs(made); made = dirname(made)) await tighten(made, disk);
    const { mode, uid, gid } = await disk.promises.stat(folder);
    // The group that many systems give each user alone has the user's number.
    const others =
      uid === process.getuid?.() && gid === uid ? constants.S_IWOTH : constants.S_IWGRP | constants.S_IWOTH;
    // In a sticky folder its owner, too, may put a file in the place of ours.
    const isSafe = (mode & STICKY) !== 0 && (uid === process.getuid?.() || uid === ROOT);
    if ((mode & others) !== 0 && !isSafe) {
      throw new UntrustedFile(`other users can write to its folder (to fix that: chmod go-w '${folder}')`);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function isMadeByUs(folder: string): boolean {
  const cache = cacheFolder();
  return folder === cache || folder.startsWith(cache + sep);
}

async function tighten(folder: string, disk: Disk): Promise<void> {
  const status = await disk.promises.lstat(folder);
  if (!status.isDirectory() || status.uid !== process.getuid?.() || (status.mode & 0o077) === 0) return;
  // Where this does not work, the folder is judged as it is.
  await disk.promises.chmod(folder, OWNER_ONLY_FOLDER).catch(() => undefined);
}

/**
 * Opens a regular file of this user; never a link, a folder, a pipe or a device, and never waits for one.
 * @returns the handle, or none where there is no file. @throws UntrustedFile
 */
export async function openPrivate(path: string, flags: number, disk: Disk = systemDisk): Promise<OpenFile | undefined> {
  let handle: OpenFile;
  await checkFolder(dirname(path), disk);
  try {
    handle = await disk.promises.open(path, flags | SAFELY, OWNER_ONLY_FILE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw whyNotOpened(error);
  }
  try {
    expectOwn(await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function whyNotOpened(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ELOOP") return new UntrustedFile("it is a symbolic link");
  if (code === "EISDIR") return new UntrustedFile("it is a folder");
  if (code === "ENXIO") return new UntrustedFile("it is a pipe or a device");
  return error;
}

/** @throws UntrustedFile */
function expectRegular(status: Status): void {
  if (!status.isFile()) throw new UntrustedFile("it is no regular file");
}

/** @throws UntrustedFile it is no regular file of this user. */
export function expectOwn(status: Status): void {
  expectRegular(status);
  if (HAS_MODES && status.uid !== process.getuid?.()) throw new UntrustedFile("it belongs to another user");
}

/**
 * Reads a private file of at most `maxBytes`. One that others may read is tightened first.
 * @returns none where there is no file. @throws UntrustedFile
 */
export async function readPrivate(
  path: string,
  maxBytes: number,
  disk: Disk = systemDisk,
): Promise<Buffer | undefined> {
  const handle = await openPrivate(path, constants.O_RDONLY, disk);
  if (handle === undefined) return undefined;
  try {
    const status = await handle.stat();
    if (status.size > maxBytes) throw new UntrustedFile(`it is larger than ${maxBytes} bytes`);
    if (HAS_MODES && (status.mode & 0o077) !== 0) await handle.chmod(OWNER_ONLY_FILE);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * Reads a regular file at once, for a process that ends: never a link, nor what a pipe would make it wait for.
 * @param expect throws where the file must not be trusted. @default it is no regular file
 * @returns none where there is no file. @throws UntrustedFile; system errors.
 */
export function readNow(path: string, disk: Disk = systemDisk, expect = expectRegular): string | undefined {
  let file: number;
  try {
    file = disk.openSync(path, constants.O_RDONLY | SAFELY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw whyNotOpened(error);
  }
  try {
    expect(disk.fstatSync(file));
    return disk.readFileSync(file, "utf8");
  } finally {
    disk.closeSync(file);
  }
}

/** As {@link readNow}, of a file that only gives hints: empty where there is none, or where it can't be read. */
export function readHints(path: string, disk: Disk = systemDisk): string {
  try {
    return readNow(path, disk) ?? "";
  } catch {
    return "";
  }
}

/**
 * Adds lines to a file at once, and makes it where it is missing. @param header its first line. @throws system errors.
 */
export function appendNow(path: string, lines: string, disk: Disk = systemDisk, header = ""): void {
  disk.mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const file = disk.openSync(path, "a", OWNER_ONLY_FILE);
  try {
    disk.writeFileSync(file, disk.fstatSync(file).size === 0 ? header + lines : lines);
  } finally {
    disk.closeSync(file);
  }
}

/** As {@link appendNow}, of a file that only gives hints. Never fails: its readers know less then. */
export function appendHints(path: string, lines: string, disk: Disk = systemDisk, header = ""): void {
  try {
    appendNow(path, lines, disk, header);
  } catch {
    // See the promise.
  }
}

/** Renames a file for good, in the place of what has the new name. A process that has it open goes on in it. At once. @throws system errors. */
export function renameNow(from: string, to: string, disk: Disk = systemDisk): void {
  const file = disk.openSync(from, "a", OWNER_ONLY_FILE);
  try {
    disk.fsyncSync(file);
  } finally {
    disk.closeSync(file);
  }
  disk.renameSync(from, to);
  syncFolder(dirname(to), disk);
}

/**
 * Whether `handle`'s file still is the one at `path`: not if it was removed or replaced.
 * @throws system errors if that can't be found out.
 */
export function isInPlace(handle: OpenFile, path: string, disk: Disk = systemDisk): boolean {
  const opened = disk.fstatSync(handle.fd, { bigint: true });
  const found = disk.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.ino === opened.ino && found.dev === opened.dev;
}

/**
 * Creates a file that only one of several processes can create, whole from its first moment on: written under a name of its own,
 * which `removeLeftovers` knows, and linked into place. So a process that is killed meanwhile leaves no half-written one. At once.
 * @param unique for the name of the temporary file.
 * @returns whether it could: not where there is something at `path`. @throws the system's errors
 */
export function createExclusively(path: string, content: string, unique: string, disk: Disk): boolean {
  const temporary = `${path}.${unique}.tmp`;
  try {
    writeNew(temporary, content, disk);
    try {
      disk.linkSync(temporary, path);
    } catch (error) {
      // Over NFS the answer may be about our own link, asked for once more (open(2) on O_EXCL).
      if (isTaken(error)) return disk.statSync(temporary, { throwIfNoEntry: false })?.nlink === 2;
      // A file system without links, or whatever it is: the plain way says.
      writeNew(path, content, disk);
    } finally {
      disk.rmSync(temporary, { force: true });
    }
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

function writeNew(path: string, content: string, disk: Disk): void {
  const file = disk.openSync(path, "wx", OWNER_ONLY_FILE);
  try {
    disk.writeFileSync(file, content);
  } catch (error) {
    disk.rmSync(path, { force: true }); // a full disk may have taken a part of it
    throw error;
  } finally {
    disk.closeSync(file);
  }
}

function isTaken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  // Windows answers EPERM while a file of that name is being removed.
  return code === "EEXIST" || (code === "EPERM" && !HAS_MODES);
}

/**
 * Replaces a private file whole: readers see the old one or the new one, and a crash leaves the old one.
 * @param confirm throws where the file must not be replaced any more; called at the last moment.
 * @throws UntrustedFile where something else than this user's regular file stands there; what `confirm` throws; system errors.
 */
export async function replacePrivate(
  path: string,
  content: string,
  unique: string,
  confirm: () => void = () => undefined,
  disk: Disk = systemDisk,
): Promise<void> {
  await makePrivateFolder(dirname(path), disk);
  // A link or a folder is not overwritten: somebody put it there for a reason.
  await (await openPrivate(path, constants.O_RDONLY, disk))?.close();
  const temporary = `${path}.${unique}.tmp`;
  const handle = await disk.promises.open(temporary, "wx", OWNER_ONLY_FILE);
  try {
    await handle.writeFile(content);
    await handle.datasync();
    await handle.close();
    confirm();
    await disk.promises.rename(temporary, path);
  } catch (error) {
    await handle.close().catch(() => undefined); // closed already where the rename failed
    await disk.promises.unlink(temporary).catch(() => undefined); // the first error is the one to tell
    throw error;
  }
}

/**
 * As {@link replacePrivate}, at once, and for good when it returns. Only for a file that no other process writes meanwhile.
 * @throws system errors.
 */
export function replaceNow(path: string, content: string, disk: Disk = systemDisk): void {
  const temporary = `${path}.closing.tmp`;
  const file = disk.openSync(temporary, "w", OWNER_ONLY_FILE);
  try {
    disk.writeFileSync(file, content); // whole, or it throws
    disk.fsyncSync(file);
  } finally {
    disk.closeSync(file);
  }
  disk.renameSync(temporary, path);
  syncFolder(dirname(path), disk);
}

/** As {@link replaceNow}, of a file that only gives hints. Never fails: it may stay as it is. */
export function replaceHints(path: string, content: string, disk: Disk = systemDisk): void {
  try {
    replaceNow(path, content, disk);
  } catch {
    // See the promise.
  }
}

/** Removes a file, where there is one, for good. At once. @throws system errors. */
export function removeNow(path: string, disk: Disk = systemDisk): void {
  disk.rmSync(path, { force: true });
  syncFolder(dirname(path), disk);
}

/**
 * Makes the names of a folder's files survive a machine that loses its power, and the folder itself, which may be as new: where the
 * system can do that. @throws the system's error where it could not be done.
 */
export function syncFolder(folder: string, disk: Disk = systemDisk): void {
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

/** Removes what killed processes left beside `path`. */
export async function removeLeftovers(path: string, nowMs: number, disk: Disk = systemDisk): Promise<void> {
  const folder = dirname(path);
  for (const name of await disk.promises.readdir(folder)) {
    if (!name.startsWith(`${basename(path)}.`) || !name.endsWith(".tmp")) continue;
    const leftover = join(folder, name);
    try {
      const age = nowMs - (await disk.promises.stat(leftover)).mtimeMs;
      if (age > LEFTOVER_AFTER_MS) await disk.promises.unlink(leftover);
    } catch (error) {
      // Its owner, or another run, has removed it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

/** What this package keeps for a user between runs. */
export function cacheFolder(): string {
  return envPaths("pulumi-advertising", { suffix: "" }).cache;
}
