/** The sandbox's command with a file of objects, as a process of the built package. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { judgeAdvertiser } from "../../provider/src/sandbox/rules.js";

const command = resolve(import.meta.dirname, "../../provider/dist/sandbox/command.js");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sandbox-command-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface End {
  readonly code: number | null;
  readonly output: string;
}

/** Starts it. `listening` resolves with its address, or with none where it ended instead. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let output = "";
  let found: (url: string | undefined) => void;
  const listening = new Promise<string | undefined>((resolve) => {
    found = resolve;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk);
      // From its first line on a signal must end it in good order.
      const url = /listens on (\S+)\. /.exec(output)?.[1];
      if (url !== undefined) found(url);
    });
  }
  const ended = once(child, "close").then(([code]): End => {
    found(undefined);
    return { code: code as number | null, output };
  });
  return { child, listening, ended };
}

/** Runs it to its end, at Ctrl-C where it does not end by itself. */
async function run(...args: string[]): Promise<End & { listened: boolean }> {
  const { child, listening, ended } = start(...args);
  const listened = (await listening) !== undefined;
  if (listened) child.kill("SIGINT");
  return { ...(await ended), listened };
}

/** Ended before it listened, in a sentence that names the file. */
function expectRefused({ code, output, listened }: End & { listened: boolean }, file: string, reason: RegExp) {
  expect(listened).toBe(false);
  expect(output).toContain(`advertising-sandbox: --objects ${file} `);
  expect(output).toMatch(reason);
  expect(output).toContain("See advertising-sandbox --help");
  expect(output).not.toMatch(/^\s+at /m);
  expect(code).toBe(2);
}

async function create(url: string, name: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const login = await fetch(`${url}/rest/authenticate`, {
    method: "POST",
    headers,
    body: JSON.stringify({ email: "ops@example.com", password: "sandbox-password" }),
  });
  const cookie = (login.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
  const body = JSON.stringify({ advertiser_name: name });
  await fetch(`${url}/rest/advertiser`, { method: "POST", headers: { ...headers, cookie }, body });
}

describe("--objects", () => {
  it("keeps what lives there from one run to the next", async () => {
    const file = join(folder, "objects.json");
    for (const name of ["A", "B"]) {
      const { child, listening, ended } = start("--objects", file);
      await create((await listening) as string, name);
      child.kill("SIGINT");
      expect(await ended).toMatchObject({ code: 0 });
    }
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      advertisers: [
        { id: 1, active: true, advertiser_name: "A" },
        { id: 2, active: true, advertiser_name: "B" },
      ],
      events: [],
    });
  });

  it("a new file is there, and can be read again, even after a kill", async () => {
    const file = join(folder, "objects.json");
    const { child, listening, ended } = start("--objects", file);
    await listening;
    child.kill("SIGKILL");
    await ended;
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ advertisers: [], events: [] });
    expect(await run("--objects", file)).toMatchObject({ code: 0, listened: true });
  });

  it("a file that can't be written is refused at the start", async () => {
    const missing = join(folder, "missing", "x.json");
    expectRefused(await run("--objects", missing), missing, /can't be written: .*ENOENT/);
    expect(existsSync(join(folder, "missing"))).toBe(false);
    expectRefused(await run("--objects", folder), folder, /EISDIR/);
    expectRefused(await run("--objects="), "", /ENOENT/);
  });

  it("a file that can no longer be written at the end: what lived there is printed, without a stack", async () => {
    const file = join(folder, "sub", "objects.json");
    mkdirSync(join(folder, "sub"));
    const { child, listening, ended } = start("--objects", file);
    await create((await listening) as string, "Kept");
    rmSync(join(folder, "sub"), { recursive: true });
    child.kill("SIGINT");
    const { code, output } = await ended;
    expect(output).toContain(`--objects ${file} can't be written`);
    expect(output).toContain('"advertiser_name":"Kept"');
    expect(output).not.toMatch(/^\s+at /m);
    expect(code).toBe(1);
  });

  it.each<[string, RegExp]>([
    ["", /can't be read: .*JSON/],
    ["{", /can't be read: .*JSON/],
    ["3", /expected an object .*; got 3/],
    ["null", /expected an object .*; got null/],
    ["[1]", /expected an object .*; got a list/],
    ["{}", /expected advertisers to be a list .*; got nothing/],
    ['{"name":"package"}', /expected advertisers to be a list/],
    ['{"advertisers":3}', /expected advertisers to be a list .*; got 3/],
    ['{"advertisers":[],"events":{}}', /expected events to be a list .*; got an object/],
    ['{"advertisers":[1],"events":[]}', /expected advertisers\[0\] to be an object .*; got 1/],
    ['{"advertisers":[],"events":[null]}', /expected events\[0\] to be an object .*; got null/],
    ['{"advertisers":[{"id":1},{"name":"x"}],"events":[]}', /expected advertisers\[1\].id .*integer .*; got nothing/],
    ['{"advertisers":[{"id":"1"}],"events":[]}', /expected advertisers\[0\].id .*; got a text/],
    ['{"advertisers":[{"id":1.5}],"events":[]}', /expected advertisers\[0\].id .*; got 1.5/],
    ['{"advertisers":[{"id":-1}],"events":[]}', /expected advertisers\[0\].id .*; got -1/],
    ['{"advertisers":[],"events":[{"id":7},{"id":7}]}', /expected events\[1\].id .*; got 7, as an earlier one has/],
  ])("%s is refused, and stays as it is", async (text, reason) => {
    const file = join(folder, "objects.json");
    writeFileSync(file, text);
    expectRefused(await run("--objects", file), file, reason);
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});

it.each(["toString", "constructor", "__proto__"])("a field named %s is unknown to the sandbox", (name) => {
  expect(judgeAdvertiser(JSON.parse(`{"advertiser_name":"A","${name}":1}`))).toMatchObject({
    faults: [],
    unknown: [name],
  });
});
