/**
 * Holds arguments against a resource's rules: everything that is wrong at once, and whatever is not known yet left alone.
 */
import type { z } from "zod";
import { expectationOf } from "./fields.js";
import { asSent, isContainer } from "./known.js";
import { nearest } from "./nearest.js";
import { show } from "./show.js";

/** One thing to mend in one property. */
export interface Problem {
  readonly property: string;
  /** What was expected and what was got, without the property's name. */
  readonly reason: string;
}

/** The rules of a resource: a zod schema an argument, in camelCase. An argument is optional where its schema is. */
export type Rules = Readonly<Record<string, z.ZodType>>;

/** How a caller's values are to be read. */
export interface Reading {
  /** Whether a value is, or holds, what is not known yet: an Output in the program, the engine's placeholder in a preview. */
  readonly isUnknown: (value: unknown) => boolean;
  /** Arguments whose values must not be shown. */
  readonly secret?: ReadonlySet<string>;
  /** What to say of a required argument that is missing here though the program gave one. */
  readonly arrivedUndefined?: string;
}

/** Arguments with the defaults filled in, unknown ones as they came. */
export interface Validated {
  readonly values: Record<string, unknown>;
  readonly problems: readonly Problem[];
}

/**
 * Checks `given` against `rules`.
 * @returns the values that passed (normalised, defaults applied, unknown parts untouched, absent ones left out) and every problem.
 */
export function validate(given: Readonly<Record<string, unknown>>, rules: Rules, reading: Reading): Validated {
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [property, rule] of Object.entries(rules)) {
    const value = given[property] ?? undefined;
    if (value !== undefined && !isContainer(value) && reading.isUnknown(value)) {
      values[property] = value;
      continue;
    }
    // The names and the other parts of an object are known, whatever a part of it will be: null is what any part may be.
    let unknownParts = 0;
    const parsed = rule.safeParse(
      asSent(value, reading.isUnknown, () => {
        unknownParts++;
        return null;
      }),
    );
    if (parsed.success) {
      const data = unknownParts === 0 ? parsed.data : asSent(value, reading.isUnknown, (part) => part);
      if (data !== undefined) values[property] = data;
    } else {
      const isSecret = reading.secret?.has(property) === true;
      problems.push({ property, reason: reasonFor(value, rule, parsed.error, isSecret, reading.arrivedUndefined) });
    }
  }
  for (const property of Object.keys(given)) {
    if (Object.hasOwn(rules, property) || isHidden(property) || given[property] === undefined) continue;
    const meant = nearest(property, Object.keys(rules));
    const hint = meant === undefined ? `known are ${Object.keys(rules).join(", ")}` : `did you mean ${meant}?`;
    problems.push({ property, reason: `is not a known argument; ${hint}` });
  }
  return { values, problems };
}

function reasonFor(
  value: unknown,
  rule: z.ZodType,
  error: z.ZodError,
  isSecret: boolean,
  arrivedUndefined: string | undefined,
): string {
  const expected = `expected ${expectationOf(rule)}`;
  if (value === undefined) return `is required: ${[arrivedUndefined ?? [], expected].flat().join(" ")}`;
  if (isSecret) return `${expected}; got a secret value that does not fit${placeOf(error)}`;
  // A rule that knows better than "expected …; got …" says so in its own words, which may tell the value.
  const said = error.issues.find(({ code, message }) => code === "custom" && message !== ZOD_DEFAULT_MESSAGE);
  return error.issues.length === 1 && said !== undefined
    ? said.message
    : `${expected}; got ${show(value)}${placeOf(error)}`;
}

/** Of a `refine` without words. */
const ZOD_DEFAULT_MESSAGE = "Invalid input";

/** Whether a property is one of the provider's or the engine's own. */
function isHidden(property: string): boolean {
  return property.startsWith("__") && property !== "__proto__";
}

/** Where inside a nested value the first fault is; nothing for a plain value. */
function placeOf(error: z.ZodError): string {
  const path = error.issues[0]?.path ?? [];
  return path.length === 0 ? "" : `, with a fault at ${show(path.map(String).join("."))}`;
}
