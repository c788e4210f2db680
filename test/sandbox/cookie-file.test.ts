/** The cookie file: what is trusted, how it is written, who waits for whom; and several processes that share one. */
import { execFileSync, fork } from "node:child_process";
import crypto from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { advertiser } from "../../provider/src/kinds/advertiser.js";
import { createProvider } from "../../provider/src/lifecycle/provider.js";
import { createRuntime } from "../../provider/src/lifecycle/runtime.js";
import type { Sandbox, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { messageOf, TestClient, type TestClientOptions } from "../support/client.js";
import { FakeClock, RealTime } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { deadPid, foreignLock, lockText, takeOver } from "../support/lock.js";
import { newRun } from "../support/run.js";
import { useSandbox } from "../support/stack.js";

vi.setConfig({ testTimeout: 120_000 });

const MINUTE = 60_000;
/** A lock is waited for as long as its holder may take. */
const waitingAMinute = { maxWaitSeconds: 40, requestTimeoutSeconds: 20 };
const counts = ({ logins, creates }: Sandbox) => ({ logins, creates });
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A sandbox, a place for a cookie file, and clients that share both; each as a process of its own would be. */
async function start(options: SandboxOptions = {}) {
  const sandbox = await useSandbox(options);
  const folder = newFolder();
  const file = join(folder, "session.json");
  // Files have real times: so does the clock, at the start.
  const client = (more: TestClientOptions = {}) =>
    new TestClient(sandbox.url, { cookieFile: file, clock: new FakeClock(Date.now()), ...more });
  return { sandbox, folder, file, client };
}

/** The same, with a session in the file. */
async function startWithSession(options: SandboxOptions = {}, more: TestClientOptions = {}) {
  const started = await start(options);
  expect(await started.client(more).create("earlier")).toMatchObject({ kind: "created" });
  started.sandbox.resetCounts();
  return started;
}

/** A run with all that belongs to it, and what its user gets to see. */
function userRun({ url, email, password }: Sandbox, cookieFile: string) {
  const config: Record<string, string> = { baseUrl: url, email, password, cookieFile };
  const runtime = createRuntime((key) => config[key], {});
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const provider = createProvider(
    advertiser,
    () => runtime,
    () => undefined,
  );
  return {
    create: (advertiserName: string) => provider.create({ advertiserName }),
    seen: () => warn.mock.calls.map(([message]) => message as string),
  };
}

/** What stands in `folder` beside the cookie file. */
const beside = (file: string) => readdirSync(dirname(file)).filter((name) => name !== basename(file));

/** Replaces functions of node:fs/promises until the test's end; `open` can thus also change the handles it gives. */
function replaceInFs(replacements: Partial<Record<keyof typeof fsp, unknown>>): void {
  const originals = Object.fromEntries(Object.keys(replacements).map((name) => [name, fsp[name as keyof typeof fsp]]));
  Object.assign(fsp, replacements);
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fsp, originals);
    syncBuiltinESMExports();
  });
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall });
}

