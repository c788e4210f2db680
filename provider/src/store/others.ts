/**
 * Runs of the same stack that were under way when this run's engine read the state, after `pulumi cancel`: once one of them
 * has ended cleanly, its engine holds what it created, its journal is empty, and this run's engine asks for all of it again.
 */
import { existsSync, statSync } from "node:fs";
import type { Unsent } from "./attempt.js";
import { unusable } from "./unusable.js";

/** What is known of such runs by another way than the journal. */
export interface OtherRuns {
  /** Whether there was one that created or adopted anything. */
  readonly hasOthers: boolean;
  /** What they have created of a resource; asked once they have ended. */
  asOfNow(key: string): { readonly id: string; readonly fingerprint: string } | undefined;
}

export class Others {
  readonly #path: string;
  readonly #known: OtherRuns | undefined;
  /** The journal's number as this run began, while another run was using it. */
  readonly #usedByAnother: { readonly file: number | undefined } | undefined;
  #isBehind = false;

  /** @param path the journal's. */
  constructor(path: string, known: OtherRuns | undefined) {
    this.#path = path;
    this.#known = known;
    this.#usedByAnother = existsSync(`${path}.lock`) ? { file: this.#fileNumber() } : undefined;
  }

  /**
   * Once this run has the journal's lock. (A run that was killed leaves the file as it was, with all that it created.)
   * @throws {JournalError} one has ended, and nothing tells what it has created.
   */
  look(): void {
    this.#isBehind = this.#known?.hasOthers === true;
    const hasEnded = this.#usedByAnother !== undefined && this.#usedByAnother.file !== this.#fileNumber();
    if (!hasEnded || this.#isBehind) return;
    throw unusable(
      this.#path,
      "another run of this stack has ended since this one began, and this one does not know what that has created",
      "Run this again",
    );
  }

  /** @returns the id of the object that one of them has made of just this create. */
  made({ key, fingerprint, replaces }: Unsent): string | undefined {
    const other = this.#isBehind ? this.#known?.asOfNow(key) : undefined;
    return other?.fingerprint === fingerprint && other.id !== replaces ? other.id : undefined;
  }

  #fileNumber(): number | undefined {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino;
  }
}
