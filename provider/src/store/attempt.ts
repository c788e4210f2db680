/**
 * One create as the journal sees it: what it is told before, what it answers, and how the create ends. Types alone.
 */
import type { CreateRecord } from "../state/index.js";

/** A create that is about to be sent. */
export type Unsent = Omit<CreateRecord, "at">;

/** What the journal says to it. */
export type Beginning =
  | { readonly kind: "attempt"; readonly attempt: Attempt }
  /** A run that was interrupted created just this: it is the engine's now, and nothing is sent. */
  | { readonly kind: "taken-over"; readonly id: string; readonly mark: string }
  /** It was sent before, and the answer is not known, or the object is another than is wanted now. Nothing is sent. */
  | { readonly kind: "unresolved"; readonly entry: CreateRecord; readonly finish: Attempt["finish"] };

/** How one create ended, as far as the journal cares. */
export type Ending =
  /** `isChanged`: with arguments that this note does not know, since it is about to be updated. */
  | { readonly kind: "created"; readonly id: string; readonly isChanged?: boolean }
  | { readonly kind: "not-created" }
  | { readonly kind: "unresolved" };

/** One create of this run, from before it is sent to its outcome. */
export interface Attempt {
  /** Unlike that of every other create. */
  readonly mark: string;
  /**
   * Called before each sending; what it notes is on the disk when it resolves.
   * @param at the moment, ISO 8601.
   * @throws {JournalError} it can't be noted, or another run has taken over the journal: nothing may be sent.
   */
  sending(at: string): Promise<void>;
  /** The engine is told this next. @throws {JournalError} it can't be noted; the create has ended all the same. */
  finish(ending: Ending): Promise<void>;
}

/** An entry that the state may have made history of. */
export interface Reconciled {
  readonly entry: CreateRecord;
  /** It has no id and the same body, so most likely it is the object that the state holds: forgotten. */
  readonly isForgotten: boolean;
}
