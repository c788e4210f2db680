/**
 * What a set deletes on the platform, where `retainOnDelete` is off and a delete is known: last of all, and only where
 * everything else went well, as the engine does with single resources.
 */
import { AdvertisingError, count, idRanges, RefusedError } from "../base/index.js";
import type { Circumstances, Member } from "../decision/index.js";
import type { Kind, SetKind } from "../kinds/index.js";
import { ACCOUNT, type LeftLive, readStoredSet } from "../state/index.js";
import { canDelete, deleteObject, isHeldElsewhere } from "./delete.js";
import { expectSameAccount } from "./expect-account.js";
import type { Properties } from "./inputs.js";
import type { Outcome } from "./outcome.js";
import { Progress } from "./progress.js";
import type { Runtime } from "./runtime.js";
import { memberSubject, type Subject, subjectOf } from "./subject.js";

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

/** Where nothing was begun. */
export function heldBack(wanted: readonly ToDelete[]): Deletions {
  return { wanted, deleted: new Set(), failed: new Map() };
}

/**
 * The objects of keys that were removed, those that others have taken the place of, and those that earlier runs could not delete.
 * Pure.
 * @param outcomes of this run.
 */
export function toDelete(
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
  left: readonly LeftLive[],
  circumstances: Circumstances,
): ToDelete[] {
  const kept = new Set<string>();
  const wanted = new Map<string, ToDelete>();
  for (const { key, id, action } of members) {
    const outcome = outcomes.get(key);
    const isNow = outcome?.kind === "created" || outcome?.kind === "adopted" ? outcome.id : undefined;
    const held = isNow ?? id;
    if (action.do !== "delete" && action.do !== "let go" && held !== undefined) kept.add(held);
    if (id === undefined || !isDeletable(circumstances, id, key)) continue;
    if (action.do === "delete" || (isNow !== undefined && isNow !== id)) wanted.set(id, { id, key });
  }
  for (const { id, key = "" } of stillToDelete(left, circumstances)) wanted.set(id, { id, key });
  return [...wanted.values()].filter(({ id }) => !kept.has(id));
}

/** What earlier runs could not delete. Pure. */
export function stillToDelete(left: readonly LeftLive[], circumstances: Circumstances): LeftLive[] {
  return left.filter(
    (each) => each.toDelete === true && each.done === undefined && isDeletable(circumstances, each.id, each.key ?? ""),
  );
}

function isDeletable({ can, deletes }: Circumstances, id: string, key: string): boolean {
  return can.delete && deletes(id, key);
}

/** Deletes them. One that is refused says nothing of the others; after any other failure nothing more is begun. */
export async function deleteAll(
  kind: Kind,
  runtime: Runtime,
  set: Subject,
  wanted: readonly ToDelete[],
  progress: Progress,
): Promise<Deletions> {
  const deleted = new Set<string>();
  const failed = new Map<string, AdvertisingError>();
  let isTrouble = false;
  const deleteOne = async ({ id, key }: ToDelete) => {
    try {
      await deleteObject(kind, runtime, id, `${memberSubject(set, key).label} (${id})`);
      deleted.add(id);
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error;
      isTrouble ||= !(error instanceof RefusedError);
      failed.set(id, error);
    }
    progress.done();
  };
  const next = wanted.values();
  const worker = async () => {
    for (const each of next) {
      if (isTrouble) return;
      await deleteOne(each);
    }
  };
  await Promise.all(Array.from({ length: runtime.reading.settings.maxConcurrentRequests }, worker));
  return { wanted, deleted, failed };
}

/**
 * Deletes every object of a set that is removed as a whole. Reached only where `retainOnDelete` was turned off.
 * @throws AdvertisingError some were not deleted: all may be asked again, since what is not there counts as deleted.
 */
export async function deleteSet(
  { name, member: kind }: SetKind,
  runtime: Runtime,
  id: string,
  properties: Properties,
): Promise<void> {
  const stored = readStoredSet(properties);
  const label = `${name} ${id}`;
  expectSameAccount(properties[ACCOUNT], runtime.account, label);
  const isKnown = canDelete(kind, runtime);
  const due = stored.left.filter(({ toDelete, done }) => toDelete === true && done === undefined);
  const all = [...stored.eventIds, ...due.map((each) => [each.key ?? "", each.id] as const)];
  const ours = all.filter(([, object]) => !isHeldElsewhere(kind, runtime, object));
  if (ours.length === 0) return;
  if (!isKnown || typeof properties[ACCOUNT] !== "string") {
    const why = isKnown
      ? "The state does not say at which account it was created"
      : "The platform has no known way to delete";
    const ids = idRanges(ours.map(([, object]) => object));
    runtime.say(
      `${why}, so ${count(ours.length, "event")} of ${label} left the state, and each ${kind.afterlife}; deactivate them there by hand: ${ids}`,
    );
    return;
  }
  const progress = new Progress(ours.length, runtime.clock, (text) =>
    runtime.tellAt("info", "", `${label}: deleting: ${text}`),
  );
  const wanted = ours.map(([key, object]) => ({ id: object, key }));
  const { deleted, failed } = await deleteAll(kind, runtime, subjectOf(name, undefined, id), wanted, progress);
  const [first] = failed.values();
  if (first === undefined) return;
  const left = idRanges(wanted.flatMap((each) => (deleted.has(each.id) ? [] : [each.id])));
  first.message = `${label}: ${deleted.size} of ${count(wanted.length, "event")} are deleted, and these are not: ${left}. ${first.message}`;
  throw first;
}
