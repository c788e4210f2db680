/** The sandbox's command, as processes of the built package; what its commands do; and the language of its faults. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { answersCommand, ask, carryOut } from "../../provider/src/sandbox/control.js";
import { parseFault } from "../../provider/src/sandbox/fault-language.js";
import type { FaultRule, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { Sandbox } from "../../provider/src/sandbox/server.js";
import { newFolder } from "../support/folder.js";
import { useSandbox } from "../support/stack.js";

const provider = resolve(import.meta.dirname, "../../provider");

/** Starts the command. `listening` resolves with its address, or with none if it ended instead. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [join(provider, "dist/sandbox/command.js"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, output }));
  const listening = new Promise<string | undefined>((found) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += String(chunk);
        // From its first line on, a signal must end it cleanly.
        const url = /listens on (\S+)\. /.exec(output)?.[1];
        if (url !== undefined) found(url);
      });
    }
    void ended.then(() => found(undefined));
  });
  return { child, listening, ended };
}

/** Runs it to its end, which is Ctrl-C if it does not end by itself. */
async function run(args: readonly string[], meanwhile: (url: string) => Promise<unknown> = async () => undefined) {
  const { child, listening, ended } = start(...args);
  const url = await listening;
  if (url !== undefined) {
    await meanwhile(url);
    child.kill("SIGINT");
  }
  return { ...(await ended), url };
}

async function post(url: string, path: string, body: unknown, cookie = "") {
  const answer = await fetch(`${url}/rest/${path}`, {
    method: "POST",
    headers: { cookie },
    body: JSON.stringify(body),
  });
  return { status: answer.status, cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
}

const logIn = (url: string, password = "sandbox-password") =>
  post(url, "authenticate", { email: "ops@example.com", password });

async function create(url: string, name: string, password?: string): Promise<number> {
  const { cookie } = await logIn(url, password);
  return (await post(url, "advertiser", { advertiser_name: name }, cookie)).status;
}

describe("the process", () => {
  it("begins with what to type, prints a line for each request unless it is quiet, and never a password", async () => {
    for (const quiet of [[], ["--quiet"]]) {
      const args = ["--password", "needle", ...quiet];
      const { code, output, url } = await run(args, (url) => create(url, "Kept", "needle"));
      expect(output).toContain(`  pulumi config set advertising:baseUrl ${url}\n`);
      expect(output).toContain(`npx advertising-sandbox list --port ${new URL(url as string).port}\n`);
      const lines = output.match(/(?<=^\d\d:\d\d:\d\d )POST .*$/gm) ?? [];
      expect(lines).toEqual(
        quiet.length > 0 ? [] : ["POST /rest/authenticate 200", 'POST /rest/advertiser 200, advertiser 1 "Kept"'],
      );
      expect(output).not.toContain("needle");
      expect(output).toContain("1 login, 1 advertiser, 0 events.");
      expect(code).toBe(0);
    }
  });

  it("takes commands from another terminal, also once nobody reads its output", async () => {
    const { child, listening, ended } = start(
      "--fail",
      "advertiser:close-after-act",
      "--fail",
      "advertiser:status-503",
    );
    const url = (await listening) as string;
    const say = (...words: string[]) => start(...words, "--port", new URL(url).port).ended;
    await expect(create(url, "lost")).rejects.toThrow();
    expect([await create(url, "A"), await create(url, "B")]).toEqual([503, 200]);
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await say("fail", "advertiser:reset")).toEqual({
      code: 0,
      output: "The next request to advertiser: reset.\n",
    });
    await expect(create(url, "C")).rejects.toThrow();
    const { advertisers } = JSON.parse((await say("list", "--json")).output);
    expect(advertisers.map((each: { advertiser_name: string }) => each.advertiser_name)).toEqual(["lost", "B"]);
    expect(await say("lsit")).toMatchObject({ code: 2, output: expect.stringContaining('no command "lsit"; known: ') });
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    expect(await say("list")).toMatchObject({ code: 2, output: expect.stringContaining("ECONNREFUSED") });
  });

  it.each<[string[], RegExp]>([
    [["--prot", "1"], /Unknown option '--prot'$/m],
    [["list"], /"list" needs the --port of the sandbox that runs/],
    [["list", "--port", "1", "--email", "a"], /--email is for starting a sandbox/],
    [["--json"], /--json belongs to the command list/],
    [["--port", "x"], /--port .*"x"/],
    [["--latency-ms", "-1"], /latency-ms/],
    [["--fail", "evnet:reset"], /"evnet:reset": there is no target "evnet"\n {2}targets: /],
  ])("%j is refused", async (args, reason) => {
    const { code, output, url } = await run(args);
    expect(output).toMatch(reason);
    expect(output).toContain("See advertising-sandbox --help");
    expect(output).not.toMatch(/^\s+at /m);
    expect([code, url]).toEqual([2, undefined]);
  });
});

