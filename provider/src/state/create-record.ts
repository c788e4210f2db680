/**
 * A create, from just before it is sent until it is settled: the same record in the journal, in the state, in a run, and in
 * messages. `store/notes.ts` reads and writes the journal's lines; the state's `unresolved`, whose field names are a contract, is read and
 * written here; the sentences are in `sentences.ts`. Pure.
 */

import { isPlain, type Values, withoutUndefined } from "../base/index.js";
import { fingerprintOfBody, type Kind, nameToTell } from "../kinds/index.js";
import { UNRESOLVED } from "./properties.js";

/** The arguments that distinguish an object from others for people, by their names in the program. None of them is secret. */
export type TellingArguments = Readonly<Record<string, string | number | boolean>>;

/** One create, from just before it is sent until the state has its object or a person has settled it. Never changed in place. */
export interface CreateRecord {
  /** Unique to this create; empty if only the engine's record has the create, without a mark. */
  readonly mark: string;
  /** The journal's key of the resource or of the set's member; empty if a stored state is read without its identity. */
  readonly key: string;
  /** When it was sent, ISO 8601; empty if that is not known. */
  readonly at: string;
  /** `at` is only the earliest moment at which it may have been sent, because only the engine's record has it. */
  readonly isEarliest?: true | undefined;
  /** `at` is only the latest moment: it was saved when others were settled, from a record that did not say more. */
  readonly isLatest?: true | undefined;
  /** Of the body that was sent; empty if that is not known, so that it equals no other. */
  readonly fingerprint: string;
  /** The request field that the mark was sent in; absent if it was not sent. */
  readonly field?: string | undefined;
  /** The object's name on the platform; absent if it is secret. */
  readonly name?: string | undefined;
  readonly facts?: TellingArguments | undefined;
  /** The id of the object that it was to replace. */
  readonly replaces?: string | undefined;
  /** The platform's id, once it is known. */
  readonly id?: string | undefined;
  /** The id, if the program's arguments have changed since, so that a person has to say what becomes of the object. */
  readonly createdAs?: string | undefined;
  /**
   * If its set no longer declares the key: the id with which another resource of the program adopts its object. It is settled once that
   * resource has the object (`Holders.adoptedFor` in `decision/`), and stays so (`Seen` in `store/`).
   */
  readonly adoptedAs?: string | undefined;
  /** The unknown outcome was reported to the engine. The create is kept until it is settled. */
  readonly isReported?: true | undefined;
  /** Its run ended cleanly before the engine saved its object, which it did unless it was killed at that moment. */
  readonly isHanded?: true | undefined;
  /** A later run succeeded without asking for this resource. */
  readonly unclaimed?: true | undefined;
  /** What was sent and what came back, scrubbed. */
  readonly what?: string | undefined;
  /** What the last search for it found, scrubbed; the next one replaces it. */
  readonly searched?: string | undefined;
  /** Why `existingId` does not settle it; said again by each run, and not stored. */
  readonly refused?: string | undefined;
  readonly secret?: readonly string[] | undefined;
  /** The resource's URN, for the commands that messages show. */
  readonly urn?: string | undefined;
}

/** How the state keeps an unresolved create. */
interface Stored {
  readonly since: string;
  /** Older versions, which had no `searched`, put that text at its end. */
  readonly what: string;
  readonly searched?: string;
  readonly createdAs?: string;
  readonly adoptedAs?: string;
  readonly urn?: string;
  readonly isLatest?: true;
  readonly trace?: { readonly field: string; readonly value: string };
  readonly replaces?: string;
  /** This and `facts` are stored if the resource's own arguments are not those that were sent. */
  readonly name?: string;
  readonly facts?: TellingArguments;
  /** Earlier versions wrote it instead of `secret`. */
  readonly nameIsSecret?: boolean;
  readonly secret?: readonly string[];
}

/** How a set's state keeps one, which has no id of its own with the mark in it. */
export interface StoredMember extends Stored {
  readonly mark: string;
  /** Absent if the body had secrets and only the engine has a record of it. */
  readonly fingerprint?: string;
}

/** Whether the state has this resource as one whose create has an unknown outcome. */
export function isUnresolved(properties: Values | undefined): boolean {
  const stored = properties?.[UNRESOLVED];
  return typeof stored === "object" && stored !== null;
}

/**
 * The unresolved create of a single resource.
 * @param properties its properties in the state. @param id the resource's, which contains the mark.
 */
