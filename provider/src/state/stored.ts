/**
 * The properties that are stored beside arguments, or passed between the program process and the provider process.
 * Those whose names begin with two underscores are hidden from previews by the engine. Pure.
 */
import { hash } from "node:crypto";
import { asRecord, isPlain, listIn, own, type Values } from "../base/index.js";
import { displayName, type Kind, type ResourceName } from "../kinds/index.js";
import { type objectKey, refOf } from "./names.js";

/**
 * A create that was sent, in one form for the journal, Pulumi's pending operations, the state (`unresolved`) and
 * messages. Nothing in it is secret.
 */
export interface CreateRecord {
  /** When the create was sent last, by the sender's clock, ISO 8601; empty if unknown. Only people read it. */
  at: string;
  /** A moment after the last sending, ISO 8601, by the platform's clock; absent if it sent no `Date` since. */
  latest?: string | undefined;
  mark: string;
  /** The fingerprint of the request's body; empty if that is not known. */
  body: string;
  /** The request field that the mark was sent in; absent if it was not sent. */
  field?: string | undefined;
  /** The object's name on the platform; absent if it is secret. */
  name?: string | undefined;
  /** The arguments that distinguish the object from others for people, by their names in the program. */
  args?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The id of the object that the create was to replace. */
  replaces?: string | undefined;
}

/** A create whose outcome nobody knows, as the state keeps it. */
export interface Unresolved extends CreateRecord {
  /** A sentence about what was sent and what came back, scrubbed. */
  what: string;
  /** A sentence about the last search for the create, scrubbed. */
  searched?: string;
}

/** The name and the arguments that tell an object of this kind from others, without secret and unknown ones. */
export function identifyingIn(kind: Kind, properties: Values, secret: ReadonlySet<string>) {
  const args: Record<string, string | number | boolean> = {};
  for (const property of kind.identifyingProperties) {
    const value = properties[property];
    if (isPlain(value) && !secret.has(property)) args[property] = value;
  }
  return { name: displayName(kind, properties, secret), args };
}

/** A create of an earlier run that the state doesn't account for, as a pending operation or a journal has it. */
export interface SentCreate extends CreateRecord {
  key: string;
  /** The run that sent it, as {@link senderIn} names it; empty if unknown. */
  run: string;
  /** It comes from the update of a set, which Pulumi's record has only until the next run saves. */
  isOfUpdate?: boolean | undefined;
}

/**
 * The mark of a create: of one run and key. Whoever reads Pulumi's pending operations can compute it, and a later life
 * of the same resource has another one.
 * @param run as {@link senderIn} returns it. @param key the resource's or member's, as in the journal.
 * @returns in the form of a UUID.
 */
