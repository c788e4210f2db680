/** The members of a set on an installation with more operations, through the provider as the engine calls it. */
import { describe, expect, it } from "vitest";
import { conversionEventSet } from "../../provider/src/kinds/event-kind.js";
import { createSetProvider } from "../../provider/src/provider/dynamic.js";
import type { Runtime } from "../../provider/src/provider/services.js";
import { memberMark } from "../../provider/src/state/stored-set.js";
import { carriedBack } from "../support/carried.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { failureOf, newRun } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";

const shared = {
  advertiserId: 1,
  defaults: { countUnique: false, clickWindow: 60, viewWindow: 60, attribution: "ALL" },
};
const inputs = (events: object) => ({ ...shared, events, __identity: "tiny/dev::funnel" });
const two = { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 2 } };

// Without a delete.
const { delete: _, ...known } = eventOperations;

async function start(operations: Partial<typeof eventOperations> = known) {
  const clock = new FakeClock(Date.now());
  const sandbox = await operatedSandbox({ clock: () => clock.wallMs() });
  const folder = newFolder();
  const settings = operatedSettings(operations);
  let last: ReturnType<typeof newRun> | undefined;
  const open = () => {
    last?.closeNow();
    last = newRun(sandbox, folder, { settings, adapt: (runtime): Runtime => ({ ...runtime, clock }) });
    const { runtime } = last;
    return createSetProvider(
      conversionEventSet,
      () => runtime,
      () => undefined,
    );
  };
  return { sandbox, clock, open, set: open() };
}

type Outs = Record<string, Record<string, unknown>>;

it("a changed member is updated in place", async () => {
  const { sandbox, set } = await start();
  const { id, outs } = await set.create(inputs(two));
  const news = inputs({ ...two, b: { eventName: "Bee", value: 2 } });
  expect((await set.diff(id, outs as Outs, news)).changes).toBe(true);
  const updated = await set.update(id, outs as Outs, news);
  expect((updated.outs as Outs).eventIds).toEqual((outs as Outs).eventIds);
  expect(sandbox.requests.filter(({ method }) => method === "PUT").map(({ body }) => body)).toEqual([
    { event_name: "Bee" },
  ]);
  expect(sandbox).toMatchObject({ eventPosts: 2, updates: 1 });
  expect((await set.diff(id, updated.outs as Outs, news)).changes).toBe(false);
});

it("R1: an update of unknown outcome is settled by a refresh that shows the member", async () => {
  const sandbox = await operatedSandbox();
  const engine = new SetEngine(sandbox, newFolder());
  const options = { settings: operatedSettings(known) };
  const declared = (value: number) => ({ ...shared, events: { ...two, b: { eventName: "B", value } } });
  await engine.up(declared(2), options);
  sandbox.fail({ on: "update", act: true, with: { kind: "answer", status: 500 }, times: 9 });
  expect((await engine.up(declared(7), options)).error).toContain("b: ");
  sandbox.endFaults();
  expect(await engine.preview(declared(7), options)).toContain("may have been carried out");
  await engine.refresh(options);
  sandbox.resetCounts();
  expect(await engine.preview(declared(7), options)).not.toContain("may have been carried out");
  expect((await engine.up(declared(7), options)).error).toBeUndefined();
  expect(sandbox).toMatchObject({ updates: 0, eventPosts: 0 });
  expect(await engine.preview(declared(3), options)).not.toContain("may have been carried out");
  expect((await engine.up(declared(3), options)).error).toBeUndefined();
  expect(sandbox).toMatchObject({ updates: 1, eventPosts: 0 });
  expect(sandbox.events).toMatchObject([{ value: 1 }, { value: 3 }]);
});

it("with replaceOnChanges a changed member is replaced", async () => {
  const { sandbox, set } = await start();
  const { id, outs } = await set.create(inputs(two));
  const changed = { ...two, b: { eventName: "Bee", value: 2 } };
  const identity = { identity: "tiny/dev::funnel", run: { isUp: true, resources: 1 }, replaceOnChanges: ["events"] };
  const { inputs: news } = await set.check(inputs(two), { ...inputs(changed), __identity: identity });
  await set.diff(id, outs as Outs, news);
  await set.update(id, outs as Outs, news);
  expect(sandbox).toMatchObject({ eventPosts: 3, updates: 0 });
});

