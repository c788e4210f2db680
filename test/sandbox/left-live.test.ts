/** What the state notes about objects that were left live, over real sockets, as the engine calls the provider. */
import { describe, expect, it } from "vitest";
import { LEFT_LIVE } from "../../provider/src/state/properties.js";
import { leftoversOf } from "../../provider/src/tools/leftovers.js";
import { newFolder } from "../support/folder.js";
import { failureOf, newRun } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";
import { storedSet } from "../support/stored.js";

type Properties = Record<string, unknown>;

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe("a resource", () => {
  const inputsOf = (eventName: string, more: Properties = {}) => ({
    eventName,
    advertiserId: 1,
    value: 1,
    __identity: "tiny/dev::buy",
    ...more,
  });

  async function start() {
    const sandbox = await useSandbox();
    const folder = newFolder();
    const run = newRun(sandbox, folder);
    await run.advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" });
    /** One `up` that replaces: check, diff, create. */
    const replace = async (olds: Properties, oldInputs: Properties, news: Properties) => {
      const { event, closeNow } = newRun(sandbox, folder);
      const { inputs } = await event.check(oldInputs, news);
      const { replaces } = await event.diff(String(olds.id), olds, inputs);
      expect(replaces).not.toEqual([]);
      const { id, outs = {} } = await event.create(inputs);
      closeNow();
      return { ...outs, id };
    };
    const created = await run.event.create(inputsOf("A"));
    run.closeNow();
    return { sandbox, folder, replace, first: { ...created.outs, id: created.id } as Properties };
  }

  it("that is replaced again and again lists every object that it left, on any machine", async () => {
    const { sandbox, replace, first } = await start();
    const second: Properties = await replace(first, inputsOf("A"), inputsOf("B"));
    const third: Properties = await replace(second, inputsOf("B"), inputsOf("C"));
    expect(third[LEFT_LIVE]).toEqual([
      { id: String(first.id), name: "A", advertiserId: "1", at: TIME, why: "replaced", by: String(second.id) },
      { id: String(second.id), name: "B", advertiserId: "1", at: TIME, why: "replaced", by: String(third.id) },
    ]);
    expect(sandbox.eventPosts).toBe(3);
  });

  it("that was not replaced has no such output", async () => {
    const { first } = await start();
    expect(first).not.toHaveProperty(LEFT_LIVE);
  });

  it("whose replacement has an unknown outcome lists the former object, also after a later adoption", async () => {
    const { sandbox, folder, first } = await start();
    sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
    const run = newRun(sandbox, folder);
    const { inputs } = await run.event.check(inputsOf("A"), inputsOf("B"));
    await run.event.diff(String(first.id), first, inputs);
    const failure = await failureOf(run.event.create(inputs));
    const saved = failure.properties as Properties;
    expect(saved[LEFT_LIVE]).toEqual([
      { id: String(first.id), name: "A", advertiserId: "1", at: TIME, why: "replaced" },
    ]);
    run.closeNow();
    const next = newRun(sandbox, folder);
    const again = await next.event.check(inputs, inputsOf("B", { existingId: 3 }));
    await next.event.diff(String(failure.id), saved, again.inputs);
    const { outs = {} } = await next.event.create(again.inputs);
    expect((outs as Properties)[LEFT_LIVE]).toEqual(saved[LEFT_LIVE]);
    expect(sandbox.eventPosts).toBe(2);
  });

  it("whose name was or is secret lists it without a name", async () => {
    const { replace, first } = await start();
    const hidden = inputsOf("A", { __secret: ["eventName"] });
    const wasSecret: Properties = await replace(first, hidden, inputsOf("B"));
    expect(wasSecret[LEFT_LIVE]).toEqual([expect.not.objectContaining({ name: "A" })]);
    const isSecret: Properties = await replace(first, inputsOf("A"), inputsOf("C", { __secret: ["eventName"] }));
    expect(JSON.stringify(isSecret[LEFT_LIVE])).not.toContain('"name"');
  });

  it("that names its own object with existingId leaves nothing", async () => {
    const { sandbox, folder, first } = await start();
    const { event } = newRun(sandbox, folder);
    const { inputs } = await event.check(inputsOf("A"), inputsOf("A2", { existingId: Number(first.id) }));
    await event.diff(String(first.id), first, inputs);
    const { outs } = await event.create(inputs);
    expect(outs).not.toHaveProperty(LEFT_LIVE);
  });
});

