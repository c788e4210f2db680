/**
 * Stored properties that are no arguments: contracts with every state that was ever written. Their names, and how two of them are read
 * and written: what the program's half says of a resource, and what a resource has left live. The engine hides names that begin with
 * two underscores from previews. Pure.
 */
import { type Values, withoutUndefined } from "../base/index.js";
import { type Kind, kindOfType, nameToTell, setOfType } from "../kinds/index.js";

/** The reference that the engine's dynamic-provider process loads; written by `program/registration.ts`. */
export const PROVIDER = "__provider";

/** Which resource of which stack this is, so that a create differs from all others; an input only. */
export const IDENTITY = "__identity";

/**
 * At which installation, with which account: an output of what this version creates, an input of what earlier versions
 * created, which takes on the current one once.
 */
export const ACCOUNT = "__at";

/** Whether the state says at which account its objects are: an id of another account would be somebody else's, so nothing is deleted. */
export function isOfKnownAccount(outputs: Values | undefined): boolean {
  return typeof outputs?.[ACCOUNT] === "string";
}

/**
 * When the object was created, ISO 8601, at the latest; of a set, the last one of its objects. Absent where it was adopted, or
 * created by an earlier version. An output only.
 */
export const CREATED = "__created";

/** The names of arguments whose values are secret, where there are any; an input only. */
export const SECRET_ARGUMENTS = "__secret";

/** The names, of a set the paths, of the arguments whose values must not be shown. @param properties inputs, or a set's outputs. */
export function secretArgumentsIn({ [SECRET_ARGUMENTS]: paths }: Values): ReadonlySet<string> {
  return new Set(Array.isArray(paths) ? (paths as string[]) : []);
}

/** What a create can be searched for by, as `<field> <mark>`: an input only, so that the engine's record of an interrupted run holds it. */
export const MARK = "__mark";

/**
 * That the option `retainOnDelete` is off where a delete is known: an input only, since the engine deletes by the option that
 * its state holds.
 */
export const DELETES = "__delete";

/** Beside the properties of a resource whose create has an unknown outcome: see `create-record.ts`. */
export const UNRESOLVED = "unresolved";

/** The text that stands for a value that is not known yet in a preview (measured with engine 3.259.0). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** By which Pulumi marks secret values in an exported stack: a contract of its own. */
export const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

/** What replacements have left live on the platform; an output only. */
export const LEFT_LIVE = "__left";

/** What the program's half says of a resource to the provider's half: the value of {@link IDENTITY} as the program gives it. */
export interface Briefing {
  readonly identity: string;
  /** On each resource: the engine may ask about any of them first, and in a run of some targets about no other. */
  readonly run?:
    | {
        readonly isUp: boolean;
        /** How many resources the program has declared so far, with this batch. */
        readonly resources: number;
        /** Unlike that of any other run: by it the provider knows what the program has noted of later batches. */
        readonly program?: string;
      }
    | undefined;
  /** Journal keys of objects of the same kind and name that are no longer declared: this may be one of them under a new name. */
  readonly formerly?: readonly string[] | undefined;
  /** Where a delete is known: whether the option `retainOnDelete` is off. */
  readonly deletes?: boolean | undefined;
  /** Whether the option `protect` is on, here or at a parent. */
  readonly protects?: boolean | undefined;
  /**
   * The ids of all objects of its kind that the program adopts, as far as it knows them, with blanks between; if they are many, only for a
   * set and for a resource with {@link deletes}. They are one text, because each of a thousand sets carries all of them.
   */
  readonly adopted?: string | undefined;
  /** Whether something else adopts objects of its kind whose ids the program does not know yet. */
  readonly adoptsUnknown?: boolean | undefined;
  /**
   * For a set: by the journal keys of undeclared members, the id by which something else in the program adopts what their unresolved create
   * may have made.
   */
  readonly adoptedAs?: Readonly<Record<string, string>> | undefined;
  /** As {@link formerly}, of a set's members, by their own journal keys. */
  readonly membersFormerly?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Journal keys that the resource had before, as its aliases say, and under which creates are noted that the engine knows of. An alias moves
   * what the state has of them.
   */
  readonly moved?: readonly string[] | undefined;
  /** Pulumi's option of this name: the engine does not apply it to what a dynamic provider says of a change. */
  readonly replaceOnChanges?: readonly string[] | undefined;
  /** In a preview, by argument: the journal key of the resource whose id it is. */
  readonly owners?: Readonly<Record<string, string>> | undefined;
}

/** @returns nothing where it is no declaration: the resource was made by something else than this package's classes. */
export function readBriefing(value: unknown): Briefing | undefined {
  if (typeof value === "string") return { identity: value };
  if (typeof value !== "object" || value === null) return undefined;
  return typeof (value as Partial<Briefing>).identity === "string" ? (value as Briefing) : undefined;
}

/** As short as it can be, since each resource has one: the identity alone, if there is nothing else to say. */
export function writeBriefing(briefing: Briefing): string | Briefing {
  const given = Object.entries(briefing).filter(([, value]) => value !== undefined);
  return given.length === 1 ? briefing.identity : (Object.fromEntries(given) as unknown as Briefing);
}

/** An object that nothing manages any more. */
export interface LeftLive {
  /** The platform's, in digits. */
  readonly id: string;
  /** When it left the state, ISO 8601. */
  readonly at: string;
  /** `removed`: its key left a set. */
  readonly why: "replaced" | "removed";
  /** The set that held it could not delete it: the next `up` tries again. */
  readonly toDelete?: boolean;
  /** The id of what took its place, where that is known. */
  readonly by?: string;
  /** On the platform; absent where it is secret. */
  readonly name?: string;
  readonly advertiserId?: string;
  /** Of a set's member. */
  readonly key?: string;
  /** When somebody said that it is tidied up, ISO 8601: it is on no list from then on. */
  readonly done?: string;
}

/** Whether an earlier run of its set was to delete it and did not. Whether this run does, `isDeleted` in `decision/` says. */
export function isDeleteOwed({ toDelete, done }: LeftLive): boolean {
  return toDelete === true && done === undefined;
}

/** Of what kind the objects are that a resource of this type has left; none where it is no resource of ours. */
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

/** What an object that is left live is known by. @param secret names of arguments that must not be shown. */
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
