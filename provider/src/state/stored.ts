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
import { displayName, type Kind, type ResourceName } from "../kinds/index.js";
import { memberOf, type objectKey, type ResourceRef, refOf } from "./names.js";

/** A create that was sent: the same in the journal, the state (`unresolved`) and messages. Nothing in it is secret. */
export interface CreateRecord {
  /** When it was sent last, ISO 8601; empty if that is not known. */
  at: string;
  /** Whether that is only the latest moment, because only Pulumi's record knows of it. */
  atLatest?: boolean | undefined;
  mark: string;
  /** Its fingerprint; empty if that is not known. */
  body: string;
  /** The request field that the mark was sent in; absent if it was not sent. */
  field?: string | undefined;
  /** The object's name on the platform; absent if it is secret. */
  name?: string | undefined;
  /** The arguments that distinguish the object from others for people, by their names in the program. */
  facts?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The id of the object that it was to replace. */
  replaces?: string | undefined;
}

/** One whose outcome nobody knows, as the state keeps it. */
export interface Unresolved extends CreateRecord {
  /** What was sent and what came back, scrubbed. */
  what: string;
  /** What the last search for it found, scrubbed; the next one replaces it. */
  searched?: string | undefined;
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

/**
 * A set member's mark follows from the set's: the engine's record of an interrupted run is enough to search for it.
 * @param given in the resource's inputs, if anything. @param ofResource what it has otherwise.
 */
export function markOfCreate(
  given: string | undefined,
  ofResource: string,
  member: string | undefined,
  replaces: string | undefined,
): string {
  if (member === undefined) return given ?? markOf(ofResource, replaces);
  return markOf(given ?? ofResource, memberOf("events", member), replaces);
}

/** The mark in a resource's inputs, and the request field that it is sent in. */
export function markIn({
  [MARK]: text,
}: Values): Pick<CreateRecord, "field" | "mark"> | undefined {
  const [field, mark] = String(text).split(" ");
  return mark === undefined ? undefined : { field, mark };
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
/** What was really sent for an object, if the program changed meanwhile ({@link SentAs}). An output only. */
export const SENT_AS = "__sentAs";
/** What replacements have left live on the platform; an output only. */
export const LEFT_LIVE = "__left";
/** The record of a create of unknown outcome; an output only. */
export const UNRESOLVED = "unresolved";
/** Creates whose outcome became known: another machine's journal may have them as open. An output only. */
export const RESOLVED = "__resolved";
/**
 * Names the run that sends a create: an input only, for Pulumi's record of an interrupted run. It begins with the run's
 * moment, ISO 8601, so that a create can be told from one that was resolved before.
 */
export const RUN = "__run";

/** The text that stands for a value that is not known yet in a preview (measured with engine 3.259.0). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Whose inputs these are; undefined if they don't say it. */
export function refOfInputs(
  resource: ResourceName,
  inputs: Values | undefined,
): ResourceRef | undefined {
  const identity = own(inputs, IDENTITY);
  return typeof identity === "string" ? refOf(resource, identity) : undefined;
}

export function secretArgumentsIn({
  [SECRET_ARGUMENTS]: names,
}: Values): ReadonlySet<string> {
  return new Set(listIn<string>(names));
}

/** The outputs that let a refresh return inputs. */
export function keptForRead(inputs: Values): Values {
  const names = [IDENTITY, SECRET_ARGUMENTS, MARK, DELETES, RUN];
  const kept = Object.entries(inputs).filter(([name]) => names.includes(name));
  return { [HIDDEN_INPUTS]: withoutUndefined(Object.fromEntries(kept)) };
}

/** What {@link keptForRead} has kept in the outputs of a resource, if anything. */
export function hiddenInputsIn({ [HIDDEN_INPUTS]: hidden }: Values): Values | undefined {
  return hidden as Values | undefined;
}

/** A resource's inputs with these arguments; `undefined` if the state lacks the hidden ones. */
export function inputsFrom(outputs: Values, args: Values): Values | undefined {
  const hidden = hiddenInputsIn(outputs);
  return hidden && { ...args, ...hidden };
}

/** Whether the outputs lack what a refresh needs to name an object and to hide its secrets. Only with a known read. */
export function lacksForRead(outputs: Values, inputs: Values): boolean {
  const hidden = hiddenInputsIn(outputs);
  if (!hidden) return true;
  return !secretArgumentsIn(inputs).isSubsetOf(secretArgumentsIn(hidden));
}

/** Whether the state names its objects' account. If not, an id may be another account's: nothing is deleted. */
export function isOfKnownAccount(outputs: Values | undefined): boolean {
  return typeof outputs?.[ACCOUNT] === "string";
}

/** One sending of a create: a create that is sent again keeps its mark. */
export function sendingOf({ mark, at }: Pick<CreateRecord, "mark" | "at">): string {
  return `${mark} ${at}`;
}

/** The sendings whose outcome became known, as {@link sendingOf} names them. */
export function resolvedIn({ [RESOLVED]: sendings }: Values): readonly string[] {
  return listIn(sendings).map(String);
}

/** Whether something happened after a run had begun. @param run names it, as {@link RUN} does. @param at ISO 8601. */
export function isSinceRun(run: string, at: string): boolean {
  return at >= run.slice(0, run.indexOf(" "));
}

/** What the program process says of a resource to the provider's: the value that the program gives {@link IDENTITY}. */
export interface ProgramContext {
  identity: string;
  /** On each resource, because the engine may ask about any of them first, and in a targeted run about no other. */
  run?: {
    isUp: boolean;
    /** How many resources the program has declared so far, with this batch. */
    resources: number;
  };
  /** The keys that the resource had before, by its aliases. */
  formerKeys?: readonly string[] | undefined;
  /** Keys of other objects that the program declares with the platform name of this one, or of one of its members. */
  sameNamed?: readonly string[] | undefined;
  /** Whether the option `retainOnDelete` is off, if a delete is known. */
  deletes?: boolean | undefined;
  /** All objects that the program adopts, each as {@link objectKey} names it, separated by commas. */
  adopted?: string | undefined;
}

/** @returns nothing for a resource that was not created with this package's classes. */
export function readProgramContext(value: unknown): ProgramContext | undefined {
  const context = typeof value === "string" ? { identity: value } : asRecord(value);
  if (typeof context.identity === "string") return context as unknown as ProgramContext;
  return undefined;
}

export interface LeftLive {
  id: string;
  /** When it left the state, ISO 8601. */
  at: string;
  /** Its name on the platform; absent if it is secret. */
  name?: string | undefined;
  key?: string | undefined;
}

export function leftLiveIn({ [LEFT_LIVE]: list }: Values): readonly LeftLive[] {
  return listIn(list);
}

/** What is known of an object that the arguments beside it do not describe. */
export interface SentAs {
  /** The fingerprint of the body that it has. */
  body: string;
  /** Its advertiser's id, in digits, if it may be shown. */
  owner?: string | undefined;
  /** Whether a failed update may have changed it since. */
  isUnsure?: boolean | undefined;
}
