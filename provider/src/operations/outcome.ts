/**
 * An action on an object and how it ended, as data; and the errors with which a call of the engine fails: nothing
 * created (a plain error), or something that the state keeps nevertheless ({@link ResourceFailure}). Pure.
 */
import {
  AccountMismatchError,
  AdvertisingError,
  asTyped,
  InternalError,
  OutcomeUnknownError,
  shellWord,
  type Values,
  withPage,
} from "../base/index.js";
import { DEFAULT_PROVIDER, type OpenCreate } from "../journal/index.js";
import { type Kind, ownerIn } from "../kinds/index.js";
import type { PlannedObject } from "../plan/index.js";
import type { ResourceRef, SentAs, Unresolved } from "../state/index.js";
import type { Runtime } from "./runtime.js";

/** One object of a run, a single resource or a member of a set, with what is to be done with it. */
export interface ObjectTask extends PlannedObject {
  kind: Kind;
  ref: ResourceRef;
  secret: ReadonlySet<string>;
  /** The id of the object that its create replaces. */
  replaces: string | undefined;
  /** Ids that the resource had before, `replaces` included. */
  formerIds: readonly string[];
  mark: string;
}

export type Outcome =
  /** A live object has the arguments of now: it was updated, or adopted without a create. */
  | { kind: "managed"; id: string }
  | {
      kind: "created";
      id: string;
      /** If it was taken over, the earlier run's sending that made it, as `sendingOf` names it. */
      sending?: string;
      /** What was sent, if the program changed since: the state has the object as it is; the next run changes it. */
      sentAs?: SentAs;
    }
  /** Nothing was done: refused, not sent, rate limited, or the login failed. The error's class and words say which. */
  | { kind: "failed"; error: AdvertisingError }
  /** A create was sent, and nobody knows what became of it. `why`: the program names an object that it did not make. */
  | {
      kind: "unresolved";
      record: Unresolved;
      why?: string | undefined;
    };

export type Outcomes = ReadonlyMap<string, Outcome>;

/** An object that is to be created, and the open create that it may be under another name. */
export interface Namesake {
  ref: ResourceRef;
  open: OpenCreate;
  /** Only perhaps, because a value that is not known yet may be another one. */
  isPerhaps: boolean;
}

export interface FailedDelete {
  key: string;
  id: string;
  error: AdvertisingError;
}

/** Whether a set with it ends with an error. Then nothing is deleted, as the engine does with single resources. */
export function isTrouble(outcome: Outcome): boolean {
  if (outcome.kind === "created") return outcome.sentAs !== undefined;
  return outcome.kind !== "managed";
}

/** What a create was sent with, for an object whose arguments may have changed since. */
export function sentAsOf(
  kind: Kind,
  { body, facts = {} }: { body: string; facts?: Values | undefined },
): SentAs {
  const owner = ownerIn(kind, facts);
  return owner === undefined ? { body } : { body, owner: String(owner) };
}

/** The platform's id in the state after an outcome; none if the state keeps its object. */
export function idAfter(outcome: Outcome | undefined): string | undefined {
  return outcome && "id" in outcome ? outcome.id : undefined;
}

export interface SavedResource {
  id: string;
  properties: Values;
  /** The names of the secret arguments among them. */
  secret: ReadonlySet<string>;
}

/** A failure beside which the engine may save the resource. */
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

/** What a user reads of a failure, with its page. */
export function describeError(error: unknown): string {
  const ours = error instanceof ResourceFailure ? error : toAdvertisingError(error);
  return withPage(ours.message, ours.code);
}

/** A failure in the form of an outcome. An unexpected one must not prevent the report of the others' outcomes. */
export function toAdvertisingError(error: unknown): AdvertisingError {
  return error instanceof AdvertisingError
    ? error
    : new InternalError(describeDefect(error));
}

/** @param has begins the message. @throws AccountMismatchError: this run would create objects at the wrong account. */
export function assertSameAccount(
  runtime: Pick<Runtime, "account" | "isSameAccount" | "provider">,
  recorded: unknown,
  has: string,
): void {
  if (runtime.isSameAccount(recorded)) return;
  const given = String(recorded);
  const { account, provider = DEFAULT_PROVIDER } = runtime;
  let names = "advertising:baseUrl and advertising:email";
  let cure = asTyped(`pulumi config set advertising:formerAccount ${shellWord(given)}`);
  // The stack's settings would count for its other providers too.
  if (provider !== DEFAULT_PROVIDER) {
    names = "the provider's baseUrl and email";
    cure = `give the provider the argument formerAccount: ${JSON.stringify(given)}`;
  }
  throw new AccountMismatchError(
    [
      `${has} under the account ${given}, but the settings of this run name ${account}. Nothing was sent.`,
      `  To keep the first account: set ${names} back.`,
      "  To use the second account: create a stack for it, or, with the plugin, declare a provider for it.",
      "  If it is the same platform and account under a new address or e-mail:",
      `    ${cure}`,
      "  A refresh or destroy uses the settings of the last `pulumi up`. If you have changed them since, run `pulumi up` first, or add --run-program.",
    ].join("\n"),
  );
}
