/**
 * The shape of a kind of resource (the kinds are in `*-kind.ts`), and its requests to the API as data: operations with
 * addresses, a create's body, and the fingerprint that distinguishes two creates of one resource. The journal and the
 * state keep fingerprints, so the way they are computed is a contract. Pure.
 */

import { hash } from "node:crypto";
import { z } from "zod";
import {
  asRecord,
  canonicalJson,
  exactInteger,
  own,
  quoted,
  type Values,
} from "../base/index.js";
import { expecting, type Rules, type ValidationOptions, validate } from "../rules/index.js";
import type { KindName, ResourceName, SetName } from "./vocabulary.js";

/** The full type token of a resource: a contract with every stored state. */
export function typeTokenOf(resource: ResourceName) {
  return `pulumi-nodejs:dynamic/advertising:${resource}`;
}

/** The full type token of the plugin's resource: a contract with every stored state. */
export function pluginTokenOf(resource: ResourceName) {
  return `advertising:index:${resource}`;
}

/**
 * The text that Pulumi's dynamic-provider process runs to get a resource's provider, as `handlers.ts` exports it: a
 * contract with every stored state. A reference instead of code: so the package's version and folder don't change the state.
 */
export function providerReference(resource: ResourceName) {
  const handler = resource.replace(/^./, (letter) => letter.toLowerCase());
  return `exports.handler=()=>require("pulumi-advertising/handlers").${handler}`;
}

/** The type token of the component whose resources come from a file: a contract with the URNs of every stored state. */
export const CATALOG_TYPE = "advertising:index:Catalog";

/** Separates the catalog's name and the keys in its resources' names; no key contains it. A contract like the type. */
export const CATALOG_SEPARATOR = "/";

/** The settings that the rules depend on. */
export interface RuleSettings {
  /** The longest window in seconds (setting `maxWindowSeconds`). */
  maxWindowSeconds: number;
  /** The request field that every create carries its mark in (setting `markField`). */
  markField: string | undefined;
}

const DELETING = { delete: "delete", retain: undefined } as const;

/** Whether objects that leave a resource are deleted. The default is left out, so that the state has only `delete`. */
export const deletionPolicy = expecting(
  '"retain" or "delete"',
  z.enum(["retain", "delete"]).transform((policy) => DELETING[policy]),
  { form: "choice", isPlain: true },
).optional();

/** Whether a resource's arguments or outputs ask to delete the objects that leave it. */
export function asksToDelete(values: Values | undefined) {
  return own(values, "deletionPolicy") === "delete";
}

/** Builds rules once for a process's settings: each resource needs them, and building costs far more than a check. */
export function memoized<T>(make: (limits: RuleSettings) => T) {
  const made = new WeakMap<RuleSettings, T>();
  return (limits: RuleSettings) => {
    const rules = made.get(limits) ?? make(limits);
    made.set(limits, rules);
    return rules;
  };
}

/** Like {@link validate}, plus the check of a set's former keys. */
export function checkArguments(
  resource: AnyKind,
  given: Values,
  limits: RuleSettings,
  reading: ValidationOptions,
) {
  const { values, problems } = validate(given, resource.rules(limits), reading);
  // Empty unless the resource is a set.
  const members = Object.entries(asRecord(values.events)).map(([key, args]) => ({
    key,
    args,
  }));
  for (const { key, reason } of formerKeyConflicts(members))
    problems.push({ property: `${memberOf("events", key)}.formerKey`, reason });
  return { values, problems };
}

/** The events of one advertiser whose formerKey another event has, or had, with the reason why that can't be. */
export function formerKeyConflicts<Event extends { key: string; args: unknown }>(
  events: readonly Event[],
) {
  const taken = new Set(events.map(({ key }) => key));
  return events.flatMap((event) => {
    const formerKey = own(event.args, "formerKey");
    if (typeof formerKey !== "string") return [];
    const reason = `${quoted(formerKey)} is already a key or a formerKey here: one object can't be two events`;
    if (taken.has(formerKey)) return { ...event, reason };
    taken.add(formerKey);
    return [];
  });
}

/** `of["key"]`: one member of a set, by the set's key, URN, or path. */
export function memberOf(of: string, key: string) {
  return `${of}[${JSON.stringify(key)}]`;
}

interface ResourceKind {
  /** The output with the platform's id, or with a set's ids by key. */
  idProperty: string;
  outputs: readonly string[];
  rules(limits: RuleSettings): Rules;
}

