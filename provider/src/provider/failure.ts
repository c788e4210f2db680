/**
 * What the engine is told after a failure: nothing created (a plain error), or unresolved (saved in the state with an
 * id and its properties, so that no later run sends it again). Everything is scrubbed here, on its way out.
 */
import {
  AdvertisingError,
  DefectError,
  OutcomeUnknownError,
  type Secrets,
  type Values,
  withCode,
} from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { explain, unresolvedId, writeRecord } from "../state/index.js";
import type { Outcome } from "./outcome.js";

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

/** What the engine is told of a create: the id, or an error. @param properties what the state keeps of an unresolved one. */
export function idOrError(kind: Kind, properties: Values, outcome: Outcome): string {
  switch (outcome.kind) {
    case "adopted":
    case "created":
      return outcome.id;
    case "not-created":
      throw outcome.error;
    case "unresolved": {
      const { record } = outcome;
      throw new Incomplete(explain(kind.name, record), {
        id: unresolvedId(record.mark),
        properties: { ...properties, ...writeRecord(kind, record, properties) },
      });
    }
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
  return withCode(describeDefect(error), DefectError.code);
}

/** Not raised on purpose. Its stack is what a report needs, and holds no values. */
export function describeDefect(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A defect in pulumi-advertising; please report it with this text: ${stack}`;
}
