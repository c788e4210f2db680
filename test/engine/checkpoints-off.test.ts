/** PULUMI_SKIP_CHECKPOINTS: the engine saves the state once, after it has ended the provider. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pendingCommand } from "../support/recovery.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const OBJECTS = 5;
const shop = program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: a.advertiserId, value: 1 });
new advertising.ConversionEventSet("s", {
  advertiserId: a.advertiserId,
  events: { x: { eventName: "X", value: 1 }, y: { eventName: "Y", value: 1 }, z: { eventName: "Z", value: 1 } },
});`);

/** A set's own id is no object's. */
async function idsIn(stack: TestStack) {
  return (await stack.resources()).map(({ id, outputs }) => outputs?.eventIds ?? id);
}

it("killed after the provider has ended and before the state is saved: the next run takes everything over", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop, { sandbox, environment: { PULUMI_SKIP_CHECKPOINTS: "true" } });
  const [backend, before] = [join(stack.folder, "backend"), join(stack.folder, "before")];
  cpSync(backend, before, { recursive: true });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(sandbox.creates).toBe(OBJECTS);
  const ids = await idsIn(stack);
  expect(await pendingCommand(stack)).toMatchObject({ code: 0 });

  // What a kill between the two leaves: the state as it was.
  rmSync(backend, { recursive: true });
  cpSync(before, backend, { recursive: true });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(output).toContain("nothing is sent");
  expect(sandbox.creates).toBe(OBJECTS);
  expect(await idsIn(stack)).toEqual(ids);

  // Pulumi shows nothing of the state if it is asked for a replacement: that could be a state that was not saved.
  const urn = (await stack.resources()).find((each) => each.urn.endsWith("::e"))?.urn ?? "";
  expect((await stack.up("--replace", urn)).output).toMatch(
    /"e" was created as \d+ by an earlier run; it is taken over/,
  );
  expect(sandbox.creates).toBe(OBJECTS);

  // Once a run has seen it in the state, the notes are history.
  const again = await stack.up();
  expect(again.output).toContain(`${OBJECTS - 1} unchanged`);
  expect(again.output).not.toMatch(/earlier run|interrupted|warning/);
  expect((await stack.up("--replace", urn)).output).not.toContain("taken over");
  expect(sandbox.creates).toBe(OBJECTS + 1);
});

it("what the next run removes is no create that an interrupted run has left", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop, { sandbox, environment: { PULUMI_SKIP_CHECKPOINTS: "true" } });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const less = shop.replace(/new advertising\.ConversionEvent\("e".*\n/, "");
  expect(less).not.toBe(shop);
  stack.program(less);
  for (const run of [stack.preview, stack.up, stack.preview]) {
    const { code, output } = await run();
    expect(code, output).toBe(0);
    expect(output).not.toMatch(/interrupted/i);
  }
  expect((await pendingCommand(stack)).code).toBe(0);
  expect(sandbox.creates).toBe(OBJECTS);
});
