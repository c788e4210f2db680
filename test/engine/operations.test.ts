/** Real runs on an installation that is known to have more than the documented operations. */
import { expect, it } from "vitest";
import type { Fault } from "../../provider/src/sandbox/index.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const ALL = {
  createdVisibleAfterSeconds: 0,
  event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" },
  advertiser: { read: "GET rest/advertiser/{id}" },
};

async function start(text: string, operations: object = ALL, options: Parameters<typeof useSandbox>[0] = {}) {
  const sandbox = await useSandbox({ operations: true, ...options });
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  return { sandbox, stack: await newStack(text, { sandbox, environment }) };
}

const shop = (eventName: string, options = "{}") =>
  program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const e = new advertising.ConversionEvent("e", { eventName: "${eventName}", advertiserId: a, value: 1 }, ${options});
exports.id = e.eventId;`);

const upWell = async (stack: TestStack, ...args: string[]) => {
  const { code, output } = await stack.up(...args);
  expect(code, output).toBe(0);
  return output;
};

it("a life: renamed in place, drift seen and set back, gone and created again, replaced where that is asked for, deleted", async () => {
  const { sandbox, stack } = await start(shop("Purchase"));
  await upWell(stack);
  const { id } = await stack.outputs();

  stack.program(shop("Buy"));
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 2, updates: 1, events: [{ id, event_name: "Buy" }] });
  expect((await stack.outputs()).id).toBe(id);

  Object.assign(sandbox.events[0] ?? {}, { value: 99 });
  expect((await stack.refresh()).output).toContain("was changed on the platform (value)");
  // The engine goes on to show it, since it holds what a refresh finds against the program.
  expect((await stack.refresh()).output).not.toContain("was changed on the platform");
  await upWell(stack);
  expect(sandbox.events).toMatchObject([{ id, value: 1 }]);
  expect(sandbox).toMatchObject({ creates: 2, updates: 2 });

  stack.program(shop("Order", `{ replaceOnChanges: ["eventName"], retainOnDelete: false }`));
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 3, updates: 2 });
  // The option was new: the object of before still had it to be retained.
  const [, current] = sandbox.events;
  stack.program(shop("Last", `{ replaceOnChanges: ["eventName"], retainOnDelete: false }`));
  const deleted = `${current?.id} is deleted on the platform`;
  const told = await stack.preview();
  expect(told.output).toContain(`The replacement creates another live object, and ${deleted}`);
  expect(told.output).not.toContain("stays live");
  expect(await upWell(stack)).toContain(`${deleted} at the end of this run`);
  expect(JSON.stringify(await stack.resources())).not.toContain(`{"id":"${current?.id}"`);
  expect(sandbox.events.map((each) => each.id)).not.toContain(current?.id);
  expect(sandbox).toMatchObject({ creates: 4, deletes: 1 });

  const last = sandbox.events.at(-1)?.id;
  stack.program(program(`const a = new advertising.Advertiser("a", { advertiserName: "A" });`));
  expect(await upWell(stack)).toContain(
    `ConversionEvent "e" is no longer declared. If event ${last} leaves the state, it is deleted`,
  );
  expect(sandbox.events.map((each) => each.id)).not.toContain(last);
  expect(sandbox).toMatchObject({ creates: 4, deletes: 2, advertisers: [{ id: 1 }] });
});

it("R8: an argument without a default that is gone on the platform is set back, of a single event, of a set's, and of a set's defaults", async () => {
  const shared = "advertiserId: 1, defaults: { segmentId: 5 }";
  const events = '{ own: { eventName: "Own", value: 1, segmentId: 7 }, shared: { eventName: "Shared", value: 1 } }';
  const { sandbox, stack } = await start(
    program(`
new advertising.ConversionEvent("e", { advertiserId: 1, eventName: "E", value: 1, segmentId: 7 });
new advertising.ConversionEventSet("s", { ${shared}, events: ${events} });`),
    ALL,
    { objects: { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] } },
  );
  await upWell(stack);
  const segments = () => Object.fromEntries(sandbox.events.map((each) => [each.event_name, each.segment_id]));
  const before = segments();
  expect(before).toEqual({ E: 7, Own: 7, Shared: 5 });
  for (const each of sandbox.events) Object.assign(each, { segment_id: null });

  const { code, output } = await stack.refresh();
  expect(code, output).toBe(0);
  const told = /\S+ \S+ "\w" \(\d\) was changed on the platform \(segmentId\): the next `pulumi up` sets it back/g;
  expect(new Set(output.match(told)).size, output).toBe(3);
  expect((await stack.refresh()).output).not.toContain("was changed on the platform");
  await upWell(stack);
  expect(segments()).toEqual(before);
  expect(sandbox).toMatchObject({ eventPosts: 3, updates: 3 });
  expect((await stack.preview()).output).toMatch(/3 unchanged/);
});

it("a plain refresh has the configuration of the last up, and says so; with --run-program that of now", async () => {
  const sandbox = await useSandbox({ operations: true });
  const stack = await newStack(shop("Purchase"), { sandbox });
  await upWell(stack);
  await stack.run(["config", "set", "--path", "advertising:operations.event.read", ALL.event.read]);
  const { output } = await stack.refresh();
  expect(output).toContain(
    "A refresh uses the configuration of the last `pulumi up`; with --run-program it uses the current one.",
  );
  expect(sandbox.reads).toBe(0);
  expect((await stack.refresh("--run-program")).output).toMatch(/3 unchanged/);
  expect(sandbox).toMatchObject({ reads: 1, creates: 2 });
});

const funnel = (keys: string) => `
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const events = {};
for (const key of "${keys}") events[key] = { eventName: key, value: 1 };
new advertising.ConversionEventSet("f", { advertiserId: a, events }, { retainOnDelete: false });`;
const kept = `
new advertising.ConversionEventSet("k", { advertiserId: a, events: { x: { eventName: "x", value: 1 }, y: { eventName: "y", value: 1 } } });`;

it("a set with retainOnDelete: false takes along what it lets go of, and all of it when it is removed; without, its events stay live in a destroy too", async () => {
  const { sandbox, stack } = await start(program(funnel("abcd") + kept));
  await upWell(stack);
  stack.program(program(funnel("abc") + kept));
  expect((await stack.preview()).output).toMatch(/to delete, if everything else goes well: d \(\d+\)/);
  expect(sandbox.deletes).toBe(0);
  expect(await upWell(stack)).toContain("Deleted on the platform, as retainOnDelete: false says: 1 event");
  const names = () => sandbox.events.map(({ event_name }) => event_name).sort();
  expect(names()).toEqual(["a", "b", "c", "x", "y"]);
  // One moves out of the set that is removed.
  const moved = sandbox.events.find(({ event_name }) => event_name === "a")?.id;
  stack.program(
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
new advertising.ConversionEvent("a", { eventName: "a", advertiserId: a, value: 1, existingId: ${moved} });${kept}`),
  );
  expect(await upWell(stack)).not.toContain("stays live");
  expect(names()).toEqual(["a", "x", "y"]);
  expect(sandbox).toMatchObject({ eventPosts: 6, deletes: 3 });

  expect((await stack.destroy()).code).toBe(0);
  expect(await stack.resources()).toEqual([]);
  expect(sandbox).toMatchObject({ eventPosts: 6, deletes: 3 });
});

