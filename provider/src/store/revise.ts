/**
 * Changes a journal that no run is using, at once: for the end of a process, and for the command line.
 */
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { readNow, withLockNow } from "../files/index.js";
import type { CreateRecord } from "../state/index.js";
import { journalOf, readNotes } from "./notes.js";

/**
 * Leaves of each note what `revise` returns: itself, another, or none. Does nothing where that changes nothing, or where
 * a run holds the journal.
 * @returns how many were forgotten. @throws JournalDamaged; the system's errors.
 */
export function reviseNotes(path: string, revise: (entry: CreateRecord) => CreateRecord | undefined): number {
  if (notesIn(path).every((entry) => revise(entry) === entry)) return 0; // nothing is written where nothing is to be done
  let forgotten = 0;
  withLockNow(`${path}.lock`, () => {
    const all = notesIn(path);
    const left = all.flatMap((entry) => revise(entry) ?? []);
    keepOnly(path, left);
    forgotten = all.length - left.length;
  });
  return forgotten;
}

/** Writes a journal anew, or removes it where nothing is left to remember. Its lock must be held. */
export function keepOnly(path: string, left: readonly CreateRecord[]): void {
  if (left.length === 0) {
    unlinkSync(path);
    return;
  }
  const temporary = `${path}.closing.tmp`;
  const file = openSync(temporary, "w", 0o600);
  writeFileSync(file, journalOf(left)); // whole, or it throws
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, path);
}

function notesIn(path: string): CreateRecord[] {
  return [...readNotes(readNow(path) ?? "").values()];
}
