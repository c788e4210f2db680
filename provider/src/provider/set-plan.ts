/**
 * What the state of a set holds after a run, from what was planned for its members and what came of that. Pure.
 */

import type { Values } from "../base/index.js";
import type { Member } from "../decision/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { type CreateRecord, eventIn, type Shared, type StoredSet } from "../state/index.js";
import type { Outcome } from "./outcome.js";
import { secretOfMembers } from "./set-secrets.js";

/**
 * @param secret paths of the arguments that are secret now.
 * @param outcomes of the members that were to be created or adopted.
 * @param deleted the ids of objects that were deleted.
 */
export function setAfter(
  kind: Kind,
  stored: StoredSet,
  { advertiserId, defaults }: Shared,
  secret: ReadonlySet<string>,
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
  deleted: ReadonlySet<string> = new Set(),
): StoredSet {
  const shared = { advertiserId, defaults };
  const wasSecret = secretOfMembers(kind, stored.secret);
  const after = {
    ...shared,
    secret,
    left: stored.left,
    events: new Map<string, Values>(),
    eventIds: new Map<string, string>(),
    earlier: new Map<string, string>(),
    unresolved: new Map<string, CreateRecord>(),
  };
  for (const { key, action, id, entry, fingerprint, unresolved } of members) {
    if (action.do === "let go" || (action.do === "delete" && deleted.has(id ?? ""))) continue;
    const outcome = outcomes.get(key);
    const isNow = outcome?.kind === "created" || outcome?.kind === "adopted" ? outcome.id : undefined;
    if (outcome?.kind === "unresolved") {
      after.unresolved.set(key, outcome.record);
    } else if (unresolved !== undefined && isNow === undefined) {
      after.unresolved.set(key, unresolved);
    }
    const held = isNow ?? id;
    if (held === undefined) continue;
    after.eventIds.set(key, held);
    if (isNow !== undefined || action.do === "keep") {
      after.events.set(key, entry);
      continue;
    }
    // What was to take its place is not there.
    const then = withoutNames(stored.events.get(key) ?? {}, wasSecret(key));
    after.events.set(key, then);
    if (fingerprint !== undefined && fingerprint !== fingerprintOfBody(kind, eventIn(shared, then))) {
      after.earlier.set(key, fingerprint);
    }
  }
  return after;
}

function withoutNames(values: Values, names: ReadonlySet<string>): Values {
  return names.size === 0 ? values : Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}
