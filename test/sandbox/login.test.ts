/** The command `login` as a process: what it prints, sends and stores, and who can use the session. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { TestClient } from "../support/client.js";
import { newFolder } from "../support/folder.js";
import { keepCompiled } from "../support/keep-compiled.js";
import { useSandbox } from "../support/stack.js";

const NO_STACK = "No stack is selected: the settings come from the environment.\n";
const command = resolve(import.meta.dirname, "../../provider/dist/cli/command.js");

/** Without Pulumi and a stack: the settings come from the environment. */
function start(
  sandbox: Pick<Sandbox, "url" | "email" | "password">,
  folder: string,
  more: Record<string, string> = {},
) {
  const child = spawn(process.execPath, [command, "login"], {
    cwd: folder,
    env: {
      PATH: "",
      NODE_OPTIONS: `${keepCompiled} --import ${resolve(import.meta.dirname, "../support/cheap-scrypt.mjs")}`,
      HOME: folder,
      XDG_CACHE_HOME: join(folder, "cache"),
      ADVERTISING_BASE_URL: sandbox.url,
      ADVERTISING_EMAIL: sandbox.email,
      ADVERTISING_PASSWORD: sandbox.password,
      ADVERTISING_COOKIE_FILE: "session.json",
      ...more,
    },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>(
    (done) => child.once("close", (code) => done({ code, stdout, stderr })),
  );
  return { child, ended };
}

const login = (...args: Parameters<typeof start>) => start(...args).ended;

describe("a login", () => {
  it("sends one request, stores the session for its owner only, and says where and until when", async () => {
    const sandbox = await useSandbox();
    const folder = newFolder();
    const before = Date.now();
    const { code, stdout, stderr } = await login(sandbox, folder);
    expect(stderr).toBe(NO_STACK);
    expect(code).toBe(0);
    const file = join(folder, "session.json");
    expect(stdout).toContain(
      `Logged in as ${sandbox.email} at ${sandbox.url}, with ADVERTISING_EMAIL and `,
    );
    expect(stdout).toContain(`It is kept in ${file}`);
    const until = Date.parse(/likely good until (\S+)\./.exec(stdout)?.[1] ?? "");
    expect(until).toBeGreaterThanOrEqual(before + 15 * 60_000);
    expect(until).toBeLessThanOrEqual(Date.now() + 15 * 60_000);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(stdout + readFileSync(file, "utf8")).not.toContain(sandbox.password);
    expect(sandbox).toMatchObject({ logins: 1, creates: 0 });
  });

  it("stores it in the user's cache folder by default, and replaces it there with a new one of full length", async () => {
    const sandbox = await useSandbox();
    const folder = newFolder();
    const logIn = async () => {
      const environment = { ADVERTISING_COOKIE_FILE: undefined as unknown as string };
      const { code, stdout } = await login(sandbox, folder, environment);
      expect(code).toBe(0);
      const file = /^It is kept in (.+)$/m.exec(stdout)?.[1] ?? "";
      expect(file).toMatch(/cache\/pulumi-advertising\/session-[0-9a-f]{16}\.json$/);
      return readFileSync(file, "utf8");
    };
    expect(await logIn()).not.toBe(await logIn());
    expect(sandbox.logins).toBe(2);
  });

  it("long-lived: says until when the cookie is valid", async () => {
    const sandbox = await useSandbox();
    const folder = newFolder();
    const { code, stdout } = await login(sandbox, folder, {
      ADVERTISING_KEEP_LOGGED_IN: "true",
    });
    expect(code).toBe(0);
    const until = Date.parse(/likely good until (\S+)\./.exec(stdout)?.[1] ?? "");
    expect(until).toBeGreaterThan(Date.now() + 29 * 24 * 3_600_000);
    const cookieFile = join(folder, "session.json");
    const client = new TestClient(sandbox.url, {
      cookieFile,
      settings: { keepLoggedIn: true },
    });
    expect((await client.createMany(5)).map(({ kind }) => kind)).toEqual(
      Array(5).fill("created"),
    );
    expect(sandbox).toMatchObject({ logins: 1, creates: 5 });
  });
});

it("six machines with copies of one cookie file need one login in all, and none writes its file", async () => {
  const sandbox = await useSandbox();
  const folder = newFolder();
  expect((await login(sandbox, folder)).code).toBe(0);
  const kept = join(folder, "session.json");
  const files = Array.from({ length: 6 }, () => {
    const file = join(newFolder(), "session.json");
    copyFileSync(kept, file);
    chmodSync(file, 0o644); // as unpacking an archive may leave it
    return file;
  });
  const endings = await Promise.all(
    files.map((cookieFile) => new TestClient(sandbox.url, { cookieFile }).createMany(10)),
  );
  expect(endings.flat().filter(({ kind }) => kind !== "created")).toEqual([]);
  expect(sandbox).toMatchObject({ logins: 1, creates: 60 });
  for (const file of files) {
    expect(readFileSync(file, "utf8")).toBe(readFileSync(kept, "utf8"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
});

describe("exit code 1, with the reason", () => {
  it("a wrong password is tried once, and the stored session stays", async () => {
    const sandbox = await useSandbox();
    const folder = newFolder();
    await login(sandbox, folder);
    const stored = readFileSync(join(folder, "session.json"), "utf8");
    const { code, stdout, stderr } = await login(sandbox, folder, {
      ADVERTISING_PASSWORD: "not-this-one",
    });
    expect(stderr).toContain(
      `The login of ${sandbox.email} at ${sandbox.url}/rest/authenticate failed: the platform refused`,
    );
    expect(stderr).toMatch(
      /Check ADVERTISING_EMAIL and ADVERTISING_PASSWORD\..*\[ADVERTISING_LOGIN\]\n$/,
    );
    expect(stdout + stderr).not.toContain("not-this-one");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(readFileSync(join(folder, "session.json"), "utf8")).toBe(stored);
    expect(sandbox.logins).toBe(2);
  });

  it("wrong or missing settings: all are listed, and nothing is sent", async () => {
    const sandbox = await useSandbox();
    const { code, stderr } = await login(sandbox, newFolder(), {
      ADVERTISING_BASE_URL: "ftp://x",
      ADVERTISING_PASSWORD: undefined as unknown as string,
    });
    expect(stderr).toContain("Nothing was sent:\n  settings:");
    expect(stderr).toMatch(/\[ADVERTISING_SETTINGS\]\n$/);
    expect(code).toBe(1);
    expect(sandbox.requests).toEqual([]);
  });

  it("a folder where others could replace the file", async () => {
    const sandbox = await useSandbox();
    const folder = newFolder();
    mkdirSync(join(folder, "shared"));
    chmodSync(join(folder, "shared"), 0o777);
    const { code, stderr } = await login(sandbox, folder, {
      ADVERTISING_COOKIE_FILE: "shared/session.json",
    });
    expect(stderr).toContain("other users can write to its folder");
    expect(stderr).toMatch(
      /could not be kept in \S+\. Make \S+ yours, and writable for you alone, or name another place with advertising:cookieFile\./,
    );
    expect(code).toBe(1);
    expect(existsSync(join(folder, "shared", "session.json"))).toBe(false);
  });
});

describe("no session is stored, and the output says so", () => {
  it("Basic credentials: nothing is sent", async () => {
    const sandbox = await useSandbox();
    const { code, stdout } = await login(sandbox, newFolder(), {
      ADVERTISING_AUTH_MODE: "basic",
    });
    expect(stdout).toContain("No login is needed");
    expect(code).toBe(0);
    expect(sandbox.requests).toEqual([]);
  });

  it("cookieFile none: the credentials are checked", async () => {
    const sandbox = await useSandbox();
    const folder = newFolder();
    const { code, stdout } = await login(sandbox, folder, {
      ADVERTISING_COOKIE_FILE: "none",
    });
    expect(stdout).toContain("It is kept in no file, since advertising:cookieFile is none");
    expect(code).toBe(0);
    expect(sandbox.logins).toBe(1);
    expect(existsSync(join(folder, "cache"))).toBe(false);
  });

  it("Ctrl-C while the platform does not answer", async () => {
    const sandbox = await useSandbox();
    const folder = newFolder();
    const noResponseError = sandbox.fail({
      on: "authenticate",
      with: { kind: "no-answer" },
    });
    const { child, ended } = start(sandbox, folder);
    while (noResponseError.hits === 0) await sleep(10);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ stdout: "", stderr: NO_STACK });
    expect(existsSync(join(folder, "session.json"))).toBe(false);
    expect((await login(sandbox, folder)).code, "the lock that it left is taken over").toBe(
      0,
    );
  });
});
