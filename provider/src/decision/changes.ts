/**
 * What differs between two descriptions of one object: which arguments differ between the state and the program, for single resources, for
 * members of sets and for the comment on a preview ({@link changesIn}); and which of them the platform answers otherwise than the state or
 * the program has them, for a refresh and before an adoption ({@link differencesIn}). Never throws, whatever shape it is handed. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, own, type Values } from "../base/index.js";
import type { Kind, Limits } from "../kinds/index.js";
import { asAccepted, defaultOf, formsOf, isPlatformId } from "../rules/index.js";
import { UNKNOWN } from "../state/index.js";

export interface Changes {
  /** The names of the arguments that differ; {@link ANY} where only a fingerprint of the body of then is known. */
  readonly names: readonly string[];
  /** Each of them differs only because its value is not known yet. */
  readonly perhaps: boolean;
}

/** Stands for the name of an argument that nobody can name. */
export const ANY = "*";

export const NO_CHANGES: Changes = { names: [], perhaps: false };

/** The names of everything that is sent of an object. */
export function argumentNames(kind: Kind): string[] {
  return [...Object.keys(kind.wireNames), "additionalFields"];
}

/**
 * @param olds the state's properties, perhaps of another version of this package, or old inputs (`refresh --run-program`).
 * @param news the checked inputs; an unknown value counts as changed.
 */
export function changesIn(kind: Kind, olds: unknown, news: unknown): Changes {
  const names = argumentNames(kind).filter((name) => !isSameArgument(kind, name, own(olds, name), own(news, name)));
  return { names, perhaps: names.length > 0 && names.every((name) => holdsUnknown(own(news, name))) };
}

function isSameArgument(kind: Kind, name: string, old: unknown, now: unknown): boolean {
  // An id is a number, or its digits where a number could not hold it.
  if (kind.exactIds.has(name) && hasValue(old) && hasValue(now)) return String(old) === String(now);
  return canonical(old) === canonical(now) || (name === "additionalFields" && isEmpty(old) && isEmpty(now));
}

function isEmpty(fields: unknown): boolean {
  return !hasValue(fields) || canonical(fields) === "{}";
}

/** The same text for the same value, whatever the order of its keys; an absent value is the same as `null`. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join()}}`;
}

/** Whether `value` is, or holds, the engine's text for a value that is not known yet. */
export function holdsUnknown(value: unknown): boolean {
  return holds(value, (each) => each === UNKNOWN);
}

/** Whether `value` is such a one, or holds one at any depth. */
export function holds(value: unknown, isIt: (value: unknown) => boolean): boolean {
  if (isIt(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some((each) => holds(each, isIt));
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** What differs, by argument: as the platform has it; `undefined` where it has nothing. */
export type Differences = ReadonlyMap<string, unknown>;

/** Only what was given, or has a default of ours, is compared, and only where the answer holds it. */
export function differencesIn(kind: Kind, limits: Limits, values: Values, record: Values): Differences {
  const rules = kind.rules(limits).shape;
  const found = new Map<string, unknown>();
  for (const [property, field] of Object.entries(kind.wireNames)) {
    const ours = values[property];
    if (!hasValue(ours) || !Object.hasOwn(record, field)) continue;
    const theirs = asAccepted(rules[property], record[field]);
    if (!isSame(ours, theirs ?? defaultOf(rules[property]))) found.set(property, theirs);
  }
  const ours = asRecord(values.additionalFields);
  const theirs = Object.entries(ours).map(([field, value]) => {
    return [field, Object.hasOwn(record, field) ? likeOurs(value, record[field]) : value] as const;
  });
  if (theirs.some(([field, value]) => !isSame(ours[field], value))) {
    found.set("additionalFields", Object.fromEntries(theirs));
  }
  return found;
}

/** Every argument that the answer holds, in the form that a program gives it. */
export function argumentsFrom(kind: Kind, limits: Limits, record: Values): Record<string, unknown> {
  const rules = kind.rules(limits).shape;
  return Object.fromEntries(
    Object.entries(kind.wireNames).flatMap(([property, field]) => {
      const value = asAccepted(rules[property], own(record, field));
      return value === undefined ? [] : [[property, value]];
    }),
  );
}

/** The state's arguments with the differences put in. */
export function withDifferences(values: Values, differences: Differences): Record<string, unknown> {
  const updated = { ...values };
  for (const [property, theirs] of differences) {
    if (theirs === undefined) delete updated[property];
    else updated[property] = theirs;
  }
  return updated;
}

/** `theirs` in the form of `ours`, where it has one. */
function likeOurs(ours: unknown, theirs: unknown): unknown {
  if (!hasValue(ours)) return theirs ?? ours;
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.map((each, at) => likeOurs(each, theirs[at]));
  }
  if (isObject(ours) && isObject(theirs)) {
    const fields = Object.entries(ours).map(([name, each]) => [name, likeOurs(each, own(theirs, name) ?? null)]);
    return Object.fromEntries(fields);
  }
  return formsOf(theirs).find((each) => typeof each === typeof ours) ?? theirs ?? null;
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSame(ours: unknown, theirs: unknown): boolean {
  if (isDeepStrictEqual(ours, theirs)) return true;
  // An id is a number, or its digits where a number could not hold it.
  return (
    [ours, theirs].every((each) => /^(number|string)$/.test(typeof each)) && isId(ours) && `${ours}` === `${theirs}`
  );
}

function isId(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && isPlatformId(value));
}
