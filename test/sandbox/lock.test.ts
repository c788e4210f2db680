import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../provider/src/clock.js";
import { acquireLock, LockHeld, withLock, withLockNow } from "../../provider/src/files/lock.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";

it("lets one holder in at a time, and leaves nothing behind", async () => {
  const folder = newFolder();
  const path = join(folder, "the.lock");
  let inside = 0;
  let most = 0;
  const holders = Array.from({ length: 40 }, (_, n) =>
    withLock(path, { clock: systemClock, unique: `holder ${n}`, maxWaitMs: 60_000 }, async () => {
      most = Math.max(most, ++inside);
      await systemClock.sleep(1);
      inside--;
    }),
  );
  await Promise.all(holders);
  expect(most).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

it.each([20_000, -20_000, 86_400_000])(
  "is not taken from a living holder by a clock that is set by %i ms",
  async (ms) => {
    const folder = newFolder();
    const path = join(folder, "the.lock");
    const lock = await acquireLock(path, { clock: systemClock, unique: "holder", maxWaitMs: 0 });
    const clock = new FakeClock(Date.now());
    clock.jumpWall(ms);
    await expect(acquireLock(path, { clock, unique: "other", maxWaitMs: 10_000 })).rejects.toThrow(LockHeld);
    expect(lock.isHeld()).toBe(true);
    expect(withLockNow(path, () => expect.unreachable())).toBe(false);
    // One that shows no sign of life for long, and whose number lives on, blocks nobody for ever.
    const taker = await acquireLock(path, { clock, unique: "other", maxWaitMs: 60_000 });
    expect(lock.isHeld()).toBe(false);
    await lock.release();
    expect(taker.isHeld()).toBe(true);
    await taker.release();
    expect(readdirSync(folder)).toEqual([]);
  },
);

it("is taken at once from a holder that died, also by who has no time", async () => {
  const folder = newFolder();
  const path = join(folder, "the.lock");
  writeFileSync(path, JSON.stringify({ host: hostname(), pid: 2 ** 22 + 1, unique: "dead" }));
  let worked = 0;
  expect(withLockNow(path, () => worked++)).toBe(true);
  expect(worked).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

it.each<[string, (path: string) => void]>([
  ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ["a folder", (path) => mkdirSync(path)],
  ["a link to nowhere", (path) => symlinkSync(`${path}.nowhere`, path)],
])("%s in its place is told at once, and left there", async (_, make) => {
  const folder = newFolder();
  const path = join(folder, "the.lock");
  make(path);
  const taking = acquireLock(path, { clock: new FakeClock(), unique: "one", maxWaitMs: 60_000 });
  await expect(taking).rejects.toThrow(`its lock ${path} can't be one: it is`);
  expect(withLockNow(path, () => expect.unreachable())).toBe(false);
  expect(readdirSync(folder)).toEqual(["the.lock"]);
});
