/** The front door of `files/`. */
export { AppendFile } from "./append-file.js";
export { acquireLock, holderNow, type Lock, LockHeld, LockLost, withLock, withLockNow } from "./lock.js";
export { type Account, digestOf, journalsOnThisMachine, moveNotes, type Places, placesOf } from "./places.js";
export {
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
