/**
 * The two files beside a stack's journal.
 *
 * Settlements: what people, or a search, have answered of creates of unknown outcome since the last `up` that went through, and what was
 * known before each answer: so that a wrong one can be taken back. Written before the answer takes effect.
 *
 * Ends of runs: the moments at which runs ended cleanly, and what their engines were handed. A run of the same stack that began before
 * that, as after `pulumi cancel`, has read an older state, and its engine writes that over the newer one. So it sends nothing, and puts
 * these records back into the journal: the next run takes over what the state has lost by then.
 */

import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { jsonIn, own } from "../base/index.js";
import { type Disk, readHints, replaceHints, replaceNow, systemDisk } from "../files/index.js";
import type { CreateRecord } from "../state/index.js";
import { joinedRecords, journalOf, readJournal } from "./notes.js";

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

export interface Settlement extends Omit<z.infer<typeof written>, "notes"> {
  /** By the journal's path. */
  readonly notes: ReadonlyMap<string, readonly CreateRecord[]>;
}

/** @returns none where there are none that can be read. */
export function readSettlements(path: string, disk: Disk = systemDisk): Settlement[] {
  return settlementsIn(readHints(path, disk));
}

function settlementsIn(text: string): Settlement[] {
  try {
    return fileSchema.parse(jsonIn(text)).answers.map(({ notes, ...answer }) => ({
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
  disk.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceNow(path, textOf(settlements), disk);
}

function textOf(settlements: readonly Settlement[]): string {
  const answers = settlements.map(({ notes, ...answer }) => ({
    ...answer,
    notes: Object.fromEntries([...notes].map(([journal, records]) => [journal, journalOf(records)])),
  }));
  return JSON.stringify({ ...HEADER, answers });
}

/**
 * Two files as one, of whose answers about one create the second one counts.
 * @param moved from the path of a journal to where its records belong now.
 */
export function joinedSettlements(first: string, second: string, moved: (journal: string) => string): string {
  const answers = [first, second].flatMap(settlementsIn).map(({ notes, ...answer }) => {
    const byJournal = Map.groupBy(notes, ([journal]) => moved(journal));
    const joined = [...byJournal].map(([to, those]) => [to, joinedRecords(...those.map(([, each]) => each))] as const);
    return { ...answer, notes: new Map(joined) };
  });
  return textOf([...new Map(answers.map((answer) => [answer.urn, answer])).values()]);
}

/** An `up` has gone through: the answers are what the state is made of. Never fails. */
export function forgetSettlements(path: string, disk: Disk = systemDisk): void {
  try {
    disk.rmSync(path, { force: true });
  } catch {
    // Each is checked against the state before it is taken back.
  }
}

const firstLine = z.object({
  /** ISO 8601. */
  ended: z.string(),
  /** Where the engine keeps its states, as far as it is known. */
  backend: z.string(),
});

interface RunEnd extends z.infer<typeof firstLine> {
  readonly records: readonly CreateRecord[];
}

/** So long after one run has ended, another that began before it may still be under way: on a machine that was suspended, say. */
const KEPT_MS = 3 * 24 * 3_600_000;

/** Adds one to those of the last days. For the end of a process; never fails, since nothing else may be kept from being done then. */
export function addRunEnd(path: string, end: RunEnd, disk: Disk = systemDisk): void {
  const kept = readRunEnds(path, disk).filter(({ ended }) => Date.parse(end.ended) - Date.parse(ended) < KEPT_MS);
  const texts = [...kept, end].map(
    ({ ended, backend, records }) => `${JSON.stringify({ ended, backend })}\n${journalOf(records)}`,
  );
  replaceHints(path, texts.join(""), disk);
}

/** @returns none where no run has left one, or they can't be read. */
export function readRunEnds(path: string, disk: Disk = systemDisk): RunEnd[] {
  try {
    const texts = readHints(path, disk)
      .split(/^(?=\{"ended":)/m)
      .filter((text) => text !== "");
    return texts.map((text) => {
      const end = text.indexOf("\n") + 1;
      return { ...firstLine.parse(JSON.parse(text.slice(0, end))), records: readJournal(text.slice(end)) };
    });
  } catch {
    return [];
  }
}

/**
 * Where this run's engine keeps its states: two stacks of one name in two backends are not one. By the environment, or by the
 * last `pulumi login`; empty if neither says.
 */
export function backendIn(environment: Readonly<Record<string, string | undefined>>): string {
  const { PULUMI_BACKEND_URL, PULUMI_CREDENTIALS_PATH, PULUMI_HOME } = environment;
  if (PULUMI_BACKEND_URL) return PULUMI_BACKEND_URL;
  const folder = PULUMI_CREDENTIALS_PATH || PULUMI_HOME || join(homedir(), ".pulumi");
  return String(own(jsonIn(readHints(join(folder, "credentials.json"))), "current") ?? "");
}
