/** Time as an argument, so that tests needn't wait. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since 1970. May jump. */
  wallMs(): number;
  /** Milliseconds since an unspecified time. Never goes back. */
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  /** Calls `ring` after `ms`, without keeping the process alive. @returns a function that cancels it. */
  alarm(ms: number, ring: () => void): () => void;
}

export function isoNow(clock: Clock) {
  return new Date(clock.wallMs()).toISOString();
}

export const systemClock: Clock = {
  wallMs: Date.now,
  monotonicMs: () => performance.now(),
  sleep,
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms).unref();
    return () => clearTimeout(timer);
  },
};
