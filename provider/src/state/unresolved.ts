/**
 * Resources whose create was sent and has an unknown outcome: how they stand in the state, and what is said of them.
 */

import { printable, shellWord, type Values } from "../base/index.js";
import { type Kind, nameToTell } from "../kinds/index.js";
import { UNRESOLVED } from "./properties.js";

/** What the state keeps of an unresolved create; its field names are a contract. */
export interface UnresolvedCreate {
  /** When it was sent, ISO 8601. */
  readonly since: string;
  /** What was sent and what came back, scrubbed. */
  readonly what: string;
  /** The resource's URN, for the commands that the user is told. */
  readonly urn?: string;
  /** The field and the unique mark that it was sent with, where the installation keeps one. */
  readonly trace?: { readonly field: string; readonly value: string };
  /** The id of the object that it was to replace. */
  readonly replaces?: string;
  /** The name on the platform that was sent, where the resource's arguments are others by now. */
  readonly name?: string;
  /** What else to look for, where the resource's arguments are others by now. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
  /** Whether the name on the platform is secret, and so is not told. */
  readonly nameIsSecret?: boolean;
  /** The arguments whose values are secret, where there are any. */
  readonly secret?: readonly string[];
}

/** By what a create can be searched for: the request field that held its mark, and the mark. */
export type Trace = NonNullable<UnresolvedCreate["trace"]>;

/** As it stands in the inputs. */
export function writeTrace({ field, value }: Trace): string {
  return `${field} ${value}`;
}

/** @returns none where there is none. */
export function readTrace(text: unknown): Trace | undefined {
  const [, field, value] = (typeof text === "string" ? /^(\S+) (\S+)$/.exec(text) : undefined) ?? [];
  return field === undefined || value === undefined ? undefined : { field, value };
}

/** The id of a resource that has none of the platform's: never digits only. */
export function unresolvedId(mark: string): string {
  return `unresolved-${mark}`;
}

/** The mark in such an id. */
export function markOf(id: string): string {
  return id.replace(/^unresolved-/, "");
}

export function unresolvedIn(properties: Values | undefined): UnresolvedCreate | undefined {
  const unresolved = properties?.[UNRESOLVED];
  return typeof unresolved === "object" && unresolved !== null ? (unresolved as UnresolvedCreate) : undefined;
}

/** What a person looks for in the account. Nothing secret. */
export interface Sought {
  readonly kind: string;
  /** The name on the platform, where it may be told. */
  readonly name?: string | undefined;
  /** Further arguments that tell it from others, by their names in the program. */
  readonly facts: Values;
  /** When it was sent, ISO 8601. */
  readonly sentAt?: string | undefined;
  /** The field and the unique mark that it was sent with. */
  readonly trace?: { readonly field: string; readonly value: string } | undefined;
  /** The id of the object that it was to replace, which it is not. */
  readonly replaces?: string | undefined;
}

/** What to look for, of an object with these properties. */
export function soughtIn(
  kind: Kind,
  properties: Values,
  { since, trace, replaces, nameIsSecret, secret = [], name: sentName, facts }: UnresolvedCreate,
): Sought {
  const hidden = new Set(nameIsSecret === true ? [...secret, kind.nameProperty] : secret);
  return {
    kind: kind.name,
    name: nameToTell(kind, { [kind.nameProperty]: sentName ?? properties[kind.nameProperty] }, hidden),
    facts: facts ?? factsIn(kind, properties, hidden),
    sentAt: since,
    trace,
    replaces,
  };
}

/** The arguments that tell an object of this kind from others of its name, without secret and unknown ones. */
export function factsIn(
  kind: Kind,
  properties: Values,
  secret: ReadonlySet<string>,
): Record<string, string | number | boolean> {
  const facts: Record<string, string | number | boolean> = {};
  for (const property of kind.tellingProperties) {
    const value = properties[property];
    if (secret.has(property) || !["string", "number", "boolean"].includes(typeof value)) continue;
    facts[property] = value as string | number | boolean;
  }
  return facts;
}

/** `the ConversionEvent named "Signup" (advertiserId 1, value 5), sent at …` */
export function describeSought({ kind, name, facts, sentAt, trace, replaces }: Sought): string {
  const named = name === undefined ? "" : ` named "${printable(name)}"`;
  const told = Object.entries(facts)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([property, value]) => `${property} ${printable(String(value))}`);
  return [
    `the ${kind}${named}${told.length === 0 ? "" : ` (${told.join(", ")})`}`,
    sentAt === undefined || sentAt === "" ? "" : `, sent at ${sentAt}`,
    trace === undefined ? "" : `, ${trace.field} = ${trace.value}`,
    replaces === undefined ? "" : `; it is not ${replaces}, which it was to replace`,
  ].join("");
}

/** The two commands that settle it, one for each answer. */
export function waysOut(urn: string): string[] {
  return [
    `  If it is there:     npx pulumi-advertising pending --created ${shellWord(`${urn}=<its id>`)}`,
    `  If it is not there: npx pulumi-advertising pending --not-created ${shellWord(urn)}`,
    "Then run `pulumi up`. (If it is there, setting existingId to its id does the same.)",
  ];
}

/** What a user is told of a create that is open and declared no longer. @param hints between what it is and the commands. */
export function whatIsOpen(sought: Sought, id: string | undefined, urn: string, hints: readonly string[]): string[] {
  if (id !== undefined) {
    return [
      ...hints,
      `To go on with ${id}: give the resource existingId: ${id}. To forget it (it stays live):`,
      `  npx pulumi-advertising pending --forget ${shellWord(urn)}`,
    ];
  }
  return [`Look into the account for ${describeSought(sought)}.`, ...hints, ...waysOut(urn)];
}

/** What a user is told of an unresolved create each time that it stops a run: what to look for, and the two ways out. */
export function explainUnresolved(kind: Kind, properties: Values, unresolved: UnresolvedCreate): string {
  return [
    `Look into the account for ${describeSought(soughtIn(kind, properties, unresolved))}. Its outcome is unknown, so it is not sent again.`,
    ...waysOut(unresolved.urn ?? "<urn>"),
    `What happened: ${unresolved.what}`,
  ].join("\n");
}
