/**
 * What the engine is told after a failure: nothing created (a plain error), or unresolved (saved in the state with an
 * id and its properties, so that no later run sends it again). Everything is scrubbed here, on its way out. Also what stops a call
 * whatever it asks for: a state that belongs to another account.
 */
import {
  AccountMismatchError,
  AdvertisingError,
  InternalError,
  OutcomeUnknownError,
  type Secrets,
  shellWord,
  type Values,
  withCode,
} from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { type CreateRecord, explain, unresolvedId, writeRecord } from "../state/index.js";
import type { Outcome } from "./outcome.js";
import type { Runtime } from "./services.js";

/** A failure after which the state holds the resource all the same, since something may have been created. */
export class Incomplete extends Error {
  /** @param saved what the engine saves, with the message as its reason; without it the state holds the resource already. */
  constructor(
    message: string,
    readonly saved?: { readonly id: string; readonly properties: Values },
    readonly code: string = OutcomeUnknownError.code,
  ) {
    super(message);
  }
}

/** @throws Incomplete a create of the resource has an unknown outcome: nothing is done before somebody settles that. */
export function expectSettled(kind: Kind, record: CreateRecord | undefined): void {
  if (record !== undefined) throw new Incomplete(explain(kind.name, record));
}

/** What the engine is told of a single resource: the id, or an error. @param properties what the state keeps of an unresolved one. */
export function idOrError(kind: Kind, properties: Values, outcome: Outcome): string {
  switch (outcome.kind) {
    case "failed":
      throw outcome.error;
    case "unresolved": {
      const { record } = outcome;
      throw new Incomplete(explain(kind.name, record), {
        id: unresolvedId(record.mark),
        properties: { ...properties, ...writeRecord(kind, record, properties) },
      });
    }
    default:
      return outcome.id;
  }
}

/**
 * The error for `create` and `update`, of which the engine prints the message alone. A new object each time: causes and
 * properties of the original may hold what must not leave.
 */
export function forEngine(error: unknown, secrets: Secrets): Error {
  const message = secrets.scrub(messageOf(error));
  const shown = withoutStack(new Error(message));
  if (!(error instanceof Incomplete) || error.saved === undefined) return shown;
  return Object.assign(shown, { ...error.saved, reasons: [message] });
}

/**
 * The error for `check`, `diff`, `read` and `delete`: there Pulumi's provider process prints `<error>: <stack>` by
 * itself, and the engine the message once more, at the resource. {@link silenceShown} drops the former.
 */
export function forDisplay(error: unknown, secrets: Secrets): Error {
  const shown = new Error(secrets.scrub(messageOf(error)));
  shown.stack = SHOWN_AT_RESOURCE;
  shown.toString = () => SHOWN_AT_RESOURCE;
  return shown;
}

/** Nothing that anybody else prints. */
const SHOWN_AT_RESOURCE = "[the engine shows this error at its resource]";

/** Drops the line that Pulumi's provider process prints for each {@link forDisplay}: the engine shows the error itself. */
export function silenceShown(): void {
  const print = console.error;
  console.error = (...values: unknown[]) => {
    if (values[0] !== `${SHOWN_AT_RESOURCE}: ${SHOWN_AT_RESOURCE}`) print(...values);
  };
}

function withoutStack(error: Error): Error {
  error.stack = "";
  return error;
}

function messageOf(error: unknown): string {
  if (error instanceof AdvertisingError) return withCode(error.message, error.code);
  if (error instanceof Incomplete) return withCode(error.message, error.code);
  return withCode(describeDefect(error), InternalError.code);
}

/** Not raised on purpose. Its stack is what a report needs, and holds no values. */
export function describeDefect(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A defect in pulumi-advertising; please report it with this text: ${stack}`;
}

/** Runs what the engine asked for, of whatever resource; whatever fails leaves scrubbed and without a stack. */
export function guard(runtime: () => Runtime) {
  return async <T>(work: () => T | Promise<T>, asError: (error: unknown, secrets: Secrets) => Error): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      runtime().run.hasFailed = true;
      throw asError(error, runtime().secrets);
    }
  };
}

/**
 * Holds what the state says of a resource's installation and account against the current ones.
 * @param recorded what the state says; nothing for resources of earlier versions, and for those that were only read.
 * @param label of the resource.
 * @throws AccountMismatchError where it is another one: what this run would create belongs to the wrong account, and what it
 *   refers to does not exist there.
 */
export function expectSameAccount(recorded: unknown, current: string, label: string): void {
  if (typeof recorded !== "string" || recorded === "" || current === "" || recorded === current) return;
  throw new AccountMismatchError(
    [
      `${label} was created at ${shown(recorded)}, and the settings now name ${shown(current)}. Nothing was sent.`,
      "  To go on with the first: set advertising:baseUrl and advertising:email back.",
      "  To use the other one: a stack of its own (`pulumi stack init`), since ids of one account mean nothing in another.",
      "  If it is the same platform and account under a new address:",
      `    npx pulumi-advertising relocate ${shellWord(recorded)}`,
    ].join("\n"),
  );
}

function shown(account: string): string {
  const [place = "", email = ""] = account.split(" ");
  return `${place} as ${email}`;
}
