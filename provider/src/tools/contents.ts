/**
 * The advertisers and conversion events that a stack's state holds, whatever resources they are declared with: the reports are
 * made of them. What is secret in the state is told as secret, and never shown. Pure.
 */

import { own, type Values } from "../base/index.js";
import { conversionEvent, kindNamed, kindOfType, setOfType } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { memberOf, nameInUrn, readStoredSet, recordIn, SECRET_SIGNATURE } from "../state/index.js";
import type { Resource } from "./stack-export.js";

/** Stands for a value that must not be told. */
export const SECRET: unique symbol = Symbol("secret");

/** A value as a report may show it. */
export type Shown = string | number | boolean | typeof SECRET | Values;

/** One object of the platform, or one whose create has an unknown outcome. */
export interface Entry {
  readonly kind: "Advertiser" | "ConversionEvent";
  /** Unique among the stack's objects of its kind: the resource's name; of a set's member, `<set>/<key>`. */
  readonly key: string;
  /** Of a member, with its key behind it. */
  readonly urn: string;
  /** The platform's id, in digits; none where no create is known to have arrived. */
  readonly id: string | undefined;
  /** When a create of unknown outcome was sent, and what is known of it; none where nothing is open. */
  readonly unresolved: { readonly since: string; readonly what: string } | undefined;
  /** Arguments by their names in programs; what is not set is absent. */
  readonly values: Readonly<Record<string, Shown>>;
  /** Whether the set's advertiser or defaults have changed since: `values` then says what is declared, not what lives. */
  readonly isEarlier: boolean;
}

export interface Contents {
  readonly advertisers: readonly Entry[];
  readonly events: readonly Entry[];
  /** Labels of sets whose ids are secret as a whole, so that nothing can be told of their members. */
  readonly secretSets: readonly string[];
}

/** @param resources of one stack, in any order. What was replaced and stands there still is left out. */
export function contentsOf(resources: readonly Resource[]): Contents {
  const current = resources.filter((each) => each.delete !== true);
  const secretSets: string[] = [];
  const found = current.flatMap((resource): Found[] => {
    if (setOfType(resource.type) === undefined) return singleIn(resource);
    if (isSecret(resource.outputs?.eventIds)) {
      secretSets.push(nameInUrn(resource.urn));
      return [];
    }
    return membersIn(resource);
  });
  const named = (kind: Entry["kind"]) => withKeys(found.filter((each) => each.kind === kind));
  return { advertisers: named("Advertiser"), events: named("ConversionEvent"), secretSets };
}

/** Before it is known whether its name is unique. */
interface Found extends Omit<Entry, "key"> {
  /** From the shortest to the one that no other has. */
  readonly candidates: readonly string[];
}

function singleIn({ urn, type, id, outputs = {}, parent }: Resource): Found[] {
  const kind = kindOfType(type);
  if (kind === undefined) return [];
  const unresolved = recordIn(kind, outputs);
  return [
    {
      kind: kind.name,
      candidates: candidatesFor(urn, parent),
      urn,
      id: idIn(id),
      unresolved: unresolved === undefined ? undefined : { since: unresolved.at, what: unresolved.what ?? "" },
      values: valuesIn(kind.outputs, (name) => own(outputs, name)),
      isEarlier: false,
    },
  ];
}

function membersIn({ urn, outputs = {}, parent }: Resource): Found[] {
  const areSecret = isSecret(outputs.events);
  const stored = readStoredSet(areSecret ? { ...outputs, events: undefined } : outputs);
  const keys = new Set([...stored.events.keys(), ...stored.eventIds.keys(), ...stored.unresolved.keys()]);
  const { outputs: names } = conversionEvent;
  return [...keys].map((key) => {
    const entry = stored.events.get(key) ?? {};
    const unresolved = stored.unresolved.get(key);
    const sentName = unresolved?.name === undefined ? {} : { eventName: unresolved.name };
    return {
      kind: "ConversionEvent",
      candidates: candidatesFor(urn, parent).map((name) => `${name}/${key}`),
      urn: memberOf(urn, key),
      id: idIn(stored.eventIds.get(key)),
      unresolved: unresolved === undefined ? undefined : { since: unresolved.at, what: unresolved.what ?? "" },
      values: valuesIn(names, (name) => {
        if (areSecret || isSecret(entry)) return name === "advertiserId" ? stored.advertiserId : SECRET;
        if (name === "advertiserId") return stored.advertiserId;
        const given = own(entry, name) ?? own(sentName, name) ?? own(unresolved?.facts, name);
        return given ?? (isSecret(stored.defaults) ? SECRET : own(stored.defaults, name));
      }),
      isEarlier: stored.earlier.has(key),
    };
  });
}

function valuesIn(names: readonly string[], read: (name: string) => unknown): Record<string, Shown> {
  const values: Record<string, Shown> = {};
  for (const name of names) {
    const value = plainOf(read(name));
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** Whether Pulumi marked it as a secret. */
function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, SECRET_SIGNATURE);
}

/** @returns {@link SECRET} where it is a secret or holds one; nothing where there is no value. */
function plainOf(value: unknown): Shown | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === SECRET || holdsSecret(value)) return SECRET;
  return value as Shown;
}

function holdsSecret(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isSecret(value) || Object.values(value).some(holdsSecret);
}

/** Of the platform; an unresolved create has none. */
function idIn(id: string | undefined): string | undefined {
  return isPlatformId(id) ? id : undefined;
}

function candidatesFor(urn: string, parent: string | undefined): string[] {
  const name = nameInUrn(urn);
  return [name, ...(parent === undefined ? [] : [`${nameInUrn(parent)}/${name}`]), urn];
}

/** Each under the shortest of its names that no other one has. */
function withKeys(found: readonly Found[]): Entry[] {
  const holders = new Map<string, number>();
  for (const { candidates } of found) {
    for (const name of new Set(candidates)) holders.set(name, (holders.get(name) ?? 0) + 1);
  }
  return found.map(({ candidates, ...entry }) => ({
    ...entry,
    key: candidates.find((name) => holders.get(name) === 1) ?? entry.urn,
  }));
}

/** The advertisers by their ids, for reports that tell whose an event is. */
export function advertisersById({ advertisers }: Contents): ReadonlyMap<string, Entry> {
  return new Map(advertisers.flatMap((each) => (each.id === undefined ? [] : [[each.id, each] as const])));
}

/** The name on the platform, as a report may show it; empty where it is not known. */
export function nameOf({ kind, values }: Pick<Entry, "kind" | "values">): string {
  return shown(values[kindNamed(kind).nameProperty]);
}

/** For people: `secret` in parentheses, which no name is, or the value on one line. */
export function shown(value: Shown | undefined): string {
  if (value === undefined) return "";
  if (value === SECRET) return "(secret)";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** CSV as RFC 4180 describes it. @param rows the first of them the header. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

/**
 * A spreadsheet carries out a cell that begins like a formula: an apostrophe keeps it text. Spreadsheets of many countries
 * separate cells by semicolons, even inside of quotation marks, so that each part of a text may become a cell's beginning.
 */
function cell(text: string): string {
  const safe = text.replace(/(^|[;\t\r\n])(?=[=+\-@\t\r])/g, "$1'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
