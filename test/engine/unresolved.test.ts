/** Creates whose outcome nobody knows: each run says so, nothing is sent again, and each way of settling goes on with what there is. */
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { eventsProgram, newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const LOST = { on: "event", act: true, with: { kind: "close-without-answer" } } as const;

const idsOf = async (stack: TestStack) => (await stack.resources()).map(({ id }) => id);

async function pending(stack: TestStack, code: number, ...args: string[]): Promise<string> {
  const answered = await pendingCommand(stack, ...args);
  expect(answered.code, answered.output).toBe(code);
  return answered.output;
}

async function upWell(stack: TestStack, ...args: string[]): Promise<string> {
  const { code, output } = await stack.up(...args);
  expect(code, output).toBe(0);
  return output;
}

it("every later preview, up (changed inputs, --replace) and refresh stops at it with the same advice; said to be not created, it is created anew; existingId adopts", async () => {
  const sandbox = await useSandbox();
  sandbox.fail(LOST);
  const config = { "advertising:markField": "alternative_id" };
  const stack = await newStack(eventsProgram(1), { sandbox, config });
  const first = await stack.up();
  expect(first.code).not.toBe(0);
  const event = (await stack.resources()).at(-1);
  expect(event?.id).toMatch(/^unresolved-/);
  expect(event?.initErrors?.join()).toContain("outcome is unknown");
  // Every create carries a mark in its field.
  const marks = [...sandbox.advertisers, ...sandbox.events].map((object) => String(object.alternative_id));
  expect(new Set(marks).size).toBe(2);

  const commands: [string, () => Promise<{ code: number | null; output: string }>][] = [
    [eventsProgram(1), stack.preview],
    [eventsProgram(1), () => stack.refresh("--run-program")],
    [eventsProgram(1, 77), stack.up],
    [eventsProgram(1), () => stack.up("--replace", event?.urn ?? "")],
  ];
  for (const [text, command] of commands) {
    stack.program(text);
    const { code, output } = await command();
    expect(code, output).not.toBe(0);
    expect(output).toMatch(/outcome is unknown/);
    expect(output).toContain(`alternative_id = ${marks[1]}`);
    expect(output).toContain("pending --not-created");
    expect(output).not.toMatch(/^\s+at .*:\d+/m);
    expect((await idsOf(stack)).at(-1)).toMatch(/^unresolved-/);
  }
  expect(sandbox.eventPosts).toBe(1);

  stack.program(eventsProgram(1));
  await pending(stack, 0, "--not-created", "e0");
  await upWell(stack);
  expect(sandbox.eventPosts).toBe(2);
  expect(await idsOf(stack)).toEqual(["1", "3"]);

  sandbox.fail(LOST);
  stack.program(eventsProgram(2));
  expect((await stack.up()).code).not.toBe(0);
  const adopting = eventsProgram(2).replace("value: 1", "value: 1, existingId: i === 1 ? 4 : undefined");
  stack.program(adopting);
  await upWell(stack);
  expect(await idsOf(stack)).toEqual(["1", "3", "4"]);
  expect(sandbox.eventPosts).toBe(3);
});

it("an error hook that asks the engine to create again gets the same answer: one POST each", async () => {
  const sandbox = await useSandbox({ objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  for (const on of ["advertiser", "event"] as const) sandbox.fail({ ...LOST, on, times: 9 });
  const stack = await newStack("", { sandbox });
  // Only an inline program's engine takes error hooks (3.259).
  stack.write(
    "inline.cjs",
    `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
${program(`
let asked = 0;
const inline = async () => {
  const again = new pulumi.ErrorHook("again", () => ++asked <= 6);
  const hooks = { onError: [again] };
  new advertising.Advertiser("a", { advertiserName: "A" }, { hooks });
  new advertising.ConversionEvent("e", { eventName: "E", advertiserId: 1, value: 1 }, { hooks });
  new advertising.ConversionEventSet("s", { advertiserId: 1, events: { k: { eventName: "K", value: 1 } } }, { hooks });
};`)}
LocalWorkspace.createOrSelectStack({ stackName: "inline", projectName: "tiny", program: inline }, { workDir: __dirname })
  .then((stack) => stack.up({ continueOnError: true }))
  .catch((error) => console.log(error.message, "asked", asked));`,
  );
  const { output } = await runProcess("node", ["inline.cjs"], stack.programFolder, stack.environment);
  expect(Number(/asked (\d+)/.exec(output)?.[1]), output).toBeGreaterThan(3);
  expect(output).toContain("outcome is unknown");
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 2 });
});

const two = (value: number) =>
  program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const event = (name, options) =>
  new advertising.ConversionEvent(name, { eventName: name, advertiserId: a.advertiserId, value: ${value} }, options);
event("e1", { dependsOn: event("e0") });`);

it("a replacement: lost, it is sent once; asked for by hand, or set back after a kill, both objects are named until that is forgotten", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(two(1), { sandbox });
  await upWell(stack);
  sandbox.fail(LOST);
  stack.program(two(2));
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("it is not 2, which it was to replace");
  expect(sandbox.eventPosts).toBe(3);
  expect(await pending(stack, 2, "--created", "e0=2")).toContain("2 is not the id of");
  await pending(stack, 0, "--created", "e0=4");
  await upWell(stack);
  expect(await idsOf(stack)).toEqual(["1", "4", "5"]);
  expect(sandbox.eventPosts).toBe(4);

  const kill = async (after: number, ...args: string[]) => {
    const lost = sandbox.fail({ on: "event", act: true, after, with: { kind: "no-answer" } });
    expect(await upAndKill(stack, struck(lost), "tree", args)).toBe(true);
    await stack.cancel();
  };
  const expectBeside = async (told: RegExp, ...others: string[]) => {
    const output = await upWell(stack);
    expect(output).toMatch(told);
    expect(output).toContain("pending --forget 'e0'");
    const forget = ["e0", ...others].flatMap((name) => ["--forget", name]);
    expect(await pending(stack, 0, ...forget)).toContain("Forgotten");
    expect(await upWell(stack)).not.toContain("--forget");
  };
  const [, event] = await stack.resources();
  await kill(0, "--replace", event?.urn ?? "");
  await expectBeside(/The state has 4\. Look in the account for a second one/);
  // Nothing of it is saved, and the program goes back to what it was.
  stack.program(two(5));
  stack.setEnvironment({ PULUMI_SKIP_CHECKPOINTS: "true" });
  await kill(1);
  stack.program(two(2));
  await expectBeside(/created it as 7\. The state has 4\. Nothing manages 7: it stays live/, "e1");
  expect(await idsOf(stack)).toEqual(["1", "4", "5"]);
  expect(sandbox.eventPosts).toBe(7);
});
