/**
 * A world's time and randomness: everything in the process that waits, or needs the time or a unique text, gets it here. Waiting
 * takes no real time: sleepers wake up in the order of their times, and the clock jumps to each of these.
 */
import { systemClock } from "../../../provider/src/base/clock.js";
import { FakeClock } from "../clock.js";
import { seededRandom } from "../random.js";
import { processNow } from "./wire.js";

const chance = { random: seededRandom(0), marks: 0 };
export const time = { clock: new FakeClock() };

/** Starts again for one life. */
export function beginTime(seed: number): void {
  time.clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"));
  chance.random = seededRandom(seed ^ 0x5eed);
  chance.marks = 0;
}

/** For `node:crypto`'s. */
export function nextUuid(): string {
  if (processNow()?.isDead) throw new Error("killed");
  const number = (++chance.marks).toString(16).padStart(12, "0");
  return `00000000-0000-4000-8000-${number}`;
}

/** For `node:timers/promises`' `setTimeout`, with an error if it is aborted. Outside of a world's processes it is the real one. */
export async function timeout(ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> {
  if (processNow() === undefined) await new Promise((resolve) => setTimeout(resolve, ms));
  else await time.clock.sleep(ms);
  signal?.throwIfAborted();
  return value;
}

/** For `node:timers`' `setTimeout`. */
export function later(work: () => void, ms: number): void {
  const asking = processNow();
  void time.clock.sleep(ms).then(() => (asking?.isDead === true ? undefined : work()));
}

/** Makes the world's clock and randomness this process's own. */
export function takeOverTime(): void {
  Object.assign(systemClock, {
    wallMs: () => time.clock.wallMs(),
    monotonicMs: () => time.clock.monotonicMs(),
    sleep: async (ms: number) => {
      const asking = processNow();
      const never = new Promise(() => undefined);
      if (asking?.isDead) await never;
      await time.clock.sleep(ms);
      if (asking?.isDead) await never;
    },
  });
  Math.random = () => chance.random();
}
