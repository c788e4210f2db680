/**
 * The objects of a resource, one of a single resource and many of a set, each with what becomes of it; and the list of objects that a set
 * deletes, last and only if everything else succeeded ({@link objectsToDelete}; `isDeleted` in `decide.ts` says whether each is deleted).
 * Used by the provider, the comment on a preview, and `pending`. Pure.
 */
import { asRecord, own, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  type CreateRecord,
  type DeclaredSet,
  eventIn,
  isDeleteOwed,
  type LeftLive,
  recordIn,
  type StoredSet,
  storedFingerprint,
  UNKNOWN,
} from "../state/index.js";
import {
  ANY,
  argumentNames,
  type Changes,
  changesIn,
  hasValue,
  holdsUnknown,
  matchesCreate,
  NO_CHANGES,
} from "./changes.js";
import { type Action, type Circumstances, decide, type Former, formerOf, isDeleted, NO_ABILITIES } from "./decide.js";
import type { Adopted } from "./holders.js";

export interface Member {
  /** In its set; empty for a single resource. */
  readonly key: string;
  readonly action: Action;
  /** The names of the arguments that differ from the state. */
  readonly changed: readonly string[];
  /** The platform's id in the state. */
  readonly id: string | undefined;
  readonly isDeclared: boolean;
  /** As declared; empty if it is not declared. */
  readonly entry: Values;
  /** All its arguments; empty if it is not declared. */
  readonly values: Values;
  /** Of the body with which the object in the state was created. */
  readonly fingerprint: string | undefined;
  readonly unresolved: CreateRecord | undefined;
  readonly former: Former | undefined;
}

/** The objects that earlier runs of a set failed to delete, and that this run deletes. */
export function stillToDelete(left: readonly LeftLive[], circumstances: Circumstances): LeftLive[] {
  return left.filter((each) => isDeleteOwed(each) && isDeleted(circumstances, each.id, each.key));
}

export interface ToDelete {
  readonly id: string;
  /** Its key in the set, now or then. */
  readonly key: string;
}

/**
 * What a set is to delete: the objects of removed keys, replaced objects, and those that earlier runs could not delete; but no object that the
 * set still has.
 * @param idNow the id that a member got in this run; none if it keeps the object in the state.
 */
export function objectsToDelete(
  members: readonly Member[],
  idNow: (key: string) => string | undefined,
  left: readonly LeftLive[],
  circumstances: Circumstances,
): ToDelete[] {
  const kept = new Set<string>();
  const wanted = new Map<string, ToDelete>();
  for (const { key, id, action } of members) {
    const isNow = idNow(key);
    const held = isNow ?? id;
    if (action.do !== "delete" && action.do !== "let go" && held !== undefined) kept.add(held);
    if (id === undefined || !isDeleted(circumstances, id, key)) continue;
    if (action.do === "delete" || (isNow !== undefined && isNow !== id)) wanted.set(id, { id, key });
  }
  for (const { id, key = "" } of stillToDelete(left, circumstances)) wanted.set(id, { id, key });
  return [...wanted.values()].filter(({ id }) => !kept.has(id));
}

const PLAIN: Circumstances = { can: NO_ABILITIES, replaceOnChanges: [], deletes: () => false };

/**
 * A single resource.
 * @param id as in the state; none for a new resource. @param olds its stored properties.
 * @param news the checked arguments; none if the program no longer declares it.
 */