it("R2, R5: a set does not delete an object whose delete was refused, and that another resource has adopted since; a destroy does not either", async () => {
  const set = (...keys: string[]) => program(funnel(keys.join("")));
  const { sandbox, stack } = await start(set("a", "b"));
  await upWell(stack);
  const id = sandbox.events.find(({ event_name }) => event_name === "a")?.id;
  stack.program(set("b"));
  const refusal: Fault = { kind: "answer", status: 406, body: { success: false, errors: ["in use"] } };
  const refused = sandbox.fail({ on: "delete", act: false, with: refusal });
  expect((await stack.up()).output).toContain("in use");
  expect(refused.hits).toBe(1);
  const attempts = () =>
    sandbox.requests.filter(({ method, path }) => method === "DELETE" && path.endsWith(`/${id}`)).length;
  expect(attempts()).toBe(1);

  const adopting = `new advertising.ConversionEvent("x", { eventName: "a", advertiserId: a, value: 1, existingId: ${id} });`;
  stack.program(set("b") + adopting);
  expect((await stack.preview()).output).not.toMatch(new RegExp(`${id}.*deleted`));
  await upWell(stack);
  expect((await stack.run(["destroy", "--preview-only"])).output).toMatch(/ x delete\[retain\]/);
  expect((await stack.destroy()).code).toBe(0);
  expect(attempts()).toBe(1);
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 2, events: [{ id }] });
});

