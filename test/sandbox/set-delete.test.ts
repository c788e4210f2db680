/** What a set deletes with `retainOnDelete: false` and a known delete: exactly what leaves it, once, and last of all. */
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { failureOf } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";

const ALL = {
  event: { read: "GET rest/event/{id}", delete: "DELETE rest/event/{id}" },
  createdVisibleAfterSeconds: 0,
};
const A = { eventName: "A", value: 1 };
const B = { eventName: "B", value: 2 };
const C = { eventName: "C", value: 3 };
const of = (events: object) => ({ advertiserId: 1, events });
const refusal = { kind: "answer", status: 403, body: { message: "you may not delete" } } as const;

async function start(operations: object = ALL) {
  const objects = { advertisers: [{ id: 1, advertiser_name: "X", active: true }], events: [] };
  const sandbox = await useSandbox({ operations: true, objects });
  const engine = new SetEngine(sandbox, newFolder());
  engine.declares = { deletes: true };
  const options = { settings: { operations: JSON.stringify(operations) } };
  const up = (events: object) => engine.up(of(events), options);
  const live = () => sandbox.events.map(({ event_name }) => event_name);
  const deleted = () =>
    sandbox.requests.filter(({ method }) => method === "DELETE").map(({ path }) => Number(path.split("/").at(-1)));
  return { sandbox, engine, options, up, live, deleted };
}

const messagesIn = ({ run }: Awaited<ReturnType<SetEngine["up"]>>) => run.told.map(({ message }) => message).join("\n");

it("the object of a removed key is deleted, and the former object of a changed key once the new one exists", async () => {
  const { sandbox, engine, options, up, live, deleted } = await start();
  expect((await up({ a: A, b: B, c: C })).error).toBe(undefined);
  const { a, b, c } = engine.eventIds;
  const preview = await engine.preview(of({ a: { ...A, value: 9 }, b: B }), options);
  expect(preview).toContain(`to replace, which makes 1 more live event and deletes the former ones: a (${a})`);
  expect(preview).toContain(`to delete, if everything else goes well: c (${c})`);
  expect(preview).not.toContain("stays live");
  expect(deleted()).toEqual([]);

  const result = await up({ a: { ...A, value: 9 }, b: B });
  expect(result.error).toBe(undefined);
  expect(messagesIn(result)).toContain("Deleted on the platform, as retainOnDelete: false says: 2 events");
  expect(messagesIn(result)).not.toContain("stays live");
  expect(deleted().toSorted()).toEqual([a, c]);
  const order = sandbox.requests.map(({ method, path }) => `${method} ${path}`);
  expect(order.indexOf(`DELETE /rest/event/${a}`)).toBeGreaterThan(order.lastIndexOf("POST /rest/event"));
  expect(live()).toEqual(["B", "A"]);
  expect(engine.state?.outputs).not.toHaveProperty("__left");
  expect(engine.eventIds).toEqual({ a: sandbox.events.at(-1)?.id, b });

  await up({ a: { ...A, value: 9 }, b: B });
  expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 2 });
});

it("nothing is deleted without the option, or without a known delete", async () => {
  const { sandbox, engine, up } = await start();
  engine.declares = {};
  await up({ a: A, b: B });
  const result = await up({ a: { ...A, value: 9 } });
  expect(messagesIn(result)).toContain("2 live events");
  const other = await start({ event: { read: ALL.event.read } });
  await other.up({ a: A, b: B });
  await other.up({ a: { ...A, value: 9 } });
  expect([sandbox.deletes, other.sandbox.deletes]).toEqual([0, 0]);
  expect(other.engine.state?.outputs.__left).toMatchObject([{ key: "a" }, { key: "b" }]);
});

it("nothing is deleted if anything else fails: the next run does it", async () => {
  const { sandbox, engine, up, live, deleted } = await start();
  await up({ a: A, b: B });
  const { a, b } = engine.eventIds;
  sandbox.fail({ on: "event", after: 1, with: { kind: "answer", status: 406, body: { errors: ["C is reserved"] } } });
  const { error } = await up({ a: { ...A, value: 9 }, c: C });
  expect(error).toContain("Nothing was deleted, because something failed: 2 events to delete.");
  expect(deleted()).toEqual([]);
  expect(engine.eventIds).toHaveProperty("b", b);
  expect(engine.state?.outputs.__left).toMatchObject([{ id: String(a), toDelete: true }]);
  expect((await up({ a: { ...A, value: 9 }, c: C })).error).toBe(undefined);
  expect(deleted().toSorted()).toEqual([a, b]);
  expect(live()).toEqual(["A", "C"]);
  expect(engine.state?.outputs).not.toHaveProperty("__left");
  expect(sandbox.eventPosts).toBe(5);
});

