/** A set's life with Pulumi's own commands and options, and with checkpoints off: nothing is sent but what is new. */
import { expect, it } from "vitest";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

const shop = (events: object, { options = "{}", name = "funnel", before = "" } = {}) =>
  program(`${before}
const funnel = new advertising.ConversionEventSet("${name}", { advertiserId: 1, events: ${JSON.stringify(events)} }, ${options});
exports.ids = funnel.eventIds;`);

it("created, partly refused, completed, changed key by key and moved with an alias", async () => {
  const keys = [
    "constructor",
    "valueOf",
    "a.b",
    `a"]["b`,
    "событие",
    "__x",
    "id",
    "urn",
    "1",
    "it's",
    "k".repeat(100),
  ];
  const events = Object.fromEntries(
    keys.map((key, index) => [key, { eventName: `E${index}`, value: index }]),
  );
  const sandbox = await useSandbox({
    objects: { advertisers: [{ id: 1, active: true }, { id: 10 }], events: [] },
  });
  // The engine saves the state once, after it has ended the provider.
  const environment = { PULUMI_SKIP_CHECKPOINTS: "true" };
  const stack = await newStack(shop(events), { sandbox, environment });
  sandbox.fail({
    on: "event",
    after: 4,
    with: { kind: "answer", status: 406, body: { errors: ["the quota is used up"] } },
  });
  const first = await failed(stack.up());
  expect(first).toContain(" is incomplete.");
  expect(first).toContain("the quota is used up");
  expect(sandbox.eventPosts).toBe(keys.length);

  await well(stack.up());
  expect(sandbox.eventPosts).toBe(keys.length + 1);
  const { ids } = (await stack.outputs()) as { ids: Record<string, number> };
  expect(Object.keys(ids).sort()).toEqual([...keys].sort());

  const component = `class Shop extends pulumi.ComponentResource { constructor() { super("my:shop:Shop", "shop"); } }
const shop = new Shop();`;
  const aliases = `aliases: [{ name: "funnel", parent: pulumi.rootStackResource }]`;
  const inComponent = {
    name: "flow",
    before: component,
    options: `{ parent: shop, ${aliases} }`,
  };
  const { id: _, urn, ...others } = events;
  const changed = {
    new: { eventName: "N", value: 0 },
    ...others,
    urn: { ...urn, value: 70 },
  };
  stack.program(shop(changed, inComponent));
  const up = await well(stack.previewAndUp());
  expect(up).toContain(
    `events: 1 to create, 1 to replace, 1 to remove from the state, ${keys.length - 2} unchanged`,
  );
  expect(up).toMatch(new RegExp(`to replace: urn \\(${ids.urn}\\)`));
  expect(up).toContain(`to remove from the state: id (${ids.id})`);
  expect(up).toContain("No longer managed: 2 live events, ");
  expect(sandbox.eventPosts).toBe(keys.length + 3);
  expect(sandbox.events).toHaveLength(keys.length + 2);
});