export function recordIn(kind: Kind, properties: Values, id = "", key = ""): CreateRecord | undefined {
  if (!isUnresolved(properties)) return undefined;
  const stored = properties[UNRESOLVED] as Stored;
  const { nameIsSecret, name, facts } = stored;
  const secret = [...(stored.secret ?? []), ...(nameIsSecret === true ? [kind.nameProperty] : [])];
  const own = tellingIn(kind, properties, new Set(secret));
  return {
    ...read(stored),
    mark: stored.trace?.value ?? markOf(id),
    key,
    // If they are there, it was sent with different arguments from the state's.
    fingerprint: name === undefined && facts === undefined ? fingerprintOfBody(kind, properties) : "",
    name: secret.includes(kind.nameProperty) ? undefined : (name ?? own.name),
    facts: facts ?? own.facts,
    ...(secret.length === 0 ? {} : { secret }),
  };
}

/** The unresolved create of a set's member. @param key the member's, in the journal. */
export function memberRecord(stored: StoredMember, key = ""): CreateRecord {
  const { mark, fingerprint = "", name, facts } = stored;
  return { ...read(stored), mark, key, fingerprint, name, facts };
}

function read({ since, isLatest, what, searched, createdAs, adoptedAs, urn, trace, replaces, secret }: Stored) {
  return withoutUndefined({
    at: since,
    isLatest,
    what,
    searched,
    createdAs,
    adoptedAs,
    urn,
    field: trace?.field,
    replaces,
    secret,
  });
}

/** The property that is stored beside the arguments of a resource. @param properties those arguments. */
export function writeRecord(kind: Kind, record: CreateRecord, properties: Values): Record<string, unknown> {
  const { name, facts } = record;
  // Left out if the arguments beside it are those that were sent.
  const isAsSent = record.fingerprint === fingerprintOfBody(kind, properties);
  return { [UNRESOLVED]: { ...(isAsSent ? {} : withoutUndefined({ name, facts })), ...written(record) } };
}

export function writeMemberRecord(record: CreateRecord): StoredMember {
  const { mark, fingerprint, name, facts } = record;
  return {
    ...withoutUndefined({ name, facts }),
    ...written(record),
    mark,
    ...(fingerprint === "" ? {} : { fingerprint }),
  };
}

function written(record: CreateRecord): Stored {
  const {
    at,
    isLatest,
    what = "",
    searched,
    createdAs,
    adoptedAs,
    urn,
    field,
    mark,
    replaces,
    secret: all = [],
  } = record;
  const trace = field === undefined ? undefined : { field, value: mark };
  const secret = all.length === 0 ? undefined : all;
  return withoutUndefined({ since: at, isLatest, what, searched, createdAs, adoptedAs, urn, trace, replaces, secret });
}

/** The id of a resource without one of the platform's; never only digits. */
export function unresolvedId(mark: string): string {
  return `unresolved-${mark}`;
}

export function isUnresolvedId(id: string): boolean {
  return id.startsWith("unresolved-");
}

export function markOf(id: string): string {
  return id.replace(/^unresolved-/, "");
}

/** A mark and its field in the form of the inputs, so that the engine's record of an interrupted run has them too. */
export function writeMark({ field, mark }: { readonly field: string; readonly mark: string }): string {
  return `${field} ${mark}`;
}

export function readMark(text: unknown): { readonly field: string; readonly mark: string } | undefined {
  const [, field, mark] = (typeof text === "string" ? /^(\S+) (\S+)$/.exec(text) : undefined) ?? [];
  return field === undefined || mark === undefined ? undefined : { field, mark };
}

/** The name and the arguments that tell an object of this kind from others, without secret and unknown ones. */
export function tellingIn(
  kind: Kind,
  properties: Values,
  secret: ReadonlySet<string>,
): { readonly name: string | undefined; readonly facts: TellingArguments } {
  const facts: Record<string, string | number | boolean> = {};
  for (const property of kind.tellingProperties) {
    const value = properties[property];
    if (!secret.has(property) && isPlain(value)) facts[property] = value;
  }
  return { name: nameToTell(kind, properties, secret), facts };
}

/**
 * The last moment at which it may have been sent, in milliseconds since 1970. A create may wait for a login, a rate limit or a lock: so, if
 * its moment is not known, it may have been sent until now. A journal notes the moment of each sending.
 */
export function lastMomentSent({ at, isEarliest }: Pick<CreateRecord, "at" | "isEarliest">, nowMs: number): number {
  const sentMs = Date.parse(at);
  return isEarliest === true || Number.isNaN(sentMs) ? nowMs : sentMs;
}

/**
 * The same create, as several records have it: a create that is sent again keeps its mark, and the record of an earlier sending does not
 * say so. The last moment counts (R6). @param first what else is known is as this one has it.
 */
export function sentLast(first: CreateRecord, others: readonly CreateRecord[]): CreateRecord {
  const all = [first, ...others];
  const latest = all.map(({ at }) => at).toSorted((a, b) => (Date.parse(a) || 0) - (Date.parse(b) || 0));
  const isEarliest = all.some((each) => each.isEarliest) || undefined;
  return { ...first, at: latest.at(-1) ?? first.at, ...(isEarliest && { isEarliest }) };
}
