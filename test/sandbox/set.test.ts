/** A set of events, run after run, over real sockets: what arrives, what is in the state, and the messages. */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Fault, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { argumentsIn } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { journalLines, SetEngine, wordsOf } from "../support/set-engine.js";
import { encrypted } from "../support/stored.js";

type Events = Record<string, Record<string, unknown>>;

const LOST: Fault = { kind: "reset" };
const REFUSED: Fault = { kind: "answer", status: 406, body: { errors: ["bad"] } };
const of = (events: Events) => ({ advertiserId: 1, events });

/** `count` events `k0`, `k1`, … whose names on the platform are their keys. */
const eventsOf = (count: number, value = 1): Events =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `k${index}`,
      { eventName: `k${index}`, value },
    ]),
  );

async function start(options: SandboxOptions = {}) {
  const [sandbox, folder] = [await operatedSandbox(options), newFolder()];
  const engine = new SetEngine(sandbox, folder);
  const up = async (events: Events) => (await engine.up(of(events))).error;
  /** Each declared event is in the state with the id of the only object of its name. */
  const expectAllOnce = (events: Events) => {
    expect(sandbox.events).toHaveLength(Object.keys(events).length);
    const ids = sandbox.events.map(({ event_name, id }) => [String(event_name), id]);
    expect([engine.eventIds, engine.unresolved]).toEqual([Object.fromEntries(ids), {}]);
  };
  const killAfter = async (events: Events, posts: number) => {
    const received = async () => {
      while (sandbox.eventPosts < posts) await sleep(2);
    };
    await engine.upAndKill(of(events), received());
  };
  return { sandbox, folder, engine, up, expectAllOnce, killAfter };
}

describe("one of 40 events has a fault, and the others go on", () => {
  it("its answer is lost: it stays unresolved until existingId resolves it", async () => {
    const { sandbox, folder, engine, up, expectAllOnce } = await start();
    const events = eventsOf(40);
    sandbox.fail({ on: "event", after: 17, act: true, with: LOST });
    const first = await up(events);
    expect(first).toMatch(
      /The outcome of 1 create is unknown.*\[ADVERTISING_OUTCOME_UNKNOWN\]$/s,
    );
    const [open = ""] = Object.keys(engine.unresolved);
    expect(Object.keys(engine.eventIds)).toEqual(
      Object.keys(events).filter((key) => key !== open),
    );
    // It is not sent again, also without this machine's journal, but a new event is.
    rmSync(folder, { recursive: true });
    const more: Events = { ...events, new: { eventName: "new", value: 1 } };
    const { [open]: _, ...others } = more;
    const renamed = { ...others, renamed: { eventName: open, value: 1 } };
    expect(await up(renamed)).toContain("renamed: 1 object isn't created: ");
    expect(sandbox.eventPosts).toBe(40);
    expect(await up(more)).toContain(`funnel/${open}: the ConversionEvent named "${open}"`);
    expect([sandbox.eventPosts, Object.keys(engine.eventIds).length]).toEqual([41, 40]);
    const found = sandbox.events.filter(({ event_name }) => event_name === open);
    expect(found).toHaveLength(1);
    expect(
      await up({ ...more, [open]: { ...more[open], existingId: found[0]?.id } }),
    ).toBeUndefined();
    expect(await up(more)).toBeUndefined();
    expect(sandbox.eventPosts).toBe(41);
    expectAllOnce(more);
  });

  it("it is refused: the next run sends only that one, and a refresh says nothing of it", async () => {
    const { sandbox, engine, up, expectAllOnce } = await start();
    const events = eventsOf(40);
    sandbox.fail({ on: "event", after: 17, with: REFUSED });
    expect(await up(events)).toMatch(/ is incomplete\..*\[ADVERTISING_REFUSED\]$/s);
    expect(Object.keys(engine.eventIds)).toHaveLength(39);
    const { id = "", outputs = {}, inputs = {} } = engine.state ?? {};
    const refreshing = engine.newRun();
    await refreshing.set.diff(id, outputs, inputs);
    // The inputs may name a stack that has another name by now.
    expect(refreshing.runtime.record.hasBegun).toBe(false);
    expect([wordsOf(refreshing), sandbox.eventPosts]).toEqual(["", 40]);
    expect(await engine.preview(of(events))).toContain("events: 1 to create, 39 unchanged");
    expect(await up(events)).toBeUndefined();
    expect(sandbox.eventPosts).toBe(41);
    expectAllOnce(events);
  });

  it("the session ends: all are created, without a message", async () => {
    const { sandbox, up, expectAllOnce } = await start();
    sandbox.fail({ on: "event", after: 17, with: { kind: "answer", status: 401 } });
    expect(await up(eventsOf(40))).toBeUndefined();
    expectAllOnce(eventsOf(40));
    expect(sandbox.logins).toBe(2);
  });

  it("its existingId is wrong: it has its own error", async () => {
    const { sandbox, engine } = await start();
    const { k0, ...others } = eventsOf(3);
    const { error } = await engine.up(of({ k0: { ...k0, existingId: 4711 }, ...others }), {
      settings: operatedSettings(),
    });
    expect(error).toContain("4711");
    expect([Object.keys(engine.eventIds), sandbox.eventPosts]).toEqual([["k1", "k2"], 2]);
  });
});

