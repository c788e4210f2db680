/**
 * How what was done with objects ended, as data: the words that people read are made of it, and nothing is decided by words. Pure.
 */
import type { AdvertisingError } from "../base/index.js";
import type { Member } from "../decision/index.js";
import type { CreateRecord } from "../state/index.js";

export type Outcome =
  /** Somebody has named the live object; no create was sent. */
  | { readonly kind: "adopted"; readonly id: string }
  /** The object has the arguments of now. */
  | { readonly kind: "updated"; readonly id: string }
  | {
      readonly kind: "created";
      readonly id: string;
      /** In the journal. */
      readonly mark: string;
      /** By an earlier run, which was interrupted: no create was sent. */
      readonly isTakenOver: boolean;
      /** Taken over, and given arguments that it did not have. */
      readonly isUpdated?: boolean;
    }
  /** The object is not on the platform any more. */
  | { readonly kind: "deleted"; readonly id: string }
  /** Nothing was done: refused, not sent, rate limited, or the login failed. The error's class and words say which. */
  | { readonly kind: "failed"; readonly error: AdvertisingError }
  /** A create was sent, and nobody knows what became of it. */
  | { readonly kind: "unresolved"; readonly record: CreateRecord };

/** The platform's id that the state holds after an outcome; none where it goes on with what it held. */
export function idAfter(outcome: Outcome | undefined): string | undefined {
  return outcome?.kind === "created" || outcome?.kind === "adopted" || outcome?.kind === "updated"
    ? outcome.id
    : undefined;
}

/** An object that a set is to delete. */
export interface ToDelete {
  readonly id: string;
  /** Its key in the set, now or then. */
  readonly key: string;
}

export interface Deletions {
  readonly wanted: readonly ToDelete[];
  readonly deleted: ReadonlySet<string>;
  /** By id. What is in neither was not begun. */
  readonly failed: ReadonlyMap<string, AdvertisingError>;
}

/** Nothing was begun. */
export function heldBack(wanted: readonly ToDelete[]): Deletions {
  return { wanted, deleted: new Set(), failed: new Map() };
}

/** What is wrong after a run of a set, or would be. */
export interface Result {
  /** What was not done, and why. */
  readonly failed: readonly { readonly key: string; readonly error: AdvertisingError }[];
  /** What was not deleted, and why. */
  readonly kept: readonly { readonly key: string; readonly error: AdvertisingError }[];
  /** Creates of unknown outcome: of this run, and those that wait for somebody. */
  readonly open: readonly { readonly key: string; readonly record: CreateRecord }[];
  /** How many objects are still to be deleted. */
  readonly waiting: number;
  /** Nothing is wrong. Only then anything is deleted, as the engine does with single resources. */
  readonly isWell: boolean;
}

/** @param outcomes none in a preview. @param deletions of this run. */
export function resultOf(
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome> = new Map(),
  deletions: Deletions = heldBack([]),
): Result {
  const failed = members.flatMap(({ key }) => {
    const outcome = outcomes.get(key);
    return outcome?.kind === "failed" ? [{ key, error: outcome.error }] : [];
  });
  const open = members.flatMap(({ key, action }) => {
    const outcome = outcomes.get(key);
    if (outcome?.kind === "unresolved") return [{ key, record: outcome.record }];
    return action.do === "wait" ? [{ key, record: action.record }] : [];
  });
  const { wanted, deleted } = deletions;
  const kept = wanted.flatMap(({ key, id }) => {
    const error = deletions.failed.get(id);
    return error === undefined ? [] : [{ key, error }];
  });
  const isWell = failed.length + kept.length + open.length === 0;
  return { failed, kept, open, waiting: wanted.length - deleted.size, isWell };
}
