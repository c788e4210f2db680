import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../provider/src/sandbox/index.js";
import { eventsProgram, newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const lostAnswers: [string, Fault][] = [
  ["no answer before the connection closes", { kind: "close-without-answer" }],
  ["a reset", { kind: "reset" }],
  ["half a body", { kind: "half-body" }],
  ["a body that is cut short by garbage", { kind: "bad-chunk" }],
  ["status 500", { kind: "answer", status: 500, body: { message: "internal" } }],
  ["status 200 without an id", { kind: "answer", status: 200, body: { success: true } }],
  [
    "an HTML page",
    {
      kind: "answer",
      status: 200,
      headers: { "content-type": "text/html" },
      body: "<html><title>Maintenance</title></html>",
    },
  ],
];

describe("an unknown outcome is saved as unresolved, and nothing is sent for it again", () => {
  it.each(lostAnswers)("%s", async (_, fault) => {
    const sandbox = await useSandbox();
    sandbox.fail({ on: "event", act: true, with: fault });
    const stack = await newStack(eventsProgram(1), { sandbox });
    const first = await stack.up();
    expect(first.code).not.toBe(0);
    expect(first.output).toMatch(/was sent at 20\d\d-/);
    expect(first.output).toContain("existingId");
    expect(first.output).toContain("npx pulumi-advertising pending --not-created");
    expect(first.output).not.toMatch(/^\s+at .*:\d+/m);
    expect(sandbox).toMatchObject({ eventPosts: 1 });
    const [, event] = await stack.resources();
    expect(event?.id).toMatch(/^unresolved-/);
    expect(event?.initErrors?.join()).toContain("outcome is unknown");

    const again = await stack.up();
    expect(again.code).not.toBe(0);
    expect(again.output.split("If it is there:")).toHaveLength(2);
    expect(sandbox.eventPosts).toBe(1);
  });
});

async function unresolvedStack(options: { traceField?: string } = {}) {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const config: Record<string, string> =
    options.traceField === undefined ? {} : { "advertising:traceField": options.traceField };
  const stack = await newStack(eventsProgram(1), { sandbox, config });
  expect((await stack.up()).code).not.toBe(0);
  return { sandbox, stack };
}

it("every later preview, up (changed inputs, --refresh), refresh stops at it with the same advice, and the marker stays", async () => {
  const { sandbox, stack } = await unresolvedStack();
  const commands = [
    () => stack.preview(),
    () => stack.up(),
    () => stack.up("--refresh"),
    () => stack.refresh(),
    () => stack.refresh("--run-program"),
    () => {
      stack.program(eventsProgram(1, 77));
      return stack.preview();
    },
    () => stack.up(),
  ];
  for (const command of commands) {
    const { code, output } = await command();
    expect(code).not.toBe(0);
    expect(output).toContain("Look into the account for the ConversionEvent named");
    expect(output).toContain("existingId");
    expect(output).not.toMatch(/^\s+at .*:\d+/m);
    expect((await stack.resources()).at(-1)?.outputs?.unresolved).toMatchObject({ since: expect.any(String) });
  }
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
});

it("way out 1: existingId names the object; it is adopted, no POST, and the state is clean", async () => {
  const { sandbox, stack } = await unresolvedStack();
  const id = sandbox.events[0]?.id;
  stack.program(eventsProgram(1).replace("value: 1", `value: 1, existingId: ${id}`));
  expect((await stack.preview()).code).toBe(0);
  const { code } = await stack.up();
  expect(code).toBe(0);
  expect(sandbox.eventPosts).toBe(1);
  const [, event, ...more] = await stack.resources();
  expect(more).toEqual([]);
  expect(event).toMatchObject({ id: String(id), outputs: { eventId: id } });
  expect(event?.outputs).not.toHaveProperty("unresolved");
  stack.program(eventsProgram(1));
  expect((await stack.up()).output).toContain("3 unchanged");
  expect(sandbox.eventPosts).toBe(1);
});

const pending = (stack: TestStack, ...args: string[]) =>
  runProcess(
    "node",
    [resolve(import.meta.dirname, "../../provider/dist/cli/command.js"), "pending", ...args],
    stack.programFolder,
    stack.environment,
  );

it("way out 2: said to be not created, it is created anew", async () => {
  const { sandbox, stack } = await unresolvedStack();
  const urn = (await stack.resources()).at(-1)?.urn ?? "";
  expect(await pending(stack, "--not-created", urn)).toMatchObject({ code: 0 });
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect((await stack.resources()).at(-1)?.id).toBe("3");
  expect((await stack.up()).output).toContain("3 unchanged");
});

describe("a replacement whose outcome is unknown", () => {
  async function unresolvedReplacement(act: boolean) {
    const sandbox = await useSandbox();
    const stack = await newStack(eventsProgram(1), { sandbox });
    expect((await stack.up()).code).toBe(0);
    sandbox.fail({ on: "event", act, with: { kind: "close-without-answer" } });
    stack.program(eventsProgram(1, 2));
    const { code, output } = await stack.up();
    expect(code).not.toBe(0);
    expect(output).toContain("Its outcome is unknown");
    expect((await stack.up()).code).not.toBe(0);
    expect(sandbox.eventPosts).toBe(2);
    return { sandbox, stack, output };
  }
  const idsOf = async (stack: TestStack) => (await stack.resources()).map(({ id }) => id).sort();

  it("was carried out: `pending --created` takes the new object; an id that another resource has is refused", async () => {
    const { sandbox, stack } = await unresolvedReplacement(true);
    const wrong = await pending(stack, "--created", "e0=2");
    expect(wrong).toMatchObject({ code: 2 });
    const settled = await pending(stack, "--created", "e0=3");
    expect(settled.code, settled.output).toBe(0);
    expect((await stack.up()).code).toBe(0);
    expect(sandbox.eventPosts).toBe(2);
    expect(await idsOf(stack)).toEqual(["1", "3"]);
    expect((await stack.up()).output).toContain("3 unchanged");
  });

  it("was carried out: existingId adopts the new object", async () => {
    const { sandbox, stack } = await unresolvedReplacement(true);
    stack.program(eventsProgram(1, 2).replace("value: 2", "value: 2, existingId: 3"));
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
    expect(sandbox.eventPosts).toBe(2);
    expect(await idsOf(stack)).toEqual(["1", "3"]);
    expect((await stack.up()).output).toContain("3 unchanged");
  });

  it("was not carried out: `pending --not-created` lets the next up replace the old object", async () => {
    const { sandbox, stack, output } = await unresolvedReplacement(false);
    const [, urn = ""] = /pulumi-advertising pending --not-created '([^']+)'/.exec(output) ?? [];
    expect(output).toContain("it is not 2, which it was to replace");
    const settled = await pending(stack, "--not-created", urn);
    expect(settled.code, settled.output).toBe(0);
    expect((await stack.up()).code).toBe(0);
    expect(sandbox.eventPosts).toBe(3);
    expect(sandbox.events).toHaveLength(2);
    expect(await idsOf(stack)).toEqual(["1", "3"]);
    expect((await stack.up()).output).toContain("3 unchanged");
  });
});

it("every create carries a mark in the trace field, and an unknown outcome names it", async () => {
  const { sandbox, stack } = await unresolvedStack({ traceField: "alternative_id" });
  const marks = [...sandbox.advertisers, ...sandbox.events].map((object) => String(object.alternative_id));
  expect(new Set(marks).size).toBe(2);
  const { output } = await stack.preview();
  expect(output).toContain(`alternative_id = ${marks[1]}`);
});

it("destroy forgets an unresolved resource and sends nothing", async () => {
  const { sandbox, stack } = await unresolvedStack();
  expect((await stack.destroy()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(1);
  expect(await stack.resources()).toEqual([]);
});

it("an advertiser whose outcome is unknown holds its events back", async () => {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "reset" } });
  const stack = await newStack(eventsProgram(3), { sandbox });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 0 });
  stack.program(
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "A", existingId: 1 });
new advertising.ConversionEvent("e0", { eventName: "E0", advertiserId: a.advertiserId, value: 1 });`),
  );
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
});
