/** What the state has of a resource's objects after an `up`, from what became of each. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { Values } from "../base/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import type { PlannedObject } from "../plan/index.js";
import {
  completeArguments,
  type DeclaredSet,
  type SentAs,
  type StoredSet,
} from "../state/index.js";
import { idAfter, type Outcome, type Outcomes } from "./outcome.js";

/** From what the next state follows. */
export interface Before {
  readonly kind: Kind;
  readonly stored: StoredSet;
  readonly declared: DeclaredSet;
  /** Arguments that must not be shown, nor kept where no input keeps them secret. */
  readonly secret: ReadonlySet<string>;
}

/** @param objects those that stay in the state. @returns the next state, without what it has left live. */
export function nextState(
  before: Before,
  objects: readonly PlannedObject[],
  outcomes: Outcomes,
): StoredSet {
  const { advertiserId, defaults } = before.declared;
  const next: StoredSet = {
    advertiserId,
    defaults,
    events: new Map(),
    eventIds: new Map(),
    sentAs: new Map(),
    unresolved: new Map(),
    created: before.stored.created,
    left: [],
    resolved: before.stored.resolved,
  };
  for (const object of objects) {
    const { key } = object;
    const outcome = outcomes.get(key);
    const open = openAfter(object, outcome);
    if (open !== undefined) next.unresolved.set(key, open);
    const id = idAfter(outcome) ?? object.id;
    if (id === undefined) continue;
    const { entry, sentAs } = entryAfter(before, object, outcome);
    next.eventIds.set(key, id);
    next.events.set(key, entry);
    if (sentAs !== undefined) next.sentAs.set(key, sentAs);
  }
  return next;
}

function openAfter({ unresolved }: PlannedObject, outcome: Outcome | undefined) {
  if (outcome?.kind === "unresolved") return outcome.record;
  const isResolved = idAfter(outcome) !== undefined;
  return isResolved ? undefined : unresolved;
}

/** What the state has of an object, and what that does not describe. */
function entryAfter(
  { kind, stored, declared, secret }: Before,
  { key, action, isDeclared, entry, olds }: PlannedObject,
  outcome: Outcome | undefined,
): { readonly entry: Values; readonly sentAs?: SentAs | undefined } {
  if (outcome?.kind === "created") return { entry, sentAs: outcome.sentAs };
  if (idAfter(outcome) !== undefined || (action.do === "same" && isDeclared)) return { entry };
  // Its replacement was not created, or it was not updated: it is what it was.
  const then = stored.events.get(key) ?? {};
  const known = stored.sentAs.get(key);
  const isDescribed =
    known === undefined && isDeepStrictEqual(olds, completeArguments(declared, then));
  if (isDescribed && secret.size === 0) return { entry: then };
  const sentAs = known ?? {
    body: fingerprintOfBody(kind, olds),
    owner: shownOwner(stored, secret),
  };
  // An old value may have been secret, and no input of now keeps it so.
  if (secret.size > 0) return { entry: {}, sentAs };
  return { entry: then, sentAs };
}

function shownOwner(
  { advertiserId }: StoredSet,
  secret: ReadonlySet<string>,
): string | undefined {
  if (secret.has("advertiserId")) return undefined;
  return String(advertiserId);
}