it("after a failed delete the key, or the note of the former object, stays, and the next run tries again", async () => {
  const { sandbox, engine, options, up, live, deleted } = await start();
  await up({ a: A, b: B });
  const { a, b } = engine.eventIds;
  const declared = { a: { ...A, value: 9 } };
  sandbox.fail({ on: "delete", with: refusal, times: 4 });
  const { error } = await up(declared);
  sandbox.endFaults();
  expect(error).toMatch(/refused with status 403: you may not delete\. Nothing was deleted\./);
  expect(error).toContain("Still to delete: 2 events.");
  expect(live()).toEqual(["A", "B", "A"]);
  expect(engine.eventIds).toHaveProperty("b", b);
  expect(await engine.preview(of(declared), options)).toContain(`still to delete: a (${a})`);
  expect((await up(declared)).error).toBe(undefined);
  expect(live()).toEqual(["A"]);
  expect(sandbox.eventPosts).toBe(3);
  expect(new Set(deleted())).toEqual(new Set([a, b]));
  expect(engine.state?.outputs).not.toHaveProperty("__left");
});

it("if retainOnDelete is on again, an object that could not be deleted stays live and is noted", async () => {
  const { sandbox, engine, up } = await start();
  await up({ a: A });
  const { a } = engine.eventIds;
  sandbox.fail({ on: "delete", with: refusal, times: 2 });
  await up({ a: { ...A, value: 9 } });
  sandbox.endFaults();
  const { deletes } = sandbox;
  engine.declares = {};
  expect((await up({ a: { ...A, value: 9 } })).error).toBe(undefined);
  expect(sandbox.deletes).toBe(deletes);
  expect(engine.state?.outputs.__left).toEqual([expect.objectContaining({ id: String(a), why: "replaced" })]);
});

it("an object that another key or resource has is not deleted", async () => {
  const { sandbox, engine, up } = await start();
  await up({ a: A, b: B });
  const { a, b } = engine.eventIds;
  // It moves to another key of the set, and to another resource.
  engine.declares = { deletes: true, adopted: `${a} ${b}` };
  expect((await up({ c: { ...A, existingId: a } })).error).toBe(undefined);
  expect(engine.eventIds).toEqual({ c: a });
  // An id that is not known yet may be this one.
  engine.declares = { deletes: true, adoptsUnknown: true };
  await up({});
  expect(engine.eventIds).toEqual({});
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
});

it("deletes of an interrupted run are not sent again", async () => {
  const { sandbox, engine, up, live } = await start();
  await up({ a: A, b: B, c: C });
  const before = structuredClone(engine.state);
  await up({ a: A });
  engine.state = before;
  expect((await up({ a: A })).error).toBe(undefined);
  expect(live()).toEqual(["A"]);
  expect(engine.state?.outputs).not.toHaveProperty("__left");
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 2 });
});

it("R1: what an interrupted run may have deleted is not taken for live if its key comes back", async () => {
  const { sandbox, engine, options, up } = await start();
  await up({ a: A, b: B, c: C });
  sandbox.fail({ on: "delete", act: true, with: { kind: "answer", status: 500 }, times: 9 });
  const { a, b, c } = engine.eventIds;
  const { error } = await up({ c: C });
  expect(error).toContain("Still to delete: 2 events.");
  sandbox.endFaults();
  const doubt = `ConversionEventSet "funnel": this machine has sent a delete of ${a}–${b}, which may have been carried out.`;
  expect((await up({ a: A, b: B, c: C })).error).toContain(doubt);
  await engine.refresh(options);
  expect((await up({ a: A, b: B, c: C })).error).toBe(undefined);
  expect(engine.eventIds).toMatchObject({ c });
  expect(sandbox.events.map(({ event_name }) => event_name).toSorted()).toEqual(["A", "B", "C"]);
  expect(sandbox.eventPosts).toBe(5);
});

it("R1: what is said to be there by existingId is kept, although a delete of it was sent", async () => {
  const { sandbox, engine, up } = await start({ event: { delete: ALL.event.delete } });
  await up({ a: A, b: B });
  const { b } = engine.eventIds;
  sandbox.fail({ on: "delete", with: { kind: "answer", status: 500 }, times: 9 });
  await up({ a: A });
  sandbox.endFaults();
  expect((await up({ a: A, b: B })).error).toContain("set existingId to its id");
  expect((await up({ a: A, b: { ...B, existingId: b } })).error).toBe(undefined);
  expect((await up({ a: A, b: B })).error).toBe(undefined);
  expect(engine.eventIds).toMatchObject({ b });
  expect(sandbox).toMatchObject({ eventPosts: 2 });
});

