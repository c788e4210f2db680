/**
 * Time and chance of a world: everything in the process that waits, or asks for the time or for a unique text, asks here. Whoever
 * waits wakes up at once, in the order of the times asked for, and the clock stands there then.
 */
import { systemClock } from "../../../provider/src/base/clock.js";
import { FakeClock } from "../clock.js";
import { seededRandom } from "../random.js";
import { processNow } from "./wire.js";

const chance = { random: seededRandom(0), marks: 0 };
export const time = { clock: new FakeClock() };

/** Begins anew, for one life. */
export function beginTime(seed: number): void {
  time.clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"));
  chance.random = seededRandom(seed ^ 0x5eed);
  chance.marks = 0;
}

/** For `node:crypto`'s. */
export function nextUuid(): string {
  const number = (++chance.marks).toString(16).padStart(12, "0");
  return `00000000-0000-4000-8000-${number}`;
}

/** For `node:timers/promises`' `setTimeout`: one that is called off fails. Outside of a world's processes it is the real one. */
export async function timeout(ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> {
  if (processNow() === undefined) await new Promise((resolve) => setTimeout(resolve, ms));
  else await time.clock.sleep(ms);
  signal?.throwIfAborted();
  return value;
}

/** For `node:timers`' `setTimeout`. */
export function later(work: () => void, ms: number): void {
  void time.clock.sleep(ms).then(work);
}

/** Has this process's own clock and chance be the world's. */
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
