/**
 * The properties that are stored beside arguments, or passed between the program process and the provider process.
 * Those whose names begin with two underscores are hidden from previews by the engine. Pure.
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

/**
 * A create that was sent, in one form for the journal, the state (`unresolved`) and messages. Nothing in it is secret.
 */
export interface CreateRecord {
  /** When the create was sent last, ISO 8601; empty if that is not known. */
  at: string;
  /** Whether `at` is only an upper bound: the create is known only from Pulumi's pending operations. */
  atLatest?: boolean | undefined;
  mark: string;
  /** The fingerprint of the request's body; empty if that is not known. */
  body: string;
  /** The request field that the mark was sent in; absent if it was not sent. */
  field?: string | undefined;
  /** The object's name on the platform; absent if it is secret. */
  name?: string | undefined;
  /** The arguments that distinguish the object from others for people, by their names in the program. */
  facts?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The id of the object that the create was to replace. */
  replaces?: string | undefined;
}

/** A create whose outcome nobody knows, as the state keeps it. */
export interface Unresolved extends CreateRecord {
  /** A sentence about what was sent and what came back, scrubbed. */
  what: string;
  /** A sentence about the last search for the create, scrubbed. */
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
 * The mark of a create. All machines that send this create (for the same resource, in place of the same object) compute
 * the same mark, so a search finds the object that any of several interrupted runs made.
 * @param of what distinguishes the create from all others: the backend, the stack, the key, the id that it replaces.
 * @returns in the form of a UUID.
 */
export function markOf(...of: readonly (string | undefined)[]): string {
  const hash = createHash("sha256").update(JSON.stringify(of)).digest("hex");
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

/**
 * The mark of a resource's or a member's create. A member's follows from the set's: so Pulumi's pending operation,
 * which has only the set's, is enough to search for the event.
 * @param given the mark in the resource's inputs, if any. @param ofResource the resource's mark otherwise.
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
/** Names the resource and its stack, so that its creates differ from all others; an input only. */
export const IDENTITY = "__identity";
/** The installation and account that an object belongs to; an output only. */
export const ACCOUNT = "__at";
/**
 * When the object (of a set: the latest) was created, ISO 8601: for a while after that, the platform may not find it.
 * An output; only if operations beside create are known.
 */
export const CREATED = "__created";
/** The names of the arguments that are secret or have a secret part, if there are any; an input only. */
export const SECRET_ARGUMENTS = "__secret";
/** `<field> <mark>` of a create, if `markField` is set. An input only: so Pulumi's pending operations contain it. */
export const MARK = "__mark";
/**
 * True if `retainOnDelete` is off and a delete is known. An input only: the engine deletes by the option in its state,
 * so the next run needs to know it.
 */
export const DELETES = "__delete";
/**
 * A copy of the hidden inputs: a refresh must return inputs, but is given only outputs. An output, if a read is known.
 */
const HIDDEN_INPUTS = "__inputs";
/** How the object was sent, if the arguments in the state do not describe it ({@link SentAs}). An output only. */
export const SENT_AS = "__sentAs";
/**
 * The objects that left the resource and stay live: they were replaced, removed from a set, or displaced by an answer
 * to `pending`. An output only.
 */
export const LEFT_LIVE = "__left";
/** The record of a create of unknown outcome; an output only. */
export const UNRESOLVED = "unresolved";
/** The creates whose outcome became known, since another machine's journal may have them as open. An output only. */
export const RESOLVED = "__resolved";
/**
 * The name of the run that sends a create. An input only: so Pulumi's pending operations contain it. It begins with the
 * time at which the run began, ISO 8601, by which a create can be told from one that was resolved before.
 */
export const RUN = "__run";

/** The text that stands for a value that is not known yet in a preview (measured with engine 3.259.0). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The resource that the inputs belong to; undefined if they don't name it. */
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

/** The output that lets a refresh return inputs. */
export function keptForRead(inputs: Values): Values {
  const names = [IDENTITY, SECRET_ARGUMENTS, MARK, DELETES, RUN];
  const kept = Object.entries(inputs).filter(([name]) => names.includes(name));
  return { [HIDDEN_INPUTS]: withoutUndefined(Object.fromEntries(kept)) };
}

/** The hidden inputs that {@link keptForRead} has put into a resource's outputs; undefined if there are none. */
export function hiddenInputsIn({ [HIDDEN_INPUTS]: hidden }: Values): Values | undefined {
  return hidden as Values | undefined;
}

/** A resource's inputs with these arguments; `undefined` if the state lacks the hidden ones. */
export function inputsFrom(outputs: Values, args: Values): Values | undefined {
  const hidden = hiddenInputsIn(outputs);
  return hidden && { ...args, ...hidden };
}

/** Whether the outputs lack the hidden inputs by which a refresh names an object and hides its secrets. */
export function lacksForRead(outputs: Values, inputs: Values): boolean {
  const hidden = hiddenInputsIn(outputs);
  if (!hidden) return true;
  return !secretArgumentsIn(inputs).isSubsetOf(secretArgumentsIn(hidden));
}

/** Whether the state names its objects' account. If not, nothing is deleted, since an id may be another account's. */
export function isOfKnownAccount(outputs: Values | undefined): boolean {
  return typeof outputs?.[ACCOUNT] === "string";
}

/** Names one sending of a create. The mark alone does not: a create that is sent again keeps it. */
export function sendingId({ mark, at }: Pick<CreateRecord, "mark" | "at">): string {
  return `${mark} ${at}`;
}

/** The sendings whose outcome became known, as {@link sendingId} names them. */
export function resolvedIn({ [RESOLVED]: sendings }: Values): readonly string[] {
  return listIn(sendings).map(String);
}

/** Whether a moment is after the beginning of a run. @param run its name, as in {@link RUN}. @param at ISO 8601. */
export function isSinceRun(run: string, at: string): boolean {
  return at >= run.slice(0, run.indexOf(" "));
}

/** Facts about a resource for the provider process: the program process gives them as the input {@link IDENTITY}. */
export interface ProgramContext {
  identity: string;
  /** On each resource, since the engine may ask about any of them first, and in a `--target` run about no other. */
  run?: {
    isUp: boolean;
    /** How many resources the program has declared so far, with this batch. */
    resources: number;
  };
  /** The resource's former keys, by its aliases. */
  formerKeys?: readonly string[] | undefined;
  /** Keys of other objects that the program declares with the platform name of this one, or of one of its members. */
  sameNamed?: readonly string[] | undefined;
  /** Whether the option `retainOnDelete` is off, if a delete is known. */
  deletes?: boolean | undefined;
  /** All objects that the program adopts, each as {@link objectKey} names it, separated by commas. */
  adopted?: string | undefined;
}

/** @returns undefined for a resource that was not declared with this package's classes. */
export function readProgramContext(value: unknown): ProgramContext | undefined {
  const context = typeof value === "string" ? { identity: value } : asRecord(value);
  if (typeof context.identity === "string") return context as unknown as ProgramContext;
  return undefined;
}

export interface LeftLive {
  id: string;
  /** When the object left the state, ISO 8601. */
  at: string;
  /** The object's name on the platform; absent if it is secret. */
  name?: string | undefined;
  key?: string | undefined;
}

export function leftLiveIn({ [LEFT_LIVE]: list }: Values): readonly LeftLive[] {
  return listIn(list);
}

/** Describes an object that the arguments in the state do not describe. */
export interface SentAs {
  /** The fingerprint of the body that describes the object. */
  body: string;
  /** The advertiser's id, in digits, if it may be shown. */
  owner?: string | undefined;
  /** Whether a failed update may have changed the object since. */
  isUnsure?: boolean | undefined;
}
