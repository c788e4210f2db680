/** Creates of unknown outcome: each run says so, nothing is resent, each way to resolve goes on with what there is. */
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import {
  eventsProgram,
  failed,
  newStack,
  program,
  runProcess,
  type TestStack,
  useSandbox,
} from "../support/stack.js";

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

it("every later up stops at it with the same advice; existingId adopts; then replacements", async () => {
  const sandbox = await useSandbox();
  sandbox.fail(LOST);
  const config = { "advertising:markField": "alternative_id" };
  const stack = await newStack(eventsProgram(1), { sandbox, config });
  const first = await stack.up();
  expect(first.code).not.toBe(0);
  const event = (await stack.resources()).at(-1);
  expect(event?.id).toMatch(/^unresolved-/);
  expect(event?.initErrors?.join()).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
  const marks = [...sandbox.advertisers, ...sandbox.events].map((object) =>
    String(object.alternative_id),
  );
  expect(new Set(marks).size).toBe(2);

  stack.program(eventsProgram(1, 77));
  const later = await failed(stack.up());
  for (const words of [
    "[ADVERTISING_OUTCOME_UNKNOWN]",
    `alternative_id = ${marks[1]}`,
    "pending --not-created",
  ])
    expect(later).toContain(words);
  expect((await idsOf(stack)).at(-1)).toMatch(/^unresolved-/);
  expect(sandbox.eventPosts).toBe(1);

  stack.program(eventsProgram(1).replace("value: 1", "value: 1, existingId: 2"));
  await upWell(stack);
  expect(await idsOf(stack)).toEqual(["1", "2"]);
  expect(sandbox.eventPosts).toBe(1);

  // A replacement: lost, it is sent once; asked for by hand and killed, both objects are named until that is forgotten.
  sandbox.fail(LOST);
  stack.program(eventsProgram(1, 77));
  const replaced = await stack.up();
  expect(replaced.code).not.toBe(0);
  expect(replaced.output).toContain("(not 2,");
  expect(sandbox.eventPosts).toBe(2);
  expect(await pending(stack, 2, "--created", "e0=2")).toContain("2 can't be the id of");
  await pending(stack, 0, "--created", "e0=3");
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(
    await upAndKill(stack, struck(lost), "tree", ["--replace", event?.urn ?? ""]),
  ).toBe(true);
  await stack.cancel();
  const beside = await upWell(stack);
  expect(beside).toContain("also sent 1 create: e0 (outcome unknown)");
  expect(await pending(stack, 0, "--forget", "e0")).toContain("Forgotten");
  expect(await idsOf(stack)).toEqual(["1", "3"]);
  expect(sandbox.eventPosts).toBe(3);
});

it("an error hook that asks the engine to create again gets the same answer: one POST each", async () => {
  const sandbox = await useSandbox({
    objects: { advertisers: [{ id: 1, active: true }], events: [] },
  });
  for (const on of ["advertiser", "event"] as const)
    sandbox.fail({ ...LOST, on, times: 9 });
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
LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "tiny", program: inline }, { workDir: __dirname })
  .then((stack) => stack.up({ continueOnError: true }))
  .catch((error) => console.log(error.message, "asked", asked));`,
  );
  const { output } = await runProcess(
    "node",
    ["inline.cjs"],
    stack.programFolder,
    stack.environment,
  );
  expect(Number(/asked (\d+)/.exec(output)?.[1]), output).toBeGreaterThan(3);
  expect(output).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 2 });
});
