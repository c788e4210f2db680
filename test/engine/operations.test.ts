/** Real runs on an installation that is known to have more than the documented operations. */
import { expect, it } from "vitest";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

const event = { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" };
const advertiser = {
  read: "GET rest/advertiser/{id}",
  update: "PUT rest/advertiser/{id}",
  delete: "DELETE rest/advertiser/{id}",
};
const DELETED = "{ retainOnDelete: false }";

it("a life: changed in place, drift seen and set back, trouble in a refresh, replaced, deleted, gone", async () => {
  const live = [{ id: 3, event_name: "Got", advertiser_id: 1, value: 1 }];
  const sandbox = await useSandbox({ operations: true, objects: { advertisers: [], events: live } });
  const shop = (advertiserName: string, eventName: string, value = 1) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "${advertiserName}" });
const b = new advertising.Advertiser("b", { advertiserName: "Other" }, { dependsOn: a });
const owner = ${value === 1 ? "a" : "b"};
new advertising.ConversionEvent("e", { eventName: "${eventName}", advertiserId: owner, value: 1, segmentId: 7 }, ${DELETED});
const events = { own: { eventName: "Own", value: 1 }, gone: { eventName: "Gone", value: 1 } };
if (${value} === 2) delete events.gone;
new advertising.ConversionEventSet("s", { advertiserId: pulumi.secret(a.advertiserId), events }, ${DELETED});
exports.value = advertising.ConversionEvent.get("got", 3).value;`);
  const operations = { createdVisibleAfterSeconds: 0, event, advertiser };
  const stack = await newStack(shop("A", "Purchase"), { sandbox, config: { "advertising:operations": operations } });
  await well(stack.up());
  const ids = await stack.ids();
  const named = (name: string) => sandbox.events.find(({ event_name }) => event_name === name);

  // The advertiser's id is an Output: a preview knows that it stays.
  stack.program(shop("B", "Buy"));
  const inPlace = await well(stack.previewAndUp());
  expect(inPlace).toMatch(/~ 2 to update\n/);
  expect(inPlace).not.toMatch(/stays live|replace/);
  expect(await stack.ids()).toEqual(ids);
  expect(await stack.outputs()).toEqual({ value: 1 });
  expect(sandbox).toMatchObject({ creates: 5, updates: 2 });

  Object.assign(named("Buy") ?? {}, { value: 99, segment_id: null });
  const drift = await well(stack.refresh());
  expect(drift).toContain("was changed on the platform (segmentId and value)");
  expect(await well(stack.previewAndUp("--diff"))).toMatch(/value\s*: 99 => 1\b/);
  expect(named("Buy")).toMatchObject({ value: 1, segment_id: 7 });
  expect(sandbox).toMatchObject({ creates: 5, updates: 3 });

  // Trouble takes nothing out of the state, alone or in a set.
  sandbox.fail({
    on: "read",
    with: { kind: "answer", status: 403, body: { message: "not found, or you may not see it" } },
    times: 1000,
  });
  await failed(stack.refresh());
  expect(await stack.ids()).toEqual(ids);
  sandbox.endFaults();

  const [bought, gone] = [named("Buy")?.id, named("Gone")?.id];
  stack.program(shop("B", "Buy", 2));
  const replacing = await well(stack.previewAndUp());
  expect(replacing).toContain(`is to be replaced. ${bought} is deleted on the platform`);
  expect(replacing).toContain(`to delete, if everything else goes well: gone (${gone})`);
  expect(sandbox).toMatchObject({ creates: 6, deletes: 2 });
  expect(sandbox.events.map(({ event_name }) => event_name).sort()).toEqual(["Buy", "Got", "Own"]);

  sandbox.reset();
  expect(await well(stack.refresh())).toMatch(/ConversionEvent \d is no longer on the platform/);
  expect(Object.keys(await stack.ids())).toEqual(["s"]);
});

it("just created, where reads lag behind: a refresh keeps it, and an update and a destroy fail; later they go through", async () => {
  let laterMs = 0;
  const sandbox = await useSandbox({ operations: true, readLagSeconds: 3600, clock: () => Date.now() + laterMs });
  const shop = (eventName: string) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" }, ${DELETED});
new advertising.ConversionEvent("e", { eventName: "${eventName}", advertiserId: a, value: 1 }, ${DELETED});
const events = { x: { eventName: "X", value: 1 }, y: { eventName: "Y", value: 1 } };
new advertising.ConversionEventSet("s", { advertiserId: a, events }, ${DELETED});`);
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify({ event, advertiser }) };
  const stack = await newStack(shop("E"), { sandbox, environment });
  await well(stack.up());
  const ids = await stack.ids();
  // On another machine only the state says when it was created.
  const output = await well((await stack.onAnotherMachine()).refresh());
  const kept =
    /(Advertiser|ConversionEvent) \d( \(events\["\w"\]\))?\b.* just created: until 20\S+ that proves nothing/g;
  expect(new Set(output.match(kept)).size, output).toBe(4);
  stack.program(shop("F"));
  expect(await failed(stack.up())).toMatch(/just created: until 20\S+ that proves nothing\. Run this again/);
  await failed(stack.destroy());
  expect(await stack.ids()).toEqual(ids);
  laterMs = 3600_000;
  await well(stack.destroy());
  expect(sandbox).toMatchObject({ creates: 4, advertisers: [], events: [] });
});

