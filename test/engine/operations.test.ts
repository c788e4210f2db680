/** Real runs on an installation that is known to have more than the documented operations. */
import { expect, it } from "vitest";
import { newStack, program, useSandbox, well } from "../support/stack.js";

const event = {
  read: "GET rest/event/{id}",
  update: "PUT rest/event/{id}",
  delete: "DELETE rest/event/{id}",
};
const advertiser = {
  read: "GET rest/advertiser/{id}",
  update: "PUT rest/advertiser/{id}",
  delete: "DELETE rest/advertiser/{id}",
};
const DELETED = 'deletionPolicy: "delete"';

it("a life: changed in place, drift seen and set back, replaced, deleted", async () => {
  const live = [{ id: 3, event_name: "Got", advertiser_id: 1, value: 1 }];
  const sandbox = await useSandbox({
    operations: true,
    objects: { advertisers: [], events: live },
  });
  const shop = (advertiserName: string, eventName: string, value = 1) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "${advertiserName}" });
const b = new advertising.Advertiser("b", { advertiserName: "Other" }, { dependsOn: a });
const owner = ${value === 1 ? "a" : "b"};
new advertising.ConversionEvent("e", { eventName: "${eventName}", advertiserId: owner, value: 1, segmentId: 7, ${DELETED} });
const events = { own: { eventName: "Own", value: 1 }, gone: { eventName: "Gone", value: 1 } };
if (${value} === 2) delete events.gone;
new advertising.ConversionEventSet("s", { advertiserId: pulumi.secret(a.advertiserId), events, ${DELETED} });
exports.value = advertising.ConversionEvent.get("got", 3).value;`);
  const operations = { createdVisibleAfterSeconds: 0, event, advertiser };
  const stack = await newStack(shop("A", "Purchase"), {
    sandbox,
    config: { "advertising:operations": operations },
  });
  await well(stack.up());
  const ids = await stack.ids();
  const named = (name: string) =>
    sandbox.events.find(({ event_name }) => event_name === name);

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
  expect(drift).toContain(
    `ConversionEvent "e" (${named("Buy")?.id}) was changed on the platform: segmentId 7 → none and value 1 → 99.`,
  );
  expect(await well(stack.up("--diff"))).toMatch(/value\s*: 99 => 1\b/);
  expect(named("Buy")).toMatchObject({ value: 1, segment_id: 7 });
  expect(sandbox).toMatchObject({ creates: 5, updates: 3 });

  const [bought, gone] = [named("Buy")?.id, named("Gone")?.id];
  stack.program(shop("B", "Buy", 2));
  const replacing = await well(stack.previewAndUp());
  expect(replacing).toContain(`${bought} will be deleted on the platform`);
  expect(replacing).toContain(`to delete on the platform: gone (${gone})`);
  expect(sandbox).toMatchObject({ creates: 6, deletes: 2 });
  expect(sandbox.events.map(({ event_name }) => event_name).sort()).toEqual([
    "Buy",
    "Got",
    "Own",
  ]);
});
