/**
 * Stored properties that are not arguments: contracts with every state that was ever written. Their names, and how two of them are read
 * and written: the briefing about a resource, and what a resource left live. The engine hides names that begin with two underscores from
 * previews. Pure.
 */
import { type Values, withoutUndefined } from "../base/index.js";
import { type Kind, kindOfType, nameToTell, setOfType } from "../kinds/index.js";

/** The reference that the engine's dynamic-provider process loads; written by `program/registration.ts`. */
export const PROVIDER = "__provider";

/** Which resource of which stack this is, so that a create differs from all others; an input only. */
export const IDENTITY = "__identity";

/**
 * The installation and account: an output of resources that this version creates, and an input of those that earlier versions created,
 * which get the current one once.
 */
export const ACCOUNT = "__at";

/** Whether the state says at which account its objects are. If not, an id may be another account's, so nothing is deleted. */
export function isOfKnownAccount(outputs: Values | undefined): boolean {
  return typeof outputs?.[ACCOUNT] === "string";
}

/**
 * The latest moment when the object was created, ISO 8601; for a set, that of its last object. Absent if it was adopted, or created by an
 * earlier version. An output only.
 */
export const CREATED = "__created";

/** The names of arguments whose values are secret, if there are any; an input only. */
export const SECRET_ARGUMENTS = "__secret";

/** The names (for a set the paths) of arguments whose values must not be shown. @param properties inputs, or a set's outputs. */
export function secretArgumentsIn({ [SECRET_ARGUMENTS]: paths }: Values): ReadonlySet<string> {
  return new Set(Array.isArray(paths) ? (paths as string[]) : []);
}

/** The mark of a create as `<field> <mark>`, for a search: an input only, so that the engine's record of an interrupted run has it. */
export const MARK = "__mark";

/**
 * That the option `retainOnDelete` is off and a delete is known: an input only, because the engine deletes by the option in its state.
 */
export const DELETES = "__delete";

/** The record of a create of unknown outcome, beside its resource's properties: see `create-record.ts`. */
export const UNRESOLVED = "unresolved";

/** The text that stands for a value that is not known yet in a preview (measured with engine 3.259.0). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The key with which Pulumi marks secret values in an exported stack: Pulumi's own contract. */
export const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

/** What replacements have left live on the platform; an output only. */
export const LEFT_LIVE = "__left";

/** What the program's half says about a resource to the provider's half: the value of {@link IDENTITY} as the program gives it. */
export interface Briefing {
  readonly identity: string;
  /** On each resource, because the engine may ask about any of them first, and in a targeted run about no other. */
  readonly run?:
    | {
        readonly isUp: boolean;
        /** How many resources the program has declared so far, with this batch. */
        readonly resources: number;
        /** Unique to this run: with it the provider finds what the program noted about later batches. */
        readonly program?: string;
      }
    | undefined;
  /** Journal keys of objects of the same kind and name that are no longer declared: this may be one of them under a new name. */
  readonly formerly?: readonly string[] | undefined;
  /** By those journal keys: how many resources and members adopt what may be its object. @default 1 */
  readonly adopters?: Readonly<Record<string, number>> | undefined;
  /** Whether the option `retainOnDelete` is off, if a delete is known. */
  readonly deletes?: boolean | undefined;
  /** Whether the option `protect` is on, here or at a parent. */
  readonly protects?: boolean | undefined;
  /**
   * The ids of all objects of its kind that the program adopts and knows, separated by blanks; if they are many, only for a set and for a
   * resource with {@link deletes}. They are one text, because each of a thousand sets has all of them.
   */
  readonly adopted?: string | undefined;
  /** Whether another resource adopts objects of its kind whose ids the program does not know yet. */
  readonly adoptsUnknown?: boolean | undefined;
  /**
   * For a set, by the journal keys of undeclared members: the id with which another resource of the program adopts the object that their
   * unresolved create may have made.
   */
  readonly adoptedAs?: Readonly<Record<string, string>> | undefined;
  /** As {@link formerly}, of a set's members, by their own journal keys. */
  readonly membersFormerly?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Former journal keys of the resource, by its aliases, under which creates are noted that the engine knows. An alias moves what is in the
   * state.
   */
  readonly moved?: readonly string[] | undefined;
  /** Pulumi's option of this name, which the engine does not apply to a dynamic provider's `diff`. */
  readonly replaceOnChanges?: readonly string[] | undefined;
}

/** @returns nothing if it is not a briefing, because the resource was not created with this package's classes. */
export function readBriefing(value: unknown): Briefing | undefined {
  if (typeof value === "string") return { identity: value };
  if (typeof value !== "object" || value === null) return undefined;
  return typeof (value as Partial<Briefing>).identity === "string" ? (value as Briefing) : undefined;
}

/** As short as possible, because each resource has one: only the identity, if there is nothing else to say. */
export function writeBriefing(briefing: Briefing): string | Briefing {
  const given = Object.entries(briefing).filter(([, value]) => value !== undefined);
  return given.length === 1 ? briefing.identity : (Object.fromEntries(given) as unknown as Briefing);
}

/** A live object that is no longer managed. */
export interface LeftLive {
  /** The platform's, in digits. */
  readonly id: string;
  /** When it left the state, ISO 8601. */
  readonly at: string;
  /** `removed`: its key left a set. */
  readonly why: "replaced" | "removed";
  /** Its set could not delete it; the next `up` tries again. */
  readonly toDelete?: boolean;
  /** The id of the object that replaced it, if that is known. */
  readonly by?: string;
  /** Its name on the platform; absent if it is secret. */
  readonly name?: string;
  readonly advertiserId?: string;
  /** Of a set's member. */
  readonly key?: string;
  /** When a person marked it as done, or its set deleted it, ISO 8601: from then on it is not listed, whichever list has it. */
  readonly done?: string;
}

/** Whether an earlier run of its set failed to delete it. `isDeleted` in `decision/` says whether this run does. */
export function isDeleteOwed({ toDelete, done }: LeftLive): boolean {
  return toDelete === true && done === undefined;
}

/** The kind of the objects that a resource of this type has left; none if it is not this package's. */
export function leftLiveKind(type: string): Kind["name"] | undefined {
  return (setOfType(type)?.member ?? kindOfType(type))?.name;
}

/** Reads what any version may have written. */
export function leftLiveIn(outputs: Values): readonly LeftLive[] {
  const list = outputs[LEFT_LIVE];
  return Array.isArray(list) ? (list as LeftLive[]).filter((each) => typeof each?.id === "string") : [];
}

export function writeLeftLive(list: readonly LeftLive[]): Record<string, unknown> {
  return list.length === 0 ? {} : { [LEFT_LIVE]: list };
}

/** The arguments that identify an object that is left live. @param secret names of arguments that must not be shown. */
export function tellingOfLeft(
  kind: Kind,
  values: Values,
  secret: ReadonlySet<string>,
): Pick<LeftLive, "name" | "advertiserId"> {
  const { advertiserId } = values;
  const isKnown = kind.refersTo.advertiserId !== undefined && ["string", "number"].includes(typeof advertiserId);
  return withoutUndefined({
    name: nameToTell(kind, values, secret),
    advertiserId: isKnown && !secret.has("advertiserId") ? String(advertiserId) : undefined,
  });
}
