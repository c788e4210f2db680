/**
 * Data of which nothing is known: its own properties, and its way from and to JSON with integers of any size, since an
 * id above 2^53 must come and go digit by digit.
 */

/** Properties of which nothing is known but that they are data: arguments, outputs, request fields. */
export type Values = Readonly<Record<string, unknown>>;

/** `value` as an object whose own keys can be read safely, or an empty one. */
export function asRecord(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** An own property's value; never an inherited one. */
export function own(value: unknown, key: string): unknown {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord && Object.hasOwn(value, key) ? (value as Values)[key] : undefined;
}

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

export function withoutUndefined<T extends object>(properties: T): Given<T> {
  return Object.fromEntries(
    Object.entries(properties).filter(([, value]) => value !== undefined),
  ) as Given<T>;
}

/** Whether `value` is a text, a number or a truth value, so that a message can show it. */
export function isPlain(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** What `text` is the JSON of; nothing where it is not JSON. */
export function jsonIn(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

/** The object or list that `text` is the JSON of, if any. */
export function structureIn(text: string): object | undefined {
  // JSON that begins with a bracket is an object or a list; a text may just begin like one.
  return /^\s*[{[]/.test(text) ? (jsonIn(text) as object | undefined) : undefined;
}

/** The part of JSON that TypeScript's types for ES2023 lack; Node has it from version 21 on. */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}
const exact = JSON as unknown as ExactJson;

/** No integer of fewer digits is too large for a number. */
const MANY_DIGITS = /\d{16}/;
/** Nothing shorter is nested too deep for a reviver. */
const SHORT = 1000;

/** Parses JSON; an integer that no number holds exactly becomes a string of digits. @throws SyntaxError, RangeError */
export function parseExact(text: string): unknown {
  // As of nearly every create: a reviver takes six times as long, for nothing.
  if (text.length < SHORT && !MANY_DIGITS.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" &&
    !Number.isSafeInteger(value) &&
    source !== undefined &&
    /^-?\d+$/.test(source)
      ? source
      : value,
  );
}

/** `digits` as a JSON number, for {@link JSON.stringify}; other text, such as a preview's for a secret, stays text. */
export function exactInteger(digits: string): unknown {
  return /^\d+$/.test(digits) ? exact.rawJSON(digits) : digits;
}
