/**
 * The requests to the API, as data: its operations with their addresses, the body of a create, and the fingerprint by which two
 * creates of one resource are told apart. The journal and the state keep fingerprints, so how they are made is a contract. Pure.
 */
import { createHash } from "node:crypto";
import { exactInteger, type Values } from "../base/index.js";

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL; may have a query, and `{name}` for values that are filled in, percent-encoded. */
  readonly path: string;
  /** Being carried out twice does no harm. Never true of a create, which has no idempotency key and no delete. */
  readonly repeatable: boolean;
  /** The resource's name on the wire, under which or before `_id` its id may stand in an answer. */
  readonly noun: string;
  /** Every documented field of the resource: a refusal may speak of one not sent. */
  readonly fields: readonly string[];
}

/** Operations that only some installations are known to have: those that the setting `operations` names. */
export type OptionalOperation = "read" | "update" | "delete" | "search";
export type KnownOperations = Readonly<Partial<Record<OptionalOperation, Operation>>>;

/** Each of them, with the methods that it may have and the one placeholder of its path. */
export const OPTIONAL_OPERATIONS: Readonly<
  Record<OptionalOperation, { readonly methods: readonly Operation["method"][]; readonly placeholder: string }>
> = {
  read: { methods: ["GET"], placeholder: "id" },
  update: { methods: ["PUT", "PATCH", "POST"], placeholder: "id" },
  delete: { methods: ["DELETE", "POST"], placeholder: "id" },
  search: { methods: ["GET"], placeholder: "mark" },
};

/** `POST rest/<noun>`: the one operation that is known of every kind. */
export function createOf(noun: string, wireNames: Readonly<Record<string, string>>): Operation {
  return { method: "POST", path: `rest/${noun}`, repeatable: false, noun, fields: Object.values(wireNames) };
}

/** The address that an operation is sent to. @param values for the placeholders of its path. */
export function addressOf({ path }: Operation, baseUrl: string, values?: Readonly<Record<string, string>>): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values?.[name] ?? ""));
  return new URL(`${baseUrl}/${filled}`);
}

/** The names of a kind that its bodies are made with. */
interface Named {
  readonly wireNames: Readonly<Record<string, string>>;
  readonly exactIds: ReadonlySet<string>;
}

/** The request's fields under their wire names; optional ones only where they were given or have a default. */
export function bodyOf({ wireNames, exactIds }: Named, values: Values): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...(values.additionalFields as Values | undefined) };
  for (const [property, wireName] of Object.entries(wireNames)) {
    const value = values[property];
    // Digits beyond a number's precision go out as a JSON number all the same.
    const isDigits = typeof value === "string" && exactIds.has(property);
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
export function fingerprintOfBody(kind: Named, values: Values): string {
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
