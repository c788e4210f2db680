/** The errors of failed requests: what happened, the platform's own words, and what to do next. Pure. */
import {
  type AdvertisingError,
  BadAnswerError,
  inStack,
  joined,
  NotSentError,
  OutcomeUnknownError,
  printable,
  RateLimitedError,
  RefusedError,
  shellWord,
} from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import type { Verdict } from "./classify-response.js";
import { WaitBudgetExceeded } from "./retry.js";
import type { SessionVerdict } from "./session-problem.js";
import { TransportFailure } from "./transport.js";
import { asSentence, type Quotable, quoteFor, wordsOf } from "./words.js";

interface Answered extends Quotable {
  operation: Operation;
  /** Such as `ConversionEvent "purchase": POST https://…` */
  what: string;
  /** The URN of a single resource in the state, if it is known. */
  urn?: string | undefined;
  settings: Settings;
  credentialsSource: string;
  session: SessionVerdict;
}

export const NOTHING_CREATED = "Nothing was created.";

/** A wrong "gone" would create a second object, so a person decides if the platform doesn't say it clearly. */
function adviceIfAbsent({ urn = "<its URN>" }: Answered) {
  return (
    "Look in the account. If the object is there, check advertising:operations. If it isn't, " +
    "correct existingId if you set it; remove the key of a set's event; for any other resource, run:\n" +
    `  ${inStack("npx pulumi-advertising pending")}\n` +
    `  ${inStack(`pulumi state delete ${shellWord(urn)}`)}`
  );
}

/** Advice if an event was refused because its advertiser is inactive: the platform is known to make them so. */
const ACTIVATE =
  "Activate that advertiser on the platform by hand, and run this again. Don't change the Advertiser's " +
  "arguments: that creates another one.";
const IS_INACTIVE = /\badvertiser( with id)?( \d+)? is (not active|inactive)\b/i;

export function refusalError(answered: Answered): RefusedError {
  const { answer, what, operation } = answered;
  const words = wordsOf(answered);
  const why = words.length === 0 ? "the response doesn't say why." : asSentence(words);
  const effect = operation.idempotent ? "" : NOTHING_CREATED;
  const sentences = joined(" ", why, effect, adviceOn(answered, words));
  return new RefusedError(`${what} was refused with status ${answer.status}: ${sentences}`);
}

function adviceOn(answered: Answered, words: readonly string[]) {
  const { answer, operation, fields, session, settings, credentialsSource } = answered;
  if (session !== "accepted" && settings.authMode === "basic")
    return `Check ${credentialsSource}, and whether this installation accepts Basic credentials.`;
  if (session !== "accepted")
    return "Another login doesn't help. Ask the platform's administrator whether the account may do this, and whether this address accepts sessions.";
  const isElsewhere = [301, 302, 303, 404, 405, 410].includes(answer.status);
  // A refused read or delete (without fields) may mean that there is no object. This only changes the advice.
  const isWithoutFields = Object.keys(fields).length === 0;
  if (operation.path.includes("{id}") && (isElsewhere || isWithoutFields))
    return adviceIfAbsent(answered);
  if (isElsewhere && operation.idempotent) return "Check advertising:operations.";
  if (isElsewhere) return "Check advertising:baseUrl, including its path.";
  const hasAdvertiser = operation.fields.includes("advertiser_id");
  const isInactive = hasAdvertiser && words.some((word) => IS_INACTIVE.test(word));
  return isInactive ? ACTIVATE : undefined;
}

/** The error of a read, update, delete or search that proved nothing, or that was refused. */
export function unusableResponseError(
  verdict: Verdict,
  answered: Answered,
): AdvertisingError {
  const { answer, what, operation } = answered;
  const { status } = answer;
  if (verdict.kind === "refused" || status === 404 || status === 410)
    return refusalError(answered);
  const got = `${what} got an unusable response (status ${status})`;
  if (verdict.kind !== "unclear") {
    const nothing =
      "it has no object. As this operation has found none in this run, its path may be wrong";
    return new BadAnswerError(`${got}: ${nothing}. ${adviceIfAbsent(answered)}`);
  }
  // The response to a read or a search may contain data of other objects, which must not be quoted.
  const isData = status < 300 && answer.kind === "json" && operation.method === "GET";
  const words = isData ? "" : quoteFor(answered);
  return new BadAnswerError(`${got}: ${verdict.reason}.${words} Run this again.`);
}

