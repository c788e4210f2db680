/** A set of events, run after run, over real sockets: what arrives, what is in the state, and the messages. */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { Fault, Sandbox, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { newFolder } from "../support/folder.js";
import { html, lostAnswers } from "../support/lost-answers.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { SetEngine, wordsOf } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";

vi.setConfig({ testTimeout: 120_000 });

type Events = Record<string, Record<string, unknown>>;

async function start(options: SandboxOptions = {}) {
  const sandbox = await useSandbox(options);
  const folder = newFolder();
  const engine = new SetEngine(sandbox, folder);
  const advertiserOf = engine.newRun();
  const { id } = await advertiserOf.advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" });
  advertiserOf.closeNow();
  const advertiserId = Number(id);
  const declare = (events: Events, more: Record<string, unknown> = {}) => ({ advertiserId, events, ...more });
  return { sandbox, folder, engine, declare, logins: sandbox.logins };
}

/** `count` events `k0`, `k1`, … whose names on the platform are their keys. */
const eventsOf = (count: number, value = 1): Events =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, { eventName: `k${index}`, value }]));

/** Expects each declared event in the state with the id of the only object of its name. */
function expectAllOnce(engine: SetEngine, sandbox: Sandbox, events: Events) {
  expect(sandbox.events).toHaveLength(Object.keys(events).length);
  expect(engine.eventIds).toEqual(
    Object.fromEntries(sandbox.events.map(({ event_name, id }) => [String(event_name), id])),
  );
  expect(engine.unresolved).toEqual({});
}

const refusals: Fault[] = [
  { kind: "answer", status: 400, body: { errors: { event: { event_name: ["bad"] } } } },
  { kind: "answer", status: 404, body: { message: "no such thing" } },
  { kind: "answer", status: 406, body: { errors: ["bad"] } },
  { kind: "answer", status: 409, body: { message: "taken" } },
  { kind: "answer", status: 422, body: { message: "bad" } },
  { kind: "answer", status: 200, body: { success: false, message: "bad" } },
];
const nameOf = (fault: Fault) => ("status" in fault ? `${fault.kind} ${fault.status}` : fault.kind);

it("a refresh, which runs no program, says nothing of what the last program would create", async () => {
  const { sandbox, engine, declare } = await start();
  sandbox.fail({ on: "event", after: 1, with: { kind: "answer", status: 406, body: { errors: ["bad"] } } });
  expect((await engine.up(declare(eventsOf(2)))).error).toContain("is in the state");
  const { id = "", outputs = {}, inputs = {} } = engine.state ?? {};
  const run = engine.newRun();
  await run.set.diff(id, outputs, inputs);
  run.closeNow();
  expect([...run.told.map(({ message }) => message), ...run.said].join()).not.toContain("to create");
  expect(await engine.preview(declare(eventsOf(2)))).toContain("to create");
  expect(sandbox.eventPosts).toBe(2);
});

