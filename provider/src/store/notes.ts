/**
 * The journal's notes: their format, what a series of them adds up to, and how others than the journal's run read and change
 * them: the program's half, the command, and a provider that asks about every stack. A journal is changed here only while no run uses it (at the
 * end of a run that created nothing, and by the command). The format is a contract: a later version of this package reads what this one
 * wrote.
 */
import { z } from "zod";
import { jsonIn } from "../base/index.js";
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
import { aboutWhom, type CreateRecord, currentKey, objectKey } from "../state/index.js";
import { Inventory, type Live, readInventory } from "./inventory.js";
import { everyStackIn, type StorePaths } from "./places.js";

export const HEADER = { journal: "pulumi-advertising", version: 1 } as const;

const sent = z.object({
  note: z.literal("sent"),
  mark: z.string(),
  key: z.string(),
  fingerprint: z.string(),
  at: z.string(),
  name: z.string().optional(),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  replaces: z.string().optional(),
  /** The request field that the mark was sent in. */
  trace: z.string().optional(),
  unclaimed: z.literal(true).optional(),
  handed: z.literal(true).optional(),
});
const created = z.object({
  note: z.literal("created"),
  mark: z.string(),
  id: z.string(),
  /** Where it is not what was sent: empty once the object is updated, so that it equals none. */
  fingerprint: z.string().optional(),
});
/** The engine gets the answer that the outcome is unknown, and saves that. */
const reported = z.object({ note: z.literal("reported"), mark: z.string() });
/** Surely not created, or held by the state: nothing to remember any more. */
const settled = z.object({ note: z.literal("settled"), mark: z.string() });
const noteSchema = z.discriminatedUnion("note", [sent, created, reported, settled]);

export type Note = z.infer<typeof noteSchema>;

/** A journal that can't be relied on. Nothing may be created until somebody has looked. */
export class JournalDamaged extends Error {}

export function lineOf(note: Note | typeof HEADER): string {
  return `${JSON.stringify(note)}\n`;
}

/**
 * Reads a whole journal.
 * @returns the creates that are not settled, in the order of sending. An unfinished last line is what a kill leaves: nothing was sent on
 *   its strength, so it is ignored.
 * @throws JournalDamaged for anything else that does not fit.
 */
export function readJournal(text: string): CreateRecord[] {
  const lines = text.split("\n");
  const unfinished = lines.pop() ?? ""; // empty after a whole last line
  if (lines.length === 0) {
    // A journal is put in its place whole, with its first line. An empty file, or one of zero bytes, is what a lost disk leaves.
    if (text === "" || !lineOf(HEADER).startsWith(unfinished))
      throw new JournalDamaged("it does not begin as a journal does");
    return [];
  }
  const header = jsonIn(lines[0]) as { journal?: unknown; version?: unknown } | undefined;
  if (header?.journal !== HEADER.journal) throw new JournalDamaged("its first line is not that of a journal");
  if (header.version !== HEADER.version) {
    throw new JournalDamaged(`it was written by a later version of this package (format ${String(header.version)})`);
  }
  const remembered = new Map<string, CreateRecord>();
  for (const [index, line] of lines.slice(1).entries()) {
    const note = noteSchema.safeParse(jsonIn(line));
    if (!note.success) throw new JournalDamaged(`line ${index + 2} is not readable`);
    apply(remembered, note.data);
  }
  return [...remembered.values()];
}

function apply(remembered: Map<string, CreateRecord>, note: Note): void {
  switch (note.note) {
    case "sent": {
      const { note: _, key, trace: field, handed: isHanded, ...rest } = note;
      const told = { ...(field && { field }), ...(isHanded && { isHanded }) };
      remembered.set(note.mark, { ...rest, key: currentKey(key), ...told });
      return;
    }
    case "created": {
      const known = remembered.get(note.mark);
      const { id, fingerprint } = note;
      if (known !== undefined)
        remembered.set(note.mark, { ...known, id, fingerprint: fingerprint ?? known.fingerprint });
      return;
    }
    case "reported": {
      const known = remembered.get(note.mark);
      if (known !== undefined) remembered.set(note.mark, { ...known, isReported: true });
      return;
    }
    case "settled":
      remembered.delete(note.mark);
  }
}

/** A whole journal, with the notes that add up to these records. */
export function journalOf(records: Iterable<CreateRecord>): string {
  return [HEADER, ...[...records].flatMap(notesFor)].map(lineOf).join("");
}

/** Two journals as one, which knows of a create in both what the second one does. @throws JournalDamaged. */
export function joinedJournals(first: string, second: string): string {
  return journalOf(joinedRecords(readJournal(first), readJournal(second)));
}

/** What several know of creates, each create once, in the order of the first: of one in several, the last one's word counts. */
export function joinedRecords(...several: readonly (readonly CreateRecord[])[]): CreateRecord[] {
  return [...new Map(several.flat().map((record) => [record.mark, record])).values()];
}

/** What adds up to this record. */
export function notesFor(record: CreateRecord): Note[] {
  const { mark, id, isReported } = record;
  return [
    sentNote(record),
    ...(id === undefined ? [] : [{ note: "created" as const, mark, id }]),
    ...(isReported === undefined ? [] : [{ note: "reported" as const, mark }]),
  ];
}

/** What is written before a create is sent. */
export function sentNote(record: CreateRecord): Note {
  const { mark, key, fingerprint, at, name, facts, replaces, field: trace, unclaimed, isHanded: handed } = record;
  return { note: "sent", mark, key, fingerprint, at, name, facts, replaces, trace, unclaimed, handed };
}

export interface Snapshot {
  /** Creates that are not settled, in the order of sending. Several may be of one resource, each with a mark of its own. */
  readonly creates: readonly CreateRecord[];
  /** By journal key: what the last runs created. Only a hint, never proof. */
  readonly objects: ReadonlyMap<string, Live>;
  /** By journal key: the ids of what the program of a run that is under way is about to adopt. A hint too. */
  readonly adopts?: ReadonlyMap<string, string>;
}

/** Never fails: a journal that can't be read remembers nothing here, and the next create says what is wrong with it. */
export function look(paths: Pick<StorePaths, "journal" | "objects">, disk: Disk = systemDisk): Snapshot {
  return { creates: readableIn(paths.journal, disk), ...readInventory(paths.objects, disk) };
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
  withLockNow(`${journal}.lock`, work, disk);
  return forgotten;
}

/**
 * Forgets objects that this process has deleted, or found to be gone, in the notes of every stack of the account: no later run may take
 * one over. Never fails; a journal that a run holds stays as it is.
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
        if (records.length === 0) return;
        writeNow(journal, joinedRecords(recordsIn(journal, options.disk), records), options.disk ?? systemDisk);
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
