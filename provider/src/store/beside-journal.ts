/**
 * The two files beside a stack's journal, and one for all stacks of an account.
 *
 * Settlements: what people, or a search, have answered of creates of unknown outcome since the last `up` that went through, and what was
 * known before each answer: so that a wrong one can be taken back. Written before the answer takes effect.
 *
 * Ends of runs: the moments at which runs ended cleanly, and what their engines were handed. A run of the same stack that began before
 * that, as after `pulumi cancel`, has read an older state, and its engine writes that over the newer one. So it sends nothing, and puts
 * these records back into the journal: the next run takes over what the state has lost by then.
 *
 * What was seen of objects, of all stacks of the account: {@link Seen}.
 */

import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { type Clock, jsonIn, jsonLines, momentOf, own } from "../base/index.js";
import { appendHints, type Disk, readHints, replaceHints, replaceNow, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { type CreateRecord, objectKey } from "../state/index.js";
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

const seenSchema = z.object({
  /** As {@link objectKey} makes it. */
  seen: z.string(),
  /** ISO 8601. */
  at: z.string(),
});

/** The last line about an object counts. */
const deleteSchema = z.object({
  /** As {@link objectKey} makes it. */
  delete: z.string(),
  /** False if the object is live nevertheless. */
  sent: z.boolean(),
});

/** The last line about an object counts. */
const updateSchema = z.object({
  /** As {@link objectKey} makes it. */
  update: z.string(),
  /** The arguments of updates that were sent, and perhaps carried out; empty once the state has them. */
  names: z.array(z.string()),
  /** The fingerprint of the body that the object has since then, if the last one succeeded. */
  done: z.string().optional(),
});

const lineSchema = z.union([seenSchema, deleteSchema, updateSchema]);

/** Updates of an object that the state may not have. */
type Update = Omit<z.infer<typeof updateSchema>, "update">;

/** By object, as {@link objectKey} makes it. */
interface Noted {
  readonly seen: Map<string, string>;
  readonly deletes: Map<string, boolean>;
  readonly updates: Map<string, Update>;
}

/** No longer than this anything is taken for just created. */
const MAX_AGE_MS = 86_400_000;
/** Then those that are too old are dropped. */
const MAX_BYTES = 1024 * 1024;
/** So many deleted objects are remembered then. */
const MAX_DELETES = 10_000;

/**
 * Which objects of an account a run on this machine has read soon after their create: that one of these is gone later is believed at
 * once. And of which objects it has sent a delete that was not refused, or an update that did not succeed: these may be gone, or differ
 * from what a state has. Only that is noted, so the file is small. If it is missing, or a line of it is torn (which may take the next one
 * along), an absence is believed later, never too early.
 */
export class Seen {
  #known: Noted | undefined;
  readonly #doneHere = new Set<string>();

  constructor(
    private readonly path: string,
    private readonly clock: Pick<Clock, "wallMs">,
    private readonly disk: Disk = systemDisk,
  ) {}

  has(kind: Kind["name"], id: string): boolean {
    return this.#objects.seen.has(objectKey(kind, id));
  }

  /** It was read. Never fails. */
  note(kind: Kind["name"], id: string): void {
    const key = objectKey(kind, id);
    const { seen } = this.#objects;
    if (seen.has(key)) return;
    const at = momentOf(this.clock);
    seen.set(key, at);
    this.#append([{ seen: key, at }]);
  }

  /** Whether a delete of it was sent that may have been carried out. */
  isDeleteSent(kind: Kind["name"], id: string): boolean {
    return this.#objects.deletes.get(objectKey(kind, id)) === true;
  }

  /** @param sent a delete of it is about to be sent; false if it is live nevertheless. Never fails. */
  noteDelete(kind: Kind["name"], id: string, sent: boolean): void {
    if (this.isDeleteSent(kind, id) === sent) return;
    const key = objectKey(kind, id);
    this.#objects.deletes.set(key, sent);
    this.#append([{ delete: key, sent }]);
  }

  updateOf(kind: Kind["name"], id: string): Update {
    return this.#objects.updates.get(objectKey(kind, id)) ?? { names: [] };
  }

  /** Written before an update is sent, and when its outcome is known. Never fails. */
  noteUpdate(kind: Kind["name"], id: string, update: Update): void {
    const before = this.updateOf(kind, id);
    if (update.names.length === before.names.length && update.done === before.done) return;
    const key = objectKey(kind, id);
    this.#objects.updates.set(key, update);
    if (update.done === undefined) this.#doneHere.delete(key);
    else this.#doneHere.add(key);
    this.#append([{ update: key, ...update }]);
  }

  /** The engine has saved all that this run has handed to it. Never fails. */
  forgetDone(): void {
    if (this.#doneHere.size > 0) this.#append([...this.#doneHere].map((key) => ({ update: key, names: [] })));
  }

  #append(lines: readonly z.infer<typeof lineSchema>[]): void {
    appendHints(this.path, jsonLines(lines), this.disk);
  }

  get #objects(): Noted {
    this.#known ??= this.#read();
    return this.#known;
  }

  #read(): Noted {
    const text = readHints(this.path, this.disk);
    const seen = new Map<string, string>();
    const deletes = new Map<string, boolean>();
    const updates = new Map<string, Update>();
    for (const line of text.split("\n")) {
      const { data } = lineSchema.safeParse(jsonIn(line));
      if (data === undefined) continue; // torn
      if ("seen" in data) seen.set(data.seen, data.at);
      else if ("delete" in data) deletes.set(data.delete, data.sent);
      else updates.set(data.update, data);
    }
    const known = { seen, deletes, updates };
    if (text.length > MAX_BYTES) this.#tidy(known);
    return known;
  }

  #tidy({ seen, deletes, updates }: Noted): void {
    const oldest = new Date(this.clock.wallMs() - MAX_AGE_MS).toISOString();
    for (const [key, at] of seen) if (at < oldest) seen.delete(key);
    for (const [key, sent] of deletes) if (!sent) deletes.delete(key);
    for (const key of [...deletes.keys()].slice(0, -MAX_DELETES)) deletes.delete(key);
    for (const [key, { names }] of updates) if (names.length === 0) updates.delete(key);
    const kept = [
      ...[...seen].map(([key, at]) => ({ seen: key, at })),
      ...[...deletes].map(([key, sent]) => ({ delete: key, sent })),
      ...[...updates].map(([key, update]) => ({ update: key, ...update })),
    ];
    replaceHints(this.path, jsonLines(kept), this.disk);
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
