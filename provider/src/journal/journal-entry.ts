/** A journal's lines, and the records that they add up to, one for each key ({@link applyLine}). Writes nothing. */
import { join } from "node:path";
import { asRecord, jsonIn, listIn } from "../base/index.js";
import { type Disk, readPrivate, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { type CreateRecord, parseKey } from "../state/index.js";
import { isSameProject, journalPath, type StackPlace } from "./places.js";

export interface JournalEntry extends CreateRecord {
  key: string;
  /**
   * - `sent`: the create may have been carried out, and nobody knows the id;
   * - `created`: the id is known, but the state may lack the object, since the run has not ended cleanly;
   * - `reported`: the id is known, and this run has ended cleanly;
   * - `confirmed`: a later run has seen the object in the state. The record is never taken over; it says which resource
   *   has the object;
   * - `closed`: the record no longer counts. If `at` is set, `pending` got an answer about the create then, which also
   *   answers an older pending operation of Pulumi's.
   */
  state: (typeof STATES)[number];
  id?: string | undefined;
  account?: string | undefined;
  /** The run ended with checkpoints off, so Pulumi may have been killed before it saved the state. */
  unsaved?: boolean | undefined;
  /** A person or a search has answered about this create, so nobody is asked again. */
  answered?: boolean | undefined;
  /** The object is deleted on the platform when it leaves the state (`retainOnDelete: false`). */
  deletes?: boolean | undefined;
}

const STATES = ["sent", "created", "reported", "confirmed", "closed"] as const;

/** Whether the stack's state may lack the create's object. */
export function isOpen({ state, unsaved }: JournalEntry): boolean {
  return (
    state === "sent" || state === "created" || (state === "reported" && unsaved === true)
  );
}

/**
 * Whether the create is reported, and the state has another object instead. The object that the create was to replace
 * doesn't count. @param held the id in the state.
 */
export function isSuperseded(
  { state, id, replaces }: JournalEntry,
  held: string | undefined,
): boolean {
  return state === "reported" && held !== undefined && held !== id && held !== replaces;
}

/**
 * A change of one record. A `sent` or `confirmed` line replaces the record. Any other line is merged into the record,
 * unless that is closed: then the line begins a new one.
 */
export type JournalLine = Partial<JournalEntry> & Pick<JournalEntry, "key" | "state">;

/** @param at when `pending` got an answer, if it did: this also answers an older pending operation of Pulumi's. */
export function closedLine(key: string, at = ""): JournalLine {
  return { key, state: "closed", at };
}

/**
 * The line that confirms an object for a record's key. If the record is about that object, the name is kept to
 * recognise renames, and the fingerprint to know what the object was created with.
 */
export function confirmedLine(record: Omit<JournalLine, "state">, id: string): JournalLine {
  const { key, id: known = id, account, name, body = "", facts, deletes } = record;
  const line = { key, state: "confirmed", id, account } as const;
  return known === id ? { ...line, name, body, facts, deletes } : line;
}

export function applyLine(records: Map<string, JournalEntry>, line: JournalLine): void {
  const before = records.get(line.key);
  const isWhole = line.state === "sent" || line.state === "confirmed";
  const kept = isWhole || before?.state === "closed" ? undefined : before;
  records.set(line.key, { at: "", mark: "", body: "", ...kept, ...line });
}

/**
 * The keys whose records name an object as theirs, or as the one to replace. There are two if a `--target` run moved or
 * replaced the object and left it under both. A key in two providers' journals, as after an alias, counts once.
 */
export function keysHolding(
  all: Iterable<JournalEntry>,
  kind: Kind["name"],
  id: string,
): Set<string> {
  const keys = new Set<string>();
  for (const { key, state, id: now, replaces } of all) {
    const isNamed = state !== "closed" && [now, replaces].includes(id);
    if (isNamed && parseKey(key).kind === kind) keys.add(key);
  }
  return keys;
}

function isLine(line: unknown): line is JournalLine {
  const { key, state, id = "" } = asRecord(line);
  const isState = STATES.some((each) => each === state);
  return isState && typeof key === "string" && typeof id === "string";
}

const FORMAT_NAME = "pulumi-advertising";
const VERSION = 1;

export function lineOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}

/** @param runs names of the last runs that used the journal, the latest last. */
export function journalText(
  place: StackPlace,
  runs: readonly string[],
  records: Iterable<JournalEntry>,
): string {
  const { stack, backend, provider = "default" } = place;
  const kept = [...records].filter(
    ({ state, at, id }) => state !== "closed" || at !== "" || id !== undefined,
  );
  return [
    { journal: FORMAT_NAME, version: VERSION, stack, backend, provider, runs },
    ...kept,
  ]
    .map(lineOf)
    .join("");
}

