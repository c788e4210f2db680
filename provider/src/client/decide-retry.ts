/** Whether another attempt may follow a failed one: a pure decision, with a reason for each branch. */
import { type AttemptResult, TransportFailure } from "./transport.js";

interface RetryQuestion {
  attempt: AttemptResult;
  /** 1 for the first. */
  attemptNumber: number;
  /** Whether carrying the request out twice does no harm. */
  idempotent: boolean;
  wallClockMs: number;
  /** From 0 to 1, for the jitter. */
  random: number;
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 20_000;
/** How often a repeatable request is tried while its outcome is unknown: rarely, because logins are rate limited. */
const MAX_IDEMPOTENT_ATTEMPTS = 3;

/** A problem with a certificate or TLS: another attempt would fail too. */
export const TLS_FAILURE =
  /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|UNABLE_TO|HOSTNAME_|INVALID_|PATH_LENGTH)|SELF_SIGNED|certificate|SSL routines/i;

export function decideRetry({
  attempt,
  attemptNumber,
  idempotent,
  random,
  wallClockMs,
}: RetryQuestion) {
  const mayRepeat = idempotent && attemptNumber < MAX_IDEMPOTENT_ATTEMPTS;
  // Doubles with each attempt up to a limit, less a random part up to a half, so that many don't come back at once.
  const fullMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attemptNumber - 1));
  const delayMs = Math.round(fullMs * (1 - random / 2));
  const done = { kind: "done", delayMs } as const;
  const again = { kind: "again", delayMs } as const;

  if (attempt instanceof TransportFailure) {
    const { sent, code, message, tunnel } = attempt;
    if (TLS_FAILURE.test(`${code} ${message}`)) return done;
    // A request that was sent may have been carried out.
    if (sent && !mayRepeat) return done;
    // A proxy's refusal (credentials, rules) is final; a 5xx of the proxy may pass.
    if (tunnel?.status !== undefined && tunnel.status < 500) return done;
    // An unsent request was certainly not carried out: undici had not begun to write (there was no onRequestStart).
    return again;
  }

  const { status, headers } = attempt;
  const retryAfter = retryAfterMs(headers, wallClockMs);
  // Assumption: a request with a 429, or a 503 that names a time, was refused before anything was done.
  // All requests wait then, and 0 seconds must not cause a busy loop.
  if (status === 429 || (status === 503 && retryAfter !== undefined))
    return { kind: "limited", delayMs: Math.max(delayMs, retryAfter ?? 0) } as const;
  return status >= 500 && mayRepeat ? again : done;
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
) {
  const value = headers["retry-after"] ?? "";
  let ms = Number(value) * 1000;
  if (!/^\d+(\.\d+)?$/.test(value)) {
    if (!/[a-z]{3}/i.test(value)) return undefined;
    ms = Date.parse(value) - (Date.parse(headers.date ?? "") || wallClockMs);
  }
  if (Number.isNaN(ms)) return undefined;
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
}