it("removing a set deletes all its objects, if necessary in a second run", async () => {
  const { sandbox, engine, options, up } = await start();
  await up(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, { eventName: `E${n}`, value: n }])));
  const { id = "", outputs = {} } = engine.state ?? {};
  sandbox.fail({ on: "delete", after: 30, with: { ...refusal, status: 406 }, times: 2 });
  const run = engine.newRun(options);
  expect((await failureOf(run.set.delete(id, outputs))).message).toMatch(
    /98 of 100 events were deleted\. Not deleted: \d+.*you may not delete.*\[ADVERTISING_REFUSED\]$/,
  );
  sandbox.endFaults();
  await run.set.delete(id, outputs);
  expect(sandbox.events).toEqual([]);
  expect(sandbox).toMatchObject({ eventPosts: 100, logins: 1 });
});

it("what this machine has deleted is not deleted again, also soon after its create, when not found proves nothing", async () => {
  const { sandbox, engine, up, deleted } = await start({ event: ALL.event });
  const options = { settings: { operations: JSON.stringify({ event: ALL.event }) } };
  await up({ a: A, b: B, c: C });
  const { b } = engine.eventIds;
  const { id = "", outputs = {} } = engine.state ?? {};
  sandbox.fail({ on: "delete", after: 1, with: { ...refusal, status: 406 } });
  const destroy = async () => {
    const run = engine.newRun(options);
    const ended = run.set.delete(id, outputs);
    const error = await ended.then(
      () => undefined,
      ({ message }: Error) => message,
    );
    run.closeNow();
    return error;
  };
  expect(await destroy()).toContain(`2 of 3 events were deleted. Not deleted: ${b}.`);
  expect(deleted()).toHaveLength(3);
  expect(await destroy()).toBe(undefined);
  expect(deleted().slice(3)).toEqual([b]);
  expect(sandbox.events).toEqual([]);
});

it("with `--replace`, the engine may delete the set before it creates another one", async () => {
  const { sandbox, engine, options, up, live, deleted } = await start();
  await up({ a: A, b: B });
  const { state, eventIds } = engine;
  const { id = "", outputs = {} } = state ?? {};
  engine.state = undefined;
  const run = engine.newRun(options);
  const check = run.set.check.bind(run.set);
  run.set.check = async (...args) => {
    const checked = await check(...args);
    await run.set.delete(id, outputs);
    return checked;
  };
  expect(await engine.apply(run, of({ a: A, b: B }))).toBe(undefined);
  expect(deleted().toSorted()).toEqual(Object.values(eventIds).toSorted());
  expect(live().toSorted()).toEqual(["A", "B"]);
  expect(run.said).toEqual([]);
  expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 2 });
});

it("no delete is sent for another account's objects, nor if the state does not say which account", async () => {
  const { sandbox, engine, options, up } = await start();
  await up({ a: A });
  const { id = "", outputs = {} } = engine.state ?? {};
  const run = engine.newRun(options);
  expect((await failureOf(run.set.delete(id, { ...outputs, __at: "other.example a@b.c" }))).message).toContain(
    "ADVERTISING_ACCOUNT_MISMATCH",
  );
  const { __at: _, ...unknown } = outputs;
  await run.set.delete(id, unknown);
  expect(run.said.at(-1)).toContain("The state does not say at which account it was created");
  expect(sandbox.deletes).toBe(0);
});

it("the objects that a set keeps are noted before its journal is read, so that no other call comes first", async () => {
  const { sandbox, engine, options, up } = await start();
  await up({ a: A });
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  await up({ a: A, b: B });
  expect(Object.keys(engine.unresolved)).toEqual(["b"]);
  const { id, inputs, outputs } = engine.state ?? expect.fail();
  const run = engine.newRun(options);
  const planning = run.set.diff(id, outputs, inputs);
  expect(run.runtime.run.holders.isManaged("ConversionEvent", String(engine.eventIds.a))).toBe(true);
  await planning;
});

it("soon after the create, a delete whose answer was lost is asked for later: the error says from when on, and a refresh ends well", async () => {
  const { sandbox, engine, options, up, live } = await start({ ...ALL, createdVisibleAfterSeconds: 300 });
  await up({ a: A, b: B });
  sandbox.fail({ on: "delete", act: true, with: { kind: "close-without-answer" }, times: 9 });
  expect((await up({ a: A })).error).toContain("delete");
  const again = (await up({ a: A, b: B })).error;
  expect(again).toMatch(/has sent a delete of \d+, .* To find out, from \d{4}-\S+Z on:\n {2}pulumi refresh\n/);
  const { set, told } = engine.newRun(options);
  const { id, outputs, inputs } = engine.state ?? expect.fail("no state");
  const { props } = await set.read(id, outputs);
  await set.diff(id, props as typeof outputs, inputs);
  expect(told.map(({ message }) => message).join("\n")).toContain("that proves nothing, so it stays in the state");
  expect(sandbox.eventPosts).toBe(2);
  expect(live()).toEqual(["A"]);
});
