import { describe, expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { eventsProgram, newStack, useSandbox } from "../support/stack.js";

it("row 75: --parallel 1, 16 and 1000: 200 events in all, each once, few sockets", async () => {
  const sandbox = await useSandbox({ latencyMs: 5 });
  const stack = await newStack("", { sandbox, config: { "advertising:maxConcurrentRequests": "6" } });
  for (const [parallel, events] of [
    ["1", 20],
    ["16", 80],
    ["1000", 200],
  ] as const) {
    stack.program(eventsProgram(events));
    const { code, output } = await stack.up("--parallel", parallel);
    expect(code, output).toBe(0);
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: events });
    expect(sandbox.maxOpenConnections).toBeLessThanOrEqual(6 + 1); // the first may not be known to be free yet
  }
});

/** More of them, without the engine: test/sandbox/shared-store-processes.test.ts. */
const STACKS = 4;

describe(`${STACKS} stacks applied at once, each by a process of its own`, () => {
  it.each([
    ["sessions", {}, {}],
    ["long-lived sessions, strict rotation", { rotation: "strict" as const }, { "advertising:keepLoggedIn": "true" }],
  ])("%s: one login in all, and none in the next run", async (_, options, config) => {
    const sandbox = await useSandbox({ ...options, latencyMs: 5 });
    const cache = newFolder();
    const stacks = await Promise.all(
      Array.from({ length: STACKS }, (_, number) =>
        newStack(eventsProgram(8).replaceAll('"E"', `"S${number} E"`), {
          sandbox,
          cache,
          config,
          project: `tiny${number}`,
        }),
      ),
    );
    for (const { code, output } of await Promise.all(stacks.map((stack) => stack.up()))) expect(code, output).toBe(0);
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: STACKS, eventPosts: 8 * STACKS });
    expect(new Set(sandbox.events.map((event) => event.event_name)).size).toBe(8 * STACKS);

    stacks[0]?.program(eventsProgram(9).replaceAll('"E"', '"S0 E"'));
    expect((await stacks[0]?.up())?.code).toBe(0);
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: STACKS, eventPosts: 8 * STACKS + 1 });
  });
});

it("a rate limit on creates is waited out by all together, and said once", async () => {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "event", with: { kind: "answer", status: 429, headers: { "retry-after": "2" } }, times: 3 });
  const stack = await newStack(eventsProgram(8), { sandbox });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  const diagnostics = output.slice(output.indexOf("Diagnostics:"));
  expect(diagnostics.match(/all requests wait for 2 s/g)).toHaveLength(1);
  expect(sandbox.events).toHaveLength(8);
  expect(sandbox.eventPosts).toBe(8 + 3);
  expect(sandbox.logins).toBe(1);
});

it("a rate limit that lasts too long is an error that says from when on, and leaves nothing", async () => {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "event", with: { kind: "answer", status: 429, headers: { "retry-after": "86400" } }, times: 100 });
  const stack = await newStack(eventsProgram(3), { sandbox });
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toMatch(
    /takes requests again from 20\d\d-\d\d-\d\dT[\d:.]+Z on; that is longer than advertising:maxWaitSeconds/,
  );
  expect(output).toContain("Nothing was created.");
  expect(await stack.resources()).toHaveLength(1);
  expect(sandbox.events).toEqual([]);
  expect(sandbox.eventPosts).toBe(1);
});

it("a platform that can't be reached is tried for maxWaitSeconds, and leaves nothing", async () => {
  const stack = await newStack(eventsProgram(1), {
    environment: {
      ADVERTISING_BASE_URL: "http://127.0.0.1:1",
      ADVERTISING_EMAIL: "ops@example.com",
      ADVERTISING_PASSWORD: "needle-of-a-password",
      ADVERTISING_MAX_WAIT_SECONDS: "1",
    },
  });
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toMatch(
    /could not connect to 127\.0\.0\.1:1 \(.*ECONNREFUSED.*nothing listens there: check advertising:baseUrl/,
  );
  expect(output).not.toMatch(/needle|^\s+at /m);
  expect(await stack.resources()).toEqual([]);
});

it.each(["session", "basic"] as const)(
  "row 81: Node.js and Pulumi that log all they can change nothing (%s)",
  async (authMode) => {
    const sandbox = await useSandbox({ authMode });
    const stack = await newStack(eventsProgram(2), {
      sandbox,
      config: { "advertising:authMode": authMode },
      environment: {
        NODE_DEBUG: "http,undici,net,tls",
        NODE_OPTIONS: "--trace-warnings",
        PULUMI_DEBUG_PROMISE_LEAKS: "true",
      },
    });
    const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--logtostderr", "-v=9", "--debug"]);
    expect(code).toBe(0);
    expect(sandbox).toMatchObject({ logins: authMode === "basic" ? 0 : 1, advertiserPosts: 1, eventPosts: 2 });
    const sent = sandbox.requests.flatMap(({ headers }) => [headers.cookie, headers.authorization]);
    const secrets = sent.flatMap((header) => String(header ?? "").match(/[^=\s]{12,}=*$/) ?? []);
    expect(secrets).toHaveLength(3);
    for (const secret of [sandbox.password, ...secrets]) expect(output).not.toContain(secret);
  },
);

it("row 74: state delete forgets, and pulumi import, which Pulumi's dynamic providers do not know, sends nothing", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const [advertiser, event] = await stack.resources();
  expect((await stack.run(["state", "delete", String(event?.urn), "--yes"])).code).toBe(0);
  const type = String(event?.type);
  expect((await stack.run(["import", type, "e0", String(event?.id), "--yes"])).code).not.toBe(0);
  expect((await stack.resources()).map(({ urn }) => urn)).toEqual([advertiser?.urn]);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 1 });
});
