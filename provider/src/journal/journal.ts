/**
 * This machine's notes of creates: each run of a stack has a file, with what it has sent and what came back, until the
 * run ends cleanly. After a clean end the state is the truth. Tests name these promises:
 *
 * M1. A create's entry is on the disk before each sending. Otherwise a kill could lead to two objects.
 * M2. An entry counts until the state accounts for its create, a person or a search resolves it, or it certainly wasn't
 *     carried out. What to make of the entries, `plan/open-creates.ts` decides.
 * M3. A mark has one entry, whichever files note it.
 * M4. Only the run itself writes its file. It checks before and after each write that the file is still its own. A
 *     later run waits until that process has ended.
 * M5. A journal that can't be read or written stops every create. Only an unfinished last line is ignored, since
 *     nothing is sent before its line is complete.
 * M6. An entry is never changed in place, and has nothing secret in it.
 *
 * | from | event | to |
 * |---|---|---|
 * | none, closed, sent (again) | a POST begins ({@link Journal.recordSending}) | sent |
 * | sent, or none (if only Pulumi's record had the create) | a response or search has the id ({@link Journal.recordCreated}) | created |
 * | sent | certainly not carried out ({@link Journal.recordNotCarriedOut}) | closed |
 * | sent, created | the engine has got the outcome ({@link Journal.markReturned}) | the same, and returned |
 * | any | all that the file has was returned to the engine, and the run ends cleanly | no file |
 */
import { constants } from "node:fs";
import { type JournalError, own, systemClock } from "../base/index.js";
import {
  acquireLock,
  expectWritable,
  type Lock,
  makePrivateFolder,
  openPrivate,
  openUnlinked,
  readOpened,
  replacePrivate,
  syncFolder,
  systemDisk,
} from "../files/index.js";
import {
  headerLine,
  type JournalEntry,
  type JournalLine,
  lineOf,
  parseJournal,
  type RunHeader,
  type RunJournal,
} from "./journal-entry.js";
import {
  awaitEnd,
  type JournalOptions,
  journalErrorFrom,
  lockPath,
  readFound,
} from "./journal-file.js";
import { findJournals, journalPath, type StackPlace } from "./places.js";

/** Whose journal it is. */
interface RunOfJournal extends Omit<RunHeader, "stack"> {
  place: StackPlace;
}

/** The pauses before a journal is read again after an error of the system. */
const READ_AGAIN_AFTER_MS = [100, 900];

/** The journal file of one run. Throws only `JournalError`s, whose messages are for users. */
export class Journal {
  readonly path;
  readonly #disk;
  #lock: Lock | undefined;
  #file: number | undefined;
  #bytes = 0;
  #isOver = false;
  #batch: ({ text: string; isSynced: boolean } & PromiseWithResolvers<void>) | undefined;
  #opening: Promise<void> | undefined;
  #trouble: JournalError | undefined;
  /** The marks of creates in the file that a later run has to know. */
  readonly #needed = new Set<string>();

  /** @param start what the header says about the state that the run began with. */
  constructor(
    private readonly of: RunOfJournal,
    private readonly options: JournalOptions,
    private readonly start?: () => Promise<Partial<RunHeader>>,
  ) {
    this.path = journalPath({ ...of.place, run: of.run }, options.folder);
    this.#disk = options.disk ?? systemDisk;
  }

