/**
 * Holds arguments against a resource's rules: everything that is wrong at once, and whatever is not known yet left alone.
 */
import type { z } from "zod";
import { didYouMean, type Values } from "../base/index.js";
import { expectationOf } from "./fields.js";
import type { Problem, Source } from "./problem.js";
import { show } from "./show.js";
import { asSent, isContainer } from "./unknown-values.js";

/** A map of objects, each held against rules of its own kind, under keys that fit. */
export interface Members {
  /** Completes the sentence "expected …", for what is no map. */
  readonly expected: string;
  readonly key: z.ZodType;
  readonly members: Rules;
}

/** An object that may be left out, with rules of its own. */
export interface Group {
  /** Completes the sentence "expected …", for what is no object. */
  readonly expected: string;
  readonly fields: Rules;
}

/** The rules of an object, by property in camelCase. A property is optional where its schema is. */
export type Rules = Readonly<Record<string, z.ZodType | Members | Group>>;

/** How a caller's values are to be read. */
export interface Reading {
  /** Whether a value is, or holds, what is not known yet: an Output in the program, the engine's placeholder in a preview. */
  readonly isUnknown: (value: unknown) => boolean;
  /** Paths of arguments whose values must not be shown; what is inside one of them is not shown either. */
  readonly secret?: ReadonlySet<string>;
  /** What to say of a required argument that is missing here though the program gave one. */
  readonly arrivedUndefined?: string;
  /** Where the value at a path was written, where anybody knows. */
  readonly sourceOf?: (path: string) => Source | undefined;
}

/** Arguments with the defaults filled in, unknown ones as they came. */
export interface Validated {
  readonly values: Record<string, unknown>;
  readonly problems: readonly Problem[];
}

/**
 * Checks `given` against `rules`. What is not known yet switches off only what depends on it.
 * @returns the values that passed (normalised, defaults applied, unknown parts untouched, absent ones left out) and every problem.
 */
export function validate(given: Values, rules: Rules, reading: Reading): Validated {
  return validateAt("", given, rules, reading);
}

function validateAt(path: string, given: Values, rules: Rules, reading: Reading): Validated {
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [property, rule] of Object.entries(rules)) {
    const at = path === "" ? property : `${path}.${property}`;
    const { value, problems: found } = judge(at, given[property] ?? undefined, rule, reading);
    if (value !== undefined) values[property] = value;
    problems.push(...found);
  }
  for (const property of Object.keys(given)) {
    if (Object.hasOwn(rules, property) || given[property] === undefined) continue;
    if (path === "" && isHidden(property)) continue;
    const hint = didYouMean(property, Object.keys(rules));
    problems.push(
      problemAt(path === "" ? property : `${path}.${property}`, `is not a known argument; ${hint}`, reading),
    );
  }
  return { values, problems };
}

interface Judged {
  readonly value?: unknown;
  readonly problems: readonly Problem[];
}

function judge(path: string, value: unknown, rule: Rules[string], reading: Reading): Judged {
  if (value !== undefined && !isContainer(value) && reading.isUnknown(value)) return { value, problems: [] };
  if ("members" in rule) return judgeMembers(path, value, rule, reading);
  if ("fields" in rule) return value === undefined ? { problems: [] } : judgeObject(path, value, rule, reading);
  // The names and the other parts of an object are known, whatever a part of it will be: null is what any part may be.
  let unknownParts = 0;
  const parsed = rule.safeParse(
    asSent(value, reading.isUnknown, () => {
      unknownParts++;
      return null;
    }),
  );
  if (parsed.success) {
    return { value: unknownParts === 0 ? parsed.data : asSent(value, reading.isUnknown, (part) => part), problems: [] };
  }
  const reason = reasonFor(value, rule, parsed.error, isSecret(path, reading), reading.arrivedUndefined);
  return { problems: [problemAt(path, reason, reading)] };
}

function judgeMembers(path: string, value: unknown, { expected, key, members }: Members, reading: Reading): Judged {
  if (!isContainer(value) || Array.isArray(value)) {
    const got = value === undefined ? "is required: " : "";
    const shown = value === undefined ? "" : `; got ${isSecret(path, reading) ? "a secret value" : show(value)}`;
    return { problems: [problemAt(path, `${got}expected ${expected}${shown}`, reading)] };
  }
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [name, member] of Object.entries(value as Values)) {
    if (member === undefined) continue;
    const at = `${path}[${JSON.stringify(name)}]`;
    if (!key.safeParse(name).success) {
      problems.push(problemAt(at, `is no key: expected ${expectationOf(key)}`, reading));
      continue;
    }
    const judged = judgeObject(at, member, { expected: "an object", fields: members }, reading);
    if (judged.value !== undefined) values[name] = judged.value;
    for (const problem of judged.problems) problems.push(problem);
  }
  return { value: values, problems };
}

function judgeObject(path: string, value: unknown, { expected, fields }: Group, reading: Reading): Judged {
  if (isContainer(value) && !Array.isArray(value)) {
    const { values, problems } = validateAt(path, value as Values, fields, reading);
    return { value: values, problems };
  }
  if (reading.isUnknown(value)) return { value, problems: [] };
  const got = isSecret(path, reading) ? "a secret value" : show(value);
  return { problems: [problemAt(path, `expected ${expected}; got ${got}`, reading)] };
}

function problemAt(path: string, reason: string, { sourceOf }: Reading): Problem {
  const source = sourceOf?.(path);
  return { property: path, reason, ...(source === undefined ? {} : { source }) };
}

/** A secret's parts are secret too. */
function isSecret(path: string, { secret = new Set() }: Reading): boolean {
  return [...secret].some((each) => path === each || path.startsWith(`${each}.`) || path.startsWith(`${each}[`));
}

function reasonFor(
  value: unknown,
  rule: z.ZodType,
  error: z.ZodError,
  mustHide: boolean,
  arrivedUndefined: string | undefined,
): string {
  const expected = `expected ${expectationOf(rule)}`;
  if (value === undefined) return `is required: ${[arrivedUndefined ?? [], expected].flat().join(" ")}`;
  if (mustHide) return `${expected}; got a secret value that does not fit${placeOf(error)}`;
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
