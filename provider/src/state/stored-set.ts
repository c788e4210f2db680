/**
 * How a set of conversion events stands in the state: its property names are contracts with every stored state. Pure.
 */
import { createHash } from "node:crypto";
import { asRecord, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { type CreateRecord, memberRecord, type StoredMember, writeMemberRecord } from "./create-record.js";
import {
  ACCOUNT,
  CREATED,
  LEFT_LIVE,
  type LeftLive,
  leftLiveIn,
  SECRET_ARGUMENTS,
  secretArgumentsIn,
  UNKNOWN,
  UNRESOLVED,
  writeLeftLive,
} from "./properties.js";

export interface Shared {
  /** Perhaps not known yet, as all that follows. */
  readonly advertiserId: unknown;
  readonly defaults: unknown;
}

/** A set as it is declared: checked inputs. */
export interface DeclaredSet extends Shared {
  /** By key; none while it is not known. */
  readonly events: ReadonlyMap<string, unknown> | undefined;
}

/** A set as its outputs hold it. */
export interface StoredSet extends Shared {
  /** What each object was created with, or adopted as: its entry of then. */
  readonly events: ReadonlyMap<string, Values>;
  readonly eventIds: ReadonlyMap<string, string>;
  /** Of an object that was created with another advertiser or other defaults than the set has now: the body's fingerprint. */
  readonly earlier: ReadonlyMap<string, string>;
  readonly unresolved: ReadonlyMap<string, CreateRecord>;
  /** When it created an object the last time, ISO 8601; none where that is not known. */
  readonly created: string | undefined;
  /** What it held before, and nothing manages any more. */
  readonly leftLive: readonly LeftLive[];
  /**
   * Paths of the arguments that were secret. The engine keeps an output secret where the input of now at its path is, and what
   * is held of earlier entries has none.
   */
  readonly secret: ReadonlySet<string>;
}

export function readDeclaredSet({ advertiserId, defaults = {}, events }: Values): DeclaredSet {
  return { advertiserId, defaults, events: events === UNKNOWN ? undefined : mapOf(events) };
}

/** Reads what any version may have written; empty where there is nothing. */
export function readStoredSet({ advertiserId, defaults = {}, events, eventIds, earlier, ...rest }: Values): StoredSet {
  return {
    advertiserId,
    defaults,
    events: mapOf<Values>(events),
    eventIds: new Map([...mapOf(eventIds)].map(([key, id]) => [key, String(id)])),
    earlier: mapOf<string>(earlier),
    unresolved: new Map([...mapOf<StoredMember>(rest[UNRESOLVED])].map(([key, each]) => [key, memberRecord(each)])),
    created: typeof rest[CREATED] === "string" ? rest[CREATED] : undefined,
    leftLive: leftLiveIn(rest),
    secret: secretArgumentsIn(rest),
  };
}

/** The outputs that hold it. @param asId makes an output of an id. @param account of the resource; empty where it is not known. */
export function writeStoredSet(
  { advertiserId, defaults, events, eventIds, earlier, unresolved, created, leftLive, secret }: StoredSet,
  asId: (digits: string) => number | string,
  account: string,
): Record<string, unknown> {
  return {
    advertiserId,
    defaults,
    events: Object.fromEntries(events),
    eventIds: mapValues(eventIds, asId),
    ...(earlier.size === 0 ? {} : { earlier: Object.fromEntries(earlier) }),
    ...(unresolved.size === 0 ? {} : { [UNRESOLVED]: mapValues(unresolved, writeMemberRecord) }),
    ...(created === undefined ? {} : { [CREATED]: created }),
    ...writeLeftLive(leftLive),
    ...(secret.size === 0 ? {} : { [SECRET_ARGUMENTS]: [...secret] }),
    ...(account === "" ? {} : { [ACCOUNT]: account }),
  };
}

/** What the outputs of a set have of each member, by its key. */
export const SET_PARTS = ["events", "eventIds", "earlier", UNRESOLVED] as const;

export type SetParts = Record<(typeof SET_PARTS)[number], Record<string, unknown>>;

/** A copy of them as they are stored: what is secret stays encrypted. An event's key may be `constructor`, so nothing is inherited. */
export function readSetParts(outputs: Values): SetParts {
  const copyOf = (part: string) => Object.assign(Object.create(null), asRecord(outputs[part]));
  return Object.fromEntries(SET_PARTS.map((part) => [part, copyOf(part)])) as SetParts;
}

/** The same outputs with these parts. */
export function writeSetParts(outputs: Values, parts: SetParts, left: readonly LeftLive[]): Record<string, unknown> {
  const { events, eventIds, ...others } = parts;
  const { earlier: _, [UNRESOLVED]: __, [LEFT_LIVE]: ___, ...rest } = outputs;
  const filled = Object.entries(others).filter(([, part]) => Object.keys(part).length > 0);
  return { ...rest, events, eventIds, ...writeLeftLive(left), ...Object.fromEntries(filled) };
}

/** The arguments of a whole event: an entry's own before the set's defaults; `null` for none, whatever the default is. */
export function eventIn({ advertiserId, defaults }: Shared, entry: Values): Values {
  const shared = asRecord(defaults);
  const { existingId: _, ...own } = entry;
  const additionalFields = { ...asRecord(shared.additionalFields), ...asRecord(own.additionalFields) };
  const event = {
    ...shared,
    ...own,
    advertiserId,
    ...(Object.keys(additionalFields).length === 0 ? {} : { additionalFields }),
  };
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null));
}

function mapValues<T, U>(map: ReadonlyMap<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries([...map].map(([key, value]) => [key, change(value)]));
}

function mapOf<T>(value: unknown): ReadonlyMap<string, T> {
  return new Map(Object.entries(asRecord(value) as Record<string, T>));
}

/** Of the body that the object which the state holds was created with. */
export function storedFingerprint(kind: Kind, stored: StoredSet, key: string): string {
  return stored.earlier.get(key) ?? fingerprintOfBody(kind, eventIn(stored, stored.events.get(key) ?? {}));
}

/** The objects that the state says a member has or had: none of them is what its next create makes. */
export function formerIdsIn({ eventIds, leftLive }: StoredSet, key: string): string[] {
  const id = eventIds.get(key);
  return [...(id === undefined ? [] : [id]), ...leftLive.flatMap((left) => (left.key === key ? left.id : []))];
}

/**
 * The mark that a member of a set is sent with. It follows from one text in the set's inputs, so that the engine's record of an
 * interrupted run is enough to look for each of them: how it follows is a contract.
 * @param mark the set's. @returns in the form of a UUID, as other marks have it.
 */
export function memberMark(mark: string, key: string): string {
  const hash = createHash("sha256").update(`${mark} ${key}`).digest("hex");
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join("-");
}
