/**
 * The shape of a kind of resource; the kinds are in `*-kind.ts`.
 * Then its requests to the API as data: operations with addresses, a create's body, and the fingerprint that tells two
 * creates of one resource apart. The journal and the state keep fingerprints: how they are made is a contract. Pure.
 */

import { createHash } from "node:crypto";
import {
  asRecord,
  canonicalJson,
  exactInteger,
  own,
  quoted,
  type Values,
} from "../base/index.js";
import {
  type Problem,
  type Rules,
  type ValidationOptions,
  validate,
} from "../rules/index.js";
import type { KindName, ResourceName, SetName } from "./vocabulary.js";

/** The full type token of a resource: a contract with every stored state. */
export function typeTokenOf(resource: ResourceName): string {
  return `pulumi-nodejs:dynamic/advertising:${resource}`;
}

/** The same for the plugin's resource: a contract too. */
export function pluginTokenOf(resource: ResourceName): string {
  return `advertising:index:${resource}`;
}

/** The name under which `handlers.ts` exports a resource's provider: a contract with every stored state. */
export function handlerOf(resource: ResourceName): string {
  return resource.replace(/^./, (letter) => letter.toLowerCase());
}

/** The type token of the component whose resources come from a file: a contract with the URNs of every stored state. */
export const CATALOG_TYPE = "advertising:index:Catalog";

/** Between the catalog's name and the keys in the names of its resources: no key holds it. A contract as well. */
export const CATALOG_SEPARATOR = "/";

/** The settings of an installation that the rules depend on. */
export interface Limits {
  /** The longest window in seconds (setting `maxWindowSeconds`). */
  maxWindowSeconds: number;
  /** The request field that every create carries its mark in (setting `markField`). */
  markField: string | undefined;
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
export function checkArguments(
  resource: Kind | SetKind,
  given: Values,
  limits: Limits,
  reading: ValidationOptions,
) {
  const { values, problems } = validate(given, resource.rules(limits), reading);
  // Only a set has them.
  const events = Object.entries(asRecord(values.events));
  const taken = new Set<unknown>(events.map(([key]) => key));
  const conflicts: Problem[] = [];
  for (const [key, event] of events) {
    const formerKey = own(event, "formerKey");
    if (typeof formerKey !== "string") continue;
    const property = `${memberPath(key)}.formerKey`;
    if (taken.has(formerKey))
      conflicts.push({ property, reason: formerKeyTaken(formerKey) });
    taken.add(formerKey);
  }
  return { values, problems: [...problems, ...conflicts] };
}

/** What is wrong with a former key that another event has, now or formerly. */
export function formerKeyTaken(formerKey: string): string {
  return `${quoted(formerKey)} is already a key or a formerKey here: one object can't be two events`;
}

/** The path of a set's member among its arguments. */
export function memberPath(key: string): string {
  return `events[${JSON.stringify(key)}]`;
}

interface ResourceKind {
  outputs: readonly string[];
  /** Arguments that hold another object's id: perhaps digits that a number could not hold exactly. */
  exactIds: ReadonlySet<string>;
  /** By those of {@link exactIds} for which a program may give the other object's resource itself: its kind. */
  references: Readonly<Record<string, Kind>>;
  rules(limits: Limits): Rules;
}

export interface Kind extends ResourceKind {
  name: KindName;
  idProperty: string;
  /** The argument that people know the object by in the platform's interface. */
  nameProperty: string;
  /** Arguments that tell an object from others of its name. */
  identifyingProperties: readonly string[];
  /** Completes the sentence "it …" about an object that is live and managed by nobody. */
  unmanagedNotice: string;
  /** Argument → field of the request body, for each argument that is sent. */
  wireNames: Readonly<Record<string, string>>;
  create: Operation;
  /** The argument that names the object which this one is part of, for good: with another owner it is another object. */
  owner: string | undefined;
}

/** A kind whose arguments the compiler knows by name. */
export type KindOf<WireNames extends Kind["wireNames"]> = Omit<Kind, "wireNames"> & {
  wireNames: WireNames;
};

export interface SetKind extends ResourceKind {
  name: SetName;
  member: Kind;
  /** The rules of one member. A member's default is the set's where it has one, so they fill in none. */
  memberRules(limits: Limits): Rules;
  sharedRules(limits: Limits): Rules;
  /** The API's own defaults, for what neither a member nor the set's `defaults` give. */
  defaultsIn(limits: Limits): Values;
}

/** The id of an object's owner among its arguments or facts. */
export function ownerIn({ owner }: Kind, values: Values): unknown {
  return owner === undefined ? undefined : own(values, owner);
}

/** The name by which the platform knows an object, if it may be shown. @param secret arguments that must not be. */
export function displayName(
  { nameProperty }: Kind,
  values: Values,
  secret: ReadonlySet<string>,
): string | undefined {
  const name = values[nameProperty];
  return typeof name === "string" && !secret.has(nameProperty) ? name : undefined;
}

/** What is wrong where a second one names an object. @param by what has it. */
export function adoptedTwice(id: string, by: string): string {
  return `${id} already belongs to ${by}: one object can't be two resources; correct this existingId, or remove the other one`;
}

export function outputsOf(idProperty: string, wireNames: Kind["wireNames"]): string[] {
  return [idProperty, ...Object.keys(wireNames), "existingId", "additionalFields"];
}

export interface Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL; may have a query, and `{name}` for values that are filled in, percent-encoded. */
  path: string;
  /** Being carried out twice does no harm. Never true of a create, which has no idempotency key and no delete. */
  idempotent: boolean;
  /** The resource's name on the wire, under which or before `_id` its id may stand in an answer. */
  noun: string;
  /** Every documented field of the resource: a refusal may speak of one not sent. */
  fields: readonly string[];
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
/** Beside create. A search is by the request field that the marks are sent in. */
export type KnownOperations = Readonly<Partial<Record<OptionalOperation, Operation>>> & {
  markField?: string | undefined;
};

/** `POST rest/<noun>`: the one operation that is known of every kind. */
export function createOf(
  noun: string,
  wireNames: Readonly<Record<string, string>>,
): Operation {
  return {
    method: "POST",
    path: `rest/${noun}`,
    idempotent: false,
    noun,
    fields: Object.values(wireNames),
  };
}

/** The address that an operation is sent to. @param values for the placeholders of its path. */
export function addressOf(
  { path }: Operation,
  baseUrl: string,
  values?: Readonly<Record<string, string>>,
): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values?.[name] ?? ""),
  );
  return new URL(`${baseUrl}/${filled}`);
}

/** The request's fields under their wire names; optional ones only where they were given or have a default. */
export function bodyOf(
  { wireNames, exactIds }: Kind,
  values: Values,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    ...(values.additionalFields as Values | undefined),
  };
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
  const text = canonicalJson(bodyOf(kind, values));
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
