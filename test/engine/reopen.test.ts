/** Real runs: a wrong answer about a create of unknown outcome is taken back, and nothing is sent for it. */
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
const singles = program(`new advertising.ConversionEvent("e", { eventName: "E", advertiserId: 1, value: 1 });`);
const set = program(
  `new advertising.ConversionEventSet("s", { advertiserId: 1, events: { "a b": { eventName: "E", value: 1 }, c: { eventName: "C", value: 1 } } });`,
);
const secrets = program(
  `new advertising.ConversionEventSet("s", { advertiserId: 1, events: { x: { eventName: pulumi.secret("X"), value: pulumi.secret(1) } } });`,
);

/** An `up` after which one event is live, and its answer lost. */
async function start(text: string) {
  const sandbox = await useSandbox({ objects });
  const stack = await newStack(text, { sandbox });
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  expect((await stack.up()).code).not.toBe(0);
  const { output } = await pendingCommand(stack);
  const [, urn = ""] = /^ {2}(urn:.+)$/m.exec(output) ?? [];
  const id = sandbox.events[0]?.id;
  return { sandbox, stack, urn, id, posts: sandbox.eventPosts };
}

async function answer(stack: TestStack, expected: number, ...args: string[]): Promise<string> {
  const { code, output } = await pendingCommand(stack, ...args);
  expect(code, output).toBe(expected);
  return output;
}

/** The command that the settlement's message names. */
function reopening(output: string): string[] {
  const [, urn = ""] = /pending --reopen '?(.+?)'?$/m.exec(output) ?? [];
  return ["--reopen", urn];
}

it.each([
  ["a single resource", singles],
  ["a member of a set", set],
])("%s: settled wrongly as not created, reopened, settled as created: the next up sends nothing", async (_, text) => {
  const { sandbox, stack, urn, id, posts } = await start(text);
  const held = async () => (await stack.resources()).map(({ initErrors: _, ...resource }) => resource);
  const before = await held();
  const settled = await answer(stack, 0, "--not-created", urn);
  expect(settled).toContain("If an answer was wrong, take it back before the next `pulumi up`:");
  const reopened = await answer(stack, 1, ...reopening(settled));
  expect(reopened).toContain(`Reopened, as if it had not been answered: ${urn}`);
  expect(reopened).toContain("1 create may or may not have reached the platform");
  expect(await held()).toEqual(before);
  await answer(stack, 2, ...reopening(settled)); // once
  // Neither here nor on another machine anything is sent before somebody answers again.
  for (const machine of [stack, await stack.onAnotherMachine()]) expect((await machine.up()).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(posts);

  const again = await answer(stack, 0, "--created", `${urn}=${id}`);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: posts });
  expect(sandbox.events.filter((each) => each.event_name === "E")).toHaveLength(1);
  // An `up` has gone through.
  expect(await answer(stack, 2, ...reopening(again))).toContain("no answer about");
  expect((await stack.up()).output).toMatch(/unchanged/);
});

it("a set: settled wrongly as created, reopened by its name, settled as not created: the next up sends one", async () => {
  const { sandbox, stack, urn, posts } = await start(set);
  await answer(stack, 0, "--created", `${urn}=999`);
  expect(JSON.stringify(await stack.resources())).toContain("999");
  await answer(stack, 1, "--reopen", "s");
  expect(JSON.stringify(await stack.resources())).not.toContain("999");
  await answer(stack, 0, "--not-created", urn);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(posts + 1);
});

it("a member with secret arguments, which each import encrypts again, is reopened too", async () => {
  const { sandbox, stack, urn, posts } = await start(secrets);
  await answer(stack, 0, "--created", `${urn}=999`);
  await answer(stack, 1, "--reopen", urn);
  expect(JSON.stringify(await stack.resources())).not.toContain("999");
  await answer(stack, 0, "--created", `${urn}=${sandbox.events[0]?.id}`);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(posts);
});

it("what only the journal of an interrupted run knows: forgotten or settled wrongly, and reopened; an up that went on is not undone", async () => {
  const sandbox = await useSandbox({ objects });
  const stack = await newStack(singles, { sandbox });
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  const [, urn = ""] = /^ {2}(urn:.+)$/m.exec((await pendingCommand(stack)).output) ?? [];
  const settled = await answer(stack, 0, "--not-created", urn);
  const other = await stack.onAnotherMachine();
  expect(await answer(other, 2, ...reopening(settled))).toContain("it was given on another machine");
  await answer(stack, 1, ...reopening(settled));
  expect((await stack.up()).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(1);

  // The same, and another machine's `up` comes first: this one's answer is history.
  await answer(stack, 0, "--not-created", urn);
  expect((await other.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect(await answer(stack, 2, "--reopen", urn)).toContain("a run has gone on with the answer");
  expect((await stack.up()).code).toBe(0);
  // The way out that the refusal names.
  const [{ id } = { id: 0 }] = sandbox.events;
  stack.program(singles.replace("value: 1", `value: 1, existingId: ${id}`));
  expect((await stack.up()).code).toBe(0);
  expect((await stack.resources()).map((each) => each.id)).toEqual([String(id)]);
  expect(sandbox.eventPosts).toBe(2);
});
