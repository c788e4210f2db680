/**
 * The errors that this package raises on purpose, one class for each next step of the reader. A message says what was
 * tried, on which object, what came back and what to do. `operations/` and `cli/` mask secrets before a message leaves
 * the process. `TransportFailure` and `WaitBudgetExceeded` aren't here, because they never leave the client.
 */
import { MESSAGES_PAGE } from "./packaging.js";

/** The base of every error that this package raises on purpose. */
export abstract class AdvertisingError extends Error {
  /** Stable, for programs: a contract like the names of arguments. */
  static readonly code: string;
  get code() {
    return (this.constructor as typeof AdvertisingError).code;
  }
  override get name() {
    return this.constructor.name;
  }
}

function coded(code: string) {
  return class extends AdvertisingError {
    static override readonly code = code;
  };
}

/** Fix an argument in the program. Nothing was sent. */
export class ArgumentsError extends coded("ADVERTISING_ARGUMENTS") {}

/** Fix a stack setting or an environment variable. Nothing was sent. */
export class SettingsError extends coded("ADVERTISING_SETTINGS") {}

/** Fix the credentials, or the cause that the message names. Nothing was created. */
export class LoginError extends coded("ADVERTISING_LOGIN") {}

/** Fix the cause, in most cases the connection, and run it again. Nothing was sent. */
export class NotSentError extends coded("ADVERTISING_NOT_SENT") {}

/** Wait, and run it again. The platform limits the rate for longer than this run may wait. Nothing was created. */
export class RateLimitedError extends coded("ADVERTISING_RATE_LIMITED") {}

/** Fix the reason that the platform names. Nothing was created. */
export class RefusedError extends coded("ADVERTISING_REFUSED") {}

/** Look in the account, and answer for the create: it was sent, and its outcome or its id is unknown. */
export class OutcomeUnknownError extends coded("ADVERTISING_OUTCOME_UNKNOWN") {}

/** Resolve the open create that may have made this object. Nothing was sent. */
export class BlockedCreateError extends coded("ADVERTISING_OUTCOME_UNKNOWN") {}

/** Run it again: a repeatable request got no usable response. The state has not changed. */
export class BadAnswerError extends coded("ADVERTISING_BAD_ANSWER") {}

/** Set the stack's account back, or name it in `formerAccount` if the platform has moved. Nothing was sent. */
export class AccountMismatchError extends coded("ADVERTISING_ACCOUNT_MISMATCH") {}

/** Fix or remove the journal's file, as the message says. Nothing was sent. */
export class JournalError extends coded("ADVERTISING_JOURNAL") {}

/** Correct the command, or fix the problem that the message names. */
export class UsageError extends coded("ADVERTISING_USAGE") {}

/** Report it: a defect of this package. */
export class InternalError extends coded("ADVERTISING_INTERNAL") {}

/** Give `.get()` the object's id on the platform; or, for an import, set up a read in `advertising:operations`. */
export class UnsupportedError extends coded("ADVERTISING_UNSUPPORTED") {}

/** Adds the page's place, and the code, to an error's message, at the end. */
export function withPage(message: string, { code }: { code: string }) {
  const page = `${MESSAGES_PAGE}#${code.toLowerCase()}`;
  return withCode(`${message}${gapAfter(message)}(${page})`, code);
}

/** Like {@link withPage}, for one of several messages: adds only the code. */
export function withCode(message: string, code: string) {
  return `${message}${gapAfter(message)}[${code}]`;
}

/** A line break if the message ends with a command, which must stay alone on its line; otherwise a space. */
function gapAfter(message: string) {
  if (/\n +(npx|pulumi|export|unset|rm) [^\n]*$/.test(message)) return "\n";
  return " ";
}
