/**
 * One create: encode, hand to the session, read the answer, and say plainly what is known afterwards.
 */
import type { Settings } from "../config/settings.js";
import { AdvertisingError, NotSentError, OutcomeUnknownError, RateLimitedError, RefusedError } from "../errors.js";
import { describeFailure } from "../http/describe.js";
import { StopWaiting } from "../http/patient.js";
import { TransportFailure } from "../http/transport.js";
import { addressOf, type Operation } from "../kinds/operation.js";
import type { BeforeSend, SessionAnswer, SessionRequest } from "../session/session.js";
import { excerpt } from "../text.js";
import { hintsFor } from "./hints.js";
import { type Outcome, readOutcome } from "./outcome.js";

export interface CreateRequest {
  readonly operation: Operation;
  /** The request's fields in wire names. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The resource, for messages: `ConversionEvent "purchase"`. */
  readonly label: string;
  readonly beforeSend: BeforeSend;
  /** Awaited as soon as the id is known, before anything else that may take time. Must not fail. */
  readonly onCreated: (id: string) => Promise<void>;
}

export interface Created {
  /** The platform's id, exact, as decimal digits. */
  readonly id: string;
  /** What the platform said beside its success. */
  readonly warnings: readonly string[];
}

/** What the client needs of a session. */
export interface Sender {
  send(request: SessionRequest, beforeSend: BeforeSend): Promise<SessionAnswer>;
}

export interface ClientOptions {
  readonly settings: Settings;
  readonly session: Sender;
  /** Removes secrets from the platform's words. */
  readonly clean: (text: string) => string;
}

export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Sends one create.
   * @throws {OutcomeUnknownError} it was sent, and what became of it is not known.
   * @throws {AdvertisingError} any other: nothing was created.
   */
  async create({ operation, fields, label, beforeSend, onCreated }: CreateRequest): Promise<Created> {
    const { settings, session, clean } = this.#options;
    const url = addressOf(operation, settings.baseUrl);
    const { method, repeatable } = operation;
    const what = `${label}: ${method} ${url.href}`;
    let sentAt = "";
    let result: SessionAnswer;
    try {
      result = await session.send({ method, url, body: JSON.stringify(fields), repeatable }, async (at) => {
        await beforeSend(at);
        sentAt = at;
      });
    } catch (error) {
      throw translate(error, what, url, sentAt, settings);
    }
    const { answer } = result;
    const outcome = outcomeOf(result, operation, fields, clean);
    if (outcome.kind === "created") await onCreated(outcome.id);
    await result.kept;
    switch (outcome.kind) {
      case "created":
        return outcome;
      case "refused": {
        const hints = [
          sessionHint(result, settings),
          ...(result.session === "accepted" ? hintsFor(outcome.words, { answer, operation, sent: fields }) : []),
        ];
        throw new RefusedError(
          [
            `${what} was refused with status ${answer.status}: ${sentence(outcome.words)} Nothing was created.`,
            ...hints.filter((hint) => hint !== undefined),
          ].join(" "),
        );
      }
      case "unknown": {
        const words = excerpt(joined(outcome.words), MAX_EXCERPT_CHARACTERS);
        const said = words === "" ? "" : ` The platform said: ${words}${/[.!?]$/.test(words) ? "" : "."}`;
        throw new OutcomeUnknownError(
          `${what} was sent at ${sentAt}, and answered with ${outcome.reason}.${said}`,
          sentAt,
        );
      }
    }
  }
}

/** Of an answer in doubt, which may be any server's. */
const MAX_EXCERPT_CHARACTERS = 500;
/** Room for what is wrong with each field. */
const MAX_REFUSAL_CHARACTERS = 4000;

/** A login page says nothing of an id, but does say that the create got no further than the session. */
function outcomeOf(
  { answer, session }: SessionAnswer,
  operation: Operation,
  sent: Readonly<Record<string, unknown>>,
  clean: (text: string) => string,
): Outcome {
  const outcome = readOutcome(answer, operation, sent, clean);
  if (session === "accepted" || outcome.kind !== "unknown") return outcome;
  return { kind: "refused", words: [...outcome.words, `the session was refused (${outcome.reason})`] };
}

function sentence(words: readonly string[]): string {
  if (words.length === 0) return "the answer holds no words that say why.";
  const text = excerpt(joined(words), MAX_REFUSAL_CHARACTERS);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function joined(words: readonly string[]): string {
  return words.map((word, at) => (at === words.length - 1 || /[.!?:;]$/.test(word) ? word : `${word};`)).join(" ");
}

function sessionHint({ session }: SessionAnswer, settings: Settings): string | undefined {
  if (session === "accepted") return undefined;
  if (settings.authMode === "basic") {
    return "Check advertising:email, advertising:password and whether this installation takes Basic credentials.";
  }
  return session === "refused-again"
    ? "It was sent again on a new session and refused again: the account may lack the permission, or the login may not be valid there" +
        (settings.keepLoggedIn
          ? "; or each answer ends the session before it, and advertising:maxConcurrentRequests must be 1."
          : ".")
    : "The session is new; another login would not help: the account may lack the permission.";
}

function translate(error: unknown, what: string, url: URL, sentAt: string, settings: Settings): unknown {
  if (error instanceof AdvertisingError) return error;
  if (error instanceof StopWaiting) {
    const status = error.answer === undefined ? "" : ` (status ${error.answer.status})`;
    return new RateLimitedError(
      `${what} was not carried out: the platform limits the rate${status} and takes requests again from ` +
        `${error.allowedFrom} on; that is longer than advertising:maxWaitSeconds ` +
        `(${settings.maxWaitSeconds} s) allows. Nothing was created. Run it again then.`,
    );
  }
  if (error instanceof TransportFailure) {
    const happened = describeFailure(error, url);
    return error.sent
      ? new OutcomeUnknownError(`${what} was sent at ${sentAt}, but ${happened}.`, sentAt, { cause: error })
      : new NotSentError(`${what} was not sent: ${happened}. Nothing was created.`, { cause: error });
  }
  return error;
}
