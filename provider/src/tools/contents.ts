/**
 * The advertisers and conversion events that a stack's state has, whatever resources they are declared with ({@link objectsIn}), and as reports
 * show them ({@link contentsOf}): what is secret in the state is called secret, and never shown. Pure.
 */
import { natural, own, type Values } from "../base/index.js";
import { advertiser, conversionEvent, type Kind, kindOfType, type ResourceName, setOfType } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  EARLIER,
  keyOf,
  memberInReports,
  memberOf,
  nameInUrn,
  readStoredSet,
  type StoredSet,
  type Unresolved,
  unresolvedIn,
} from "../state/index.js";
import type { Resource } from "./stack-export.js";

/** One object of the platform that a state is about: a single resource, or a member of a set. */
export interface StoredObject {
  readonly kind: Kind;
  /** Of a member, with its key behind it. */
  readonly urn: string;
  /** In this machine's memory. */
  readonly memoryKey: string;
  readonly resource: Resource;
  /** Of a member: its set, as it is stored, and its key there. */
  readonly in?: { readonly set: StoredSet; readonly key: string };
  /** The platform's, in digits; none where no create is known to have arrived. */
  readonly id: string | undefined;
  readonly record: Unresolved | undefined;
}

/** The objects that these resources manage. What is only read (`.get`) is another one's, or nobody's. */
export function objectsIn(resources: readonly Resource[]): StoredObject[] {
  return resources.filter(({ external }) => external !== true).flatMap(storedIn);
}

/** Of what is secret as a whole nothing is shown. */
function storedIn(resource: Resource): StoredObject[] {
  const { urn, type, id, outputs = {} } = resource;
  const kind = kindOfType(type);
  if (kind !== undefined) {
    const held = isPlatformId(id) ? id : undefined;
    return [{ kind, urn, memoryKey: keyOfUrn(kind.name, urn), resource, id: held, record: unresolvedIn(outputs) }];
  }
  const setKind = setOfType(type);
  if (setKind === undefined) return [];
  const { events, eventIds, ...rest } = outputs;
  const plain = { events: isSecret(events) ? {} : events, eventIds: isSecret(eventIds) ? {} : eventIds };
  const set = readStoredSet({ ...rest, ...plain });
  const keys = new Set([...set.events.keys(), ...set.eventIds.keys(), ...set.unresolved.keys()]);
  return [...keys].map((key) => {
    const [held, record, at] = [set.eventIds.get(key), set.unresolved.get(key), memberOf(urn, key)];
    const memoryKey = memberOf(keyOfUrn(setKind.name, urn), key);
    const place = { urn: at, memoryKey, resource, in: { set, key } };
    return { kind: setKind.member, ...place, id: isPlatformId(held) ? held : undefined, record };
  });
}

/** The key that a resource has in the memory; its URN is `urn:pulumi:<stack>::<project>::<types>::<name>`. */
export function keyOfUrn(resource: ResourceName, urn: string): string {
  const parents = (urn.split("::", 3)[2] ?? "").split("$").slice(0, -1);
  return keyOf(resource, { name: nameInUrn(urn), parentTypes: parents.length === 0 ? undefined : parents.join("$") });
}

/** The key with which Pulumi marks secret values in an exported stack: Pulumi's own contract. */
export const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

/** As a whole. */
export function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, SECRET_SIGNATURE);
}

export function holdsSecret(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(`"${SECRET_SIGNATURE}":`);
}

/** Stands for a value that must not be shown. */
export const SECRET: unique symbol = Symbol("secret");

export type Shown = string | number | boolean | typeof SECRET | Values;

/** One object of the platform, or one whose create has an unknown outcome. */
export interface Entry extends StoredObject {
  /** Unique among the stack's objects of its kind: the resource's name; of a set's member, `<set>/<key>`. */
  readonly key: string;
  /** Arguments by their names in programs; what is not set is absent. */
  readonly values: Readonly<Record<string, Shown>>;
  /** Whether it lives with other arguments than these, which are only declared. */
  readonly isEarlier: boolean;
}

export interface Contents {
  /** In natural order. */
  readonly advertisers: readonly Entry[];
  readonly events: readonly Entry[];
  /** The keys of the advertisers by their ids, for reports that say whose an event is. */
  readonly advertiserKeys: ReadonlyMap<string, string>;
  /** Labels of sets whose ids are secret as a whole, so that nothing is known of their members. */
  readonly secretSets: readonly string[];
}

