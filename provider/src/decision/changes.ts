/**
 * Which arguments of an object differ from what the state holds. One comparison for single resources, for members of sets and
 * for the comment on a preview. Never throws, whatever shape it is handed.
 */
import { own } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
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
  if (value === UNKNOWN) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}
