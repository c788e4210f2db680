/**
 * The lines of a run's journal file, and the entries that they add up to, one for each create. Writes nothing.
 *
 * Line 1 is the {@link RunHeader}. Each other line has a create's mark and state: a `sent` line is a whole entry, any
 * other line is merged into the entry with its mark.
 */
import { asRecord, jsonIn } from "../base/index.js";
import { readPrivate, systemDisk } from "../files/index.js";
import type { NotedCreate, NotedRun } from "../plan/index.js";

export type JournalEntry = NotedCreate;

/** A change of one entry. */
export type JournalLine = Partial<JournalEntry> & Pick<JournalEntry, "mark" | "state">;

/** Says that the engine has got the outcome of a create. */
interface ReturnLine {
  mark: string;
  state: "returned";
}

/** The journal file of a run: of one provider process, or one call of `pending`. */
export interface RunJournal extends NotedRun {
  path: string;
  /** `<project>/<stack>`, for people. */
  stack: string;
  /** The engine's name, which all provider processes of a run share. */
  engine?: string | undefined;
}

/** A file's first line. */
export type RunHeader = Omit<RunJournal, "path" | "entries">;

const FORMAT_NAME = "pulumi-advertising";
const VERSION = 1;

export function lineOf(line: object) {
  return `${JSON.stringify(line)}\n`;
}

export function headerLine(header: RunHeader) {
  return lineOf({ journal: FORMAT_NAME, version: VERSION, ...header });
}

/** The journal can't be relied on, so nothing may be created until somebody has looked. */
export class DamagedJournal extends Error {}

/**
 * Reads a journal file, synchronously and without a lock. An unfinished last line, which a kill may leave, is ignored:
 * nothing is sent before its line is complete. The first line is always whole, since the file gets its name with it.
 * @returns undefined if there is no file. @throws DamagedJournal if any other line can't be read; Error if a later
 * version wrote the file, and as {@link readPrivate}.
 */
export function readJournal(path: string, disk = systemDisk) {
  const text = readPrivate(path, disk);
  if (text !== undefined) return parseJournal(text, path);
}

/** @throws as {@link readJournal}. */
export function parseJournal(text: string, path: string) {
  // After the last newline: nothing, or an unfinished line.
  const [first, ...others] = text.split("\n").slice(0, -1);
  const { journal, version, ...header } = asRecord(jsonIn(first));
  if (journal !== FORMAT_NAME) throw new DamagedJournal("its first line isn't a journal's");
  if (version !== VERSION)
    throw new Error(
      `its format (${String(version)}) is too new: update pulumi-advertising`,
    );
  const entries = new Map<string, JournalEntry>();
  for (const [index, each] of others.entries()) {
    const line = jsonIn(each);
    if (!isLine(line)) throw new DamagedJournal(`line ${index + 2} can't be read`);
    const { mark } = line;
    const known = entries.get(mark);
    if (line.state === "returned") {
      if (known) entries.set(mark, { ...known, isReturned: true });
      continue;
    }
    const before = line.state === "sent" ? undefined : known;
    entries.set(mark, { key: "", run: "", at: "", body: "", ...before, ...line });
  }
  return { ...(header as RunHeader), path, entries };
}

function isLine(line: unknown): line is JournalLine | ReturnLine {
  const { mark, state, key = "", id = "" } = asRecord(line);
  const isState = ["sent", "created", "closed", "returned"].includes(String(state));
  return isState && [mark, key, id].every((text) => typeof text === "string");
}
