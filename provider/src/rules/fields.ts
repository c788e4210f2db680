/**
 * The kinds of values that the API's fields take, each with a text that tells a user what was expected. Also the forms
 * that one value may have: with unknown parts in a program, on its way through Pulumi, or from a platform that sends
 * numbers as strings and booleans as numbers. Pure.
 */
import { z } from "zod";
import {
  count,
  hasValue,
  isPlain,
  joined,
  mapValues,
  own,
  SIGNATURE_KEY,
  withoutUndefined,
} from "../base/index.js";

/** A rule's metadata: for messages, and for readers of values as people write them (`catalog/field-values.ts`). */
interface Described {
  /** Completes the sentence "expected …". */
  expected?: string;
  /** The kind of value. Undefined: a text is read as it is written. */
  form?: Form;
  /** The names of some of its values. */
  names?: Readonly<Record<string, number | string>>;
  /** Whether a value that isn't known yet is refused. */
  isPlain?: boolean;
}

export type Form =
  | "text"
  | "number"
  | "truth"
  | "id"
  | "seconds"
  | "named number"
  | "choice";

/** Adds a description to a zod schema. @param expected completes the sentence "expected …", for users. */
export function expecting<T extends z.ZodType>(
  expected: string,
  schema: T,
  more: Described = {},
) {
  return schema.meta({ expected, ...more });
}

export function described(schema: z.ZodType) {
  return (unwrapped(schema).meta() as Described | undefined) ?? {};
}

export function expectationOf(schema: z.ZodType) {
  return described(schema).expected ?? "another value";
}

/** The rule for a given value, without `optional` and `default`, which are about an absent value. */
export function unwrapped(schema: z.ZodType) {
  if (!["optional", "default", "prefault"].includes(schema.type)) return schema;
  return unwrapped((schema as z.ZodOptional<z.ZodType>).unwrap());
}

/**
 * A name that people read and type: at least one character that is not white space or a format character; no control
 * characters or lone surrogates. @param most in code points. @param but a pattern that the name must not match.
 */
export function nameRule(most?: number, but = "") {
  const bounds = most === undefined ? "at least 1 character" : `1 to ${most} characters`;
  const expected = `a string of ${bounds}, not blank, without control characters`;
  const pattern = `^${but}(?=[^]*[^\\s\\p{Cf}])[^\\p{Cc}\\p{Cs}]{1,${most ?? ""}}$`;
  return expecting(expected, z.string().regex(new RegExp(pattern, "u")), {
    form: "text",
  });
}

const ID = /^(0|[1-9]\d{0,29})$/;
/** The id of an object that a person names. Never 0, which programs have if an id is missing. */
export const LIVE_ID = /^[1-9]\d{0,29}$/;

/**
 * A platform id: a number, or its digits as text above 2^53 - 1, where a number would round. `"42"` becomes 42.
 * @param accepted what may be given; completes "expected …". @param least 1 for the id of an object managed here.
 */
export function identifierOf(accepted: string, least: 0 | 1 = 1) {
  return expecting(
    `${accepted}, an integer from ${least} or a string of digits`,
    z.union([
      z.int().min(least),
      z
        .string()
        .regex(least === 0 ? ID : LIVE_ID)
        .transform(exactId),
    ]),
    { form: "id" },
  );
}

/** Whether a text is an object's id, rather than undefined, `unresolved-…` or an unknown. Ids are compared as texts. */
export function isPlatformId(id: string | undefined): id is string {
  return id !== undefined && ID.test(id);
}

/** The number for `digits`, or the digits themselves if no number holds them exactly. */
export function exactId(digits: string) {
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return number;
  return digits;
}

/** A finite double. -0 becomes 0, since JSON and the state have only one zero. */
export const finiteNumber = expecting(
  "a finite number",
  z.number().transform((number) => number || 0),
  { form: "number" },
);

export const booleanRule = expecting("true or false", z.boolean(), { form: "truth" });

const UNITS = { day: 86_400, hour: 3600, minute: 60 };