describe("one of 40 events has a fault, and the others go on", () => {
  it.each(lostAnswers.map((fault) => [nameOf(fault), fault] as const))(
    "%s: it stays unresolved until existingId settles it",
    async (_, fault) => {
      const { sandbox, engine, declare } = await start();
      const events = eventsOf(40);
      sandbox.fail({ on: "event", after: 17, act: true, with: fault });
      const first = await engine.up(declare(events));
      expect(first.error).toContain("39 of 40 declared events are in the state");
      expect(first.error).toContain("The outcome of 1 event is unknown");
      expect(first.error).toMatch(/\[ADVERTISING_OUTCOME_UNKNOWN\]$/);
      expect(Object.keys(engine.eventIds)).toHaveLength(39);
      const [open = ""] = Object.keys(engine.unresolved);
      expect(engine.eventIds).not.toHaveProperty([open]);
      // It is not sent again, but a new event is.
      const more: Events = { ...events, new: { eventName: "new", value: 1 } };
      const second = await engine.up(declare(more));
      expect(second.error).toContain(`events["${open}"]: the ConversionEvent named "${open}"`);
      expect(sandbox.eventPosts).toBe(41);
      expect(Object.keys(engine.eventIds)).toHaveLength(40);
      const found = sandbox.events.filter(({ event_name }) => event_name === open);
      expect(found).toHaveLength(1);
      more[open] = { ...more[open], existingId: found[0]?.id };
      expect((await engine.up(declare(more))).error).toBe(undefined);
      delete more[open]?.existingId;
      expect((await engine.up(declare(more))).error).toBe(undefined);
      expect(sandbox.eventPosts).toBe(41);
      expectAllOnce(engine, sandbox, more);
    },
  );

  it.each(refusals.map((fault) => [nameOf(fault), fault] as const))(
    "%s: the next run sends only that one",
    async (_, fault) => {
      const { sandbox, engine, declare } = await start();
      const events = eventsOf(40);
      sandbox.fail({ on: "event", after: 17, with: fault });
      const first = await engine.up(declare(events));
      expect(first.error).toContain("39 of 40 declared events are in the state");
      expect(first.error).toMatch(/\[ADVERTISING_REFUSED\]$/m);
      expect(sandbox.eventPosts).toBe(40);
      expect(await engine.preview(declare(events))).toContain("events: 1 to create, 39 unchanged");
      expect((await engine.up(declare(events))).error).toBe(undefined);
      expect(sandbox.eventPosts).toBe(41);
      expectAllOnce(engine, sandbox, events);
    },
  );

  it.each<[string, Fault]>([
    ["the session ends", { kind: "session-refusal" }],
    ["the rate is limited", { kind: "answer", status: 429, headers: { "retry-after": "0" } }],
    ["the connection closes after the answer", { kind: "close-after" }],
    ["early hints", { kind: "early-hints" }],
  ])("%s: all are created, without a message", async (_, fault) => {
    const { sandbox, engine, declare } = await start();
    sandbox.fail({ on: "event", after: 17, act: !["session-refusal", "answer"].includes(fault.kind), with: fault });
    expect((await engine.up(declare(eventsOf(40)))).error).toBe(undefined);
    expectAllOnce(engine, sandbox, eventsOf(40));
    expect(sandbox.logins).toBeLessThanOrEqual(2);
  });
});

it("40 refusals of two sorts give two reasons", async () => {
  const { sandbox, engine, declare } = await start();
  sandbox.fail({
    on: "event",
    times: 30,
    with: { kind: "answer", status: 406, body: { errors: ["the quota is used up"] } },
  });
  sandbox.fail({
    on: "event",
    times: 10,
    with: { kind: "answer", status: 409, body: { message: "the name is taken" } },
  });
  const { error = "" } = await engine.up(declare(eventsOf(40)));
  expect(error.match(/ADVERTISING_REFUSED/g)).toHaveLength(3); // with that of the whole error
  expect(error).toContain("and 10 more: POST");
  expect(engine.state).toBe(undefined);
  expect((await engine.up(declare(eventsOf(40)))).error).toBe(undefined);
  expectAllOnce(engine, sandbox, eventsOf(40));
  expect(sandbox.eventPosts).toBe(80);
});

it("a platform in trouble gets few creates, not all", async () => {
  const { sandbox, engine, declare } = await start();
  sandbox.fail({
    on: "event",
    times: 1000,
    act: true,
    with: { kind: "answer", status: 502, headers: html, body: "<p>Bad gateway" },
  });
  const { error = "" } = await engine.up(declare(eventsOf(300)));
  expect(sandbox.eventPosts).toBeGreaterThanOrEqual(16);
  expect(sandbox.eventPosts).toBeLessThanOrEqual(48);
  expect(Object.keys(engine.unresolved)).toHaveLength(sandbox.eventPosts);
  expect(error).toMatch(/2\d\d more: .*was not sent, because the outcomes of \d+ events before it are unknown/);
  expect(error.length).toBeLessThan(20_000);
});

it("a login that is refused: one login, no create, one reason", async () => {
  const sandbox = await useSandbox();
  const engine = new SetEngine(sandbox, newFolder());
  const declared = { advertiserId: 1, events: eventsOf(40) };
  const { error = "" } = await engine.up(declared, { settings: { password: "another password" } });
  expect(
    sandbox.logins + sandbox.requests.filter(({ path }) => path.endsWith("authenticate")).length,
  ).toBeLessThanOrEqual(2);
  expect(sandbox.eventPosts).toBe(0);
  expect(error.match(/ADVERTISING_LOGIN/g)?.length).toBeLessThanOrEqual(3);
  expect(error).not.toContain("another password");
  expect(engine.state).toBe(undefined);
});

