/**
 * Other runs' journal files: waits until the process that writes one has ended, and explains why one can't be used.
 */
import {
  asRecord,
  JournalError,
  joined,
  jsonIn,
  listIn,
  shellWord,
} from "../base/index.js";
import {
  acquireLock,
  cureFor,
  type LockOptions,
  readPrivate,
  systemDisk,
} from "../files/index.js";
import { DamagedJournal, parseJournal, readJournal } from "./journal-entry.js";
import type { FoundJournal } from "./places.js";

export interface JournalOptions extends LockOptions {
  /** The folder of all journals. */
  folder: string;
  say?: (message: string) => void;
}

/** The lock of the process that writes a journal file. */
export function lockPath(path: string) {
  return `${path}.lock`;
}

/**
 * Waits until the process that writes a journal file has ended. An interrupted run may still be ending, and note ids.
 * @throws JournalError if that takes longer than the options allow.
 */
export async function awaitEnd(path: string, options: JournalOptions) {
  const lock = lockPath(path);
  if (!(options.disk ?? systemDisk).existsSync(lock)) return;
  const onWait = (holder: string, leftMs: number) =>
    options.say?.(
      `The journal of an earlier run is in use by ${holder}, which may still be ending: ` +
        `waiting at most ${Math.ceil(leftMs / 1000)} s more.`,
    );
  try {
    (await acquireLock(lock, { ...options, onWait })).release();
  } catch (error) {
    throw journalErrorFrom(path, error);
  }
}

/**
 * Reads a journal that may be about a stack. One of another place is, if its run began with this state, and has ended:
 * somebody has copied the state, and it may go on at both places. So nothing proves then that the journal is this state's.
 * @param runs the runs that Pulumi's record names. @returns undefined if it's about another stack.
 * @throws as {@link readJournal}; not for another place's.
 */
export async function readFound(
  { path, isOurs }: FoundJournal,
  runs: ReadonlySet<string>,
  options: JournalOptions,
) {
  if (isOurs) return readJournal(path, options.disk);
  try {
    const text = readPrivate(path, options.disk) ?? "";
    // Journals of stacks that are gone may be many.
    const { stateRuns } = asRecord(jsonIn(text.slice(0, text.indexOf("\n"))));
    if (!listIn<string>(stateRuns).some((run) => runs.has(run))) return undefined;
    const journal = parseJournal(text, path);
    await awaitEnd(path, { ...options, maxWaitMs: 0 });
    return { ...journal, stateRuns: [], hasCheckpoints: true };
  } catch {
    return undefined;
  }
}

/** @param path the journal's. @param error from reading or writing it. @param before begins the message. */
export function journalErrorFrom(
  path: string,
  error: unknown,
  before = "Nothing was sent. ",
) {
  if (error instanceof JournalError) return error;
  const { message } = error as Error;
  let advice = `${joined(". ", cureFor(error, path), "Run this again")}.`;
  if (error instanceof DamagedJournal)
    advice =
      "Look in the account for objects that an interrupted run may have created, " +
      `set existingId for those, then remove the file:\n  rm ${shellWord(path)}`;
  return new JournalError(
    `${before}The journal ${path} can't be used: ${message}. ${advice}`,
  );
}
