/** What to do about a file that could not be used: one cure for one reason. */
import { LockHeld, LockLost } from "./lock.js";

/** @returns a clause, to be gone on with. @param error what came of using `path`, which says why. */
export function cureFor(error: unknown, path: string): string {
  if (error instanceof LockHeld || error instanceof LockLost) return "Let that run end";
  const { code = "" } = error as NodeJS.ErrnoException;
  if (["EACCES", "EPERM", "EROFS"].includes(code)) return `Make ${path} and its folder writable for you alone`;
  if (["ENOSPC", "EDQUOT"].includes(code)) return `Make room on the disk of ${path}`;
  return "Mend that";
}