it("a platform in trouble gets few creates, not all", async () => {
  const { sandbox, engine, up } = await start();
  sandbox.fail({ on: "event", times: 1000, act: true, with: LOST });
  const error = (await up(eventsOf(300))) ?? "";
  expect(sandbox.eventPosts).toBeGreaterThanOrEqual(16);
  expect(sandbox.eventPosts).toBeLessThanOrEqual(48);
  expect(Object.keys(engine.unresolved)).toHaveLength(sandbox.eventPosts);
  expect(error).toMatch(
    /2\d\d more: .*was not sent, because the outcomes of \d+ events before it are unknown/,
  );
  expect(error.length).toBeLessThan(20_000);
});

it("a login that is refused: one login, no create, one reason", async () => {
  const { sandbox, engine } = await start();
  const { error = "" } = await engine.up(of(eventsOf(40)), {
    settings: { password: "another password" },
  });
  const logins = sandbox.requests.filter(({ path }) => path.endsWith("authenticate"));
  expect([logins.length, sandbox.eventPosts, engine.state]).toEqual([1, 0, undefined]);
  expect(error.match(/ADVERTISING_LOGIN/g)?.length).toBeLessThanOrEqual(3);
  expect(error).not.toContain("another password");
});

describe("killed in the middle", () => {
  it("the next run takes over what was created, says so in one message, and sends the rest", async () => {
    const { sandbox, engine, expectAllOnce, killAfter } = await start({ latencyMs: 5 });
    const events = eventsOf(400);
    await killAfter(events, 100);
    const sent = sandbox.eventPosts;
    expect(sent).toBeLessThan(400);
    const preview = await engine.preview(of(events));
    expect(preview.match(/`pulumi up` takes it over/g)).toHaveLength(10);
    expect(preview).toContain(`${sent - 10} more, sent by earlier runs: `);
    const { error, run } = await engine.up(of(events));
    expect([error, run.said]).toEqual([undefined, []]);
    expect(wordsOf(run)).toContain("taken over from an earlier run: k");
    expect(sandbox.eventPosts).toBe(400);
    expectAllOnce(events);
    expect(await engine.preview(of(events))).toBe("");
  });

  it("its unresolved events do not block the others", async () => {
    const { sandbox, engine, up, killAfter } = await start();
    const lost = sandbox.fail({ on: "event", times: 20, act: true, with: LOST });
    await killAfter(eventsOf(60), 20);
    sandbox.endFaults();
    expect(lost.hits).toBeGreaterThanOrEqual(16);
    expect(await up(eventsOf(60))).not.toContain("was not sent, because");
    expect([Object.keys(engine.unresolved).length, sandbox.eventPosts]).toEqual([
      lost.hits,
      60,
    ]);
  });

  it("of an update its replacements are taken over; if the set is changed back, they are named, and nothing is sent", async () => {
    const { sandbox, engine, up, killAfter } = await start({ latencyMs: 5 });
    await up(eventsOf(60));
    await killAfter(eventsOf(60, 2), 80);
    const sent = sandbox.eventPosts;
    const another =
      /an earlier run also created \d+\. Object \d+ stays live and unmanaged/g;
    expect((await engine.preview(of(eventsOf(60)))).match(another)).toHaveLength(10);
    expect(await engine.preview(of(eventsOf(60, 2)))).not.toMatch(another);
    const { saved } = engine;
    engine.backend = saved.copy();
    expect([await up(eventsOf(60)), sandbox.eventPosts]).toEqual([undefined, sent]);
    engine.backend = saved;
    expect([await up(eventsOf(60, 2)), sandbox.eventPosts]).toEqual([undefined, 120]);
    const live = new Map(sandbox.events.map(({ id, value }) => [id, value]));
    expect(Object.values(engine.eventIds).map((id) => live.get(id as number))).toEqual(
      Array(60).fill(2),
    );
  });
});

