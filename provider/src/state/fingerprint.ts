/**
 * By which two creates of one resource are told apart. Pure; the journal keeps it, so how it is made is a contract.
 */
import { createHash } from "node:crypto";

/** The same for equal bodies, whatever the order of their fields. */
export function fingerprintOf(fields: Readonly<Record<string, unknown>>): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(fields)))
    .digest("hex")
    .slice(0, 32);
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
