/** Waiting when the platform asks for it: as long as it says, all together, within the limit, whatever clocks do. */
import { describe, expect, it, vi } from "vitest";
import {
  type Ending,
  messageOf,
  TestClient,
  type TestClientOptions,
} from "../support/client.js";
import { FakeClock } from "../support/clock.js";
import { useSandbox } from "../support/stack.js";
import { closeAfter } from "../support/wire-faults.js";
import { closedPort, startRawServer } from "./raw-server.js";

vi.setConfig({ testTimeout: 30_000 });

const basic = { authMode: "basic" } as const;
const START = Date.parse("2026-01-01T00:00:00Z");

const kinds = (endings: readonly Ending[]) => [...new Set(endings.map(({ kind }) => kind))];

/** A platform that answers 429 until `seconds` of the client's time have passed, and notes when each POST arrived. */
async function limitedFor(
  seconds: number,
  headers: readonly string[],
  options: TestClientOptions = {},
) {
  const clock = options.clock ?? new FakeClock();
  const postedAt: number[] = [];
  let id = 0;
  const server = await startRawServer(async (connection) => {
    while ((await connection.readRequest()) !== undefined) {
      postedAt.push(clock.monotonicMs());
      if (clock.monotonicMs() < seconds * 1000)
        await connection.answer(429, { message: "slow down" }, headers);
      else await connection.answer(200, { payload: { id: ++id } });
    }
  });
  const client = new TestClient(server.url, {
    ...options,
    clock,
    settings: { ...basic, ...options.settings },
  });
  return { server, client, clock, postedAt };
}

describe("Retry-After", () => {
  it.each<[string, number, Record<string, string>, number, number]>([
    ["429, seconds", 429, { "retry-after": "7" }, 7, 7],
    ["0", 429, { "retry-after": "0" }, 0.25, 0.5],
  ])(
    "%s: one wait of that length, then created",
    async (_, status, headers, atLeast, atMost) => {
      const { sandbox, client } = await start();
      sandbox.fail({ on: "create", with: { kind: "answer", status, headers } });
      expect(await client.create()).toMatchObject({ kind: "created" });
      expect(client.clock.monotonicMs()).toBeGreaterThanOrEqual(atLeast * 1000);
      expect(client.clock.monotonicMs()).toBeLessThanOrEqual(atMost * 1000);
      expect(client.said).toHaveLength(1);
      expect([sandbox.logins, sandbox.creates]).toEqual([1, 2]);
    },
  );

  it.each(["1000000000", "Fri, 31 Dec 9999 23:59:59 GMT"])(
    "%s: more than maxWaitSeconds: an error at once, without a wait",
    async (value) => {
      const { sandbox, client } = await start();
      sandbox.fail({
        on: "create",
        with: { kind: "answer", status: 429, headers: { "retry-after": value } },
        times: 100,
      });
      const ending = await client.create();
      expect(ending.kind).toBe("RateLimitedError");
      expect(messageOf(ending)).toMatch(
        /longer than advertising:maxWaitSeconds \(120 s\) allows\. Nothing was created/,
      );
      expect(client.clock.sleeps).toEqual([]);
      expect(client.said).toEqual([]);
      expect([sandbox.logins, sandbox.creates]).toEqual([1, 1]);
    },
  );

  async function start() {
    const sandbox = await useSandbox();
    return { sandbox, client: new TestClient(sandbox.url) };
  }
});