describe("--objects", () => {
  it("keeps the objects from one run to the next; a new file is there at once, even after a kill", async () => {
    const file = join(newFolder(), "objects.json");
    const { child, listening, ended } = start("--objects", file);
    await listening;
    child.kill("SIGKILL");
    await ended;
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ advertisers: [], events: [] });
    for (const name of ["A", "B"]) expect((await run(["--objects", file], (url) => create(url, name))).code).toBe(0);
    const advertisers = ["A", "B"].map((advertiser_name, index) => ({ id: index + 1, active: true, advertiser_name }));
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ advertisers, events: [] });
  });

  it("a file that can't be written is an error: at the start, and at the end", async () => {
    const folder = join(newFolder(), "sub");
    const file = join(folder, "objects.json");
    const early = await run(["--objects", file]);
    expect([early.code, early.url, existsSync(folder)]).toEqual([2, undefined, false]);
    mkdirSync(folder);
    const late = await run(["--objects", file], async () => rmSync(folder, { recursive: true }));
    expect(late.code).toBe(1);
    for (const { output } of [early, late]) {
      expect(output).toContain(`advertising-sandbox: --objects ${file} can't be written: ENOENT`);
      expect(output).not.toMatch(/^\s+at /m);
    }
  });

  it.each([
    ["", /can't be read and written: .*JSON/],
    ["null", /is no file of a sandbox/],
    ['{"advertisers":[],"events":{}}', /is no file of a sandbox/],
    ['{"advertisers":[{"id":"1"}],"events":[]}', /is no file of a sandbox: .*each object with an id/],
  ])("another file, such as %s, is refused, and stays as it is", async (text, reason) => {
    const file = join(newFolder(), "objects.json");
    writeFileSync(file, text);
    const { code, output, url } = await run(["--objects", file]);
    expect([code, url, readFileSync(file, "utf8")]).toEqual([2, undefined, text]);
    expect(output).toMatch(reason);
  });
});

const objects = {
  advertisers: [
    { id: 1, active: true, advertiser_name: "Acme Shoes" },
    { id: 20, active: false, advertiser_name: "Böll\u001b[31m & Söhne" },
  ],
  events: [{ id: 3, event_name: "Purchase", advertiser_id: 1, value: 25.5, click_window: 604800, attribution: "ALL" }],
};

/** A sandbox as the command starts it. */
async function controlled(options: SandboxOptions = {}) {
  const sandbox: Sandbox = new Sandbox(options, (...exchange) => answersCommand(sandbox, ...exchange));
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  return { sandbox, say: (line: string) => carryOut(sandbox, line) };
}

