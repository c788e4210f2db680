/** A set's life with Pulumi's own commands and options: nothing is sent but what is new, and removals are reported with ids. */
import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

const shop = (events: string, { options = "{}", name = "funnel", before = "", advertiserId = "1" } = {}) =>
  program(`${before}
const funnel = new advertising.ConversionEventSet("${name}", { advertiserId: ${advertiserId}, events: ${events} }, ${options});
exports.ids = funnel.eventIds;`);
const two = `{ a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 2 } }`;
const withAdvertisers = {
  objects: {
    advertisers: [
      { id: 1, active: true },
      { id: 2, active: true },
    ],
    events: [],
  },
  firstId: 11,
};

it("renamed and moved with aliases, refreshed, protected, destroyed: two POSTs in all", async () => {
  const sandbox = await useSandbox(withAdvertisers);
  const stack = await newStack(shop(two), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const { ids } = (await stack.outputs()) as { ids: Record<string, number> };

  const component = `class Shop extends pulumi.ComponentResource { constructor() { super("my:shop:Shop", "shop"); } }
const shop = new Shop();`;
  const inComponent = (protect: boolean) =>
    shop(two, {
      name: "flow",
      before: component,
      options: `{ parent: shop, aliases: [{ name: "funnel", parent: pulumi.rootStackResource }], protect: ${protect} }`,
    });
  stack.program(inComponent(true));
  const moved = await stack.up();
  expect(moved.code, moved.output).toBe(0);
  expect((await stack.outputs()).ids).toEqual(ids);

  const refreshed = await stack.refresh();
  expect(refreshed.code, refreshed.output).toBe(0);
  expect(refreshed.output).toContain("3 unchanged");
  expect((await stack.destroy()).output).toContain("protect");
  stack.program(inComponent(false));
  expect((await stack.up()).output).toContain("3 unchanged");
  expect((await stack.destroy()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect(sandbox.events).toHaveLength(2);

  // What is created after that is another object, and that is said before.
  const preview = await stack.preview();
  for (const id of Object.values(ids)) expect(preview.output).toContain(`was ${id} before`);
});

it("the preview of --replace says how many live objects that is; of another advertiser by an Output it can't know, and the up says what stays live", async () => {
  const sandbox = await useSandbox(withAdvertisers);
  const stack = await newStack(shop(two), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const [set] = await stack.resources();
  const replaced = await stack.preview("--replace", set?.urn ?? "");
  expect(replaced.output).toContain("events: 2 to create");
  expect(replaced.output).toContain("live object");
  expect(sandbox.eventPosts).toBe(2);

  const { ids } = (await stack.outputs()) as { ids: Record<string, number> };
  stack.program(
    shop(two, {
      before: `const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });`,
      advertiserId: "acme",
    }),
  );
  const { output } = await stack.preview();
  expect(output).toContain("events: 2 perhaps to replace");
  expect(output).toContain(`a (${ids.a}), b (${ids.b})`);
  expect(sandbox.eventPosts).toBe(2);
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(up.output).toContain("No longer managed after this run: 2 live events.");
  expect(up.output).toContain(`${ids.a}: a is`);
  expect(sandbox.eventPosts).toBe(4);
  expect((await stack.up()).output).toContain("3 unchanged");
});

it("part of it fails: saved, shown with its reason, and completed by the next run; odd keys are keys", async () => {
  const sandbox = await useSandbox(withAdvertisers);
  const keys = ["constructor", "valueOf", "a.b", `a"]["b`, "событие", "__x", "id", "urn", "1", "it's", "k".repeat(100)];
  const events = Object.fromEntries(keys.map((key, index) => [key, { eventName: `E${index}`, value: index }]));
  const stack = await newStack(shop(JSON.stringify(events)), { sandbox });
  sandbox.fail({
    on: "event",
    after: 4,
    with: { kind: "answer", status: 406, body: { errors: ["the quota is used up"] } },
  });
  const first = await stack.up();
  expect(first.code).not.toBe(0);
  expect(first.output).toContain(`${keys.length - 1} of ${keys.length} declared events are in the state`);
  expect(first.output).toContain("the quota is used up");
  expect(first.output).toContain("[ADVERTISING_REFUSED]");
  expect(sandbox.eventPosts).toBe(keys.length);
  const second = await stack.up();
  expect(second.code, second.output).toBe(0);
  expect(sandbox.eventPosts).toBe(keys.length + 1);
  const { ids } = (await stack.outputs()) as { ids: Record<string, number> };
  expect(Object.keys(ids).sort()).toEqual([...keys].sort());
  expect((await stack.up()).output).toContain("2 unchanged");
});
