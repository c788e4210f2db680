/** A stack's journal as lines, and what they add up to: one record a key. A key's last line counts. Writes nothing. */
import { join } from "node:path";
import { asRecord, jsonIn, listIn } from "../base/index.js";
import { type Disk, readPrivate, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { type CreateRecord, parseKey } from "../state/index.js";
import { isSameProject, journalPath, type StackPlace } from "./places.js";

export interface JournalEntry extends CreateRecord {
  key: string;
  /**
   * - `sent`: it may have been carried out, and nobody knows the id;
   * - `created`: the platform gave the id, and the run did not end cleanly: the state may not have it;
   * - `reported`: as `created`, and its run has ended cleanly;
   * - `confirmed`: a later run has seen the object in the state: it is never taken over, but says which resource has the object;
   * - `closed`: nothing; with a moment, a person then said it was not created, which Pulumi's record does not know.
   */
  state: (typeof STATES)[number];
  id?: string | undefined;
  account?: string | undefined;
  /** Its run ended with checkpoints off: Pulumi may have been killed before it saved the state. */
  unsaved?: boolean | undefined;
  /** A person or a search has said what became of it. Nobody is asked again. */
  answered?: boolean | undefined;
  /** Its object is deleted on the platform when it leaves the state (`retainOnDelete: false`). */
  deletes?: boolean | undefined;
}

const STATES = ["sent", "created", "reported", "confirmed", "closed"] as const;

/** A create whose object its own stack's state may lack. */
export function isOpen({ state, unsaved }: JournalEntry): boolean {
  return (
    state === "sent" || state === "created" || (state === "reported" && unsaved === true)
  );
}

/** A reported create is superseded if the state has another object, unless that is the one it was to replace. */
export function isSuperseded(
  { state, id, replaces }: JournalEntry,
  held: string | undefined,
): boolean {
  return state === "reported" && held !== undefined && held !== id && held !== replaces;
}

/** A change of one record; `sent` and `confirmed` replace it whole, and so does what comes after `closed`. */
export type JournalLine = Partial<JournalEntry> & Pick<JournalEntry, "key" | "state">;

/** @param at the moment, if a person or a search said so: then it answers Pulumi's record of an interrupted run too. */
export function closedLine(key: string, at = ""): JournalLine {
  return { key, state: "closed", at };
}

/** The state has this object for a record's key. By its name a rename is known, by its body with what it was made. */
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
 * The keys that have or had an object. Two: a run of some targets moved or replaced it, and may have left it in both. One
 * key in the journals of two providers is a resource that an alias has moved.
 */
export function keysWith(
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

/** @param runs names of the last runs that have used it, the latest last. */
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

/** A journal that can't be relied on. Nothing may be created until somebody has looked. */
export class DamagedJournal extends Error {}

/**
 * Reads a whole journal, at once and without a lock. An unfinished last line, which a kill leaves, is ignored: nothing
 * was sent on its strength. The first is never unfinished: the file is put in place with it. @returns an
 * empty one without a file. @throws DamagedJournal for anything else unfit; Error for a later version; as {@link readPrivate}.
 */
export function readJournal(path: string, disk: Disk = systemDisk): StackJournal {
  const records = new Map<string, JournalEntry>();
  const lines = readPrivate(path, disk)?.split("\n");
  if (!lines) return { stack: "", backend: "", runs: [], records };
  // Empty after a whole last line.
  lines.pop();
  const { journal, version, stack, backend, provider, runs } = asRecord(jsonIn(lines[0]));
  if (journal !== FORMAT_NAME) throw new DamagedJournal("its first line isn't a journal's");
  if (version !== VERSION)
    throw new Error(
      `a later version of this package wrote it (format ${String(version)}); update this one`,
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
 * The journals of all stacks that this machine has, but for those that can't be read: their own runs say so.
 * @param known those of an earlier call, by their path and what they were: a journal grows, or is replaced as a whole.
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

/** A create that no state is known to have. */
export interface OpenCreate extends JournalEntry {
  /** Where it was sent, if that is another stack of the project, or this one under another name or backend. */
  elsewhere?: StackPlace | undefined;
  /** The state has it as unresolved, under a key that its set does not declare any more. */
  isInState?: boolean | undefined;
}

/** Open creates of the project's other stacks, whose journals are on this machine: one may be this stack, renamed. */
export function openElsewhere(
  here: StackPlace,
  journals: readonly StackJournal[],
): OpenCreate[] {
  return journals
    .filter((each) => isSameProject(each, here) && journalPath(each) !== journalPath(here))
    .flatMap(({ records, runs: _, ...elsewhere }) => {
      // There, a run that ended cleanly has saved its state.
      const open = [...records.values()].filter(
        ({ state }) => state === "sent" || state === "created",
      );
      return open.map((record) => ({ ...record, elsewhere }));
    });
}

/** No name on the platform is empty. */
const UNNAMED = "";

/** Finds creates by kind and name on the platform. A set has thousands of events, so this is an index. */
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

  /** Those of an unknown or secret name are found by any name. @param name undefined if it is not known yet. */
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
