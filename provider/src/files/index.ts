/** Files that this user alone reads and writes, and a lock between processes. Nothing here knows what a file is for. */
export {
  acquireLock,
  type Lock,
  LockHeld,
  LockLost,
  type LockOptions,
  withLock,
} from "./lock.js";
export {
  appendHints,
  cacheFolder,
  cureFor,
  type Disk,
  expectWritable,
  readHints,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  syncFolder,
  systemDisk,
  UntrustedFile,
} from "./private-file.js";