describe("a set", () => {
  it("lists the events that left it and those that were replaced, but none that stays", async () => {
    const sandbox = await useSandbox();
    const engine = new SetEngine(sandbox, newFolder());
    const first = engine.newRun();
    const advertiserId = Number((await first.advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" })).id);
    first.closeNow();
    const declare = (events: Properties) => ({ advertiserId, events });
    const a = { eventName: "A", value: 1 };
    const b = { eventName: "B", value: 1 };
    await engine.up(declare({ a, b, c: { eventName: "C", value: 1 } }));
    expect(engine.state?.outputs).not.toHaveProperty(LEFT_LIVE);
    const before = engine.eventIds;
    await engine.up(declare({ a, b: { ...b, value: 2 } }));
    const left = [
      { id: String(before.b), name: "B", advertiserId: "1", key: "b", at: TIME, why: "replaced", by: "5" },
      { id: String(before.c), name: "C", advertiserId: "1", key: "c", at: TIME, why: "removed" },
    ];
    expect(engine.state?.outputs[LEFT_LIVE]).toEqual(left);
    await engine.up(declare({ a, b: { ...b, value: 2 }, d: { eventName: "D", value: 1 } }));
    expect(engine.state?.outputs[LEFT_LIVE]).toEqual(left);
    expect(sandbox.eventPosts).toBe(5);
  });
});

describe("an object that its set has left live", () => {
  const operations = {
    event: { read: "GET rest/event/{id}", delete: "DELETE rest/event/{id}" },
    createdVisibleAfterSeconds: 0,
  };
  const settings = { operations: JSON.stringify(operations) };
  const A = { eventName: "A", value: 1 };
  const B = { eventName: "B", value: 1 };
  const of = (events: Properties) => ({ advertiserId: 1, events });

  async function start() {
    const objects = { advertisers: [{ id: 1, advertiser_name: "X", active: true }], events: [] };
    const sandbox = await useSandbox({ operations: true, objects });
    const folder = newFolder();
    const one = new SetEngine(sandbox, folder, "one");
    await one.up(of({ a: A, b: B }), { settings });
    const { a: id } = one.eventIds;
    await one.up(of({ b: B }), { settings });
    /** Without what this machine knows, and with it. */
    const listed = (...others: SetEngine[]) => {
      const resources = [one, ...others].map(({ state }, n) => storedSet(`set${n}`, state?.outputs ?? {}));
      const state = { resources, time: "" };
      const { seen } = one.newRun({ settings }).runtime;
      const known = (kind: "Advertiser" | "ConversionEvent", of: string) => seen.deletedAt(kind, of);
      return [leftoversOf(state, []), leftoversOf(state, [], known)].map((all) => all.map((each) => each.id));
    };
    expect(listed()).toEqual([[String(id)], [String(id)]]);
    return { sandbox, folder, id, listed };
  }

  it.each(["deletes", "replaces"])("is on no list once a set that has adopted it %s it", async (how) => {
    const { sandbox, folder, id, listed } = await start();
    const two = new SetEngine(sandbox, folder, "two");
    two.declares = { deletes: true };
    expect((await two.up(of({ a: { ...A, existingId: id } }), { settings })).error).toBe(undefined);
    expect(listed(two)).toEqual([[], []]);
    const next = how === "deletes" ? {} : { a: { ...A, value: 2 } };
    expect((await two.up(of(next), { settings })).error).toBe(undefined);
    expect(two.state?.outputs[LEFT_LIVE]).toMatchObject([{ id: String(id), key: "a", done: TIME }]);
    expect(listed(two)).toEqual([[], []]);
    expect(await two.preview(of(next), { settings })).toBe("");
    expect(sandbox.deletes).toBe(1);
    expect(sandbox.events.map((each) => each.id)).not.toContain(id);
  });

  it("is on the list again if the set that has adopted it leaves it live too", async () => {
    const { sandbox, folder, id, listed } = await start();
    const two = new SetEngine(sandbox, folder, "two");
    await two.up(of({ a: { ...A, existingId: id } }), { settings });
    await two.up(of({}), { settings });
    expect(listed(two)).toEqual([[String(id)], [String(id)]]);
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
  });

  it("is not on this machine's list once a single resource that has adopted it is deleted", async () => {
    const { sandbox, folder, id, listed } = await start();
    const run = newRun(sandbox, folder, { settings });
    const __identity = { identity: "tiny/dev::x", run: { isUp: true, resources: 1 }, deletes: true };
    const { inputs = {} } = await run.event.check({}, { ...A, advertiserId: 1, existingId: id, __identity });
    const { outs = {} } = await run.event.create(inputs as Properties);
    run.closeNow();
    const last = newRun(sandbox, folder, { settings });
    sandbox.fail({ on: "delete", act: false, times: 9, with: { kind: "close-without-answer" } });
    expect((await failureOf(last.event.delete(String(id), outs as Properties))).message).toContain(String(id));
    sandbox.endFaults();
    expect(listed()).toEqual([[String(id)], [String(id)]]);
    await last.event.delete(String(id), outs as Properties);
    last.closeNow();
    expect(listed()).toEqual([[String(id)], []]);
    expect(sandbox.events.map((each) => each.id)).not.toContain(id);
  });
});