describe("commands", () => {
  it("fail: the next requests fail, and the answer has each rule in words; none ends that", async () => {
    const { sandbox, say } = await controlled();
    expect(say("  fail authenticate:status-503:2   event:close-after-act  ").split("\n")).toEqual([
      "The next 2 requests to authenticate: status-503.",
      "The next request to event: close-without-answer, after it was carried out.",
    ]);
    expect(() => say("fail authenticate:status-500 authenticate:rest")).toThrow(/"rest"/); // and arms neither
    const statuses = [];
    for (let time = 0; time < 3; time++) statuses.push((await logIn(sandbox.url)).status);
    expect(say("fail any:status-500:always")).toBe("All requests to any: status-500.");
    statuses.push((await logIn(sandbox.url)).status);
    say("fail none");
    expect([...statuses, (await logIn(sandbox.url)).status]).toEqual([503, 503, 200, 500, 200]);
  });

  it("list: a table without control characters, or the snapshot as JSON", async () => {
    const { sandbox, say } = await controlled({ objects });
    expect(say("list").split("\n")).toEqual([
      "2 advertisers",
      "  id  advertiser_name    active",
      "  1   Acme Shoes         true",
      "  20  Böll [31m & Söhne  false",
      "1 event",
      "  id  event_name  advertiser_id  value  event_type_id  segment_id  click_window  view_window  attribution",
      "  3   Purchase    1              25.5                              604800                     ALL",
    ]);
    expect(JSON.parse(say("list --json"))).toEqual(sandbox.snapshot());
  });

  it("edit and delete: an object changes by hand, by the platform's rules, and nothing is counted as a request", async () => {
    const { sandbox, say } = await controlled({ objects });
    expect(say("edit event 3 value=-30 event_name=Check out = pay attribution=WHITELIST segment_id=7")).toBe(
      'Changed event 3: value 25.5 → -30, event_name "Purchase" → "Check out = pay", attribution "ALL" → "WHITELIST", segment_id none → 7.',
    );
    expect(sandbox.events[0]).toMatchObject({ id: 3, value: -30, event_name: "Check out = pay", segment_id: 7 });
    expect(say("edit event 3 segment_id=null click_window=null")).toBe(
      "Changed event 3: segment_id 7 → none, click_window 604800 → 2592000.",
    );
    expect(say("edit advertiser 20 advertiser_name=42 active=true")).toContain('→ "42", active false → true.');
    expect(say("edit advertiser 20 active=true")).toBe("Changed advertiser 20: nothing, as it has these values.");
    expect(say("delete event 3")).toBe('Deleted event 3 "Check out = pay".');
    expect(sandbox.events).toEqual([]);
    expect(sandbox.requests).toEqual([]);
  });

  it("expire and reset: sessions end, objects and faults are gone; ids that are put back are not given again", async () => {
    const { sandbox, say } = await controlled({ objects });
    const { cookie } = await logIn(sandbox.url);
    say("expire");
    expect((await post(sandbox.url, "advertiser", { advertiser_name: "A" }, cookie)).status).toBe(401);
    say("fail any:status-500");
    say("reset");
    expect(sandbox.snapshot()).toEqual({ advertisers: [], events: [] });
    sandbox.reset(objects);
    expect(await create(sandbox.url, "B")).toBe(200);
    expect(sandbox.advertisers.map(({ id }) => id)).toEqual([1, 20, 21]);
    expect(sandbox).toMatchObject({ advertiserPosts: 1, logins: 1 });
  });

  it.each<[string, RegExp]>([
    ...["lsit", "constructor", ""].map((line): [string, RegExp] => [line, /there is no command/]),
    ...["expire now", "list --jsn"].map((line): [string, RegExp] => [line, /unexpected "/]),
    ["fail", /expected <target>/],
    ...[
      "edit",
      "edit event",
      "edit event 3",
      "edit event three value=1",
      "edit campaign 1 value=1",
      "edit event 3 value",
    ].map((line): [string, RegExp] => [line, /expected edit event\|advertiser ID FIELD=VALUE …; got/]),
    ...["delete", "delete event", "delete event 3 20"].map((line): [string, RegExp] => [
      line,
      /expected delete event\|advertiser ID; got/,
    ]),
    ["edit event 4 value=1", /there is no event 4; `list` shows what lives here/],
    ["delete advertiser 3", /there is no advertiser 3; `list` shows what lives here/],
    ["edit event 3 valu=1", /event 3 was not changed: valu: is not a known field/],
    ["edit event 3 id=1", /event 3 was not changed: id: is not a known field/],
    ["edit event 3 value=much", /event 3 was not changed: value: must be a number/],
    ["edit event 3 value=null", /event 3 was not changed: value: is required/],
    ["edit event 3 advertiser_id=20 value=2", /event 3 was not changed: advertiser_id: advertiser 20 is not active/],
  ])("%j is refused", async (line, reason) => {
    const { sandbox, say } = await controlled({ objects });
    expect(() => say(line)).toThrow(reason);
    expect(sandbox.snapshot()).toEqual(objects);
  });

  it("arrive at the control address, are not counted as requests, and not from web pages", async () => {
    const { sandbox } = await controlled({ objects, latencyMs: 60_000 });
    expect(await ask(sandbox.port, "list --json")).toBe(JSON.stringify(sandbox.snapshot(), undefined, 2));
    await expect(ask(sandbox.port, "fial")).rejects.toThrow('"fial"');
    const headers = { origin: "https://example.com" };
    const { status } = await fetch(`${sandbox.url}/sandbox`, { method: "POST", headers, body: "reset" });
    expect([status, sandbox.advertisers.length, sandbox.requests.length, sandbox.logins]).toEqual([400, 2, 0, 0]);
  });

  it("have no address in users' tests", async () => {
    const sandbox = await useSandbox();
    await expect(ask(sandbox.port, "reset")).rejects.toThrow(/not a sandbox/);
    expect(sandbox.requests.map(({ status }) => status)).toEqual([404]);
  });
});

describe("the language of faults", () => {
  const plain = "close-without-answer reset no-answer half-body stalled-body bad-length bad-chunk garbage close-after";
  const others = "early-hints continue slow-body huge-body gzip-bomb huge-header many-headers";
  it.each<[string, Partial<FaultRule>]>([
    ["event:close-after-act:1", { on: "event", with: { kind: "close-without-answer" }, act: true, times: 1 }],
    ["create:half-body:3", { on: "create", act: false, times: 3 }],
    ["any:reset-before-read:always", { with: { kind: "reset-before-read" }, times: Number.POSITIVE_INFINITY }],
    ["search:session-refusal", { on: "search", with: { kind: "session-refusal" } }],
    ["event:status-302", { with: expect.objectContaining({ kind: "answer", status: 302 }) }],
    ...`${plain} ${others}`
      .split(" ")
      .map((kind): [string, object] => [`read:${kind}-after-act`, { act: true, with: { kind } }]),
  ])("%s is understood", (text, rule) => {
    expect(parseFault(text)).toMatchObject(rule);
  });

  it.each<[string, RegExp]>([
    ["evnet:reset", /"evnet:reset": there is no target "evnet"/],
    ["event:close-after-atc:1", /there is no fault "close-after-atc"/],
    ["event:status-100", /there is no fault "status-100"/],
    ["event:toString", /there is no fault "toString"/],
    ["event:reset:0", /times is a whole number from 1 up, or "always"; got "0"/],
    ["event:reset:1:2", /expected <target>:<fault>\[:<times>\]/],
    ["event:session-refusal-after-act", /"session-refusal" comes before a request is carried out/],
    ["\u001b[2J:reset", /there is no target " \[2J"/],
  ])("%s is not, and the complaint lists what there is", (text, reason) => {
    expect(() => parseFault(text)).toThrow(reason);
    expect(() => parseFault(text)).toThrow(/^ *targets: authenticate, .*any\n *faults: .*close-without-answer/m);
  });
});