describe("a key is renamed with formerKey, and nothing is sent", () => {
  const renamed = (events: Events, from: string, to: string): Events => {
    const { [from]: event, ...others } = events;
    return { ...others, [to]: { ...event, formerKey: from } };
  };

  it("in a state; later formerKey is taken away, and nothing changes", async () => {
    const { sandbox, engine, up } = await start();
    await up(eventsOf(3));
    const { k0, k1, k2 } = engine.eventIds;
    const events = renamed(eventsOf(3), "k1", "new");
    expect(await engine.preview(of(events))).toBe(
      `events: 1 to rename, 2 unchanged\n  to rename: k1 → new (${k1})`,
    );
    const { error, run } = await engine.up(of(events));
    expect([error, wordsOf(run), engine.eventIds]).toEqual([
      undefined,
      "",
      { k0, k2, new: k1 },
    ]);
    expect(engine.state?.outputs.events).not.toHaveProperty("new.formerKey");
    expect(await engine.preview(of(events))).toBe("");
    const { new: event, ...others } = events;
    const { formerKey: _, ...kept } = event ?? {};
    const outputs = structuredClone(engine.state?.outputs);
    expect(await engine.preview(of({ ...others, new: kept }))).toBe("");
    expect(await up({ ...others, new: kept })).toBeUndefined();
    expect([engine.state?.outputs, sandbox.eventPosts]).toEqual([outputs, 3]);
  });

  it.each([[true], [false]])(
    "after a kill of the first run (%s: before the create is answered)",
    async (isLost) => {
      const { sandbox, folder, engine, up } = await start();
      if (isLost) sandbox.fail({ on: "event", times: 1, act: true, with: LOST });
      await engine.upAndKill(of({ ...eventsOf(1), a: { eventName: "A", value: 1 } }));
      const sent = sandbox.eventPosts;
      expect([sent, engine.state]).toEqual([2, undefined]);
      const events = renamed(
        renamed({ ...eventsOf(1), a: { eventName: "A", value: 1 } }, "k0", "b"),
        "a",
        "c",
      );
      // Commands name it as the journal does, which a preview leaves as it is.
      expect(await engine.preview(of(events))).toMatch(
        isLost ? /--created 'funnel\/(k0|a)=/ : /events\["b"\]/,
      );
      const error = await up(events);
      expect([error === undefined, sandbox.eventPosts]).toEqual([!isLost, sent]);
      const open = Object.keys(engine.unresolved);
      expect([...Object.keys(engine.eventIds), ...open].toSorted()).toEqual(["b", "c"]);
      const [key = ""] = open;
      // Under the name that it has now, and with the mark that it was sent with.
      if (isLost) expect(error).toContain(`--created 'funnel/${key}=<its id>'`);
      if (isLost) await up(events); // now the state lists it
      expect(journalLines(folder).filter((each) => /k0|"a"/.test(each))).toEqual([]);
      expect(await engine.preview(of(events))).toContain(
        isLost ? "The outcome of 1 create is unknown" : "",
      );
      expect(sandbox.eventPosts).toBe(sent);
    },
  );

  it("while its create is unresolved in the state, which then has it under the new key", async () => {
    const { sandbox, engine, up } = await start();
    sandbox.fail({ on: "event", times: 1, act: true, with: LOST });
    await up(eventsOf(1));
    const { k0 } = engine.unresolved;
    const events = renamed(eventsOf(1), "k0", "new");
    expect(await engine.preview(of(events))).toContain("--created 'funnel/k0=<its id>'");
    expect(await up(events)).toContain("--created 'funnel/new=<its id>'");
    expect([engine.unresolved, sandbox.eventPosts]).toEqual([{ new: k0 }, 1]);
    expect(
      await up({ new: { ...events.new, existingId: sandbox.events[0]?.id } }),
    ).toBeUndefined();
    expect([engine.eventIds, sandbox.eventPosts]).toEqual([
      { new: sandbox.events[0]?.id },
      1,
    ]);
  });

  it("with retainOnDelete: false, and nothing is deleted", async () => {
    const { sandbox, engine } = await start();
    const settings = operatedSettings();
    engine.declares = { deletes: true };
    await engine.up(of(eventsOf(2)), { settings });
    await engine.up(of(renamed(eventsOf(2), "k0", "new")), { settings });
    expect([
      Object.keys(engine.eventIds).toSorted(),
      sandbox.deletes,
      sandbox.eventPosts,
    ]).toEqual([["k1", "new"], 0, 2]);
  });

  it("an edit beside it replaces the object that it had", async () => {
    const { sandbox, engine, up } = await start();
    await up(eventsOf(1));
    const { k0 } = engine.eventIds;
    const { error, run } = await engine.up(
      of({ new: { eventName: "k0", value: 2, formerKey: "k0" } }),
    );
    expect([error, sandbox.eventPosts]).toEqual([undefined, 2]);
    expect(wordsOf(run)).toContain(`k0 (${k0})`);
  });
});