describe("after five silent seconds", () => {
  it("nothing listens: 16 creates say once what is tried, and for how long still", async () => {
    const port = await closedPort();
    const client = new TestClient(`http://127.0.0.1:${port}`, {
      settings: { ...basic, maxWaitSeconds: 60 },
    });
    expect(kinds(await client.createMany(16))).toEqual(["NotSentError"]);
    expect(client.said).toEqual([
      `No response from 127.0.0.1:${port} after 5 s. This run keeps trying for at most 80 s (advertising:maxWaitSeconds and requestTimeoutSeconds). ` +
        "Check advertising:baseUrl, the network and the proxy.",
    ]);
  });

  it("a connection that is never completed", async () => {
    const hanging = Promise.withResolvers<() => void>();
    const server = await startRawServer((connection) => {
      if (connection.index > 0) connection.reset();
      else hanging.resolve(() => connection.reset());
    });
    const client = new TestClient(server.url.replace("http:", "https:"), {
      settings: basic,
    });
    const creating = client.create();
    const reset = await hanging.promise;
    client.clock.advance(4999);
    expect(client.said).toEqual([]);
    client.clock.advance(1);
    const words = `No response from 127.0.0.1:${server.port} after 5 s. This run keeps trying for at most 140 s (advertising:maxWaitSeconds and requestTimeoutSeconds).`;
    expect(client.said).toEqual([expect.stringContaining(words)]);
    reset();
    expect(await creating).toMatchObject({ kind: "NotSentError" });
    expect([client.said.length, server.posts.length]).toEqual([1, 0]);
  });

  it("no answer: how long it is tried; what comes sooner is not spoken of", async () => {
    const asked = Promise.withResolvers<() => void>();
    const server = await startRawServer(async (connection) => {
      while ((await connection.readRequest()) !== undefined) {
        if (server.posts.length === 2)
          await new Promise<void>((resolve) => asked.resolve(resolve));
        await connection.answer(200, { payload: { id: server.posts.length } });
      }
    });
    const client = new TestClient(server.url, {
      settings: { ...basic, requestTimeoutSeconds: 30 },
    });
    expect(await client.create()).toMatchObject({ kind: "created" });
    client.clock.advance(60_000);
    const creating = client.create();
    const answer = await asked.promise;
    client.clock.advance(5000);
    expect(client.said).toEqual([
      expect.stringContaining(
        `No response from 127.0.0.1:${server.port} after 5 s. This run keeps trying for at most 150 s (`,
      ),
    ]);
    answer();
    expect(await creating).toMatchObject({ kind: "created", id: "2" });
    expect(server.posts).toHaveLength(2);
  });
});

describe("all wait together", () => {
  it("40 creates: none is sent during the wait, one message, each created once", async () => {
    const { client, clock, postedAt, server } = await limitedFor(30, ["retry-after: 30"]);
    const endings = await client.createMany(40);
    expect(kinds(endings)).toEqual(["created"]);
    expect(postedAt.filter((time) => time > 0 && time < 30_000)).toEqual([]);
    expect(postedAt.filter((time) => time === 0).length).toBeLessThanOrEqual(16); // those in flight
    expect(postedAt.filter((time) => time >= 30_000)).toHaveLength(40);
    expect(clock.monotonicMs()).toBeLessThan(31_000);
    expect(client.said).toEqual([
      "The platform limits the rate: all requests wait for 30 s.",
    ]);
    expect(server.connections).toBeLessThanOrEqual(32);
  });

  it("a later and longer Retry-After prolongs the wait for all", async () => {
    const clock = new FakeClock();
    const waits = [0, 0, 10, 25];
    const postedAt: number[] = [];
    const server = await startRawServer(async (connection) => {
      while ((await connection.readRequest()) !== undefined) {
        postedAt.push(clock.monotonicMs());
        const seconds = waits.shift();
        if (seconds) await connection.answer(429, {}, [`retry-after: ${seconds}`]);
        else await connection.answer(200, { payload: { id: postedAt.length } });
      }
    });
    const client = new TestClient(server.url, { clock, settings: basic });
    expect(kinds(await client.createMany(2))).toEqual(["created"]); // from here on two may be in flight
    expect(kinds(await client.createMany(2))).toEqual(["created"]);
    expect(postedAt).toHaveLength(6);
    expect(postedAt.slice(4).every((time) => time >= 25_000)).toBe(true);
    expect(clock.monotonicMs()).toBeLessThan(26_000);
    expect(client.said).toHaveLength(1);
  });
});

