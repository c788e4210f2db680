import { expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { eventsProgram, newStack, useSandbox } from "../support/stack.js";

it("--parallel 1, 16 and 1000: 120 events in all, each once, few sockets", async () => {
  const sandbox = await useSandbox({ latencyMs: 5 });
  const stack = await newStack("", { sandbox, config: { "advertising:maxConcurrentRequests": "6" } });
  for (const [parallel, events] of [
    ["1", 10],
    ["16", 50],
    ["1000", 120],
  ] as const) {
    stack.program(eventsProgram(events));
    const { code, output } = await stack.up("--parallel", parallel);
    expect(code, output).toBe(0);
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: events });
    expect(sandbox.maxOpenConnections).toBeLessThanOrEqual(6 + 1); // the first may not be known to be free yet
  }
});

/** More of them, without the engine: test/sandbox/shared-store-processes.test.ts. */
const STACKS = 3;

it.each([
  ["sessions", {}, {}],
  ["long-lived sessions, strict rotation", { rotation: "strict" as const }, { "advertising:keepLoggedIn": "true" }],
])(
  "%s: stacks of one name in as many backends, applied at once: one login in all, and objects of their own",
  async (_, options, config) => {
    const sandbox = await useSandbox({ ...options, latencyMs: 5 });
    const cache = newFolder();
    const stacks = await Promise.all(
      Array.from({ length: STACKS }, () => newStack(eventsProgram(8), { sandbox, cache, config })),
    );
    for (const { code, output } of await Promise.all(stacks.map((stack) => stack.up()))) expect(code, output).toBe(0);
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: STACKS, eventPosts: 8 * STACKS });
    const held = (await Promise.all(stacks.map((stack) => stack.resources()))).flat().map(({ id }) => id);
    expect(new Set(held).size).toBe(9 * STACKS);

    stacks[0]?.program(eventsProgram(9));
    expect((await stacks[0]?.up())?.code).toBe(0);
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: STACKS, eventPosts: 8 * STACKS + 1 });
  },
);

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

it("state delete forgets, and pulumi import, which Pulumi's dynamic providers do not know, sends nothing", async () => {
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
