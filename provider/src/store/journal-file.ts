/**
 * A stack's journal on the disk: read by anybody, written by one run at a time, which knows when it is that one no longer.
 */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { type Clock, JournalError } from "../base/index.js";
import {
  AppendFile,
  acquireLock,
  isInPlace,
  type Lock,
  LockLost,
  openPrivate,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  syncFolder,
} from "../files/index.js";
import type { CreateRecord } from "../state/index.js";
import { journalPath } from "./journal-path.js";
import { journalOf, lineOf, type Note, readNotes } from "./notes.js";
import { type OtherRuns, Others } from "./others.js";
import { inWords, NOTHING_SENT, unusable } from "./unusable.js";

/** Enough for 100,000 open notes; a larger file is no journal of ours. */
const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

export interface JournalOptions {
  readonly folder: string;
  /** Which stack: notes of others are not looked at. */
  readonly stack: string;
  readonly clock: Clock;
  readonly newMark: () => string;
  /** How long another run of the same stack may be waited for. */
  readonly maxWaitMs: number;
  readonly others?: OtherRuns;
  /**
   * Whether the engine saves the state only at the end of the run, which it does after it has ended this process: until the next
   * run sees it in the state, nobody knows whether what the engine was handed is there.
   */
  readonly savedLast?: boolean;
}

/** All that it throws are {@link JournalError}s, in words for users. */
export class JournalFile {
  readonly path: string;
  readonly #options: JournalOptions;
  #lock: Lock | undefined;
  #file: AppendFile | undefined;
  /** Throws where the open file is not this run's any more. */
  #confirmOurs: (() => void) | undefined;
  readonly others: Others;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.path = journalPath(options.folder, options.stack);
    this.others = new Others(this.path, options.others);
  }

  /** Whether this run has it, never had it, or has lost it. */
  get use(): "open" | "none" | "lost" {
    if (this.#lock === undefined) return "none";
    return this.#file !== undefined && this.#lock.isHeld() ? "open" : "lost";
  }

  /** Without a lock. */
  async read(): Promise<CreateRecord[]> {
    try {
      const bytes = await readPrivate(this.path, MAX_JOURNAL_BYTES);
      return [...readNotes(bytes === undefined ? "" : bytes.toString("utf8")).values()];
    } catch (error) {
      throw inWords(this.path, error);
    }
  }

  /** Takes it for this run, and writes it anew, so that settled notes do not pile up. @returns the notes that were kept. */
  async open(keep: (entry: CreateRecord) => boolean): Promise<CreateRecord[]> {
    const { clock, newMark, maxWaitMs } = this.#options;
    try {
      this.#lock ??= await acquireLock(`${this.path}.lock`, { clock, unique: newMark(), maxWaitMs });
      const lock = this.#lock;
      this.others.look();
      await removeLeftovers(this.path, clock.wallMs()).catch(() => undefined); // only to tidy
      const kept = (await this.read()).filter(keep);
      const text = journalOf(kept);
      await replacePrivate(this.path, text, newMark(), lock.confirm);
      await syncFolder(dirname(this.path));
      const handle = await openPrivate(this.path, constants.O_WRONLY | constants.O_APPEND);
      if (handle === undefined) throw new Error("it vanished");
      this.#confirmOurs = () => {
        lock.confirm();
        if (isInPlace(handle, this.path)) return;
        throw unusable(
          this.path,
          "it was removed while this run was using it; nothing more is sent",
          "Run this again",
          "",
        );
      };
      this.#file = new AppendFile(handle, Buffer.byteLength(text), this.#confirmOurs);
      return kept;
    } catch (error) {
      // A journal that could not be read must stay as it is, at the end of the run too.
      await this.release();
      throw inWords(this.path, error);
    }
  }

  /** Resolves when the note is on the disk. Only once it is open. */
  async append(note: Note): Promise<void> {
    try {
      if (this.#file === undefined) throw new Error("it is not open");
      await this.#file.append(lineOf(note));
    } catch (error) {
      if (error instanceof LockLost || error instanceof JournalError) throw inWords(this.path, error);
      throw unusable(
        this.path,
        `it can't be written (${(error as Error).message})`,
        "Make room or fix the permissions",
        note.note === "sent" ? NOTHING_SENT : "",
      );
    }
  }

  /** @throws {JournalError} it is not this run's any more. */
  confirm(): void {
    try {
      this.#confirmOurs?.();
    } catch (error) {
      throw inWords(this.path, error);
    }
  }

  async release(): Promise<void> {
    this.#file?.close();
    await this.#lock?.release();
    this.#lock = undefined;
  }

  /** As {@link release}. Synchronous. */
  closeNow(): void {
    this.#file?.close();
    this.#lock?.releaseNow();
    this.#lock = undefined;
  }
}
