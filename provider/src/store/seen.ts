/**
 * What runs on this machine have learned of an account's objects, of all its stacks, and sent for them with an unknown outcome.
 *
 * A file of lines, to which any run may append at any time; the newest line about an object counts, whatever their order. No line is ever
 * changed or removed, because another run may append meanwhile: a large file is renamed, and the next one begins. What still matters of the
 * file renamed before is appended first. So each line is in one of the two at each moment, also if a run is killed, and to read the
 * first before the second finds them all.
 */
import { z } from "zod";
import { type Clock, jsonIn, jsonLines, momentOf } from "../base/index.js";
import { appendHints, appendNow, type Disk, readHints, renameNow, systemDisk, withLockNow } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { type CreateRecord, objectKey } from "../state/index.js";

/** ISO 8601. Lines of earlier versions have none, and are the oldest. */
const at = z.string().default("");
const lineSchema = z.union([
  /** An object that was read soon after its create. Objects are named as {@link objectKey} does. */
  z.object({ seen: z.string(), at }),
  /** A delete of it was sent, and `done` if its answer has proved that it is gone; false if it is live nevertheless. */
  z.object({ delete: z.string(), sent: z.boolean(), done: z.boolean().optional(), at }),
  z.object({
    update: z.string(),
    /** The arguments of updates that were sent, and perhaps carried out; empty once the state has them. */
    names: z.array(z.string()),
    /** The fingerprint of the body that the object has since then, if that is known. */
    done: z.string().optional(),
    at,
  }),
  /** An adoption has settled the create with this mark, as the object with this id. */
  z.object({ settled: z.string(), as: z.string(), at }),
]);

type Line = z.infer<typeof lineSchema>;
/** A line without its moment. */
type Fact = Line extends infer Each ? (Each extends unknown ? Omit<Each, "at"> : never) : never;
type LineOf<Name extends string> = Extract<Line, Readonly<Record<Name, unknown>>>;

/** Updates of an object that the state may not have. */
type Update = Pick<LineOf<"update">, "names" | "done">;

/** The newest line of each sort about each object or create. */
type Noted = Map<string, Line>;

/** No longer than this anything is taken for just created. */
const MAX_AGE_MS = 86_400_000;
/** Then it is renamed. */
const MAX_BYTES = 1024 * 1024;
/** So many deletes and settled creates of the file that was renamed before are remembered then. */
const MAX_KEPT = 10_000;

/**
 * Which objects of an account a run on this machine has read soon after their create: that one of these is gone later is believed at
 * once. And of which objects it has sent a delete that was not refused, or an update that did not succeed: these may be gone, or differ
 * from what a state has; the answer to a delete may have proved that. And which creates an adoption has settled, and their sets still have
 * as unresolved. Only that is noted, so the file is small. If it is missing, or a line of it is torn (which may take the next one along),
 * an absence is believed later, never too early, and such a create counts as settled only as long as the state shows it.
 */
export class Seen {
  #known: Noted | undefined;
  /** The objects that this run has noted an update of, and those of them whose last one has succeeded. */
  readonly #updatedHere = new Set<string>();
  readonly #doneHere = new Set<string>();

  constructor(
    private readonly path: string,
    private readonly clock: Pick<Clock, "wallMs">,
    private readonly disk: Disk = systemDisk,
  ) {}

  has(kind: Kind["name"], id: string): boolean {
    return this.#newest("seen", objectKey(kind, id)) !== undefined;
  }

  /** It was read. Never fails. */
  note(kind: Kind["name"], id: string): void {
    if (!this.has(kind, id)) this.#append([{ seen: objectKey(kind, id) }]);
  }

  /** Whether a delete of it was sent that may have been carried out. */
  isDeleteSent(kind: Kind["name"], id: string): boolean {
    return this.#newest("delete", objectKey(kind, id))?.sent === true;
  }

  /** When a delete of it was answered with proof that it is gone, ISO 8601; none if something has shown it since. */
  deletedAt(kind: Kind["name"], id: string): string | undefined {
    const newest = this.#newest("delete", objectKey(kind, id));
    return newest?.done === true ? newest.at : undefined;
  }

  isDeleted(kind: Kind["name"], id: string): boolean {
    return this.deletedAt(kind, id) !== undefined;
  }

  /** Such an answer came. Never fails. */
  noteDeleted(kind: Kind["name"], id: string): void {
    if (!this.isDeleted(kind, id)) this.#append([{ delete: objectKey(kind, id), sent: true, done: true }]);
  }

  /** @param sent a delete of it is about to be sent; false if it is live nevertheless. Never fails. */
  noteDelete(kind: Kind["name"], id: string, sent: boolean): void {
    if (this.isDeleteSent(kind, id) !== sent) this.#append([{ delete: objectKey(kind, id), sent }]);
  }

  updateOf(kind: Kind["name"], id: string): Update {
    return this.#newest("update", objectKey(kind, id)) ?? { names: [] };
  }

  /**
   * The arguments of its updates that the state may not have.
   * @param fingerprint of the body that the state has.
   */
  unsureOf(kind: Kind["name"], id: string, fingerprint: () => string): readonly string[] {
    const { names, done } = this.updateOf(kind, id);
    return done === undefined || done !== fingerprint() ? names : [];
  }

