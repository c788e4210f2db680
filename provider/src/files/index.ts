/** The front door of `files/`. */
export { AppendFile } from "./append-file.js";
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
  cacheFolder,
  isInPlace,
  openPrivate,
  readNow,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  syncFolder,
  UntrustedFile,
} from "./private-file.js";
export { readStatus } from "./process-identity.js";
