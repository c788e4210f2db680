/** A stack's memory as lines, and what they add up to: one record a key. A key's last line counts. Writes nothing. */
import { join } from "node:path";
import { asRecord, jsonIn } from "../base/index.js";
import { type Disk, readPrivate, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { aboutWhom, type CreateRecord, markOf, objectKey } from "../state/index.js";
import type { StackPlace } from "./places.js";

export interface MemoryRecord extends CreateRecord {
  readonly key: string;
  /**
   * - `sent`: it may have been carried out, and nobody knows the id;
   * - `made`: the platform gave the id, and the run did not end cleanly: the state may not have it;
   * - `handed`: as `made`, and its run has ended cleanly;
   * - `live`: a later run has seen the object in the state: a hint, for warnings alone;
   * - `none`: nothing; with a moment, a person then said it was not created, which Pulumi's record does not know.
   */
  readonly state: (typeof STATES)[number];
  readonly id?: string | undefined;
  readonly account?: string | undefined;
}

const STATES = ["sent", "made", "handed", "live", "none"] as const;

export type Records = ReadonlyMap<string, MemoryRecord>;

/** A create whose object the state may lack: nothing is sent for its resource, and nothing new while undeclared. */
export function isOpen({ state }: MemoryRecord): boolean {
  return state === "sent" || state === "made";
}

/** No state surely has its object: without checkpoints, a cleanly ended run may be killed before its state is saved. */
export function isUnseen({ state }: MemoryRecord): boolean {
  return state !== "live" && state !== "none";
}

/** Its run's result was saved: another object in the state is from a later run, unless it is what this replaces. */
export function isPast({ state, id, replaces }: MemoryRecord, held: string | undefined): boolean {
  return state === "handed" && held !== undefined && held !== id && held !== replaces;
}

/** Stands for the keys of all that is open: two processes have seen the same if it is the same. */
export function openMarkOf(records: Records): string {
  return markOf(...[...records.values()].flatMap((each) => (isOpen(each) ? each.key : [])).toSorted());
}

/** A change of one record; `sent` and `live` replace it whole, and so does what comes after `none`. */
export type Line = Partial<MemoryRecord> & Pick<MemoryRecord, "key" | "state">;

export function applyLine(records: Map<string, MemoryRecord>, line: Line): void {
  const before = records.get(line.key);
  const goesOn = line.state !== "sent" && line.state !== "live" && before?.state !== "none";
  records.set(line.key, { at: "", mark: "", body: "", ...(goesOn && before), ...line });
}

/** Whether an object is in two places: a run of some targets moved or replaced it, and may have left it in both. */
export function isTwiceIn(records: Records, kind: Kind["name"], id: string): boolean {
  const hasIt = (each: MemoryRecord) => each.state !== "none" && [each.id, each.replaces].includes(id);
  return [...records.values()].filter((each) => hasIt(each) && aboutWhom(each.key).kind === kind).length > 1;
}

/** By object: the key that has it, or else had it. */
export function holdersIn(records: Records): Map<string, string> {
  const holders = new Map<string, string>();
  for (const which of ["replaces", "id"] as const)
    for (const { key, state, [which]: id } of records.values())
      if (id !== undefined && state !== "none") holders.set(objectKey(aboutWhom(key).kind, id), key);
  return holders;
}

function isLine(line: unknown): line is Line {
  const { key, state, id } = asRecord(line);
  return typeof key === "string" && STATES.some((one) => one === state) && ["string", "undefined"].includes(typeof id);
}

const NAME = "pulumi-advertising";
const VERSION = 1;

export function lineOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}

export function textOf({ stack, backend, provider = "default" }: StackPlace, records: Iterable<MemoryRecord>): string {
  const kept = [...records].filter(({ state, at, id }) => state !== "none" || at !== "" || id !== undefined);
  return [{ memory: NAME, version: VERSION, stack, backend, provider }, ...kept].map(lineOf).join("");
}

/** A memory that can't be relied on. Nothing may be created until somebody has looked. */
export class MemoryDamaged extends Error {}

/**
 * Reads a whole memory, at once and without a lock. An unfinished last line, which a kill leaves, is ignored: nothing
 * was sent on its strength. The first is never unfinished: the file is put in place with it. @returns none without a
 * file. @throws MemoryDamaged for anything else unfit; Error for a later version; as {@link readPrivate}.
 */
export function readMemory(path: string, disk: Disk = systemDisk) {
  const lines = readPrivate(path, disk)?.split("\n");
  if (lines === undefined) return undefined;
  lines.pop(); // empty after a whole last line
  const { memory, version, stack, backend } = asRecord(jsonIn(lines[0]));
  if (memory !== NAME) throw new MemoryDamaged("its first line is another file's");
  if (version !== VERSION)
    throw new Error(`it was written by a later version of this package (format ${String(version)}): update it`);
  const records = new Map<string, MemoryRecord>();
  for (const [index, each] of lines.slice(1).entries()) {
    const line = jsonIn(each);
    if (!isLine(line)) throw new MemoryDamaged(`line ${index + 2} is not readable`);
    applyLine(records, line);
  }
  return { stack: String(stack), backend: String(backend), records };
}

/** The memories of all stacks that this machine has, but for those that can't be read: their own runs say so. */
export function everyMemory(folder: string, disk: Disk = systemDisk) {
  const names = orNone(() => disk.readdirSync(folder)) ?? [];
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => orNone(() => readMemory(join(folder, name), disk)) ?? []);
}

/** What no state of the project's other stacks is known to have: one may be this stack, under the name that it had. */
export function openOfOthers(here: StackPlace, folder: string, disk?: Disk) {
  const projectOf = (name: string) => name.split("/").slice(0, -1).join("/");
  return everyMemory(folder, disk)
    .filter(({ stack }) => stack !== here.stack && projectOf(stack) === projectOf(here.stack))
    .flatMap(({ stack, records }) => [...records.values()].filter(isUnseen).map((each) => ({ ...each, stack })));
}

function orNone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