describe.each([[[]], [["events"]], [["defaults"]], [[`events["a"].value`]]])("with secret arguments (%j)", (secret) => {
  it.each([
    ["refused", { kind: "answer", status: 406, body: { errors: ["busy"] } } as const, false],
    ["carried out and got no response", { kind: "close-without-answer" } as const, true],
  ])("an update that was %s is sent again, whatever was changed, and nothing is replaced", async (_, fault, act) => {
    const { sandbox, open } = await start(eventOperations);
    const declare = (value: number, viewWindow: number) => ({
      ...inputs({ a: { eventName: "A", value }, b: { eventName: "B", value: 2 } }),
      defaults: { ...shared.defaults, viewWindow },
      ...(secret.length > 0 && { __secret: secret }),
    });
    const { id, outs } = await open().create(declare(1, 60));
    let olds = outs as Outs;
    for (const news of [declare(5, 60), declare(5, 90)]) {
      sandbox.fail({ on: "update", act, times: 9, with: fault });
      const set = open();
      await set.diff(id, olds, news);
      olds = (await failureOf(set.update(id, olds, news))).properties as Outs;
      sandbox.endFaults();
      const next = open();
      await next.diff(id, olds, news);
      olds = (await next.update(id, olds, news)).outs as Outs;
      expect((await open().diff(id, olds, news)).changes).toBe(false);
    }
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
    expect(sandbox.events.map(({ value, view_window }) => [value, view_window])).toEqual([
      [5, 90],
      [2, 90],
    ]);
  });
});

it.each(["its own", "a default"])(
  "a secret argument that was %s and is removed is taken away by the update after a failed one",
  async (where) => {
    const { sandbox, open } = await start(eventOperations);
    const given = where === "its own" ? [{ eventTypeId: 31337 }, {}] : [{}, { eventTypeId: 31337 }];
    const [own, ofAll] = given;
    const before = {
      ...inputs({ a: { eventName: "A", value: 1, ...own } }),
      defaults: { ...shared.defaults, ...ofAll },
      __secret: [where === "its own" ? 'events["a"].eventTypeId' : "defaults.eventTypeId"],
    };
    const news = inputs({ a: { eventName: "A", value: 5 } });
    const { id, outs } = await open().create(before);
    let olds = outs as Outs;
    expect(sandbox.events).toMatchObject([{ event_type_id: 31337 }]);
    sandbox.fail({ on: "update", times: 1, with: { kind: "answer", status: 406, body: { errors: ["busy"] } } });
    olds = (await failureOf(open().update(id, olds, news))).properties as Outs;
    expect(JSON.stringify(olds)).not.toContain("31337");
    olds = (await open().update(id, olds, news)).outs as Outs;
    const puts = sandbox.requests.filter(({ method }) => method === "PUT");
    expect(puts.at(-1)?.body).toMatchObject({ value: 5, event_type_id: null });
    expect(sandbox.events).toMatchObject([{ value: 5 }]);
    expect(sandbox).toMatchObject({ eventPosts: 1 });
    expect((await open().diff(id, olds, news)).changes).toBe(false);
  },
);

it("a refresh shows a member that was changed or deleted by hand, and the next update corrects both", async () => {
  const { sandbox, set } = await start();
  const { id, outs } = await set.create(inputs(two));
  expect((await set.read(id, outs as Outs)).props).toBe(outs);
  const [a] = sandbox.events;
  Object.assign(a ?? {}, { value: 9 });
  const gone = (outs as Outs).eventIds?.b;
  const [found] = sandbox.requests.filter(({ headers }) => headers.cookie !== undefined);
  await fetch(`${sandbox.url}/rest/event/${gone}`, {
    method: "DELETE",
    headers: { cookie: String(found?.headers.cookie) },
  });
  const { props } = await set.read(id, outs as Outs);
  expect(props).toMatchObject({ events: { a: { eventName: "A", value: 9 } }, eventIds: { a: a?.id } });
  expect((props as Outs).eventIds).not.toHaveProperty("b");
  expect((await set.read(id, props as Outs)).props).toBe(props);
  const { outs: after } = await set.update(id, props as Outs, inputs(two));
  expect(sandbox).toMatchObject({ eventPosts: 3, updates: 1 });
  expect(sandbox.events.map(({ event_name, value }) => [event_name, value])).toEqual([
    ["A", 1],
    ["B", 2],
  ]);
  expect((await set.read(id, after as Outs)).props).toBe(after);
});

