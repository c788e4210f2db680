/**
 * The form in which a rule takes a value that came in another one: numbers as strings, booleans as numbers. Pure.
 */
import { ZodDefault, ZodType } from "zod";
import type { Rules } from "./validate.js";

/** @returns `value` in the first form that the rule accepts; nothing for `null`; as it came where no form fits. */
export function asAccepted(rule: Rules[string] | undefined, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  const forms = formsOf(value);
  if (!(rule instanceof ZodType)) return value;
  for (const form of forms) {
    const { success, data } = rule.safeParse(form);
    if (success) return data;
  }
  return forms.find((form) => typeof form === "number") ?? value;
}

/** What a rule takes where nothing was given; nothing without a default. */
export function defaultOf(rule: Rules[string] | undefined): unknown {
  return rule instanceof ZodDefault ? rule.parse(undefined) : undefined;
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
