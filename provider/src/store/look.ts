/**
 * Reads a stack's journal and hint file without being its run: for the program's half, the command, and a provider that asks about
 * every stack. A journal is changed here only while no run uses it (at the end of a run that created nothing, and by the command).
 */
import {
  type Disk,
  type LockOptions,
  readNow,
  removeNow,
  replaceNow,
  systemDisk,
  withLock,
  withLockNow,
} from "../files/index.js";
import { aboutWhom, type CreateRecord, objectKey } from "../state/index.js";
import { Inventory, type Live, readInventory } from "./inventory.js";
import { journalOf, readJournal } from "./notes.js";
import { everyStackIn, type StorePaths } from "./places.js";

/** What this machine remembers of a stack. */
export interface Snapshot {
  /** Creates that are not settled, in the order of sending. Several may be of one resource, each with a mark of its own. */
  readonly creates: readonly CreateRecord[];
  /** By journal key: what the last runs created. Only a hint, never proof. */
  readonly objects: ReadonlyMap<string, Live>;
}

/** Never fails: a journal that can't be read remembers nothing here, and the next create says what is wrong with it. */
export function look(paths: Pick<StorePaths, "journal" | "objects">, disk: Disk = systemDisk): Snapshot {
  return { creates: readableIn(paths.journal, disk), objects: readInventory(paths.objects, disk) };
}

/** What this machine remembers of every stack whose journals stand in one folder: those of one account. */
export function lookAround(journalFolder: string, disk: Disk = systemDisk): Snapshot[] {
  return everyStackIn(journalFolder, disk).map((paths) => look(paths, disk));
}

function readableIn(journal: string, disk: Disk): CreateRecord[] {
  try {
    return recordsIn(journal, disk);
  } catch {
    return [];
  }
}

/** @throws JournalDamaged; the system's errors. */
export function recordsIn(journal: string, disk: Disk = systemDisk): CreateRecord[] {
  const text = readNow(journal, disk);
  return text === undefined ? [] : readJournal(text);
}

/** Another record in the place of one, the same, or none. */
export type Revise = (record: CreateRecord) => CreateRecord | undefined;

/**
 * Changes each record of a journal, at once. Does nothing where that changes nothing, or where a run holds the journal.
 * @returns how many were forgotten. @throws JournalDamaged; the system's errors.
 */
export function reviseNow(journal: string, revise: Revise, disk: Disk = systemDisk): number {
  if (recordsIn(journal, disk).every((record) => revise(record) === record)) return 0; // nothing is written where nothing is to be done
  let forgotten = 0;
  const work = () => {
    forgotten = reviseHeld(journal, revise, disk);
  };
  withLockNow(`${journal}.lock`, work, undefined, disk);
  return forgotten;
}

/**
 * Forgets objects that this process has deleted, in the notes of every stack of the account: no later run may take one over. Never fails;
 * a journal that a run holds stays as it is.
 * @param deleted each as `objectKey` makes it.
 */
export function forgetObjects(journalFolder: string, deleted: ReadonlySet<string>, disk: Disk = systemDisk): void {
  if (deleted.size === 0) return;
  const isDeleted = (key: string, id: string | undefined) =>
    id !== undefined && deleted.has(objectKey(aboutWhom(key).kind, id));
  for (const { journal, objects } of everyStackIn(journalFolder, disk)) {
    const inventory = new Inventory(objects, disk);
    for (const [key, { id }] of inventory.asItBegan) if (isDeleted(key, id)) inventory.noteGone(key);
    try {
      reviseNow(journal, (record) => (isDeleted(record.key, record.id) ? undefined : record), disk);
    } catch {
      // It can't be read, or a run holds it.
    }
  }
}

/** A journal whose lock this process holds. */
export interface HeldJournal {
  /** As {@link reviseNow}. @throws LockLost another process has taken the journal over; nothing was changed. */
  revise(revise: Revise): number;
  /** These records stand in it as they are given, and no others of theirs. @throws LockLost as {@link revise}. */
  restore(records: readonly CreateRecord[]): void;
}

/**
 * Holds a journal's lock while `work` runs, from what it judges to its last change.
 * @throws LockHeld a run is using it, and goes on for longer than may be waited.
 */
export function withJournal<T>(
  journal: string,
  options: LockOptions,
  work: (held: HeldJournal) => Promise<T>,
): Promise<T> {
  return withLock(`${journal}.lock`, options, (lock) =>
    work({
      revise(revise) {
        lock.confirm();
        return reviseHeld(journal, revise, options.disk);
      },
      restore(records) {
        lock.confirm();
        const marks = new Set(records.map(({ mark }) => mark));
        const others = recordsIn(journal, options.disk).filter(({ mark }) => !marks.has(mark));
        if (records.length > 0) writeNow(journal, [...others, ...records], options.disk ?? systemDisk);
      },
    }),
  );
}

function reviseHeld(journal: string, revise: Revise, disk: Disk = systemDisk): number {
  const records = recordsIn(journal, disk);
  const left = records.flatMap((record) => revise(record) ?? []);
  if (left.length !== records.length || left.some((record, index) => record !== records[index])) {
    writeNow(journal, left, disk);
  }
  return records.length - left.length;
}

/** Writes a whole journal, or removes it where nothing is left to remember. Its lock must be held. */
export function writeNow(journal: string, records: readonly CreateRecord[], disk: Disk): void {
  if (records.length === 0) removeNow(journal, disk);
  else replaceNow(journal, journalOf(records), disk);
}