export function markOf(run: string, key: string) {
  const digest = hash("sha256", JSON.stringify([run, key]));
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

/** The reference that the engine's dynamic-provider process loads; written by `program/program.ts`. */
export const PROVIDER = "__provider";
/**
 * A moment after the object (of a set: the latest) was created, ISO 8601, by the platform's clock: for a while after
 * that, the platform may not find it. An output; only if operations beside create are known.
 */
export const CREATED = "__created";
/** The names of the arguments that are secret or have a secret part, if there are any; an input only. */
export const SECRET_ARGUMENTS = "__secret";
/**
 * By member (a single resource: the empty key), the marks of creates that are sent again: they keep their marks. An
 * input only: so Pulumi's pending operations contain it.
 */
export const MARKS = "__mark";
/** How the object was sent, if the arguments in the state do not describe it ({@link SentAs}). An output only. */
export const SENT_AS = "__sentAs";
/**
 * The objects that left the resource and stay live: they were replaced, removed from a set, or displaced by an answer
 * to `pending`. An output only.
 */
export const LEFT_LIVE = "__left";
/** The record of a create of unknown outcome; an output only. */
export const UNRESOLVED = "unresolved";
/**
 * The outcomes of creates that Pulumi's pending operations still list, by mark: the object (`objectKey`), or an empty text
 * if nothing was created. An output only.
 */
export const RESOLVED = "__resolved";
/**
 * A {@link Sender} as text; from the program process a {@link ProgramContext}. An input only: so Pulumi's pending operations
 * contain it.
 */
export const SENDER = "__sender";

/** Who sends a resource's objects. */
interface Sender {
  /** Names the resource and its stack; empty if unknown. */
  identity: string;
  /** The installation and account that the objects belong to, as `accountOf` has it; empty if unknown. */
  account: string;
  /** The run's name; empty if unknown. */
  run: string;
  /** The request field that its marks are sent in. */
  field?: string | undefined;
  /** Whether it updates changed events of a set in place, instead of creating others. */
  canUpdate: boolean;
}

/** The parts, separated by spaces. Only the last one may contain any. */
export function senderText({ run, field = "", canUpdate, account, identity }: Sender) {
  return [run, field, canUpdate ? "update" : "", account || " ", identity].join(" ");
}

export function senderIn({ [SENDER]: text }: Values) {
  const parts = typeof text === "string" ? text.split(" ") : [];
  const [run = "", field, update = "", host = "", email = "", ...identity] = parts;
  return {
    identity: identity.join(" "),
    account: `${host} ${email}`.trim(),
    run,
    field: field || undefined,
    canUpdate: update !== "",
  };
}

/**
 * The mark of a create by its resource's inputs: the one that it keeps from an earlier sending, or else the run's own.
 * @param run the run that sends. @param key the object's, as in the journal. @param member its key in a set.
 */
export function markIn(inputs: Values, run: string, key: string, member = "") {
  const kept = own(inputs[MARKS], member);
  return typeof kept === "string" ? kept : markOf(run, key);
}

/** The text that stands for a value that is not known yet in a preview (measured with engine 3.259.0). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The resource that the inputs belong to; undefined if they don't name it. */
export function refOfInputs(resource: ResourceName, inputs: Values = {}) {
  const { identity } = senderIn(inputs);
  if (identity !== "") return refOf(resource, identity);
}

export function secretArgumentsIn({ [SECRET_ARGUMENTS]: names }: Values) {
  return new Set(listIn<string>(names));
}

/** The outcomes in {@link RESOLVED}. */
export function resolvedIn({ [RESOLVED]: outcomes }: Values) {
  return mapOf(outcomes, String);
}

/** A stored object as a map. */
export function mapOf<T>(stored: unknown, read: (value: unknown) => T) {
  return new Map(
    Object.entries(asRecord(stored)).map(([key, value]) => [key, read(value)]),
  );
}

/** Facts about a resource for the provider process: the program process gives them as the input {@link SENDER}. */
export interface ProgramContext {
  identity: string;
  /** On each resource, since the engine may ask about any of them first, and in a `--target` run about no other. */
  run?: {
    isUp: boolean;
    /** How many resources the program has declared so far, with this batch. */
    resources: number;
    /** The settings that the program's process has from environment variables. */
    inherited?: readonly string[];
  };
  /** The resource's former keys, by its aliases. */
  formerKeys?: readonly string[];
  /** Keys of other objects that the program declares with the platform name of this one, or of one of its members. */
  sameNamed?: readonly string[];
  /** How many objects the program adopts. */
  adopts?: number;
  /** These objects, each as {@link objectKey} names it, separated by commas; a long list only on the first resources. */
  adopted?: string;
}

/** @returns undefined for a resource that was not declared with this package's classes. */
export function programContextIn(inputs: Values) {
  const { identity } = senderIn(inputs);
  if (identity !== "") return { identity };
  const context = asRecord(own(inputs, SENDER));
  if (typeof context.identity === "string") return context as unknown as ProgramContext;
}

export interface LeftLive {
  id: string;
  /** When the object left the state, ISO 8601. */
  at: string;
  /** The object's name on the platform; absent if it is secret. */
  name?: string;
  key?: string | undefined;
}

export function leftLiveIn({ [LEFT_LIVE]: list }: Values): readonly LeftLive[] {
  return listIn(list);
}

/** Describes an object that the arguments in the state do not describe. */
export interface SentAs {
  /**
   * The fingerprint of the body that describes the object; empty if it was secret, then all arguments count as changed.
   * Absent if only the entry in the state is known: then the others count as sent, and the next update saves them.
   */
  body?: string;
  /** The advertiser's id, in digits, if it may be shown. */
  owner?: string;
  /** Whether a failed update may have changed the object since. */
  isUnsure?: boolean;
  /** Then: the request fields that the object may have by then, from the program. Absent if that isn't known. */
  fields?: readonly string[];
}
