/**
 * One request and its answer: hands it to the session, and says in words what kept it from being answered.
 */

import {
  AdvertisingError,
  excerpt,
  NoAnswerError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  type Values,
} from "../base/index.js";
import { addressOf, type Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import { describeFailure } from "./describe-failure.js";
import { StopWaiting } from "./patient.js";
import type { BeforeSend, SessionAnswer, SessionRequest } from "./session.js";
import { TransportFailure } from "./transport.js";

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

export interface ExchangeRequest {
  readonly operation: Operation;
  /** For the placeholders of its path. */
  readonly values?: Readonly<Record<string, string>>;
  /** The request's fields in wire names; none where there is nothing to say. */
  readonly fields?: Values;
  /** The resource, for messages: `ConversionEvent "purchase"`. */
  readonly label: string;
  readonly beforeSend?: BeforeSend;
  /** What a request that was not carried out has left as it was, as a sentence: `Nothing was created.` */
  readonly otherwise: string;
}

export interface Exchange extends SessionAnswer {
  /** For messages: `ConversionEvent "purchase": POST https://…` */
  readonly what: string;
  /** ISO 8601. */
  readonly sentAt: string;
}

/** @throws {AdvertisingError} there is no answer. */
export async function exchange(
  { settings, session }: ClientOptions,
  { operation, values, fields, label, beforeSend, otherwise }: ExchangeRequest,
): Promise<Exchange> {
  const { method, repeatable } = operation;
  const url = addressOf(operation, settings.baseUrl, values);
  const what = `${label}: ${method} ${url.href}`;
  const body = fields === undefined ? undefined : JSON.stringify(fields);
  let sentAt = "";
  try {
    const result = await session.send({ method, url, body, repeatable }, async (at) => {
      await beforeSend?.(at);
      sentAt = at;
    });
    return { ...result, what, sentAt };
  } catch (error) {
    throw translate(error, { what, url, sentAt, repeatable, otherwise }, settings);
  }
}

interface Asked {
  readonly what: string;
  readonly url: URL;
  readonly sentAt: string;
  readonly repeatable: boolean;
  readonly otherwise: string;
}

function translate(error: unknown, { what, url, sentAt, repeatable, otherwise }: Asked, settings: Settings): unknown {
  if (error instanceof AdvertisingError) return error;
  if (error instanceof StopWaiting) {
    const status = error.answer === undefined ? "" : ` (status ${error.answer.status})`;
    return new RateLimitedError(
      `${what} was not carried out: the platform limits the rate${status} and takes requests again from ` +
        `${error.allowedFrom} on; that is longer than advertising:maxWaitSeconds ` +
        `(${settings.maxWaitSeconds} s) allows. ${otherwise} Run it again then.`,
    );
  }
  if (error instanceof TransportFailure) {
    const happened = describeFailure(error, url);
    if (!error.sent) return new NotSentError(`${what} was not sent: ${happened}. ${otherwise}`, { cause: error });
    const told = `${what} was sent at ${sentAt}, but ${happened}.`;
    return repeatable
      ? new NoAnswerError(`${told} Run it again.`, { cause: error })
      : new OutcomeUnknownError(told, sentAt, { cause: error });
  }
  return error;
}

/** What to do where the session refused a request. */
export function sessionHint(session: SessionAnswer["session"], settings: Settings): string | undefined {
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

/** Room for what is wrong with each field. */
const MAX_REFUSAL_CHARACTERS = 4000;
/** Of an answer in doubt, which may be any server's. */
const MAX_EXCERPT_CHARACTERS = 500;

/** The platform's words of a refusal, as sentences. */
export function refusalIn(words: readonly string[]): string {
  if (words.length === 0) return "the answer holds no words that say why.";
  return asSentence(excerpt(joined(words), MAX_REFUSAL_CHARACTERS));
}

/** The platform's words of an answer in doubt, with a space in front; empty without any. */
export function saidIn(words: readonly string[]): string {
  const text = excerpt(joined(words), MAX_EXCERPT_CHARACTERS);
  return text === "" ? "" : ` The platform said: ${asSentence(text)}`;
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function joined(words: readonly string[]): string {
  return words.map((word, at) => (at === words.length - 1 || /[.!?:;]$/.test(word) ? word : `${word};`)).join(" ");
}