describe.each([
  ["an update", { update: eventOperations.update }, "sets it back", { updates: 2, eventPosts: 2 }],
  ["no update", {}, "replaces it", { updates: 0, eventPosts: 4 }],
])("R8: an argument without a default was removed on the platform, with %s known", (_, update, words, sent) => {
  it.each([
    ["of its own", { segmentId: 7 }, {}],
    ["of the set's defaults", {}, { segmentId: 7 }],
    ["of its own beside a default", { segmentId: 7 }, { segmentId: 5 }],
  ])(
    "from a member that has it %s: a refresh says once what the next up does, as for a single event",
    async (_, own, defaults) => {
      const sandbox = await operatedSandbox();
      const settings = operatedSettings({ read: eventOperations.read, ...update });
      const folder = newFolder();
      const engine = new SetEngine(sandbox, folder);
      const declared = { advertiserId: 1, defaults, events: { a: { eventName: "A", value: 1, ...own } } };
      const single = { advertiserId: 1, eventName: "E", value: 1, segmentId: 7, __identity: "tiny/dev::e" };
      await engine.up(declared, { settings });
      const first = newRun(sandbox, folder, { settings });
      const { inputs: news = {} } = await first.event.check({}, single);
      const { id, outs } = await first.event.create(news);
      first.closeNow();
      for (const each of sandbox.events) Object.assign(each, { segment_id: null });

      let state = outs as Outs;
      const refresh = async () => {
        const run = newRun(sandbox, folder, { settings });
        state = carriedBack((await run.event.read(id, state)).props) as Outs;
        run.closeNow();
        const { error, run: ofSet } = await engine.refresh({ settings });
        expect(error).toBeUndefined();
        return [...run.told, ...ofSet.told].map(({ message }) => message.replace(/^.* \(\d\) /, ""));
      };
      const messages = await refresh();
      expect(messages).toEqual([expect.stringContaining(`(segmentId): the next \`pulumi up\` ${words}`), messages[0]]);
      expect(await refresh()).toEqual([]);

      const last = newRun(sandbox, folder, { settings });
      const { replaces = [] } = await last.event.diff(id, state, news);
      await (replaces.length > 0 ? last.event.create(news) : last.event.update(id, state, news));
      expect(await engine.apply(last, declared)).toBeUndefined();
      last.closeNow();
      expect(sandbox).toMatchObject(sent);
      expect(sandbox.events.slice(-2).map((each) => each.segment_id)).toEqual([7, 7]);
    },
  );
});

it("trouble in a refresh removes no member from the state", async () => {
  const { sandbox, set } = await start();
  const { id, outs } = await set.create(inputs(two));
  // test/engine/operations.test.ts does each of these in a real refresh.
  for (const status of [401, 404, 500]) {
    sandbox.fail({ on: "read", with: { kind: "answer", status }, times: 20 });
    expect((await failureOf(set.read(id, outs as Outs))).message).toMatch(/\[ADVERTISING_\w+\]$/);
    sandbox.endFaults();
  }
}, 30_000);

it("members have marks derived from the set's, which stays while nothing changes; one that is sent again has the same mark", async () => {
  const { sandbox, set, clock, open } = await start();
  const declare = (olds: Outs, events: object) => set.check(olds, inputs(events));
  const { inputs: first } = await declare({}, two);
  const base = String(first.__mark).replace(/^alternative_id /, "");
  sandbox.fail({ on: "event", with: { kind: "close-without-answer" } });
  const failure = await failureOf(set.create(first));
  const marks = ["a", "b"].map((key) => memberMark(base, key));
  expect(marks).toContain(sandbox.events[0]?.alternative_id);
  expect((await declare(first as Outs, two)).inputs.__mark).toBe(first.__mark);
  const [fewer, again] = [await declare(first as Outs, { a: two.a }), await open().check(first, inputs({ a: two.a }))];
  expect(fewer.inputs.__mark).not.toBe(first.__mark);
  // An interrupted run saves nothing, and the next run drops Pulumi's record of it, so both must send the same mark.
  expect(again.inputs?.__mark).toBe(fewer.inputs.__mark);
  // Also if the program was edited in between, and whatever is secret: no mark is derived from the arguments.
  const secret = { ...inputs({ a: { ...two.a, value: 7 } }), __secret: ["events.a.value"] };
  expect((await set.check(first, secret)).inputs?.__mark).toBe(fewer.inputs.__mark);
  // A set that was created before there was a field for marks.
  const { __mark: _, ...unmarked } = first;
  const [one, other] = [await set.check(unmarked, inputs({})), await set.check(unmarked, inputs({ b: two.b }))];
  expect(one.inputs?.__mark).toBe(other.inputs?.__mark);
  expect(one.inputs?.__mark).toMatch(/^alternative_id \S{36}$/);

  // Different arguments give the set another mark.
  clock.advance(95_000);
  const news = (await declare(first as Outs, { ...two, c: { eventName: "C", value: 3 } })).inputs;
  const next = open();
  const olds = { ...(failure.properties as Outs) };
  expect((await next.diff(String(failure.id), olds, news)).changes).toBe(true);
  await next.update(String(failure.id), olds, news);
  const marksSent = sandbox.events.map(({ alternative_id }) => alternative_id);
  const baseNow = String(news.__mark).replace(/^alternative_id /, "");
  expect(new Set(marksSent)).toEqual(new Set([...marks, memberMark(baseNow, "c")]));
  expect(sandbox).toMatchObject({ eventPosts: 4 });
});

