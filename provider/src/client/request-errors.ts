/** The errors of failed requests: what happened, the platform's own words, and what to do next. Pure. */
import {
  BadAnswerError,
  joined,
  NotSentError,
  OutcomeUnknownError,
  printable,
  RateLimitedError,
  RefusedError,
} from "../base/index.js";
import type { Kind, Operation } from "../kinds/index.js";
import type { Verdict } from "./classify-response.js";
import { TLS_FAILURE } from "./decide-retry.js";
import { WaitBudgetExceeded } from "./retry.js";
import type { SessionVerdict } from "./session-problem.js";
import { TransportFailure } from "./transport.js";
import { asSentence, type Quotable, quoteFor, wordsOf } from "./words.js";

/** The operation of a request, and what its errors need to know about the resource. */
export interface RequestOrigin {
  kind: Kind;
  operation: Operation;
  /** The next step if the object doesn't exist: a clause with its full stop, or commands; empty if another message has it. */
  ifAbsent?: string;
}

interface Answered extends Quotable, RequestOrigin {
  kind: Kind;
  /** Such as `ConversionEvent "purchase": POST https://…` */
  what: string;
  credentialsSource: string;
  session: SessionVerdict;
}

export const NOTHING_CREATED = "Nothing was created.";

/** A wrong "gone" would create a second object, so a person decides if the platform doesn't say it clearly. */
function adviceIfAbsent({ ifAbsent }: Answered) {
  if (ifAbsent)
    return `Look in the account. If the object is there, check advertising:operations. If it isn't, ${ifAbsent}`;
}

/** Advice if an event was refused because its advertiser is inactive: the platform is known to make them so. */
const ACTIVATE =
  "Activate that advertiser on the platform by hand, and run this again. Unless an update is known, a " +
  "change of the Advertiser's arguments creates another one.";
const IS_INACTIVE = /\badvertiser( with id)?( \d+)? is (not active|inactive)\b/i;

export function refusalError(answered: Answered) {
  const { answer, what } = answered;
  const words = wordsOf(answered);
  const why = words.length === 0 ? "the response doesn't say why." : asSentence(words);
  const how = `${what} was refused with status ${answer.status}: ${why}`;
  return new RefusedError(joined(" ", how, effectOf(answered), adviceOn(answered, words)));
}

/** For a request that certainly wasn't carried out: only a create needs to say so. */
function effectOf({ operation }: Pick<Answered, "operation">) {
  if (!operation.idempotent) return NOTHING_CREATED;
}

function adviceOn(answered: Answered, words: readonly string[]) {
  const { answer, operation, fields, session, credentialsSource } = answered;
  if (session !== "accepted")
    return `Check advertising:authMode, ${credentialsSource}, and what the account may do on the platform.`;
  const isElsewhere = [301, 302, 303, 404, 405, 410].includes(answer.status);
  // A refused read or delete (without fields) may mean that there is no object. This only changes the advice.
  const mayBeGone = isElsewhere || Object.keys(fields).length === 0;
  if (operation.path.includes("{id}") && mayBeGone) return adviceIfAbsent(answered);
  if (isElsewhere)
    return "Check the address: advertising:baseUrl, including its path, and advertising:operations.";
  if (words.some((word) => IS_INACTIVE.test(word))) return ACTIVATE;
}

/** The error of a read, update, delete or search that proved nothing, or that was refused. */
export function unusableResponseError(verdict: Verdict, answered: Answered) {
  const { answer, what, operation } = answered;
  const { status } = answer;
  if (verdict.kind === "refused" || status === 404 || status === 410)
    return refusalError(answered);
  const got = `${what} got an unusable response (status ${status})`;
  if (verdict.kind !== "unclear")
    return new BadAnswerError(
      joined(
        " ",
        `${got}: it has no object, but this operation has found none in this run.`,
        adviceIfAbsent(answered),
      ),
    );
  // The response to a read or a search may contain data of other objects, which must not be quoted.
  const isData = status < 300 && answer.kind === "json" && operation.method === "GET";
  const words = isData ? "" : quoteFor(answered);
  return new BadAnswerError(`${got}: ${verdict.reason}.${words} Run this again.`);
}

/** The error of a request without a response. @param sentAt empty if no sending began. */
export function noResponseError(
  error: unknown,
  request: Pick<Answered, "what" | "operation">,
  url: URL,
  sentAt: string,
) {
  const { what, operation } = request;
  const cause = whyNoResponse(error, url);
  if (cause === undefined) return error;
  const options = { cause: error };
  const failed = (how: string) =>
    joined(" ", `${what} ${how}: ${cause}.`, effectOf(request));
  if (error instanceof WaitBudgetExceeded)
    return new RateLimitedError(failed("wasn't carried out"));
  if (error instanceof TransportFailure && !error.sent)
    return new NotSentError(failed("was not sent"), options);
  const message = `${what} was sent at ${sentAt}, but ${cause}.`;
  if (!operation.idempotent) return new OutcomeUnknownError(message, options);
  return new BadAnswerError(`${message} Run this again.`, options);
}

/** Why a request got no response, as a clause; undefined for any other error. */
export function whyNoResponse(error: unknown, url: URL) {
  if (error instanceof WaitBudgetExceeded) return error.message;
  if (error instanceof TransportFailure) return describeFailure(error, url);
}

const UNKNOWN_AUTHORITY = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/;

/** @param address the settings that have the address */
function nextStep(detail: string, address: string) {
  if (UNKNOWN_AUTHORITY.test(detail))
    return (
      "this machine doesn't know the authority that signed the server's certificate: set " +
      "NODE_EXTRA_CA_CERTS to a file with the authority's certificate"
    );
  if (TLS_FAILURE.test(detail))
    return (
      `check this machine's clock, and the scheme and the port of ${address}: the server needs a valid ` +
      "certificate, TLS 1.2 or newer, and HTTP/1.1; if it asks for a client certificate, let a proxy add it"
    );
}

/** Why a request got no response: one clause, such as `could not connect to x:443 (ECONNREFUSED …); check …`. */
export function describeFailure(failure: TransportFailure, { host }: URL) {
  const { code, sent, tunnel } = failure;
  // Of OpenSSL's text, `<thread>:error:<number>:<library>:<function>:<reason>:<source>`, only the reason.
  const message = printable(
    failure.message.replace(/\w+:error:(?:[^:]*:){3}([^:]*):.*/s, "$1"),
  );
  if (code === "ADVERTISING_TOO_LATE") return message;
  const isInMessage = code.startsWith("ADVERTISING_") || message.includes(code);
  const detail = isInMessage ? message : `${code}: ${message}`;
  let address = "advertising:baseUrl";
  if (sent) {
    const failed = `the connection to ${host} failed after sending (${detail})`;
    return joined("; ", failed, nextStep(detail, address));
  }
  let way = host;
  if (tunnel) {
    const { status, variable } = tunnel;
    const proxy = `the proxy ${tunnel.host} (${variable})`;
    if (status !== undefined)
      return (
        `${proxy} returned status ${status} for a connection to ${host}: check its rules; ` +
        `if it wants a login, set ${variable} to http://user:password@host:port`
      );
    way = `${host} through ${proxy}`;
    address = `${variable} and ${address}`;
  }
  const step = nextStep(detail, address) ?? `check ${address}, the network and firewalls`;
  return `could not connect to ${way} (${detail}); ${step}`;
}