it("keys turn their objects around with existingId, and nothing is sent", async () => {
  const { sandbox, engine, up } = await start();
  const [A, B, C] = ["A", "B", "C"].map((eventName) => ({ eventName, value: 1 }));
  await up({ a: A, b: B, c: C } as Events);
  const { a, b, c } = engine.eventIds;
  const turned = {
    a: { ...B, existingId: b },
    b: { ...C, existingId: c },
    c: { ...A, existingId: a },
  };
  const preview = await engine.preview(of(turned));
  expect(preview).toContain("3 to adopt");
  const { error, run } = await engine.up(of(turned));
  expect([error, engine.eventIds, sandbox.eventPosts]).toEqual([
    undefined,
    { a: b, b: c, c: a },
    3,
  ]);
  expect(preview + wordsOf(run)).not.toMatch(/stays? live|No longer managed/);
});

it("2,000 members: each created once, a state of at most 400 bytes an event, and few messages", async () => {
  const { sandbox, engine, up, expectAllOnce } = await start();
  const events = eventsOf(2000);
  sandbox.fail({ on: "event", after: 1500, times: 250, with: REFUSED });
  expect(await up(events)).toContain(" is incomplete.");
  expect(Object.keys(engine.eventIds)).toHaveLength(1750);
  const { error, run } = await engine.up(of(events));
  expect([error, sandbox.eventPosts]).toEqual([undefined, 2250]);
  expectAllOnce(events);
  expect(run.told.length + run.said.length).toBeLessThan(5);
  expect(JSON.stringify(engine.state, undefined, 4).length / 2000).toBeLessThanOrEqual(400);
});

describe.each([undefined, "advertising"])(
  "ignoreChanges beside an unresolved create, through the plugin's provider %s",
  (plugin) => {
    const events: Events = Object.fromEntries(
      Object.entries(eventsOf(3)).map(([key, event]) => [
        key,
        { ...event, clickWindow: 86_400 },
      ]),
    );
    /** With `ignoreChanges: ["*"]`, the engine passes the arguments that it has saved. */
    const savedIn = ({ state }: SetEngine) => argumentsIn(state?.inputs ?? {});

    const answered = async (isMade: boolean, isSecret = false) => {
      const { sandbox, engine } = await start();
      engine.plugin = plugin;
      sandbox.fail({ on: "event", after: 2, act: isMade, with: LOST });
      await engine.up(of(events));
      const [key = ""] = Object.keys(engine.unresolved);
      const saved = engine.state?.inputs.events as Events;
      if (isSecret) saved[key] = { eventName: key, value: encrypted };
      const outcomes = {
        [String(engine.unresolved[key]?.mark)]: isMade ? "ConversionEvent 4" : "",
      };
      const environment = { ADVERTISING_ANSWERS: JSON.stringify({ outcomes }) };
      expect((await engine.refresh({ environment })).error).toBeUndefined();
      return { sandbox, engine, key };
    };

    it("that wasn't carried out: the next run creates its event", async () => {
      const { sandbox, engine } = await answered(false);
      expect(await engine.preview(savedIn(engine))).toContain("1 to create, 2 unchanged");
      expect((await engine.up(savedIn(engine))).error).toBeUndefined();
      expect([sandbox.eventPosts, sandbox.events.length]).toEqual([4, 3]);
      expect(Object.keys(engine.eventIds).toSorted()).toEqual(["k0", "k1", "k2"]);
    });

    it("that was carried out: its event keeps its arguments, and nothing is sent", async () => {
      const { sandbox, engine } = await answered(true);
      expect(savedIn(engine).events).toEqual(events);
      expect((await engine.up(savedIn(engine))).error).toBeUndefined();
      expect(await engine.preview(savedIn(engine))).toBe("");
      expect([sandbox.eventPosts, Object.keys(engine.eventIds).length]).toEqual([3, 3]);
    });

    it("of a secret event: the refresh doesn't return what Pulumi's record has encrypted", async () => {
      const { engine, key } = await answered(false, true);
      const { [key]: _, ...others } = events;
      expect(savedIn(engine).events).toEqual(others);
    });
  },
);
