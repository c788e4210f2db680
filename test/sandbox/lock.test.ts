/** The lock, over the real file system: its promises by number, and processes that crash while they hold it. */
import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../provider/src/base/clock.js";
import {
  acquireLock,
  type Lock,
  type LockOptions,
  processIdentity,
} from "../../provider/src/files/lock.js";
import { replaceIn } from "../support/builtin.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { deadPid, foreignLock, lockText, takeOver } from "../support/lock.js";
import { seededRandom } from "../support/random.js";

/** Much longer than the time after which a holder on another machine counts as dead. */
const LONG_MS = 120_000;

const HELD = /^the lock .* is held by another run \(process .* of .*\)$/;
const LOST = /^another run took over the lock /;

function newLockPath() {
  const folder = newFolder();
  return { folder, path: join(folder, "the.lock") };
}

/** Takes the lock in real time, without waiting, unless `more` says otherwise. */
const take = (path: string, more: Partial<LockOptions> = {}) =>
  acquireLock(path, { clock: systemClock, maxWaitMs: 0, ...more });

it("L1: one holder at a time, and nothing is left behind", async () => {
  const { folder, path } = newLockPath();
  let inside = 0;
  let most = 0;
  const hold = async () => {
    const lock = await acquireLock(path, { clock: systemClock, maxWaitMs: 60_000 });
    most = Math.max(most, ++inside);
    await systemClock.sleep(1);
    inside--;
    lock.release();
  };
  await Promise.all(Array.from({ length: 40 }, hold));
  expect(most).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

describe("L2, L3: a holder on this machine", () => {
  it.each([0, 86_400_000, -20_000])(
    "keeps its lock while its process lives, even without heartbeats and with a clock that is %i ms off",
    async (ms) => {
      const { folder, path } = newLockPath();
      const lock = await take(path);
      const clock = new FakeClock(Date.now());
      clock.jumpWall(ms);
      // Minutes pass for the waiting caller, and no time for the holder, as if it were paused.
      const taking = take(path, { clock, maxWaitMs: LONG_MS });
      await expect(taking).rejects.toThrow(HELD);
      await expect(taking).rejects.toThrow(`(process ${process.pid} of `);
      await expect(taking).rejects.toMatchObject({
        cure: expect.stringContaining("if there is no such run, remove the lock"),
      });
      expect(clock.monotonicMs()).toBeGreaterThanOrEqual(LONG_MS);
      lock.assertHeld();
      lock.release();
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it.runIf(process.platform === "linux").each<[string, () => string]>([
    ["died", () => lockText(deadPid())],
    [
      "died, and another process has its number now",
      () => lockText(process.pid, { started: "1" }),
    ],
  ])(
    "that %s loses it at once, also to a caller that does not wait",
    async (_, content) => {
      const { folder, path } = newLockPath();
      writeFileSync(path, content());
      const clock = new FakeClock();
      (await take(path, { clock })).release();
      expect(clock.monotonicMs()).toBe(0);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it.runIf(process.platform === "linux").each<[string, string, string]>([
    ["is stopped keeps it", "T", "kill -STOP $$"],
    ["has ended, though nobody has taken note of it, loses it", "Z", "exit"],
  ])("that %s", async (_, state, does) => {
    const { path } = newLockPath();
    // Nobody waits for the inner shell, as in a container without an init.
    const script = `sh -c 'read _ <&3; ${does}' & echo $!; exec sleep 600`;
    const parent = spawn("sh", ["-c", script], {
      stdio: ["ignore", "pipe", "ignore", "pipe"],
    });
    const [line] = (await once(parent.stdout as Readable, "data")) as [Buffer];
    const pid = Number(line.toString());
    onTestFinished(() => {
      process.kill(pid, "SIGKILL"); // also one that is stopped
      parent.kill("SIGKILL");
    });
    // It goes on only once the outer one is no shell any more, which would wait for it.
    await vi.waitUntil(
      () => readFileSync(`/proc/${parent.pid}/comm`, "utf8").trim() === "sleep",
    );
    const content = lockText(pid);
    (parent.stdio[3] as Writable).write("go on\n");
    await vi.waitUntil(
      () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.[0] === state,
    );
    writeFileSync(path, content);
    if (state === "Z") (await take(path)).release();
    else
      await expect(take(path)).rejects.toThrow(
        `process ${pid} of ${processIdentity(pid).host}`,
      );
  });
});

describe("L4: a holder on another machine, or in another container", () => {
  const machine = processIdentity(process.pid).machine ?? "";
  const foreign: [string, () => string][] = [
    ["another machine", () => foreignLock],
    [
      "another machine with the same name",
      () => lockText(deadPid(), { machine: "this name, another boot" }),
    ],
    [
      "another container with the same name and boot",
      () => lockText(deadPid(), { machine: machine.replace(/pid:\[\d+\]|$/, "pid:[7]") }),
    ],
    ["a holder that can't be read", () => "{"],
  ];

  it.each(foreign)(
    "%s: keeps it with a heartbeat, whatever its clock says",
    async (_, content) => {
      const { path } = newLockPath();
      writeFileSync(path, content());
      const clock = new FakeClock(Date.now());
      clock.beforeWaking = (nowMs) =>
        utimesSync(path, 1000 + nowMs / 1000, 1000 + nowMs / 1000);
      await expect(take(path, { clock, maxWaitMs: 60_000 })).rejects.toThrow(HELD);
      expect(readFileSync(path, "utf8")).toContain("{");
    },
  );

  it.each(foreign)(
    "%s: loses it without a heartbeat for the given time",
    async (_, content) => {
      const { folder, path } = newLockPath();
      writeFileSync(path, content());
      const clock = new FakeClock(Date.now());
      const lock = await take(path, { clock, maxWaitMs: LONG_MS });
      expect(clock.monotonicMs()).toBeGreaterThan(15_000);
      expect(clock.monotonicMs()).toBeLessThan(16_000);
      lock.release();
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});

describe("L5: a lock that another machine has taken over", () => {
  it("is noticed and left alone", async () => {
    const { folder, path } = newLockPath();
    const lock = await take(path);
    lock.assertHeld();
    takeOver(path);
    expect(() => lock.assertHeld()).toThrow(LOST);
    lock.release();
    expect(readFileSync(path, "utf8")).toBe(foreignLock);
    expect(readdirSync(folder)).toEqual(["the.lock"]);
  });

  it("gets no heartbeat from its former holder", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { path } = newLockPath();
    const lock = await take(path);
    utimesSync(path, 1000, 1000);
    vi.advanceTimersByTime(2000);
    expect(statSync(path).mtimeMs).toBeGreaterThan(1_000_000); // the heartbeat
    takeOver(path);
    utimesSync(path, 1000, 1000);
    vi.advanceTimersByTime(10_000);
    expect(statSync(path).mtimeMs).toBe(1_000_000);
    lock.release();
  });
});

describe("L6: a dead process's lock", () => {
  /** Runs these right before and right after the stale lock is moved aside. */
  function around(path: string, before: () => void, after: () => void = () => undefined) {
    const { renameSync } = fs;
    const undo = replaceIn(fs, {
      renameSync: (from: string, to: string) => {
        undo();
        before();
        renameSync(from, to);
        after();
      },
    });
    writeFileSync(path, lockText(deadPid()));
  }

  it("is put back if another process has taken it meanwhile", async () => {
    const { folder, path } = newLockPath();
    around(path, () => takeOver(path));
    await expect(take(path)).rejects.toThrow(HELD);
    expect(readFileSync(path, "utf8")).toBe(foreignLock);
    expect(readdirSync(folder)).toEqual(["the.lock"]);
  });

  it("is not put back if a third one was quicker: who had taken it in between finds out when it asks", async () => {
    const { folder, path } = newLockPath();
    let between: Promise<Lock> | undefined;
    const takeBetween = () => {
      fs.rmSync(path);
      between = take(path);
    };
    around(path, takeBetween, () => writeFileSync(path, foreignLock, { mode: 0o600 }));
    await expect(take(path)).rejects.toThrow(HELD);
    const lock = await between;
    expect(() => lock?.assertHeld()).toThrow(LOST);
    expect(readFileSync(path, "utf8")).toBe(foreignLock);
    expect(readdirSync(folder)).toEqual(["the.lock"]);
  });

  it("that another process has removed meanwhile is free", async () => {
    const { folder, path } = newLockPath();
    around(path, () => fs.rmSync(path));
    (await take(path)).release();
    expect(readdirSync(folder)).toEqual([]);
  });
});

it("L7: the file is never half written, and needs no hard links if the file system has none", async () => {
  const { folder, path } = newLockPath();
  const { linkSync } = fs;
  const expectWhole = async () => {
    const lock = await take(path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid: process.pid });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(take(path)).rejects.toThrow(HELD);
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  };
  const seen: string[] = [];
  replaceIn(fs, {
    linkSync: (from: string, to: string) => {
      expect(existsSync(path) && readFileSync(path, "utf8") === "").toBe(false);
      seen.push(readFileSync(from, "utf8"));
      linkSync(from, to);
    },
  });
  await expectWhole();
  expect(seen).toHaveLength(1); // who finds it held writes nothing
  for (const content of seen)
    expect(JSON.parse(content)).toHaveProperty("pid", process.pid);

  for (const code of ["EPERM", "ENOTSUP", "ENOSYS"]) {
    replaceIn(fs, {
      linkSync: () => {
        throw Object.assign(new Error(`${code}: injected, link`), {
          code,
          syscall: "link",
        });
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
  lock.assertHeld();
  lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

it.each<[string, (path: string) => void]>([
  ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ["a folder", (path) => mkdirSync(path)],
  ["a link to nowhere", (path) => fs.symlinkSync(`${path}.nowhere`, path)],
])("L7: %s in its place is reported at once, and left there", async (_, make) => {
  const { folder, path } = newLockPath();
  make(path);
  const taking = take(path, { clock: new FakeClock(), maxWaitMs: 60_000 });
  await expect(taking).rejects.toThrow(`its lock ${path} isn't usable: it`);
  expect(readdirSync(folder)).toEqual(["the.lock"]);
});

describe("between processes that crash while they hold it", () => {
  const script = resolve(import.meta.dirname, "lock-process.mjs");
  const [PROCESSES, TURNS] = [8, 10];
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

  interface Life {
    readonly lock: string;
    readonly log: string;
    readonly turns: number;
    readonly pauses: readonly number[];
    readonly dies?: "exit" | "kill";
  }

  /** Starts a process that runs its turns after the message `begin`. */
  function start(life: Life) {
    const child = fork(script, [JSON.stringify(life)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let complaint = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    const ended = new Promise<void>((done, fail) => {
      child.once("error", fail);
      child.once("close", (code, signal) => {
        if (code === 0 || (signal === "SIGKILL" && life.dies === "kill")) done();
        else fail(new Error(`the process ended with ${code ?? signal}: ${complaint}`));
      });
    });
    const ready = new Promise<void>((done) => child.once("message", () => done()));
    return { ready: Promise.race([ready, ended]), begin: () => child.send("begin"), ended };
  }

  it(`L1, L3, L6: one holder at a time among ${PROCESSES} processes (SEED=${seed})`, {
    timeout: 120_000,
  }, async () => {
    const random = seededRandom(seed);
    const folder = newFolder();
    const [lock, log] = [join(folder, "the.lock"), join(folder, "log")];
    writeFileSync(log, "");
    /** The processes of one slot, one after the other. Each except the last one dies while it holds the lock. */
    const livesOf = (place: number): Life[] =>
      [
        ...Array.from({ length: place % 4 }, () => (random() < 0.5 ? "exit" : "kill")),
        undefined,
      ].map((dies) => ({
        lock,
        log,
        turns: TURNS,
        pauses: Array.from({ length: TURNS }, () => Math.floor(random() * 4)),
        ...(dies === undefined ? {} : { dies }),
      }));
    const places = Array.from({ length: PROCESSES }, (_, place) => livesOf(place));
    const first = places.map(([life]) => start(life as Life));
    await Promise.all(first.map(({ ready }) => ready));
    for (const { begin } of first) begin();
    await Promise.all(
      places.map(async ([, ...later], place) => {
        await first[place]?.ended;
        for (const life of later) {
          const next = start(life);
          await next.ready;
          next.begin();
          await next.ended;
        }
      }),
    );

    let holder: string | undefined;
    const waiting = new Set<string>();
    const counted = { holds: 0, leaves: 0, dies: 0, waitedFor: 0 };
    for (const [index, line] of readFileSync(log, "utf8").trim().split("\n").entries()) {
      const [pid = "", step = "", mode] = line.split(" ");
      const what = `SEED=${seed}, line ${index + 1}: ${line}`;
      if (step === "wants") {
        waiting.add(pid);
      } else if (step === "holds") {
        expect(holder, what).toBeUndefined();
        expect(mode, what).toBe("600");
        holder = pid;
        waiting.delete(pid);
        counted.holds++;
        if (waiting.size > 0) counted.waitedFor++;
      } else {
        expect(["leaves", "dies"], what).toContain(step);
        expect(pid, what).toBe(holder);
        holder = undefined;
        counted[step as "leaves" | "dies"]++;
      }
    }
    const all = places.flat().length * TURNS;
    expect(counted).toMatchObject({ holds: all, leaves: all - 12, dies: 12 });
    // A run in which hardly any process had to wait would prove little.
    expect(counted.waitedFor).toBeGreaterThan(PROCESSES);
    expect(readdirSync(folder)).toEqual(["log"]);
  });
});
