/**
 * The journal's notes: their format, and what a series of them adds up to. Pure. The format is a contract: a later
 * version of this package reads what this one wrote.
 */
import { z } from "zod";
import { jsonIn } from "../base/index.js";
import { type CreateRecord, currentKey } from "../state/index.js";

/** The first line of a journal. */
export const HEADER = { journal: "pulumi-advertising", version: 1 } as const;

const sent = z.object({
  note: z.literal("sent"),
  /** Unique for this create. */
  mark: z.string(),
  /** Which resource of which stack: kind and identity. */
  key: z.string(),
  /** Of the request's body. */
  fingerprint: z.string(),
  /** When, ISO 8601. */
  at: z.string(),
  /** The object's name on the platform; absent where it is secret. */
  name: z.string().optional(),
  /** Further arguments by which people tell the object from others; without secret ones. */
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  /** The id of the object that it was to replace. */
  replaces: z.string().optional(),
  /** The request field that the mark was sent in. */
  trace: z.string().optional(),
  /** Since then a run has gone through, and nothing in it asked for this resource. */
  unclaimed: z.literal(true).optional(),
});
const created = z.object({
  note: z.literal("created"),
  mark: z.string(),
  id: z.string(),
  /** Where it is not what was sent: empty once the object is updated, so that it equals none. */
  fingerprint: z.string().optional(),
});
/** The engine was told that the outcome is unknown, and saves that. */
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
 *   its strength, so it is passed over.
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

/** Adds one note to what is remembered. */
function apply(remembered: Map<string, CreateRecord>, note: Note): void {
  switch (note.note) {
    case "sent": {
      const { note: _, key, trace, ...rest } = note;
      remembered.set(note.mark, { ...rest, key: currentKey(key), ...(trace === undefined ? {} : { field: trace }) });
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

function notesFor(record: CreateRecord): Note[] {
  const { mark, id, isReported } = record;
  return [
    sentNote(record),
    ...(id === undefined ? [] : [{ note: "created" as const, mark, id }]),
    ...(isReported === undefined ? [] : [{ note: "reported" as const, mark }]),
  ];
}

/** What is written before a create is sent. */
export function sentNote({ mark, key, fingerprint, at, name, facts, replaces, field, unclaimed }: CreateRecord): Note {
  return { note: "sent", mark, key, fingerprint, at, name, facts, replaces, trace: field, unclaimed };
}