export function singleMember(
  kind: Kind,
  id: string | undefined,
  olds: Values,
  news: Values | undefined,
  circumstances: Circumstances = PLAIN,
): Member {
  const unresolved = id === undefined ? undefined : recordIn(kind, olds, id);
  const held = id !== undefined && isPlatformId(id) ? id : undefined;
  const differing = held === undefined || news === undefined ? NO_CHANGES : changesIn(kind, olds, news);
  const changed =
    news === undefined ? differing : withUnsure(differing, held, circumstances, () => fingerprintOfBody(kind, olds));
  const facts = {
    kind,
    held,
    wasAdopted: held !== undefined && adoptedBy(olds) === held,
    unresolved,
    wanted: news === undefined ? undefined : { adopts: adoptedBy(news), values: news },
    changed,
    replaceOn: circumstances.replaceOnChanges.map(propertyOf),
    deletes: isDeleted(circumstances, held),
    mayBeAdopted: circumstances.mayBeAdopted,
    can: circumstances.can,
  };
  const action = decide(facts);
  return {
    key: "",
    action,
    changed: changed.names,
    id: held,
    isDeclared: news !== undefined,
    entry: news ?? {},
    values: news ?? {},
    fingerprint: held === undefined ? undefined : fingerprintOfBody(kind, olds),
    unresolved,
    former: formerOf(facts, action),
  };
}

/**
 * What a `create` does: the engine asks for one if the resource is new, or if its object in the state is replaced.
 * @param before what `diff` has decided about the object in the state; none for a new resource.
 */
export function actionOfCreate(values: Values, before: Member | undefined): Action {
  const id = adoptedBy(values);
  if (id !== undefined) return { do: "adopt", id };
  if (before === undefined) return { do: "create" };
  return before.action.do === "look for" ? before.action : { do: "replace", perhaps: false };
}

/** The property that a path of `replaceOnChanges` begins with: `value`, `tags[0]`, `events.purchase` and `["value"]` are all Pulumi's. */
function propertyOf(path: string): string {
  return /^(?:\["?)?([^.[\]"]+)/.exec(path)?.[1] ?? path;
}

/** What becomes of the object in the state if the engine is asked to replace the resource, whatever was decided (`up --replace`). */
export function formerIfReplaced(
  held: string | undefined,
  olds: Values,
  circumstances: Circumstances,
): Former | undefined {
  const facts = { held, wasAdopted: adoptedBy(olds) === held, deletes: isDeleted(circumstances, held) };
  return formerOf({ ...circumstances, ...facts }, { do: "replace", perhaps: false });
}

/** The members of a set. @param stored an empty one for a new set. */
export function membersOf(
  kind: Kind,
  stored: StoredSet,
  declared: DeclaredSet,
  circumstances: Circumstances = PLAIN,
): Member[] {
  const entries = declared.events ?? stored.events;
  // Pulumi's option names properties of the set: a change in any argument of its events asks for a replacement.
  const isAnother = (path: string) => [ANY, "events", "defaults"].includes(propertyOf(path));
  const replaceOn = circumstances.replaceOnChanges.some(isAnother) ? [ANY] : [];
  const adoptsUnknown = [...entries.values()].some((given) => given === UNKNOWN || adoptedBy(given) === UNKNOWN);
  const mayBeAdopted = circumstances.mayBeAdopted === true || adoptsUnknown;
  /** A key that replaces another one adopts its object. An object that it had before does not count. */
  const adoptedFor = (key: string, record: CreateRecord): Adopted | undefined => {
    for (const [other, given] of entries) {
      const id = adoptedBy(given);
      if (id === undefined || id === stored.eventIds.get(other)) continue;
      const values = eventIn(declared, asRecord(given));
      const sent = { ...record, kind: kind.name };
      if (matchesCreate(kind, id === UNKNOWN ? undefined : id, values, sent)) return { id, isHeld: false };
    }
    return circumstances.adopted?.(key, record);
  };
  const changesAt = (id: string, key: string, given: unknown, values: Values) =>
    withUnsure(changesOf(kind, stored, declared, key, given, values), id, circumstances, () =>
      storedFingerprint(kind, stored, key),
    );
  const memberAt = (key: string, given: unknown, isDeclared: boolean): Member => {
    const id = stored.eventIds.get(key);
    const entry = isDeclared ? asRecord(given) : {};
    const values = isDeclared ? eventIn(declared, entry) : {};
    const unresolved = stored.unresolved.get(key);
    const facts = {
      kind,
      held: id,
      wasAdopted: id !== undefined && adoptedBy(stored.events.get(key)) === id,
      unresolved,
      wanted: isDeclared ? { adopts: adoptedBy(entry), values } : undefined,
      changed: id === undefined || !isDeclared ? NO_CHANGES : changesAt(id, key, given, values),
      replaceOn,
      deletes: isDeleted(circumstances, id, key),
      mayBeAdopted,
      adopted: isDeclared || unresolved === undefined ? undefined : adoptedFor(key, unresolved),
      can: circumstances.can,
    };
    const action = decide(facts);
    const fingerprint = id === undefined ? undefined : storedFingerprint(kind, stored, key);
    const changed = facts.changed.names;
    const former = formerOf(facts, action);
    return { key, action, changed, id, isDeclared, entry, values, fingerprint, unresolved, former };
  };
  const undeclared = new Set(
    [...stored.eventIds.keys(), ...stored.unresolved.keys()].filter((key) => !entries.has(key)),
  );
  return [
    ...[...entries].map(([key, given]) => memberAt(key, given, true)),
    ...[...undeclared].map((key) => memberAt(key, undefined, false)),
  ];
}

