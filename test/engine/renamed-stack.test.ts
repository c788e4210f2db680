/** `pulumi stack rename`, and then a new stack of the former name on the same machine. */
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