it("a member of unknown outcome is looked for, in the run and in the next one", async () => {
  const { sandbox, set, clock, open } = await start();
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const first = await set.create(inputs({ a: two.a }));
  expect(sandbox).toMatchObject({ eventPosts: 1, searches: 1 });
  sandbox.fail({ on: "event", with: { kind: "close-without-answer" } });
  const failure = await failureOf(set.update(first.id, first.outs as Outs, inputs(two)));
  expect(failure.properties).toMatchObject({ unresolved: { b: { trace: { field: "alternative_id" } } } });
  clock.advance(95_000);
  const next = open();
  expect((await next.diff(first.id, failure.properties as Outs, inputs(two))).changes).toBe(true);
  const { outs } = await next.update(first.id, failure.properties as Outs, inputs(two));
  expect(outs).not.toHaveProperty("unresolved");
  expect(sandbox).toMatchObject({ eventPosts: 3 });
  expect(sandbox.events.map(({ event_name }) => event_name)).toEqual(["A", "B"]);
});

it("a member that a search proves not created, and that is refused when it is sent again, is no longer unresolved", async () => {
  const { sandbox, set, clock, open } = await start();
  const { a } = two;
  sandbox.fail({ on: "event", with: { kind: "close-without-answer" } });
  const first = await failureOf(set.create(inputs({ a })));
  expect(first.properties).toMatchObject({ unresolved: { a: { trace: { field: "alternative_id" } } } });
  clock.advance(95_000);
  sandbox.fail({ on: "event", with: { kind: "answer", status: 406, body: { errors: ["not now"] } } });
  const [id, olds] = [String(first.id), first.properties as Outs];
  const next = open();
  await next.diff(id, olds, inputs({ a }));
  const refused = await failureOf(next.update(id, olds, inputs({ a })));
  expect(refused.message).toContain("Nothing was created.");
  expect(refused.properties).not.toHaveProperty("unresolved");
  expect(sandbox).toMatchObject({ eventPosts: 2, events: [] });

  const last = open();
  await last.diff(id, refused.properties as Outs, inputs({ a }));
  await last.update(id, refused.properties as Outs, inputs({ a }));
  expect(sandbox).toMatchObject({ eventPosts: 3, events: [{ event_name: "A" }] });
});

it("R2: a search does not confuse a member's former object with the one that its create made, although both have the same mark", async () => {
  const { read, search } = known;
  const { sandbox, set, clock, open } = await start({ read, search });
  const { inputs: declared } = await set.check({}, inputs({ a: two.a }));
  const { id, outs } = await set.create(declared);
  const differsAfterRefresh = async (olds: Outs, object: number) => {
    Object.assign(sandbox.events[object] ?? {}, { value: 9 });
    const { props } = await open().read(id, olds);
    const next = open();
    await next.check(declared, inputs({ a: two.a }));
    expect((await next.diff(id, props as Outs, declared)).changes).toBe(true);
    return { next, olds: props as Outs };
  };
  const lost = (act: boolean) => sandbox.fail({ on: "event", act, with: { kind: "close-without-answer" } });

  const carriedOut = await differsAfterRefresh(outs as Outs, 0);
  lost(true);
  const second = await carriedOut.next.update(id, carriedOut.olds, declared);
  expect(second.outs).toMatchObject({ eventIds: { a: 3 } });

  // 2 was left live, 3 is to be replaced, and the create never arrives.
  const notCarriedOut = await differsAfterRefresh(second.outs as Outs, 1);
  lost(false);
  const failure = await failureOf(notCarriedOut.next.update(id, notCarriedOut.olds, declared));
  expect(failure.message).toContain("there is none");
  clock.advance(95_000);
  const last = open();
  await last.diff(id, failure.properties as Outs, declared);
  const { outs: third } = await last.update(id, failure.properties as Outs, declared);
  expect(third).toMatchObject({ eventIds: { a: 4 } });
  expect(new Set(sandbox.events.map(({ alternative_id }) => alternative_id)).size).toBe(1);
  expect(sandbox.eventPosts).toBe(4);
});