it("an engine that asks again within the run, as its error hooks do: nothing twice", async () => {
  const { sandbox, engine, declare } = await start();
  const events = eventsOf(40);
  sandbox.fail({ on: "event", after: 5, act: true, with: { kind: "reset" } });
  sandbox.fail({ on: "event", after: 20, with: { kind: "answer", status: 406, body: { errors: ["bad"] } } });
  const run = engine.newRun();
  const before = engine.state;
  for (let i = 0; i < 3; i++) {
    engine.state = before; // error hooks ask for the same again
    expect(await engine.apply(run, declare(events))).toContain("The outcome of 1 event is unknown");
  }
  // All 40, and the refused one again.
  expect(sandbox.eventPosts).toBe(41);
  expect(Object.keys(engine.eventIds)).toHaveLength(39);
  run.closeNow();
  // The same for an update.
  const next = engine.newRun();
  const changed = {
    ...events,
    ...Object.fromEntries(Object.keys(engine.eventIds).map((key) => [key, { eventName: key, value: 2 }])),
  };
  sandbox.fail({ on: "event", after: 20, with: { kind: "answer", status: 406, body: { errors: ["bad"] } } });
  const held = engine.state;
  for (let i = 0; i < 3; i++) {
    engine.state = structuredClone(held);
    await engine.apply(next, declare(changed));
  }
  expect(sandbox.eventPosts).toBe(41 + 39 + 1);
  next.closeNow();
  const [open = ""] = Object.keys(engine.unresolved);
  changed[open] = { ...events[open], existingId: sandbox.events.find(({ event_name }) => event_name === open)?.id };
  const last = await engine.up(declare(changed));
  expect(last.error).toBe(undefined);
  expect(sandbox.eventPosts).toBe(81);
  expect(last.run.told.filter(({ severity }) => severity === "warn")).toEqual([]);
});

describe("killed in the middle", () => {
  const received = async (sandbox: Sandbox, creates: number) => {
    while (sandbox.eventPosts < creates) await sleep(2);
  };

  it("the next run takes over what was created, says so in one message, and sends the rest", async () => {
    const { sandbox, engine, declare } = await start({ latencyMs: 5 });
    const events = eventsOf(400);
    await engine.upAndKill(declare(events), received(sandbox, 100));
    const sent = sandbox.eventPosts;
    expect(sent).toBeLessThan(400);
    expect(engine.state).toBe(undefined);
    const preview = await engine.preview(declare(events));
    expect(preview.match(/`pulumi up` takes it over/g)).toHaveLength(10);
    expect(preview).toContain(`${sent - 10} more, sent by earlier runs: `);
    expect(preview).not.toMatch(/another event|stays live/);
    const { error, run } = await engine.up(declare(events));
    expect(error).toBe(undefined);
    expect(run.told.map(({ message }) => message).join("\n")).toContain(`had created ${sent} events`);
    expect(run.said).toEqual([]);
    expect(sandbox.eventPosts).toBe(400);
    expectAllOnce(engine, sandbox, events);
    expect(await engine.preview(declare(events))).toBe("");
  });

  it("its unresolved events do not block the others", async () => {
    const { sandbox, engine, declare } = await start();
    const lost = sandbox.fail({ on: "event", times: 20, act: true, with: { kind: "answer", status: 502, body: "" } });
    const events = eventsOf(60);
    await engine.upAndKill(declare(events), received(sandbox, 20));
    lost.cancel();
    const unknown = lost.hits;
    expect(unknown).toBeGreaterThanOrEqual(16);
    const { error = "" } = await engine.up(declare(events));
    expect(error).not.toContain("was not sent, because");
    expect(Object.keys(engine.unresolved)).toHaveLength(unknown);
    expect(sandbox.eventPosts).toBe(60);
  });

  it("after an update: its replacements are taken over, and nothing is called unmanaged", async () => {
    const { sandbox, engine, declare } = await start({ latencyMs: 5 });
    await engine.up(declare(eventsOf(200)));
    const changed = eventsOf(200, 2);
    await engine.upAndKill(declare(changed), received(sandbox, 260));
    const preview = await engine.preview(declare(changed));
    expect(preview).not.toMatch(/nothing manages/i);
    expect(preview.split("\n").length).toBeLessThan(25);
    const { error } = await engine.up(declare(changed));
    expect(error).toBe(undefined);
    expect(sandbox.eventPosts).toBe(400);
    const live = new Map(sandbox.events.map(({ id, value }) => [id, value]));
    expect(Object.values(engine.eventIds).map((id) => live.get(id as number))).toEqual(Array(200).fill(2));
  });

  it("if the set is changed back, nothing is sent, and what nothing manages is named", async () => {
    const { sandbox, engine, declare } = await start({ latencyMs: 5 });
    await engine.up(declare(eventsOf(30)));
    await engine.upAndKill(declare(eventsOf(30, 2)), received(sandbox, 40));
    const made = sandbox.events.length - 30;
    expect((await engine.preview(declare(eventsOf(30)))).match(/Nothing manages \d+/g)).toHaveLength(10);
    expect((await engine.up(declare(eventsOf(30)))).error).toBe(undefined);
    expect(sandbox.events.length - 30).toBe(made);
  });

  it("without its memory too, an unresolved event in the state still blocks its key", async () => {
    const { sandbox, engine, declare, folder } = await start();
    const events = eventsOf(5);
    sandbox.fail({ on: "event", after: 2, act: true, with: { kind: "reset" } });
    await engine.up(declare(events));
    rmSync(folder, { recursive: true });
    expect((await engine.up(declare(events))).error).toContain("The outcome of 1 event is unknown");
    expect(Object.keys(engine.unresolved)).toHaveLength(1);
    expect(sandbox.eventPosts).toBe(5);
  });
});

