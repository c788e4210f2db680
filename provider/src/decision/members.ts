/**
 * The objects of a resource, one of a single resource and many of a set, each with what becomes of it: the same facts, and the same decision. Used by
 * the provider, the comment on a preview, and `pending`. Pure.
 */
import { asRecord, own, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  type DeclaredSet,
  EARLIER,
  type Earlier,
  earlierIn,
  eventIn,
  type StoredSet,
  UNKNOWN,
  type Unresolved,
  unresolvedIn,
} from "../state/index.js";
import { ANY, adoptedBy, argumentNames, type Changes, changesIn, holdsUnknown, NO_CHANGES } from "./compare.js";
import { type Action, decide, type Facts, type Former, formerOf, NO_ABILITIES } from "./decide.js";

/** What is the same for all objects of a resource. */
export interface Circumstances extends Pick<Facts, "can"> {
  deletes(id: string): boolean;
}

const PLAIN: Circumstances = { can: NO_ABILITIES, deletes: () => false };

export interface Member {
  /** In its set; empty for a single resource. */
  readonly key: string;
  readonly action: Action;
  /** The names of the arguments that differ from the state. */
  readonly changed: readonly string[];
  /** The platform's id in the state. */
  readonly id: string | undefined;
  readonly isDeclared: boolean;
  /** As declared; empty if it is not. */
  readonly entry: Values;
  /** All its arguments; empty if it is not declared. */
  readonly values: Values;
  readonly unresolved: Unresolved | undefined;
  readonly former: Former | undefined;
}

/** @param entry none if it is not declared. @param changes not called without an object in the state. */
function memberFrom(
  kind: Kind,
  { can, deletes }: Circumstances,
  object: Pick<Member, "key" | "id" | "values" | "unresolved">,
  entry: Values | undefined,
  changes: () => Changes,
): Member {
  const { id: held, unresolved, values } = object;
  const isDeclared = entry !== undefined;
  const facts: Facts = {
    kind,
    held,
    unresolved,
    wanted: isDeclared ? { adopts: adoptedBy(entry), values } : undefined,
    changed: held === undefined || !isDeclared ? NO_CHANGES : changes(),
    can,
    deletes: held !== undefined && can.delete && deletes(held),
  };
  const action = decide(facts);
  const former = formerOf(facts, action);
  return { ...object, action, changed: facts.changed.names, isDeclared, entry: entry ?? {}, former };
}

/**
 * @param id as in the state; none for a new resource. @param olds its outputs there.
 * @param news the checked arguments; none if the program no longer declares it.
 */
export function singleMember(
  kind: Kind,
  id: string | undefined,
  olds: Values,
  news: Values | undefined,
  circumstances: Circumstances = PLAIN,
): Member {
  const values = news ?? {};
  const object = { key: "", id: isPlatformId(id) ? id : undefined, values, unresolved: unresolvedIn(olds) };
  return memberFrom(kind, circumstances, object, news, () =>
    changesSince(kind, earlierIn(olds[EARLIER]), () => changesIn(kind, olds, values), values),
  );
}

/** The members of a set. @param stored an empty one for a new set. */
export function membersOf(
  kind: Kind,
  stored: StoredSet,
  declared: DeclaredSet,
  circumstances: Circumstances = PLAIN,
): Member[] {
  const changesAt = (key: string, given: unknown, values: Values): Changes => {
    const then = eventIn(stored, stored.events.get(key) ?? {});
    const isKnown = given !== UNKNOWN && declared.events !== undefined && declared.defaults !== UNKNOWN;
    if (isKnown) return changesIn(kind, then, values);
    const isOfOwner = (name: string) => name in kind.refersTo && String(own(then, name)) === String(own(values, name));
    return { names: argumentNames(kind).filter((name) => !isOfOwner(name)), perhaps: true };
  };
  const memberAt = (key: string, given: unknown, isDeclared: boolean): Member => {
    const entry = isDeclared ? asRecord(given) : undefined;
    const values = entry === undefined ? {} : eventIn(declared, entry);
    const object = { key, id: stored.eventIds.get(key), values, unresolved: stored.unresolved.get(key) };
    return memberFrom(kind, circumstances, object, entry, () =>
      changesSince(kind, stored.earlier.get(key), () => changesAt(key, given, values), values),
    );
  };
  const entries = declared.events ?? stored.events;
  const others = new Set([...stored.eventIds.keys(), ...stored.unresolved.keys()].filter((key) => !entries.has(key)));
  return [
    ...[...entries].map(([key, given]) => memberAt(key, given, true)),
    ...[...others].map((key) => memberAt(key, undefined, false)),
  ];
}

/** Of an object that the state's arguments do not describe, only the body and perhaps the owner are known: everything may differ. */
function changesSince(kind: Kind, earlier: Earlier | undefined, described: () => Changes, values: Values): Changes {
  if (earlier === undefined) return described();
  const perhaps = holdsUnknown(values);
  if (!perhaps && fingerprintOfBody(kind, values) === earlier.body) return NO_CHANGES;
  const isSameOwner = Object.keys(kind.refersTo).every((name) => String(own(values, name)) === earlier.owner);
  const others = argumentNames(kind).filter((name) => !(name in kind.refersTo));
  return { names: isSameOwner && !perhaps ? others : [ANY], perhaps };
}

/** Whether a set's state will differ afterwards, or something has to be done. */
export function isChange({ events }: DeclaredSet, members: readonly Member[]): boolean {
  return events === undefined || members.some(({ action }) => action.do !== "keep");
}