/** The error of a request without a response. @param sentAt empty if no sending began. */
export function noResponseError(
  error: unknown,
  { what, operation }: Pick<Answered, "what" | "operation">,
  url: URL,
  sentAt: string,
): unknown {
  const nothingCreated = operation.idempotent ? "" : ` ${NOTHING_CREATED}`;
  if (error instanceof WaitBudgetExceeded)
    return new RateLimitedError(
      `${what} wasn't carried out: ${error.message}.${nothingCreated} Run this again after that time.`,
    );
  if (!(error instanceof TransportFailure)) return error;
  const cause = describeFailure(error, url);
  if (!error.sent)
    return new NotSentError(`${what} was not sent: ${cause}.${nothingCreated}`, {
      cause: error,
    });
  const message = `${what} was sent at ${sentAt}, but ${cause}.`;
  if (!operation.idempotent)
    return new OutcomeUnknownError(message, sentAt, { cause: error });
  return new BadAnswerError(`${message} Run this again.`, { cause: error });
}

/** The next step, by a pattern in the failure's text. `{address}` stands for the settings that have the address. */
const nextSteps = (address: string): readonly (readonly [RegExp, string])[] => [
  [
    /wrong.version.number|packet length too long/i,
    `the server doesn't speak TLS: check the scheme and the port of ${address}`,
  ],
  [
    /NO_APPLICATION_PROTOCOL/i,
    `the server doesn't offer HTTP/1.1: enable it there, or check ${address}`,
  ],
  // In TLS 1.2 ALERT_HANDSHAKE_FAILURE may also mean that there is no common cipher.
  [
    /CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE|\b(ssl|tls|client) certificate/i,
    `the server probably asks for a client certificate, which this package can't send: set ${address} to ` +
      "a proxy that adds it (http://localhost:…)",
  ],
  [
    /protocol.version|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER|HANDSHAKE_FAILURE/i,
    "the server has to support TLS 1.2 or newer",
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/,
    "this machine doesn't know the authority that signed the server's certificate: save the authority's " +
      "certificate in a file, and set NODE_EXTRA_CA_CERTS to its path",
  ],
  [
    /certificate|^CERT_|ALTNAME_INVALID|UNRECOGNIZED_NAME/i,
    `check this machine's clock and ${address}; if both are right, have the server's certificate fixed`,
  ],
];

export function nextStep(
  detail: string,
  address = "advertising:baseUrl",
): string | undefined {
  return nextSteps(address).find(([pattern]) => pattern.test(detail))?.[1];
}

/** Why a request got no response: one clause, such as `could not connect to x:443 (ECONNREFUSED …); check …`. */
export function describeFailure(failure: TransportFailure, { host }: URL): string {
  const { code, sent, tunnel } = failure;
  const message = printable(failure.message);
  if (code === "ADVERTISING_TOO_LATE") return message;
  const isInMessage = code.startsWith("ADVERTISING_") || message.includes(code);
  const detail = isInMessage ? message : `${code}: ${message}`;
  if (sent) {
    const failed = `the connection to ${host} failed after sending (${detail})`;
    return joined("; ", failed, nextStep(detail));
  }
  let way = "";
  let address = "advertising:baseUrl";
  if (tunnel) {
    const { status, variable } = tunnel;
    const proxy = `the proxy ${tunnel.host} (${variable})`;
    if (status !== undefined) {
      const login = `if it wants a login, set ${variable} to http://user:password@host:port`;
      return `${proxy} returned status ${status} for a connection to ${host}: check its rules; ${login}`;
    }
    way = ` through ${proxy}`;
    address = `${variable} and advertising:baseUrl`;
  }
  const step = nextStep(detail, address) ?? `check ${address}, the network and firewalls`;
  return `could not connect to ${host}${way} (${detail}); ${step}`;
}
