/**
 * Why a journal can't be used, in words. Pure.
 */
import { JournalError } from "../base/index.js";
import { LockHeld, LockLost, UntrustedFile } from "../files/index.js";
import { JournalDamaged } from "./notes.js";

/** @param path the journal's. @param error whatever came of using it. */
export function inWords(path: string, error: unknown): JournalError {
  if (error instanceof JournalError) return error;
  if (error instanceof LockHeld) {
    return unusable(
      path,
      `another run of this stack is using it (${error.holder})`,
      "Let that run end (or end it), and run this again",
    );
  }
  if (error instanceof LockLost) {
    return new JournalError(
      `Another run of this stack took over the journal ${path} while this one was stopped or cut off from the disk; ` +
        "nothing more is sent. Let that run end, and run this again.",
    );
  }
  if (error instanceof JournalDamaged) {
    return unusable(
      path,
      error.message,
      "Look into the account for objects that an interrupted run may have created, set existingId for those, then remove the file",
    );
  }
  if (error instanceof UntrustedFile) return unusable(path, error.message, "Fix that, and run this again");
  return unusable(
    path,
    (error as Error).message,
    "Make the folder writable, or set advertising:cookieFile to a file in one that is: the journal is kept beside it " +
      "(but knows nothing there of what an interrupted run has left here)",
  );
}

/** @param what is wrong. @param next what to do. @param before what came of the create, where anything was to be sent. */
export function unusable(path: string, what: string, next: string, before: string = NOTHING_SENT): JournalError {
  const journal = `The journal ${path}, which keeps a killed run from creating things twice`;
  return new JournalError(`${before}${journal}, can't be used: ${what}. ${next}.`);
}

export const NOTHING_SENT = "Nothing was sent. ";