  /** The state has what an earlier run has noted; of this run's notes that is not known yet. Never fails. */
  forgetSaved(kind: Kind["name"], id: string): void {
    if (!this.#updatedHere.has(objectKey(kind, id))) this.noteUpdate(kind, id, { names: [] });
  }

  /** Written before an update is sent, when it surely was not carried out, and when a read has shown the object. Never fails. */
  noteUpdate(kind: Kind["name"], id: string, { names, done }: Update): void {
    const before = this.updateOf(kind, id);
    if (names.length === before.names.length && done === before.done) return;
    const key = objectKey(kind, id);
    this.#updatedHere.add(key);
    this.#doneHere.delete(key);
    this.#append([{ update: key, names, ...(done !== undefined && { done }) }]);
  }

  /** An update has succeeded, of which the engine is handed the result. Never fails. */
  noteDone(kind: Kind["name"], id: string, update: Required<Update>): void {
    this.noteUpdate(kind, id, update);
    this.#doneHere.add(objectKey(kind, id));
  }

  /** The engine has saved all that this run has handed to it. Never fails. */
  forgetDone(): void {
    this.#append([...this.#doneHere].map((update) => ({ update, names: [] })));
  }

  /** Whether an adoption has settled a create with the object that the state of its set expects for it. */
  isSettled({ mark, adoptedAs }: Pick<CreateRecord, "mark" | "adoptedAs">): boolean {
    return adoptedAs !== undefined && this.#newest("settled", mark)?.as === adoptedAs;
  }

  /** @param id of the object that settles it, which the state has: whatever becomes of that, the create is settled. Never fails. */
  noteSettled(mark: string, id: string): void {
    if (!this.isSettled({ mark, adoptedAs: id })) this.#append([{ settled: mark, as: id }]);
  }

  #newest<Name extends "seen" | "delete" | "update" | "settled">(name: Name, key: string): LineOf<Name> | undefined {
    return this.#noted.get(keyOf(name, key)) as LineOf<Name> | undefined;
  }

  #append(all: readonly Fact[]): void {
    if (all.length === 0) return;
    const lines = all.map((fact): Line => ({ ...fact, at: this.#momentAfter(this.#noted.get(placeOf(fact))?.at) }));
    for (const line of lines) this.#noted.set(placeOf(line), line);
    appendHints(this.path, jsonLines(lines), this.disk);
  }

  /** Now, but later than the line before, also if the clock was set back. */
  #momentAfter(before = ""): string {
    const beforeMs = Date.parse(before);
    const wallMs = () => Math.max(this.clock.wallMs(), Number.isNaN(beforeMs) ? 0 : beforeMs + 1);
    return momentOf({ wallMs });
  }

  get #noted(): Noted {
    this.#known ??= this.#read();
    return this.#known;
  }

  #read(): Noted {
    const text = readHints(this.path, this.disk);
    const noted = newestIn(readHints(retired(this.path), this.disk), text);
    if (text.length > MAX_BYTES) withLockNow(`${this.path}.lock`, () => this.#retire(), this.disk);
    return noted;
  }

  /** Only while this process has the lock. */
  #retire(): void {
    const oldest = new Date(this.clock.wallMs() - MAX_AGE_MS).toISOString();
    const now = newestIn(readHints(this.path, this.disk));
    const isOver = (line: Line) => {
      if ("seen" in line) return line.at < oldest;
      if ("settled" in line) return false;
      // It is what is not in the file counts as.
      return ("delete" in line ? !line.sent : line.names.length === 0) && !now.has(placeOf(line));
    };
    const isOutdated = (line: Line) => (now.get(placeOf(line))?.at ?? "") > line.at;
    const left = [...newestIn(readHints(retired(this.path), this.disk)).values()];
    const kept = left.filter((line) => !isOver(line) && !isOutdated(line));
    const lasting = kept.filter((line) => "delete" in line || "settled" in line);
    const dropped = new Set<Line>(lasting.slice(0, Math.max(0, lasting.length - MAX_KEPT)));
    try {
      appendNow(this.path, jsonLines(kept.filter((line) => !dropped.has(line))), this.disk);
      renameNow(this.path, retired(this.path), this.disk);
    } catch {
      // It stays as it is, and the next run tries again.
    }
  }
}

/** All that is known at a path, as lines for another path: appended there, the newest line about an object counts. */
export function seenAt(path: string, disk: Disk = systemDisk): string {
  const text = readHints(path, disk);
  return jsonLines([...newestIn(readHints(retired(path), disk), text).values()]);
}

function retired(path: string): string {
  return `${path}.old`;
}

function keyOf(name: string, key: string): string {
  return `${name} ${key}`;
}

function placeOf(line: Fact): string {
  if ("seen" in line) return keyOf("seen", line.seen);
  if ("settled" in line) return keyOf("settled", line.settled);
  return "delete" in line ? keyOf("delete", line.delete) : keyOf("update", line.update);
}

function newestIn(...texts: readonly string[]): Noted {
  const noted: Noted = new Map();
  for (const text of texts.flatMap((each) => each.split("\n"))) {
    const { data: line } = lineSchema.safeParse(jsonIn(text));
    if (line === undefined) continue; // torn
    const place = placeOf(line);
    if ((noted.get(place)?.at ?? "") > line.at) continue;
    noted.delete(place); // the newest is the last
    noted.set(place, line);
  }
  return noted;
}
