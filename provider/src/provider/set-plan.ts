/**
 * What becomes of each member of a set: from what the state holds and what is declared to what is done, and from that to what
 * the state holds next. Pure.
 */

import { asRecord, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import {
  type DeclaredSet,
  eventIn,
  type Shared,
  type StoredSet,
  storedFingerprint,
  UNKNOWN,
  type UnresolvedMember,
} from "../state/index.js";
import { hasValue, holdsUnknown } from "./inputs.js";
import type { Outcome } from "./outcome.js";
import { secretOfMembers } from "./set-secrets.js";

export type Action =
  | "keep"
  | "create"
  /** Its arguments differ: another object is created, and the one that the state holds stays live. */
  | "create anew"
  /** As "create anew", where values that are not known yet turn out to be others. */
  | "perhaps create anew"
  /** Its arguments differ, and the object that the state holds is changed in place. */
  | "update"
  /** An earlier create of it has an unknown outcome, and is looked for on the platform. */
  | "look for"
  /** Somebody has named its object: nothing is sent, and its arguments are taken for what the object is. */
  | "adopt"
  | "let go"
  /** As "let go", and its object is deleted. */
  | "delete"
  /** An earlier create of it has an unknown outcome: nothing is done before somebody settles that. */
  | "wait";

export interface Member {
  readonly key: string;
  readonly action: Action;
  /** The id that the state holds. */
  readonly id: string | undefined;
  readonly isDeclared: boolean;
  /** As declared; empty where it is not. */
  readonly entry: Values;
  /** Its whole arguments. */
  readonly values: Values;
  /** Of the body that the object which the state holds was created with. */
  readonly fingerprint: string | undefined;
  readonly unresolved: UnresolvedMember | undefined;
}

/** What an installation is known to be able to do besides creating. */
export interface Able {
  readonly update: boolean;
  search(unresolved: UnresolvedMember): boolean;
  /** Whether this object is deleted when the set lets go of it: only where that was asked for, and nothing else goes on with it. */
  delete(id: string, key: string): boolean;
}

export const UNABLE: Able = { update: false, search: () => false, delete: () => false };

/** @param stored an empty one for a set that is new. */
export function planSet(kind: Kind, stored: StoredSet, declared: DeclaredSet, able: Able = UNABLE): Member[] {
  const entries = declared.events ?? stored.events;
  const isSharedUnknown = holdsUnknown(declared.advertiserId) || holdsUnknown(declared.defaults);
  const members = [...entries].map(([key, given]): Member => {
    const id = stored.eventIds.get(key);
    const unresolved = stored.unresolved.get(key);
    const entry = asRecord(given);
    const values = eventIn(declared, entry);
    const fingerprint = id === undefined ? undefined : storedFingerprint(kind, stored, key);
    const isUnknown = isSharedUnknown || declared.events === undefined || holdsUnknown(given);
    const adopts = hasValue(entry.existingId) && entry.existingId !== UNKNOWN;
    const isSame = () => fingerprintOfBody(kind, values) === fingerprint;
    const action = (): Action => {
      if (adopts) {
        const isHeld = String(entry.existingId) === id && unresolved === undefined;
        return isHeld && (isUnknown || isSame()) ? "keep" : "adopt";
      }
      if (unresolved !== undefined) return able.search(unresolved) ? "look for" : "wait";
      if (id === undefined) return "create";
      if (isUnknown) return "perhaps create anew";
      if (isSame()) return "keep";
      // Of what was created with other arguments of the set, nobody knows what to change.
      const isOfSet = !stored.earlier.has(key) && String(stored.advertiserId) === String(declared.advertiserId);
      return able.update && isOfSet ? "update" : "create anew";
    };
    return { key, isDeclared: true, action: action(), id, entry, values, fingerprint, unresolved };
  });
  const undeclared = new Set(
    [...stored.eventIds.keys(), ...stored.unresolved.keys()].filter((key) => !entries.has(key)),
  );
  return [
    ...members,
    ...[...undeclared].map((key): Member => {
      const unresolved = stored.unresolved.get(key);
      const id = stored.eventIds.get(key);
      const fingerprint = id === undefined ? undefined : storedFingerprint(kind, stored, key);
      return {
        key,
        isDeclared: false,
        action: unresolved !== undefined ? "wait" : id !== undefined && able.delete(id, key) ? "delete" : "let go",
        id,
        entry: {},
        values: {},
        fingerprint,
        unresolved,
      };
    }),
  ];
}

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
    unresolved: new Map<string, UnresolvedMember>(),
  };
  for (const { key, action, id, entry, fingerprint, unresolved } of members) {
    if (action === "let go" || (action === "delete" && deleted.has(id ?? ""))) continue;
    const outcome = outcomes.get(key);
    const isNow = outcome?.kind === "created" || outcome?.kind === "adopted" ? outcome.id : undefined;
    if (outcome?.kind === "unresolved") {
      const { mark, fingerprint: ofBody } = outcome;
      after.unresolved.set(key, { ...outcome.unresolved, mark, fingerprint: ofBody });
    } else if (unresolved !== undefined && isNow === undefined) {
      after.unresolved.set(key, unresolved);
    }
    const held = isNow ?? id;
    if (held === undefined) continue;
    after.eventIds.set(key, held);
    if (isNow !== undefined || action === "keep") {
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

/** Whether the state will hold something else afterwards, or something has to be done. */
export function isChange({ events }: DeclaredSet, members: readonly Member[]): boolean {
  return events === undefined || members.some(({ action }) => action !== "keep");
}

function withoutNames(values: Values, names: ReadonlySet<string>): Values {
  return names.size === 0 ? values : Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}
