/**
 * Time that passes at once: sleepers wake up in the order of their times, and the clock jumps to each of these times.
 * The clock stands still while something real is under way, such as a request.
 */
import { type Clock, systemClock } from "../../provider/src/base/clock.js";

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

export class FakeClock implements Clock {
  /** All requested sleeps in milliseconds, in the order of the requests. */
  readonly sleeps: number[] = [];
  /** Called with the monotonic time before a sleeper wakes up, so that a test can act meanwhile. */
  beforeWaking: (monotonicMs: number) => void | Promise<void> = () => undefined;
  #monotonicMs = 0;
  #wallOffsetMs: number;
  #sleepers: Sleeper[] = [];
  /** Alarms ring when time passes them, but the clock never jumps to one. */
  #alarms: Sleeper[] = [];
  #isTurning = false;
  #underWay = 0;
  #whenIdle: () => void = () => undefined;

  constructor(wallMs = Date.parse("2026-01-01T00:00:00Z")) {
    this.#wallOffsetMs = wallMs;
  }

  wallMs(): number {
    return this.#wallOffsetMs + this.#monotonicMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number): Promise<void> {
    this.sleeps.push(ms);
    return new Promise((wake) => {
      this.#sleepers.push({ untilMs: this.#monotonicMs + Math.max(0, ms), wake });
      if (!this.#isTurning) void this.#turn();
    });
  }

  /** Stops the clock while `work` runs, so that `work` takes no time. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await work();
    } finally {
      if (--this.#underWay === 0) this.#whenIdle();
    }
  }

  alarm(ms: number, ring: () => void): () => void {
    const alarm = { untilMs: this.#monotonicMs + ms, wake: ring };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((each) => each !== alarm);
    };
  }

  /** Lets time pass without a sleeper. */
  advance(ms: number): void {
    this.#pass(this.#monotonicMs + ms);
  }

  #pass(untilMs: number): void {
    const due = this.#alarms.filter((alarm) => alarm.untilMs <= untilMs);
    this.#alarms = this.#alarms.filter((alarm) => !due.includes(alarm));
    for (const alarm of due.toSorted((a, b) => a.untilMs - b.untilMs)) {
      this.#monotonicMs = Math.max(this.#monotonicMs, alarm.untilMs);
      alarm.wake();
    }
    this.#monotonicMs = Math.max(this.#monotonicMs, untilMs);
  }

  /** Sets the wall clock forward or back. The monotonic clock stays. */
  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  async #turn(): Promise<void> {
    this.#isTurning = true;
    while (this.#sleepers.length > 0) {
      // First, let others begin to sleep or to send.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#underWay > 0) {
        await new Promise<void>((resolve) => {
          this.#whenIdle = resolve;
        });
        continue;
      }
      this.#sleepers.sort((a, b) => a.untilMs - b.untilMs);
      const next = this.#sleepers.shift() as Sleeper;
      const now = Math.max(this.#monotonicMs, next.untilMs);
      await this.beforeWaking(now);
      this.#pass(now);
      next.wake();
    }
    this.#isTurning = false;
  }
}

/** The clock of a machine whose wall clock is ahead by `ms`. The same time passes as on `clock`. */
export function aheadBy(ms: number, clock: Clock): Clock {
  return {
    wallMs: () => clock.wallMs() + ms,
    monotonicMs: () => clock.monotonicMs(),
    sleep: (forMs) => clock.sleep(forMs),
    alarm: (afterMs, ring) => clock.alarm(afterMs, ring),
  };
}

/** Real time, for several clients that wait for each other's real work: a fake clock would run ahead of it. */
export class RealTime extends FakeClock {
  override wallMs = systemClock.wallMs;
  override monotonicMs = systemClock.monotonicMs;
  override sleep = systemClock.sleep;
  override alarm = systemClock.alarm;
}
