/** `pulumi stack rename`, and then a new stack of the former name on the same machine. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pendingCommand } from "../support/recovery.js";
import { newStack, program, useSandbox } from "../support/stack.js";

const shop = program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const options = { retainOnDelete: false };
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: a.advertiserId, value: 1 }, options);
new advertising.ConversionEventSet("s", {
  advertiserId: a.advertiserId,
  events: { x: { eventName: "X", value: 1 }, y: { eventName: "Y", value: 1 } },
}, options);`);
const OBJECTS = 4;
const OPERATIONS = JSON.stringify({ event: { delete: "DELETE rest/event/{id}" } });

it.each(["up", "pending"] as const)(
  "with checkpoints off, the new stack creates its own objects after `%s` of the renamed one, and its destroy deletes no other ones",
  async (between) => {
    const sandbox = await useSandbox({ operations: true });
    const environment = { PULUMI_SKIP_CHECKPOINTS: "true", ADVERTISING_OPERATIONS: OPERATIONS };
    const stack = await newStack(shop, { sandbox, environment });
    const runs = async (...args: string[]) => {
      const { code, output } = await stack.run(args);
      expect(code, output).toBe(0);
      return output;
    };
    expect((await stack.up()).code).toBe(0);
    await runs("stack", "rename", "prod");
    if (between === "up") expect((await stack.up()).output).toContain(`${OBJECTS} unchanged`);
    else {
      const { code, output } = await pendingCommand(stack);
      expect(output).toMatch(/^Nothing is pending: .*\n$/);
      expect(code).toBe(0);
    }

    await runs("stack", "init", "dev");
    expect(await runs("preview")).not.toMatch(/earlier run|interrupted|second live/);
    await runs("up", "--yes", "--skip-preview");
    expect(sandbox.creates).toBe(2 * OBJECTS);
    await runs("destroy", "--yes", "--skip-preview");
    expect(sandbox.deletes).toBe(OBJECTS - 1);

    await runs("stack", "select", "prod");
    expect(await runs("up", "--yes", "--skip-preview")).toContain(`${OBJECTS} unchanged`);
    const { resources } = JSON.parse(await runs("stack", "export")).deployment as {
      resources: { id?: string; outputs?: { eventIds?: Record<string, number> } }[];
    };
    const events = resources.flatMap(({ id, outputs }) => Object.values(outputs?.eventIds ?? { id }).map(Number));
    const live = sandbox.events.map(({ id }) => id);
    expect(live).toHaveLength(OBJECTS - 1);
    expect(events).toEqual(expect.arrayContaining(live));
    expect(sandbox).toMatchObject({ creates: 2 * OBJECTS, deletes: OBJECTS - 1 });
  },
);

it("what a killed run created is taken over after `pulumi stack rename` if `pending` is answered in between", async () => {
  const sandbox = await useSandbox();
  const environment = { PULUMI_SKIP_CHECKPOINTS: "true" };
  const stack = await newStack(shop.replace(/const options(.|\n)*/, "").replace("const a = ", ""), {
    sandbox,
    environment,
  });
  expect((await stack.up()).code).toBe(0);
  const [backend, before] = [join(stack.folder, "backend"), join(stack.folder, "before")];
  cpSync(backend, before, { recursive: true });
  stack.program(shop.replaceAll(", options", ""));
  expect((await stack.up()).code).toBe(0);
  // What a kill leaves before the state is saved.
  rmSync(backend, { recursive: true });
  cpSync(before, backend, { recursive: true });

  expect((await stack.run(["stack", "rename", "prod"])).code).toBe(0);
  const listed = await pendingCommand(stack);
  expect(listed.output).toMatch(/^3 creates reached the platform, and your answer is missing:/);
  expect(listed.code).toBe(1);
  const answered = await pendingCommand(stack, "--created", "e", "--created", "s");
  expect(answered, answered.output).toMatchObject({ code: 0 });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(output).toContain("nothing is sent");
  expect(sandbox.creates).toBe(OBJECTS);
  expect(await pendingCommand(stack)).toMatchObject({ code: 0 });
});
