/**
 * What is stored beside arguments, or crosses between the two processes. The engine hides properties whose names begin
 * with two underscores from previews. Pure.
 */
import { createHash } from "node:crypto";
import {
  asRecord,
  isPlain,
  listIn,
  own,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import { displayName, type Kind } from "../kinds/index.js";
import { memberOf, type objectKey } from "./names.js";

type PlainValues = Readonly<Record<string, string | number | boolean>>;

/** A create that was sent: the same in the journal, the state (`unresolved`) and messages. Nothing in it is secret. */
export interface CreateRecord {
  /** When it was sent last, ISO 8601; empty if that is not known. */
  readonly at: string;
  readonly mark: string;
  /** Its fingerprint; empty if that is not known. */
  readonly body: string;
  /** The request field that the mark was sent in; absent if it was not sent. */
  readonly field?: string | undefined;
  /** The object's name on the platform; absent if it is secret. */
  readonly name?: string | undefined;
  /** The arguments that distinguish the object from others for people, by their names in the program. */
  readonly facts?: PlainValues | undefined;
  /** The id of the object that it was to replace. */
  readonly replaces?: string | undefined;
}

/** One whose outcome nobody knows, as the state keeps it. */
export interface Unresolved extends CreateRecord {
  /** What was sent and what came back, scrubbed. */
  readonly what: string;
  /** What the last search for it found, scrubbed; the next one replaces it. */
  readonly searched?: string | undefined;
}

/** The name and the arguments that tell an object of this kind from others, without secret and unknown ones. */
export function identifyingIn(kind: Kind, properties: Values, secret: ReadonlySet<string>) {
  const facts: Record<string, string | number | boolean> = {};
  for (const property of kind.identifyingProperties) {
    const value = properties[property];
    if (isPlain(value) && !secret.has(property)) facts[property] = value;
  }
  return { name: displayName(kind, properties, secret), facts };
}

/**
 * The mark of a create: each machine that sends it for the same resource, in place of the same object, sends the same
 * one. So a search finds what any of several interrupted runs made.
 * @param of what distinguishes it from all other creates: the backend, the stack, the key, and the id that it replaces.
 * @returns in the form of a UUID.
 */
export function markOf(...of: readonly (string | undefined)[]): string {
  const hash = createHash("sha256").update(JSON.stringify(of)).digest("hex");
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

/** A set member's mark follows from the set's: the engine's record of an interrupted run is enough to search for it. */
export function memberMark(
  ofSet: string,
  member: string,
  replaces: string | undefined,
): string {
  return markOf(ofSet, memberOf("events", member), replaces);
}

/** @param given in the resource's inputs, if anything. @param ofResource what it has otherwise. */
export function markOfCreate(
  given: string | undefined,
  ofResource: string,
  member: string | undefined,
  replaces: string | undefined,
): string {
  if (member !== undefined) return memberMark(given ?? ofResource, member, replaces);
  return given ?? markOf(ofResource, replaces);
}

interface FieldAndMark {
  readonly field: string;
  readonly mark: string;
}

export function readMark(text: unknown): FieldAndMark | undefined {
  if (typeof text !== "string") return undefined;
  const match = /^(?<field>\S+) (?<mark>\S+)$/.exec(text);
  return match?.groups as FieldAndMark | undefined;
}

/** The reference that the engine's dynamic-provider process loads; written by `program/program.ts`. */
export const PROVIDER = "__provider";
/** Which resource of which stack this is, so that a create differs from all others; an input only. */
export const IDENTITY = "__identity";
/** The installation and account that an object belongs to; an output only. */
export const ACCOUNT = "__at";
/** When an object was created, ISO 8601; for a set, its last one. An output, if only then absence proves something. */
export const CREATED = "__created";
/** The names of the arguments that are secret or have a part that is, if there are any; an input only. */
export const SECRET_ARGUMENTS = "__secret";
/** An input only, for the engine's record of an interrupted run: a create's `<field> <mark>`, if one is kept. */
export const MARK = "__mark";
/** `retainOnDelete` is off and a delete is known: an input only, as the engine deletes by the option in its state. */
export const DELETES = "__delete";
/** The hidden inputs, for a refresh: it gets no inputs and returns those it found. An output, if a read is known. */
const HIDDEN_INPUTS = "__inputs";
/** What was really sent for an object, if the program changed meanwhile: see {@link sentAsText}. An output only. */
export const SENT_AS = "__sentAs";
/** What replacements have left live on the platform; an output only. */
export const LEFT_LIVE = "__left";
/** In a set's entry: the key that its event had before. */
const FORMER_KEY = "formerKey";
/** The record of a create of unknown outcome; an output only. */
export const UNRESOLVED = "unresolved";
/** Creates whose outcome became known: another machine's journal may have them as open. An output only. */
const RESOLVED = "__resolved";
/** Names the run that sends a create ({@link nameOfRun}): an input only, for Pulumi's record of an interrupted run. */
export const RUN = "__run";

/** The text that stands for a value that is not known yet in a preview (measured with engine 3.259.0). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export function secretArgumentsIn({ [SECRET_ARGUMENTS]: names }: Values): ReadonlySet<string> {
  return new Set(listIn<string>(names));
}

const KEPT_FOR_READ = [IDENTITY, SECRET_ARGUMENTS, MARK, DELETES, RUN];

/** The outputs that let a refresh return inputs. */
export function keptForRead(inputs: Values): Values {
  const kept = KEPT_FOR_READ.map((name) => [name, inputs[name]]);
  return { [HIDDEN_INPUTS]: withoutUndefined(Object.fromEntries(kept)) };
}

/** What {@link keptForRead} has kept in the outputs of a resource, if anything. */
export function hiddenInputsIn({ [HIDDEN_INPUTS]: hidden }: Values): Values | undefined {
  if (hidden === undefined) return undefined;
  return asRecord(hidden);
}

/** A resource's inputs with these arguments; `undefined` if the state lacks the hidden ones. */
export function inputsFrom(outputs: Values, args: Values): Values | undefined {
  const hidden = hiddenInputsIn(outputs);
  return hidden && { ...args, ...hidden };
}

/** Whether the outputs lack what a refresh needs to name an object and to hide its secrets. Only with a known read. */
export function lacksForRead(outputs: Values, inputs: Values): boolean {
  const hidden = hiddenInputsIn(outputs);
  if (hidden === undefined) return true;
  const known = secretArgumentsIn(hidden);
  return [...secretArgumentsIn(inputs)].some((name) => !known.has(name));
}

/** Whether the state names its objects' account. If not, an id may be another account's: nothing is deleted. */
export function isOfKnownAccount(outputs: Values | undefined): boolean {
  return typeof outputs?.[ACCOUNT] === "string";
}

export function unresolvedIn(properties: Values): Unresolved | undefined {
  const stored = own(properties, UNRESOLVED);
  if (typeof own(stored, "mark") === "string") return stored as Unresolved;
  return undefined;
}

/** One sending of a create: a create that is sent again keeps its mark. */
export function sendingOf({ mark, at }: Pick<CreateRecord, "mark" | "at">): string {
  return `${mark} ${at}`;
}

/** The sendings whose outcome became known, as {@link sendingOf} names them. */
export function resolvedIn({ [RESOLVED]: sendings }: Values): readonly string[] {
  return listIn(sendings).map(String);
}

/** @param began when, ISO 8601, so that a create can be told from one that was resolved before. */
export function nameOfRun(began: string, unique: string): string {
  return `${began} ${unique}`;
}

/** Whether something happened after a run had begun. @param at ISO 8601. */
export function isSinceRun(run: string, at: string): boolean {
  const [began = ""] = run.split(" ", 1);
  return at >= began;
}

/** What the program process says of a resource to the provider's: the value that the program gives {@link IDENTITY}. */
export interface ProgramContext {
  readonly identity: string;
  /** On each resource, because the engine may ask about any of them first, and in a targeted run about no other. */
  readonly run?: {
    readonly isUp: boolean;
    /** How many resources the program has declared so far, with this batch. */
    readonly resources: number;
  };
  /** The keys that the resource had before, by its aliases. */
  readonly formerKeys?: readonly string[] | undefined;
  /** Keys of other objects that the program declares with the platform name of this one, or of one of its members. */
  readonly namesakes?: readonly string[] | undefined;
  /** Whether the option `retainOnDelete` is off, if a delete is known. */
  readonly deletes?: boolean | undefined;
  /** All objects that the program adopts and knows, each as {@link objectKey} names it, separated by commas. */
  readonly adopted?: string | undefined;
  /** Whether the program adopts objects of its kind by ids not known yet: only for a resource that may delete. */
  readonly adoptsLater?: boolean | undefined;
}

/** @returns nothing for a resource that was not created with this package's classes. */
export function readProgramContext(value: unknown): ProgramContext | undefined {
  const context = typeof value === "string" ? { identity: value } : asRecord(value);
  if (typeof context.identity === "string") return context as unknown as ProgramContext;
  return undefined;
}

export interface LeftLive {
  readonly id: string;
  /** When it left the state, ISO 8601. */
  readonly at: string;
  /** Its name on the platform; absent if it is secret. */
  readonly name?: string | undefined;
  readonly key?: string | undefined;
}

export function leftLiveIn({ [LEFT_LIVE]: list }: Values): readonly LeftLive[] {
  return listIn<LeftLive>(list).filter((object) => typeof own(object, "id") === "string");
}

/** What is known of an object that the arguments beside it do not describe. */
export interface SentAs {
  /** The fingerprint of the body that it has. */
  readonly body: string;
  /** Its advertiser's id, in digits, if it may be shown. */
  readonly owner?: string | undefined;
}

export function sentAsText({ body, owner }: SentAs): string {
  if (owner === undefined) return body;
  return `${body} ${owner}`;
}

export function sentAsIn(text: unknown): SentAs | undefined {
  if (typeof text !== "string") return undefined;
  const [body = "", owner] = text.split(" ");
  return { body, owner };
}

/** A set as it is declared: checked inputs, of which any may not be known yet; then there are no events. */
export interface DeclaredSet {
  readonly advertiserId: unknown;
  /** Undefined for a single resource, which is read as a set of one. */
  readonly defaults: unknown;
  /** Undefined if they are not known yet. */
  readonly events: ReadonlyMap<string, unknown> | undefined;
  readonly formerKeys: ReadonlyMap<string, string>;
}

export function readDeclaredSet({ advertiserId, defaults = {}, events }: Values): DeclaredSet {
  const entries = events === UNKNOWN ? undefined : mapOf(events, withoutFormerKey);
  return { advertiserId, defaults, events: entries, formerKeys: mapOf(events, formerKeyIn) };
}

/** A former key says where an event comes from, and is no argument of it. */
function withoutFormerKey(entry: unknown): unknown {
  if (own(entry, FORMER_KEY) === undefined) return entry;
  const { [FORMER_KEY]: _, ...others } = asRecord(entry);
  return others;
}

function formerKeyIn(entry: unknown): string | undefined {
  const key = own(entry, FORMER_KEY);
  if (typeof key === "string" && key !== UNKNOWN) return key;
  return undefined;
}

/**
 * A stored set with each event under the key that the program gives it now. An event that the state already has under
 * its new key stays what it is: a `formerKey` may remain in the program.
 * @returns also which former key each moved event had, by its new key.
 */
export function withFormerKeysApplied(stored: StoredSet, { events, formerKeys }: DeclaredSet) {
  const isStored = (key: string) => stored.eventIds.has(key) || stored.unresolved.has(key);
  const moved = new Map<string, string>();
  const newKeys = new Map<string, string>();
  for (const [key, former] of formerKeys) {
    if (isStored(key) || !isStored(former) || events?.has(former) === true) continue;
    moved.set(key, former);
    newKeys.set(former, key);
  }
  if (moved.size === 0) return { set: stored, moved };
  const keyNow = (key: string) => newKeys.get(key) ?? key;
  const renamed = <T>(map: ReadonlyMap<string, T>) =>
    new Map(Array.from(map, ([key, value]) => [keyNow(key), value]));
  const set: StoredSet = {
    ...stored,
    events: renamed(stored.events),
    eventIds: renamed(stored.eventIds),
    sentAs: renamed(stored.sentAs),
    unresolved: renamed(stored.unresolved),
    left: stored.left.map((object) =>
      object.key === undefined ? object : { ...object, key: keyNow(object.key) },
    ),
  };
  return { set, moved };
}

/** What the state has of a resource, by the keys of its objects. The caller's own, which may be changed. */
export interface StoredSet extends Pick<DeclaredSet, "advertiserId" | "defaults"> {
  /** The entry with which each object was created or adopted; perhaps empty for one that is not described. */
  readonly events: Map<string, Values>;
  readonly eventIds: Map<string, string>;
  /** Of the objects that their entries and the set's present arguments do not describe. */
  readonly sentAs: Map<string, SentAs>;
  readonly unresolved: Map<string, Unresolved>;
  /** When it last created an object, ISO 8601; undefined if that is not known. */
  created: string | undefined;
  left: readonly LeftLive[];
  /** Sendings whose outcome became known, as {@link sendingOf} names them. */
  resolved: readonly string[];
}

/** @returns an empty set if nothing is stored. The maps are the caller's to change. */
export function readStoredSet(outputs: Values): StoredSet {
  const { advertiserId, defaults = {}, events, eventIds, sentAs } = outputs;
  return {
    advertiserId,
    defaults,
    events: mapOf(events, asRecord),
    eventIds: mapOf(eventIds, String),
    sentAs: mapOf(sentAs, sentAsIn),
    unresolved: mapOf(outputs[UNRESOLVED], (record) => record as Unresolved),
    ...commonOutputsIn(outputs),
  };
}

/** What the outputs of single resources and sets have alike. */
export function commonOutputsIn(
  outputs: Values,
): Pick<StoredSet, "created" | "left" | "resolved"> {
  const created = outputs[CREATED];
  return {
    created: typeof created === "string" ? created : undefined,
    left: leftLiveIn(outputs),
    resolved: resolvedIn(outputs),
  };
}

export function writeCommonOutputs(
  { created, left, resolved }: StoredSet,
  account: string,
): Values {
  return {
    [CREATED]: created,
    [LEFT_LIVE]: left.length === 0 ? undefined : left,
    [RESOLVED]: resolved.length === 0 ? undefined : resolved,
    [ACCOUNT]: account || undefined,
  };
}

/** Undefined where there is nothing. @param asId makes an output of an id. @param account empty if it is not known. */
export function writeStoredSet(
  stored: StoredSet,
  asId: (digits: string) => number | string,
  account: string,
): Values {
  const { advertiserId, defaults, events, eventIds, sentAs, unresolved } = stored;
  return {
    advertiserId,
    defaults,
    events: Object.fromEntries(events),
    eventIds: recordFrom(eventIds, asId),
    sentAs: sentAs.size === 0 ? undefined : recordFrom(sentAs, sentAsText),
    [UNRESOLVED]: unresolved.size === 0 ? undefined : Object.fromEntries(unresolved),
    ...writeCommonOutputs(stored, account),
  };
}

function mapOf<T>(stored: unknown, read: (value: unknown) => T | undefined): Map<string, T> {
  const map = new Map<string, T>();
  for (const [key, value] of Object.entries(asRecord(stored))) {
    const entry = read(value);
    if (entry !== undefined) map.set(key, entry);
  }
  return map;
}

function recordFrom<T, U>(
  map: ReadonlyMap<string, T>,
  write: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Array.from(map, ([key, value]) => [key, write(value)]));
}

/** An event's complete arguments: its entry's before the set's defaults; `null` removes a default. */
export function completeArguments(
  { advertiserId, defaults }: SharedArguments,
  entry: Values,
): Values {
  if (defaults === undefined) {
    const { existingId: _, ...own } = entry; // a single resource shares nothing
    return own;
  }
  const shared = asRecord(defaults);
  const additionalFields = mergedFields(shared.additionalFields, entry.additionalFields);
  const event = { ...shared, ...entry, existingId: null, advertiserId, additionalFields };
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null));
}

type SharedArguments = Pick<DeclaredSet, "advertiserId" | "defaults">;

function mergedFields(shared: unknown, ofEntry: unknown): unknown {
  if (shared === UNKNOWN || ofEntry === UNKNOWN) return UNKNOWN;
  const fields = { ...asRecord(shared), ...asRecord(ofEntry) };
  if (Object.keys(fields).length === 0) return null;
  return fields;
}
