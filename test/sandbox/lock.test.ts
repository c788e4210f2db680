import { execFileSync } from "node:child_process";
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import fsp from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../provider/src/base/clock.js";
import {
  acquireLock,
  LockHeld,
  LockLost,
  type LockOptions,
  withLock,
  withLockNow,
} from "../../provider/src/files/lock.js";
import { identityOf } from "../../provider/src/files/process-identity.js";
import { replaceIn } from "../support/builtin.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { deadPid, foreignLock, lockText, takeOver } from "../support/lock.js";

/** Much longer than the time after which a holder on another machine counts as dead. */
const LONG_MS = 120_000;

function newLockPath() {
  const folder = newFolder();
  return { folder, path: join(folder, "the.lock") };
}

/** Takes the lock as `one`, in real time, without waiting, unless `more` says otherwise. */
const take = (path: string, more: Partial<LockOptions> = {}) =>
  acquireLock(path, { clock: systemClock, unique: "one", maxWaitMs: 0, ...more });

/** A lock whose holder died is free at once, also for a caller that does not wait. */
async function expectFree(content: string): Promise<void> {
  const { folder, path } = newLockPath();
  writeFileSync(path, content);
  let worked = 0;
  expect(withLockNow(path, () => worked++)).toBe(true);
  expect(worked).toBe(1);
  writeFileSync(path, content);
  const clock = new FakeClock();
  await (await take(path, { clock, maxWaitMs: LONG_MS })).release();
  expect(clock.monotonicMs()).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
}

