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
  type Values,
} from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import { type Answer, documented } from "./answer.js";
import type { TunnelTrouble } from "./connections.js";
import { TransportFailure } from "./http.js";
import type { Trouble } from "./judgement.js";
import { isCertificateFailure, StopWaiting } from "./patient.js";
import type { LetThrough } from "./session-refusal.js";
import { type Reading, refusalIn, saidIn, wordsOf } from "./words.js";

export interface Asked {
  /** Such as `ConversionEvent "purchase": POST https://…` */
  readonly what: string;
  /** The sentence for a request that was not carried out: `Nothing was created.` Empty if that is not proved. */
  readonly otherwise: string;
  readonly settings: Settings;
  /** Where e-mail and password come from, in words. */
  readonly credentials: string;
  /** What to do if the object does not exist. @default for one that the state has */
  readonly ifNotThere?: string | undefined;
}

export interface Answered extends Asked {
  readonly answer: Answer;
  readonly session: LetThrough;
  readonly reading: Reading;
}

/** @param words the platform's, and this package's beside them. */
export function refusal(
  { what, otherwise, answer, ...rest }: Answered,
  words: readonly string[],
  hints: readonly string[] = [],
): RefusedError {
  const hint = sessionHint(rest);
  const sentences = [refusalIn(words), otherwise, ...(hint === undefined ? [] : [hint]), ...hints];
  return new RefusedError(
    `${what} was refused with status ${answer.status}: ${sentences.filter((each) => each !== "").join(" ")}`,
  );
}

const LEAVES_STATE =
  "If it is not there, take its key out of the program (an event of a set), or run:\n  pulumi state delete '<its URN>'";

/** The error for an answer that does not say that the request was carried out. */
export function troubled(trouble: Trouble, answered: Answered): AdvertisingError {
  const { answer, what, otherwise, reading, ifNotThere = LEAVES_STATE } = answered;
  const words = wordsOf(answer, reading);
  const unchanged = otherwise === "" ? "" : ` ${otherwise}`;
  switch (trouble.kind) {
    case "refused":
      return refusal(answered, words);
    case "no-operation":
      return new SettingsError(
        `${what} got status ${answer.status}: this is not an operation of this installation.${unchanged} ` +
          "Check advertising:operations.",
      );
    case "not-found":
      return new BadAnswerError(
        `${what} got status ${answer.status}, which does not say whether the object or the operation is missing: ` +
          `${trouble.isBare ? "the operation has found nothing in this run" : "what it says is about neither"}.${trouble.isBare ? "" : saidIn(words)}${unchanged} Look in the account.\n` +
          "If the object is there, this is not an operation of this installation: check advertising:operations.\n" +
          ifNotThere,
      );
    case "another":
      return new RefusedError(
        `${what} got a response with the id ${trouble.id}, which proves nothing about this object: look in the account for an object ` +
          `${trouble.id} that nothing manages, and check advertising:operations.`,
      );
    case "unclear":
      return new BadAnswerError(
        `${what} got no usable response (status ${answer.status}): ${trouble.reason}.${isData(answer) ? "" : saidIn(words)} Run it again.`,
      );
  }
}

/** Whether the body is data of other objects, as in a success, which is not to be quoted. */
function isData({ status, kind }: Answer): boolean {
  return status < 300 && kind === "json";
}

/** Whether a failure came before anything was sent, or from a rate limit: then the last sending was not carried out. */
export function isBeforeSending(error: unknown): boolean {
  if (error instanceof TransportFailure) return !error.sent;
  return error instanceof StopWaiting || error instanceof AdvertisingError;
}

export function unanswered(
  error: unknown,
  { what, otherwise, settings }: Asked,
  url: URL,
  sentAt: string,
  { repeatable }: Operation,
): unknown {
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
      ? new BadAnswerError(`${told} Run it again.`, { cause: error })
      : new OutcomeUnknownError(told, sentAt, { cause: error });
  }
  return error;
}

/** What to do next, by the failure's code; `{address}` is where the host's address comes from. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the name is not known: check {address} and the network",
  EAI_AGAIN: "the name could not be looked up: check the network",
  ECONNREFUSED: "nothing listens there: check {address}",
  ENETUNREACH: "the network can't be reached",
  EHOSTUNREACH: "the host can't be reached",
  UND_ERR_CONNECT_TIMEOUT: "no connection was made in time: check the network and firewalls",
};

/** One clause, without a full stop, such as `could not connect to x:443 (ECONNREFUSED …)`. */
export function describeFailure(failure: TransportFailure, url: URL): string {
  const message = printable(failure.message);
  const isOwn = failure.code.startsWith("ADVERTISING_"); // said in the message
  const detail = isOwn || message.includes(failure.code) ? message : `${failure.code}: ${message}`;
  if (failure.sent) return `the connection to ${url.host} failed after sending (${detail})`;
  if (failure.code === "ADVERTISING_TOO_LATE") return detail;
  const { tunnel } = failure;
  if (tunnel?.status !== undefined) return describeProxyRefusal(tunnel, tunnel.status, url);

  const atProxy = tunnel?.granted === false;
  const proxy = tunnel === undefined ? "" : `the proxy ${tunnel.host} (${tunnel.variable})`;
  const host = atProxy ? proxy : `${url.host}${tunnel === undefined ? "" : ` through ${proxy}`}`;
  const address = atProxy ? tunnel.variable : "advertising:baseUrl";
  if (/wrong version number|packet length too long|WRONG_VERSION_NUMBER/i.test(message)) {
    return `${host} does not speak TLS (${detail}): check the scheme and the port of ${address}`;
  }
  if (/PROTOCOL_VERSION|protocol version|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER|HANDSHAKE_FAILURE/i.test(detail)) {
    return `${host} and this side have no version or cipher of TLS in common (${detail}): ${atProxy ? "the proxy" : "the platform"} has to offer TLS 1.2 or newer`;
  }
  if (isCertificateFailure(failure)) {
    const whose = atProxy ? "the proxy's certificate" : "the platform's certificate";
    const inspecting =
      tunnel === undefined || atProxy ? "" : ", or the proxy's if that puts in a certificate of its own,";
    return `the TLS connection to ${host} was not trusted (${detail}): ${whose} has to be fixed, or its authority${inspecting} made known with NODE_EXTRA_CA_CERTS`;
  }
  const next = NEXT_STEPS[failure.code]?.replace("{address}", () => address);
  return `could not connect to ${host} (${detail})${next === undefined ? "" : `; ${next}`}`;
}

