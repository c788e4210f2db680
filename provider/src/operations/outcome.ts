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

/** One object of a run (a single resource or a member of a set), and its planned action. */
export interface NamedObject extends PlannedObject {
  ref: ResourceRef;
  /** The object's key in the journal, and its former keys. */
  keys: readonly string[];
}

/** The id of the object that a create of this one replaces. */
export function replacedBy({ id, leaving }: PlannedObject) {
  // The state may have read this create's own object.
  if (leaving?.isRead) return id;
  return id ?? leaving?.id;
}

/** An object with work to do. */
export interface ObjectTask extends NamedObject {
  kind: Kind;
  secret: ReadonlySet<string>;
  /** Ids that the resource had before, with the one that a create replaces. */
  formerIds: readonly string[];
  mark: string;
}

/** A task that has begun. */
export interface RunningTask extends ObjectTask {
  /** Throws once nothing more may be sent. */
  assertMaySend(): void;
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
   * The action failed: refused, not sent, rate limited, or without a login. `isUnsure`: it was an update that may have been
   * carried out.
   */
  | { kind: "failed"; error: AdvertisingError; isUnsure?: boolean }
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
}

export interface FailedDelete {
  key: string;
  id: string;
  error: AdvertisingError;
  /** A refresh would show whether the object is gone. */
  canRefresh?: unknown;
}

/** Whether the outcome makes the call fail. A failed set deletes nothing, like the engine after an error. */
export function isTrouble(outcome: Outcome) {
  if (outcome.kind === "created") return outcome.sentAs !== undefined;
  return outcome.kind !== "managed";
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
    readonly code = OutcomeUnknownError.code,
  ) {
    super(message);
  }
}

/** Describes an unexpected error. Its stack is needed for a report, and contains no values. */
export function describeDefect(error: unknown) {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A defect in pulumi-advertising; please report it with this text: ${stack}`;
}

/** A failure's message for users, with its page. */
export function describeError(error: unknown) {
  const ours = error instanceof ResourceFailure ? error : toAdvertisingError(error);
  return withPage(ours.message, ours);
}

/**
 * Turns an unexpected error into one for users, which must not prevent the report of the other objects' outcomes.
 */
export function toAdvertisingError(error: unknown) {
  return error instanceof AdvertisingError
    ? error
    : new InternalError(describeDefect(error));
}

/**
 * @param label of what has the `recorded` account. @param says begins the message.
 * @throws AccountMismatchError if that is another account than this run's.
 */
export function assertSameAccount(
  { account, isSameAccount }: { account: string; isSameAccount: IsSameAccount },
  recorded: string | undefined,
  label: string,
  says = "The state has",
) {
  if (isSameAccount(recorded)) return;
  throw new AccountMismatchError(
    [
      `${says} ${label} under the account ${recorded}, but this run's settings name ${account}. Nothing was sent.`,
      "  To keep the first account: set baseUrl and email back.",
      "  To use the second account: create a stack (with the plugin, or a provider) for it.",
      "  If it's the same account under a new address or e-mail, set formerAccount: as an argument of the provider, or:",
      `    ${inStack(`pulumi config set advertising:formerAccount ${shellWord(String(recorded))}`)}`,
      "  A refresh or destroy uses the settings of the last `pulumi up`, unless you add --run-program.",
    ].join("\n"),
  );
}
