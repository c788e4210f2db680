import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

const funnel = (events: string, more = "") =>
  program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const funnel = new advertising.ConversionEventSet("funnel", { advertiserId: acme, ${more} events: ${events} });
exports.ids = funnel.eventIds;
`);

it("a set is created, and updated key by key; what a preview says comes true", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    funnel(`{ a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 2, clickWindow: 3600 } }`),
    { sandbox },
  );
  const first = await stack.preview();
  expect(first.output).toContain("events: 2 to create, 0 unchanged");
  expect(sandbox.requests).toHaveLength(0);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect(sandbox.events.map(({ click_window }) => click_window).sort()).toEqual([2592000, 3600]);
  const { ids } = (await stack.outputs()) as { ids: Record<string, number> };
  expect(Object.keys(ids)).toEqual(["a", "b"]);

  stack.program(funnel(`{ c: { eventName: "C", value: 2 }, a: { value: 3, eventName: "A" } }`));
  const second = await stack.preview();
  expect(second.output).toContain("events: 1 to create, 1 to replace, 1 to remove from the state, 0 unchanged");
  expect(second.output).toContain(`to replace, which makes 1 more live event: a (${ids.a})`);
  expect(second.output).toContain(`to remove from the state: b (${ids.b})`);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(4);

  const again = await stack.up();
  expect(again.output).toMatch(/3 unchanged/);
  expect(sandbox.eventPosts).toBe(4);
});
