/** The client's session: one login for all requests, one more if the session has ended, and no third. */
import { describe, expect, it, vi } from "vitest";
import { messageOf, TestClient } from "../support/client.js";
import {
  type LoginForm,
  REFUSAL_FORMS,
  SESSION_REFUSALS,
  sessionRefusal,
  useSandbox,
} from "../support/installation.js";
import { counts, expectEachOnce, start } from "../support/session.js";

vi.setConfig({ testTimeout: 30_000 });

describe("S3: one login", () => {
  it("the first create logs in, and the next one uses that login", async () => {
    const { sandbox, client } = await start();
    expect(await client.create("A")).toMatchObject({ kind: "created", id: "1" });
    expect(await client.create("B")).toMatchObject({ kind: "created", id: "2" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(sandbox.requests[0]?.body).toEqual({
      email: "ops@example.com",
      password: "sandbox-password",
    });
  });

  it("20 creates at once share one login", async () => {
    const { sandbox, client } = await start({ latencyMs: 2 });
    expectEachOnce(sandbox, await client.createMany(20));
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 20 });
  });

  it("with Basic credentials there is no login: every create carries them", async () => {
    const { sandbox, client } = await start(
      { authMode: "basic" },
      { settings: { authMode: "basic" } },
    );
    expectEachOnce(sandbox, await client.createMany(5));
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 5 });
    const expected = `Basic ${Buffer.from("ops@example.com:sandbox-password").toString("base64")}`;
    expect(new Set(sandbox.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set([expected]),
    );
  });

  it("refused Basic credentials are not sent a second time", async () => {
    const { sandbox, client } = await start(
      { authMode: "basic" },
      { settings: { authMode: "basic", password: "wrong-password" } },
    );
    const ending = await client.create();
    expect(ending.kind).toBe("RefusedError");
    expect(messageOf(ending)).toMatch(
      /refused with status 401.*Nothing was created.*Check .*advertising:email and advertising:password, and/,
    );
    expect(messageOf(ending)).not.toContain("wrong-password");
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
    // Nor are they sent for any other resource of the run.
    for (const other of await client.createMany(20)) expect(other.kind).toBe("LoginError");
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("of 20 creates at once only one is refused for its Basic credentials", async () => {
    const { sandbox, client } = await start(
      { authMode: "basic" },
      { settings: { authMode: "basic", password: "wrong-password" } },
    );
    const kinds = (await client.createMany(20)).map(({ kind }) => kind).sort();
    expect(kinds).toEqual([
      ...Array.from({ length: 19 }, () => "LoginError"),
      "RefusedError",
    ]);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("a 401 for one body with good Basic credentials does not stop others", async () => {
    const { sandbox, client } = await start(
      { authMode: "basic" },
      { settings: { authMode: "basic" } },
    );
    const first = await client.create("first");
    sandbox.fail({ on: "create", with: { kind: "answer", status: 401 } });
    expect((await client.create("refused")).kind).toBe("RefusedError");
    expectEachOnce(sandbox, [first, ...(await client.createMany(5))]);
  });

  it.each<LoginForm>(["success-true", "success-text-true", "payload-text"])(
    "whose success is %s",
    async (loginForm) => {
      const { sandbox, client } = await start({ loginForm });
      expect(await client.create()).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    },
  );

  it.each([{ gzip: true }, { instanceKey: "acme-7_eu" }])("%o", async (options) => {
    const { sandbox, client } = await start(options);
    expect(await client.create("A")).toMatchObject({ kind: "created", id: "1" });
    expect(await client.createEvent("purchase", 1)).toMatchObject({
      kind: "created",
      id: "2",
    });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
  });
});

describe("S5: a refusal of the content is not one of the session", () => {
  it.each(REFUSAL_FORMS)(
    "%s: the platform's words, one POST, no second login",
    async (refusalForm) => {
      const { sandbox, client } = await start({ refusalForm });
      // For the first request of a session, and after others.
      for (const creates of [1, 3]) {
        const ending = await client.createEvent("purchase", 4711);
        expect(ending.kind).toBe("RefusedError");
        expect(messageOf(ending)).toMatch(
          /^ConversionEvent "purchase": POST http.*\/rest\/event was refused with status \d+: .*advertiser 4711/,
        );
        expect(messageOf(ending)).toContain("Nothing was created.");
        expect(counts(sandbox)).toEqual({ logins: 1, creates });
        await client.create();
      }
      expect(sandbox.events).toEqual([]);
      const endings = await Promise.all(
        Array.from({ length: 20 }, (_, index) => client.createEvent(`e${index}`, 4711)),
      );
      expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["RefusedError"]));
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 4 + 20 });
    },
  );
});

