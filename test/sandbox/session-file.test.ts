/** The cookie file: how it is written, which runs use it, and which wait for it. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import fsp from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { FakeClock, RealTime } from "../support/clock.js";
import { deadPid, foreignLock, lockText, takeOver } from "../support/lock.js";
import {
  beside,
  counts,
  modeOf,
  replaceInFs,
  start,
  startWithSession,
  waitingAMinute,
} from "../support/session-file.js";

vi.setConfig({ testTimeout: 120_000 });

const MINUTE = 60_000;

describe("the file", () => {
  it("row 37: is written at the login, private to its owner, without the password", async () => {
    const { sandbox, file, client } = await start();
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(modeOf(file)).toBe(0o600);
    expect(beside(file)).toEqual([]); // neither lock nor temporary file
    expect(readFileSync(file, "utf8")).not.toContain("sandbox-password");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ session: "pulumi-advertising", version: 2 });
  });

  it("is private from the start: every file is created with 0600, every folder with 0700", async () => {
    const { open, mkdir } = fsp;
    const made: [string, unknown, unknown][] = [];
    replaceInFs({
      open: (path: string, flags: unknown, mode: unknown) => {
        made.push([path, flags, mode]);
        return open(path, flags as string, mode as number);
      },
      mkdir: (path: string, options: { mode?: number }) => {
        made.push([path, "folder", options.mode]);
        return mkdir(path, options);
      },
    });
    const { sandbox, folder, client } = await start();
    const file = join(folder, "new", "folders", "session.json");
    expect(await client({ cookieFile: file }).create()).toMatchObject({ kind: "created" });
    expect(made.length).toBeGreaterThan(3);
    for (const [path, flags, mode] of made) expect([path, mode]).toEqual([path, flags === "folder" ? 0o700 : 0o600]);
    expect(modeOf(file)).toBe(0o600);
    expect(modeOf(join(folder, "new"))).toBe(0o700);
    expect(modeOf(join(folder, "new", "folders"))).toBe(0o700);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });

  it("saves the next run a login", async () => {
    const { sandbox, client } = await startWithSession();
    const next = client();
    expect((await next.createMany(20)).filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 20 });
    expect(next.said).toEqual([]);
  });

  it("row 44: is written only at a login: creates change neither its bytes nor its times, and take no lock", async () => {
    const { sandbox, file, client } = await startWithSession();
    const before = { bytes: readFileSync(file, "utf8"), status: statSync(file) };
    const written: string[] = [];
    const { open } = fsp;
    replaceInFs({
      open: (path: string, flags: unknown, mode: unknown) => {
        if (typeof flags === "string") written.push(path); // reading passes numbers
        return open(path, flags as number, mode as number);
      },
    });
    sandbox.fail({
      on: "create",
      times: 5,
      act: true,
      with: {
        kind: "answer",
        status: 200,
        headers: { "set-cookie": ["sandbox_service_cookie=other; Path=/"] },
        body: (created: unknown) => created,
      },
    });
    expect((await client().createMany(10)).filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(before.bytes);
    expect(statSync(file)).toMatchObject({
      mtimeMs: before.status.mtimeMs,
      ctimeMs: before.status.ctimeMs,
      ino: before.status.ino,
    });
    expect(written).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 10 });
  });

  it("with an ended session: one login for all, each create once", async () => {
    const { sandbox, file, client } = await startWithSession();
    const before = readFileSync(file, "utf8");
    sandbox.expireSessions();
    const endings = await client().createMany(10);
    expect(endings.filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(sandbox.logins).toBe(1);
    expect(sandbox.creates).toBeLessThanOrEqual(20);
    expect(sandbox.advertisers).toHaveLength(11);
    expect(readFileSync(file, "utf8")).not.toBe(before);
    sandbox.resetCounts();
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("two runs at once share one login, and its cookies are scrubbed in both", async () => {
    const { sandbox, file, client } = await start({ latencyMs: 5 });
    const runs = [client({ clock: new RealTime() }), client({ clock: new RealTime() })];
    const endings = (await Promise.all(runs.map((run) => run.createMany(10)))).flat();
    expect(endings.filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 20 });
    const cookie = String(sandbox.requests.at(-1)?.headers.cookie).split("=")[1] ?? "";
    expect(readFileSync(file, "utf8")).toContain(cookie);
    for (const { secrets } of runs) expect(secrets.scrub(`x ${cookie} y`)).toBe("x [secret] y");
  });

  it("of an earlier version, which also counted revisions: no login", async () => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), revision: 3 }));
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("of another mode: a separate login", async () => {
    const { sandbox, client } = await startWithSession();
    expect(await client({ settings: { keepLoggedIn: true } }).create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(sandbox.requests[0]?.body).toMatchObject({ keep_logged_in: true });
  });
});

describe("the lock", () => {
  it.each<[string, () => string]>([
    ["that died", () => lockText(deadPid())],
    ["whose number another process has now", () => lockText(process.pid, { started: "1" })],
  ])("row 55: left by a process %s: taken over at once", async (_, text) => {
    const { sandbox, file, client } = await start();
    writeFileSync(`${file}.lock`, text());
    const run = client();
    expect(await run.create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(run.clock.monotonicMs()).toBeLessThan(1000);
    expect(run.said).toEqual([]);
    expect(existsSync(file)).toBe(true);
    expect(beside(file)).toEqual([]);
  });

  it.each<[string, string]>([
    ["by another machine's process", foreignLock],
    ["half written", '{"host":'],
    ["empty", ""],
  ])("row 55: left %s: taken over after a long time without a heartbeat", async (_, text) => {
    const { sandbox, file, client } = await start();
    writeFileSync(`${file}.lock`, text);
    const run = client();
    expect(await run.create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(run.clock.monotonicMs()).toBeGreaterThan(10_000);
    expect(run.clock.monotonicMs()).toBeLessThan(20_000);
    expect(run.said).toEqual([]);
    expect(beside(file)).toEqual([]);
  });

  it("row 55: left by a process that died while it took over another one", async () => {
    const { sandbox, file, client } = await start();
    writeFileSync(`${file}.lock`, lockText(deadPid()));
    writeFileSync(`${file}.lock.takeover`, "");
    const run = client();
    expect(await run.create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(run.clock.monotonicMs()).toBeLessThan(20_000);
    expect(beside(file)).toEqual([]);
  });

  /** Another holder of the lock, without a heartbeat, until `untilMs` on the clock. */
  function heldBy(clock: FakeClock, lock: string, untilMs: number, release: () => void = () => rmSync(lock)): void {
    writeFileSync(lock, lockText(process.pid));
    clock.beforeWaking = (nowMs) => {
      if (existsSync(lock) && nowMs >= untilMs) release();
    };
  }

  it("row 56: held by a live process, as one that is paused: waited for within limits, then the run goes on without the file", async () => {
    const { sandbox, file, client } = await start();
    const clock = new FakeClock(Date.now());
    heldBy(clock, `${file}.lock`, Number.POSITIVE_INFINITY);
    const run = client({ clock, settings: waitingAMinute });
    expect((await run.createMany(5)).filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 5 });
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(MINUTE);
    expect(clock.monotonicMs()).toBeLessThan(MINUTE + 5000);
    expect(run.said).toEqual([expect.stringContaining(`the lock ${file}.lock is held by another run`)]);
    expect(existsSync(file)).toBe(false);
    expect(existsSync(`${file}.lock`)).toBe(true); // it is the holder's
  });

  it("row 56: released in time by a process that has logged in: its session is used", async () => {
    const { sandbox, file, client } = await startWithSession();
    const text = readFileSync(file, "utf8");
    rmSync(file);
    const clock = new FakeClock(Date.now());
    heldBy(clock, `${file}.lock`, 40_000, () => {
      writeFileSync(file, text, { mode: 0o600 });
      rmSync(`${file}.lock`);
    });
    const run = client({ clock, settings: waitingAMinute });
    expect((await run.createMany(5)).filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 5 });
    expect(run.said).toEqual([]);
  });

  it("lost to another machine during the login: the newer file stays, and the run goes on without it", async () => {
    const { sandbox, file, client } = await start();
    const { requests } = sandbox;
    const push = requests.push.bind(requests);
    requests.push = (...received) => {
      if (received[0]?.path.endsWith("/authenticate")) {
        takeOver(`${file}.lock`);
        writeFileSync(file, "newer", { mode: 0o600 });
      }
      return push(...received);
    };
    const run = client();
    for (const name of ["A", "B", "C"]) expect(await run.create(name)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
    expect(run.said).toEqual([expect.stringContaining(`another run took over the lock ${file}.lock`)]);
    expect(readFileSync(file, "utf8")).toBe("newer");
    expect(readFileSync(`${file}.lock`, "utf8")).toBe(foreignLock);
    expect(beside(file)).toEqual(["session.json.lock"]);
  });

  it.each([false, true])("is never held across a create (long-lived: %s)", async (keepLoggedIn) => {
    const { sandbox, file, client } = await start();
    const atCreates: boolean[] = [];
    sandbox.fail({
      on: "create",
      times: 10,
      act: true,
      with: {
        kind: "answer",
        status: 200,
        body: (created: unknown) => {
          atCreates.push(existsSync(`${file}.lock`));
          return created;
        },
      },
    });
    const run = client({ settings: { keepLoggedIn } });
    for (let index = 0; index < 10; index++) expect(await run.create(`A${index}`)).toMatchObject({ kind: "created" });
    expect(atCreates).toEqual(Array.from({ length: 10 }, () => false));
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 10 });
  });
});
