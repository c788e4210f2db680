import { resolve } from "node:path";
import { expect, it } from "vitest";
import { eventsProgram, newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

/** A stack whose event was carried out, with its answer lost. */
async function unresolvedStack(options: { markField?: string } = {}) {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const config: Record<string, string> =
    options.markField === undefined ? {} : { "advertising:markField": options.markField };
  const stack = await newStack(eventsProgram(1), { sandbox, config });
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toMatch(/was sent at 20\d\d-/);
  expect(output).toContain("existingId");
  expect(output).toContain("npx pulumi-advertising pending --not-created");
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
  const [, event] = await stack.resources();
  expect(event?.id).toMatch(/^unresolved-/);
  expect(event?.initErrors?.join()).toContain("outcome is unknown");
  return { sandbox, stack };
}

it("every later preview, up (changed inputs too), refresh stops at it with the same advice, and the marker stays; existingId adopts the object", async () => {
  const { sandbox, stack } = await unresolvedStack();
  const commands = [
    () => stack.preview(),
    async () => {
      const again = await stack.up();
      expect(again.output.split("If it is there:"), "told once").toHaveLength(2);
      return again;
    },
    () => stack.refresh("--run-program"),
    () => {
      stack.program(eventsProgram(1, 77));
      return stack.up();
    },
  ];
  for (const command of commands) {
    const { code, output } = await command();
    expect(code).not.toBe(0);
    expect(output).toContain("Look in the account for the ConversionEvent named");
    expect(output).toContain("existingId");
    expect(output).not.toMatch(/^\s+at .*:\d+/m);
    expect((await stack.resources()).at(-1)?.outputs?.unresolved).toMatchObject({ since: expect.any(String) });
  }
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });

  const id = sandbox.events[0]?.id;
  stack.program(eventsProgram(1).replace("value: 1", `value: 1, existingId: ${id}`));
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
    [resolve(import.meta.dirname, "../../provider/dist/tools/command.js"), "pending", ...args],
    stack.programFolder,
    stack.environment,
  );

it("every create carries a mark in its field, and an unknown outcome names it; said to be not created, it is created anew", async () => {
  const { sandbox, stack } = await unresolvedStack({ markField: "alternative_id" });
  const marks = [...sandbox.advertisers, ...sandbox.events].map((object) => String(object.alternative_id));
  expect(new Set(marks).size).toBe(2);
  const { output } = await stack.preview();
  expect(output).toContain(`alternative_id = ${marks[1]}`);

  const urn = (await stack.resources()).at(-1)?.urn ?? "";
  expect(await pending(stack, "--not-created", urn)).toMatchObject({ code: 0 });
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect((await stack.resources()).at(-1)?.id).toBe("3");
});

// The other ways: pending.test.ts ("a replacement that was not created"), left-live.test.ts in the sandbox's ("keeps it, also when it is adopted").
it("a replacement whose outcome is unknown is sent once, and taken as created; an id that another resource has is refused", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect((await stack.up()).code).toBe(0);
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  stack.program(eventsProgram(1, 2));
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("Its outcome is unknown");
  expect(output).toContain("it is not 2, which it was to replace");
  const [, urn = ""] = /pulumi-advertising pending --not-created '([^']+)'/.exec(output) ?? [];
  expect((await stack.resources()).map((resource) => resource.urn)).toContain(urn);
  expect((await stack.up()).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(2);

  expect(await pending(stack, "--created", "e0=2")).toMatchObject({ code: 2 });
  const created = await pending(stack, "--created", "e0=3");
  expect(created.code, created.output).toBe(0);
  const settled = await stack.up();
  expect(settled.code, settled.output).toBe(0);
  expect((await stack.resources()).map((resource) => resource.id).sort()).toEqual(["1", "3"]);
  expect(sandbox.eventPosts).toBe(2);
});

it("R4: an adoption with the same name and value, at another advertiser, settles no create that is no longer declared", async () => {
  const sandbox = await useSandbox();
  const acme = 'const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });';
  const delta = 'eventName: "Delta", value: 4';
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const stack = await newStack(
    program(`${acme} new advertising.ConversionEvent("d", { advertiserId: acme, ${delta} });`),
    { sandbox },
  );
  expect((await stack.up()).code).not.toBe(0);
  stack.program(
    program(`${acme} const hats = new advertising.Advertiser("hats", { advertiserName: "Hats" });
new advertising.ConversionEvent("d2", { advertiserId: hats, ${delta}, existingId: 900 });`),
  );
  const { code, output } = await stack.up();
  expect(code, output).not.toBe(0);
  expect(output).toContain(
    "existingId: 900 does not settle this create: it was sent with advertiserId 1, and 900 has another one",
  );
  const listed = await pending(stack);
  expect(listed.code, listed.output).toBe(1);
  expect(await stack.exported()).toContain('"unresolved-');
  expect(sandbox.eventPosts).toBe(1);
});

it("R4: existingId of quite another object settles neither an event's create nor that of a set's event: the run stops, and pending lists both", async () => {
  const advertisers = [{ id: 1, advertiser_name: "A", active: true }];
  const sandbox = await useSandbox({ objects: { advertisers, events: [] } });
  const declared = (q: string, y: string) =>
    program(`
new advertising.ConversionEvent("q", { advertiserId: 1, ${q} });
new advertising.ConversionEventSet("s", { advertiserId: 1, events: { y: { ${y} } } });`);
  sandbox.fail({ on: "event", times: 2, act: true, with: { kind: "close-without-answer" } });
  const stack = await newStack(declared('eventName: "Q", value: 1', 'eventName: "Y", value: 1'), { sandbox });
  expect((await stack.up()).code).not.toBe(0);
  expect(sandbox.events.map(({ event_name }) => event_name).sort()).toEqual(["Q", "Y"]);

  stack.program(
    declared('eventName: "Other", value: 7, existingId: 900', 'eventName: "Other2", value: 7, existingId: 901'),
  );
  for (const run of [stack.preview, stack.up]) {
    const { code, output } = await run();
    expect(code, output).not.toBe(0);
    // The engine stops at the one that it comes to first.
    expect(output).toMatch(/the ConversionEvent named "[QY]" \(advertiserId 1, value 1\)/);
    expect(output).toMatch(
      /existingId: (90[01]) does not settle this create: it was sent with eventName "[QY]" and value 1, and \1 has others/,
    );
    expect(output).not.toMatch(/adopts 90[01]; nothing is sent/);
  }
  const listed = await pending(stack);
  expect(listed.code, listed.output).toBe(1);
  expect(listed.output).toContain('named "Q"');
  expect(listed.output).toContain('named "Y"');
  expect(sandbox.eventPosts).toBe(2);

  // The way out: what was made is taken into the state, and the program names it again.
  const [q, y] = ["Q", "Y"].map((name) => sandbox.events.find(({ event_name }) => event_name === name)?.id);
  const settled = await pending(stack, "--created", `q=${q}`, "--created", `s["y"]=${y}`);
  expect(settled.code, settled.output).toBe(0);
  stack.program(declared('eventName: "Q", value: 1', 'eventName: "Y", value: 1'));
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
});
