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

interface RetryDecision {
  /** `limited`: the platform asks for quiet, and all requests wait. */
  kind: "done" | "again" | "limited";
  delayMs: number;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 20_000;
/** For a rate limit without a usable Retry-After, whose window is unknown. */
const FIRST_LIMIT_BACKOFF_MS = 1000;
/** How often a repeatable request is tried while its outcome is unknown: rarely, because logins are rate limited. */
const MAX_IDEMPOTENT_ATTEMPTS = 3;

/** A problem with a certificate or TLS: another attempt would fail too. */
const TLS_FAILURE =
  /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|UNABLE_TO|HOSTNAME_|INVALID_|PATH_LENGTH)|SELF_SIGNED|certificate|SSL routines/i;

export function decideRetry({
  attempt,
  attemptNumber,
  idempotent,
  random,
  wallClockMs,
}: RetryQuestion): RetryDecision {
  const mayRepeat = idempotent && attemptNumber < MAX_IDEMPOTENT_ATTEMPTS;
  const done = { kind: "done", delayMs: 0 } as const;
  /** Doubles with each attempt up to a limit, less a random part up to a half, so that many don't come back at once. */
  const backoffMs = (firstMs: number) => {
    const full = Math.min(MAX_BACKOFF_MS, firstMs * 2 ** (attemptNumber - 1));
    return Math.round(full * (1 - random / 2));
  };

  if (attempt instanceof TransportFailure) {
    const { sent, code, message, tunnel } = attempt;
    if (TLS_FAILURE.test(`${code} ${message}`)) return done;
    // A request that was sent may have been carried out.
    if (sent && !mayRepeat) return done;
    // A proxy's refusal (credentials, rules) is final; a 5xx of the proxy may pass.
    if (tunnel?.status !== undefined && tunnel.status < 500) return done;
    // An unsent request was certainly not carried out: undici had not begun to write (there was no onRequestStart).
    return { kind: "again", delayMs: backoffMs(FIRST_BACKOFF_MS) };
  }

  const { status, headers } = attempt;
  const retryAfter = retryAfterMs(headers, wallClockMs);
  const delayMs = backoffMs(FIRST_LIMIT_BACKOFF_MS);
  // Assumption: a request with a 429, or a 503 that names a time, was refused before anything was done.
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    const askedMs = retryAfter ?? 0;
    // 0 seconds must not cause a busy loop.
    const isLong = askedMs >= FIRST_LIMIT_BACKOFF_MS;
    return { kind: "limited", delayMs: isLong ? askedMs : delayMs };
  }
  return status >= 500 && mayRepeat ? { kind: "again", delayMs } : done;
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
  if (/^\d+(\.\d+)?$/.test(value))
    return Math.min(MAX_RETRY_AFTER_MS, Number(value) * 1000);
  const until = Date.parse(value);
  if (!/[a-z]{3}/i.test(value) || Number.isNaN(until)) return undefined;
  const from = Date.parse(headers.date ?? "") || wallClockMs;
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, until - from));
}
