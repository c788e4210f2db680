/** The sandbox's command, run as a process of the built package. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { judgeAdvertiser } from "../../provider/src/sandbox/rules.js";
import { isForegroundStat } from "../../provider/src/sandbox/typed-commands.js";

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

/** Starts the command without standard input. */
const start = (...args: string[]) => startWith("ignore", ...args);

/** `listening` resolves with its address, or with none if it ended instead. */
function startWith(stdin: "ignore" | "pipe", ...args: string[]) {
  const child = spawn(process.execPath, [command, ...args], { stdio: [stdin, "pipe", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let output = "";
  const waiting = new Set<() => void>();
  /** Resolves once the output matches. */
  const said = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      const look = () => {
        const match = pattern.exec(output);
        if (match === null) return;
        waiting.delete(look);
        resolve(match);
      };
      waiting.add(look);
      look();
    });
  let found: (url: string | undefined) => void;
  const listening = new Promise<string | undefined>((resolve) => {
    found = resolve;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output += String(chunk);
      // From its first line on, a signal must end it cleanly.
      const url = /listens on (\S+)\. /.exec(output)?.[1];
      if (url !== undefined) found(url);
      for (const look of waiting) look();
    });
  }
  const ended = once(child, "close").then(([code]): End => {
    found(undefined);
    return { code: code as number | null, output };
  });
  return { child, listening, ended, said };
}

/** Runs it to its end, with Ctrl-C if it does not end by itself. */
async function run(...args: string[]): Promise<End & { listened: boolean }> {
  const { child, listening, ended } = start(...args);
  const listened = (await listening) !== undefined;
  if (listened) child.kill("SIGINT");
  return { ...(await ended), listened };
}

/** Expects that it ended before it listened, with a sentence that names the file. */
function expectRefused({ code, output, listened }: End & { listened: boolean }, file: string, reason: RegExp) {
  expect(listened).toBe(false);
  expect(output).toContain(`advertising-sandbox: --objects ${file} `);
  expect(output).toMatch(reason);
  expect(output).toContain("See advertising-sandbox --help");
  expect(output).not.toMatch(/^\s+at /m);
  expect(code).toBe(2);
}