it("deleteBeforeReplace: what is retained is left live before its replacement is sent, and what is not is deleted", async () => {
  const sandbox = await useSandbox({ operations: true });
  /** `q` only depends on `p`; `p` takes its advertiser's id. */
  const shop = (advertiserName: string) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "${advertiserName}" }, { deleteBeforeReplace: true });
const p = new advertising.ConversionEvent("p", { eventName: "P", advertiserId: a.advertiserId, value: 1 });
new advertising.ConversionEvent("q", { eventName: "Q", advertiserId: 1, value: 1 }, { dependsOn: p });
const d = new advertising.Advertiser("d", { advertiserName: "D${advertiserName}" }, { deleteBeforeReplace: true, ...${DELETED} });`);
  const operations = {
    createdVisibleAfterSeconds: 0,
    event: { delete: event.delete },
    advertiser: { delete: advertiser.delete },
  };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const stack = await newStack(shop("A"), { sandbox, environment });
  await well(stack.up("--parallel", "1"));
  const { a, p, q } = await stack.ids();
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 2 });

  stack.program(shop("B"));
  const refusal = { kind: "answer", status: 406, body: { errors: ["not now"] } } as const;
  sandbox.fail({ on: "advertiser", times: 2, with: refusal });
  await failed(stack.up("--continue-on-error"));
  expect(sandbox).toMatchObject({ advertiserPosts: 4, eventPosts: 2 });
  const output = await well(stack.up());
  for (const id of [a, p]) expect(output).toContain(`${id} stays live`);
  expect(await stack.ids()).toMatchObject({ q });
  expect(sandbox).toMatchObject({ advertiserPosts: 6, eventPosts: 3, deletes: 1 });
  expect(sandbox.advertisers).toHaveLength(3);
  expect(sandbox.events).toHaveLength(3);
});

it("runs of some targets, and a destroy: what another resource has, or may adopt, keeps its object", async () => {
  const objects = { advertisers: [{ id: 1, advertiser_name: "X", active: true }], events: [] };
  const sandbox = await useSandbox({ operations: true, objects });
  const single = (name: string, value: number, more = "") =>
    `new advertising.ConversionEvent("${name}", { eventName: "A", advertiserId: 1, value: ${value}, ${more} }, ${more === "" ? DELETED : "{}"});`;
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify({ event: { read: event.read, delete: event.delete } }) };
  const stack = await newStack(program(single("a", 1)), { sandbox, environment });
  await well(stack.up());
  const { a: id } = await stack.ids();
  const [{ urn = "" } = {}] = await stack.resources();
  // `a` is replaced, and what adopts its object is no target.
  const adopting = (value: number) => program(single("a", value) + single("b", 1, `existingId: ${id}`));
  stack.program(adopting(2));
  const output = await well(stack.up("--target", urn));
  expect(output).not.toMatch(/to create/);
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
  await well(stack.up());
  expect(await stack.ids()).toMatchObject({ b: id });
  expect(await well(stack.destroy())).toContain("[retain]");
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1, events: [{ id: Number(id) }] });
});