it("R5: what is replaced, in either order, stays live, as was said, if only a transformation gave retainOnDelete: false", async () => {
  const text = (value: number) =>
    program(`
pulumi.runtime.registerStackTransformation(({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: false } }));
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: 1, value: ${value} });
new advertising.ConversionEvent("f", { eventName: "F", advertiserId: 1, value: ${value} }, { deleteBeforeReplace: true });`);
  const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
  const { sandbox, stack } = await start(text(1), { event: { delete: ALL.event.delete } }, { objects });
  await upWell(stack);
  const former = sandbox.events;
  stack.program(text(2));
  const { output: previewed } = await stack.preview();
  const output = await upWell(stack);
  for (const { id } of former) {
    for (const told of [previewed, output]) expect(told).toContain(`${id} stays live on the platform`);
  }
  // Of each, while it runs and at the end.
  expect(output.match(/retainOnDelete: false was not given to the resource itself/g)).toHaveLength(4);
  expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 0 });
  const state = JSON.stringify(await stack.resources());
  for (const { id, event_name } of former) expect(state).toContain(`"id":"${id}","name":"${event_name}"`);
  // Nothing was said of the new ones, and Pulumi's own list shows that they are deleted.
  expect((await stack.destroy()).code).toBe(0);
  expect(sandbox).toMatchObject({ deletes: 2, events: former });
});

const UPDATES = { event: { update: "PUT rest/event/{id}" }, advertiser: { update: "PUT rest/advertiser/{id}" } };
const owned = (name: string, { option = "", owner = "a", other = "Other" } = {}) =>
  program(`
const a = new advertising.Advertiser("a", { advertiserName: "${name}" }, { ${option} });
const b = new advertising.Advertiser("b", { advertiserName: "${other}" });
new advertising.ConversionEvent("by", { eventName: "By", advertiserId: ${owner}, value: 1 }, { protect: ${owner === "a" && option === ""} });
new advertising.ConversionEvent("of", { eventName: "Of", advertiserId: ${owner}.advertiserId, value: 1 });
const events = { x: { eventName: "X", value: 1 }, y: { eventName: "Y", value: 1 } };
new advertising.ConversionEventSet("s", { advertiserId: ${owner}, events });`);

/** The advertiser's id in every way in which programs hand it on. */
const HANDED_ON = `
const ids = {
  all: pulumi.all([a.advertiserId, b.advertiserId]).apply(([id]) => id),
  apply: a.advertiserId.apply((id) => id),
  text: pulumi.interpolate\`\${a.advertiserId}\`,
  secret: pulumi.secret(a.advertiserId),
};
for (const [key, advertiserId] of Object.entries(ids)) {
  new advertising.ConversionEvent(key, { advertiserId, eventName: key, value: 1 });
  new advertising.ConversionEventSet(key, { advertiserId, events: { x: { eventName: key + " x", value: 1 } } });
}
new advertising.Catalog("c", { file: "c.json" });`;

it("an advertiser that is renamed in place keeps its events and sets as they are, in the preview too", async () => {
  const { sandbox, stack } = await start(owned("A") + HANDED_ON, UPDATES);
  const catalog = (advertiserName: string) => {
    const C = { advertiserName, events: { x: { eventName: "CX", value: 1 } } };
    stack.write("c.json", JSON.stringify({ advertisers: { C } }));
  };
  catalog("C");
  await upWell(stack);
  const ids = async () => (await stack.resources()).map(({ id, outputs }) => [id, outputs?.eventIds]);
  const before = await ids();

  stack.program(owned("B") + HANDED_ON);
  catalog("D");
  const { code, output } = await stack.preview();
  expect(code, output).toBe(0);
  expect(output).toMatch(/~ .*Advertiser +a +update/);
  expect(output).toMatch(/~ 2 to update\n +15 unchanged/);
  expect(output).not.toMatch(/stays live|anew|replace/);
  expect(await upWell(stack)).not.toContain("stays live");
  expect(sandbox).toMatchObject({ creates: 16, updates: 2 });
  expect(sandbox.advertisers.map((each) => each.advertiser_name).sort()).toEqual(["B", "D", "Other"]);
  expect(await ids()).toEqual(before);
});

