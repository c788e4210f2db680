/** A key that is renamed with `formerKey`, in a set and in a catalog's file: nothing is sent, then or later. */
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

const shop = (events: object, sets: boolean) =>
  program(`
const shop = new advertising.Catalog("shop", { file: "shop.csv", sets: ${sets} });
const funnel = new advertising.ConversionEventSet("funnel", { advertiserId: 1, events: ${JSON.stringify(events)} });
exports.ids = funnel.eventIds;
exports.all = shop.eventIds;`);
const A = { eventName: "A", value: 1 };

it.each([false, true])("with the catalog's sets %s", async (sets) => {
  const objects = { advertisers: [{ id: 1, active: true }, { id: 10 }], events: [] };
  const sandbox = await useSandbox({ objects });
  const stack = await newStack(shop({ a: A, b: A }, sets), { sandbox });
  stack.write(
    "shop.csv",
    "key,advertiser,eventName,value\nbuy,Acme,Buy,5\nlook,Acme,Look,0\n",
  );
  await well(stack.up());
  const before = (await stack.outputs()) as {
    ids: Record<string, number>;
    all: Record<string, number>;
  };
  const { ids, all } = before;
  const posts = { advertiserPosts: 1, eventPosts: 4 };
  expect(sandbox).toMatchObject(posts);

  stack.program(shop({ a: A, c: { ...A, formerKey: "b" } }, sets));
  stack.write(
    "shop.csv",
    "key,formerKey,advertiser,eventName,value\npurchase,buy,Acme,Buy,5\nlook,,Acme,Look,0\n",
  );
  const renamed = await well(stack.previewAndUp());
  expect(renamed).toContain(`events: 1 to rename, 1 unchanged\n`);
  expect(renamed).toContain(`to rename: b → c (${ids.b})`);
  expect(renamed).not.toMatch(/to create|stays live|No longer|adopt/);
  const after = { ids: { a: ids.a, c: ids.b }, all: { purchase: all.buy, look: all.look } };
  expect([await stack.outputs(), sandbox]).toMatchObject([after, posts]);

  stack.program(shop({ a: A, c: A }, sets));
  stack.write(
    "shop.csv",
    "key,advertiser,eventName,value\npurchase,Acme,Buy,5\nlook,Acme,Look,0\n",
  );
  const last = await well(stack.previewAndUp());
  expect(last).not.toMatch(/to (create|update|replace|delete)|[+~-] \d/);
  expect([await stack.outputs(), sandbox]).toMatchObject([after, posts]);
});

it("after a kill of the first run: what it made is taken over under the new keys, and nothing is made twice", async () => {
  const objects = { advertisers: [{ id: 1, active: true }, { id: 10 }], events: [] };
  const sandbox = await useSandbox({ objects, authMode: "basic" });
  const environment = { ADVERTISING_AUTH_MODE: "basic", PULUMI_SKIP_CHECKPOINTS: "true" };
  const set = (events: object, before = "") =>
    program(
      `${before}\nexports.ids = new advertising.ConversionEventSet("funnel", { advertiserId: 1, events: ${JSON.stringify(events)} }).eventIds;`,
    );
  const named = (eventName: string, more: object = {}) => ({
    eventName,
    value: 1,
    ...more,
  });
  const stack = await newStack(set({ a: named("A"), b: named("B"), c: named("C") }), {
    sandbox,
    environment,
  });
  const lost = sandbox.fail({
    on: "event",
    act: true,
    after: 2,
    with: { kind: "no-answer" },
  });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  expect([sandbox.eventPosts, await stack.resources()]).toEqual([3, []]);

  // Another new resource comes first, and does not have to wait.
  const other = `new advertising.ConversionEvent("other", { eventName: "Other", advertiserId: 1, value: 1 });`;
  const renamed = {
    a2: named("A", { formerKey: "a" }),
    b2: named("B", { formerKey: "b" }),
    c2: named("C", { formerKey: "c" }),
  };
  stack.program(set(renamed, other));
  const output = await failed(stack.up("--continue-on-error"));
  expect(output).toMatch(
    /"funnel.*taken over.*: [abc]2 \(\d+\), [abc]2 \(\d+\)\. No create was sent/m,
  );
  expect(output).toContain("--created 'funnel/");
  expect(sandbox.eventPosts).toBe(4);
  const [key = ""] = /(?<=--created 'funnel\/)\w+/.exec(output) ?? [];
  const id = sandbox.events.find(
    ({ event_name }) => event_name === key[0]?.toUpperCase(),
  )?.id;
  await well(pendingCommand(stack, "--created", `funnel/${key}=${id}`));
  await well(stack.up());
  const ids = Object.fromEntries(
    ["A", "B", "C"].map((name) => [
      `${name.toLowerCase()}2`,
      sandbox.events.find(({ event_name }) => event_name === name)?.id,
    ]),
  );
  expect([await stack.outputs(), sandbox.eventPosts]).toEqual([{ ids }, 4]);
});
