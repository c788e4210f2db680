/**
 * How a set of conversion events is stored: its property names are contracts with every stored state. Pure.
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
  tellingOfLeft,
  UNKNOWN,
  UNRESOLVED,
  writeLeftLive,
} from "./properties.js";

export interface Shared {
  /** Perhaps not known yet, like the other properties. */
  readonly advertiserId: unknown;
  readonly defaults: unknown;
}

/** A set as it is declared: checked inputs. */
export interface DeclaredSet extends Shared {
  /** By key; none if they are not known yet. */
  readonly events: ReadonlyMap<string, unknown> | undefined;
}

/** What is known of an object that its entry does not describe. Stored as one text. */
export interface EarlierBody {
  /** Of the body that it was created or last updated with. */
  readonly fingerprint: string;
  /** Its advertiser's id, in digits; absent if that is secret, and in states of earlier versions. */
  readonly advertiserId?: string | undefined;
}

/** A set as in its outputs. */
export interface StoredSet extends Shared {
  /** The entry with which each object was created or adopted. Of an {@link earlier} one, an argument that is not known is `null`. */
  readonly events: ReadonlyMap<string, Values>;
  readonly eventIds: ReadonlyMap<string, string>;
  /** Of the objects whose entries do not describe them beside the set's present advertiser and defaults. */
  readonly earlier: ReadonlyMap<string, EarlierBody>;
  readonly unresolved: ReadonlyMap<string, CreateRecord>;
  /** When it last created an object, ISO 8601; none if that is not known. */
  readonly created: string | undefined;
  /** Its former objects that are no longer managed. */
  readonly leftLive: readonly LeftLive[];
  /**
   * Paths of the arguments that were secret. The engine keeps an output secret if the present input at its path is, but stored entries of
   * earlier inputs have no such input.
   */
  readonly secret: ReadonlySet<string>;
}

export function readDeclaredSet({ advertiserId, defaults = {}, events }: Values): DeclaredSet {
  return { advertiserId, defaults, events: events === UNKNOWN ? undefined : mapOf(events) };
}

/** Reads what any version may have written; empty if there is nothing. */
export function readStoredSet({ advertiserId, defaults = {}, events, eventIds, earlier, ...rest }: Values): StoredSet {
  return {
    advertiserId,
    defaults,
    events: mapOf<Values>(events),
    eventIds: new Map([...mapOf(eventIds)].map(([key, id]) => [key, String(id)])),
    earlier: new Map([...mapOf<string>(earlier)].map(([key, text]) => [key, readEarlier(text)])),
    unresolved: new Map([...mapOf<StoredMember>(rest[UNRESOLVED])].map(([key, each]) => [key, memberRecord(each)])),
    created: typeof rest[CREATED] === "string" ? rest[CREATED] : undefined,
    leftLive: leftLiveIn(rest),
    secret: secretArgumentsIn(rest),
  };
}

/** The outputs with it. @param asId makes an output of an id. @param account of the resource; empty if it is not known. */
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
    ...(earlier.size === 0 ? {} : { earlier: mapValues(earlier, writeEarlier) }),
    ...(unresolved.size === 0 ? {} : { [UNRESOLVED]: mapValues(unresolved, writeMemberRecord) }),
    ...(created === undefined ? {} : { [CREATED]: created }),
    ...writeLeftLive(leftLive),
    ...(secret.size === 0 ? {} : { [SECRET_ARGUMENTS]: [...secret] }),
    ...(account === "" ? {} : { [ACCOUNT]: account }),
  };
}

/** The outputs of a set that have a part for each member, by its key. */
export const SET_PARTS = ["events", "eventIds", "earlier", UNRESOLVED] as const;

export type SetParts = Record<(typeof SET_PARTS)[number], Record<string, unknown>>;

/** A copy of them as stored, with secrets encrypted. It has no prototype, because an event's key may be `constructor`. */
export function readSetParts(outputs: Values): SetParts {
  const copyOf = (part: string) => Object.assign(Object.create(null), asRecord(outputs[part]));
  return Object.fromEntries(SET_PARTS.map((part) => [part, copyOf(part)])) as SetParts;
}

/** The outputs with these parts. */
export function writeSetParts(outputs: Values, parts: SetParts, left: readonly LeftLive[]): Record<string, unknown> {
  const { events, eventIds, ...others } = parts;
  const { earlier: _, [UNRESOLVED]: __, [LEFT_LIVE]: ___, ...rest } = outputs;
  const filled = Object.entries(others).filter(([, part]) => Object.keys(part).length > 0);
  return { ...rest, events, eventIds, ...writeLeftLive(left), ...Object.fromEntries(filled) };
}

/** The complete arguments of an event: its entry's own override the set's defaults; `null` means none, whatever the default is. */
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

function readEarlier(text: string): EarlierBody {
  const [fingerprint = "", advertiserId] = text.split(" ");
  return { fingerprint, advertiserId };
}

export function writeEarlier({ fingerprint, advertiserId }: EarlierBody): string {
  return advertiserId === undefined ? fingerprint : `${fingerprint} ${advertiserId}`;
}

function mapValues<T, U>(map: ReadonlyMap<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries([...map].map(([key, value]) => [key, change(value)]));
}

function mapOf<T>(value: unknown): ReadonlyMap<string, T> {
  return new Map(Object.entries(asRecord(value) as Record<string, T>));
}

/** The arguments that identify a member's object, as far as they are known. @param secret names of arguments that must not be shown. */
export function tellingOfMember(
  kind: Kind,
  { advertiserId, events, earlier }: StoredSet,
  key: string,
  secret: ReadonlySet<string>,
): Pick<LeftLive, "name" | "advertiserId"> {
  const body = earlier.get(key);
  const owner = body === undefined ? advertiserId : body.advertiserId;
  return tellingOfLeft(kind, { advertiserId: owner, ...events.get(key) }, secret);
}

/** The fingerprint of the body with which the object in the state was created. */
export function storedFingerprint(kind: Kind, stored: StoredSet, key: string): string {
  return stored.earlier.get(key)?.fingerprint ?? fingerprintOfBody(kind, eventIn(stored, stored.events.get(key) ?? {}));
}

/** The objects that a member has or had, by the state; its next create makes none of them. */
export function formerIdsIn({ eventIds, leftLive }: StoredSet, key: string): string[] {
  const id = eventIds.get(key);
  return [...(id === undefined ? [] : [id]), ...leftLive.flatMap((left) => (left.key === key ? left.id : []))];
}

/**
 * The mark that a member of a set is sent with. It is derived from one text in the set's inputs, so that the engine's record of an
 * interrupted run is enough to search for each member. The derivation is a contract.
 * @param mark the set's. @returns a mark in the form of a UUID, like all others.
 */
export function memberMark(mark: string, key: string): string {
  const hash = createHash("sha256").update(`${mark} ${key}`).digest("hex");
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join("-");
}
