/**
 * Reads a Retry-After header (RFC 9110, section 10.2.3): seconds, or a date. Pure.
 */

/**
 * How many milliseconds the header asks to wait; none where it is absent or unreadable.
 * A date is compared with the answer's own `Date` where it has one, so that a wrong clock on either side does no harm.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, wallClockMs: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const until = Date.parse(value);
  if (!/[a-z]{3}/i.test(value) || Number.isNaN(until)) return undefined;
  const answered = Date.parse(headers.date ?? "");
  return Math.max(0, until - (Number.isNaN(answered) ? wallClockMs : answered));
}
