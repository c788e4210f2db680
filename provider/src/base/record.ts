/**
 * Reading properties of values of which nothing is known.
 */

/** Properties of which nothing is known but that they are data: arguments, outputs, request fields. */
export type Values = Readonly<Record<string, unknown>>;

/** `value` as an object whose own keys can be read safely, or an empty one. */
export function asRecord(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** An own property's value; never an inherited one. */
export function own(value: unknown, key: string): unknown {
  const record = asRecord(value);
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
