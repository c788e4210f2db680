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
  expect(preview).toContain(`to replace, which makes another live object of each: a (${a})`);
  expect(preview).toContain(`to delete, if everything else goes well: c (${c})`);
  expect(preview).not.toContain("stays live");
  expect(deleted()).toEqual([]);

  const result = await up({ a: { ...A, value: 9 }, b: B });
  expect(result.error).toBe(undefined);
  expect(messagesIn(result)).toContain("Deleted on the platform, as retainOnDelete: false says: 2, 4.");
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
  expect(error).toContain(
    "Still to delete: 2 events. The next `pulumi up` in which everything else goes well deletes them.",
  );
  expect(deleted()).toEqual([]);
  expect(engine.state?.outputs.__left).toMatchObject([
    { id: String(a), owed: true },
    { id: String(b), owed: true },
  ]);
  expect((await up({ a: { ...A, value: 9 }, c: C })).error).toBe(undefined);
  expect(deleted().toSorted()).toEqual([a, b]);
  expect(live()).toEqual(["A", "C"]);
  expect(engine.state?.outputs).not.toHaveProperty("__left");
  expect(sandbox.eventPosts).toBe(5);
});

it("after a failed delete the object is still to delete, and the next run tries again", async () => {
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
  expect(engine.eventIds).not.toHaveProperty("b");
  expect(await engine.preview(of(declared), options)).toContain(`still to delete: a (${a}), b (${b})`);
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
  expect(JSON.stringify(engine.state?.outputs.__left)).not.toContain("owed");
  expect(engine.state?.outputs.__left).toEqual([expect.objectContaining({ id: String(a), key: "a" })]);
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
  engine.declares = { deletes: true, adoptsLater: true };
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

it("removing a set deletes all its objects, if necessary in a second run", async () => {
  const { sandbox, engine, options, up } = await start();
  await up(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, { eventName: `E${n}`, value: n }])));
  const { id = "", outputs = {} } = engine.state ?? {};
  sandbox.fail({ on: "delete", after: 30, with: { ...refusal, status: 406 }, times: 2 });
  const run = engine.newRun(options);
  expect((await failureOf(run.set.delete(id, outputs))).message).toMatch(
    /98 of 100 events deleted\. Not deleted: \d+.*you may not delete.*\[ADVERTISING_REFUSED\]$/,
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
  expect(await destroy()).toContain(`2 of 3 events deleted. Not deleted: ${b}.`);
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
  expect(run.said.at(-1)).toContain("was not deleted, because the state does not say which account it belongs to");
  expect(sandbox.deletes).toBe(0);
});