async function create(url: string, name: string, password = "sandbox-password"): Promise<void> {
  const headers = { "content-type": "application/json" };
  const login = await fetch(`${url}/rest/authenticate`, {
    method: "POST",
    headers,
    body: JSON.stringify({ email: "ops@example.com", password }),
  });
  const cookie = (login.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
  const body = JSON.stringify({ advertiser_name: name });
  await fetch(`${url}/rest/advertiser`, { method: "POST", headers: { ...headers, cookie }, body });
}

describe("--objects", () => {
  it("keeps the objects from one run to the next", async () => {
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

  it("a new file is written at once, and can be read again even after a kill", async () => {
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

  it("if the file can't be written at the end, the objects are printed, without a stack trace", async () => {
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

describe("its output about requests", () => {
  it("is a line for each, unless it is quiet, and never has a password", async () => {
    for (const quiet of [false, true]) {
      const { child, listening, ended } = start("--password", "needle", ...(quiet ? ["--quiet"] : []));
      await create((await listening) as string, "Kept", "needle");
      child.kill("SIGINT");
      const { code, output } = await ended;
      const lines = output.split("\n").filter((line) => line.includes("POST"));
      expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""))).toEqual(
        quiet ? [] : ["POST /rest/authenticate 200, logged in", 'POST /rest/advertiser 200, advertiser 1 "Kept"'],
      );
      expect(output).not.toContain("needle");
      expect(output).toContain("1 login, 1 advertiser, 0 events.");
      expect(code).toBe(0);
    }
  });

  it("does not stop the sandbox when it is no longer read", async () => {
    const { child, listening } = start();
    const url = (await listening) as string;
    child.stdout?.destroy();
    child.stderr?.destroy();
    await create(url, "A");
    await create(url, "B");
    expect(JSON.parse((await client("list", "--json", url)).output)).toMatchObject({
      advertisers: [{ advertiser_name: "A" }, { advertiser_name: "B" }],
    });
  });

  it("starts with the commands to type", async () => {
    const { child, listening, ended } = start();
    const url = await listening;
    child.kill("SIGINT");
    const { output } = await ended;
    expect(output).toContain(`  pulumi config set advertising:baseUrl ${url}\n`);
    expect(output).toContain("  pulumi config set advertising:email ops@example.com\n");
    expect(output).toContain("  pulumi config set --secret advertising:password sandbox-password\n");
    expect(output).toContain(`npx advertising-sandbox list --port ${new URL(url as string).port}\n`);
  });
});

/** The command as a client of the sandbox at `url`. */
async function client(...args: [...string[], string]): Promise<End> {
  const { port } = new URL(args.pop() as string);
  return start(...args, "--port", port).ended;
}

describe("commands", () => {
  it("--fail applies from the first request on", async () => {
    const { listening, said } = start("--fail", "advertiser:close-after-act", "--fail", "advertiser:status-503:2");
    const url = (await listening) as string;
    await said(/The next request to advertiser: close-without-answer, after it was carried out\./);
    await said(/The next 2 requests to advertiser: status-503\./);
    await expect(create(url, "lost")).rejects.toThrow();
    for (const name of ["A", "B", "C"]) await create(url, name);
    const { advertisers } = JSON.parse((await client("list", "--json", url)).output);
    expect(advertisers.map((advertiser: { advertiser_name: string }) => advertiser.advertiser_name)).toEqual([
      "lost",
      "C",
    ]);
    const [match] = await said(/^.*advertiser 1 .*$/m);
    expect(match).toMatch(/POST \/rest\/advertiser no response, advertiser 1 "lost" \(fault: close-without-answer\)$/);
  });

  it("may come from another terminal", async () => {
    const { listening, ended } = start("--quiet");
    const url = (await listening) as string;
    expect(await client("fail", "advertiser:reset", url)).toEqual({
      code: 0,
      output: "The next request to advertiser: reset.\n",
    });
    await expect(create(url, "lost")).rejects.toThrow();
    await create(url, "Acme");
    expect(await client("list", url)).toEqual({
      code: 0,
      output: "1 advertiser\n  id  advertiser_name  active\n  1   Acme             true\n0 events\n",
    });
    expect(await client("fail", "advertiser:rest", url)).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^advertising-sandbox: "advertiser:rest": .*did you mean "reset"\?/),
    });
    expect(await client("reset", url)).toMatchObject({ code: 0 });
    expect(await client("list", url)).toEqual({ code: 0, output: "0 advertisers\n0 events\n" });
    expect(await client("quit", url)).toMatchObject({ code: 0 });
    expect((await ended).code).toBe(0);
    expect(await client("list", url)).toMatchObject({ code: 2, output: expect.stringContaining("ECONNREFUSED") });
  });

  it("may be written to standard input, whose end does not end the sandbox", async () => {
    const { child, listening, said, ended } = startWith("pipe");
    const url = (await listening) as string;
    child.stdin?.write("fail authenticate:status-503:always\nlsit\n");
    await said(/All requests to authenticate: status-503\./);
    await said(/there is no command "lsit"; did you mean "list"\?/);
    child.stdin?.write("fail none\n");
    await said(/No request fails any more\./);
    await create(url, "Acme");
    child.stdin?.end("list\n");
    await said(/^ {2}1 {3}Acme {13}true$/m);
    await create(url, "Beta");
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, output: expect.stringContaining("2 logins, 2 advertisers") });
  });

  it("quit keeps the objects", async () => {
    const file = join(folder, "objects.json");
    const { child, listening, ended } = startWith("pipe", "--objects", file);
    await create((await listening) as string, "Acme");
    child.stdin?.write("quit\n");
    expect((await ended).code).toBe(0);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ advertisers: [{ advertiser_name: "Acme" }] });
  });

  it.each<[string[], RegExp[]]>([
    [["--prot", "1"], [/no option --prot; did you mean "--port"\?/]],
    [["lsit"], [/no command "lsit"; did you mean "list"\?/, /needs the --port/]],
    [["list"], [/needs the --port of the sandbox that runs/]],
    [
      ["list", "--port", "x", "--email", "a"],
      [/--email is for starting a sandbox/, /--port .*"x"/],
    ],
    [["--json"], [/--json belongs to the command list/]],
    [
      ["--port", "x", "--latency-ms", "y", "--fail", "evnet:reset", "--fail", "event:rest:0"],
      [/--port .*"x"/, /--latency-ms .*"y"/, /"evnet".*"event"/, /"rest".*"reset".*"0"/, /targets: /],
    ],
  ])("%j is refused, with all problems", async (args, reasons) => {
    const { code, output, listened } = await run(...args);
    for (const reason of reasons) expect(output).toMatch(reason);
    expect(output).toContain("See advertising-sandbox --help");
    expect(output).not.toMatch(/^\s+at /m);
    expect([code, listened]).toEqual([2, false]);
  });

  it("--version and --help", async () => {
    const manifest = resolve(import.meta.dirname, "../../provider/package.json");
    const { version } = JSON.parse(readFileSync(manifest, "utf8"));
    expect(await run("--version")).toMatchObject({ code: 0, output: `${version}\n` });
    const { code, output } = await run("--help");
    expect(code).toBe(0);
    expect(await run("-h")).toMatchObject({ code, output });
    for (const line of output.split("\n")) expect(line.length, line).toBeLessThanOrEqual(120);
    expect(output).toContain("event:close-after-act:1");
  });
});

it.each<[string, boolean]>([
  ["4711 (node) S 1 4711 4711 34816 4711 4194304", true],
  ["4711 (node) S 1 4711 4700 34816 4700 4194304", false],
  ["4711 (a) b (c)) S 1 4711 4700 34816 4711 4194304", true],
  ["4711 (node) S 1 4711 4711 0 -1 4194304", false],
])("a process with the status %s may read its terminal: %s", (stat, isForeground) => {
  expect(isForegroundStat(stat)).toBe(isForeground);
});

it.each(["toString", "constructor", "__proto__"])("a field named %s is unknown to the sandbox", (name) => {
  expect(judgeAdvertiser(JSON.parse(`{"advertiser_name":"A","${name}":1}`))).toMatchObject({
    faults: [],
    unknown: [name],
  });
});
