/**
 * Remembers on the disk which creates were sent and what came back, until the engine's state holds it: for runs that are
 * killed in between. One file for each stack, in use by one run at a time.
 */
import { constants } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../clock.js";
import { JournalError } from "../errors.js";
import { acquireLock, type Lock, LockHeld, LockLost } from "../files/lock.js";
import {
  isInPlace,
  openPrivate,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  syncFolder,
  UntrustedFile,
} from "../files/private-file.js";
import { AppendFile } from "./append-file.js";
import { journalPath } from "./journal-path.js";
import { apply, JournalDamaged, journalOf, lineOf, type Note, type Remembered, readNotes } from "./notes.js";
import { keepOnly, reviseNotes } from "./revise.js";

/** Enough for 100,000 open notes; a larger file is no journal of ours. */
const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

/** What the journal knows of a create that is about to be made. */
export type Recollection =
  | { readonly kind: "nothing" }
  /** An interrupted run created just this. */
  | { readonly kind: "created"; readonly remembered: Remembered; readonly id: string }
  /** An interrupted run sent one for this resource, and the answer is not known, or the object is another than is wanted now. */
  | { readonly kind: "unsettled"; readonly remembered: Remembered };

export interface JournalOptions {
  readonly folder: string;
  /** Which stack: notes of others are not looked at. */
  readonly stack: string;
  readonly clock: Clock;
  readonly newMark: () => string;
  /** How long another run of the same stack may be waited for. */
  readonly maxWaitMs: number;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly path: string;
  /** What the state holds of the resources that an interrupted run left notes about. */
  readonly #heldByState = new Map<string, { readonly id: string; readonly fingerprint: string }>();
  /** Those of them that this run has looked at. */
  readonly #askedFor = new Set<string>();
  /** By mark: what the engine was not handed yet. It stays in the file when the run ends. */
  readonly #remembered = new Map<string, Remembered>();
  /** By key: what another create of the same resource must know. Of these, what earlier runs left; and what was reported. */
  readonly #left = new Map<string, Remembered[]>();
  #hasTold = false;
  #file: AppendFile | undefined;
  #opening: Promise<AppendFile> | undefined;
  #lock: Lock | undefined;
  /** Throws where the open file is not this run's any more. */
  #confirmOurs: (() => void) | undefined;
  #glimpsed: Promise<Map<string, Remembered[]>> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.path = journalPath(options.folder, options.stack);
  }

  /**
   * What an interrupted run left about this resource, or this run itself: the engine may ask again for a create that
   * ended in doubt (its error hooks do).
   * @throws {JournalError} damaged, not writable, or in use by another run.
   */
  async recall(key: string, fingerprint: string): Promise<Recollection> {
    await this.#ask(key);
    await this.#open();
    const remembered = decisive(this.#left.get(key) ?? []);
    if (remembered === undefined) return { kind: "nothing" };
    const { id } = remembered;
    if (id === undefined || remembered.fingerprint !== fingerprint) return { kind: "unsettled", remembered };
    return { kind: "created", remembered, id };
  }

  /**
   * What stands there about `key` as the run begins, without a lock: for previews.
   * @throws {JournalError} it can't be read.
   */
  async glimpse(key: string): Promise<Remembered | undefined> {
    return decisive((await this.#ask(key)).filter((entry) => !this.#isHeld(entry)));
  }

  /**
   * What no run has asked for since it was interrupted, as this run begins; nothing when it is asked again.
   * @throws {JournalError} it can't be read.
   */
  async unclaimedOnce(): Promise<Remembered[]> {
    if (this.#hasTold) return [];
    this.#hasTold = true;
    return [...(await this.#glimpseAll()).values()].flat().filter((entry) => entry.unclaimed);
  }

  /** Notes that a create is about to be sent; on the disk when it resolves. */
  async sending(note: Omit<Extract<Note, { note: "sent" }>, "note">): Promise<void> {
    this.#askedFor.add(note.key);
    await this.#write({ note: "sent", ...note });
  }

  /**
   * Whoever sends once more on the strength of an older note asks again.
   * @throws {JournalError} another run has taken over the journal, or it was removed: nothing may be sent.
   */
  confirm(): void {
    try {
      this.#confirmOurs?.();
    } catch (error) {
      throw this.#inWords(error);
    }
  }

  /** Notes the id that came back; on the disk when it resolves. The engine is handed it next. */
  async created(mark: string, id: string): Promise<void> {
    await this.#write({ note: "created", mark, id });
    this.handedOver(mark);
  }

  /** Notes that the engine is told that the outcome is unknown: remembered until somebody settles it. */
  async reported(mark: string): Promise<void> {
    await this.#write({ note: "reported", mark });
    const entry = this.#remembered.get(mark);
    if (entry === undefined) return;
    const about = this.#about(entry.key);
    if (!about.includes(entry)) about.push(entry);
  }

  /** What earlier runs left of other resources with this body, and nobody knows the outcome of. */
  async openElsewhere(key: string, fingerprint: string): Promise<Remembered[]> {
    const all = [...(await this.#glimpseAll()).values()].flat();
    return all.filter((entry) => entry.id === undefined && entry.key !== key && entry.fingerprint === fingerprint);
  }

  /** Forgets a create that surely was not acted upon. */
  async settled(mark: string): Promise<void> {
    if (!this.#remembered.has(mark)) return;
    const forgotten = this.#write({ note: "settled", mark });
    this.#drop(mark);
    await forgotten;
  }

  /** The engine was handed what an earlier run had left; the file keeps it until the end of the run. */
  handedOver(mark: string): void {
    this.#drop(mark);
  }

  /**
   * Forgets all notes about `key`, and those that are about the same object or create under another key: a user said what
   * became of it.
   * @param id the object's. @param mark the create's, where it is known.
   * @returns the ids that were noted for it.
   */
  async settleAll(key: string, id: string, mark?: string): Promise<string[]> {
    await this.#ask(key);
    await this.#open();
    const about = [...(this.#left.get(key) ?? [])];
    const elsewhere = [...this.#remembered.values()].filter((entry) => entry.id === id || entry.mark === mark);
    for (const entry of new Set([...about, ...elsewhere])) await this.settled(entry.mark);
    return about.flatMap(({ id }) => id ?? []);
  }

  /**
   * The state holds this resource with this id: what the journal says of it is history.
   * @param fingerprint of the body that the state's arguments make.
   * @returns what is not surely about the object that the state holds. Without an id and with the same body
   *   (`isForgotten`) it most likely is: somebody settled it by hand, elsewhere. The rest stays.
   * @throws {JournalError} it can't be read.
   */
  async heldByState(
    key: string,
    id: string,
    fingerprint: () => string,
  ): Promise<(Remembered & { readonly isForgotten: boolean })[]> {
    const noted = await this.#ask(key);
    if (noted.length === 0) return [];
    this.#heldByState.set(key, { id, fingerprint: fingerprint() });
    for (const entry of [...(this.#left.get(key) ?? [])]) {
      // Should this not reach the disk, the next run finds it out again.
      if (this.#isHeld(entry)) void this.settled(entry.mark).catch(() => undefined);
    }
    return noted.filter((entry) => !isOf(entry, id)).map((entry) => ({ ...entry, isForgotten: this.#isHeld(entry) }));
  }

  /** Lets another run have the journal, with all that is noted in it. */
  async release(): Promise<void> {
    this.#file?.close();
    await this.#lock?.release();
    this.#lock = undefined;
  }

  /**
   * For the end of a run in good order, when there is hardly any time: the engine has saved whatever it was handed, so
   * only what it was not handed stays. Synchronous.
   * @param isWhole whether the run could ask for all that the program declares, as far as is known.
   */
  closeNow({ isWhole }: { readonly isWhole: boolean }): void {
    const marked = (entry: Remembered): Remembered =>
      entry.unclaimed || !isWhole || this.#askedFor.has(entry.key) ? entry : { ...entry, unclaimed: true };
    try {
      if (this.#lock === undefined) {
        // Not opened, since nothing was created: what an interrupted run left may be held by the state by now.
        if (this.#glimpsed !== undefined)
          reviseNotes(this.path, (entry) => (this.#isHeld(entry) ? undefined : marked(entry)));
      } else if (this.#file !== undefined && this.#lock.isHeld()) {
        keepOnly(this.path, [...this.#remembered.values()].map(marked));
      }
    } catch {
      // The notes stay, and the next run's diffs settle them.
    }
    this.#file?.close();
    this.#lock?.releaseNow();
    this.#lock = undefined;
  }

  #about(key: string): Remembered[] {
    const about = this.#left.get(key) ?? [];
    this.#left.set(key, about);
    return about;
  }

  #drop(mark: string): void {
    const entry = this.#remembered.get(mark);
    if (entry === undefined) return;
    this.#remembered.delete(mark);
    const about = this.#left.get(entry.key);
    if (about?.includes(entry)) about.splice(about.indexOf(entry), 1);
  }

  #isHeld(entry: Remembered): boolean {
    const held = this.#heldByState.get(entry.key);
    if (held === undefined || held.id.startsWith(UNRESOLVED_ID)) return false;
    // A note of a replacement has another body than the resource that it replaces.
    return isOf(entry, held.id) || (entry.id === undefined && held.fingerprint === entry.fingerprint);
  }

  async #write(note: Note): Promise<void> {
    const file = await this.#open();
    apply(this.#remembered, note);
    try {
      await file.append(lineOf(note));
    } catch (error) {
      if (error instanceof LockLost || error instanceof JournalError) throw this.#inWords(error);
      throw this.#unusable(
        `it can't be written (${(error as Error).message})`,
        "Make room or mend the permissions",
        note.note === "sent" ? NOTHING_SENT : "",
      );
    }
  }

  #open(): Promise<AppendFile> {
    this.#opening ??= this.#openOnce().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openOnce(): Promise<AppendFile> {
    const { clock, newMark, maxWaitMs } = this.#options;
    try {
      this.#lock ??= await acquireLock(`${this.path}.lock`, { clock, unique: newMark(), maxWaitMs });
      const lock = this.#lock;
      await removeLeftovers(this.path, clock.wallMs()).catch(() => undefined); // only to tidy
      const known = await this.#read();
      for (const entry of known.values()) {
        if (this.#isHeld(entry)) continue;
        this.#remembered.set(entry.mark, entry);
        this.#about(entry.key).push(entry);
      }
      // Written anew at each start: settled notes do not pile up.
      const text = journalOf(this.#remembered.values());
      await replacePrivate(this.path, text, newMark(), lock.confirm);
      await syncFolder(dirname(this.path));
      const handle = await openPrivate(this.path, constants.O_WRONLY | constants.O_APPEND);
      if (handle === undefined) throw new Error("it vanished");
      this.#confirmOurs = () => {
        lock.confirm();
        if (isInPlace(handle, this.path)) return;
        throw this.#unusable("it was removed while this run was using it; nothing more is sent", "Run this again", "");
      };
      this.#file = new AppendFile(handle, Buffer.byteLength(text), this.#confirmOurs);
      return this.#file;
    } catch (error) {
      // A journal that could not be read must stay as it is, at the end of the run too.
      await this.release();
      throw this.#inWords(error);
    }
  }

  /** What was noted about `key` as the run began; from now on it is asked for. */
  async #ask(key: string): Promise<readonly Remembered[]> {
    const noted = (await this.#glimpseAll()).get(key) ?? [];
    if (noted.length > 0) this.#askedFor.add(key);
    return noted;
  }

  #glimpseAll(): Promise<Map<string, Remembered[]>> {
    // Read once: a run may look for thousands.
    this.#glimpsed ??= this.#read().then(
      (entries) => Map.groupBy(entries.values(), ({ key }) => key),
      (error: unknown) => {
        this.#glimpsed = undefined;
        throw this.#inWords(error);
      },
    );
    return this.#glimpsed;
  }

  async #read(): Promise<Map<string, Remembered>> {
    const bytes = await readPrivate(this.path, MAX_JOURNAL_BYTES);
    return readNotes(bytes === undefined ? "" : bytes.toString("utf8"));
  }

  #inWords(error: unknown): JournalError {
    if (error instanceof JournalError) return error;
    if (error instanceof LockHeld) {
      return this.#unusable(
        `another run of this stack is using it (${error.holder})`,
        "Let that run end (or end it), and run this again",
      );
    }
    if (error instanceof LockLost) {
      return new JournalError(
        `Another run of this stack took over the journal ${this.path} while this one was stopped or cut off from the disk; ` +
          "nothing more is sent. Let that run end, and run this again.",
      );
    }
    if (error instanceof JournalDamaged) {
      return this.#unusable(
        error.message,
        "Look into the account for objects that an interrupted run may have created, set existingId for those, then remove the file",
      );
    }
    if (error instanceof UntrustedFile) return this.#unusable(error.message, "Mend that, and run this again");
    return this.#unusable(
      (error as Error).message,
      "Make the folder writable, or set advertising:cookieFile to a file in one that is: the journal is kept beside it " +
        "(but knows nothing there of what an interrupted run has left here)",
    );
  }

  #unusable(what: string, next: string, before = NOTHING_SENT): JournalError {
    const journal = `The journal ${this.path}, which keeps a killed run from creating things twice`;
    return new JournalError(`${before}${journal}, can't be used: ${what}. ${next}.`);
  }
}

const NOTHING_SENT = "Nothing was sent. ";

/** How ids of resources begin that the state holds as unresolved: nothing is settled by that. */
const UNRESOLVED_ID = "unresolved-";

/** Of several notes about a resource, the one that must be settled first. */
function decisive(noted: readonly Remembered[]): Remembered | undefined {
  return noted.find(({ id }) => id === undefined) ?? noted.at(-1);
}

/** Whether a note is about the object with this id, or about the unresolved resource of this id. */
function isOf(entry: Remembered, id: string): boolean {
  return entry.id === id || id.endsWith(entry.mark);
}
