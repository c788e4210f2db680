/** Commands to a running sandbox: what each does, and how they arrive at its control address. */
import { request } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Controls, carryOut } from "../../provider/src/sandbox/control.js";
import { ask } from "../../provider/src/sandbox/control-address.js";
import type { SandboxOptions } from "../../provider/src/sandbox/index.js";
import { Sandbox } from "../../provider/src/sandbox/server.js";
import { useSandbox } from "../support/stack.js";

const objects = {
  advertisers: [
    { id: 1, active: true, advertiser_name: "Acme Shoes" },
    { id: 20, active: false, advertiser_name: "Böll\u001b[31m & Söhne" },
  ],
  events: [{ id: 3, event_name: "Purchase", advertiser_id: 1, value: 25.5, click_window: 604800, attribution: "ALL" }],
};

/** A sandbox as the command starts it. */
async function controlled(options: SandboxOptions = {}) {
  const quits: true[] = [];
  const sandbox: Sandbox = new Sandbox(options, (line) => carryOut(controls, line));
  const controls: Controls = { sandbox, quit: () => quits.push(true) };
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const say = (line: string) => carryOut(controls, line);
  return { sandbox, say, quits };
}

async function post(url: string, path: string, body: unknown, cookie = "") {
  const answer = await fetch(`${url}/rest/${path}`, {
    method: "POST",
    headers: { cookie },
    body: JSON.stringify(body),
  });
  return { status: answer.status, cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
}

const logIn = (sandbox: Sandbox) =>
  post(sandbox.url, "authenticate", { email: sandbox.email, password: sandbox.password });

describe("commands", () => {
  it("fail: the next requests fail, and the answer repeats each rule in words", async () => {
    const { sandbox, say } = await controlled();
    const { cookie } = await logIn(sandbox);
    expect(say("  fail advertiser:status-503:2   authenticate:close-after-act  ")).toMatchObject({
      isOk: true,
      text: [
        "The next 2 requests to advertiser: status-503.",
        "The next request to authenticate: close-without-answer, after it was carried out.",
      ].join("\n"),
    });
    const statuses = [];
    for (let time = 0; time < 3; time++)
      statuses.push((await post(sandbox.url, "advertiser", { advertiser_name: "A" }, cookie)).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect([sandbox.advertiserPosts, sandbox.advertisers.length]).toEqual([3, 1]);
    await expect(logIn(sandbox)).rejects.toThrow();
    expect(sandbox.requests.at(-1)?.accepted).toBe(true);
  });

  it("fail with one rule that is not understood applies none of them", async () => {
    const { sandbox, say } = await controlled();
    const answer = say("fail authenticate:status-500 authenticate:rest");
    expect(answer).toMatchObject({ isOk: false, text: expect.stringMatching(/did you mean "reset"\?/) });
    expect(answer.text).toMatch(/^ *targets: /m);
    expect((await logIn(sandbox)).status).toBe(200);
    expect(say("fail")).toMatchObject({ isOk: false, text: expect.stringContaining("targets:") });
  });

  it("fail none: requests no longer fail", async () => {
    const { sandbox, say } = await controlled();
    expect(say("fail any:status-500:always").text).toBe("All requests to any: status-500.");
    expect((await logIn(sandbox)).status).toBe(500);
    expect(say("fail none")).toMatchObject({ isOk: true });
    expect((await logIn(sandbox)).status).toBe(200);
  });

  it("list: a table without control characters", async () => {
    const { say } = await controlled({ objects });
    const { text } = say("list");
    const expected = [
      "2 advertisers",
      "  id  advertiser_name    active",
      "  1   Acme Shoes         true",
      "  20  Böll [31m & Söhne  false",
      "1 event",
      "  id  event_name  advertiser_id  value  event_type_id  segment_id  click_window  view_window  attribution",
      "  3   Purchase    1              25.5                              604800                     ALL",
    ];
    expect(text).toBe(expected.join("\n"));
    expect((await controlled()).say("list").text).toBe("0 advertisers\n0 events");
  });

  it("list --json: the snapshot, for another sandbox", async () => {
    const { sandbox, say } = await controlled({ objects });
    expect(JSON.parse(say("list --json").text)).toEqual(sandbox.snapshot());
    expect(say("list --jsn")).toMatchObject({ isOk: false, text: expect.stringContaining('did you mean "--json"?') });
  });

  it("expire: every session ends", async () => {
    const { sandbox, say } = await controlled();
    const { cookie } = await logIn(sandbox);
    expect(say("expire").isOk).toBe(true);
    expect((await post(sandbox.url, "advertiser", { advertiser_name: "A" }, cookie)).status).toBe(401);
    expect([sandbox.advertiserPosts, sandbox.advertisers.length]).toEqual([1, 0]);
  });

  it("reset: there are no objects and no faults any more", async () => {
    const { sandbox, say } = await controlled({ objects });
    say("fail any:status-500");
    expect(say("reset").isOk).toBe(true);
    expect(sandbox.snapshot()).toEqual({ advertisers: [], events: [] });
    sandbox.reset(objects);
    expect(sandbox.snapshot()).toEqual(objects);
    expect((await logIn(sandbox)).status).toBe(200);
  });

  it("objects that are put back keep their ids: none is given again", async () => {
    const { sandbox } = await controlled({ authMode: "basic" });
    sandbox.reset({ advertisers: [{ id: 1, advertiser_name: "A" }], events: [] });
    const authorization = `Basic ${Buffer.from(`${sandbox.email}:${sandbox.password}`).toString("base64")}`;
    const response = await fetch(`${sandbox.url}/rest/advertiser`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ advertiser_name: "B" }),
    });
    expect(response.status).toBe(200);
    expect(sandbox.advertisers.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("help names each command; an unknown one is refused with the nearest", async () => {
    const { say } = await controlled();
    for (const name of ["fail", "list", "expire", "reset", "help", "quit"])
      expect(say("help").text).toMatch(new RegExp(`^${name} `, "m"));
    expect(say("lsit")).toMatchObject({
      isOk: false,
      text: expect.stringMatching(/no command "lsit"; did you mean "list"\?/),
    });
    expect(say("constructor").isOk).toBe(false);
    expect(say("expire now")).toMatchObject({ isOk: false, text: expect.stringContaining('"now"') });
    expect(say("   ")).toMatchObject({ isOk: true, text: "" });
  });
});

describe("the control address", () => {
  it("accepts commands without counting them as requests", async () => {
    const { sandbox, quits } = await controlled({ objects, latencyMs: 60_000 });
    expect(await ask(sandbox.port, "list --json")).toEqual({
      isOk: true,
      text: JSON.stringify(sandbox.snapshot(), undefined, 2),
    });
    expect(await ask(sandbox.port, "fail any:status-500:always")).toMatchObject({ isOk: true });
    expect(await ask(sandbox.port, "list")).toMatchObject({ isOk: true });
    expect(await ask(sandbox.port, "fial")).toMatchObject({ isOk: false, text: expect.stringContaining('"fail"') });
    expect([sandbox.requests.length, sandbox.logins, sandbox.creates]).toEqual([0, 0, 0]);
    expect(quits).toEqual([]);
    await ask(sandbox.port, "quit");
    expect(quits).toEqual([true]);
  });

  it("refuses a request with an origin, as a browser sends for a web page", async () => {
    const { sandbox } = await controlled({ objects });
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { origin: "https://example.com" };
      request({ port: sandbox.port, host: "127.0.0.1", path: "/sandbox", method: "POST", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once("error", reject)
        .end("reset");
    });
    expect(answer).toBe(403);
    expect(sandbox.advertisers).toHaveLength(2);
  });

  it("does not exist in users' tests, where the path is an unknown one", async () => {
    const sandbox = await useSandbox();
    expect((await fetch(`${sandbox.url}/sandbox`, { method: "POST", body: "reset" })).status).toBe(404);
    expect(sandbox.requests).toHaveLength(1);
    await expect(ask(sandbox.port, "list")).rejects.toThrow(/not a sandbox/);
    await sandbox.close();
  });

  it("names the address if nothing listens there", async () => {
    const sandbox = await useSandbox();
    const { port } = sandbox;
    await sandbox.close();
    await expect(ask(port, "list")).rejects.toThrow(new RegExp(`127\\.0\\.0\\.1:${port}.*ECONNREFUSED`));
  });
});
