import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { commandsIn } from "../support/printed-commands.js";
import { newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");
const pendingCommand = (stack: TestStack, ...args: string[]) =>
  runProcess("node", [command, "pending", ...args], stack.programFolder, stack.environment);

const SET = "urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:ConversionEventSet::funnel";
const funnel = (events: string) =>
  program(`
// Two before the set: when they have been let through, two creates may be in flight at once.
const [a, b] = ["A", "B"].map((name) => new advertising.Advertiser(name, { advertiserName: name }));
const advertiserId = pulumi.all([a.advertiserId, b.advertiserId]).apply(([first]) => first);
new advertising.ConversionEventSet("funnel", { advertiserId, events: ${events} });`);
const FOUR = `{
  a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 },
  c: { eventName: "C", value: 1 }, d: { eventName: "D", value: 1 },
}`;

it("members of unknown outcome are listed and settled one by one; the others go on", async () => {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  sandbox.fail({ on: "event", act: false, with: { kind: "close-without-answer" } });
  const stack = await newStack(funnel(FOUR), { sandbox });
  const up = await stack.up();
  expect(up.code).not.toBe(0);
  expect(up.output).toContain("2 of 4 declared events are in the state");
  expect(sandbox).toMatchObject({ eventPosts: 4 });

  const listed = await pendingCommand(stack);
  expect(listed.code).toBe(1);
  expect(listed.output).toContain("2 creates may or may not");
  const open = ["a", "b", "c", "d"].filter((key) => listed.output.includes(`${SET}["${key}"]`));
  expect(open).toHaveLength(2);
  const idOf = (key: string) => sandbox.events.find(({ event_name }) => event_name === key.toUpperCase())?.id;
  const [there] = open.filter((key) => idOf(key) !== undefined);
  const [absent] = open.filter((key) => idOf(key) === undefined);

  const wrong = await pendingCommand(stack, "--created", `${SET}=7`);
  expect(wrong.code).toBe(2);
  expect(wrong.output).toContain("is a set: append the key");
  const settled = await pendingCommand(
    stack,
    ...["--created", `${SET}["${there}"]=${idOf(String(there))}`, "--not-created", `${SET}["${absent}"]`],
  );
  expect(settled.code, settled.output).toBe(0);

  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(5);
  expect(sandbox.events.map(({ event_name }) => event_name).sort()).toEqual(["A", "B", "C", "D"]);
  expect((await stack.preview()).output).toMatch(/4 unchanged/);
});

it("an interrupted run's journal tells which members were sent; without it each may have been, and all are settled at once", async () => {
  const sandbox = await useSandbox({ authMode: "basic" });
  const created = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  const lost = sandbox.fail({ on: "event", act: false, with: { kind: "no-answer" } });
  const config = { "advertising:authMode": "basic", "advertising:maxConcurrentRequests": "2" };
  const stack = await newStack(funnel(FOUR), { sandbox, config });
  expect(await upAndKill(stack, struck(created, lost), "tree")).toBe(true);
  await stack.cancel();
  const withJournal = await pendingCommand(stack);
  expect(withJournal.output).toContain("2 creates may or may not");

  rmSync(stack.cache, { recursive: true, force: true });
  const without = await pendingCommand(stack);
  expect(without.code).toBe(1);
  expect(without.output).toContain("4 creates may or may not");
  const there = sandbox.events[0];
  const key = String(there?.event_name).toLowerCase();
  const first = await pendingCommand(stack, "--created", `funnel["${key}"]=${there?.id}`);
  expect(first.code).toBe(1);
  expect(first.output).toContain("3 creates may or may not");
  const stopped = await stack.up();
  expect(stopped.code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  const others = await pendingCommand(stack, "--not-created", "funnel");
  expect(others.code, others.output).toBe(0);
  expect(others.output).toContain(`Settled as not created: 3 events of ${SET}: `);
  expect(commandsIn(others.output).filter((line) => line.includes("--reopen"))).toEqual([
    `npx pulumi-advertising pending --reopen '${SET}'`,
  ]);

  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(5);
  expect(sandbox.events.map(({ event_name }) => event_name).sort()).toEqual(["A", "B", "C", "D"]);
});