/** `2678400 (31 days)`: seconds as they are written, and in the largest unit that is exact. */
export function withUnit(seconds: number) {
  for (const [noun, length] of Object.entries(UNITS))
    if (seconds > 0 && seconds % length === 0)
      return `${seconds} (${count(seconds / length, noun)})`;
  return String(seconds);
}

/**
 * Request fields under their wire names; the values are whatever JSON can carry.
 * @param wireNames the fields of typed arguments. @param markField the setting `markField`.
 */
export function additionalFieldsBeside(
  wireNames: Readonly<Record<string, string>>,
  markField: string | undefined,
) {
  const mark = markField && `${markField} (advertising:markField)`;
  const taken = joined(", ", ...Object.values(wireNames), mark);
  const notFree = new Set([...Object.values(wireNames), markField, "__proto__", ""]);
  const name = z.string().refine((text) => !notFree.has(text));
  return expecting(
    `JSON values under wire names other than ${taken}`,
    z.record(name, z.json()),
  );
}

/** Deeper than any request field. With much deeper values, zod and Pulumi run out of stack. */
const MAX_FIELD_DEPTH = 100;

/** Replaces a value that JSON can't carry: no rule accepts a symbol. */
const NEVER_JSON = Symbol("not JSON");

/** Instead of an asset or archive as Pulumi sends it: no rule accepts a symbol. */
const ASSET = Symbol("an asset or archive");

export function assetAsSymbol(value: unknown) {
  return typeof own(value, SIGNATURE_KEY) === "string" ? ASSET : value;
}

/** Whether this is a list or a plain object, rather than an Output, a Promise or another object. */
export function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of an object literal has no prototype, in this realm and in others (a program run in a `vm`).
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * `value` as Pulumi will send it: at every depth, `undefined` is left out of an object, and becomes null in a list.
 * @param leafAs returns the replacement for a part that is no container.
 */
export function asSent(value: unknown, leafAs: (part: unknown) => unknown) {
  const copy = (given: unknown, holders: readonly object[]): unknown => {
    const part = assetAsSymbol(given);
    // A lone surrogate would arrive as another character.
    if (typeof part === "string" && !part.isWellFormed()) return NEVER_JSON;
    if (!isContainer(part)) return leafAs(part);
    if (holders.length >= MAX_FIELD_DEPTH || holders.includes(part)) return NEVER_JSON;
    const inside = [...holders, part];
    if (Array.isArray(part))
      return Array.from(part, (entry) => copy(entry ?? null, inside));
    // zod would drop a field __proto__ silently.
    if (Object.keys(part).some((name) => name === "__proto__" || !name.isWellFormed()))
      return NEVER_JSON;
    return mapValues(withoutUndefined(part), (entry) => copy(entry, inside));
  };
  return copy(value, []);
}

/**
 * Reads an argument's value as the platform returned it.
 * @returns `value` in the first form that the rule accepts; undefined for null; if no form fits, a number or `value`.
 */
export function asAccepted(rule: z.ZodType | undefined, value: unknown) {
  if (!hasValue(value)) return undefined;
  const forms = formsOf(value);
  for (const form of forms) {
    const parsed = rule?.safeParse(form);
    if (parsed?.success) return parsed.data;
  }
  return forms.find((form) => typeof form === "number") ?? value;
}

/** A rule's default; undefined if it has none. */
export function defaultOf(rule: z.ZodType | undefined) {
  return rule?.safeParse(undefined).data;
}

/** `value`, and the other values that it may stand for. */
export function formsOf(value: unknown) {
  const forms = [value];
  const text = isPlain(value) ? String(value).trim().toLowerCase() : "";
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    const digits = text.replace(/\.0+$/, "");
    // Beyond a number's precision only the digits are the value.
    if (digits.includes(".") || Number.isSafeInteger(Number(digits)))
      forms.push(Number(text));
    forms.push(digits);
  }
  if (text === "1" || text === "true") forms.push(true);
  if (text === "0" || text === "false") forms.push(false);
  return forms;
}
