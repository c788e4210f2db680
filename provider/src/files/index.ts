/**
 * The front door of `files/`: files that this user alone reads and writes, written whole or not at all, and a lock between
 * processes. Nothing here knows what a file is for. It imports base.
 */
export { AppendFile, type Disk, systemDisk } from "./disk.js";
export {
  acquireLock,
  holderNow,
  type Lock,
  LockHeld,
  LockLost,
  type LockOptions,
  withLock,
  withLockNow,
} from "./lock.js";
export {
  appendHints,
  appendNow,
  cacheFolder,
  isInPlace,
  openPrivate,
  readHints,
  readNow,
  readPrivate,
  removeLeftovers,
  removeNow,
  renameNow,
  replaceHints,
  replaceNow,
  replacePrivate,
  syncFolder,
  UntrustedFile,
} from "./private-file.js";
export { readStatus } from "./process-identity.js";
