/**
 * From when on the absence of an object proves something. Reads and searches of an installation may lag behind its creates: until then
 * an object that was just created is answered like one that is gone, and a create that was carried out like one that was not. The one
 * rule for what a refresh finds, for what an update or a delete is answered, and for a search. Pure.
 */
import type { Operations } from "../settings/index.js";

/** What the state knows of when an object was created. */
export interface Created {
  /** ISO 8601, at the latest. */
  readonly at: string;
  /** It is the last create of its set, perhaps of another object. */
  readonly isOfSet?: boolean;
}

/** An object whose absence proves nothing yet. */
export interface Unproven {
  readonly created: Created;
  /** ISO 8601. */
  readonly until: string;
}

/** @param createdMs when it was created at the latest. @returns milliseconds since 1970. */
export function visibleFromMs(
  createdMs: number,
  { operations }: { readonly operations: Operations | undefined },
): number {
  return createdMs + (operations?.createdVisibleAfterSeconds ?? 0) * 1000;
}
