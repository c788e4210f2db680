/** Real runs on an installation that is known to have more than the documented operations. */
import { expect, it } from "vitest";
import type { Fault } from "../../provider/src/sandbox/index.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const ALL = {
  createdVisibleAfterSeconds: 0,
  event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" },
  advertiser: { read: "GET rest/advertiser/{id}", update: "PUT rest/advertiser/{id}" },
};
const ADVERTISERS = { advertisers: [1, 2].map((id) => ({ id, advertiser_name: `A${id}`, active: true })), events: [] };

/** @param operations as text, for the environment; none where the stack's configuration has them. */
async function start(
  text: string,
  operations: object | "unknown" = ALL,
  options: Parameters<typeof useSandbox>[0] = { objects: ADVERTISERS },
) {
  const sandbox = await useSandbox({ operations: true, ...options });
  const environment = operations === "unknown" ? {} : { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  return { sandbox, stack: await newStack(text, { sandbox, environment }) };
}

const upWell = async (stack: TestStack, ...args: string[]) => {
  const { code, output } = await stack.up(...args);
  expect(code, output).toBe(0);
  return output;
};

it("a life: operations switched on, changed in place, drift seen and set back, replaced, deleted", async () => {
  const shop = (eventName: string, advertiserId = 1, options = "{ retainOnDelete: false }") =>
    program(`
new advertising.ConversionEvent("e", { eventName: "${eventName}", advertiserId: ${advertiserId}, value: 1, segmentId: 7 }, ${options});
const events = { own: { eventName: "Own", value: 1, segmentId: 7 }, shared: { eventName: "Shared", value: 1 } };
new advertising.ConversionEventSet("s", { advertiserId: 1, defaults: { segmentId: 5 }, events });`);
  const { sandbox, stack } = await start(shop("Purchase", 1, "{}"), "unknown");
  const known = (operations: object) =>
    stack.run(["config", "set", "advertising:operations", JSON.stringify(operations)]);
  await upWell(stack);
  await known(ALL);
  const plain = await stack.refresh();
  expect(plain.output).toContain("with --run-program it uses the current one");
  expect(sandbox.reads).toBe(0);
  expect((await stack.refresh("--run-program")).output).toMatch(/3 unchanged/);
  expect(sandbox.reads).toBe(3);

  stack.program(shop("Buy"));
  await upWell(stack);
  expect(sandbox).toMatchObject({ eventPosts: 3, updates: 1 });
  const named = (name: string) => sandbox.events.find(({ event_name }) => event_name === name);
  const id = named("Buy")?.id;

  Object.assign(named("Buy") ?? {}, { value: 99 });
  for (const each of sandbox.events) Object.assign(each, { segment_id: null });
  const { output } = await stack.refresh();
  expect(output).toContain("was changed on the platform (segmentId and value)");
  expect(new Set(output.match(/ConversionEvent \d.* was changed on the platform/g)).size, output).toBe(3);
  expect((await stack.refresh()).output).not.toContain("was changed on the platform");
  await upWell(stack);
  expect(named("Buy")).toMatchObject({ id, value: 1 });
  expect(["Buy", "Own", "Shared"].map((name) => named(name)?.segment_id)).toEqual([7, 7, 5]);
  expect(sandbox).toMatchObject({ eventPosts: 3, updates: 4 });
  expect((await stack.preview()).output).toMatch(/3 unchanged/);

  stack.program(shop("Buy", 2));
  expect((await stack.preview()).output).toContain(`another live object. ${id} is deleted on the platform`);
  await upWell(stack);
  const now = named("Buy")?.id;
  expect(now).not.toBe(id);
  expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 1 });

  stack.program(shop("").replace(/\nnew advertising.ConversionEvent\(.*/, ""));
  const told = await upWell(stack);
  expect(told).toContain(`No longer declared: e (${now})`);
  expect(sandbox.events.map(({ event_name }) => event_name).sort()).toEqual(["Own", "Shared"]);
  expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 2 });
});