/**
 * @param resources of one stack, in any order. What was replaced is left out, though the state holds it until the next run; what is only read
 * (`.get`) is not. What awaits its replacement (`deleteBeforeReplace`) has no id until then.
 */
export function contentsOf(resources: readonly Resource[]): Contents {
  const current = resources.filter((each) => each.delete !== true);
  const isHidden = ({ type, outputs }: Resource) => setOfType(type) !== undefined && isSecret(outputs?.eventIds);
  const found = current.filter((each) => !isHidden(each)).flatMap(storedIn);
  const entriesOf = (kind: Kind) => withKeys(found.filter((each) => each.kind === kind));
  const advertisers = entriesOf(advertiser);
  return {
    advertisers,
    events: entriesOf(conversionEvent),
    advertiserKeys: new Map(advertisers.map(({ resource: { id = "" }, key }) => [id, key])),
    secretSets: current.filter(isHidden).map(({ urn }) => nameInUrn(urn)),
  };
}

/** Prints which sets' events nothing can be said of. @param consequence a clause. */
export function warnOfSecretSets({ secretSets }: Contents, consequence: string): void {
  for (const set of secretSets) {
    console.error(`Warning: the ids of the set ${set} are secret in the state, ${consequence}`);
  }
}

/** As people count: `event-2` before `event-10`. */
export function inNaturalOrder<T>(items: Iterable<T>, textOf: (item: T) => string): T[] {
  return [...items].sort((a, b) => natural(textOf(a), textOf(b)) || (textOf(a) < textOf(b) ? -1 : 1));
}

/** Each under the shortest of its names that no other one has. */
function withKeys(found: readonly StoredObject[]): Entry[] {
  const namesOf = ({ resource: { urn, parent }, in: place }: StoredObject) => {
    const name = nameInUrn(urn);
    const names = [name, ...(parent === undefined ? [] : [`${nameInUrn(parent)}/${name}`]), urn];
    return place === undefined ? names : names.map((each) => memberInReports(each, place.key));
  };
  const holders = new Map<string, number>();
  for (const object of found) {
    for (const name of new Set(namesOf(object))) holders.set(name, (holders.get(name) ?? 0) + 1);
  }
  const entries = found.map((object) => ({
    ...object,
    id: object.resource.pendingReplacement === true ? undefined : object.id,
    key: namesOf(object).find((name) => holders.get(name) === 1) ?? object.urn,
    values: valuesOf(object),
    isEarlier: object.in
      ? object.in.set.earlier.has(object.in.key)
      : own(object.resource.outputs, EARLIER) !== undefined,
  }));
  return inNaturalOrder(entries, ({ key }) => key);
}

function valuesOf(object: StoredObject): Record<string, Shown> {
  const read = readerOf(object);
  const values: Record<string, Shown> = {};
  for (const name of object.kind.outputs) {
    const value = read(name);
    if (value === undefined || value === null) continue;
    values[name] = value === SECRET || holdsSecret(value) ? SECRET : (value as Shown);
  }
  return values;
}

/** What an argument is, or was when the object was sent. */
function readerOf({ kind, resource: { outputs = {} }, in: place, record }: StoredObject): (name: string) => unknown {
  if (place === undefined) return (name) => own(outputs, name);
  const { advertiserId, defaults, events } = place.set;
  const entry = events.get(place.key) ?? {};
  const areSecret = isSecret(outputs.events) || isSecret(entry);
  return (name) => {
    if (name === "advertiserId") return advertiserId;
    if (areSecret) return SECRET;
    const [given, sent] = [own(entry, name), name === kind.nameProperty ? record?.name : own(record?.facts, name)];
    if (given !== undefined) return given;
    return sent ?? (isSecret(defaults) ? SECRET : own(defaults, name));
  };
}

/** The name on the platform, as a report may show it; empty where it is not known. */
export function nameOf({ kind, values }: Entry): string {
  return shown(values[kind.nameProperty]);
}

/** For people: `secret` in parentheses, which no name is, or the value on one line. */
export function shown(value: Shown | undefined): string {
  if (value === undefined) return "";
  if (value === SECRET) return "(secret)";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** JSON as people read it, with a line break at its end. */
export function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
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
