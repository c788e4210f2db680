/**
 * The body that a create sends, and the fingerprint by which two creates of one resource are told apart. The journal and the
 * state keep fingerprints, so how they are made is a contract. Pure.
 */
import { createHash } from "node:crypto";
import { exactInteger, type Values } from "../base/index.js";
import type { Kind } from "./kind.js";

/** The request's fields under their wire names; optional ones only where they were given or have a default. */
export function bodyOf(kind: Kind, values: Values): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...(values.additionalFields as Values | undefined) };
  for (const [property, wireName] of Object.entries(kind.wireNames)) {
    const value = values[property];
    // Digits beyond a number's precision go out as a JSON number all the same.
    const isDigits = typeof value === "string" && kind.exactIds.has(property);
    if (value !== undefined) fields[wireName] = isDigits ? exactInteger(value) : value;
  }
  return fields;
}

/** The same text for equal bodies, whatever the order of their fields. */
export function fingerprintOf(body: Values): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(body)))
    .digest("hex")
    .slice(0, 32);
}

/** The fingerprint of the body that an object with these arguments is created with. */
export function fingerprintOfBody(kind: Kind, values: Values): string {
  return fingerprintOf(bodyOf(kind, values));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  );
}