it("events of an advertiser that is replaced, or that get another one, are replaced, in the preview too", async () => {
  const { sandbox, stack } = await start(owned("A", { option: "replacementTrigger: 1" }), UPDATES);
  await upWell(stack);
  const expectReplaced = async (...advertisers: string[]) => {
    const { output } = await stack.preview();
    for (const name of ["by", "of", ...advertisers]) expect(output).toMatch(new RegExp(` ${name} +replace`));
    expect(output).toMatch(/2 (perhaps )?to replace/);
  };
  // By the program's wish, by an option that only the engine knows, and from the command line.
  stack.program(owned("B", { option: `replacementTrigger: 1, replaceOnChanges: ["advertiserName"]` }));
  await expectReplaced("a");
  stack.program(owned("B", { option: "replacementTrigger: 2" }));
  await expectReplaced("a");
  stack.program(owned("B", { option: "replacementTrigger: 1" }));
  const a = (await stack.resources()).find(({ urn }) => urn.endsWith("Advertiser::a"));
  expect((await stack.preview("--replace", String(a?.urn))).output).toMatch(/ of +replace/);
  // Another one, which is renamed itself.
  stack.program(owned("A", { option: "replacementTrigger: 1", owner: "b", other: "Renamed" }));
  await expectReplaced();
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 6 + 4, updates: 1 });
});

const html = { "content-type": "text/html" };
/** An answer of its own for each of a set's events and single ones, by the last digit of the id. */
const mixed = (status: number, bodies: readonly ((id: number) => unknown)[]): Fault => ({
  kind: "answer",
  status,
  body: (_created: unknown, { path }: { path: string }) => {
    const id = Number(path.split("/").at(-1));
    return bodies[id % bodies.length]?.(id);
  },
});
const TROUBLES: readonly Fault[] = [
  { kind: "answer", status: 401 },
  { kind: "answer", status: 403, body: { message: "not found, or you may not see it" } },
  { kind: "answer", status: 500 },
  { kind: "half-body" },
  { kind: "answer", status: 404, headers: html, body: "<html><title>Not Found</title></html>" },
  mixed(200, [
    () => "<html><title>Maintenance</title></html>",
    () => ({ payload: [{ id: 7, event_name: "first of all" }] }),
    (id) => ({ payload: [{ id, line: "of something else" }] }),
    () => ({ success: true }),
    () => ({ success: false }),
    () => "",
  ]),
];
const GONE = mixed(200, [
  () => [],
  () => ({ success: true, payload: [] }),
  (id) => ({ success: false, message: `Could not load event with ID = ${id}` }),
]);

it("trouble of any kind in a refresh takes nothing out of the state, alone or in a set; what is gone in any way leaves it", async () => {
  const { sandbox, stack } = await start(
    program(`
const advertiserId = 1;
const of = (key) => ({ eventName: key, value: 1 });
for (const key of ["a", "b", "c", "d", "e", "f"]) new advertising.ConversionEvent(key, { ...of(key), advertiserId });
new advertising.ConversionEventSet("s", { advertiserId, events: { g: of("g"), h: of("h"), i: of("i"), j: of("j"), k: of("k"), l: of("l") } });`),
    { event: { read: ALL.event.read }, createdVisibleAfterSeconds: 0 },
    { firstId: 12, objects: { advertisers: [{ id: 1, active: true }], events: [] } },
  );
  await upWell(stack);
  const ids = async () => {
    const resources = await stack.resources();
    return resources
      .flatMap(({ id, outputs }) => [id, ...Object.values((outputs?.eventIds as object) ?? {})])
      .map(String);
  };
  const before = await ids();
  expect(before).toHaveLength(7 + 6);
  // Each kind meets several objects; the last one all that are asked for again.
  const faults = TROUBLES.map((trouble, index) =>
    sandbox.fail({ on: "read", with: trouble, times: index < TROUBLES.length - 1 ? 3 : 1000 }),
  );
  for (let refreshes = 0; refreshes < 2; refreshes++) {
    const { code, output } = await stack.refresh();
    expect(code, output).not.toBe(0);
    expect(await ids(), output).toEqual(before);
  }
  sandbox.endFaults();
  expect(faults.map(({ hits }) => hits > 0)).not.toContain(false);
  sandbox.fail({ on: "read", with: GONE, times: 1000 });
  const { code, output } = await stack.refresh();
  sandbox.endFaults();
  expect(code, output).toBe(0);
  expect(output).toMatch(/ConversionEvent "[a-f]" \(\d+\) is no longer on the platform/);
  expect(await ids()).toEqual([expect.stringMatching(/^set-/)]);
  expect(sandbox).toMatchObject({ creates: 12, updates: 0, deletes: 0 });
});

