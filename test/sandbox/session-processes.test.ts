/** Several processes that share a cookie file. */
import { fork } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { FakeClock } from "../support/clock.js";
import { resetCounts } from "../support/installation.js";
import { counts } from "../support/session.js";
import { beside, modeOf, start } from "../support/session-file.js";

vi.setConfig({ testTimeout: 120_000 });

const MINUTE = 60_000;

describe("several processes", () => {
  const script = resolve(import.meta.dirname, "session-process.mjs");

  interface Report {
    readonly endings: readonly { readonly id?: string; readonly failure?: string }[];
    readonly said: readonly string[];
  }

  /** Starts them, and lets them begin together. @returns `undefined` for one that was killed. */
  async function run(tasks: readonly object[]): Promise<(Report | undefined)[]> {
    const children = tasks.map((task) =>
      fork(script, [JSON.stringify(task)], {
        execArgv: [],
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      }),
    );
    onTestFinished(() => {
      for (const child of children) child.kill("SIGKILL");
    });
    let ready = 0;
    return Promise.all(
      children.map(
        (child) =>
          new Promise<Report | undefined>((done, fail) => {
            let report: Report | undefined;
            let complaint = "";
            child.stderr?.setEncoding("utf8").on("data", (text: string) => {
              complaint += text;
            });
            child.on("message", (message) => {
              if (message !== "ready") report = message as Report;
              else if (++ready === children.length)
                for (const other of children) other.send("go");
            });
            child.once("error", fail);
            child.once("close", (code, signal) => {
              if (code === 0 || signal === "SIGKILL") done(report);
              else
                fail(new Error(`the process ended with ${code ?? signal}: ${complaint}`));
            });
          }),
      ),
    );
  }

  const tasks = (
    sandbox: Sandbox,
    cookieFile: string,
    processes: number,
    creates: number,
    keepLoggedIn = false,
  ) =>
    Array.from({ length: processes }, (_, process) => ({
      baseUrl: sandbox.url,
      cookieFile,
      keepLoggedIn,
      names: Array.from({ length: creates }, (_, index) => `p${process}-${index}`),
    }));

  function expectEachOnce(
    sandbox: Sandbox,
    reports: readonly (Report | undefined)[],
    count: number,
  ): void {
    const endings = reports.flatMap((report) => report?.endings ?? []);
    expect(endings.flatMap(({ failure }) => failure ?? [])).toEqual([]);
    expect(new Set(endings.map(({ id }) => id)).size).toBe(count);
    expect(sandbox.advertisers).toHaveLength(count);
    expect(
      new Set(sandbox.advertisers.map((advertiser) => advertiser.advertiser_name)).size,
    ).toBe(count);
    expect(reports.flatMap((report) => report?.said ?? [])).toEqual([]);
  }

  it("8 processes with 10 creates each and no file yet: one login, 80 ids", async () => {
    const { sandbox, file } = await start({ latencyMs: 2 });
    expectEachOnce(sandbox, await run(tasks(sandbox, file, 8, 10)), 80);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 80 });
    expect(modeOf(file)).toBe(0o600);
    expect(beside(file)).toEqual([]);
    expectNoFailure(await run(tasks(sandbox, file, 2, 2)));
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 84 });
  });

  function expectNoFailure(reports: readonly (Report | undefined)[]): void {
    expect(
      reports
        .flatMap((report) => report?.endings ?? [])
        .flatMap(({ failure }) => failure ?? []),
    ).toEqual([]);
  }

  it("the session of 8 processes ends in the middle: at most two more logins, each created once", async () => {
    const { sandbox, file } = await start({ latencyMs: 2 });
    // Ends every session at the 40th create, before that is accepted.
    let creates = 0;
    const { requests } = sandbox;
    const push = requests.push.bind(requests);
    requests.push = (...received) => {
      if (received[0]?.path.endsWith("/advertiser") && ++creates === 40)
        sandbox.expireSessions();
      return push(...received);
    };
    expectEachOnce(sandbox, await run(tasks(sandbox, file, 8, 10)), 80);
    expect(sandbox.logins).toBeLessThanOrEqual(3);
    expect(sandbox.logins).toBeGreaterThan(1);
    expect(sandbox.creates).toBeLessThanOrEqual(160);
    expect(sandbox.requests.filter(({ created }) => created !== undefined)).toHaveLength(
      80,
    );
  });

  it("six processes with long-lived sessions: one login", async () => {
    const { sandbox, file } = await start({ latencyMs: 2 });
    expectEachOnce(sandbox, await run(tasks(sandbox, file, 6, 10, true)), 60);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 60 });
    expectNoFailure(await run(tasks(sandbox, file, 1, 1, true)));
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 61 });
    expect(modeOf(file)).toBe(0o600);
    expect(beside(file)).toEqual([]);
  });

  it("killed before each file-system call: the file is whole, and the next run does not wait", {
    // Several hundred runs, each of which computes a verifier.
    timeout: 5 * MINUTE,
  }, async () => {
    // Its calls begin with those of a session that isn't long-lived.
    const keepLoggedIn = true;
    const { sandbox, folder, client } = await start({ loginsPerMinute: 1000 });
    const AT_ONCE = 8;
    let finished = 0;
    let killed = 0;
    let leftBehinds = 0;
    for (let first = 1; finished === 0; first += AT_ONCE) {
      expect(first).toBeLessThan(200);
      const rounds = Array.from({ length: AT_ONCE }, (_, index) => ({
        file: join(folder, String(first + index), "session.json"),
        dieAtCall: first + index,
      }));
      const reports = await run(
        rounds.map(({ file, dieAtCall }) => ({
          ...tasks(sandbox, file, 1, 1, keepLoggedIn)[0],
          dieAtCall,
        })),
      );
      for (const [index, { file, dieAtCall }] of rounds.entries()) {
        if (reports[index] === undefined) killed++;
        else finished++;
        const names = existsSync(dirname(file)) ? readdirSync(dirname(file)) : [];
        for (const name of names)
          expect([name, modeOf(join(dirname(file), name))]).toEqual([name, 0o600]);
        expect(names.length).toBeLessThanOrEqual(3);
        if (existsSync(file))
          expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 2 });

        resetCounts(sandbox);
        const next = client({ cookieFile: file, settings: { keepLoggedIn } });
        expect(await next.create(`after-${dieAtCall}`)).toMatchObject({
          kind: "created",
        });
        expect(sandbox.logins).toBeLessThanOrEqual(1);
        expect(sandbox.creates).toBe(1);
        expect(next.said).toEqual([]);
        // A lock is never half written, so its owner is known to be dead.
        expect(next.clock.monotonicMs()).toBeLessThan(1000);
      }
      // Temporary files do not pile up: a later login removes them.
      const leftBehind = rounds.filter(({ file }) => beside(file).length > 0);
      leftBehinds += leftBehind.length;
      sandbox.expireSessions();
      await Promise.all(
        leftBehind.map(async ({ file, dieAtCall }) => {
          const clock = new FakeClock(Date.now() + 10 * MINUTE);
          const later = client({ cookieFile: file, clock, settings: { keepLoggedIn } });
          expect(await later.create(`later-${dieAtCall}`)).toMatchObject({
            kind: "created",
          });
          expect(beside(file)).toEqual([]);
        }),
      );
    }
    expect(killed).toBeGreaterThan(10);
    expect(leftBehinds).toBeGreaterThan(0);
  });
});