  /** Creates and locks the file. Never fails: {@link assertUsable}, which only creates call, throws the error. */
  openOnce() {
    this.#opening ??= this.#open().catch((error) => {
      this.release();
      this.#trouble ??= journalErrorFrom(this.path, error);
    });
    return this.#opening;
  }

  async #open() {
    const { path } = this;
    const { folder } = this.options;
    const disk = this.#disk;
    const { place, ...run } = this.of;
    const header = { stack: place.stack, ...run, ...(await this.start?.()) };
    makePrivateFolder(folder, disk);
    this.#lock = await acquireLock(lockPath(path), this.options);
    if (this.#isOver) throw new Error("this run has ended");
    // The file gets its name with its first line: a kill in between would leave one that stops later runs.
    replacePrivate(path, headerLine(header), disk, this.#lock.assertHeld);
    // The name must survive a power failure before any request relies on a line in this file.
    syncFolder(folder, disk);
    this.#file = openUnlinked(path, constants.O_WRONLY | constants.O_APPEND, disk);
    this.#bytes = disk.fstatSync(this.#file).size;
  }

  /** @throws JournalError if the journal can't be used (M4, M5). */
  async assertUsable() {
    await this.openOnce();
    if (this.#trouble) throw this.#trouble;
  }

  /** Why an `up` could not use the journal, for a preview, which writes nothing; undefined if it could. */
  get trouble() {
    try {
      expectWritable(this.path, this.#disk);
    } catch (error) {
      this.#trouble ??= journalErrorFrom(this.path, error);
    }
    return this.#trouble;
  }

  /**
   * The files of earlier runs that may be about this stack. If one can't be read, {@link assertUsable} throws.
   * @param runs the runs that Pulumi's record names. @param isAwaited whether to wait for a run that still writes its file.
   */
  async readEarlier(runs: ReadonlySet<string>, isAwaited: (run: RunJournal) => boolean) {
    const { options, of } = this;
    const { clock = systemClock } = options;
    for (const pauseMs of [...READ_AGAIN_AFTER_MS, undefined]) {
      let path = options.folder;
      try {
        const found = [];
        for (const each of findJournals(options, of.place, runs)) {
          path = each.path;
          if (path === this.path) continue;
          const journal = await readFound(each, runs, options);
          // Another provider's process of this run.
          const isSibling = of.engine !== undefined && journal?.engine === of.engine;
          if (!journal || isSibling) continue;
          const ended = isAwaited(journal) ? await readAtEnd(path, options) : undefined;
          found.push(ended ?? journal);
        }
        return found;
      } catch (error) {
        // The system's errors may pass, as on a network drive.
        if (pauseMs === undefined || own(error, "syscall") === undefined) {
          this.#trouble ??= journalErrorFrom(path, error);
          break;
        }
        await clock.sleep(pauseMs);
      }
    }
    return [];
  }

  /** Notes a create before it is sent. Nothing may be sent until this resolves (M1). @throws JournalError */
  async recordSending(entry: Omit<JournalEntry, "state" | "id">) {
    await this.#write({ ...entry, state: "sent" }, "Nothing was sent. ");
    this.#needed.add(entry.mark);
  }

  /**
   * Notes the id of a create's object. @param found the create itself, for a search's result.
   * @throws JournalError if the id can't be noted; the object exists all the same.
   */
  async recordCreated(mark: string, id: string, found: Partial<JournalEntry> = {}) {
    await this.record([{ ...found, mark, state: "created", id }]);
  }

  /** Notes that a create was certainly not carried out. @throws JournalError */
  async recordNotCarriedOut(mark: string) {
    this.#needed.delete(mark);
    await this.#write({ mark, state: "closed" });
  }

  /** Notes creates that only a pending operation has, which Pulumi's next save drops. Never fails. */
  async keep(creates: readonly Omit<JournalEntry, "state">[]) {
    await this.record(creates.map((create) => ({ ...create, state: "sent" }))).catch(
      () => undefined,
    );
  }

  /** Notes what a later run has to know. @throws JournalError */
  async record(lines: readonly JournalLine[]) {
    for (const { mark } of lines) this.#needed.add(mark);
    await Promise.all(lines.map((line) => this.#write(line)));
  }

  /**
   * The engine has got the create's outcome: after a clean end the state has it. With checkpoints off, a kill may have kept
   * Pulumi from saving, so a later run has to see the object.
   */
  markReturned(mark: string) {
    if (this.of.hasCheckpoints === false || !this.#needed.delete(mark)) return;
    // Without this line, a later run takes the object over at worst. So nobody waits for the disk.
    this.#add({ mark, state: "returned" }).promise.catch(() => undefined);
  }

  /**
   * Called when the engine ends the run, after it has saved the state. Writes what is waiting. Synchronous; never fails.
   */
  closeNow() {
    this.#flush();
    try {
      this.#assertStillOurs();
      if (this.#needed.size === 0) this.#disk.rmSync(this.path, { force: true });
    } catch {
      // It isn't this run's any more, or the next run reads it.
    }
    this.release();
  }

  /** Releases the lock; if the file is being opened, once that is done. Never fails. */
  release() {
    this.#isOver = true;
    try {
      if (this.#file !== undefined) this.#disk.closeSync(this.#file);
    } catch {
      // Its lines are on the disk.
    }
    this.#file = undefined;
    this.#lock?.release();
    this.#lock = undefined;
  }

  /**
   * Resolves when the line is on the disk. The lines of one turn of the event loop share a write and a sync: then many
   * creates need few syncs. @param before begins the error's message.
   */
  async #write(line: JournalLine, before = "") {
    await this.assertUsable();
    const batch = this.#add(line);
    batch.isSynced = true;
    await batch.promise.catch((error) => {
      throw journalErrorFrom(this.path, error, before);
    });
  }

  #add(line: object) {
    if (!this.#batch) {
      this.#batch = { text: "", isSynced: false, ...Promise.withResolvers() };
      setImmediate(() => this.#flush());
    }
    const batch = this.#batch;
    batch.text += lineOf(line);
    return batch;
  }

  #flush() {
    const batch = this.#batch;
    this.#batch = undefined;
    if (!batch) return;
    try {
      this.#put(batch.text, batch.isSynced);
      batch.resolve();
    } catch (error) {
      batch.reject(error);
    }
  }

  #put(text: string, isSynced: boolean) {
    const file = this.#assertStillOurs();
    try {
      this.#disk.writeFileSync(file, text);
      if (isSynced) this.#disk.fsyncSync(file);
      this.#bytes += Buffer.byteLength(text);
    } catch (error) {
      // A full disk may have taken half a line, and the lines after it must stay readable.
      this.#disk.ftruncateSync(file, this.#bytes);
      throw error;
    }
    // If the file was replaced during the write, the lines are in a file that nobody reads.
    this.#assertStillOurs();
  }

  /** @returns the open file. @throws UnusableFile; Error if this run has ended or the file was replaced; system errors. */
  #assertStillOurs() {
    if (this.#file === undefined || !this.#lock) throw new Error("this run has ended");
    this.#lock.assertHeld();
    const opened = this.#disk.fstatSync(this.#file);
    const found = this.#disk.lstatSync(this.path, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev)
      throw new Error(
        "it was removed while this run was using it, and nothing more is sent",
      );
    return this.#file;
  }
}

/**
 * Waits for the run that writes a journal, then reads it: even if that run has removed it. The state that this run has
 * begun with may lack what that one has saved since.
 */
async function readAtEnd(path: string, options: JournalOptions) {
  const { disk = systemDisk } = options;
  const file = openPrivate(path, disk);
  if (file === undefined) return undefined;
  try {
    await awaitEnd(path, options);
    return parseJournal(readOpened(file, path, disk), path);
  } finally {
    disk.closeSync(file);
  }
}

/**
 * Replaces journals by ones with fewer entries, and removes those without any. Never fails: the next run reads again what
 * can't be changed, or what its process still writes.
 */
export function rewriteJournals(journals: readonly RunJournal[], disk = systemDisk) {
  for (const { path, entries, ...header } of journals) {
    const lines = [headerLine(header), ...Array.from(entries.values(), lineOf)];
    try {
      if (disk.existsSync(lockPath(path))) continue;
      if (entries.size === 0) disk.rmSync(path, { force: true });
      else replacePrivate(path, lines.join(""), disk);
    } catch {
      // The next run reads it again.
    }
  }
}

/**
 * Writes the answers of a `pending` command as a journal file of its own; the lines are on the disk when this resolves.
 * @throws JournalError
 */
export async function writeAnswers(
  of: RunOfJournal,
  lines: readonly JournalLine[],
  options: JournalOptions,
) {
  const journal = new Journal(of, options);
  await journal.record(lines).finally(() => journal.closeNow());
}
