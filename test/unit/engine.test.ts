/** How often progress is reported, on a clock of its own. */
import { describe, expect, it } from "vitest";
import { Progress } from "../../provider/src/provider/engine.js";
import { FakeClock } from "../support/clock.js";

function progressLines(total: number, msEach: number): { text: string; atMs: number }[] {
  const clock = new FakeClock();
  const lines: { text: string; atMs: number }[] = [];
  const progress = new Progress(total, clock, (text) => lines.push({ text, atMs: clock.monotonicMs() }));
  for (let done = 0; done < total; done++) {
    clock.advance(msEach);
    progress.done();
  }
  return lines;
}

describe("progress", () => {
  it("is not reported for work of less than a minute", () => {
    expect(progressLines(10_000, 5)).toEqual([]);
  });

  it("says how many of how many are done, the pace, and about how long it will take", () => {
    expect(progressLines(3000, 100).map(({ text }) => text)).toEqual([
      "600 of 3000 done, 10.0 a second, about 4 minutes left",
      "1200 of 3000 done, 10.0 a second, about 3 minutes left",
      "2400 of 3000 done, 10.0 a second, about 60 seconds left",
    ]);
    expect(progressLines(100, 90_000)[0]?.text).toBe("1 of 100 done, 0.7 a minute, about 2 hours left");
  });

  it("is a handful of lines an hour, however long it takes and however many there are", () => {
    const HOUR = 3_600_000;
    for (const [total, msEach] of [
      [36_000, 1000],
      [600, 60_000],
      [1_000_000, 36],
    ] as const) {
      const lines = progressLines(total, msEach);
      for (let hour = 0; hour < 10; hour++) {
        const within = lines.filter(({ atMs }) => atMs > hour * HOUR && atMs <= (hour + 1) * HOUR);
        expect(within.length).toBeLessThanOrEqual(7);
        expect(within.length).toBeGreaterThanOrEqual(2);
      }
    }
  });

  it("does not say at the end that all is done: the engine does", () => {
    expect(progressLines(1, 120_000)).toEqual([]);
  });
});
