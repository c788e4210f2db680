/**
 * A create, from just before it is sent until it is settled: the same record in the journal, in the state, in a run, and in
 * messages. `store/notes.ts` reads and writes the journal's lines; the state's `unresolved`, whose field names are a contract, is read and
 * written here; the sentences are in `sentences.ts`. Pure.
 */

import { isPlain, type Values, withoutUndefined } from "../base/index.js";
import { fingerprintOfBody, type Kind, nameToTell } from "../kinds/index.js";
import { UNRESOLVED } from "./properties.js";

/** By their names in the program, the arguments by which people tell an object from others. None of them is secret. */
export type TellingArguments = Readonly<Record<string, string | number | boolean>>;

/** One create, from just before it is sent until the state holds its object or somebody has settled it. Never changed in place. */
export interface CreateRecord {
  /** Unlike that of every other create; empty where only the engine's record knows of it, and that holds no mark. */
  readonly mark: string;
  /** The journal's key of the resource or of the set's member; empty where a stored state is read without its identity. */
  readonly key: string;
  /** When it was sent, ISO 8601; empty where that is not known. */
  readonly at: string;
  /** `at` is only the earliest moment at which it may have been sent: the engine's record alone knows of it. */
  readonly isEarliest?: true | undefined;
  /** `at` is only the latest moment: it was settled beside others, by a record that did not say more. */
  readonly isLatest?: true | undefined;
  /** Of the body that was sent; empty where that is not known, so that it equals none. */
  readonly fingerprint: string;
  /** The request field that the mark was sent in; absent where it was sent in none. */
  readonly field?: string | undefined;
  /** The object's name on the platform; absent where it is secret. */
  readonly name?: string | undefined;
  readonly facts?: TellingArguments | undefined;
  /** The id of the object that it was to replace. */
  readonly replaces?: string | undefined;
  /** The platform's id, once it is known. */
  readonly id?: string | undefined;
  /** As `id`, where the program's arguments are others by now: people say what becomes of that object. */
  readonly createdAs?: string | undefined;
  /**
   * Of a key that its set no longer declares: the id by which something else in the program adopts its object. It is settled once something
   * has that object: `Holders.settles` in `decision/`.
   */
  readonly adoptedAs?: string | undefined;
  /** The engine knows that the outcome is unknown. It is remembered until somebody settles it. */
  readonly isReported?: true | undefined;
  /** Its run ended cleanly, and the engine was to save its object after that: it did, unless it was killed just then. */
  readonly isHanded?: true | undefined;
  /** Since then a run has gone through, and nothing in it asked for this resource. */
  readonly unclaimed?: true | undefined;
  /** What was sent and what came back, scrubbed. */
  readonly what?: string | undefined;
  /** What the last look for it found, scrubbed: the next one takes its place. */
  readonly searched?: string | undefined;
  readonly secret?: readonly string[] | undefined;
  /** The resource's URN, for the commands that messages show. */
  readonly urn?: string | undefined;
}

/** How the state keeps an unresolved create. */
interface Stored {
  readonly since: string;
  /** Before `searched`, it ended with what that has. */
  readonly what: string;
  readonly searched?: string;
  readonly createdAs?: string;
  readonly adoptedAs?: string;
  readonly urn?: string;
  readonly isLatest?: true;
  readonly trace?: { readonly field: string; readonly value: string };
  readonly replaces?: string;
  /** This and `facts`: where the resource's own arguments are not what was sent. */
  readonly name?: string;
  readonly facts?: TellingArguments;
  /** Earlier versions wrote it in place of `secret`. */
  readonly nameIsSecret?: boolean;
  readonly secret?: readonly string[];
}

/** How a set's state keeps one: it has no id of its own to hold the mark. */
export interface StoredMember extends Stored {
  readonly mark: string;
  /** Absent where the body held secrets and only the engine has a record of it. */
  readonly fingerprint?: string;
}

/** Whether the state holds this resource as one whose create has an unknown outcome. */
export function isUnresolved(properties: Values | undefined): boolean {
  const stored = properties?.[UNRESOLVED];
  return typeof stored === "object" && stored !== null;
}

/**
 * The unresolved create of a resource that is one object.
 * @param properties what the state holds of it. @param id the resource's, which holds the mark.
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
    // Where these stand there, it was sent with other arguments than the state's.
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

/** The property that the state holds beside the arguments of a resource. @param properties those arguments. */
export function writeRecord(kind: Kind, record: CreateRecord, properties: Values): Record<string, unknown> {
  const { name, facts } = record;
  // The arguments beside it say the same where they are what was sent.
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

/** The id of a resource that has none of the platform's: never digits only. */
export function unresolvedId(mark: string): string {
  return `unresolved-${mark}`;
}

export function isUnresolvedId(id: string): boolean {
  return id.startsWith("unresolved-");
}

export function markOf(id: string): string {
  return id.replace(/^unresolved-/, "");
}

/** A mark and its field as the inputs hold them, so that the engine's record of an interrupted run does too. */
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
 * The last moment at which it may have been sent, in milliseconds since 1970. A create whose moment is not known waits for a login,
 * for a limit of its rate and for a lock, so it may have been sent until now; a journal notes the moment of each sending.
 */
export function lastMomentSent({ at, isEarliest }: Pick<CreateRecord, "at" | "isEarliest">, nowMs: number): number {
  const sentMs = Date.parse(at);
  return isEarliest === true || Number.isNaN(sentMs) ? nowMs : sentMs;
}
