/** A key that is renamed with `formerKey`, in a set and in a catalog's file: nothing is sent, then or later. */
import { expect, it } from "vitest";
import { newStack, program, useSandbox, well } from "../support/stack.js";

const shop = (events: object, sets: boolean) =>
  program(`
const shop = new advertising.Catalog("shop", { file: "shop.csv", sets: ${sets} });
const funnel = new advertising.ConversionEventSet("funnel", { advertiserId: 1, events: ${JSON.stringify(events)} });
exports.ids = funnel.eventIds;
exports.all = shop.eventIds;`);
const A = { eventName: "A", value: 1 };

it.each([false, true])("with the catalog's sets %s", async (sets) => {
  const objects = { advertisers: [{ id: 1, active: true }], events: [] };
  const sandbox = await useSandbox({ objects, firstId: 11 });
  const stack = await newStack(shop({ a: A, b: A }, sets), { sandbox });
  stack.write("shop.csv", "key,advertiser,eventName,value\nbuy,Acme,Buy,5\nlook,Acme,Look,0\n");
  await well(stack.up());
  const before = (await stack.outputs()) as { ids: Record<string, number>; all: Record<string, number> };
  const { ids, all } = before;
  const posts = { advertiserPosts: 1, eventPosts: 4 };
  expect(sandbox).toMatchObject(posts);

  stack.program(shop({ a: A, c: { ...A, formerKey: "b" } }, sets));
  stack.write("shop.csv", "key,formerKey,advertiser,eventName,value\npurchase,buy,Acme,Buy,5\nlook,,Acme,Look,0\n");
  const renamed = await well(stack.previewAndUp());
  expect(renamed).toContain(`events: 1 to rename, 1 unchanged\n`);
  expect(renamed).toContain(`to rename, and nothing is sent: b → c (${ids.b})`);
  expect(renamed).not.toMatch(/to create|stays live|No longer|adopt/);
  const after = { ids: { a: ids.a, c: ids.b }, all: { purchase: all.buy, look: all.look } };
  expect([await stack.outputs(), sandbox]).toMatchObject([after, posts]);

  stack.program(shop({ a: A, c: A }, sets));
  stack.write("shop.csv", "key,advertiser,eventName,value\npurchase,Acme,Buy,5\nlook,Acme,Look,0\n");
  const last = await well(stack.previewAndUp());
  expect(last).not.toMatch(/to (create|update|replace|delete)|[+~-] \d/);
  expect([await stack.outputs(), sandbox]).toMatchObject([after, posts]);
});
