/**
 * Notes in the state what is left live on the platform, so that somebody can tidy up there whatever becomes of the runner.
 */
import type { Kind } from "../kinds/kind.js";
import { type LeftLive, leftLiveIn } from "../state/left-live.js";
import type { StoredSet } from "../state/set.js";
import type { Outcome } from "./outcome.js";
import type { Deletions } from "./set-delete.js";
import type { Member } from "./set-plan.js";
import { secretOfMembers } from "./set-secrets.js";

type Properties = Readonly<Record<string, unknown>>;

/** What a replacement takes the place of: what that had left itself, and the object, where it is one. */
export interface Leaving {
  readonly before: readonly LeftLive[];
  readonly object: Omit<LeftLive, "at" | "why"> | undefined;
}

/** @param secret names of arguments that must not be told. @param isDeleted whether the engine deletes it. */
export function leavingIn(
  kind: Kind,
  id: string,
  olds: Properties,
  secret: ReadonlySet<string>,
  isDeleted: boolean,
): Leaving {
  const isObject = /^\d+$/.test(id) && !isDeleted;
  return { before: leftLiveIn(olds), object: isObject ? { id, ...told(kind, olds, secret) } : undefined };
}

/** What the state of the new resource keeps. @param by its id; none where it has none of the platform's. */
export function leftAfter(leaving: Leaving | undefined, by: string | undefined, at: string): readonly LeftLive[] {
  if (leaving === undefined) return [];
  const { before, object } = leaving;
  if (object === undefined || object.id === by) return before;
  return [...before, { ...object, at, why: "replaced", ...(by === undefined ? {} : { by }) }];
}

/**
 * What the state of a set keeps after a run: nothing that was deleted.
 * @param secret paths of the arguments that are secret now.
 */
export function leftBySet(
  kind: Kind,
  stored: StoredSet,
  secret: ReadonlySet<string>,
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
  { wanted, deleted }: Deletions,
  at: string,
): readonly LeftLive[] {
  const isWanted = new Set(wanted.map(({ id }) => id));
  const due = (id: string) => (isWanted.has(id) ? { toDelete: true } : {});
  const [was, is] = [secretOfMembers(kind, stored.secret), secretOfMembers(kind, secret)];
  const left = members.flatMap(({ key, action, id }): LeftLive[] => {
    if (id === undefined) return [];
    const outcome = outcomes.get(key);
    const by = outcome?.kind === "created" || outcome?.kind === "adopted" ? outcome.id : undefined;
    const isRemoved = action === "let go";
    if (deleted.has(id) || (!isRemoved && (by === undefined || by === id))) return [];
    // Of an object that was created for another advertiser, only the body's fingerprint is known.
    const shared = stored.earlier.has(key) ? {} : { advertiserId: stored.advertiserId };
    const then = { ...shared, ...stored.events.get(key) };
    const object = { id, ...told(kind, then, new Set([...was(key), ...is(key)])), key, at, ...due(id) };
    return [isRemoved ? { ...object, why: "removed" } : { ...object, why: "replaced", ...(by && { by }) }];
  });
  const before = stored.left
    .filter(({ id }) => !deleted.has(id))
    .map(({ toDelete: _, ...each }) => ({ ...each, ...due(each.id) }));
  return [...before, ...left];
}

function told(kind: Kind, values: Properties, secret: ReadonlySet<string>): Pick<LeftLive, "name" | "advertiserId"> {
  const { [kind.nameProperty]: name, advertiserId } = values;
  const mayTell = kind.name === "ConversionEvent" && advertiserId !== undefined && !secret.has("advertiserId");
  return {
    ...(typeof name === "string" && !secret.has(kind.nameProperty) ? { name } : {}),
    ...(mayTell && ["string", "number"].includes(typeof advertiserId) ? { advertiserId: String(advertiserId) } : {}),
  };
}