describe("the file", () => {
  it("row 37: is written at the login, for its owner only, without the password", async () => {
    const { sandbox, file, client } = await start();
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(modeOf(file)).toBe(0o600);
    expect(beside(file)).toEqual([]); // neither lock nor temporary file
    expect(readFileSync(file, "utf8")).not.toContain("sandbox-password");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ session: "pulumi-advertising", version: 2 });
  });

  it("is private from its first byte on: every file is made as 0600, every folder as 0700", async () => {
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

  it("serves the next run: no login", async () => {
    const { sandbox, client } = await startWithSession();
    const next = client();
    expect((await next.createMany(20)).filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 20 });
    expect(next.said).toEqual([]);
  });

  it("row 44: is written only when logging in: bytes and times are the same after creates, and no lock is taken", async () => {
    const { sandbox, file, client } = await startWithSession();
    const before = { bytes: readFileSync(file, "utf8"), status: statSync(file) };
    const written: string[] = [];
    const { open } = fsp;
    replaceInFs({
      open: (path: string, flags: unknown, mode: unknown) => {
        if (typeof flags === "string") written.push(path); // reading uses numbers
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

  it("holds a session that has died: one login for all, each create once", async () => {
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

  it("serves two runs at once with one login, and their cookies are scrubbed in both", async () => {
    const { sandbox, file, client } = await start({ latencyMs: 5 });
    const runs = [client({ clock: new RealTime() }), client({ clock: new RealTime() })];
    const endings = (await Promise.all(runs.map((run) => run.createMany(10)))).flat();
    expect(endings.filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 20 });
    const cookie = String(sandbox.requests.at(-1)?.headers.cookie).split("=")[1] ?? "";
    expect(readFileSync(file, "utf8")).toContain(cookie);
    for (const { secrets } of runs) expect(secrets.scrub(`x ${cookie} y`)).toBe("x [secret] y");
  });

  it("of before, which also counted its revisions: no login", async () => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), revision: 3 }));
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("is another mode's: a login of its own", async () => {
    const { sandbox, client } = await startWithSession();
    expect(await client({ settings: { keepLoggedIn: true } }).create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(sandbox.requests[0]?.body).toMatchObject({ keep_logged_in: true });
  });
});

describe("the password", () => {
  const PASSWORD = "a new s\u00ebcret & more/1+1";
  const withPassword = (password: string) => ({ settings: { password } });

  /** Counts what is computed of passwords, until the test's end. */
  function countScrypt() {
    const computed = vi.spyOn(crypto, "scrypt");
    syncBuiltinESMExports();
    onTestFinished(() => {
      computed.mockRestore();
      syncBuiltinESMExports();
    });
    return { salts: () => computed.mock.calls.map(([, salt]) => (salt as Buffer).toString("hex")) };
  }

  it("unchanged: no login, and its verifier is computed once in a run, whatever the run has to do", async () => {
    const { sandbox, file, client } = await startWithSession();
    const { verifier } = JSON.parse(readFileSync(file, "utf8")) as { verifier: unknown };
    const computed = countScrypt();
    const run = client();
    for (let round = 0; round < 3; round++) {
      expect((await run.createMany(5)).filter(({ kind }) => kind !== "created")).toEqual([]);
      if (round === 0) expect(counts(sandbox)).toEqual({ logins: 0, creates: 5 });
      sandbox.expireSessions();
    }
    expect(sandbox.logins).toBe(2);
    expect(computed.salts()).toHaveLength(1);
    // The logins of the same password need no other salt.
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ verifier });
  });

  it.each([false, true])("is computed once in a first run (long-lived: %s)", async (keepLoggedIn) => {
    const { sandbox, client } = await start({ rotation: "session" });
    const computed = countScrypt();
    const endings = await client({ settings: { keepLoggedIn } }).createMany(10);
    expect(endings.filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 10 });
    expect(computed.salts()).toHaveLength(1);
  });

  it("changed, on the platform as well: one login with the new one, which the next runs need not repeat", async () => {
    const { file, client } = await startWithSession();
    const before = JSON.parse(readFileSync(file, "utf8")) as { verifier: { salt: string } };
    const platform = await useSandbox({ password: PASSWORD });
    const stored = JSON.stringify({ ...before, baseUrl: platform.url });
    writeFileSync(file, stored);
    const computed = countScrypt();
    const changed = () => new TestClient(platform.url, { cookieFile: file, ...withPassword(PASSWORD) });
    const run = changed();
    expect((await run.createMany(5)).filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(platform)).toEqual({ logins: 1, creates: 5 });
    expect(platform.requests[0]?.body).toMatchObject({ password: PASSWORD });
    expect(run.said).toEqual([]);
    expect(new Set(computed.salts()).size).toBe(computed.salts().length); // each salt once
    const after = JSON.parse(readFileSync(file, "utf8")) as { verifier: { salt: string } };
    expect(after.verifier.salt).not.toBe(before.verifier.salt);
    expect(await changed().create()).toMatchObject({ kind: "created" });
    expect(counts(platform)).toEqual({ logins: 1, creates: 6 });
    // Whoever still has the old one is refused, instead of going on with a session of the new one.
    const old = new TestClient(platform.url, { cookieFile: file, clock: client().clock });
    expect(await old.create()).toMatchObject({ kind: "LoginError" });
    expect(counts(platform)).toEqual({ logins: 2, creates: 6 });
  });

  it("changed, and wrong: a login error, nothing is sent, and the session stays for who has the right one", async () => {
    const { sandbox, file, client } = await startWithSession();
    const before = readFileSync(file, "utf8");
    for (let runs = 0; runs < 2; runs++) {
      const endings = await client(withPassword("wrong")).createMany(5);
      expect(endings.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => "LoginError"));
      expect(messageOf(endings[0])).toContain("Check advertising:email and advertising:password");
    }
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 0 });
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 1 });
  });

  it("stands in no file, in no spelling and no fast digest, nor in a file's name", async () => {
    const { sandbox, folder, file } = await start({ password: PASSWORD });
    const run = new TestClient(sandbox.url, { cookieFile: file, ...withPassword(PASSWORD) });
    expect(await run.create()).toMatchObject({ kind: "created" });
    const { salt } = (JSON.parse(readFileSync(file, "utf8")) as { verifier: { salt: string } }).verifier;
    const written = `${readdirSync(folder).join(" ")} ${readFileSync(file, "utf8")}`;
    const bytes = Buffer.from(PASSWORD);
    const salts = [Buffer.alloc(0), Buffer.from(salt, "base64"), Buffer.from(salt), Buffer.from(run.settings.email)];
    const digests = ["md5", "sha1", "sha256", "sha512"].flatMap((name) =>
      salts.flatMap((one) => [
        crypto.createHash(name).update(one).update(bytes).digest(),
        crypto.createHash(name).update(bytes).update(one).digest(),
        crypto.createHmac(name, one).update(bytes).digest(),
      ]),
    );
    const spellings = [bytes, ...digests].flatMap((one) => [
      one.toString("hex"),
      one.toString("hex").toUpperCase(),
      one.toString("base64"),
      one.toString("base64url"),
      one.toString("hex").slice(0, 16),
    ]);
    const plain = [PASSWORD, encodeURIComponent(PASSWORD), JSON.stringify(PASSWORD).slice(1, -1), "cret & more"];
    for (const spelling of [...plain, ...spellings]) expect(written).not.toContain(spelling);
  });

  it("is not computed in a preview", async () => {
    const { sandbox, file } = await startWithSession();
    const computed = countScrypt();
    const run = newRun(sandbox, dirname(file));
    const inputs = { advertiserName: "A", __identity: "organization/shop/dev::a", __provider: "x" };
    await run.advertiser.check({}, { ...inputs });
    await run.advertiser.diff("1", { ...inputs }, { ...inputs, advertiserName: "B" });
    expect(computed.salts()).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 0 });
    await run.advertiser.create({ ...inputs });
    expect(computed.salts()).toHaveLength(1);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("can't be computed on this machine: the run goes on without the file, and says so", async () => {
    const { sandbox, client } = await startWithSession();
    const refusing = vi.spyOn(crypto, "scrypt").mockImplementation((...args: unknown[]) => {
      (args.at(-1) as (error: Error) => void)(new Error("scrypt is not allowed"));
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      refusing.mockRestore();
      syncBuiltinESMExports();
    });
    const run = client();
    for (const name of ["A", "B"]) expect(await run.create(name)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(run.said).toEqual([expect.stringContaining("its password can't be checked (scrypt is not allowed)")]);
  });

  it("of a file of an earlier version is not known: one login, nothing said", async () => {
    const { sandbox, file, client } = await startWithSession();
    const { verifier: _, ...first } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...first, version: 1 }));
    for (const name of ["A", "B"]) {
      const run = client();
      expect(await run.create(name)).toMatchObject({ kind: "created" });
      expect(run.said).toEqual([]);
    }
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
  });
});

