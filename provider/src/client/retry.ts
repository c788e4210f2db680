/**
 * A failed attempt: whether its request may be sent once more, as a pure decision with a reason a branch, and what is said of
 * it where it may not. `patient.ts` asks the first after each attempt; the client and the login ask the second.
 */
import { printable } from "../base/index.js";
import type { TunnelTrouble } from "./connections.js";
import type { HttpAnswer, TransportFailure } from "./transport.js";

/** The end of one attempt. */
export type Attempt = { readonly answer: HttpAnswer } | { readonly failure: TransportFailure };

export interface RetryQuestion {
  readonly attempt: Attempt;
  /** 1 for the first. */
  readonly attemptNumber: number;
  /**
   * Whether the request may be acted upon twice without harm: true for a login, a read, an update and a delete, false for a
   * create, which has no idempotency key.
   */
  readonly repeatable: boolean;
  readonly wallClockMs: number;
  /** From 0 to 1, for the jitter. */
  readonly random: number;
}

export type RetryDecision =
  | { readonly kind: "done" }
  /** Only this request waits. */
  | { readonly kind: "again"; readonly delayMs: number; readonly reason: string }
  /** The platform asks for quiet: all requests wait. */
  | { readonly kind: "limited"; readonly delayMs: number; readonly reason: string };

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 20_000;
/** A rate limit without a usable Retry-After: its window is unknown, so begin higher. */
const FIRST_LIMIT_BACKOFF_MS = 1000;
/** A request that may be repeated is tried so often while its outcome is unknown: logins are rate limited. */
const MAX_REPEATED_ATTEMPTS = 3;

const CERTIFICATE_CODE =
  /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH|UND_ERR_PRX_TLS)/;

/** Tells whether a failure is about a certificate or TLS: trying again gives the same answer. */
function isCertificateFailure(failure: TransportFailure): boolean {
  return CERTIFICATE_CODE.test(failure.code) || /certificate|SSL routines/i.test(failure.message);
}

/** Statuses with which a proxy says that it could not get through just now; it goes on giving any other one. */
const PASSING_PROXY_STATUS = [408, 429, 500, 502, 503, 504];

/** Tells whether a proxy refuses for good, for its credentials or its rules. */
function isProxyRefusal({ tunnel }: TransportFailure): boolean {
  return tunnel?.status !== undefined && !PASSING_PROXY_STATUS.includes(tunnel.status);
}

export function decideRetry(question: RetryQuestion): RetryDecision {
  const { attempt, attemptNumber, repeatable, random } = question;
  const done: RetryDecision = { kind: "done" };

  if ("failure" in attempt) {
    const { failure } = attempt;
    if (!failure.sent) {
      // Proof that nothing was acted upon: undici had not begun to write (its onRequestStart had not come).
      if (isCertificateFailure(failure) || isProxyRefusal(failure)) return done;
      const { message, tunnel } = failure;
      const reason = tunnel === undefined ? message : `through the proxy ${tunnel.host}: ${message}`;
      return { kind: "again", delayMs: backoffMs(FIRST_BACKOFF_MS, attemptNumber, random), reason };
    }
    if (repeatable && attemptNumber < MAX_REPEATED_ATTEMPTS) {
      return { kind: "again", delayMs: backoffMs(FIRST_BACKOFF_MS, attemptNumber, random), reason: failure.message };
    }
    return done; // sent, and nobody knows whether it was acted upon
  }

  const { status, headers } = attempt.answer;
  const asked = retryAfterMs(headers, question.wallClockMs);
  // Assumption: a 429 was refused before anything was done, and so was a 503 that says when to come back.
  if (status === 429 || (status === 503 && asked !== undefined)) {
    // An answer of 0 seconds must not make it spin.
    const delayMs = Math.max(asked ?? 0, backoffMs(FIRST_LIMIT_BACKOFF_MS, attemptNumber, random));
    return {
      kind: "limited",
      delayMs: asked !== undefined && asked >= FIRST_LIMIT_BACKOFF_MS ? asked : delayMs,
      reason: `status ${status}`,
    };
  }
  if (status >= 500 && repeatable && attemptNumber < MAX_REPEATED_ATTEMPTS) {
    return {
      kind: "again",
      delayMs: backoffMs(FIRST_LIMIT_BACKOFF_MS, attemptNumber, random),
      reason: `status ${status}`,
    };
  }
  return done;
}

