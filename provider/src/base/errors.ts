/**
 * The errors that this package raises on purpose, one class for each thing that the reader does next. A message says
 * what was tried, on what, what came back and what to do. Secrets are masked where it leaves the process, in
 * `operations/` and `cli/`. Not of this family: `TransportFailure` and `WaitBudgetExceeded`, which never leave the client.
 */
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The base of every error that this package raises on purpose. */
export abstract class AdvertisingError extends Error {
  /** Stable, for programs: a contract like the names of arguments. Each class has its own. */
  static readonly code: string;
  get code(): string {
    return (this.constructor as typeof AdvertisingError).code;
  }
  override get name(): string {
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

/** Nothing was sent, or what was sent surely had no effect for want of a connection: fix the connection, run again. */
export class NotSentError extends coded("ADVERTISING_NOT_SENT") {}

/** Wait, run again: the platform limits the rate, for longer than this run may wait. Nothing was created. */
export class RateLimitedError extends coded("ADVERTISING_RATE_LIMITED") {}

/** Read the platform's reason, fix what it names. Nothing was created. */
export class RefusedError extends coded("ADVERTISING_REFUSED") {}

/** Look in the account, then say what is there: a create was sent, and its outcome is not known, or its id is not. */
export class OutcomeUnknownError extends coded("ADVERTISING_OUTCOME_UNKNOWN") {
  constructor(
    message: string,
    /** When it was sent, ISO 8601. */
    readonly sentAt: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Resolve the open create that may be this object: nothing was sent. */
export class BlockedCreateError extends coded("ADVERTISING_OUTCOME_UNKNOWN") {}

/** Run it again: a request that may be repeated got no usable answer. Nothing in the state has changed. */
export class BadAnswerError extends coded("ADVERTISING_BAD_ANSWER") {}

/** The stack belongs to another account: set it back, or say that the platform has moved. Nothing was sent. */
export class AccountMismatchError extends coded("ADVERTISING_ACCOUNT_MISMATCH") {}

/** Fix or remove the journal's file, as it says. Nothing was sent. */
export class JournalError extends coded("ADVERTISING_JOURNAL") {}

/** Call the command again, corrected, or fix what it says. */
export class UsageError extends coded("ADVERTISING_USAGE") {}

/** Report it: a defect of this package. */
export class InternalError extends coded("ADVERTISING_INTERNAL") {}

/** Give `.get()` the object's id on the platform: this one is not, and only a run knows it. */
export class UnsupportedError extends coded("ADVERTISING_UNSUPPORTED") {}

const MESSAGES = join("node_modules", "pulumi-advertising", "docs", "messages.md");

/** The page as the package brings it, seen from this process's folder: a program may stand below its package's. */
function messagesPage() {
  let folder = process.cwd();
  while (!existsSync(join(folder, MESSAGES))) {
    // Installed elsewhere, as for the whole machine: the usual place says what is meant.
    if (dirname(folder) === folder) return MESSAGES;
    folder = dirname(folder);
  }
  return relative(process.cwd(), join(folder, MESSAGES));
}

/** The error's message as it leaves the process: with the path of its page, and its code at the end. */
export function withPage(message: string, code: string): string {
  return withCode(
    `${message}${gapAfter(message)}(${messagesPage()}#${code.toLowerCase()})`,
    code,
  );
}

/** As {@link withPage}, of one of several lines. */
export function withCode(message: string, code: string): string {
  return `${message}${gapAfter(message)}[${code}]`;
}

/** A command at the message's end stays alone on its line. */
function gapAfter(message: string) {
  if (/\n +(npx|pulumi|export|unset|rm) [^\n]*$/.test(message)) return "\n";
  return " ";
}
