/**
 * Reads a Retry-After header (RFC 9110, section 10.2.3): seconds, or a date. Pure.
 */

/** Longer than anybody waits, and short enough to add to a date. */
const MAX_MS = 366 * 24 * 3600 * 1000;

/**
 * How many milliseconds the header asks to wait, a year at most; none where it is absent or unreadable.
 * A date is compared with the answer's own `Date` where it has one, so that a wrong clock on either side does no harm.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, wallClockMs: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(MAX_MS, Number(value) * 1000);
  const until = Date.parse(value);
  if (!/[a-z]{3}/i.test(value) || Number.isNaN(until)) return undefined;
  const answered = Date.parse(headers.date ?? "");
  return Math.min(MAX_MS, Math.max(0, until - (Number.isNaN(answered) ? wallClockMs : answered)));
}
