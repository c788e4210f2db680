/** Whether another attempt may follow a failed one: a pure decision, with a reason for each branch. */
import { type HttpResponse, TransportFailure } from "./transport.js";

export type Attempt = HttpResponse | TransportFailure;

interface RetryQuestion {
  readonly attempt: Attempt;
  /** 1 for the first. */
  readonly attemptNumber: number;
  /** Carrying it out twice does no harm. */
  readonly idempotent: boolean;
  readonly wallClockMs: number;
  /** From 0 to 1, for the jitter. */
  readonly random: number;
}

type RetryDecision =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly delayMs: number }
  /** The platform asks for quiet: all requests wait. */
  | { readonly kind: "limited"; readonly delayMs: number };

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 20_000;
/** For a rate limit without a usable Retry-After, whose window is unknown. */
const FIRST_LIMIT_BACKOFF_MS = 1000;
/** How often a repeatable request is tried while its outcome is unknown. Few times, because logins are rate limited. */
const MAX_IDEMPOTENT_ATTEMPTS = 3;

const CERTIFICATE_CODE =
  /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH)/;
/** In TLS 1.3 it comes after the request was written. */
const WANTS_CERTIFICATE = /CERTIFICATE_REQUIRED$/;

/** Whether a failure is about a certificate or TLS, so that another attempt would fail too. */
function isCertificateFailure({ code, message }: TransportFailure): boolean {
  return CERTIFICATE_CODE.test(code) || /certificate|SSL routines/i.test(message);
}

export function decideRetry(question: RetryQuestion): RetryDecision {
  const { attempt, attemptNumber, idempotent, random, wallClockMs } = question;
  const mayRepeat = idempotent && attemptNumber < MAX_IDEMPOTENT_ATTEMPTS;
  const done: RetryDecision = { kind: "done" };
  const again = (firstMs: number): RetryDecision => {
    return { kind: "again", delayMs: backoffMs(firstMs, attemptNumber, random) };
  };

  if (attempt instanceof TransportFailure) {
    const { sent, code, tunnel } = attempt;
    // It may have been carried out.
    if (sent && mayRepeat && !WANTS_CERTIFICATE.test(code)) return again(FIRST_BACKOFF_MS);
    if (sent) return done;
    // A proxy's refusal is final, because of credentials or rules, unless it reports a failure.
    if (tunnel?.status !== undefined && tunnel.status < 500) return done;
    if (isCertificateFailure(attempt)) return done;
    // It was certainly not carried out: undici had not begun to write (there was no onRequestStart).
    return again(FIRST_BACKOFF_MS);
  }

  const { status, headers } = attempt;
  const retryAfter = retryAfterMs(headers, wallClockMs);
  // Assumption: a request with a 429, or a 503 that names a time, was refused before anything was done.
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    const askedMs = retryAfter ?? 0;
    if (askedMs >= FIRST_LIMIT_BACKOFF_MS) return { kind: "limited", delayMs: askedMs };
    // 0 seconds must not cause a busy loop.
    const leastMs = backoffMs(FIRST_LIMIT_BACKOFF_MS, attemptNumber, random);
    return { kind: "limited", delayMs: Math.max(askedMs, leastMs) };
  }
  if (status >= 500 && mayRepeat) return again(FIRST_LIMIT_BACKOFF_MS);
  return done;
}

/** Doubles with each attempt up to a limit, less a random part up to a half, so that many don't come back at once. */
function backoffMs(firstMs: number, attemptNumber: number, random: number): number {
  const full = Math.min(MAX_BACKOFF_MS, firstMs * 2 ** Math.min(attemptNumber - 1, 20));
  return Math.round(full * (1 - random / 2));
}

/** The longest Retry-After: longer than any wait, and short enough to add to a date. */
const MAX_RETRY_AFTER_MS = 366 * 24 * 3600 * 1000;

/**
 * Reads a Retry-After header (RFC 9110, section 10.2.3): seconds or a date. @returns milliseconds, at most a year;
 * `undefined` if it is absent or unreadable. A date is compared with the answer's own `Date`, if any: a wrong clock does
 * no harm.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  wallClockMs: number,
): number | undefined {
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(MAX_RETRY_AFTER_MS, Number(value) * 1000);
  const until = Date.parse(value);
  if (!/[a-z]{3}/i.test(value) || Number.isNaN(until)) return undefined;
  const answered = Date.parse(headers.date ?? "");
  const from = Number.isNaN(answered) ? wallClockMs : answered;
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, until - from));
}
