/**
 * Whether a request may be sent once more, as a pure decision with a reason a branch.
 */
import { retryAfterMs } from "./retry-after.js";
import type { HttpAnswer, TransportFailure } from "./transport.js";

/** How one attempt ended. */
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
/** What may be repeated is tried this often where its outcome is unknown: logins are rate limited. */
const MAX_REPEATED_ATTEMPTS = 3;

const CERTIFICATE_CODE =
  /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH|UND_ERR_PRX_TLS)/;

/** Whether the failure is about a certificate or TLS: trying again gives the same answer. */
export function isCertificateFailure(failure: TransportFailure): boolean {
  return CERTIFICATE_CODE.test(failure.code) || /certificate|SSL routines/i.test(failure.message);
}

/** Statuses with which a proxy says that it could not get through just now; it goes on giving any other one. */
const PASSING_PROXY_STATUS = [408, 429, 500, 502, 503, 504];

/** Whether a proxy refuses for good: for its credentials or its rules. */
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
