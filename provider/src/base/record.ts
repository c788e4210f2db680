/**
 * Reads data of unknown shape safely, and converts it from and to JSON with exact integers, since ids above 2^53 must
 * keep every digit.
 */

/** Properties of unknown shape: arguments, outputs, request fields. */
export type Values = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value` as an object whose own keys can be read safely, or an empty one. */
export function asRecord(value: unknown) {
  if (isRecord(value)) return value;
  return {};
}

/** `value` as a list, or an empty one. */
export function listIn<T>(value: unknown): T[] {
  if (Array.isArray(value)) return value;
  return [];
}

/** An own property's value; never an inherited one. */
export function own(value: unknown, key: string) {
  if (isRecord(value) && Object.hasOwn(value, key)) return value[key];
}

/**
 * The key with which Pulumi marks values that aren't plain data: secrets (in an exported stack and in the plugin), assets
 * and archives. Pulumi's own contract.
 */
export const SIGNATURE_KEY = "4dabf18193072939515e22adb298388d";

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

export function withoutUndefined<T extends object>(properties: T) {
  return pick(properties as Values, (_, value) => value !== undefined) as Given<T>;
}

/** The properties of which `keeps` is true. */
export function pick(values: Values, keeps: (name: string, value: unknown) => boolean) {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => keeps(name, value)),
  );
}

/** An object with the same names, and each value changed. */
export function mapValues<Name extends string, Value, Changed>(
  values: Readonly<Record<Name, Value>>,
  change: (value: Value, name: Name) => Changed,
) {
  return Object.fromEntries(
    Object.entries<Value>(values).map(([name, value]) => [
      name,
      change(value, name as Name),
    ]),
  ) as Record<Name, Changed>;
}

/** Whether `value` is a text, a number or a truth value, so that a message can show it. */
export function isPlain(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** Whether a value is neither undefined nor null. */
export function hasValue(value: unknown) {
  return value !== undefined && value !== null;
}

/** Whether two values of an argument are equal; an id may be a number, or its digits if no number holds it exactly. */
export function isSameValue(one: unknown, other: unknown) {
  if (isPlain(one) && isPlain(other)) return String(one) === String(other);
  return canonicalJson(one) === canonicalJson(other);
}

/** JSON that is the same for equal values, whatever the order of their names; an undefined value is `null`. */
export function canonicalJson(value: unknown) {
  return JSON.stringify(value, withSortedNames) ?? "null";
}

function withSortedNames(_: string, value: unknown) {
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Parses JSON; `undefined` if `text` isn't JSON. */
export function jsonIn(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

/** Functions of JSON that TypeScript's types lack. */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}
const exact = JSON as unknown as ExactJson;

/**
 * Parses JSON. An integer that no number holds exactly becomes a string of digits.
 * @throws SyntaxError, RangeError
 */
export function parseExact(text: string): unknown {
  // Shorter numbers are exact, and a reviver makes parsing several times slower.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source = "" }) => {
    const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
    return isRounded && /^-?\d+$/.test(source) ? source : value;
  });
}

/** `digits` as a JSON number, for {@link JSON.stringify}; other text, such as a preview's for a secret, stays text. */
export function exactInteger(digits: string) {
  if (/^\d+$/.test(digits)) return exact.rawJSON(digits);
  return digits;
}
