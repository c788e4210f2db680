/**
 * Checks arguments against a resource's rules, and reports all problems at once. Unknown values are left alone.
 *
 * The rules are zod's own objects and maps. zod parses single arguments; the objects and maps around them are walked
 * here, because zod returns no values at all if one part doesn't fit, and a preview always has unknown parts.
 */
import type { z } from "zod";
import {
  cut,
  didYouMean,
  hasValue,
  isPlain,
  joined,
  quoted,
  SHOWN_CHARACTERS,
  saidOnce,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import {
  asSent,
  assetAsSymbol,
  described,
  expectationOf,
  isContainer,
  unwrapped,
} from "./fields.js";
import type { Problem } from "./problem.js";

/** The rules of an object, by property in camelCase. A property is optional if its schema is. */
export type Rules = z.ZodObject;

export interface ValidationOptions {
  /**
   * Whether a value or a part of it is unknown: an Output in the program, the engine's placeholder in a preview.
   * @default nothing is
   */
  isUnknown?: (value: unknown) => boolean;
  /** Arguments whose values, and parts of values, must not be shown. */
  secret?: ReadonlySet<string>;
  /** Explains a required argument that is missing here though the program gave one. */
  isFromOutputs?: boolean;
  /** Reads an argument's value before its rule does. */
  read?: (rule: z.ZodType, value: unknown) => unknown;
  /** Returns what to write instead of a refused value, if that is known. Not called for secrets. */
  advice?: (rule: z.ZodType, value: unknown) => string | undefined;
}

/** @returns the values that passed, normalised and with defaults; unknown parts as they came. No value is undefined. */
export function validate(given: Values, rules: Rules, options: ValidationOptions = {}) {
  const { isUnknown = () => false, read = (_, value) => value } = options;
  const { secret, isFromOutputs, advice } = options;
  const problems: Problem[] = [];
  const report = (property: string, reason: string) => {
    problems.push({ property, reason });
  };

  function readObject(path: string, object: Values, { shape }: z.ZodObject) {
    const values: Record<string, unknown> = {};
    for (const [property, rule] of Object.entries(shape)) {
      const at = joined(".", path, property);
      values[property] = readValue(at, object[property] ?? undefined, rule);
    }
    for (const property of Object.keys(object)) {
      if (Object.hasOwn(shape, property) || object[property] === undefined) continue;
      // Properties of the provider and the engine have no rule.
      if (path === "" && property.startsWith("__") && property !== "__proto__") continue;
      report(
        joined(".", path, property),
        `is not a known argument; ${didYouMean(property, Object.keys(shape))}`,
      );
    }
    return withoutUndefined(values);
  }

  function readMap(path: string, map: Values, { keyType, valueType }: z.ZodRecord) {
    const values: Record<string, unknown> = {};
    const keyRule = keyType as z.ZodType;
    for (const [key, member] of Object.entries(withoutUndefined(map))) {
      const at = `${path}[${JSON.stringify(key)}]`;
      const value = readValue(at, member, valueType as z.ZodType);
      if (keyRule.safeParse(key).success) values[key] = value;
      else report(at, `is not a valid key: expected ${expectationOf(keyRule)}`);
    }
    return withoutUndefined(values);
  }

  /** @returns the value as the rule normalises it; undefined if it doesn't fit or is absent. */
  function readValue(path: string, given: unknown, rule: z.ZodType) {
    // An object whose parts have defaults.
    const absent = rule.type === "prefault" ? {} : undefined;
    const value = assetAsSymbol(read(rule, given)) ?? absent;
    const isData = isContainer(value);
    const isKnown = value === undefined || isData || !isUnknown(value);
    if (!isKnown && !described(rule).isPlain) return value;
    const schema = unwrapped(rule);
    if (isWalked(schema)) {
      if (isData && !Array.isArray(value)) {
        if (isObject(schema)) return readObject(path, value as Values, schema);
        return readMap(path, value as Values, schema);
      }
      if (value !== undefined || !rule.isOptional())
        report(path, reasonFor(path, value, rule));
      return undefined;
    }
    // If parts are unknown, the names and the other parts are checked all the same: null is allowed anywhere in JSON.
    const known = (part: unknown) => (isUnknown(part) ? null : part);
    const parsed = rule.safeParse(isData ? asSent(value, known) : value);
    if (parsed.success) return isData ? asSent(value, (part) => part) : parsed.data;
    report(path, reasonFor(path, value, rule, parsed.error.issues));
  }

  function reasonFor(
    path: string,
    value: unknown,
    rule: z.ZodType,
    issues: z.ZodError["issues"] = [],
  ) {
    const expected = `expected ${expectationOf(rule)}`;
    if (value === undefined && isFromOutputs)
      return `is required: ${expected}; got undefined from an Output (is the output's name spelled right?)`;
    if (value === undefined) return `is required: ${expected}`;
    const places = issues.map(({ path }) => path.join(".")).filter(Boolean);
    const inside = cut(places.map(quoted), 10).join(", ");
    const place = inside && `not allowed: ${inside}`;
    // A secret's parts are secret too.
    const [argument = ""] = path.split(/[.[]/, 1);
    if (secret?.has(argument))
      return `${expected}; got ${joined("; ", "a secret value that doesn't fit", place)}`;
    // A rule's own message replaces "expected …; got …". It may contain the value, so secrets return before.
    const own = issues.find(
      ({ code, message }) => code === "custom" && message !== NO_WORDS,
    );
    if (issues.length === 1 && own) return own.message;
    const shown = isUnknown(value)
      ? "a value that isn't known here; give a plain value"
      : show(value);
    const got = `got ${joined("; ", shown, place)}`;
    if (typeof value === "symbol") return `${expected}; ${got}`;
    return joined("; ", expected, got, advice?.(rule, value));
  }

  return { values: readObject("", given, rules), problems };
}

/** The most problems that one error lists, as a loop or a catalog may declare thousands of events. */
export const MAX_PROBLEMS = 100;

/** A sentence for each problem; problems with the same reason share one sentence. */
export function problemMessages(problems: readonly Problem[]) {
  const textOf = ({ property, reason }: Problem) => `${property} ${reason}`;
  return saidOnce(problems, textOf, ({ property }) => property, textOf);
}

/** zod's message for a rule without its own. */
const NO_WORDS = "Invalid input";

/** An object of arguments, or a map of these. Anything else is one argument, such as request fields (a map of data). */
function isWalked(schema: z.ZodType): schema is z.ZodObject | z.ZodRecord {
  return (
    isObject(schema) ||
    (schema.type === "record" && isObject((schema as z.ZodRecord).valueType as z.ZodType))
  );
}

// The type's name is compared because `instanceof` of zod's classes takes as long as parsing a number.
function isObject(schema: z.ZodType): schema is z.ZodObject {
  return schema.type === "object";
}

/**
 * Describes `value` by kind and, if short, by content: `"30"` becomes `the string "30"`, an array `a list`. A symbol
 * stands for a value that no rule accepts, and has the words that describe it.
 */
export function show(value: unknown) {
  if (!hasValue(value)) return "nothing";
  if (typeof value === "symbol") return value.description ?? "a symbol";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") {
    const { length } = [...value];
    if (length > SHOWN_CHARACTERS) return `a string of ${length} characters`;
    return `the string ${quoted(value)}`;
  }
  return isPlain(value) ? String(value) : `a ${typeof value}`;
}
