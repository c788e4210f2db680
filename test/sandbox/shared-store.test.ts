/** Long-lived sessions in a file. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import fsp from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { RealTime } from "../support/clock.js";
import { beside, counts, modeOf, replaceInFs, start, systemError } from "../support/session-file.js";

vi.setConfig({ testTimeout: 120_000 });

describe("long-lived sessions", () => {
  const long = { settings: { keepLoggedIn: true } } as const;
  const lastCookie = (sandbox: Sandbox) => String(sandbox.requests.at(-1)?.headers.cookie);

  it.each(["session", "strict", "single-use"] as const)(
    "row 43: rotation %s: the file has the newest cookie, and the next run sends it",
    async (rotation) => {
      const { sandbox, file, client } = await start({ rotation });
      const run = client(long);
      for (let index = 0; index < 5; index++) expect(await run.create(`A${index}`)).toMatchObject({ kind: "created" });
      const before = lastCookie(sandbox);
      const text = readFileSync(file, "utf8");
      expect(await client(long).create("next")).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 6 });
      expect(lastCookie(sandbox)).not.toBe(before);
      for (const pair of lastCookie(sandbox).split("; "))
        expect(text).toContain(`"${pair.slice(pair.indexOf("=") + 1)}"`);
      expect(modeOf(file)).toBe(0o600);
      expect(beside(file)).toEqual([]);
    },
  );

  it("a later version writes the file while a create is in flight: the create is reported, and the file left alone", async () => {
    const { sandbox, file, client } = await start();
    const run = client(long);
    expect(await run.create("A")).toMatchObject({ kind: "created" });
    const text = JSON.stringify({ session: "pulumi-advertising", version: 3 });
    sandbox.fail({
      on: "create",
      act: true,
      with: {
        kind: "answer",
        status: 200,
        headers: { "set-cookie": "sandbox_service_cookie=newer; Path=/" },
        get body() {
          writeFileSync(file, text, { mode: 0o600 });
          return { success: true, payload: { id: 2 } };
        },
      },
    });
    expect(await run.create("B")).toMatchObject({ kind: "created", id: "2" });
    expect(run.said).toEqual([expect.stringContaining("was changed meanwhile and is left as it is")]);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(sandbox.creates).toBe(2);
  });

  it("row 43: two runs that take turns use each other's cookies, single-use ones too", async () => {
    const { sandbox, client } = await start({ rotation: "single-use" });
    const runs = [client(long), client(long)];
    for (let index = 0; index < 10; index++) {
      expect(await runs[index % 2]?.create(`A${index}`)).toMatchObject({ kind: "created" });
    }
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 10 });
  });

  it.each(["session", "strict"] as const)(
    "rotation %s: 25 creates at once in each of two runs: one login",
    async (rotation) => {
      const { sandbox, file, client } = await start({ rotation, latencyMs: 2 });
      const runs = [client({ ...long, clock: new RealTime() }), client({ ...long, clock: new RealTime() })];
      const endings = (await Promise.all(runs.map((run) => run.createMany(25)))).flat();
      expect(endings.filter(({ kind }) => kind !== "created")).toEqual([]);
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 50 });
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ keepLoggedIn: true });
    },
  );

  it.each(["ENOSPC", "EROFS", "EACCES"])(
    "row 46: %s while a rotated cookie is stored: a warning, the create is reported, and the cookie is used",
    async (code) => {
      const { sandbox, file, client } = await start({ rotation: "single-use" });
      const run = client(long);
      expect(await run.create("first")).toMatchObject({ kind: "created" });
      const { open } = fsp;
      replaceInFs({
        open: (path: string, ...rest: [string, number]) => {
          if (path.endsWith(".tmp")) throw systemError(code, "open");
          return open(path, ...rest);
        },
      });
      for (let index = 0; index < 5; index++) expect(await run.create(`A${index}`)).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 6 });
      expect(run.said).toEqual([expect.stringContaining(`${code} (open)`)]);
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 2 });
      expect(beside(file)).toEqual([]);
    },
  );

  it("row 46: the file is removed meanwhile", async () => {
    const { sandbox, file, client } = await start({ rotation: "single-use" });
    const run = client(long);
    expect(await run.create("A")).toMatchObject({ kind: "created" });
    rmSync(file);
    expect(await run.create("B")).toMatchObject({ kind: "created" });
    rmSync(dirname(file), { recursive: true });
    expect(await run.create("C")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
  });
});
