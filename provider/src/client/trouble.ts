/**
 * Makes the error of a failed request: what it was, what is known about it, and what to do next. `client.ts` calls this with a judged
 * answer, or with the failure if there is no answer; `login.ts` describes its own failures with the same words. Pure.
 */
import {
  AdvertisingError,
  BadAnswerError,
  NotSentError,
  OutcomeUnknownError,
  printable,
  RateLimitedError,
  RefusedError,
  SettingsError,
} from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import type { Answer } from "./answer.js";
import type { Trouble } from "./judge.js";
import { isCertificateFailure, StopWaiting } from "./patient.js";
import type { LetThrough } from "./session-refusal.js";
import { TransportFailure } from "./transport.js";
import { type Reading, refusalIn, saidIn, wordsOf } from "./words.js";

export interface Asked {
  /** Such as `ConversionEvent "purchase": POST https://…` */
  readonly what: string;
  /** The sentence for a request that was not carried out: `Nothing was created.` Empty if that is not proved. */
  readonly otherwise: string;
  readonly settings: Settings;
  /** Where e-mail and password come from, in words. */
  readonly credentials: string;
}

export interface Answered extends Asked {
  readonly answer: Answer;
  readonly session: LetThrough;
  readonly reading: Reading;
}

/** Advice for an event's refusal because of its advertiser, which the platform is known to make inactive. */
const ACTIVATE =
  "Activate that advertiser on the platform, by hand in its own interface, and run this again; leave the Advertiser's " +
  "arguments as they are, since a change of them makes another advertiser.";
const IS_INACTIVE = /^(the )?advertiser( (with id )?\d+)? is (not active|inactive)$/i;

/** @param why what is to be said beside the platform's words. */
export function refusal({ answer, what, otherwise, session, settings, credentials, reading }: Answered, why?: string) {
  const { status, data } = answer;
  const words = wordsOf(answer, reading);
  const clauses = words.flatMap((word) => word.split(/[;:.](?=\s|$)\s*|advertiser_id (?=advertiser)/));
  const isInactive = reading.fields.includes("advertiser_id") && clauses.some((clause) => IS_INACTIVE.test(clause));
  const sentences = [
    refusalIn(why === undefined ? words : [...words, why], data),
    otherwise,
    session === "accepted" ? "" : sessionHint(settings, credentials),
    session === "accepted" && (status === 404 || status === 405) ? "Check advertising:baseUrl, its path included." : "",
    session === "accepted" && isInactive ? ACTIVATE : "",
  ];
  return new RefusedError(`${what} was refused with status ${status}: ${sentences.filter(Boolean).join(" ")}`);
}

function sessionHint({ authMode }: Settings, credentials: string): string {
  return authMode === "basic"
    ? `Check ${credentials}, and whether this installation takes Basic credentials.`
    : "Another login would not help: the account may lack the permission, or the session may not be valid there.";
}

/** The error for an answer that does not say that the request was carried out. */
export function troubled(trouble: Trouble, answered: Answered): AdvertisingError {
  const { answer, what, otherwise, reading } = answered;
  const said = saidIn(wordsOf(answer, reading));
  const unchanged = otherwise === "" ? "" : ` ${otherwise}`;
  switch (trouble.kind) {
    case "refused":
      return refusal(answered);
    case "no-operation":
      return new SettingsError(
        `${what} got status ${answer.status}: this is not an operation of this installation.${unchanged} ` +
          "Check advertising:operations.",
      );
    case "missing":
      return new BadAnswerError(
        `${what} got status ${answer.status}, which does not say whether the object or the operation is missing: the operation has ` +
          `found nothing in this run.${said}${unchanged} Look in the account.\n` +
          "If the object is there, this is not an operation of this installation: check advertising:operations.\n" +
          "If it is not there, take its key out of the program (an event of a set), or run:\n  pulumi state delete '<its URN>'",
      );
    case "unclear": {
      // Of a success, data of other objects is not to be quoted.
      const words = answer.status < 300 && answer.kind === "json" && !trouble.isSaid ? "" : said;
      return new BadAnswerError(
        `${what} got no usable response (status ${answer.status}): ${trouble.reason}.${words} Run it again.`,
      );
    }
  }
}