describe("a file that can't be trusted: the run goes on without it, says so once, and leaves it alone", () => {
  /** @returns what was said. */
  async function goesOn(sandbox: Sandbox, client: TestClient): Promise<string> {
    for (const name of ["A", "B"]) expect(await client.create(name)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(client.said).toHaveLength(1);
    expect(client.said[0]).toMatch(/The session file .* is not used: .*\. This run keeps its session in memory\./);
    return client.said[0] ?? "";
  }

  it("row 54: a link, and what it leads to is not touched", async () => {
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

  it("row 54: below something that is no folder", async () => {
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

  it.each(["EACCES", "EROFS", "ENOSPC", "EMFILE"])("row 46: %s when it is to be locked", async (code) => {
    const { sandbox, file, client } = await start();
    const { open } = fsp;
    replaceInFs({
      open: (path: string, ...rest: [string, number]) => {
        if (path.includes(".lock")) throw systemError(code, "open");
        return open(path, ...rest);
      },
    });
    expect(await goesOn(sandbox, client())).toContain(`${code} (open)`);
    expect(existsSync(file)).toBe(false);
  });

  const STEPS = ["open", "writeFile", "datasync", "close", "rename", "readdir", "stat"] as const;
  it.each(STEPS)(
    "row 58: %s fails when it is written: the old file stays whole, and nothing is left beside it",
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

  it("row 52: a later version's: refused, nothing is sent, and not a byte of it changes", async () => {
    const { sandbox, file, client } = await start();
    const text = JSON.stringify({ session: "pulumi-advertising", version: 3, more: "than is known here" });
    writeFileSync(file, text, { mode: 0o600 });
    const before = statSync(file);
    const run = client();
    const endings = await run.createMany(5);
    expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["LoginError"]));
    expect(messageOf(endings[0])).toMatch(
      /Nothing was sent: the session file .*session\.json was written by a later version.*\(format 3\).*Use that version, or remove the file/,
    );
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 0 });
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(statSync(file).mtimeMs).toBe(before.mtimeMs);
    expect(beside(file)).toEqual([]);
  });
});

describe("a file that is put right", () => {
  it("row 53: readable by others: tightened, and used", async () => {
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
    ["with a jar that is none", (whole) => JSON.stringify({ ...JSON.parse(whole), jar: { cookies: "none" } })],
    ["with a jar as text", (whole) => JSON.stringify({ ...JSON.parse(whole), jar: "{" })],
    ["without the moment", (whole) => JSON.stringify({ ...JSON.parse(whole), newestAtMs: undefined })],
    ["without a verifier", (whole) => JSON.stringify({ ...JSON.parse(whole), verifier: undefined })],
    ["with a verifier of other cost", (whole) => whole.replace('"N":32768', '"N":2')],
    ["with version 0", (whole) => JSON.stringify({ ...JSON.parse(whole), version: 0 })],
    ["another program's", () => JSON.stringify({ session: "other", version: 2 })],
  ])("row 51: %s: one login, said once, written anew", async (_, damage) => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, damage(readFileSync(file, "utf8")));
    const run = userRun(sandbox, file);
    for (const name of ["A", "B"]) expect(await run.create(name)).toMatchObject({ outs: { advertiserName: name } });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(run.seen()).toEqual([`The session file ${file} is damaged; it is written anew at the next login.`]);
    expect(modeOf(file)).toBe(0o600);
    expect(await client().create("C")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
  });

  it.each<[string, (whole: string) => string]>([
    ["with a byte-order mark", (whole) => `\ufeff${whole}`],
    ["with CRLF", (whole) => JSON.stringify(JSON.parse(whole), undefined, 2).replaceAll("\n", "\r\n")],
  ])("row 51: %s: read all the same", async (_, change) => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, change(readFileSync(file, "utf8")));
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("without a cookie that would be sent: a login, without trying the create first", async () => {
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

  it("row 58: temporary files of killed processes go with the next login, young ones stay", async () => {
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

describe("the lock", () => {
  it.each<[string, () => string]>([
    ["that died", () => lockText(deadPid())],
    ["whose number was given to another process", () => lockText(process.pid, { started: "1" })],
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
  ])("row 55: left %s: taken over once there has been no heartbeat for long", async (_, text) => {
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

  it("row 55: left in the very moment of taking over another one", async () => {
    const { sandbox, file, client } = await start();
    writeFileSync(`${file}.lock`, lockText(deadPid()));
    writeFileSync(`${file}.lock.takeover`, "");
    const run = client();
    expect(await run.create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(run.clock.monotonicMs()).toBeLessThan(20_000);
    expect(beside(file)).toEqual([]);
  });

  /** Somebody who holds the lock, without any heartbeat, until `untilMs` on the clock. */
  function heldBy(clock: FakeClock, lock: string, untilMs: number, release: () => void = () => rmSync(lock)): void {
    writeFileSync(lock, lockText(process.pid));
    clock.beforeWaking = (nowMs) => {
      if (existsSync(lock) && nowMs >= untilMs) release();
    };
  }

  it("row 56: held by a live process, as one that is stopped: waited for within bounds, then the run goes on without the file", async () => {
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
    expect(existsSync(`${file}.lock`)).toBe(true); // the holder's, not ours to remove
  });

  it("row 56: released in time by a process that logged in meanwhile: its session is used", async () => {
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

  it("lost to another machine during the login: the newer file is left as it is, and the run goes on without it", async () => {
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

describe("long-lived sessions", () => {
  const long = { settings: { keepLoggedIn: true } } as const;
  const lastCookie = (sandbox: Sandbox) => String(sandbox.requests.at(-1)?.headers.cookie);

  it.each(["session", "strict", "single-use"] as const)(
    "row 43: rotation %s: the file holds the newest cookie, and the next run sends it",
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

  it("a file that a later version writes while a create is in flight: the create is reported, the file left alone", async () => {
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
    "row 46: %s when a rotated cookie is to be stored: a warning, the create is reported, the cookie is used",
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

  it("row 46: the file is taken away meanwhile", async () => {
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

describe("several processes", () => {
  const script = resolve(import.meta.dirname, "cookie-file-process.mjs");

  interface Report {
    readonly endings: readonly { readonly id?: string; readonly failure?: string }[];
    readonly said: readonly string[];
  }

  /** Starts them, and lets them begin together. @returns none for one that was killed. */
  async function run(tasks: readonly object[]): Promise<(Report | undefined)[]> {
    const children = tasks.map((task) =>
      fork(script, [JSON.stringify(task)], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] }),
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
              else if (++ready === children.length) for (const other of children) other.send("go");
            });
            child.once("error", fail);
            child.once("close", (code, signal) => {
              if (code === 0 || signal === "SIGKILL") done(report);
              else fail(new Error(`the process ended with ${code ?? signal}: ${complaint}`));
            });
          }),
      ),
    );
  }

  const tasks = (sandbox: Sandbox, cookieFile: string, processes: number, creates: number, keepLoggedIn = false) =>
    Array.from({ length: processes }, (_, process) => ({
      baseUrl: sandbox.url,
      cookieFile,
      keepLoggedIn,
      names: Array.from({ length: creates }, (_, index) => `p${process}-${index}`),
    }));

  function expectEachOnce(sandbox: Sandbox, reports: readonly (Report | undefined)[], count: number): void {
    const endings = reports.flatMap((report) => report?.endings ?? []);
    expect(endings.flatMap(({ failure }) => failure ?? [])).toEqual([]);
    expect(new Set(endings.map(({ id }) => id)).size).toBe(count);
    expect(sandbox.advertisers).toHaveLength(count);
    expect(new Set(sandbox.advertisers.map((advertiser) => advertiser.advertiser_name)).size).toBe(count);
    expect(reports.flatMap((report) => report?.said ?? [])).toEqual([]);
  }

  it("row 59: 8 processes with 10 creates each and no file yet: one login, 80 ids", async () => {
    const { sandbox, file } = await start({ latencyMs: 2 });
    expectEachOnce(sandbox, await run(tasks(sandbox, file, 8, 10)), 80);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 80 });
    expect(modeOf(file)).toBe(0o600);
    expect(beside(file)).toEqual([]);
    // The next runs: none.
    expectNoFailure(await run(tasks(sandbox, file, 2, 2)));
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 84 });
  });

  function expectNoFailure(reports: readonly (Report | undefined)[]): void {
    expect(reports.flatMap((report) => report?.endings ?? []).flatMap(({ failure }) => failure ?? [])).toEqual([]);
  }

  it("row 60: 8 processes, and the session dies in the middle: at most two logins more, each created once", async () => {
    const { sandbox, file } = await start({ latencyMs: 2 });
    // Ends every session with the 40th create, before it is let in.
    let creates = 0;
    const { requests } = sandbox;
    const push = requests.push.bind(requests);
    requests.push = (...received) => {
      if (received[0]?.path.endsWith("/advertiser") && ++creates === 40) sandbox.expireSessions();
      return push(...received);
    };
    expectEachOnce(sandbox, await run(tasks(sandbox, file, 8, 10)), 80);
    expect(sandbox.logins).toBeLessThanOrEqual(3);
    expect(sandbox.logins).toBeGreaterThan(1);
    expect(sandbox.creates).toBeLessThanOrEqual(160);
    expect(sandbox.requests.filter(({ path, accepted }) => path.endsWith("/advertiser") && accepted)).toHaveLength(80);
  });

  it.each(["session", "strict"] as const)(
    "six processes with long-lived sessions, rotation %s: one login",
    async (rotation) => {
      const { sandbox, file } = await start({ rotation, latencyMs: 2 });
      expectEachOnce(sandbox, await run(tasks(sandbox, file, 6, 10, true)), 60);
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 60 });
      // The file holds a login that is still good.
      expectNoFailure(await run(tasks(sandbox, file, 1, 1, true)));
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 61 });
      expect(modeOf(file)).toBe(0o600);
      expect(beside(file)).toEqual([]);
    },
  );

  it.each([false, true])(
    "row 58: killed before each call of the file system (long-lived: %s): the file is whole, the next run is not held up",
    // Some hundred runs, each of which computes a verifier.
    { timeout: 5 * MINUTE },
    async (keepLoggedIn) => {
      const { sandbox, folder, client } = await start({ loginLimit: { count: 1000, windowSeconds: 60 } });
      const AT_ONCE = 8;
      let finished = 0;
      let killed = 0;
      for (let first = 1; finished === 0; first += AT_ONCE) {
        expect(first).toBeLessThan(200);
        const rounds = Array.from({ length: AT_ONCE }, (_, index) => ({
          file: join(folder, String(first + index), "session.json"),
          dieAtCall: first + index,
        }));
        const reports = await run(
          rounds.map(({ file, dieAtCall }) => ({ ...tasks(sandbox, file, 1, 1, keepLoggedIn)[0], dieAtCall })),
        );
        for (const [index, { file, dieAtCall }] of rounds.entries()) {
          if (reports[index] === undefined) killed++;
          else finished++;
          const names = existsSync(dirname(file)) ? readdirSync(dirname(file)) : [];
          for (const name of names) expect([name, modeOf(join(dirname(file), name))]).toEqual([name, 0o600]);
          expect(names.length).toBeLessThanOrEqual(3);
          if (existsSync(file)) expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 2 });

          sandbox.resetCounts();
          const next = client({ cookieFile: file, settings: { keepLoggedIn } });
          expect(await next.create(`after-${dieAtCall}`)).toMatchObject({ kind: "created" });
          expect(sandbox.logins).toBeLessThanOrEqual(1);
          expect(sandbox.creates).toBe(1);
          expect(next.said).toEqual([]);
          // A lock is never half written, so its owner is known to be dead.
          expect(next.clock.monotonicMs()).toBeLessThan(1000);
        }
        // No temporary files pile up: a later login takes them away.
        sandbox.expireSessions();
        await Promise.all(
          rounds.map(async ({ file, dieAtCall }) => {
            const clock = new FakeClock(Date.now() + 10 * MINUTE);
            const later = client({ cookieFile: file, clock, settings: { keepLoggedIn } });
            expect(await later.create(`later-${dieAtCall}`)).toMatchObject({ kind: "created" });
            expect(beside(file)).toEqual([]);
          }),
        );
      }
      expect(killed).toBeGreaterThan(10);
    },
  );
});
