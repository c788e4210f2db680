/** The sandbox's command, as processes of the built package; what its commands do; and the language of its faults. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { plainShellWord } from "../../provider/src/base/index.js";
import {
  answerCommand,
  parseFault,
  runCommand,
  sendCommand,
} from "../../provider/src/sandbox/commands.js";
import {
  type FaultRule,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from "../../provider/src/sandbox/index.js";
import { useSandbox } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const installed = "node_modules/pulumi-advertising/dist/sandbox/command.js";

/** Starts the command. `listening` resolves with its address, or with none if it ended instead. */
function start(args: readonly string[], cwd = repository) {
  const child = spawn(process.execPath, [join(repository, installed), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  const ended = once(child, "close").then(([code]) => ({
    code: code as number | null,
    output,
  }));
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

/** Runs it to its end, which is Ctrl-C if it listens. */
async function run(
  args: readonly string[],
  meanwhile: (url: string) => Promise<unknown> = async () => undefined,
  cwd?: string,
) {
  const { child, listening, ended } = start(args, cwd);
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
  return {
    status: answer.status,
    cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "",
  };
}

const logIn = (url: string) =>
  post(url, "authenticate", { email: "ops@example.com", password: "sandbox-password" });

async function create(url: string, name: string): Promise<number> {
  const { cookie } = await logIn(url);
  return (await post(url, "advertiser", { advertiser_name: name }, cookie)).status;
}

describe("the process", () => {
  it("begins with what to type, prints a line for each request, and ends at Ctrl-C", async () => {
    const { code, output, url } = await run([], (url) => create(url, "Kept"));
    expect(output).toContain(`  pulumi config set advertising:baseUrl ${url}\n`);
    expect(output).toContain(
      `npx advertising-sandbox list --port ${new URL(url as string).port}\n`,
    );
    const lines = output.match(/(?<=^\d\d:\d\d:\d\d )POST .*$/gm) ?? [];
    expect(lines).toEqual([
      "POST /rest/authenticate 200",
      'POST /rest/advertiser 200, advertiser 1 "Kept"',
    ]);
    expect(code).toBe(0);
  });

  it("names its file where npx would look for it in a registry: in a folder without the package", async () => {
    const { output } = await run([], undefined, tmpdir());
    const file = plainShellWord(join(repository, "provider/dist/sandbox/command.js"));
    expect(output).toContain(`another terminal: node ${file} list --port `);
  });

  it("has more accounts with --account", async () => {
    const accounts = ["--account", "second@example.com:a:b", "--account", "third@x.y:c"];
    const { output } = await run(accounts, async (url) => {
      await create(url, "First");
      for (const [email, password] of [
        ["second@example.com", "a:b"],
        ["third@x.y", "c"],
        ["third@x.y", "a:b"],
        ["undefined"],
      ])
        await post(url, "authenticate", { email, password });
    });
    const statuses = output.match(/(?<=authenticate )\d+/g);
    expect(statuses).toEqual(["200", "200", "200", "401", "401"]);
    expect(await run(["--account", "second@example.com"])).toMatchObject({
      code: 2,
      output: expect.stringContaining("--account expects EMAIL:PASSWORD"),
    });
  });

  it("takes commands from another terminal, also once nobody reads its output", async () => {
    const { child, listening, ended } = start([]);
    const url = (await listening) as string;
    const say = (...words: string[]) =>
      start([...words, "--port", new URL(url).port]).ended;
    await say("fail", "advertiser:close-after-act", "advertiser:status-503");
    await expect(create(url, "lost")).rejects.toThrow();
    expect([await create(url, "A"), await create(url, "B")]).toEqual([503, 200]);
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await say("fail", "advertiser:reset")).toMatchObject({ code: 0 });
    await expect(create(url, "C")).rejects.toThrow();
    const { advertisers } = JSON.parse((await say("list", "--json")).output);
    expect(
      advertisers.map((each: { advertiser_name: string }) => each.advertiser_name),
    ).toEqual(["lost", "B"]);
    expect(await say("lsit")).toMatchObject({
      code: 2,
      output: expect.stringContaining(`"lsit" isn't a command`),
    });
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    expect(await say("list")).toMatchObject({
      code: 2,
      output: expect.stringContaining("no sandbox answers on port"),
    });
  });

  it.each<[string[], RegExp]>([
    [["--prot", "1"], /Unknown option '--prot'/],
    [["list"], /needs the --port of the sandbox/],
    [["--port", "x"], /port should be >= 0/],
  ])("%j is refused", async (args, reason) => {
    const { code, output, url } = await run(args);
    expect(output).toMatch(reason);
    expect(output).toContain("See advertising-sandbox --help");
    expect(output).not.toMatch(/^\s+at /m);
    expect([code, url]).toEqual([2, undefined]);
  });
});

it("a port that is taken is refused, with what to do", async () => {
  const { port } = await useSandbox();
  const { code, output } = await run(["--port", String(port)]);
  expect(output).toMatch(/EADDRINUSE.*\nEnd what listens there, or name another --port\n$/);
  expect(code).toBe(2);
});

const objects = {
  advertisers: [
    { id: 1, active: true, advertiser_name: "Acme Shoes" },
    { id: 20, active: false, advertiser_name: "Böll\u001b[31m & Söhne" },
  ],
  events: [
    {
      id: 3,
      event_name: "Purchase",
      advertiser_id: 1,
      value: 25.5,
      click_window: 604800,
      attribution: "ALL",
    },
  ],
};

/** A sandbox as the command starts it. */
async function controlled(options: SandboxOptions = {}) {
  const sandbox: Sandbox = await startSandbox({
    ...options,
    answer: (answer, request) => answerCommand(sandbox, request) ?? answer,
  });
  onTestFinished(() => sandbox.close());
  return { sandbox, say: (line: string) => runCommand(sandbox, line.split(" ")) };
}

describe("commands", () => {
  it("fail: the next requests fail; none ends that", async () => {
    const { sandbox, say } = await controlled();
    say("fail authenticate:status-503:2 event:close-after-act");
    expect(() => say("fail authenticate:status-500 authenticate:rest")).toThrow(
      /"authenticate:rest"/,
    ); // and arms neither
    const statuses = [];
    for (let time = 0; time < 3; time++) statuses.push((await logIn(sandbox.url)).status);
    say("fail any:status-500:always");
    statuses.push((await logIn(sandbox.url)).status);
    say("fail none");
    expect([...statuses, (await logIn(sandbox.url)).status]).toEqual([
      503, 503, 200, 500, 200,
    ]);
  });

  it("list: a line each without control characters, or the snapshot as JSON", async () => {
    const { sandbox, say } = await controlled({ objects });
    expect(say("list").split("\n")).toEqual([
      'advertiser 1 "Acme Shoes" {"active":true}',
      String.raw`advertiser 20 "Böll\u001b[31m & Söhne" {"active":false}`,
      'event 3 "Purchase" {"advertiser_id":1,"value":25.5,"click_window":604800,"attribution":"ALL"}',
    ]);
    expect(JSON.parse(say("list --json"))).toEqual(sandbox.snapshot());
  });

  it("edit and delete: an object changes by hand, by the platform's rules, and nothing is counted as a request", async () => {
    const { sandbox, say } = await controlled({ objects });
    const edited = (...assignments: string[]) => {
      expect(runCommand(sandbox, ["edit", "event", "3", ...assignments])).toMatch(
        /^event 3 "/,
      );
      return sandbox.events[0];
    };
    const changes = [
      "value=-30",
      "event_name=Check out = pay",
      "attribution=WHITELIST",
      "segment_id=7",
    ];
    expect(edited(...changes)).toMatchObject({
      id: 3,
      value: -30,
      event_name: "Check out = pay",
      attribution: "WHITELIST",
      segment_id: 7,
    });
    const after = { ...sandbox.events[0], segment_id: undefined, click_window: 2_592_000 };
    expect(edited("segment_id=null", "click_window=null")).toEqual(after);
    say("edit advertiser 20 advertiser_name=42 active=true");
    expect(sandbox.advertisers[1]).toMatchObject({ advertiser_name: "42", active: true });
    expect(say("delete event 3")).toBe("Deleted event 3.");
    expect(sandbox.events).toEqual([]);
    expect(sandbox.requests).toEqual([]);
  });

  it("expire ends sessions; the ids of the objects at the start are not given again", async () => {
    const { sandbox, say } = await controlled({ objects });
    const { cookie } = await logIn(sandbox.url);
    say("expire");
    expect(
      (await post(sandbox.url, "advertiser", { advertiser_name: "A" }, cookie)).status,
    ).toBe(401);
    expect(await create(sandbox.url, "B")).toBe(200);
    expect(sandbox.advertisers.map(({ id }) => id)).toEqual([1, 20, 21]);
    expect(sandbox).toMatchObject({ advertiserPosts: 2, logins: 2 });
  });

  const noCommands = [
    "lsit",
    "constructor",
    "",
    "list --jsn",
    "fail",
    "edit",
    "edit event",
    "edit event 3",
  ];
  const others = [
    "edit campaign 1 value=1",
    "edit event 3 value",
    "delete",
    "delete event 3 20",
  ];
  it.each<[string, RegExp]>([
    ...[...noCommands, ...others].map((line): [string, RegExp] => [
      line,
      /isn't a command\n {2}fail TARGET/,
    ]),
    ["edit event three value=1", /there is no event NaN/],
    ["edit event 4 value=1", /there is no event 4$/],
    ["delete advertiser 3", /there is no advertiser 3$/],
    ["edit event 3 value=much", /event 3 was not changed: value /],
    ["edit event 3 value=null", /event 3 was not changed: value /],
    [
      "edit event 3 advertiser_id=20 value=2",
      /event 3 was not changed: advertiser_id advertiser 20 is not active/,
    ],
  ])("%j is refused", async (line, reason) => {
    const { sandbox, say } = await controlled({ objects });
    expect(() => say(line)).toThrow(reason);
    expect(sandbox.snapshot()).toEqual(objects);
  });

  it("arrive at the control address at once, and not from web pages", async () => {
    const { sandbox } = await controlled({ objects, latencyMs: 60_000 });
    expect(await sendCommand(sandbox.port, ["list", "--json"])).toBe(
      JSON.stringify(sandbox.snapshot(), undefined, 2),
    );
    await expect(sendCommand(sandbox.port, ["fial"])).rejects.toThrow('"fial"');
    const headers = { origin: "https://example.com" };
    const body = JSON.stringify(["delete", "event", "3"]);
    const { status } = await fetch(`${sandbox.url}/sandbox`, {
      method: "POST",
      headers,
      body,
    });
    expect([status, sandbox.events.length, sandbox.logins]).toEqual([400, 1, 0]);
  });

  it("have no address in users' tests", async () => {
    const sandbox = await useSandbox();
    await expect(sendCommand(sandbox.port, ["expire"])).rejects.toThrow(/there is no POST/);
    expect(sandbox.requests.map(({ status }) => status)).toEqual([404]);
  });
});

describe("the language of faults", () => {
  it.each<[string, Partial<FaultRule>]>([
    [
      "event:close-after-act:1",
      { on: "event", with: { kind: "close-without-answer" }, act: true, times: 1 },
    ],
    ["create:reset:3", { on: "create", with: { kind: "reset" }, act: false, times: 3 }],
    [
      "any:no-answer:always",
      { with: { kind: "no-answer" }, times: Number.POSITIVE_INFINITY },
    ],
    [
      "event:status-302",
      { with: expect.objectContaining({ kind: "answer", status: 302 }) },
    ],
  ])("%s is understood", (text, rule) => {
    expect(parseFault(text)).toMatchObject(rule);
  });

  it.each([
    "evnet:reset",
    "event:close-after-atc:1",
    "event:status-100",
    "event:toString",
    "event:reset:0",
    "event:reset:1:2",
    "event",
    "",
  ])("%j is not, and the complaint lists what there is", (text) => {
    expect(() => parseFault(text)).toThrow(`${JSON.stringify(text)} isn't TARGET:FAULT`);
    expect(() => parseFault(text)).toThrow(
      /^TARGET: any, create.*\nFAULT: close .*, reset, no-answer, or status-N /m,
    );
  });
});

it("an option that is undefined has its default", async () => {
  const sandbox = await startSandbox({ log: undefined, password: undefined });
  onTestFinished(() => sandbox.close());
  expect(await create(sandbox.url, "A")).toBe(200);
});

it("Basic credentials of every account are accepted", async () => {
  const accounts = ["second@example.com:b"];
  const sandbox = await startSandbox({ authMode: "basic", accounts });
  onTestFinished(() => sandbox.close());
  const statusOf = async (credentials: string) => {
    const headers = { authorization: `Basic ${btoa(credentials)}` };
    const body = JSON.stringify({ advertiser_name: "A" });
    const init = { method: "POST", headers, body };
    return (await fetch(`${sandbox.url}/rest/advertiser`, init)).status;
  };
  const given = ["second@example.com:b", "ops@example.com:sandbox-password", "x:b"];
  expect(await Promise.all(given.map(statusOf))).toEqual([200, 200, 401]);
});

it.each([
  [
    "event:close-after-act:1",
    "The next event create is carried out, and its response is lost.",
  ],
  [
    "create:status-503:2 any:no-answer:always",
    "The next create (2 times) gets status 503, and isn't carried out.\nEvery request gets no response, and isn't carried out.",
  ],
])("fail %s", async (faults, answer) => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  expect(runCommand(sandbox, ["fail", ...faults.split(" ")])).toBe(answer);
});
