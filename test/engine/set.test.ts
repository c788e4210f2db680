/** A set's life with Pulumi's own commands and options: nothing is sent but what is new, and what leaves is named with its id. */
import { expect, it } from "vitest";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const shop = (events: string, { options = "{}", name = "funnel", before = "", advertiserId = "1" } = {}) =>
  program(`${before}
const funnel = new advertising.ConversionEventSet("${name}", { advertiserId: ${advertiserId}, events: ${events} }, ${options});
exports.ids = funnel.eventIds;`);
const start = async (events: string) => {
  const advertisers = [1, 2].map((id) => ({ id, active: true }));
  const sandbox = await useSandbox({ objects: { advertisers, events: [] }, firstId: 11 });
  return { sandbox, stack: await newStack(shop(events), { sandbox }) };
};
const idsOf = async (stack: TestStack) => (await stack.outputs()).ids as Record<string, number>;

it("created, partly refused and completed, changed key by key: what a preview says comes true, and odd keys are keys", async () => {
  const keys = ["constructor", "valueOf", "a.b", `a"]["b`, "событие", "__x", "id", "urn", "1", "it's", "k".repeat(100)];
  const events = Object.fromEntries(keys.map((key, index) => [key, { eventName: `E${index}`, value: index }]));
  const { sandbox, stack } = await start(JSON.stringify(events));
  expect((await stack.preview()).code).toBe(0);
  expect(sandbox.requests).toHaveLength(0);
  const refusal = { kind: "answer", status: 406, body: { errors: ["the quota is used up"] } } as const;
  sandbox.fail({ on: "event", after: 4, with: refusal });
  const first = await stack.up();
  expect(first.code).not.toBe(0);
  expect(first.output).toContain(`${keys.length - 1} of ${keys.length} declared events are in the state`);
  expect(first.output).toContain("the quota is used up");
  expect(first.output).toContain("[ADVERTISING_REFUSED]");
  expect(sandbox.eventPosts).toBe(keys.length);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(keys.length + 1);
  const ids = await idsOf(stack);
  expect(Object.keys(ids).sort()).toEqual([...keys].sort());

  const { id: _, urn, ...others } = events;
  stack.program(shop(JSON.stringify({ new: { eventName: "N", value: 0 }, ...others, urn: { ...urn, value: 70 } })));
  const { output } = await stack.preview();
  expect(output).toContain(
    `events: 1 to create, 1 to replace, 1 to remove from the state, ${keys.length - 2} unchanged`,
  );
  expect(output).toMatch(new RegExp(`to replace, .*live.*: urn \\(${ids.urn}\\)`));
  expect(output).toContain(`to remove from the state: id (${ids.id})`);
  const up = await stack.up();
  expect(up.output).toContain("No longer managed after this run: 2 live events.");
  expect(up.output).toContain(`${ids.urn}: urn is ${(await idsOf(stack)).urn} now`);
  expect((await stack.up()).output).toMatch(/2 unchanged/);
  expect(sandbox.eventPosts).toBe(keys.length + 3);
});

it("renamed and moved with aliases, refreshed, protected, given another advertiser, destroyed: nothing is sent without need", async () => {
  const two = `{ a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 2 } }`;
  const { sandbox, stack } = await start(two);
  expect((await stack.up()).code).toBe(0);
  const ids = await idsOf(stack);
  const before = `class Shop extends pulumi.ComponentResource { constructor() { super("my:shop:Shop", "shop"); } }
const shop = new Shop();`;
  const inComponent = (protect: boolean) => ({
    name: "flow",
    before,
    options: `{ parent: shop, aliases: [{ name: "funnel", parent: pulumi.rootStackResource }], protect: ${protect} }`,
  });
  stack.program(shop(two, inComponent(true)));
  expect((await stack.up()).code).toBe(0);
  expect(await idsOf(stack)).toEqual(ids);
  const refreshed = await stack.refresh();
  expect(refreshed.code, refreshed.output).toBe(0);
  expect(refreshed.output).toContain("3 unchanged");
  expect((await stack.destroy()).output).toContain("protect");

  // By an Output, a preview can't know whether it is another one.
  const acme = `${before}\nconst acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });`;
  stack.program(shop(two, { ...inComponent(false), before: acme, advertiserId: "acme" }));
  const { output } = await stack.preview();
  expect(output).toContain("events: 2 perhaps to replace");
  expect(output).toContain(`a (${ids.a}), b (${ids.b})`);
  expect(sandbox.eventPosts).toBe(2);
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(up.output).toContain(`${ids.a}: a is`);
  const again = await stack.up();
  expect(again.output).toContain("4 unchanged");
  const now = await idsOf(stack);
  expect((await stack.destroy()).code).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 4 });
  expect(sandbox.events).toHaveLength(4);

  // What is created after that is another object, and that is said before.
  const preview = await stack.preview();
  for (const id of Object.values(now)) expect(preview.output).toContain(`was ${id} before`);
});