it("L1: one holder at a time, and nothing is left behind", async () => {
  const { folder, path } = newLockPath();
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

describe("L2, L3: a holder on this machine", () => {
  it.each([0, 20_000, -20_000, 86_400_000])(
    "keeps it while its process lives, however long it shows no sign, also if a clock is set by %i ms",
    async (ms) => {
      const { folder, path } = newLockPath();
      const lock = await take(path, { unique: "holder" });
      const clock = new FakeClock(Date.now());
      clock.jumpWall(ms);
      // Minutes pass for the waiting caller, and no time for the holder, as if it were paused.
      await expect(take(path, { clock, unique: "other", maxWaitMs: LONG_MS })).rejects.toThrow(LockHeld);
      expect(clock.monotonicMs()).toBeGreaterThanOrEqual(LONG_MS);
      expect(lock.isHeld()).toBe(true);
      expect(withLockNow(path, () => expect.unreachable())).toBe(false);
      await lock.release();
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it("that died loses it at once, also to a caller that does not wait", () => expectFree(lockText(deadPid())));

  it.runIf(process.platform === "linux")("that died loses it at once, even if another process has its number now", () =>
    expectFree(lockText(process.pid, { started: "1" })),
  );

  it("keeps it if the number may be another process's by now, and the error says what to remove", async () => {
    const { path } = newLockPath();
    const { host, machine, pid } = identityOf(process.pid);
    writeFileSync(path, JSON.stringify({ host, machine, pid, unique: "other" }));
    const taking = take(path, { clock: new FakeClock(), maxWaitMs: LONG_MS });
    await expect(taking).rejects.toThrow(`process ${pid}; if that is not a Pulumi run, remove ${path}`);
    expect(withLockNow(path, () => expect.unreachable())).toBe(false);
  });
});

describe("L4: a holder on another machine, or in another container", () => {
  const foreign: [string, () => string][] = [
    ["another machine", () => foreignLock],
    ["another machine with the same name", () => lockText(deadPid(), { machine: "this name, another boot" })],
    [
      "another container with the same name and boot",
      () =>
        lockText(deadPid(), { machine: identityOf(process.pid).machine?.replace(/pid:\[\d+\]|$/, "pid:[7]") ?? "" }),
    ],
    ["a holder that can't be read", () => "{"],
  ];

  it.each(foreign)("%s: keeps it with a heartbeat, whatever its clock says", async (_, content) => {
    const { path } = newLockPath();
    writeFileSync(path, content());
    const clock = new FakeClock(Date.now());
    clock.beforeWaking = (nowMs) => utimesSync(path, 1000 + nowMs / 1000, 1000 + nowMs / 1000);
    await expect(take(path, { clock, maxWaitMs: 60_000 })).rejects.toThrow(LockHeld);
    expect(withLockNow(path, () => expect.unreachable())).toBe(false);
    expect(readFileSync(path, "utf8")).toContain("{");
  });

  it.each(foreign)("%s: loses it without a heartbeat for the given time", async (_, content) => {
    const { folder, path } = newLockPath();
    writeFileSync(path, content());
    const clock = new FakeClock(Date.now());
    const lock = await take(path, { clock, maxWaitMs: LONG_MS, staleAfterMs: 60_000 });
    expect(clock.monotonicMs()).toBeGreaterThan(60_000);
    expect(clock.monotonicMs()).toBeLessThan(61_000);
    expect(lock.isHeld()).toBe(true);
    await lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is named in the error", async () => {
    const { path } = newLockPath();
    writeFileSync(path, foreignLock);
    const taking = take(path, { clock: new FakeClock() });
    await expect(taking).rejects.toThrow(`the lock ${path} is held by another run (process 1 of elsewhere)`);
  });
});

describe("L5: a lock that another machine has taken over", () => {
  it("is noticed and left alone", async () => {
    const { folder, path } = newLockPath();
    const lock = await take(path);
    lock.confirm();
    takeOver(path);
    expect(lock.isHeld()).toBe(false);
    expect(() => lock.confirm()).toThrow(LockLost);
    lock.release();
    expect(readFileSync(path, "utf8")).toBe(foreignLock);
    fs.rmSync(path);
    await withLock(path, { clock: systemClock, unique: "one", maxWaitMs: 0 }, async () => takeOver(path));
    expect(readFileSync(path, "utf8")).toBe(foreignLock);
    fs.rmSync(path);
    withLockNow(path, () => takeOver(path));
    expect(readFileSync(path, "utf8")).toBe(foreignLock);
    expect(readdirSync(folder)).toEqual(["the.lock"]);
  });

  it("gets no heartbeat from its former holder", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { path } = newLockPath();
    const lock = await take(path, { heartbeatMs: 100 });
    utimesSync(path, 1000, 1000);
    vi.advanceTimersByTime(100);
    await vi.waitFor(() => expect(statSync(path).mtimeMs).toBeGreaterThan(1_000_000)); // the heartbeat
    takeOver(path);
    utimesSync(path, 1000, 1000);
    const beats = vi.fn(fsp.utimes);
    replaceIn(fsp, { utimes: beats });
    vi.advanceTimersByTime(10_000);
    expect(beats).not.toHaveBeenCalled();
    await lock.release();
  });
});

describe("L6: a dead process's lock, for a process that is about to end", () => {
  /** Runs `happens` after the lock was found stale for the second time. */
  function meanwhile(happens: () => void) {
    const isDead = () => {
      throw Object.assign(new Error("injected"), { code: "ESRCH" });
    };
    const again = () => {
      happens();
      return isDead();
    };
    vi.spyOn(process, "kill").mockImplementationOnce(isDead).mockImplementationOnce(again);
    onTestFinished(() => void vi.restoreAllMocks());
  }

  it("is left alone if another process has taken it meanwhile", () => {
    const { folder, path } = newLockPath();
    writeFileSync(path, lockText(deadPid()));
    meanwhile(() => takeOver(path));
    expect(withLockNow(path, () => expect.unreachable())).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(foreignLock);
    expect(readdirSync(folder)).toEqual(["the.lock"]);
  });

  it("is free even if the process that was to remove it died too", () => {
    const { folder, path } = newLockPath();
    writeFileSync(path, lockText(deadPid()));
    writeFileSync(`${path}.takeover`, lockText(deadPid()));
    expect(withLockNow(path, () => undefined)).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is left to another process that has taken over its removal meanwhile", () => {
    const { path } = newLockPath();
    const dead = lockText(deadPid());
    writeFileSync(path, dead);
    meanwhile(() => takeOver(`${path}.takeover`));
    expect(withLockNow(path, () => expect.unreachable())).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(dead);
    expect(readFileSync(`${path}.takeover`, "utf8")).toBe(foreignLock);
  });
});

it("L7: the file is never half written, and needs no hard links if the file system has none", async () => {
  const { folder, path } = newLockPath();
  const { linkSync } = fs;
  const expectWhole = async () => {
    const lock = await take(path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid: process.pid, unique: "one" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(take(path, { unique: "two" })).rejects.toThrow(LockHeld);
    expect(withLockNow(path, () => expect.unreachable())).toBe(false);
    await lock.release();
    expect(withLockNow(path, () => expect(JSON.parse(readFileSync(path, "utf8"))).toHaveProperty("pid"))).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  };
  const seen: string[] = [];
  const whenLinked = (temporary: string) => {
    expect(existsSync(path) && readFileSync(path, "utf8") === "").toBe(false);
    seen.push(readFileSync(temporary, "utf8"));
  };
  replaceIn(fs, {
    linkSync: (from: string, to: string) => {
      whenLinked(from);
      linkSync(from, to);
    },
  });
  await expectWhole();
  expect(seen.length).toBeGreaterThan(2);
  for (const content of seen) expect(JSON.parse(content)).toHaveProperty("pid", process.pid);

  for (const code of ["EPERM", "ENOTSUP", "ENOSYS"]) {
    const refused = () => Object.assign(new Error(`${code}: injected, link`), { code, syscall: "link" });
    replaceIn(fs, {
      linkSync: () => {
        throw refused();
      },
    });
    await expectWhole();
  }
});

it("L1: counts its own link as taken if the system answered a repeated request, as over NFS", async () => {
  const { folder, path } = newLockPath();
  const { linkSync } = fs;
  replaceIn(fs, {
    linkSync: (from: string, to: string) => {
      linkSync(from, to);
      linkSync(from, to);
    },
  });
  const lock = await take(path, { clock: new FakeClock() });
  expect(lock.isHeld()).toBe(true);
  await lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

it.each<[string, (path: string) => void]>([
  ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ["a folder", (path) => mkdirSync(path)],
  ["a link to nowhere", (path) => symlinkSync(`${path}.nowhere`, path)],
])("%s in its place is reported at once, and left there", async (_, make) => {
  const { folder, path } = newLockPath();
  make(path);
  const taking = take(path, { clock: new FakeClock(), maxWaitMs: 60_000 });
  await expect(taking).rejects.toThrow(`its lock ${path} can't be one: it is`);
  expect(withLockNow(path, () => expect.unreachable())).toBe(false);
  expect(readdirSync(folder)).toEqual(["the.lock"]);
});
