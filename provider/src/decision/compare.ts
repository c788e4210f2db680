/**
 * What differs between two descriptions of one object: between the state and the program ({@link changesIn}), and between an adopted object and a
 * create that it is to settle ({@link sentOtherwise}). Never throws, whatever shape it gets. Pure.
 */
import { excerpt, isPlain, own, printable, type Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { type CreateRecord, UNKNOWN } from "../state/index.js";

export interface Changes {
  /** The names of the arguments that differ; {@link ANY} if only the fingerprint of the earlier body is known. */
  readonly names: readonly string[];
  /** True if each of them differs only because its value is not known yet. */
  readonly perhaps: boolean;
}

/** Used instead of a name if it is not known which argument differs. */
export const ANY = "*";

export const NO_CHANGES: Changes = { names: [], perhaps: false };

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

const MAX_SHOWN = 60;

/**
 * How arguments change: `value 98 → 26`, `segmentId none → 4`. @param names of those that differ. @param secret those whose values must not be shown.
 */
export function changesInWords(
  names: readonly string[],
  olds: Values,
  news: Values,
  secret: ReadonlySet<string>,
): string[] {
  const shown = (value: unknown) => {
    if (value === UNKNOWN) return "not known yet";
    return hasValue(value) ? excerpt(printable(JSON.stringify(value)), MAX_SHOWN) : "none";
  };
  return names.map((name) => {
    if (name === ANY) return "it was created with other arguments";
    return `${name} ${secret.has(name) ? "(secret)" : `${shown(olds[name])} → ${shown(news[name])}`}`;
  });
}

function isSameArgument(kind: Kind, name: string, old: unknown, now: unknown): boolean {
  // An id is a number, or its digits where a number could not hold it.
  if (kind.exactIds.has(name) && hasValue(old) && hasValue(now)) return String(old) === String(now);
  // Without any additional field there may be an empty object.
  const isNone = (text: string) => text === "null" || (name === "additionalFields" && text === "{}");
  const [before, after] = [canonical(old), canonical(now)];
  return before === after || (isNone(before) && isNone(after));
}

/** The same text for the same value, whatever the order of its keys; an absent value is the same as `null`. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join()}}`;
}

/** Whether `value` is or contains the engine's text for a value that is not known yet. */
export function holdsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * What a create was sent with, by argument, as far as these values contradict it.
 * @param values an adopted object's: the platform's if it was read, otherwise the program's. What is not plain is not known yet.
 */
export function sentOtherwise(kind: Kind, values: Values, sent: Pick<CreateRecord, "name" | "facts">): Values {
  const differs = (property: string, then: unknown) => {
    const now = values[property];
    return isPlain(now) && now !== UNKNOWN && isPlain(then) && String(now) !== String(then);
  };
  const all = Object.entries({ [kind.nameProperty]: sent.name, ...sent.facts });
  return Object.fromEntries(all.filter(([property, then]) => differs(property, then)));
}

/** The id that `existingId` names, or the engine's text for unknown values if it is not known yet. */
export function adoptedBy(values: unknown): string | undefined {
  const existingId = own(values, "existingId");
  return hasValue(existingId) ? String(existingId) : undefined;
}