describe("S1: a session that has ended", () => {
  it.each(SESSION_REFUSALS)(
    "refused with %s: one login, sent again, created once",
    async (way) => {
      const { sandbox, client } = await start({ sessionRefusal: way });
      await client.create("A");
      sandbox.expireSessions();
      expect(await client.create("B")).toMatchObject({ kind: "created", id: "2" });
      expect(counts(sandbox)).toEqual({ logins: 2, creates: 3 });
      const posts = sandbox.requests.filter(({ operation }) => operation === "advertiser");
      expect(posts.map(({ created }) => created?.id)).toEqual([1, undefined, 2]);
    },
  );

  it.each(SESSION_REFUSALS)(
    "refused with %s while ten creates are in flight: one login for all",
    async (way) => {
      const { sandbox, client } = await start({ sessionRefusal: way, latencyMs: 2 });
      const first = await client.create("first");
      sandbox.expireSessions();
      expectEachOnce(sandbox, [first, ...(await client.createMany(10))]);
      expect(sandbox.logins).toBe(2);
      expect(sandbox.creates).toBeLessThanOrEqual(1 + 20);
    },
  );

  it.each(SESSION_REFUSALS)(
    "ends after every ten requests, refused with %s, during 25 creates",
    async (way) => {
      const { sandbox, client } = await start({
        sessionRefusal: way,
        sessionRequests: 10,
        latencyMs: 1,
      });
      expectEachOnce(sandbox, await client.createMany(25));
      expect(sandbox.logins).toBeLessThanOrEqual(5);
      expect(sandbox.creates).toBeLessThanOrEqual(25 * 2);
    },
  );

  it.each([1, 3])(
    "ends after every %i requests during 20 creates at once: none is refused twice",
    async (requests) => {
      const { sandbox, client } = await start({ sessionRequests: requests, latencyMs: 1 });
      expectEachOnce(sandbox, await client.createMany(20));
      // At most as many are refused at a session's end as it has served.
      expect(sandbox.creates).toBeLessThanOrEqual(2 * 20);
      expect(sandbox.logins).toBeLessThanOrEqual(Math.ceil(20 / requests) + 1);
    },
  );

  it("ends between the login and the create", async () => {
    let now = 0;
    const { sandbox, client } = await start({ sessionSeconds: 1, clock: () => now });
    await client.create("A");
    now += 1001;
    expect(await client.create("B")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 3 });
  });

  it("each session ends before its first request: an error after two logins and two POSTs", async () => {
    let now = 0;
    const { sandbox, client } = await start({
      sessionSeconds: 1,
      clock: () => (now += 2000),
    });
    const ending = await client.create();
    expect(ending.kind).toBe("RefusedError");
    expect(messageOf(ending)).toContain("what the account may do");
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 2 });
    expect(sandbox.advertisers).toEqual([]);
  });

  it.each(SESSION_REFUSALS)(
    "refused with %s again after the login: an error after two POSTs",
    async (way) => {
      const { sandbox, client } = await start();
      await client.create("first");
      sandbox.expireSessions();
      sandbox.fail({ on: "create", with: sessionRefusal(way), times: 1000 });
      const ending = await client.create();
      expect(ending.kind).toBe("RefusedError");
      expect(messageOf(ending)).toContain("what the account may do");
      expect(messageOf(ending)).toContain("Nothing was created.");
      expect(counts(sandbox)).toEqual({ logins: 2, creates: 3 });
      // 20 more creates cause no further login, and none is sent a third time.
      const endings = await client.createMany(20);
      expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["RefusedError"]));
      expect(sandbox.logins).toBeLessThanOrEqual(3);
      expect(sandbox.creates).toBeLessThanOrEqual(3 + 40);
      expect(sandbox.advertisers).toHaveLength(1);
    },
  );
});

it.each<[string, number, unknown]>([
  ["403 without words", 403, ""],
  ["401 without words", 401, ""],
  ["403 Forbidden", 403, { message: "Forbidden" }],
])(
  "a missing permission (%s) does not cause a login for each resource",
  async (_, status, body) => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "event", with: { kind: "answer", status, body }, times: 1000 });
    for (let index = 0; index < 10; index++) {
      expect(await client.create(`A${index}`)).toMatchObject({ kind: "created" });
      expect((await client.createEvent(`e${index}`, 1)).kind).toBe("RefusedError");
    }
    expect(sandbox.advertisers).toHaveLength(10);
    expect(sandbox.eventPosts).toBeLessThanOrEqual(20);
    expect(sandbox.logins).toBeLessThanOrEqual(3);
  },
);

