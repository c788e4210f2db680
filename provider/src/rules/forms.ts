/**
 * The forms in which one value may come: in a program with parts that are not known yet, on its way through Pulumi, or from a
 * platform that answers numbers as strings and booleans as numbers. Pure.
 */
import type { z } from "zod";

/** Deeper than any request field; what zod and Pulumi do with a deeper value is to run out of stack. */
const MAX_DEPTH = 100;

/** Stands where a value can't be carried by JSON: no rule accepts a symbol. */
const NEVER_JSON = Symbol("not JSON");

/** Tells a list or a plain object, whose names are known, from an Output, a Promise and everything else. */
export function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  // One step below the end of the chain: an object literal, of this realm or another (a program run in a `vm`).
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * `value` as Pulumi will send it: fields that are `undefined` are left out at every depth, and are null in a list.
 * @param unknownAs what stands for a part that is not known yet.
 */
export function asSent(
  value: unknown,
  isUnknown: (value: unknown) => boolean,
  unknownAs: (part: unknown) => unknown,
): unknown {
  const copy = (part: unknown, holders: readonly object[]): unknown => {
    if (!isContainer(part)) return isUnknown(part) ? unknownAs(part) : part;
    if (holders.length >= MAX_DEPTH || holders.includes(part)) return NEVER_JSON;
    const inside = [...holders, part];
    if (Array.isArray(part)) return Array.from(part, (entry) => (entry === undefined ? null : copy(entry, inside)));
    // zod would drop such a field without a word.
    if (Object.hasOwn(part, "__proto__")) return NEVER_JSON;
    const given = Object.entries(part).filter(([, entry]) => entry !== undefined);
    return Object.fromEntries(given.map(([name, entry]) => [name, copy(entry, inside)]));
  };
  return copy(value, []);
}

/**
 * Called for each argument that is read back from the platform, before it is compared with what is declared.
 * @returns `value` in the first form that the rule accepts; nothing for `null`; as it came where no form fits.
 */
export function asAccepted(rule: z.ZodType | undefined, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  const forms = formsOf(value);
  if (rule === undefined) return value;
  for (const form of forms) {
    const { success, data } = rule.safeParse(form);
    if (success) return data;
  }
  return forms.find((form) => typeof form === "number") ?? value;
}

/** The value that a rule has where nothing was given; nothing without a default. */
export function defaultOf(rule: z.ZodType | undefined): unknown {
  return rule?.safeParse(undefined).data;
}

/** `value`, and what else it may stand for. */
export function formsOf(value: unknown): unknown[] {
  const forms = [value];
  const text = typeof value === "string" ? value.trim() : undefined;
  if (text !== undefined && /^-?\d+(\.\d+)?$/.test(text)) {
    const digits = text.replace(/\.0+$/, "");
    // Beyond a number's precision the digits are the value.
    if (digits.includes(".") || Number.isSafeInteger(Number(digits))) forms.push(Number(text));
    forms.push(digits);
  }
  if (value === 1 || text === "1" || text?.toLowerCase() === "true") forms.push(true);
  if (value === 0 || text === "0" || text?.toLowerCase() === "false") forms.push(false);
  if (typeof value === "number") forms.push(String(value));
  return forms;
}
