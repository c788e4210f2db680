/**
 * What a set's state keeps of objects that are left live on the platform: nothing that was deleted.
 */

import type { Member } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import type { LeftLive, StoredSet } from "../state/index.js";
import { toldOf } from "./leaving.js";
import type { Outcome } from "./outcome.js";
import type { Deletions } from "./set-delete.js";
import { secretOfMembers } from "./set-secrets.js";

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
    const isRemoved = action.do === "let go";
    if (deleted.has(id) || (!isRemoved && (by === undefined || by === id))) return [];
    // Of an object that was created for another advertiser, only the body's fingerprint is known.
    const shared = stored.earlier.has(key) ? {} : { advertiserId: stored.advertiserId };
    const then = { ...shared, ...stored.events.get(key) };
    const object = { id, ...toldOf(kind, then, new Set([...was(key), ...is(key)])), key, at, ...due(id) };
    return [isRemoved ? { ...object, why: "removed" } : { ...object, why: "replaced", ...(by && { by }) }];
  });
  const before = stored.left
    .filter(({ id }) => !deleted.has(id))
    .map(({ toDelete: _, ...each }) => ({ ...each, ...due(each.id) }));
  return [...before, ...left];
}