describe("a session that ends while a request waits for the rate limit", () => {
  it.each(SESSION_REFUSALS)(
    "refused with %s: all are created once, and later ones do not wait forever",
    async (way) => {
      const { sandbox, client } = await start({ latencyMs: 2 });
      const endings = [await client.create("first")];
      sandbox.fail({
        on: "create",
        with: { kind: "answer", status: 429, headers: { "retry-after": "2" } },
      });
      sandbox.fail({ on: "create", with: sessionRefusal(way) });
      endings.push(
        ...(await Promise.all([client.create("limited"), client.create("refused")])),
      );
      endings.push(await client.create("later"));
      endings.push(...(await client.createMany(5)));
      expectEachOnce(sandbox, endings);
      expect(counts(sandbox)).toEqual({ logins: 2, creates: 1 + 2 + 2 + 1 + 5 });
    },
  );
});

describe("long-lived sessions", () => {
  it("switched off: cookies in creates' answers are ignored", async () => {
    const { sandbox, client } = await start();
    await client.create("A");
    sandbox.fail({
      on: "create",
      with: {
        kind: "answer",
        status: 200,
        headers: { "set-cookie": "sandbox_service_cookie=other; Path=/" },
        body: { id: 7 },
      },
    });
    await client.create("B");
    expect(await client.create("C")).toMatchObject({ kind: "created" });
    const cookies = sandbox.requests.slice(1).map(({ headers }) => headers.cookie);
    expect(new Set(cookies).size).toBe(1);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
  });

  it("25 creates at once, one login", async () => {
    const { sandbox, client } = await start(
      { latencyMs: 2 },
      { settings: { keepLoggedIn: true } },
    );
    expectEachOnce(sandbox, await client.createMany(25));
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 25 });
    expect(sandbox.requests[0]?.body).toMatchObject({ keep_logged_in: true });
  });

  it("single-use cookies: one login for creates one after the other; at once, nothing twice and no false report", async () => {
    // A single-use cookie can't serve several requests at once: a create that is refused twice is reported as refused.
    const { sandbox, client } = await start(
      { isSingleUse: true, latencyMs: 2 },
      { settings: { keepLoggedIn: true } },
    );
    for (let index = 0; index < 10; index++) {
      expect(await client.create(`one${index}`)).toMatchObject({ kind: "created" });
    }
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 10 });
    const endings = await client.createMany(25);
    const ids = endings.flatMap((ending) => ("id" in ending ? [ending.id] : []));
    expect(
      sandbox.advertisers
        .slice(10)
        .map(({ id }) => String(id))
        .sort(),
    ).toEqual(ids.sort());
    expect(new Set(endings.map(({ kind }) => kind))).toEqual(
      new Set(["created", "RefusedError"]),
    );
    expect(sandbox.creates).toBeLessThanOrEqual(10 + 25 * 3);
    expect(sandbox.logins).toBeLessThanOrEqual(10);
  });

  it("end like others: one login, each object created once", async () => {
    const { sandbox, client } = await start(
      { latencyMs: 2 },
      { settings: { keepLoggedIn: true } },
    );
    const first = await client.create("first");
    sandbox.expireSessions();
    expectEachOnce(sandbox, [first, ...(await client.createMany(10))]);
    expect(sandbox.logins).toBe(2);
    expect(sandbox.creates).toBeLessThanOrEqual(21);
  });
});

it("a base URL with a path", async () => {
  const sandbox = await useSandbox();
  const client = new TestClient(`${sandbox.url}/some/where`);
  expect(await client.create("A")).toMatchObject({ kind: "created", id: "1" });
  expect(sandbox.requests.map(({ path }) => path)).toEqual([
    "/some/where/rest/authenticate",
    "/some/where/rest/advertiser",
  ]);
});

it("cookies are sent only to the platform's own address, and foreign ones never", async () => {
  const { sandbox, client } = await start();
  sandbox.fail({
    on: "authenticate",
    with: {
      kind: "answer",
      status: 200,
      headers: {
        "set-cookie": [
          "sandbox_service_cookie=good; Path=/",
          "a_service_cookie=foreign; Path=/; Domain=elsewhere.example",
          "b_service_cookie=top; Path=/; Domain=1",
        ],
      },
      body: { success: true },
    },
  });
  await client.create();
  const cookie = String(
    sandbox.requests.find(({ path }) => path.endsWith("advertiser"))?.headers.cookie,
  );
  expect(cookie).toContain("sandbox_service_cookie=good");
  expect(cookie).not.toMatch(/foreign|top/);
});
