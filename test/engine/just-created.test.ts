/** Real runs on an installation whose reads lag behind its creates: what was just created is not gone. */
import { expect, it } from "vitest";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const operations = {
  event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" },
  advertiser: { read: "GET rest/advertiser/{id}", delete: "DELETE rest/advertiser/{id}" },
};
const POSTS = 4;

/** An advertiser, a single event, and a set of two. */
const shop = (eventName: string) =>
  program(`
const options = { retainOnDelete: false };
const a = new advertising.Advertiser("a", { advertiserName: "A" }, options);
new advertising.ConversionEvent("e", { eventName: "${eventName}", advertiserId: a, value: 1 }, options);
const events = { x: { eventName: "X", value: 1 }, y: { eventName: "Y", value: 1 } };
new advertising.ConversionEventSet("s", { advertiserId: a, events }, options);`);

/** Just after an `up`, while the installation answers as if nothing of it were there. */
async function start() {
  let laterMs = 0;
  const clock = () => Date.now() + laterMs;
  const sandbox = await useSandbox({ operations: true, readLagSeconds: 3600, clock });
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const stack = await newStack(shop("E"), { sandbox, environment });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  const catchUp = () => {
    laterMs = 3600_000;
  };
  return { sandbox, stack, catchUp };
}

const held = async (stack: TestStack) => (await stack.resources()).map(({ id, outputs }) => [id, outputs?.eventIds]);

async function expectKept(stack: TestStack, of: TestStack = stack) {
  const before = await held(of);
  const { code, output } = await stack.refresh();
  expect(code, output).toBe(0);
  const kept =
    /(Advertiser|ConversionEvent) \d( \(events\["\w"\]\))?\b.* just created: until 20\S+ that proves nothing/g;
  // Each is printed while it runs, and once more at the end.
  expect(new Set(output.match(kept)).size, output).toBe(POSTS);
  expect(output).not.toContain("leaves the state");
  expect(await held(of)).toEqual(before);
}

it("a refresh at once, on another machine too: each is kept, and the next up sends nothing; later, gone is believed", async () => {
  const { sandbox, stack, catchUp } = await start();
  await expectKept(stack);
  // There only the state says when it was created.
  await expectKept(await stack.onAnotherMachine(), stack);
  expect((await stack.up("--refresh")).code).toBe(0);
  expect(sandbox).toMatchObject({ creates: POSTS, updates: 0, deletes: 0 });

  catchUp();
  expect((await stack.refresh()).output).toMatch(/4 unchanged/);
  sandbox.reset();
  const atOnce = { ...operations, createdVisibleAfterSeconds: 0 };
  stack.setEnvironment({ ADVERTISING_OPERATIONS: JSON.stringify(atOnce) });
  const { code, output } = await stack.refresh();
  expect(code, output).toBe(0);
  expect(output).toMatch(/ConversionEvent \d is no longer on the platform/);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ creates: POSTS });
});

it("an update and a destroy at once fail, and lose nothing; later they go through", async () => {
  const { sandbox, stack, catchUp } = await start();
  stack.program(shop("F"));
  const early = await stack.up();
  expect(early.code).not.toBe(0);
  expect(early.output).toMatch(
    /ConversionEvent "e": the platform does not find \d, but it was just created: until 20\S+ that proves nothing\. Run this again/,
  );
  const before = await held(stack);
  for (const machine of [stack, await stack.onAnotherMachine()]) {
    const tooEarly = await machine.destroy();
    expect(tooEarly.code).not.toBe(0);
    expect(await held(stack)).toEqual(before);
  }
  catchUp();
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.events.map((each) => each.event_name)).toContain("F");
  expect((await stack.destroy()).code).toBe(0);
  expect(sandbox).toMatchObject({ creates: POSTS, advertisers: [], events: [] });
});