it("1,000 live events are adopted, and nothing is sent", async () => {
  const { sandbox, engine, declare } = await start();
  const events = Object.fromEntries(
    Object.entries(eventsOf(1000)).map(([key, event], index) => [key, { ...event, existingId: 5000 + index }]),
  );
  const { error, run } = await engine.up(declare(events));
  expect(error).toBe(undefined);
  expect(run.told.length + run.said.length).toBeLessThan(5);
  expect(sandbox.eventPosts).toBe(0);
  expect(engine.eventIds.k999).toBe(5999);
  expect((await engine.up(declare(eventsOf(1000)))).error).toBe(undefined);
  expect(sandbox.eventPosts).toBe(0);
  const twice = await engine.up(declare({ ...events, x: { eventName: "x", value: 1, existingId: 5999 } }));
  expect(twice.error).toContain("one object can't be two");
});

it("keys turn their objects around with existingId, and nothing is sent", async () => {
  const { sandbox, engine, declare } = await start();
  const [A, B, C] = ["A", "B", "C"].map((eventName) => ({ eventName, value: 1 }));
  await engine.up(declare({ a: A, b: B, c: C } as Events));
  const { a = 0, b = 0, c = 0 } = engine.eventIds as Record<string, number>;
  const turned = { a: { ...B, existingId: b }, b: { ...C, existingId: c }, c: { ...A, existingId: a } } as Events;
  const preview = await engine.preview(declare(turned));
  expect(preview).toContain("3 to adopt");
  expect(preview).not.toMatch(/stays? live/);
  const { error, run } = await engine.up(declare(turned));
  expect([error, wordsOf(run)]).toEqual([undefined, expect.not.stringMatching(/stays? live|No longer managed/)]);
  expect(engine.eventIds).toEqual({ a: b, b: c, c: a });
  expect(sandbox.eventPosts).toBe(3);
});

it("10,000 members: each created once, a state of at most 400 bytes an event, and few messages", async () => {
  const { sandbox, engine, declare } = await start();
  const events = eventsOf(10_000);
  sandbox.fail({
    on: "event",
    after: 9000,
    times: 500,
    with: { kind: "answer", status: 406, body: { errors: ["bad"] } },
  });
  const first = await engine.up(declare(events));
  expect(first.error).toContain("9500 of 10000 declared events are in the state");
  const { error, run } = await engine.up(declare(events));
  expect(error).toBe(undefined);
  expect(sandbox.eventPosts).toBe(10_500);
  expectAllOnce(engine, sandbox, events);
  expect(run.told.length + run.said.length).toBeLessThan(5);
  // Inputs and outputs, as in the engine's file.
  expect(JSON.stringify(engine.state, undefined, 4).length / 10_000).toBeLessThanOrEqual(400);
  expect(JSON.stringify(engine.state?.outputs).length).toBeLessThan(4 * 1024 * 1024);
});

it("a member with a wrong existingId has its own error, and the others are sent", async () => {
  const sandbox = await operatedSandbox();
  const engine = new SetEngine(sandbox, newFolder());
  const events = {
    a: { eventName: "A", value: 1, existingId: 4711 },
    b: { eventName: "B", value: 2 },
    c: { eventName: "C", value: 3 },
  };
  const { error } = await engine.up({ advertiserId: 1, events }, { settings: operatedSettings() });
  expect(error).toContain("4711");
  expect(Object.keys(engine.eventIds)).toEqual(["b", "c"]);
  expect(sandbox).toMatchObject({ eventPosts: 2 });
});
