/**
 * An action on an object and its outcome, as data; and the errors with which an engine's call fails: a plain error if
 * the state stays as it is, {@link ResourceFailure} if the state gets something nevertheless. Pure.
 */
import {
  AccountMismatchError,
  AdvertisingError,
  InternalError,
  inStack,
  OutcomeUnknownError,
  shellWord,
  type Values,
  withPage,
} from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { OpenCreate, PlannedObject } from "../plan/index.js";
import type { IsSameAccount } from "../settings/index.js";
import type { ResourceRef, SentAs, Unresolved } from "../state/index.js";

/** The plugin's provider if the program declares none. */
export const DEFAULT_PROVIDER = "default";

/** One object of a run (a single resource or a member of a set), and its planned action. */
export interface ObjectTask extends PlannedObject {
  kind: Kind;
  ref: ResourceRef;
  /** The object's key in the journal, and its former keys. */
  keys: readonly string[];
  secret: ReadonlySet<string>;
  /** The id of the object that the create replaces. */
  replaces: string | undefined;
  /** Ids that the resource had before, `replaces` included. */
  formerIds: readonly string[];
  mark: string;
}

export type Outcome =
  /** The live object has the program's arguments: it was updated or adopted. */
  | { kind: "managed"; id: string }
  | {
      kind: "created";
      id: string;
      /** The mark of the create that made it. */
      mark: string;
      /** An earlier run has made it. */
      isTakenOver?: true;
      /** Set if the program has changed since the create. The state gets it as sent; the next run changes it. */
      sentAs?: SentAs;
    }
  /**
   * The action failed: refused, not sent, rate limited, or without a login. A failed update may have been carried out.
   */
  | { kind: "failed"; error: AdvertisingError; isUpdate?: boolean }
  /** A create's outcome is unknown. `why`: the program's `existingId` contradicts the create. */
  | {
      kind: "unresolved";
      record: Unresolved;
      why?: string | undefined;
    };

export type Outcomes = ReadonlyMap<string, Outcome>;

/** A new object, and an open create that may be the same object under another name. */
export interface Namesake {
  ref: ResourceRef;
  open: OpenCreate;
  /** True if the two may still differ, because the name or the advertiser is not known yet. */
  isPerhaps: boolean;
}

export interface FailedDelete {
  key: string;
  id: string;
  error: AdvertisingError;
}

/** Whether the outcome makes the call fail. A failed set deletes nothing, like the engine after an error. */
export function isTrouble(outcome: Outcome): boolean {
  if (outcome.kind === "created") return outcome.sentAs !== undefined;
  return outcome.kind !== "managed";
}

/** The id that the state gets from an outcome; undefined if the state keeps what it has. */
export function idAfter(outcome: Outcome | undefined): string | undefined {
  return outcome && "id" in outcome ? outcome.id : undefined;
}

export interface SavedResource {
  id: string;
  properties: Values;
  /** The names of the secret arguments in `properties`. */
  secret: ReadonlySet<string>;
}

/** A failure with which the engine may save the resource. */
export class ResourceFailure extends Error {
  /** @param saved what the engine saves, with the message as its reason; absent if nothing is to be saved. */
  constructor(
    message: string,
    readonly saved?: SavedResource,
    readonly code: string = OutcomeUnknownError.code,
  ) {
    super(message);
  }
}

/** Describes an unexpected error. Its stack is needed for a report, and contains no values. */
export function describeDefect(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A defect in pulumi-advertising; please report it with this text: ${stack}`;
}

/** A failure's message for users, with its page. */
export function describeError(error: unknown): string {
  const ours = error instanceof ResourceFailure ? error : toAdvertisingError(error);
  return withPage(ours.message, ours.code);
}

/**
 * Turns an unexpected error into one for users, which must not prevent the report of the other objects' outcomes.
 */
export function toAdvertisingError(error: unknown): AdvertisingError {
  return error instanceof AdvertisingError
    ? error
    : new InternalError(describeDefect(error));
}

/** Whose objects a run manages; see `Runtime`. */
interface RunAccount {
  account: string;
  isSameAccount: IsSameAccount;
  provider: string | undefined;
}

/** @param has begins the message. @throws AccountMismatchError if `recorded` is another account than this run's. */
export function assertSameAccount(
  runtime: RunAccount,
  recorded: unknown,
  has: string,
): void {
  if (runtime.isSameAccount(recorded)) return;
  const given = String(recorded);
  const { account, provider } = runtime;
  let names = "advertising:baseUrl and advertising:email";
  let cure = inStack(`pulumi config set advertising:formerAccount ${shellWord(given)}`);
  // A setting of the stack would apply to its other providers too.
  if (provider !== undefined && provider !== DEFAULT_PROVIDER) {
    names = "the provider's baseUrl and email";
    cure = `give the provider the argument formerAccount: ${JSON.stringify(given)}`;
  }
  throw new AccountMismatchError(
    [
      `${has} under the account ${given}, but this run's settings name ${account}. Nothing was sent.`,
      `  To keep the first account: set ${names} back.`,
      "  To use the second account: create a stack for it, or, with the plugin, declare a provider for it.",
      "  If it is the same platform and account under a new address or e-mail:",
      `    ${cure}`,
      "  A refresh or destroy uses the settings of the last `pulumi up`. If you have changed them since, run `pulumi up` first, or add --run-program.",
    ].join("\n"),
  );
}