/** Counts what an update of unknown outcome may have changed as changed, so that it is sent again. */
function withUnsure(
  changed: Changes,
  id: string | undefined,
  { can, unsure, replaceOnChanges }: Circumstances,
  fingerprint: () => string,
): Changes {
  // It asks for no replacement.
  const mayUpdate = can.update && replaceOnChanges.length === 0;
  const names = id === undefined || !mayUpdate ? [] : (unsure?.(id, fingerprint) ?? []);
  if (names.length === 0 || changed.names.includes(ANY)) return changed;
  return { names: [...new Set([...changed.names, ...names])], perhaps: false };
}

function changesOf(
  kind: Kind,
  stored: StoredSet,
  declared: DeclaredSet,
  key: string,
  given: unknown,
  values: Values,
): Changes {
  const isNotKnown = given === UNKNOWN || declared.events === undefined || declared.defaults === UNKNOWN;
  const earlier = stored.earlier.get(key);
  if (earlier !== undefined) {
    const perhaps = isNotKnown || holdsUnknown(values);
    if (!perhaps && fingerprintOfBody(kind, values) === earlier.fingerprint) return NO_CHANGES;
    const names =
      perhaps || String(values.advertiserId) !== earlier.advertiserId ? [] : givenOtherwise(kind, stored, key, values);
    return { names: names.length === 0 ? [ANY] : names, perhaps };
  }
  const then = eventIn(stored, stored.events.get(key) ?? {});
  if (!isNotKnown) return changesIn(kind, then, values);
  const isOfOwner = (name: string) => name in kind.refersTo && String(own(then, name)) === String(own(values, name));
  return { names: argumentNames(kind).filter((name) => !isOfOwner(name)), perhaps: true };
}

/** The arguments in which an object of the same advertiser differs, or may: `null` in its entry is what the state does not know. */
function givenOtherwise(kind: Kind, { events }: StoredSet, key: string, values: Values): string[] {
  const entry = events.get(key) ?? {};
  const { names } = changesIn(kind, entry, values);
  return argumentNames(kind).filter(
    (name) => !(name in kind.refersTo) && (names.includes(name) || own(entry, name) === null),
  );
}

/** The id that `existingId` names, or the engine's text for unknown values if it is not known yet. */
export function adoptedBy(values: unknown): string | undefined {
  const existingId = own(values, "existingId");
  return hasValue(existingId) ? String(existingId) : undefined;
}

/** The same, if it is known. */
export function knownAdoption(values: unknown): string | undefined {
  const id = adoptedBy(values);
  return id === UNKNOWN ? undefined : id;
}

/** Whether the state will differ afterwards, or something has to be done. */
export function isChange({ events }: DeclaredSet, members: readonly Member[]): boolean {
  const isKept = ({ action, unresolved }: Member) =>
    action.do === "keep" && action.record?.adoptedAs === unresolved?.adoptedAs;
  return events === undefined || !members.every(isKept);
}
