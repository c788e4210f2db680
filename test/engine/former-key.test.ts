/** A key that is renamed with `formerKey`, in a set and in a catalog's file: nothing is sent, then or later. */
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

/** Two catalogs, with single events and with sets, and a set of the program's own. */
const shop = (events: object) =>
  program(`
const [shoes, hats] = [["shoes", false], ["hats", true]].map(([name, sets]) =>
  new advertising.Catalog(name, { file: name + ".csv", sets }));
const funnel = new advertising.ConversionEventSet("funnel", { advertiserId: 1, events: ${JSON.stringify(events)} });
exports.funnel = funnel.eventIds;
exports.shoes = shoes.eventIds;
exports.hats = hats.eventIds;`);
const A = { eventName: "A", value: 1 };

type Ids = Readonly<Record<string, number>>;

it("in a set, and in catalogs of single events and of sets: nothing is sent, then or later", async () => {
  const objects = { advertisers: [{ id: 1, active: true }, { id: 10 }], events: [] };
  const sandbox = await useSandbox({ objects });
  const stack = await newStack(shop({ a: A, b: A }), { sandbox });
  const write = (...rows: readonly string[]) => {
    for (const name of ["shoes", "hats"])
      stack.write(`${name}.csv`, rows.join("\n").replaceAll("ADVERTISER", name));
  };
  const buy = "ADVERTISER,Buy,5";
  const look = "ADVERTISER,Look,0";
  write("key,advertiser,eventName,value", `buy,${buy}`, `look,${look}`);
  await well(stack.up());
  const before = (await stack.outputs()) as Record<"funnel" | "shoes" | "hats", Ids>;
  const posts = { advertiserPosts: 2, eventPosts: 6 };
  expect(sandbox).toMatchObject(posts);

  stack.program(shop({ a: A, c: { ...A, formerKey: "b" } }));
  write("key,formerKey,advertiser,eventName,value", `purchase,buy,${buy}`, `look,,${look}`);
  const renamed = await well(stack.previewAndUp());
  expect(renamed).toContain("events: 1 to rename, 1 unchanged\n");
  for (const each of [`b → c (${before.funnel.b})`, `buy → purchase (${before.hats.buy})`])
    expect(renamed).toContain(`to rename: ${each}`);
  expect(renamed).not.toMatch(/to create|stays live|No longer|adopt/);
  const after = {
    funnel: { a: before.funnel.a, c: before.funnel.b },
    shoes: { purchase: before.shoes.buy, look: before.shoes.look },
    hats: { purchase: before.hats.buy, look: before.hats.look },
  };
  expect([await stack.outputs(), sandbox]).toMatchObject([after, posts]);

  stack.program(shop({ a: A, c: A }));
  write("key,advertiser,eventName,value", `purchase,${buy}`, `look,${look}`);
  const last = await well(stack.up());
  expect(last).toMatch(/^Resources:\n +\d+ unchanged\n/m);
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
