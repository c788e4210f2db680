/**
 * The API's operations, as data: what is sent where, and whether it may be sent twice.
 */

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL; may have a query, and `{name}` for values that are filled in, percent-encoded. */
  readonly path: string;
  /** Whether being carried out twice does no harm: never for a create, which has no idempotency key and no delete. */
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

/** Where an operation goes. @param values for the placeholders of its path. */
export function addressOf({ path }: Operation, baseUrl: string, values?: Readonly<Record<string, string>>): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values?.[name] ?? ""));
  return new URL(`${baseUrl}/${filled}`);
}