export interface Kind extends ResourceKind {
  name: KindName;
  /** The argument that is the object's name in the platform's interface. */
  nameProperty: string;
  /** Arguments that distinguish an object from others with the same name. */
  identifyingProperties: readonly string[];
  /** Completes the sentence "it …" about an object that is live and unmanaged. */
  unmanagedNotice: string;
  /** Argument → field of the request body, for each argument that is sent. */
  wireNames: Readonly<Record<string, string>>;
  /** Its name on the wire. A response may contain the object under it, and the id under `<noun>_id`. */
  noun: string;
  create: Operation;
  /** Arguments that contain another object's id, which may be digits that no number holds exactly. */
  idArguments: readonly string[];
  /** The argument with the id of the object that this one belongs to. With another owner it would be another object. */
  owner?: string;
  /** The owner's kind: the argument also accepts its resource. */
  ownerKind?: Kind;
}

/** A kind with what follows from its names, which the compiler knows. */
export function defineKind<const WireNames extends Kind["wireNames"]>(
  kind: Omit<Kind, "outputs" | "create" | "wireNames"> & { wireNames: WireNames },
) {
  const { noun, idProperty, wireNames } = kind;
  const create: Operation = { method: "POST", path: `rest/${noun}`, idempotent: false };
  const outputs = [
    idProperty,
    ...Object.keys(wireNames),
    "existingId",
    "additionalFields",
    "deletionPolicy",
  ];
  return { ...kind, outputs, create };
}

export interface SetKind extends ResourceKind {
  name: SetName;
  member: Kind;
}

/** The kind of a resource: of one object, or of a set. */
export type AnyKind = Kind | SetKind;

/** The id of an object's owner, from its arguments or from recorded ones. */
export function ownerIn({ owner }: Kind, values: Values) {
  if (owner !== undefined) return own(values, owner);
}

/** An object's name on the platform, if it may be shown. @param secret arguments that must not be shown. */
export function displayName(
  { nameProperty }: Kind,
  values: Values,
  secret: ReadonlySet<string>,
) {
  const name = values[nameProperty];
  if (typeof name === "string" && !secret.has(nameProperty)) return name;
}

/** The reason of a problem: two resources name one object. @param by the resource that has it already. */
export function adoptionClash(id: string, by: string) {
  return `${id} already belongs to ${by}: one object can't be two resources; remove one, or correct its existingId`;
}

export interface Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to the base URL; may have a query, and placeholders `{name}`, which are filled in percent-encoded. */
  path: string;
  /** Whether carrying it out twice does no harm. False for a create, which has no idempotency key. */
  idempotent: boolean;
}

/**
 * Operations that only some installations have, and that the setting `operations` names: the methods that each may have,
 * and the one placeholder of its path.
 */
export const OPTIONAL_OPERATIONS = {
  read: { methods: ["GET"], placeholder: "id" },
  update: { methods: ["PUT", "PATCH", "POST"], placeholder: "id" },
  delete: { methods: ["DELETE", "POST"], placeholder: "id" },
  search: { methods: ["GET"], placeholder: "mark" },
} as const;
export type OptionalOperation = keyof typeof OPTIONAL_OPERATIONS;
/** The known operations beside create. A search looks for a mark in the field `markField`. */
export type KnownOperations = Readonly<Partial<Record<OptionalOperation, Operation>>> & {
  markField?: string | undefined;
};

/** The address of an operation. @param values fill the placeholders of its path. */
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

/** A create's fields under their wire names; optional fields only if they were given or have a default. */
export function bodyOf({ wireNames, idArguments }: Kind, values: Values) {
  const fields = { ...asRecord(values.additionalFields) };
  for (const [property, wireName] of Object.entries(wireNames)) {
    const value = values[property];
    // Digits beyond a number's precision are sent as a JSON number too.
    const isDigits = typeof value === "string" && idArguments.includes(property);
    if (value !== undefined) fields[wireName] = isDigits ? exactInteger(value) : value;
  }
  return fields;
}

/**
 * The fingerprint of a create's body: the same for equal bodies, whatever the order of their fields. Empty if anything
 * in it is secret, since a short value can be found from its fingerprint. @param secret the names of secret arguments.
 */
export function fingerprintOfBody(
  kind: Kind,
  values: Values,
  secret: ReadonlySet<string> = new Set(),
) {
  if (Object.keys(values).some((name) => secret.has(name))) return "";
  return hash("sha256", canonicalJson(bodyOf(kind, values))).slice(0, 32);
}