it("two unresolved members with the same arguments are each looked for, by their marks", async () => {
  const { sandbox, set, clock, open } = await start();
  const twins = inputs({ a: two.a, b: two.a });
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" }, times: 2 });
  sandbox.fail({ on: "search", act: false, with: { kind: "answer", status: 500 }, times: 50 });
  const { inputs: declared } = await set.check({}, twins);
  const failure = await failureOf(set.create(declared));
  expect(Object.keys((failure.properties as Outs).unresolved ?? {})).toEqual(["a", "b"]);
  sandbox.endFaults();
  clock.advance(95_000);
  const next = open();
  await next.diff(String(failure.id), failure.properties as Outs, declared);
  const { outs } = await next.update(String(failure.id), failure.properties as Outs, declared);
  expect(Object.keys(outs?.eventIds ?? {})).toEqual(["a", "b"]);
  expect(outs).not.toHaveProperty("unresolved");
  expect(sandbox.eventPosts).toBe(2);
});

it("R8: a refresh after a partly failed update announces nothing, since it creates and sends nothing", async () => {
  const sandbox = await operatedSandbox();
  const engine = new SetEngine(sandbox, newFolder());
  const options = { settings: operatedSettings(known) };
  await engine.up({ ...shared, events: two }, options);
  const former = structuredClone(engine.state?.inputs) ?? expect.fail("no state"); // the engine keeps them after a failed update
  const refusal = { kind: "answer", status: 406, body: { success: false, errors: ["in use"] } } as const;
  sandbox.fail({ on: "event", after: 1, with: refusal });
  const events = { a: two.a, c: { eventName: "C", value: 3 }, d: { eventName: "D", value: 4 } };
  expect((await engine.up({ ...shared, events }, options)).error).toContain("in use");
  const { id, outputs } = engine.state ?? expect.fail("no state");
  const { set, told } = engine.newRun(options);
  const { props } = await set.read(id, outputs);
  await set.diff(id, props as Outs, former);
  expect(told.map(({ message }) => message)).toEqual([]);
  expect(sandbox.eventPosts).toBe(4);
});

it("what an interrupted run has taken over and updated is updated back, if a person says that it is what was sent first", async () => {
  const sandbox = await operatedSandbox();
  const options = { settings: operatedSettings(known) };
  const engine = new SetEngine(sandbox, newFolder());
  const B = { b: { eventName: "B", value: 1 } };
  const declared = (value: number) => ({ advertiserId: 1, events: { ...B, a: { eventName: "A", value } } });
  await engine.up({ advertiserId: 1, events: B }, options);
  const before = structuredClone(engine.state);
  for (const value of [1, 2]) {
    const run = engine.newRun(options);
    expect(await engine.apply(run, declared(value))).toBe(undefined);
    await run.kill();
    engine.state = structuredClone(before);
  }
  const id = sandbox.events.find(({ event_name }) => event_name === "A")?.id;
  expect(sandbox.updates).toBe(1);
  // As `pending --created` saves it: the create that Pulumi's record of the first run has.
  const { events, eventIds, ...rest } = engine.state?.outputs ?? {};
  const outputs = {
    ...rest,
    events: { ...B, a: { eventName: "A", value: 1 } },
    eventIds: { ...(eventIds as object), a: id },
  };
  if (engine.state !== undefined) engine.state = { ...engine.state, outputs };
  expect((await engine.up(declared(1), options)).error).toBe(undefined);
  expect(sandbox.events.find((each) => each.id === id)).toMatchObject({ value: 1 });
  expect(sandbox).toMatchObject({ eventPosts: 2, updates: 2 });
  await engine.up(declared(1), options);
  expect(sandbox.updates).toBe(2);
});
