/**
 * The advertisers and conversion events that a stack's state has, whatever resources they are declared with ({@link objectsOf}), and as reports
 * show them ({@link contentsOf}): what is secret in the state is called secret, and never shown. Pure.
 */
import { own, type Values } from "../base/index.js";
import { Holders, knownAdoption, matchesCreate } from "../decision/index.js";
import { advertiser, conversionEvent, fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  type CreateRecord,
  eventIn,
  IDENTITY,
  journalKeyOf,
  memberInReports,
  memberOf,
  nameInUrn,
  objectKey,
  readBriefing,
  readStoredSet,
  recordIn,
  SECRET_SIGNATURE,
  type StoredSet,
  storedFingerprint,
  UNRESOLVED,
} from "../state/index.js";
import type { Live } from "../store/index.js";
import type { Resource } from "./stack-export.js";

/** One object of the platform that a state is about: a single resource, or a member of a set. */
export interface StoredObject {
  readonly kind: Kind;
  /** Of a member, with its key behind it. */
  readonly urn: string;
  readonly resource: Resource;
  /** Of a member: its set, as it is stored, and its key there. */
  readonly in?: { readonly set: StoredSet; readonly key: string };
  /** The platform's, in digits; none where no create is known to have arrived. */
  readonly id: string | undefined;
  readonly record: CreateRecord | undefined;
}

/** Those that manage what they have. What is only read (`.get`) is another one's, or nobody's: such a resource holds nothing. */
export function managing(resources: readonly Resource[]): Resource[] {
  return resources.filter(({ external }) => external !== true);
}

/** The objects that these resources manage, whatever they are declared with. */
export function objectsIn(resources: readonly Resource[]): StoredObject[] {
  return objectsOf(managing(resources));
}

/** What these resources have, or read; without the unresolved creates that the adoption of their objects has settled. */
function objectsOf(resources: readonly Resource[]): StoredObject[] {
  const all = resources.flatMap(storedIn);
  const holders = holdersOf(all);
  const adopting = new Map(all.flatMap((each) => (adoptsItself(each) ? [[each.urn, each]] : [])));
  /** In the run of that adoption something else failed, so that the engine has not removed the unresolved resource yet. */
  const isAdopted = ({ kind, urn, resource, record }: StoredObject) => {
    const now = resource.delete === true ? adopting.get(urn) : undefined;
    const sent = record && { ...record, kind: kind.name };
    return now && sent && matchesCreate(kind, now.id, readable(now.resource.inputs), sent);
  };
  return all.flatMap((each) => {
    const { kind, id, urn, record } = each;
    const isSettled = record && (holders.adoptedFor(kind, record, urn)?.isHeld === true || isAdopted(each));
    if (isSettled !== true) return [each];
    return id === undefined ? [] : [{ ...each, record: undefined }];
  });
}

function adoptsItself({ id, resource, in: place }: StoredObject): boolean {
  return place === undefined && resource.delete !== true && id !== undefined && knownAdoption(resource.inputs) === id;
}

/** What these resources have: each object as `objectKey` makes it, and the marks of their unresolved creates. */
export function heldIn(resources: readonly Resource[]): ReadonlySet<string> {
  return new Set(
    objectsIn(resources).flatMap(({ kind, id, record }) => [
      ...(id === undefined ? [] : [objectKey(kind.name, id)]),
      ...(record === undefined ? [] : [record.mark]),
    ]),
  );
}

/** Which of them have what they are about, once what is replaced has left the state. */
export function holdersOf(objects: readonly Omit<StoredObject, "record">[]): Holders {
  const holders = new Holders();
  for (const { kind, id, urn, resource, in: place } of objects) {
    if (id === undefined || resource.delete === true || resource.external === true) continue;
    const values = place === undefined ? resource.outputs : eventIn(place.set, place.set.events.get(place.key) ?? {});
    holders.add(kind.name, id, urn, "state", values);
  }
  return holders;
}

/** Of what is secret as a whole nothing is shown. */
function storedIn(resource: Resource): StoredObject[] {
  const { urn, type, id, inputs, outputs = {} } = resource;
  const kind = kindOfType(type);
  if (kind !== undefined) {
    const record = recordIn(kind, { ...readable(inputs), [UNRESOLVED]: outputs[UNRESOLVED] }, id);
    return [{ kind, urn, resource, id: isPlatformId(id) ? id : undefined, record }];
  }
  const member = setOfType(type)?.member;
  if (member === undefined) return [];
  const { events, eventIds, ...rest } = outputs;
  const plain = { events: isSecret(events) ? {} : events, eventIds: isSecret(eventIds) ? {} : eventIds };
  const set = readStoredSet({ ...rest, ...plain });
  const keys = new Set([...set.events.keys(), ...set.eventIds.keys(), ...set.unresolved.keys()]);
  return [...keys].map((key) => {
    const held = set.eventIds.get(key);
    const record = set.unresolved.get(key);
    const place = { kind: member, urn: memberOf(urn, key), resource, in: { set, key } };
    return { ...place, id: isPlatformId(held) ? held : undefined, record };
  });
}

/** Of the body that its object was created with. */
export function fingerprintIn({ kind, resource, in: place }: StoredObject): string {
  return place === undefined
    ? fingerprintOfBody(kind, resource.inputs ?? {})
    : storedFingerprint(kind, place.set, place.key);
}

/** What settled creates are known by afterwards: the key in the journal, and what an inventory holds. */
export function livesIn(
  resources: readonly Resource[],
  urns: ReadonlySet<string>,
): { readonly key: string; readonly live: Live }[] {
  return objectsIn(resources).flatMap((object) => {
    const { kind, urn, resource, in: place, id } = object;
    const identity = readBriefing(resource.inputs?.[IDENTITY])?.identity;
    if (!urns.has(urn) || resource.delete === true || id === undefined || identity === undefined) return [];
    const set = setOfType(resource.type);
    const ofResource = journalKeyOf(set?.name ?? kind.name, identity);
    const name = (place === undefined ? resource.inputs : place.set.events.get(place.key))?.[kind.nameProperty];
    const live = { id, fingerprint: fingerprintIn(object), ...(typeof name === "string" ? { name } : {}) };
    return [{ key: place === undefined ? ofResource : memberOf(ofResource, place.key), live }];
  });
}

function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, SECRET_SIGNATURE);
}

export function holdsSecret(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(`"${SECRET_SIGNATURE}":`);
}

/** Without secret values. */
export function readable(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(inputs ?? {}).filter(([, value]) => typeof value !== "object"));
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
  /** Whether the set's advertiser or defaults have changed since: `values` then says what is declared, not what lives. */
  readonly isEarlier: boolean;
}

export interface Contents {
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
  const found = objectsOf(current.filter((each) => !isHidden(each)));
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
  return found.map((object) => ({
    ...object,
    id: object.resource.pendingReplacement === true ? undefined : object.id,
    key: namesOf(object).find((name) => holders.get(name) === 1) ?? object.urn,
    values: valuesOf(object),
    isEarlier: object.in?.set.earlier.has(object.in.key) === true,
  }));
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
