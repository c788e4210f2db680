/**
 * What is done about a stack while a run of it is under way. Two runs at once, as after `pulumi cancel` of a run that goes on:
 * the second one's engine has read the state before the first one's has saved it.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { upAndSignal } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { expectEachOnceInSet, setShopOf } from "../support/set-killing.js";
import { newStack, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = 8;

/** The program, once the file `go` is there. */
const held = (text: string) =>
  `const { existsSync, writeFileSync } = require("node:fs");
writeFileSync("waits", "");
while (!existsSync("go")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
${text}`;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

it("a set: the second run sends nothing; run again, it takes over what the first one has created", async () => {
  const shop = setShopOf(EVENTS);
  const sandbox = await useSandbox({ objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  // The first run gets no further than this before the second one's engine has read the state.
  const limited = sandbox.fail({
    on: "event",
    after: 4,
    times: Number.MAX_SAFE_INTEGER,
    with: { kind: "answer", status: 429, headers: { "retry-after": "1" }, body: { message: "slowly" } },
  });
  const stack = await newStack(shop, { sandbox });
  const first = upAndSignal(stack, [], "process");
  await until(() => limited.hits > 0);
  const pending = await pendingCommand(stack, "--not-created", "e0");
  expect(pending).toMatchObject({ code: 2, output: expect.stringContaining("a run of this stack is under way") });
  stack.program(held(shop));
  expect((await stack.run(["cancel", "--yes"])).code).toBe(0);
  const second = stack.up();
  await until(() => existsSync(join(stack.programFolder, "waits")));
  limited.cancel();
  expect((await first).code).toBe(0);
  expect(sandbox.creates - limited.hits).toBe(EVENTS);
  writeFileSync(join(stack.programFolder, "go"), "");

  const { code, output } = await second;
  expect(code, output).not.toBe(0);
  expect(output).toMatch(
    /Nothing was sent\..*another run of this stack has ended since this one began.*Run this again/,
  );
  expect(output).not.toContain("creates a second live object");
  expect(sandbox.creates - limited.hits).toBe(EVENTS);

  // The second engine has saved the state that it had read: without the set.
  const again = await stack.up();
  expect(again.code, again.output).toBe(0);
  expect(again.output).toContain("nothing is sent");
  expect(sandbox.creates - limited.hits).toBe(EVENTS);
  await expectEachOnceInSet(stack, sandbox, EVENTS, "two runs");
  expect(sandbox.creates - limited.hits).toBe(EVENTS);
});

it("three stacks of one name in three backends, applied at once: each has objects of its own, or sends nothing", async () => {
  const shop = setShopOf(EVENTS);
  const sandbox = await useSandbox({ objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const cache = newFolder();
  const stacks = await Promise.all([1, 2, 3].map(() => newStack(shop, { sandbox, cache })));
  const first = await Promise.all(stacks.map((stack) => stack.up()));
  const sentAtOnce = first.filter(({ code }) => code === 0).length;
  expect(sandbox.eventPosts).toBe(EVENTS * sentAtOnce);
  for (const [index, { code, output }] of first.entries()) {
    if (code === 0) continue;
    expect(output).toContain("Nothing was sent.");
    expect(output).toMatch(/run this again/i);
    const again = await stacks[index]?.up();
    expect(again?.code, again?.output).toBe(0);
  }
  expect(sandbox.eventPosts).toBe(EVENTS * stacks.length);
  const held = await Promise.all(stacks.map(async (stack) => Object.values((await setOf(stack)) ?? {})));
  const ids = held.flat();
  expect(ids).toHaveLength(EVENTS * stacks.length);
  expect(new Set(ids).size).toBe(ids.length);
});

async function setOf(stack: TestStack): Promise<Record<string, number> | undefined> {
  const [set] = await stack.resources();
  return set?.outputs?.eventIds as Record<string, number> | undefined;
}