const existing = Array.from({ length: 50 }, (_, n) => ({
  event_name: `E${n}`,
  advertiser_id: 1,
  value: 1,
  id: n + 10,
}));
const objects = {
  advertisers: [{ id: 1, advertiser_name: "A" }],
  events: existing
    .map((event) => ({ ...event, value: [12, 20, 33].includes(event.id) ? 5 : 1 }))
    .filter(({ id }) => id !== 41),
};
const adopting = (...ns: number[]) =>
  program(`
for (const n of ${JSON.stringify(ns)})
  new advertising.ConversionEvent("e" + n, { eventName: "E" + n, advertiserId: 1, value: 1, existingId: n + 10 });`);

it("an adoption looks at its object first: what is wrong is an error of that resource or event, and nothing of it is sent", async () => {
  const set = `
new advertising.ConversionEventSet("s", { advertiserId: 1, events: {
  z: { eventName: "E10", value: 1, existingId: 20 }, y: { eventName: "?", value: 1, existingId: 99 }, x: { eventName: "E3", value: 1, existingId: 13 },
} });`;
  const { sandbox, stack } = await start(
    adopting(1, 2, 31) + set,
    { event: { read: ALL.event.read }, createdVisibleAfterSeconds: 0 },
    { objects },
  );
  const { code, output } = await stack.up("--continue-on-error");
  expect(code).not.toBe(0);
  expect(output).toContain('ConversionEvent "e2": existingId 12 differs: value is 5 there, and 1 here');
  expect(output).toContain('ConversionEvent "e31": existingId 41: there is no event 41 on the platform');
  expect(output).toContain("existingId 20 differs: value is 5 there, and 1 here");
  expect(output).toContain("there is no event 99 on the platform");
  const adopted = (await stack.resources()).map(({ id, outputs }) => outputs?.eventIds ?? id);
  expect(adopted).toEqual(["11", { x: 13 }]);
  expect(sandbox).toMatchObject({ creates: 0, updates: 0, reads: 6 });

  // With an update what differs is set, once the one that is not there has gone. And `.get` brings every argument.
  stack.setEnvironment({ ADVERTISING_OPERATIONS: JSON.stringify(ALL) });
  stack.program(
    `${adopting(1, 2, 10)}\nexports.value = advertising.ConversionEvent.get("got", ${existing[4]?.id}).value;`,
  );
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 0, updates: 2, deletes: 0 });
  const changed = sandbox.events.filter(({ id }) => [11, 12, 20].includes(id));
  expect(changed.every(({ value }) => value === 1)).toBe(true);
  expect(await stack.outputs()).toEqual({ value: 1 });
});

it("an adopted event that was deleted by hand: the refresh says what the next up does, and nothing speaks of a live object", async () => {
  const { sandbox, stack } = await start(
    adopting(1),
    { event: { read: ALL.event.read }, createdVisibleAfterSeconds: 0 },
    { objects },
  );
  await upWell(stack);
  sandbox.fail({ on: "read", with: GONE, times: 1000 });
  const { output } = await stack.refresh();
  expect(output).toContain('ConversionEvent "e1" (11) is no longer on the platform, so it leaves the state.');
  const failed = await stack.up();
  expect(failed.code, failed.output).not.toBe(0);
  expect(failed.output).toContain("existingId 11: there is no event 11 on the platform");
  stack.program(adopting(1).replace("existingId: n + 10", ""));
  expect((await stack.preview()).output).not.toContain("second live");
  sandbox.endFaults();
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 1, deletes: 0 });
});
