/**
 * The front door of `files/`: files that this user alone reads and writes, written whole or not at all, and a lock between
 * processes. Nothing here knows what a file is for. It imports base.
 */
export { cureFor } from "./cure.js";
export { AppendFile, type Disk, systemDisk } from "./disk.js";
export { acquireLock, type Lock, LockHeld, LockLost, withLock } from "./lock.js";
export {
  appendHints,
  cacheFolder,
  readHints,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  syncFolder,
  UntrustedFile,
} from "./private-file.js";
