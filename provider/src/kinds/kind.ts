/**
 * The shape of a kind of resource, and the closed lists of the kinds' names and handlers; the kinds are in `*-kind.ts`.
 * Then its requests to the API as data: operations with addresses, a create's body, and the fingerprint that tells two
 * creates of one resource apart. The journal and the state keep fingerprints: how they are made is a contract. Pure.
 */

import { createHash } from "node:crypto";
import { exactInteger, isPlain, quoted, strayIn, type Values } from "../base/index.js";
import { type Problem, type Reading, type Rules, validate } from "../rules/index.js";

/** The class's name, and the last part of the type token. */
export type ResourceName = Kind["name"] | SetKind["name"];

/** The full type token of a resource: a contract with every stored state. */
export function typeTokenOf(resource: ResourceName): string {
  return `pulumi-nodejs:dynamic/advertising:${resource}`;
}

/** The type token of the component whose resources come from a file: a contract with the URNs of every stored state. */
export const CATALOG_TYPE = "advertising:index:Catalog";

/** Between the catalog's name and the keys in the names of its resources: no key holds it. A contract as well. */
export const CATALOG_SEPARATOR = "/";

/** The settings of an installation that the rules depend on. */
export interface Limits {
  /** The longest window in seconds (setting `maxWindowSeconds`). */
  readonly maxWindowSeconds: number;
  /** The request field that every create carries its mark in (setting `markField`). */
  readonly markField: string | undefined;
}

/** Makes rules once for a process's settings: each resource needs them, and making them costs far more than a check. */
export function onceFor<T>(make: (limits: Limits) => T): (limits: Limits) => T {
  const made = new WeakMap<Limits, T>();
  return (limits) => {
    const rules = made.get(limits) ?? make(limits);
    made.set(limits, rules);
    return rules;
  };
}

/** Holds arguments against all that is known of a resource. As {@link validate}. */
export function checkArguments(resource: Kind | SetKind, given: Values, limits: Limits, reading: Reading) {
  const { values, problems } = validate(given, resource.rules(limits), reading);
  return { values, problems: [...problems, ...resource.conflicts(values)] };
}

interface ResourceKind {
  /** The name under which `handlers.ts` exports its provider: a contract with every stored state. */
  readonly handler: "advertiser" | "conversionEvent" | "conversionEventSet";
  readonly outputs: readonly string[];
  /** Arguments that hold another object's id: perhaps digits that a number could not hold exactly. */
  readonly exactIds: ReadonlySet<string>;
  /** Those of {@link exactIds} for which a program may give the other object's resource itself. */
  readonly refersTo: Readonly<Record<string, Kind>>;
  rules(limits: Limits): Rules;
  /** What is wrong between its parts, which each fit their rules. */
  conflicts(values: Values): readonly Problem[];
  /** Values that are accepted and yet likely a mistake. */
  warnings(values: Values): readonly Problem[];
}

export interface Kind extends ResourceKind {
  readonly name: "Advertiser" | "ConversionEvent";
  readonly idProperty: string;
  /** The argument that people know the object by in the platform's interface. */
  readonly nameProperty: string;
  /** Arguments that tell an object from others of its name. */
  readonly identifyingProperties: readonly string[];
  /** Completes the sentence "it …" about an object that is live and managed by nobody. */
  readonly unmanagedNotice: string;
  /** Argument → field of the request body, for each argument that is sent. */
  readonly wireNames: Readonly<Record<string, string>>;
  readonly create: Operation;
}

export interface SetKind extends ResourceKind {
  readonly name: "ConversionEventSet";
  readonly member: Kind;
  /** The rules of one member. A member's default is the set's where it has one, so they fill in none. */
  memberRules(limits: Limits): Rules;
  sharedRules(limits: Limits): Rules;
  /** The API's own defaults, for what neither a member nor the set's `defaults` give. */
  defaultsIn(limits: Limits): Values;
}