it("a set with retainOnDelete: false takes along what it lets go of, but nothing that another resource has", async () => {
  const funnel = (keys: string) => `
const of = (keys) => Object.fromEntries([...keys].map((key) => [key, { eventName: key, value: 1 }]));
new advertising.ConversionEventSet("f", { advertiserId: 1, events: of("${keys}") }, { retainOnDelete: false });`;
  const kept = `new advertising.ConversionEventSet("k", { advertiserId: 1, events: of("xy") });`;
  const { sandbox, stack } = await start(program(funnel("abcde") + kept));
  await upWell(stack);
  const names = () => sandbox.events.map(({ event_name }) => event_name).sort();
  const idOf = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const [a, b] = [idOf("a"), idOf("b")];
  stack.program(program(funnel("abce") + kept));
  expect((await stack.preview()).output).toMatch(/to delete, if everything else goes well: d \(\d+\)/);
  expect(sandbox.deletes).toBe(0);
  expect(await upWell(stack)).toContain("Deleted on the platform, as retainOnDelete: false says:");
  expect(names()).toEqual(["a", "b", "c", "e", "x", "y"]);

  // A delete that was refused is tried again, unless something has adopted the object meanwhile.
  stack.program(program(funnel("bc") + kept));
  const refusal: Fault = { kind: "answer", status: 406, body: { success: false, errors: ["in use"] } };
  const refused = sandbox.fail({ on: "delete", act: false, times: 2, with: refusal });
  expect((await stack.up()).output).toContain("in use");
  expect(refused.hits).toBe(2);
  const adopter = (key: string, id: unknown) =>
    `new advertising.ConversionEvent("${key}", { eventName: "${key}", advertiserId: 1, value: 1, existingId: ${id} });`;
  stack.program(program(funnel("bc") + kept + adopter("a", a)));
  await upWell(stack);
  expect(names()).toEqual(["a", "b", "c", "x", "y"]);

  // The set is removed, and one moves out of it.
  stack.program(program(adopter("a", a) + adopter("b", b) + funnel("").replace(/new .*/, "") + kept));
  await upWell(stack);
  expect(names()).toEqual(["a", "b", "x", "y"]);
  expect((await stack.destroy()).code).toBe(0);
  expect(await stack.resources()).toEqual([]);
  expect(names()).toEqual(["a", "b", "x", "y"]);
  expect(sandbox).toMatchObject({ eventPosts: 7, deletes: 5 });
});

it("what is replaced, in either order, stays live, as was said, if only a transformation gave retainOnDelete: false", async () => {
  const text = (value: number) =>
    program(`
pulumi.runtime.registerStackTransformation(({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: false } }));
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: 1, value: ${value} });
new advertising.ConversionEvent("f", { eventName: "F", advertiserId: 1, value: ${value} }, { deleteBeforeReplace: true });`);
  const { sandbox, stack } = await start(text(1), { event: { delete: ALL.event.delete } });
  await upWell(stack);
  const former = sandbox.events;
  stack.program(text(2));
  const { output: previewed } = await stack.preview();
  const output = await upWell(stack);
  for (const { id } of former) {
    for (const told of [previewed, output]) expect(told).toContain(`${id} stays live on the platform`);
    expect(output).toMatch(new RegExp(`${id}.* retainOnDelete: false was not given to the resource itself`));
  }
  expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 0 });
});

it("events of an advertiser that is renamed in place stay as they are; of one that is replaced, or another, they are replaced", async () => {
  const owned = (name: string, { option = "", owner = "a" } = {}) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "${name}" }, { ${option} });
const b = new advertising.Advertiser("b", { advertiserName: "Other" });
new advertising.ConversionEvent("by", { eventName: "By", advertiserId: ${owner}, value: 1 });
new advertising.ConversionEvent("of", { eventName: "Of", advertiserId: ${owner}.advertiserId.apply((id) => id), value: 1 });
new advertising.ConversionEventSet("s", { advertiserId: pulumi.secret(${owner}.advertiserId), events: { x: { eventName: "X", value: 1 } } });
new advertising.Catalog("c", { file: "c.json" });`);
  const { advertiser, event } = ALL;
  const updates = { event: { update: event.update }, advertiser: { update: advertiser.update } };
  const { sandbox, stack } = await start(owned("A"), updates, {});
  const catalog = (advertiserName: string) => {
    const C = { advertiserName, events: { x: { eventName: "CX", value: 1 } } };
    stack.write("c.json", JSON.stringify({ advertisers: { C } }));
  };
  catalog("C");
  await upWell(stack);
  const ids = async () => (await stack.resources()).map(({ id, outputs }) => [id, outputs?.eventIds]);
  const before = await ids();
  stack.program(owned("B"));
  catalog("D");
  const { code, output } = await stack.preview();
  expect(code, output).toBe(0);
  expect(output).toMatch(/~ 2 to update\n +7 unchanged/);
  expect(output).not.toMatch(/stays live|replace/);
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 7, updates: 2 });
  expect(await ids()).toEqual(before);

  // By an option that only the engine knows, and from the command line.
  const expectReplaced = async (...args: string[]) => {
    const { output } = await stack.preview(...args);
    for (const name of ["by", "of"]) expect(output).toMatch(new RegExp(` ${name} +replace`));
  };
  stack.program(owned("B", { option: "replacementTrigger: 2" }));
  await upWell(stack);
  stack.program(owned("B", { option: "replacementTrigger: 3" }));
  await expectReplaced();
  stack.program(owned("B", { option: "replacementTrigger: 2" }));
  const a = (await stack.resources()).find(({ urn }) => urn.endsWith("Advertiser::a"));
  await expectReplaced("--replace", String(a?.urn));
  stack.program(owned("B", { option: "replacementTrigger: 2", owner: "b" }));
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 7 + 3, updates: 2 });
});

/** An answer of its own for each of a set's events and single ones, by the last digit of the id. */
const mixed = (bodies: readonly ((id: number) => unknown)[]): Fault => ({
  kind: "answer",
  status: 200,
  body: (_created: unknown, { path }: { path: string }) => {
    const id = Number(path.split("/").at(-1));
    return bodies[id % bodies.length]?.(id);
  },
});
const TROUBLES: readonly Fault[] = [
  { kind: "answer", status: 401 },
  { kind: "answer", status: 403, body: { message: "not found, or you may not see it" } },
  { kind: "half-body" },
  { kind: "answer", status: 404, headers: { "content-type": "text/html" }, body: "<html>Not Found</html>" },
  mixed([() => ({ payload: [{ id: 7, event_name: "first of all" }] }), () => ({ success: true }), () => ""]),
];
const GONE = mixed([
  () => [],
  () => ({ success: true, payload: [] }),
  (id) => ({ success: false, message: `Could not load event with ID = ${id}` }),
]);

it("trouble of any kind in a refresh takes nothing out of the state, alone or in a set; what is gone in any way leaves it", async () => {
  const { sandbox, stack } = await start(
    program(`
