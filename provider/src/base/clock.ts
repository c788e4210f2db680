/** Time as an argument, so that what decides can be tested without waiting. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since 1970; may jump. */
  wallMs(): number;
  /** Milliseconds since some moment; never goes back. */
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  /** Calls `ring` after so long, which keeps no process alive. @returns what cancels it. */
  alarm(ms: number, ring: () => void): () => void;
}

export function momentOf(clock: Pick<Clock, "wallMs">): string {
  return new Date(clock.wallMs()).toISOString();
}

export const systemClock: Clock = {
  wallMs: Date.now,
  monotonicMs: () => performance.now(),
  sleep: (ms) => sleep(ms),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms).unref();
    return () => clearTimeout(timer);
  },
};