describe("within maxWaitSeconds", () => {
  it.each([0, 60])("%i: 20 creates under an endless rate limit", async (maxWaitSeconds) => {
    const { client, clock, postedAt } = await limitedFor(Number.POSITIVE_INFINITY, [], {
      settings: { maxWaitSeconds },
    });
    const endings = await client.createMany(20);
    expect(kinds(endings)).toEqual(["RateLimitedError"]);
    for (const ending of endings)
      expect(messageOf(ending)).toContain(`maxWaitSeconds (${maxWaitSeconds} s)`);
    // At worst the last ones begin when the first ones give up.
    expect(clock.monotonicMs()).toBeLessThanOrEqual(2 * maxWaitSeconds * 1000);
    expect(postedAt.length).toBeLessThanOrEqual(20 * (6 + maxWaitSeconds / 10));
    expect(client.said.length).toBeLessThanOrEqual(6 + maxWaitSeconds / 10);
  });

  it("a limit that ends in time is waited for until its end", async () => {
    const { client, clock } = await limitedFor(100, ["retry-after: 50"]);
    expect(kinds(await client.createMany(20))).toEqual(["created"]);
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(100_000);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(120_000);
  });

  it("also limits the wait for refused connections, however many creates there are", async () => {
    const client = new TestClient(`http://127.0.0.1:${await closedPort()}`, {
      settings: { ...basic, maxWaitSeconds: 30 },
    });
    expect(kinds(await client.createMany(20))).toEqual(["NotSentError"]);
    expect(client.clock.monotonicMs()).toBeLessThanOrEqual(60_000);
    expect(client.attempts.every((attempt) => attempt.includes("not sent"))).toBe(true);
  });

  it("also limits it on a session that has served only one request, when few may be sent at once", async () => {
    const limited = await useSandbox();
    const client = new TestClient(limited.url, { settings: { maxWaitSeconds: 30 } });
    await client.create("first");
    limited.fail({ on: "create", with: { kind: "answer", status: 429 }, times: 10_000 });
    expect(kinds(await client.createMany(20))).toEqual(["RateLimitedError"]);
    expect(client.clock.monotonicMs()).toBeLessThanOrEqual(60_000);
    expect(limited.advertisers).toHaveLength(1);

    const gone = await useSandbox();
    gone.fail({ on: "any", with: closeAfter, act: true, times: 2 }); // so that no connection is left to use again
    const other = new TestClient(gone.url, { settings: { maxWaitSeconds: 30 } });
    await other.create("first");
    await gone.close();
    expect(kinds(await other.createMany(20))).toEqual(["NotSentError"]);
    expect(other.clock.monotonicMs()).toBeLessThanOrEqual(60_000);
  });

  it("a wait for the limit and one for a connection share the time", async () => {
    // A rate limit for 100 s, after which nothing listens any more.
    const clock = new FakeClock();
    const server = await startRawServer(async (connection) => {
      await connection.readRequest();
      await connection.answer(429, {}, ["retry-after: 100", "connection: close"]);
      connection.end();
      server.stop();
    });
    const client = new TestClient(server.url, { clock, settings: basic });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(100_000);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(120_000);
    expect(server.posts).toHaveLength(1);
  });
});

describe("clocks that jump", () => {
  const DAY = 86_400_000;
  it.each([DAY, -START])(
    "the wall clock by %i ms during a wait: it is neither longer nor shorter, and no request is sent meanwhile",
    async (jump) => {
      const clock = new FakeClock();
      let jumped = false;
      clock.beforeWaking = () => {
        if (!jumped) clock.jumpWall(jump);
        jumped = true;
      };
      const { client, postedAt } = await limitedFor(30, ["retry-after: 30"], { clock });
      expect(kinds(await client.createMany(5))).toEqual(["created"]);
      expect(jumped).toBe(true);
      expect(clock.monotonicMs()).toBeGreaterThanOrEqual(30_000);
      expect(clock.monotonicMs()).toBeLessThan(31_000);
      expect(clock.sleeps.length).toBeLessThanOrEqual(10);
      expect(postedAt).toHaveLength(6); // the first one finds out for all
    },
  );

  it("a computer that sleeps through the wait goes on at once, and does not wait twice", async () => {
    const clock = new FakeClock();
    let slept = false;
    clock.beforeWaking = () => {
      if (!slept) clock.advance(3_600_000);
      slept = true;
    };
    const { client, postedAt } = await limitedFor(30, ["retry-after: 30"], { clock });
    expect(kinds(await client.createMany(5))).toEqual(["created"]);
    expect(clock.monotonicMs()).toBeLessThan(3_600_000 + 31_000);
    expect(postedAt).toHaveLength(6);
  });
});