function describeProxyRefusal(tunnel: TunnelTrouble, status: number, url: URL): string {
  const { host, variable } = tunnel;
  return `the proxy ${host} (${variable}) returned status ${status} when asked for a connection to ${url.host}: ${nextStepAtProxy(tunnel, status)}`;
}

function nextStepAtProxy({ variable, credentials }: TunnelTrouble, status: number): string {
  switch (credentials) {
    case "missing":
      return `it asks for a user name and a password, and ${variable} has none: http://user:password@host:port`;
    case "refused":
      return `it does not accept the user name and the password in ${variable}: check them (special characters are percent-encoded there)`;
    case "of another kind":
      return `it asks for a login other than Basic, and only Basic is supported: name another proxy in ${variable}`;
  }
  return status >= 500
    ? `it could not connect: check advertising:baseUrl, and whether ${variable} names the right proxy`
    : `its rules do not allow this: have the platform's address allowed, name another proxy in ${variable}, or name the host in NO_PROXY if it can be reached without a proxy`;
}

/**
 * Advice for a refusal whose cause the platform names in documented or observed words. Otherwise there is none, because people follow wrong
 * advice too. No advice may replace a live object: a changed argument of an `Advertiser` makes another advertiser.
 */
interface Hint {
  readonly advice: string;
  /** Matches a whole clause of a statement. */
  readonly clause: RegExp;
  readonly codes: RegExp;
  /** Only for an object that belongs to an advertiser. */
  readonly ofOwned?: true;
}

export const HINTS = {
  inactive: {
    advice:
      "Activate that advertiser on the platform, by hand in its own interface, and run this again; leave the Advertiser's " +
      "arguments as they are, since a change of them makes another advertiser.",
    clause: /^(advertiser_id:? )?(the )?advertiser( (with id )?\d+)? is (not active|inactive)$/i,
    codes: /^advertiser_(not_active|inactive)$/i,
    ofOwned: true,
  },
  taken: {
    advice:
      "If the object exists already, adopt it with existingId. (If the taken name belongs to the object that you are replacing, rename that one by hand " +
      "on the platform first.)",
    clause:
      /^((the )?([a-z]+[ _])?name (is |has )?)?((already )?(been )?taken|already exists|exists already)$|^(is|has) (already )?(been )?taken$/i,
    codes: /^name_taken$/i,
  },
  unknownField: {
    advice:
      "This installation does not know that field: remove it from additionalFields, or write its name as the installation does.",
    clause:
      /^(\w+ is (not a known|an unknown) field|is (not a known|an unknown) field|unknown field:? \w+|unknown field)$/i,
    codes: /^unknown_field$/i,
  },
} satisfies Readonly<Record<string, Hint>>;

const ADDRESS = "Check advertising:baseUrl, its path included.";

/** @param sent the request's fields, because the name of an event is not the platform's statement. */
export function hintsFor(answer: Answer, operation: Pick<Operation, "fields">, sent: Values): string[] {
  const values = Object.values(sent).filter((value) => typeof value === "string");
  const statements = documented(answer);
  const clauses = statements
    .flatMap(({ text }) => text.replace(/^ERROR:\s*/i, "").split(/(?:[;:]|\.(?=\s|$))\s*/))
    .filter((clause) => !values.some((value) => value.includes(clause)));
  const codes = statements.flatMap(({ code }) => code?.value ?? []);
  const isOwned = operation.fields.includes("advertiser_id");
  const fitting = Object.values<Hint>(HINTS).filter(
    (hint) =>
      (hint.ofOwned !== true || isOwned) &&
      (clauses.some((clause) => hint.clause.test(clause.trim())) || codes.some((code) => hint.codes.test(code))),
  );
  const { status } = answer;
  return [...(status === 404 || status === 405 ? [ADDRESS] : []), ...fitting.map(({ advice }) => advice)];
}

function sessionHint({ session, settings, credentials }: Pick<Answered, "session" | "settings" | "credentials">) {
  if (session === "accepted") return undefined;
  if (settings.authMode === "basic") {
    return `Check ${credentials}, and whether this installation takes Basic credentials.`;
  }
  return session === "refused-again"
    ? "It was sent again on a new session and refused again: the account may lack the permission, or the login may not be valid there" +
        (settings.keepLoggedIn
          ? "; or each response ends the session before it, and advertising:maxConcurrentRequests must be 1."
          : ".")
    : "The session is new; another login would not help: the account may lack the permission.";
}