/** Doubles with each attempt up to a ceiling, of which a random half is taken off so that many don't come back at once. */
function backoffMs(firstMs: number, attemptNumber: number, random: number): number {
  const full = Math.min(MAX_BACKOFF_MS, firstMs * 2 ** Math.min(attemptNumber - 1, 20));
  return Math.round(full * (1 - random / 2));
}

/** Retry-After asks for no more than this: longer than anybody waits, and short enough to add to a date. */
const MAX_RETRY_AFTER_MS = 366 * 24 * 3600 * 1000;

/**
 * Reads a Retry-After header (RFC 9110, section 10.2.3), which holds seconds or a date: how many milliseconds it asks to wait, a year at most; none where it is absent or unreadable.
 * A date is compared with the answer's own `Date` where it has one, so that a wrong clock on either side does no harm.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, wallClockMs: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(MAX_RETRY_AFTER_MS, Number(value) * 1000);
  const until = Date.parse(value);
  if (!/[a-z]{3}/i.test(value) || Number.isNaN(until)) return undefined;
  const answered = Date.parse(headers.date ?? "");
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, until - (Number.isNaN(answered) ? wallClockMs : answered)));
}

/** @param address where the host's address comes from. */
function nextStepFor(code: string, address: string): string | undefined {
  const steps: Readonly<Record<string, string>> = {
    ENOTFOUND: `the name is not known: check ${address} and the network`,
    EAI_AGAIN: "the name could not be looked up: check the network",
    ECONNREFUSED: `nothing listens there: check ${address}`,
    ENETUNREACH: "the network can't be reached",
    EHOSTUNREACH: "the host can't be reached",
    UND_ERR_CONNECT_TIMEOUT: "no connection was made in time: check the network and firewalls",
  };
  return steps[code];
}

/** One clause, without a full stop, such as `could not connect to x:443 (ECONNREFUSED …)`. */
export function describeFailure(failure: TransportFailure, url: URL): string {
  const message = printable(failure.message);
  const isOwn = failure.code.startsWith("ADVERTISING_"); // said in the message
  const detail = isOwn || message.includes(failure.code) ? message : `${failure.code}: ${message}`;
  if (failure.sent) return `the connection to ${url.host} failed after sending (${detail})`;
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
      tunnel === undefined || atProxy ? "" : ", or the proxy's where that puts in a certificate of its own,";
    return `the TLS connection to ${host} was not trusted (${detail}): ${whose} has to be fixed, or its authority${inspecting} made known with NODE_EXTRA_CA_CERTS`;
  }
  const next = nextStepFor(failure.code, address);
  return `could not connect to ${host} (${detail})${next === undefined ? "" : `; ${next}`}`;
}

function describeProxyRefusal(tunnel: TunnelTrouble, status: number, url: URL): string {
  const { host, variable } = tunnel;
  return `the proxy ${host} (${variable}) answered with status ${status} when asked for a connection to ${url.host}: ${nextStepAtProxy(tunnel, status)}`;
}

function nextStepAtProxy({ variable, credentials }: TunnelTrouble, status: number): string {
  switch (credentials) {
    case "missing":
      return `it asks for a user name and a password, and ${variable} holds none: http://user:password@host:port`;
    case "refused":
      return `it does not accept the user name and the password in ${variable}: check them (special characters are percent-encoded there)`;
    case "of another kind":
      return `it asks for another kind of login than Basic, the only one that is spoken here: name another proxy in ${variable}`;
  }
  return status >= 500
    ? `it could not connect: check advertising:baseUrl, and whether ${variable} names the right proxy`
    : `its rules do not allow this: have the platform's address allowed, name another proxy in ${variable}, or name the host in NO_PROXY where it can be reached without`;
}
