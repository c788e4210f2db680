/**
 * What can go wrong, one class for each thing that the reader does next. Messages say what was tried, on what, what
 * came back and what to do; they are scrubbed of secrets where they leave the process, in `lifecycle/`.
 * Not of this family: `TransportFailure` and `StopWaiting`, which never leave the client.
 */

/** The base of every error that this package raises on purpose. */
export abstract class AdvertisingError extends Error {
  /** Stable, for programs: a contract like the names of arguments. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** Mend a setting of the stack or an environment variable. Nothing was sent. */
export class SettingsError extends AdvertisingError {
  readonly code = "ADVERTISING_SETTINGS";
}

/** Mend the e-mail or the password, or what the login met. No create was sent. */
export class LoginError extends AdvertisingError {
  readonly code = "ADVERTISING_LOGIN";
}

/** Nothing was sent, or what was sent was surely not acted upon for want of a connection: mend the way there, run again. */
export class NotSentError extends AdvertisingError {
  readonly code = "ADVERTISING_NOT_SENT";
}

/** Wait: the platform limits the rate, for longer than this run may wait. Nothing was created. */
export class RateLimitedError extends AdvertisingError {
  readonly code = "ADVERTISING_RATE_LIMITED";
}

/** Read the platform's refusal and mend what it names. Nothing was created. */
export class RefusedError extends AdvertisingError {
  readonly code = "ADVERTISING_REFUSED";
}

/** Look into the account: a create was sent, and whether it was acted upon is not known, or its id is not. */
export class OutcomeUnknownError extends AdvertisingError {
  readonly code = "ADVERTISING_OUTCOME_UNKNOWN";
  constructor(
    message: string,
    /** When it was sent, ISO 8601. */
    readonly sentAt: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Mend or remove the journal of creates. Nothing was sent. */
export class JournalError extends AdvertisingError {
  readonly code = "ADVERTISING_JOURNAL";
}

/** The platform can't do what was asked (delete, update). */
export class UnsupportedError extends AdvertisingError {
  readonly code = "ADVERTISING_UNSUPPORTED";
}
