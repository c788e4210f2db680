/**
 * What people, or a search, have answered of creates of unknown outcome since the last `up` that went through, and what was known
 * before each answer: so that a wrong one can be taken back. Written before the answer takes effect.
 */
import { dirname } from "node:path";
import { z } from "zod";
import { jsonIn } from "../base/index.js";
import { type Disk, readHints, replaceNow, systemDisk } from "../files/index.js";
import type { CreateRecord } from "../state/index.js";
import { journalOf, readJournal } from "./notes.js";

const HEADER = { settlements: "pulumi-advertising", version: 1 } as const;

const written = z.object({
  /** Of a set's member, with its key behind it. */
  urn: z.string(),
  /** What the state held of it, as it would have been kept without an answer; and what it held afterwards. */
  before: z.unknown(),
  after: z.unknown(),
  /** By journal: the records about it, as that journal writes them. */
  notes: z.record(z.string(), z.string()),
});
const fileSchema = z.object({
  settlements: z.literal(HEADER.settlements),
  version: z.literal(HEADER.version),
  answers: z.array(written),
});

export interface Settlement {
  readonly urn: string;
  readonly before: unknown;
  readonly after: unknown;
  /** By the journal's path. */
  readonly notes: ReadonlyMap<string, readonly CreateRecord[]>;
}

/** @returns none where there are none that can be read. */
export function readSettlements(path: string, disk: Disk = systemDisk): Settlement[] {
  try {
    return fileSchema.parse(jsonIn(readHints(path, disk))).answers.map(({ notes, ...answer }) => ({
      ...answer,
      notes: new Map(Object.entries(notes).map(([journal, text]) => [journal, readJournal(text)])),
    }));
  } catch {
    return [];
  }
}

/** Writes them in the place of those that are there. @throws the system's errors. */
export function writeSettlements(path: string, settlements: readonly Settlement[], disk: Disk = systemDisk): void {
  if (settlements.length === 0) {
    forgetSettlements(path, disk);
    return;
  }
  const answers = settlements.map(({ notes, ...answer }) => ({
    ...answer,
    notes: Object.fromEntries([...notes].map(([journal, records]) => [journal, journalOf(records)])),
  }));
  disk.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceNow(path, JSON.stringify({ ...HEADER, answers }), disk);
}

/** An `up` has gone through: the answers are what the state is made of. Never fails. */
export function forgetSettlements(path: string, disk: Disk = systemDisk): void {
  try {
    disk.rmSync(path, { force: true });
  } catch {
    // Each is checked against the state before it is taken back.
  }
}
