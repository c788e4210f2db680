/**
 * The platform's time, by the `Date` headers of its responses. The clocks of two machines may differ by hours, so
 * whatever another machine may compare is a moment by the platform's clock.
 */
import type { ClientDependencies } from "./client-dependencies.js";
import type { HttpRequest } from "./transport.js";

export function createPlatformClock({
  transport,
  clock,
}: Pick<ClientDependencies, "clock" | "transport">) {
  /** How far the platform's clock is at least ahead of the monotonic one. */
  let aheadMs = Number.NEGATIVE_INFINITY;
  async function send(request: HttpRequest) {
    const attempt = await transport.send(request);
    // A response may arrive long after its `Date`. So each is a lower bound, and the highest counts.
    if ("headers" in attempt)
      aheadMs = Math.max(aheadMs, msOf(attempt.headers.date) - clock.monotonicMs());
    return attempt;
  }
  return {
    /** The same transport, whose responses set this clock. */
    transport: { ...transport, send },
    /** @returns never later than the platform's clock, ISO 8601; undefined if no response has had a `Date`. */
    now() {
      const ms = aheadMs + clock.monotonicMs();
      if (Number.isFinite(ms)) return new Date(ms).toISOString();
    },
  };
}

/** An earlier `Date` comes from a server that doesn't know the time. */
const EARLIEST_MS = Date.parse("2025-01-01");

/** @returns -Infinity unless the `Date` has the form of RFC 9110 and may be true. */
function msOf(date = "") {
  const ms = Date.parse(date);
  if (ms >= EARLIEST_MS && new Date(ms).toUTCString() === date) return ms;
  return Number.NEGATIVE_INFINITY;
}