const of = (keys) => Object.fromEntries([...keys].map((key) => [key, { eventName: key, value: 1 }]));
for (const [key, args] of Object.entries(of("abcdef"))) new advertising.ConversionEvent(key, { ...args, advertiserId: 1 });
new advertising.ConversionEventSet("s", { advertiserId: 1, events: of("ghijkl") });`),
    { event: { read: ALL.event.read }, createdVisibleAfterSeconds: 0 },
    { firstId: 12, objects: ADVERTISERS },
  );
  await upWell(stack);
  const ids = async () =>
    (await stack.resources()).flatMap(({ id, outputs }) => [id, ...Object.values((outputs?.eventIds as object) ?? {})]);
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
  expect(code, output).toBe(0);
  expect(output).toMatch(/ConversionEvent \d+ is no longer on the platform/);
  expect(await ids()).toEqual([expect.stringMatching(/^set-/)]);
  expect(sandbox).toMatchObject({ creates: 12, updates: 0, deletes: 0 });
});

it("an adoption looks at its object first: what is wrong is an error of that resource or event, and nothing of it is sent", async () => {
  const values = new Map([10, 11, 12, 13, 20].map((id) => [id, [12, 20].includes(id) ? 5 : 1]));
  const events = [...values].map(([id, value]) => ({ id, event_name: `E${id}`, advertiser_id: 1, value }));
  const adopting = (...ids: number[]) => `
const of = (id) => ({ eventName: "E" + id, value: 1, existingId: id });
for (const id of ${JSON.stringify(ids)}) new advertising.ConversionEvent("e" + id, { ...of(id), advertiserId: 1 });`;
  const set = `new advertising.ConversionEventSet("s", { advertiserId: 1, events: { z: of(20), y: of(99), x: of(13) } });`;
  const read = { event: { read: ALL.event.read }, createdVisibleAfterSeconds: 0 };
  const { sandbox, stack } = await start(program(adopting(11, 12, 41) + set), read, {
    objects: { ...ADVERTISERS, events },
  });
  const { code, output } = await stack.up("--continue-on-error");
  expect(code).not.toBe(0);
  expect(output).toContain('ConversionEvent "e12": existingId 12 differs: value is 5 there, and 1 here');
  expect(output).toContain('ConversionEvent "e41": existingId 41: there is no event 41 on the platform');
  expect(output).toContain("existingId 20 differs: value is 5 there, and 1 here");
  expect(output).toContain("there is no event 99 on the platform");
  const adopted = (await stack.resources()).map(({ id, outputs }) => outputs?.eventIds ?? id);
  expect(adopted).toEqual(["11", { x: 13 }]);
  expect(sandbox).toMatchObject({ creates: 0, updates: 0, reads: 6 });

  // With an update what differs is set, once the one that is not there has gone. And `.get` brings every argument.
  stack.setEnvironment({ ADVERTISING_OPERATIONS: JSON.stringify(ALL) });
  const got = `exports.value = advertising.ConversionEvent.get("got", 10).value;`;
  stack.program(program(`${adopting(11, 12)}${set.replace("y: of(99), ", "")}\n${got}`));
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 0, updates: 2, deletes: 0 });
  expect(sandbox.events.map(({ value }) => value)).toEqual([1, 1, 1, 1, 1]);
  expect(await stack.outputs()).toEqual({ value: 1 });

  // Deleted by hand: the refresh says what the next up does.
  stack.setEnvironment({ ADVERTISING_OPERATIONS: JSON.stringify(read) });
  stack.program(program(adopting(11)));
  await upWell(stack);
  sandbox.fail({ on: "read", with: GONE, times: 1000 });
  expect((await stack.refresh()).output).toMatch(
    /ConversionEvent 11 is no longer on the platform.* existingId names 11/,
  );
  const failed = await stack.up();
  expect(failed.code, failed.output).not.toBe(0);
  expect(failed.output).toContain("there is no event 11 on the platform");
  stack.program(program(adopting(11).replace("existingId: id", "")));
  sandbox.endFaults();
  await upWell(stack);
  expect(sandbox).toMatchObject({ creates: 1, deletes: 0 });
});
