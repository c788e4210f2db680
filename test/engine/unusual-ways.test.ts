/** Ways to a second create, or to a lost one, that lie beside an ordinary `up` and its kill. */
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { eventsProgram, newStack, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const commandFile = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");

function pending(stack: TestStack, ...args: string[]) {
  return runProcess(process.execPath, [commandFile, "pending", ...args], stack.programFolder, stack.environment);
}

it("a replacement that was asked for by hand, killed in flight: each run says that there may be one more, until it is forgotten", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const [, event] = await stack.resources();
  const fault = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(fault), "tree", ["--replace", event?.urn ?? ""])).toBe(true);
  await stack.cancel();
  for (const command of [stack.up, stack.preview]) {
    const { code, output } = await command();
    expect(code, output).toBe(0);
    expect(output).toContain(`The state has ${event?.id}. Check the account for a second one.`);
    expect(output).toContain(`pending --forget '${event?.urn}'`);
  }
  expect((await pending(stack, "--forget", event?.urn ?? "")).output).toContain("Forgotten");
  expect((await stack.up()).output).not.toContain("Check the account for a second one");
  expect(sandbox.eventPosts).toBe(2);
});

it("what was sent before a kill and is not declared any more is told until it is forgotten", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  const fault = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(fault), "tree")).toBe(true);
  await stack.cancel();
  stack.program(eventsProgram(0));
  expect((await stack.up()).code).toBe(0);
  const posts = sandbox.eventPosts;
  let urn = "";
  for (const command of [stack.preview, stack.up]) {
    const { code, output } = await command();
    expect(code).toBe(0);
    expect(output).toMatch(/ConversionEvent "e0": an interrupted run sent it at/);
    urn = /pending --forget '([^']+)'/.exec(output)?.[1] ?? "";
  }
  expect((await pending(stack, "--forget", urn)).output).toContain("Forgotten");
  expect((await pending(stack, "--forget", urn)).output).toContain("has a note about");
  expect((await stack.preview()).output).not.toContain("an interrupted run");
  expect(sandbox.eventPosts).toBe(posts);
});

it("--replace of an unresolved resource sends nothing, and it is settled as before", async () => {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "event", act: false, with: { kind: "close-without-answer" } });
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect((await stack.up()).code).not.toBe(0);
  const event = (await stack.resources()).at(-1);
  expect(event?.id).toMatch(/^unresolved-/);
  const replaced = await stack.up("--replace", event?.urn ?? "");
  expect(replaced.code).not.toBe(0);
  expect(replaced.output).toContain("its outcome is unknown until you settle it");
  expect(sandbox.eventPosts).toBe(1);
  expect((await pending(stack)).output).toContain("1 create may or may not");
  expect((await pending(stack, "--not-created", "e0")).code).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect(await stack.resources()).toHaveLength(2);
  expect((await stack.resources()).at(-1)?.id).toBe(String(sandbox.events[0]?.id));
});

it("killed in a replacement, and set back to what it was: `up` and `pending` say the same", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(2), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const lost = sandbox.fail({ on: "event", after: 1, with: { kind: "no-answer" } });
  stack.program(eventsProgram(2, 2));
  stack.setEnvironment({ PULUMI_SKIP_CHECKPOINTS: "true" });
  // One after the other: the first one's answer is noted before the second is sent.
  expect(await upAndKill(stack, struck(lost), "tree", ["--parallel", "1"])).toBe(true);
  await stack.cancel();
  const made = sandbox.events.find(({ value }) => value === 2)?.id;
  const listed = await pending(stack);
  expect(listed.output).toContain(`was created as ${made}: a journal on this machine has it`);
  expect(listed.output).toContain("If your program uses that one again, nothing manages what was created");

  stack.program(eventsProgram(2));
  const back = await stack.up();
  expect(back.code, back.output).toBe(0);
  expect(back.output).toContain(`Nothing manages ${made}, unless you declare it again`);
  expect((await pending(stack)).output).toContain("If your program uses that one again");
  expect(sandbox.eventPosts).toBe(4);
});
