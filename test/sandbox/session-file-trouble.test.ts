/** A cookie file that must not be trusted, can't be written, or is damaged. */
import { execFileSync } from "node:child_process";
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import fsp from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { replaceIn } from "../support/builtin.js";
import { messageOf, type TestClient } from "../support/client.js";
import {
  beside,
  counts,
  modeOf,
  replaceInFs,
  start,
  startWithSession,
  systemError,
  userRun,
} from "../support/session-file.js";

vi.setConfig({ testTimeout: 120_000 });

const MINUTE = 60_000;

describe("a file that can't be trusted is left alone, and the run goes on without it, with one message", () => {
  /** @returns the message. */
  async function goesOn(sandbox: Sandbox, client: TestClient): Promise<string> {
    for (const name of ["A", "B"]) expect(await client.create(name)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(client.said).toHaveLength(1);
    expect(client.said[0]).toMatch(/The cookie file .* is not used: .*\. This run keeps its session in memory\./);
    return client.said[0] ?? "";
  }

  it("row 54: a link, whose target is not touched", async () => {
    const { sandbox, folder, file, client } = await start();
    const target = join(folder, "precious");
    writeFileSync(target, "precious");
    symlinkSync(target, file);
    expect(await goesOn(sandbox, client())).toContain("it is a symbolic link");
    expect(readFileSync(target, "utf8")).toBe("precious");
    expect(beside(file)).toEqual(["precious"]);
  });

  it("row 54: a link that leads nowhere", async () => {
    const { sandbox, folder, file, client } = await start();
    symlinkSync(join(folder, "nowhere"), file);
    expect(await goesOn(sandbox, client())).toContain("it is a symbolic link");
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  it("row 54: a folder", async () => {
    const { sandbox, file, client } = await start();
    mkdirSync(file);
    expect(await goesOn(sandbox, client())).toMatch(/it is (a folder|no regular file)/);
    expect(readdirSync(file)).toEqual([]);
    expect(beside(file)).toEqual([]);
  });

  it("row 54: a pipe, which is not waited for", async () => {
    const { sandbox, file, client } = await start();
    execFileSync("mkfifo", [file]);
    expect(await goesOn(sandbox, client())).toMatch(/it is (a pipe or a device|no regular file)/);
    expect(statSync(file).isFIFO()).toBe(true);
  });

  it("row 54: a device", async () => {
    const { sandbox, client } = await start();
    expect(await goesOn(sandbox, client({ cookieFile: "/dev/null" }))).toContain("it is no regular file");
    expect(existsSync("/dev/null.lock")).toBe(false);
  });

  it("row 54: a path below something that is not a folder", async () => {
    const { sandbox, folder, client } = await start();
    writeFileSync(join(folder, "plain"), "");
    expect(await goesOn(sandbox, client({ cookieFile: join(folder, "plain", "session.json") }))).toMatch(
      /ENOTDIR|EEXIST/,
    );
  });

  it("row 51: a file of 1 GB, which is not read", async () => {
    const { sandbox, file, client } = await start();
    writeFileSync(file, "");
    truncateSync(file, 1024 ** 3);
    expect(await goesOn(sandbox, client())).toContain("it is larger than 1048576 bytes");
    expect(statSync(file).size).toBe(1024 ** 3);
  });

  it.skipIf(process.getuid?.() !== 0)("row 53: a file of another user (needs root to make one)", async () => {
    const { sandbox, file, client } = await startWithSession();
    const before = readFileSync(file, "utf8");
    await fsp.chown(file, 12_345, 12_345);
    expect(await goesOn(sandbox, client())).toContain("it belongs to another user");
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it.each([{ email: "other@example.com" }, { baseUrl: "https://other.example" }])(
    "another account's: %o",
    async (other) => {
      const { sandbox, file, client } = await startWithSession();
      const stored = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
      const text = JSON.stringify({ ...stored, ...other });
      writeFileSync(file, text);
      const foreign = /"value":"([^"]+)"/.exec(text)?.[1] ?? "no cookie";
      expect(await goesOn(sandbox, client())).toContain("another account's session");
      expect(readFileSync(file, "utf8")).toBe(text);
      expect(JSON.stringify(sandbox.requests)).not.toContain(foreign);
    },
  );

  it("with the e-mail in capitals is not another account's: no login", async () => {
    const { sandbox, file, client } = await startWithSession();
    const stored = JSON.parse(readFileSync(file, "utf8")) as { email: string };
    writeFileSync(file, JSON.stringify({ ...stored, email: stored.email.toUpperCase() }));
    expect(await client().create("later")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it.each(["EACCES", "EROFS", "ENOSPC", "EMFILE"])("row 46: %s while it is locked", async (code) => {
    const { sandbox, file, client } = await start();
    const { openSync } = fs;
    replaceIn(fs, {
      openSync: (path: string, ...rest: [string, number]) => {
        if (path.includes(".lock")) throw systemError(code, "open");
        return openSync(path, ...rest);
      },
    });
    expect(await goesOn(sandbox, client())).toContain(`${code} (open)`);
    expect(existsSync(file)).toBe(false);
  });

  const STEPS = ["open", "writeFile", "datasync", "close", "rename", "readdir", "stat"] as const;
  it.each(STEPS)(
    "row 58: %s fails while it is written: the old file stays whole, and nothing is left beside it",
    async (step) => {
      const { sandbox, file, client } = await startWithSession();
      sandbox.expireSessions();
      const before = readFileSync(file, "utf8");
      const { open, rename, readdir, stat } = fsp;
      let isFailing = false;
      const failing = () => {
        isFailing = true;
        return Promise.reject(systemError("ENOSPC", step === "stat" ? "lstat" : step));
      };
      replaceInFs({
        open: async (path: string, ...rest: [string, number]) => {
          if (!path.endsWith(".tmp")) return open(path, ...rest);
          if (step === "open") return failing();
          const handle = await open(path, ...rest);
          if (step === "writeFile" || step === "datasync") Object.assign(handle, { [step]: failing });
          if (step === "close") {
            const close = handle.close.bind(handle);
            Object.assign(handle, { close: () => close().then(failing) });
          }
          return handle;
        },
        rename: step === "rename" ? failing : rename,
        readdir: step === "readdir" ? failing : readdir,
        stat: step === "stat" ? (path: string) => (path.endsWith(".tmp") ? failing() : stat(path)) : stat,
      });
      if (step === "stat") writeFileSync(`${file}.old.tmp`, "left by a killed process");
      const run = client();
      expect((await run.createMany(5)).filter(({ kind }) => kind !== "created")).toEqual([]);
      expect(isFailing).toBe(true);
      expect(sandbox.logins).toBe(1);
      expect(sandbox.creates).toBeLessThanOrEqual(10);
      expect(run.said).toEqual([expect.stringMatching(/is not used: ENOSPC/)]);
      const after = readFileSync(file, "utf8");
      if (step !== "readdir" && step !== "stat") expect(after).toBe(before);
      expect(JSON.parse(after)).toMatchObject({ version: 2 });
      expect(beside(file)).toEqual(step === "stat" ? ["session.json.old.tmp"] : []);
    },
  );

  it("row 52: a file of a later version is refused: nothing is sent, and the file does not change", async () => {
    const { sandbox, file, client } = await start();
    const text = JSON.stringify({ session: "pulumi-advertising", version: 3, more: "than is known here" });
    writeFileSync(file, text, { mode: 0o600 });
    const before = statSync(file);
    const run = client();
    const endings = await run.createMany(5);
    expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["LoginError"]));
    expect(messageOf(endings[0])).toMatch(
      /Nothing was sent: the cookie file .*session\.json was written by a later version.*\(format 3\).*Use that version, or remove the file/,
    );
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 0 });
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(statSync(file).mtimeMs).toBe(before.mtimeMs);
    expect(beside(file)).toEqual([]);
  });
});

describe("a file that is repaired", () => {
  it("row 53: readable by others: it is made private, and used", async () => {
    const { sandbox, file, client } = await startWithSession();
    chmodSync(file, 0o644);
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(modeOf(file)).toBe(0o600);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it.each<[string, (whole: string) => string | Buffer]>([
    ["empty", () => ""],
    ["truncated", (whole) => whole.slice(0, whole.length / 2)],
    ["binary", () => Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 37) % 256))],
    ["another JSON", () => "[1, 2]"],
    ["null", () => "null"],
    ["deep", () => "[".repeat(500_000)],
    ["without a jar", (whole) => JSON.stringify({ ...JSON.parse(whole), jar: undefined })],
    ["with an invalid jar", (whole) => JSON.stringify({ ...JSON.parse(whole), jar: { cookies: "none" } })],
    ["with a jar as text", (whole) => JSON.stringify({ ...JSON.parse(whole), jar: "{" })],
    ["without the time", (whole) => JSON.stringify({ ...JSON.parse(whole), newestAtMs: undefined })],
    ["without a verifier", (whole) => JSON.stringify({ ...JSON.parse(whole), verifier: undefined })],
    ["with a verifier of another cost", (whole) => whole.replace('"N":32768', '"N":2')],
    ["with version 0", (whole) => JSON.stringify({ ...JSON.parse(whole), version: 0 })],
    ["another program's", () => JSON.stringify({ session: "other", version: 2 })],
  ])("row 51: %s: one login, one message, and the file is rewritten", async (_, damage) => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, damage(readFileSync(file, "utf8")));
    const run = userRun(sandbox, file);
    for (const name of ["A", "B"]) expect(await run.create(name)).toMatchObject({ outs: { advertiserName: name } });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(run.seen()).toEqual([`The cookie file ${file} is damaged; the next login replaces it.`]);
    expect(modeOf(file)).toBe(0o600);
    expect(await client().create("C")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
  });

  it.each<[string, (whole: string) => string]>([
    ["with a byte-order mark", (whole) => `\ufeff${whole}`],
    ["with CRLF", (whole) => JSON.stringify(JSON.parse(whole), undefined, 2).replaceAll("\n", "\r\n")],
  ])("row 51: %s: is read", async (_, change) => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, change(readFileSync(file, "utf8")));
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("without a cookie to send: a login before the create", async () => {
    for (const change of [{ cookies: [] }, "expired", "elsewhere"] as const) {
      const { sandbox, file, client } = await startWithSession();
      const stored = JSON.parse(readFileSync(file, "utf8")) as { jar: { cookies: Record<string, unknown>[] } };
      if (typeof change === "object") stored.jar.cookies = [...change.cookies];
      for (const cookie of stored.jar.cookies) {
        if (change === "expired") cookie.expires = "2020-01-01T00:00:00.000Z";
        if (change === "elsewhere") cookie.domain = "elsewhere.example";
      }
      writeFileSync(file, JSON.stringify(stored));
      expect(await client().create()).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    }
  });

  it("row 58: a login removes temporary files of killed processes, except recent ones", async () => {
    const { sandbox, file, client } = await start();
    for (const name of ["a", "b"]) writeFileSync(`${file}.${name}.tmp`, "half a jar");
    writeFileSync(join(dirname(file), "other.json.a.tmp"), "not ours");
    const longAgo = new Date(Date.now() - 10 * MINUTE);
    utimesSync(`${file}.a.tmp`, longAgo, longAgo);
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(beside(file).sort()).toEqual(["other.json.a.tmp", "session.json.b.tmp"]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });
});
