/**
 * Values that an exported stack holds encrypted, or in plain under Pulumi's mark of a secret: told as secret, never shown.
 */
import type { Values } from "../base/index.js";
import { SECRET_SIGNATURE } from "../state/index.js";

/** Stands for a value that must not be told. */
export const SECRET: unique symbol = Symbol("secret");

/** A value as a report may show it. */
export type Shown = string | number | boolean | typeof SECRET | Values;

/** Whether Pulumi marked it as a secret. */
export function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, SECRET_SIGNATURE);
}

/** @returns {@link SECRET} where it is a secret or holds one; nothing where there is no value. */
export function plainOf(value: unknown): Shown | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === SECRET || holdsSecret(value)) return SECRET;
  return value as Shown;
}

function holdsSecret(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isSecret(value) || Object.values(value).some(holdsSecret);
}

/** For people: `secret` in parentheses, which no name is, or the value on one line. */
export function shown(value: Shown | undefined): string {
  if (value === undefined) return "";
  if (value === SECRET) return "(secret)";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