/** The name by which the platform knows an object, if it may be shown. @param secret arguments that must not be. */
export function displayName({ nameProperty }: Kind, values: Values, secret: ReadonlySet<string>): string | undefined {
  const name = values[nameProperty];
  return typeof name === "string" && !secret.has(nameProperty) ? name : undefined;
}

/** Programs write these where a table has nothing. */
const NO_NAME = /^(nan|null|none|nil|undefined|n\/?a)$/i;

/** A name that is likely none, or that has characters which nobody sees. */
export function oddName(values: Values, property: string, at = ""): Problem[] {
  const name = values[property];
  if (typeof name !== "string") return [];
  const unseen = strayIn(name);
  const reasons = [
    NO_NAME.test(name) && `is "${name}": is that a name, or was there no value?`,
    unseen !== undefined && `${quoted(name)} has a character that nobody sees, ${unseen}: is it meant?`,
  ];
  return reasons.filter((reason) => reason !== false).map((reason) => ({ property: `${at}${property}`, reason }));
}

/** A spreadsheet keeps 15 digits of a number, most programs 17; both write zeros for the others. */
const ROUNDED_ID = /^[1-9](\d{14}0+|\d{16}00+)$/;

export function roundedId(values: Values, property: string, at = ""): Problem[] {
  const id = values[property];
  if (!isPlain(id) || !ROUNDED_ID.test(String(id))) return [];
  const cause = "spreadsheets and programs keep 15 to 17 digits of a number and write zeros for the others";
  const reason = `is ${id}: ${cause}; is that the whole id?`;
  return [{ property: `${at}${property}`, reason }];
}

/** What is wrong where a second one names an object. @param by what has it. */
export function adoptedTwice(id: string, by: string): string {
  return `${id} already belongs to ${by}: one object can't be two resources; correct this existingId, or remove the other one`;
}

export function outputsOf(idProperty: string, wireNames: Kind["wireNames"]): string[] {
  return [idProperty, ...Object.keys(wireNames), "existingId", "additionalFields"];
}

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

/**
 * Operations that only some installations are known to have: those that the setting `operations` names. Each with the
 * methods that it may have and the one placeholder of its path.
 */
export const OPTIONAL_OPERATIONS = {
  read: { methods: ["GET"], placeholder: "id" },
  update: { methods: ["PUT", "PATCH", "POST"], placeholder: "id" },
  delete: { methods: ["DELETE", "POST"], placeholder: "id" },
  search: { methods: ["GET"], placeholder: "mark" },
} as const;
export type OptionalOperation = keyof typeof OPTIONAL_OPERATIONS;
export type KnownOperations = Readonly<Partial<Record<OptionalOperation, Operation>>>;

/** `POST rest/<noun>`: the one operation that is known of every kind. */
export function createOf(noun: string, wireNames: Readonly<Record<string, string>>): Operation {
  return { method: "POST", path: `rest/${noun}`, repeatable: false, noun, fields: Object.values(wireNames) };
}

/** The address that an operation is sent to. @param values for the placeholders of its path. */
export function addressOf({ path }: Operation, baseUrl: string, values?: Readonly<Record<string, string>>): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values?.[name] ?? ""));
  return new URL(`${baseUrl}/${filled}`);
}

/** The request's fields under their wire names; optional ones only where they were given or have a default. */
export function bodyOf({ wireNames, exactIds }: Kind, values: Values): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...(values.additionalFields as Values | undefined) };
  for (const [property, wireName] of Object.entries(wireNames)) {
    const value = values[property];
    // Digits beyond a number's precision go out as a JSON number all the same.
    const isDigits = typeof value === "string" && exactIds.has(property);
    if (value !== undefined) fields[wireName] = isDigits ? exactInteger(value) : value;
  }
  return fields;
}

/** Of the body of a create with these arguments: the same for equal bodies, whatever the order of their fields. */
export function fingerprintOfBody(kind: Kind, values: Values): string {
  const text = JSON.stringify(bodyOf(kind, values), (_, value: unknown) => {
    const isFields = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
    return isFields ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  });
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