/** Whether a failure came before anything was sent, or from a rate limit: then the last sending was not carried out. */
export function isBeforeSending(error: unknown): boolean {
  if (error instanceof TransportFailure) return !error.sent;
  return error instanceof StopWaiting || error instanceof AdvertisingError;
}

export function unanswered(error: unknown, asked: Asked, url: URL, sentAt: string, { repeatable }: Operation): unknown {
  const { what, otherwise, settings } = asked;
  if (error instanceof StopWaiting) {
    return new RateLimitedError(
      `${what} was not carried out: the platform limits the rate (${error.reason}) and takes requests again from ` +
        `${error.allowedFrom} on; that is longer than advertising:maxWaitSeconds ` +
        `(${settings.maxWaitSeconds} s) allows. ${otherwise} Run it again then.`,
    );
  }
  if (!(error instanceof TransportFailure)) return error;
  const happened = describeFailure(error, url);
  if (!error.sent) return new NotSentError(`${what} was not sent: ${happened}. ${otherwise}`, { cause: error });
  const told = `${what} was sent at ${sentAt}, but ${happened}.`;
  return repeatable
    ? new BadAnswerError(`${told} Run it again.`, { cause: error })
    : new OutcomeUnknownError(told, sentAt, { cause: error });
}

/** What to do next, by what the failure says; `{address}` is the setting that has the host's address. */
const NEXT_STEPS: readonly (readonly [RegExp, string])[] = [
  [/wrong.version.number|packet length too long/i, "it does not speak TLS: check the scheme and the port of {address}"],
  [/protocol.version|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER|HANDSHAKE_FAILURE/i, "TLS 1.2 or newer is needed there"],
  [/ENOTFOUND|EAI_AGAIN/, "check {address} and the network: the name could not be looked up"],
  [/ECONNREFUSED/, "nothing listens there: check {address}"],
  [/UND_ERR_CONNECT_TIMEOUT/, "check the network and firewalls"],
];
const AT_CERTIFICATE = "its certificate has to be fixed, or its authority made known with NODE_EXTRA_CA_CERTS";

/** One clause, without a full stop, such as `could not connect to x:443 (ECONNREFUSED …)`. */
export function describeFailure(failure: TransportFailure, url: URL): string {
  const { code, tunnel } = failure;
  const message = printable(failure.message);
  const isOwn = code.startsWith("ADVERTISING_"); // said in the message
  const detail = isOwn || message.includes(code) ? message : `${code}: ${message}`;
  if (failure.sent) return `the connection to ${url.host} failed after sending (${detail})`;
  if (code === "ADVERTISING_TOO_LATE") return detail;
  const proxy = tunnel === undefined ? "" : `the proxy ${tunnel.host} (${tunnel.variable})`;
  if (tunnel?.status !== undefined) {
    const told = `${proxy} returned status ${tunnel.status} when asked for a connection to ${url.host}`;
    const isUnknown = tunnel.status === 407;
    return `${told}: ${isUnknown ? `set ${tunnel.variable} to http://user:password@host:port` : "check its rules"}`;
  }
  const isAtProxy = tunnel?.granted === false;
  const host = isAtProxy ? proxy : `${url.host}${tunnel === undefined ? "" : ` through ${proxy}`}`;
  const known = NEXT_STEPS.find(([says]) => says.test(detail))?.[1];
  const next = known ?? (isCertificateFailure(failure) ? AT_CERTIFICATE : "");
  const address = isAtProxy ? tunnel.variable : "advertising:baseUrl";
  return `could not connect to ${host} (${detail})${next && `; ${next.replace("{address}", () => address)}`}`;
}
