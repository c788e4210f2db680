/**
 * What is done about a stack while a run of it is under way. Two runs at once, as after `pulumi cancel` of a run that goes on:
 * the second one's engine has read the state before the first one's has saved it.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { upAndSignal } from "../support/killing.js";
import { expectEachOnce, pendingCommand, shopOf } from "../support/recovery.js";
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

const expectSetOnce = (stack: TestStack, sandbox: Sandbox) => expectEachOnceInSet(stack, sandbox, EVENTS, "two runs");
const expectShopOnce = (stack: TestStack, sandbox: Sandbox) => expectEachOnce(stack, sandbox, EVENTS, "two runs");

const singles = { shop: shopOf(EVENTS), advertisers: [], posts: EVENTS + 1, expectOnce: expectShopOnce };
const set = {
  shop: setShopOf(EVENTS),
  advertisers: [{ id: 1, active: true }],
  posts: EVENTS,
  expectOnce: expectSetOnce,
};

it.each([
  { what: "single events, fast mode", fast: "true", ...singles },
  { what: "a set", fast: "", ...set },
])("$what: what the first run has created is taken over by the second one, and nothing is sent", async (row) => {
  const { shop, fast, posts, expectOnce, advertisers } = row;
  const sandbox = await useSandbox({ objects: { advertisers, events: [] } });
  // The first run gets no further than this before the second one's engine has read the state.
  const limited = sandbox.fail({
    on: "event",
    after: 4,
    times: Number.MAX_SAFE_INTEGER,
    with: { kind: "answer", status: 429, headers: { "retry-after": "1" }, body: { message: "slowly" } },
  });
  const stack = await newStack(shop, { sandbox, environment: { PULUMI_SKIP_CHECKPOINTS: fast } });
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
  expect(sandbox.creates - limited.hits).toBe(posts);
  writeFileSync(join(stack.programFolder, "go"), "");

  const { code, output } = await second;
  expect(code, output).toBe(0);
  expect(output).toContain("nothing is sent");
  expect(output).not.toContain("creates a second live object");
  expect(sandbox.creates - limited.hits).toBe(posts);
  await expectOnce(stack, sandbox);
  expect(sandbox.creates - limited.hits).toBe(posts);
});
