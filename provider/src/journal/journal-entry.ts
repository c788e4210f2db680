/**
 * The lines of a run's journal file, and the entries that they add up to, one for each create. Writes nothing.
 *
 * Line 1 is the {@link RunHeader}; a line of its own has its `from`, which is known later. Each other line has a create's
 * mark and state: a `sent` line is a whole entry, any other line is merged into the entry with its mark.
 */
import { join } from "node:path";
import { asRecord, jsonIn, own } from "../base/index.js";
import { type Disk, readPrivate, systemDisk } from "../files/index.js";
import type { SentCreate } from "../state/index.js";
import { fileName, partsOfName, type StackPlace } from "./places.js";

export interface JournalEntry extends SentCreate {
  /**
   * - `sent`: the create may have been carried out, and nobody knows the id;
   * - `created`: the id is known;
   * - `closed`: the create certainly was not carried out, or somebody has answered so.
   */
  state: (typeof STATES)[number];
  id?: string | undefined;
  account?: string | undefined;
}

const STATES = ["sent", "created", "closed"] as const;

/** A change of one entry. */
export type JournalLine = Partial<JournalEntry> & Pick<JournalEntry, "mark" | "state">;

/** The run of one provider process, or one call of `pending`. */
export interface RunHeader {
  /** `<project>/<stack>`, for people. */
  stack: string;
  run: string;
  /** When the state that the run began with was saved, as Pulumi says; empty without a state. */
  from?: string;
  /** The plugin's provider; undefined for the dynamic provider. */
  provider?: string | undefined;
  /** Some of the runs that this state named: the record may forget this run. */
  stateRuns?: readonly string[];
  /** Whether Pulumi saves each operation of the run before it begins; absent if that isn't known. */
  hasCheckpoints?: boolean;
  /** The engine's name, which all provider processes of a run share. */
  engine?: string | undefined;
}

/** The journal file of a run. */
export interface RunJournal extends RunHeader {
  path: string;
  /** By mark. */
  entries: ReadonlyMap<string, JournalEntry>;
}

export function applyLine(entries: Map<string, JournalEntry>, line: JournalLine): void {
  const before = line.state === "sent" ? undefined : entries.get(line.mark);
  entries.set(line.mark, { key: "", run: "", at: "", body: "", ...before, ...line });
}

const FORMAT_NAME = "pulumi-advertising";
const VERSION = 1;

export function lineOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}

export function headerLine(header: RunHeader): string {
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
export function readJournal(path: string, disk: Disk = systemDisk): RunJournal | undefined {
  const text = readPrivate(path, disk);
  return text === undefined ? undefined : parseJournal(text, path);
}

/** @throws as {@link readJournal}. */
export function parseJournal(text: string, path: string): RunJournal {
  const lines = text.split("\n");
  // The text after the last newline: empty, or an unfinished line.
  lines.pop();
  const { journal, version, ...rest } = asRecord(jsonIn(lines[0]));
  const header = rest as unknown as RunHeader;
  if (journal !== FORMAT_NAME) throw new DamagedJournal("its first line isn't a journal's");
  if (version !== VERSION)
    throw new Error(
      `its format (${String(version)}) is too new: update pulumi-advertising`,
    );
  const entries = new Map<string, JournalEntry>();
  for (const [index, each] of lines.slice(1).entries()) {
    const line = jsonIn(each);
    if (typeof own(line, "from") === "string") Object.assign(header, line);
    else if (!isLine(line)) throw new DamagedJournal(`line ${index + 2} can't be read`);
    else applyLine(entries, line);
  }
  return { ...header, path, entries };
}

function isLine(line: unknown): line is JournalLine {
  const { mark, state, key = "", id = "" } = asRecord(line);
  const isState = STATES.some((each) => each === state);
  return isState && [mark, key, id].every((text) => typeof text === "string");
}

/**
 * The paths of the journal files that may be about a stack: those of its place, wherever the guess of the backend is
 * right, and those of the runs that Pulumi's record names.
 */
export function journalPaths(
  { folder, disk = systemDisk }: { folder: string; disk?: Disk | undefined },
  place: StackPlace,
  runs: ReadonlySet<string>,
): string[] {
  const isOurs = (name: string) => {
    const { digest, run } = partsOfName(name);
    return digest === partsOfName(fileName(place, "")).digest || runs.has(run);
  };
  let names: readonly string[] = [];
  try {
    names = disk.readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const journals = names.filter((name) => name.endsWith(".jsonl") && isOurs(name));
  return journals.sort().map((name) => join(folder, name));
}