export interface StackJournal extends StackPlace {
  runs: readonly string[];
  records: Map<string, JournalEntry>;
}

/** The journal can't be relied on, so nothing may be created until somebody has looked. */
export class DamagedJournal extends Error {}

/**
 * Reads a whole journal, synchronously and without a lock. An unfinished last line, which a kill may leave, is ignored:
 * nothing is sent before its line is complete. The first line is always whole, since the file is renamed into place
 * with it. @returns an empty journal if there is no file. @throws DamagedJournal if any other line can't be read;
 * Error if a later version wrote the file, and as {@link readPrivate}.
 */
export function readJournal(path: string, disk: Disk = systemDisk): StackJournal {
  const records = new Map<string, JournalEntry>();
  const lines = readPrivate(path, disk)?.split("\n");
  if (!lines) return { stack: "", backend: "", runs: [], records };
  // The text after the last newline: empty, or an unfinished line.
  lines.pop();
  const { journal, version, stack, backend, provider, runs } = asRecord(jsonIn(lines[0]));
  if (journal !== FORMAT_NAME) throw new DamagedJournal("its first line isn't a journal's");
  if (version !== VERSION)
    throw new Error(
      `its format (${String(version)}) is too new: update pulumi-advertising`,
    );
  for (const [index, each] of lines.slice(1).entries()) {
    const line = jsonIn(each);
    if (!isLine(line)) throw new DamagedJournal(`line ${index + 2} can't be read`);
    applyLine(records, line);
  }
  return {
    stack: String(stack),
    backend: String(backend),
    provider: String(provider),
    runs: listIn(runs).map(String),
    records,
  };
}

/**
 * All journals on this machine. Unreadable ones are left out, since the runs of their stacks report them.
 * @param known a cache between calls, by path, inode and size: a journal only grows, or gets a new inode.
 */
export function everyJournal(
  folder: string,
  disk: Disk = systemDisk,
  known = new Map<string, StackJournal>(),
): StackJournal[] {
  const names = orNone(() => disk.readdirSync(folder)) ?? [];
  const journals = names.filter((name) => name.endsWith(".jsonl"));
  return journals.flatMap((name) => {
    const path = join(folder, name);
    return (
      orNone(() => {
        const { ino, size } = disk.lstatSync(path);
        const version = `${path} ${ino} ${size}`;
        const journal = known.get(version) ?? readJournal(path, disk);
        known.set(version, journal);
        return journal;
      }) ?? []
    );
  });
}

/** An open create: no state is known to have its object. */
export interface OpenCreate extends JournalEntry {
  /**
   * The address of the journal that has it, if that isn't this run's but another provider's or stack's. The other stack
   * may be this one under a former name.
   */
  elsewhere?: StackPlace | undefined;
  /** The state lists it as unresolved, under a key that the set no longer declares. */
  isInState?: boolean | undefined;
}

/**
 * Open creates in this machine's other journals of the project: those of other stacks, of which one may be this stack
 * under its former name, and those of this stack's other providers.
 */
export function openElsewhere(
  here: StackPlace,
  journals: readonly StackJournal[],
): OpenCreate[] {
  return journals
    .filter((each) => isSameProject(each, here) && journalPath(each) !== journalPath(here))
    .flatMap(({ records, runs: _, ...elsewhere }) => {
      // A `reported` create is in the other stack's state, since the run there has ended cleanly.
      const open = [...records.values()].filter(
        ({ state }) => state === "sent" || state === "created",
      );
      return open.map((record) => ({ ...record, elsewhere }));
    });
}

/** Stands for an unknown or secret name: no name on the platform is empty. */
const UNNAMED = "";

/** Open creates by kind and name on the platform: an index, since a set may have thousands of events. */
export class CreatesByName {
  readonly #byName = new Map<string, OpenCreate[]>();

  constructor(creates: Iterable<OpenCreate>) {
    for (const create of creates) this.add(create);
  }

  add(create: OpenCreate): void {
    const { key, name = UNNAMED } = create;
    const kindAndName = `${parseKey(key).kind} ${name}`;
    const same = this.#byName.get(kindAndName) ?? [];
    same.push(create);
    this.#byName.set(kindAndName, same);
  }

  /** Creates of an unknown or secret name match any name. @param name undefined (not known yet) matches all names. */
  find(kind: Kind["name"], name: string | undefined): readonly OpenCreate[] {
    let names = [`${kind} ${name}`, `${kind} ${UNNAMED}`];
    if (name === undefined)
      names = [...this.#byName.keys()].filter((each) => each.startsWith(`${kind} `));
    return names.flatMap((each) => this.#byName.get(each) ?? []);
  }
}

function orNone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
