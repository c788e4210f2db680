/**
 * Checks arguments against a resource's rules: everything that is wrong at once; what is not known yet is left alone.
 *
 * The rules are zod's own objects and maps. Each argument is parsed by zod, and the way down to it is walked here: zod
 * returns no values at all once one part does not fit, and in a preview there is always a part that is not known yet.
 */
import type { z } from "zod";
import { didYouMean, quoted, SHOWN_CHARACTERS, saidOnce, unseenIn, type Values, withoutValues } from "../base/index.js";
import { asSent, described, expectationOf, isContainer, unwrapped, withUnit } from "./fields.js";
import type { Problem } from "./problem.js";

/** The rules of an object, by property in camelCase. A property is optional where its schema is. */
export type Rules = z.ZodObject;

export interface Reading {
  /** Whether a value or a part of it is unknown: an Output in the program, the engine's placeholder in a preview. */
  readonly isUnknown: (value: unknown) => boolean;
  /** Paths of arguments whose values must not be shown; what is inside one of them is not shown either. */
  readonly secret?: ReadonlySet<string>;
  /** Said of a required argument that is missing here though the program gave one. */
  readonly arrivedUndefined?: string;
  /** Says what to write instead of a value that was refused, where that is known. Not asked about secrets. */
  readonly advice?: (path: string, value: unknown) => string | undefined;
}

/** @returns the values that passed: normalised, with defaults; unknown parts as they came; without what is absent. */
export function validate(given: Values, rules: Rules, reading: Reading) {
  const walk = new Walk(reading);
  return { values: walk.inObject("", given, rules), problems: walk.problems as readonly Problem[] };
}

/** A sentence for each problem; those that are the same mistake elsewhere have one. */
export function problemMessages(problems: readonly Problem[]): string[] {
  return saidOnce(
    problems,
    ({ property, reason }) => `${property} ${reason}`,
    ({ property }) => property,
    ({ property, reason }) => `${withoutValues(property)} ${reason}`,
  );
}

class Walk {
  readonly problems: Problem[] = [];
  constructor(readonly reading: Reading) {}

  inObject(path: string, given: Values, { shape }: z.ZodObject): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    const pathOf = (property: string) => (path === "" ? property : `${path}.${property}`);
    for (const property in shape) {
      const value = this.#value(pathOf(property), given[property] ?? undefined, shape[property] as z.ZodType);
      if (value !== undefined) values[property] = value;
    }
    for (const property of Object.keys(given)) {
      if (Object.hasOwn(shape, property) || given[property] === undefined) continue;
      // The provider's or the engine's own: no rule applies to it.
      if (path === "" && property.startsWith("__") && property !== "__proto__") continue;
      this.#found(pathOf(property), `is not a known argument; ${didYouMean(property, Object.keys(shape))}`);
    }
    return values;
  }

  #inMap(path: string, given: Values, { keyType, valueType }: z.ZodRecord): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(given)) {
      if (member === undefined) continue;
      const at = `${path}[${JSON.stringify(key)}]`;
      if (!(keyType as z.ZodType).safeParse(key).success) {
        this.#found(at, `is not a valid key: expected ${expectationOf(keyType as z.ZodType)}`);
        continue;
      }
      const value = this.#value(at, member, valueType as z.ZodType);
      if (value !== undefined) values[key] = value;
    }
    return values;
  }

  /** @returns the value as the rule takes it; nothing where it does not fit or is absent. */
  #value(path: string, value: unknown, rule: z.ZodType): unknown {
    if (value !== undefined && !isContainer(value) && this.reading.isUnknown(value)) return value;
    const schema = unwrapped(rule);
    if (!isWalked(schema)) return this.#argument(path, value, rule);
    if (isContainer(value) && !Array.isArray(value)) {
      return isObject(schema)
        ? this.inObject(path, value as Values, schema)
        : this.#inMap(path, value as Values, schema);
    }
    if (value === undefined && rule.isOptional()) return undefined;
    this.#found(path, this.#reasonFor(path, value, rule));
    return undefined;
  }

  /** One value for zod. The names and the other parts of an object are known, whatever a part of it will be. */
  #argument(path: string, value: unknown, rule: z.ZodType): unknown {
    const { isUnknown } = this.reading;
    let isPartial = false;
    const asNull = () => {
      isPartial = true;
      return null; // any part of a value may be null
    };
    const parsed = rule.safeParse(isContainer(value) ? asSent(value, isUnknown, asNull) : value);
    if (parsed.success) return isPartial ? asSent(value, isUnknown, (part) => part) : parsed.data;
    this.#found(path, this.#reasonFor(path, value, rule, parsed.error.issues));
    return undefined;
  }

  #reasonFor(path: string, value: unknown, rule: z.ZodType, issues: z.ZodError["issues"] = []): string {
    const expected = `expected ${expectationOf(rule)}`;
    if (value === undefined) return `is required: ${[this.reading.arrivedUndefined ?? [], expected].flat().join(" ")}`;
    const inside = issues[0]?.path ?? [];
    const place = inside.length === 0 ? "" : `, with a fault at ${quoted(inside.map(String).join("."))}`;
    // A secret's parts are secret too.
    const beginnings = [...(this.reading.secret ?? [])].flatMap((each) => [`${each}.`, `${each}[`]);
    const isSecret = this.reading.secret?.has(path) || beginnings.some((each) => path.startsWith(each));
    if (isSecret) return `${expected}; got a secret value that does not fit${place}`;
    // A rule that knows better than "expected …; got …" says so in its own words, which may tell the value.
    const said = issues.find(({ code, message }) => code === "custom" && message !== ZOD_DEFAULT_MESSAGE);
    if (issues.length === 1 && said !== undefined) return said.message;
    const advice = value instanceof InWords ? undefined : this.reading.advice?.(path, value);
    const isSeconds = described(rule).form === "seconds" && typeof value === "number";
    return `${expected}; got ${isSeconds ? withUnit(value) : show(value)}${place}${advice === undefined ? "" : `; ${advice}`}`;
  }

  #found(property: string, reason: string): void {
    this.problems.push({ property, reason });
  }
}

/** A `refine` without words of its own has this message. */
const ZOD_DEFAULT_MESSAGE = "Invalid input";

/** An object of arguments or a map of such. Any other value is one argument: request fields are a map of plain data. */
function isWalked(schema: z.ZodType): schema is z.ZodObject | z.ZodRecord {
  return isObject(schema) || (schema.type === "record" && isObject((schema as z.ZodRecord).valueType as z.ZodType));
}

// The type's name is compared because `instanceof` of zod's classes takes as long as parsing a number.
function isObject(schema: z.ZodType): schema is z.ZodObject {
  return schema.type === "object";
}

/** Stands for a value that only the program can tell the kind of, such as a resource; no rule accepts it. */
export class InWords {
  /** @param words completes "got …". */
  constructor(readonly words: string) {}
}

/** Describes `value` by kind and, where short, by content: `"30"` becomes `the string "30"`, an array `a list`. */
export function show(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (value instanceof InWords) return value.words;
  switch (typeof value) {
    case "string": {
      const length = [...value].length;
      if (length <= SHOWN_CHARACTERS) return `the string ${quoted(value)}`;
      const unseen = unseenIn(value);
      return `a string of ${length} characters${unseen === undefined ? "" : `, among them ${unseen}`}`;
    }
    case "number":
    case "boolean":
      return Object.is(value, -0) ? "-0" : String(value);
    case "object":
      return Array.isArray(value) ? "a list" : "an object";
    default:
      return `a ${typeof value}`;
  }
}
