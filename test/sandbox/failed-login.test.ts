/** A login that fails: it is tried once for all requests that wait for it, and the error says why. */
import { describe, expect, it, vi } from "vitest";
import { messageOf, TestClient } from "../support/client.js";
import { counts, expectEachOnce, start } from "../support/session.js";
import { useSandbox } from "../support/stack.js";
import { garbage } from "../support/wire-faults.js";

vi.setConfig({ testTimeout: 30_000 });

describe("S4: a login that fails", () => {
  it("a wrong password is tried once, for 20 resources", async () => {
    const { sandbox, client } = await start(
      {},
      { settings: { password: "wrong-password" } },
    );
    const endings = await client.createMany(20);
    expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["LoginError"]));
    const loginErrors = endings
      .map(messageOf)
      .filter((message) => message.includes("the e-mail or the password is wrong"));
    expect(loginErrors).toHaveLength(1);
    expect(loginErrors[0]).toMatch(
      /^The login of ops@example\.com at http.*\/rest\/authenticate failed: the platform refused it \(status 401: .*Nothing was created.*advertising:email and advertising:password/,
    );
    expect(endings.map(messageOf).join()).not.toContain("wrong-password");
    // Later resources of the run do not try it either.
    expect(messageOf(await client.create())).toMatch(
      /login of this run failed.*Nothing was changed/,
    );
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 0 });
  });

  it("of creates that a session which has ended refused, it does not say that they were not sent", async () => {
    const { sandbox, client } = await start();
    await client.create("first");
    sandbox.expireSessions();
    sandbox.fail({ on: "authenticate", with: { kind: "answer", status: 403 }, times: 100 });
    const messages = (await client.createMany(5)).map(messageOf);
    expect(counts(sandbox).creates).toBeGreaterThan(1);
    for (const message of messages) {
      expect(message).toMatch(/Nothing was (created|changed)/);
      expect(message).not.toMatch(/not sent|no create was sent/i);
    }
    expect(sandbox.snapshot().advertisers).toHaveLength(1);
  });

  it.each<[string, number, unknown]>([
    ["401 with hardly any body", 401, ""],
    ["403", 403, { message: "Forbidden" }],
    ["200 with success: false", 200, { success: false, message: "wrong" }],
    ["200 with success as text", 200, { success: "false" }],
    ["an ERROR: entry", 200, { success: true, errors: ["ERROR: wrong"] }],
  ])("refused as %s: tried once", async (_, status, body) => {
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "authenticate",
      with: { kind: "answer", status, body },
      times: 100,
    });
    expect((await client.create()).kind).toBe("LoginError");
    expect((await client.create()).kind).toBe("LoginError");
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 0 });
  });

  it("429 makes all wait together", async () => {
    const clock = new TestClient("http://127.0.0.1:1").clock;
    const sandbox = await useSandbox({ loginsPerMinute: 1, clock: () => clock.wallMs() });
    expect(await new TestClient(sandbox.url, { clock }).create("other run")).toMatchObject({
      kind: "created",
    });
    const client = new TestClient(sandbox.url, { clock });
    const endings = await client.createMany(20);
    expect(endings.filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(60_000);
    expect(clock.monotonicMs()).toBeLessThan(62_000);
    expect(client.said).toEqual([
      "The platform limits the rate: all requests wait for 60 s.",
    ]);
    expect(counts(sandbox)).toEqual({ logins: 1 + 2, creates: 1 + 20 });
  });

  it("429 for longer than maxWaitSeconds: errors that say until when, and nothing is sent", async () => {
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "authenticate",
      with: { kind: "answer", status: 429, headers: { "retry-after": "3600" } },
      times: 100,
    });
    const endings = await client.createMany(20);
    expect(new Set(endings.map(({ kind }) => kind))).toEqual(
      new Set(["LoginError", "RateLimitedError"]),
    );
    expect(messageOf(endings[0])).toMatch(
      /limits the rate .*2026-01-01T01:00:00.000Z.*maxWaitSeconds \(120 s\)/,
    );
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 0 });
  });

  it("503, then served", async () => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "authenticate", with: { kind: "answer", status: 503 } });
    expectEachOnce(sandbox, await client.createMany(5));
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 5 });
  });

  it("after an unknown outcome it is tried up to three times", async () => {
    const closed = { kind: "close-without-answer" } as const;
    for (const fault of [{ kind: "reset" } as const, closed, garbage]) {
      const { sandbox, client } = await start();
      sandbox.fail({ on: "authenticate", with: fault, times: 100 });
      const ending = await client.create();
      expect(ending.kind).toBe("LoginError");
      expect(messageOf(ending)).toMatch(
        /The login of .* failed: the connection to 127\.0\.0\.1:\d+ failed.*Nothing was created/,
      );
      expect(counts(sandbox)).toEqual({ logins: 3, creates: 0 });
    }
  });

  const login = (...cookies: string[]) => ({
    kind: "answer" as const,
    status: 200,
    headers: cookies.length === 0 ? {} : { "set-cookie": cookies },
    body: { success: true, message: "the cookie was set" },
  });
  it.each<[string, string[], RegExp]>([
    [
      "no cookie",
      [],
      /set no cookie\)\. .*Check advertising:baseUrl and advertising:authenticatePath/,
    ],
    [
      "another name",
      ["PHPSESSID=value-4711; Path=/"],
      /set PHPSESSID=…; Path=\/\)\. A session needs a cookie named <instance_key>_service_cookie/,
    ],
    [
      "a foreign domain",
      ["x_service_cookie=value-4711; Path=/; Domain=elsewhere.example"],
      /set x_service_cookie=…; Path=\/; Domain=elsewhere\.example\)\. .*for 127\.0\.0\.1\/rest\/advertiser, .*Check advertising:baseUrl/,
    ],
    [
      "already expired",
      ["x_service_cookie=value-4711; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
      /set x_service_cookie=…; .*Expires=Thu, 01 Jan 1970 00:00:00 GMT.*hasn't expired/,
    ],
    [
      "an age of 0",
      ["x_service_cookie=value-4711; Path=/; Max-Age=0"],
      /set x_service_cookie=…; .*Max-Age=0.*hasn't expired/,
    ],
    [
      "another path",
      ["x_service_cookie=value-4711; Path=/admin"],
      /set x_service_cookie=…; Path=\/admin\)\. .*for 127\.0\.0\.1\/rest\/advertiser, /,
    ],
    [
      "an empty value",
      ["x_service_cookie=; Path=/"],
      /set x_service_cookie=; Path=…\)\. .*has a value/,
    ],
    [
      "two hundred cookies of other names",
      Array.from({ length: 200 }, (_, index) => `c${index}=value-4711; Path=/`),
      /c19=…; Path=\/, .*\)\. A session needs a cookie named <instance_key>_service_cookie/,
    ],
  ])(
    "a success with %s is an error that names it, and is not repeated",
    async (_, cookies, words) => {
      const { sandbox, client } = await start();
      sandbox.fail({ on: "authenticate", with: login(...cookies), times: 100 });
      const endings = await client.createMany(5);
      expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["LoginError"]));
      expect(messageOf(endings[0])).toMatch(/the platform accepted it \(status 200\), but/);
      expect(messageOf(endings[0])).toMatch(words);
      expect(messageOf(endings[0])).not.toContain("value-4711");
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 0 });
    },
  );

  it.each<[string, number, Record<string, string>, unknown, RegExp]>([
    [
      "an HTML page",
      200,
      { "content-type": "text/html" },
      "<html><title>Welcome</title></html>",
      /there is no login at this address \(status 200: Welcome\).*authenticatePath/,
    ],
    ["404", 404, {}, "", /there is no login at this address.*authenticatePath/],
    ["a redirect", 302, { location: "/" }, "", /there is no login at this address/],
    ["500 three times", 500, {}, "", /returned status 500/],
  ])("%s", async (_, status, headers, body, words) => {
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "authenticate",
      with: { kind: "answer", status, headers, body },
      times: 100,
    });
    const ending = await client.create();
    expect(ending.kind).toBe("LoginError");
    expect(messageOf(ending)).toMatch(words);
    expect(counts(sandbox)).toEqual({ logins: status === 500 ? 3 : 1, creates: 0 });
  });
});
