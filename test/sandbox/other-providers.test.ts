/** Several providers of the plugin in one stack. Each has a process of its own, and knows of the others from the record. */

import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../provider/src/sandbox/index.js";
import { newFolder } from "../support/folder.js";
import { DELETES_ONLY, operatedSandbox } from "../support/operated.js";
import {
  AdvertiserEngine,
  EventEngine,
  runProgram,
  SetEngine,
  wordsOf,
} from "../support/set-engine.js";
import { senderOf } from "../support/stored.js";

const TYPE = "pulumi:providers:advertising";

type Program = Parameters<typeof runProgram>[1];

async function start() {
  const sandbox = await operatedSandbox();
  const folder = newFolder();
  const on = <T extends EventEngine | SetEngine | AdvertiserEngine>(
    plugin: string,
    engine: T,
  ) => {
    engine.plugin = plugin;
    engine.declares = { deletes: true };
    return engine;
  };
  /** A run of one provider's resources. */
  const run = async (program: Program, isUp = true) => {
    const [[first] = []] = program;
    if (!first) throw new Error("empty");
    const now = first.newRun(DELETES_ONLY);
    void now.runtime.record.state();
    const errors = await runProgram(now, program, isUp);
    await now.close();
    expect(errors.filter((each) => each !== undefined)).toEqual([]);
    return wordsOf(now);
  };
  return { sandbox, folder, on, run };
}

it("an advertiser stays live if another provider has events of it", async () => {
  const { sandbox, folder, on, run } = await start();
  const acme = on("default", new AdvertiserEngine(sandbox, folder, "acme"));
  const event = on("second", new EventEngine(sandbox, folder, "buy"));
  await run([[acme, { advertiserName: "Acme" }]]);
  const id = Number(acme.state?.id);
  await run([[event, { eventName: "Buy", value: 1, advertiserId: id }]]);
  for (const isUp of [false, true])
    expect(await run([[acme, undefined]], isUp)).toMatch(
      /isn't deleted, because ConversionEvent "buy" belongs to it/,
    );
  expect([sandbox.deletes, acme.state]).toEqual([0, undefined]);
});

it.each([
  ["of this account", undefined, 0],
  ["of another account", "elsewhere.example.com a@b.c", 1],
])("a set deletes nothing that a provider %s may adopt", async (_, account, deletes) => {
  const { sandbox, folder, on, run } = await start();
  const set = on("default", new SetEngine(sandbox, folder));
  const other = on("second", new EventEngine(sandbox, folder, "other"));
  const [project, stack] = set.stack.split("/");
  const urn = `urn:pulumi:${stack}::${project}::${TYPE}::second`;
  set.saved.set(urn, { id: "0", inputs: {}, outputs: {} });
  if (account !== undefined) {
    await run([[other, { eventName: "Other", value: 1, advertiserId: 1 }]]);
    if (other.state) other.state.inputs.__sender = senderOf("shop/dev::other", { account });
  }
  const of = (...names: string[]) => ({
    advertiserId: 1,
    events: Object.fromEntries(
      names.map((eventName) => [eventName, { eventName, value: 1 }]),
    ),
  });
  await run([[set, of("a", "b")]]);
  const messages = [await run([[set, of("a")]], false), await run([[set, of("a")]])];
  for (const text of messages)
    expect(text.includes("another resource may adopt it, of another provider")).toBe(
      deletes === 0,
    );
  expect([sandbox.deletes, Object.keys(set.eventIds)]).toEqual([deletes, ["a"]]);
});

it("a set of the plugin deletes nothing that the classes may adopt", async () => {
  const { sandbox, folder, on, run } = await start();
  const other = new EventEngine(sandbox, folder, "other");
  const one = { eventName: "Other", value: 1, advertiserId: 1 };
  expect((await other.up(one)).error).toBeUndefined();
  const set = on("default", new SetEngine(sandbox, folder));
  const of = (...names: string[]) => ({
    advertiserId: 1,
    events: Object.fromEntries(
      names.map((eventName) => [eventName, { eventName, value: 1 }]),
    ),
  });
  await run([[set, of("a", "b")]]);
  for (const isUp of [false, true])
    expect(await run([[set, of("a")]], isUp)).toContain(
      "because another resource may adopt it, of another provider",
    );
  expect([sandbox.deletes, sandbox.events.length]).toEqual([0, 3]);
});

/** Two providers have one object. */
async function shared() {
  const { sandbox, folder, on, run } = await start();
  const first = on("default", new EventEngine(sandbox, folder, "buy"));
  const second = on("second", new EventEngine(sandbox, folder, "also"));
  const buy = { eventName: "Buy", value: 1, advertiserId: 1 };
  await run([[first, buy]]);
  await run([[second, { ...buy, existingId: first.state?.id }]]);
  return { sandbox, run, first, second };
}

it("an object that two providers have is kept, also if both leave in one run, and each preview says so", async () => {
  const { sandbox, run, first, second } = await shared();
  for (const each of [first, second])
    expect(await run([[each, undefined]], false)).toMatch(
      each === first
        ? /"buy" \(2\) leaves the state .* also belongs to also\./
        : /"also" \(2\) leaves the state .* also belongs to buy\./,
    );
  const both = [first, second].map((each) => ({ each, now: each.newRun(DELETES_ONLY) }));
  // One engine has started both before anything leaves.
  for (const { now } of both) await now.runtime.record.state();
  for (const { each, now } of both) {
    expect(await runProgram(now, [[each, undefined]])).toEqual([undefined]);
    expect(wordsOf(now)).toContain("because it also belongs to");
  }
  expect([sandbox.deletes, first.state, second.state]).toEqual([0, undefined, undefined]);
});

it("an id that two accounts have is two objects: each preview says that its own is deleted", async () => {
  const { sandbox, run, first, second } = await shared();
  if (second.state) {
    const account = "elsewhere.example.com a@b.c";
    second.state.inputs.__sender = senderOf("shop/dev::also", { account });
  }
  expect(await run([[first, undefined]], false)).toContain("`pulumi up` deletes event 2");
  await run([[first, undefined]]);
  expect([sandbox.deletes, first.state]).toEqual([1, undefined]);
});

it("what moves to another provider isn't said to be deleted", async () => {
  const { sandbox, folder, on, run } = await start();
  const event = on("default", new EventEngine(sandbox, folder, "buy"));
  const rest = on("default", new EventEngine(sandbox, folder, "rest"));
  const of = (eventName: string) => ({ eventName, value: 1, advertiserId: 1 });
  await run([
    [event, of("Buy")],
    [rest, of("Rest")],
  ]);
  const { state } = event;
  expect(await run([[rest, of("Rest")]], false)).toMatch(
    /unless an error ended it early, it waits for an unknown value, or another provider has it\. If none of these, `pulumi up` deletes event 2/,
  );
  const now = rest.newRun(DELETES_ONLY);
  expect(await runProgram(now, [[rest, { ...of("Rest"), value: 2 }]])).toEqual([undefined]);
  event.plugin = "second";
  event.state = state;
  await now.close();
  expect(wordsOf(now)).not.toContain("`buy`");
});

it("an empty program's preview names what the plugin's state has unresolved, and what was in flight", async () => {
  const { sandbox, folder, on, run } = await start();
  const saved = on("default", new EventEngine(sandbox, folder, "buy"));
  const killed = on("default", new EventEngine(sandbox, folder, "rest"));
  sandbox.fail({ ...LOST, times: 2 });
  const of = (eventName: string) => ({ eventName, value: 1, advertiserId: 1 });
  expect((await saved.up(of("Buy"))).error).toMatch(/outcome of 1 create is unknown/);
  await killed.upAndKill(of("Rest"));
  const here = on("default", new EventEngine(sandbox, newFolder(), "rest"));
  expect(await run([[here, undefined]], false)).toContain(
    "An earlier run also sent 2 creates: buy (outcome unknown), rest (outcome unknown)",
  );
  expect(sandbox.eventPosts).toBe(2);
});

it("what a resource of the same name in another provider has just adopted isn't deleted", async () => {
  const { sandbox, folder, on, run } = await start();
  const first = on("default", new EventEngine(sandbox, folder, "buy"));
  const second = on("second", new EventEngine(sandbox, folder, "buy"));
  const buy = { eventName: "Buy", value: 1, advertiserId: 1 };
  await run([[first, buy]]);
  const former = first.state;
  const now = first.newRun(DELETES_ONLY);
  await now.runtime.record.state();
  first.state = undefined;
  await run([[second, { ...buy, existingId: 2 }]]);
  await now.event.delete("2", former?.outputs ?? {});
  expect(wordsOf(now)).toContain("because it also belongs to buy");
  expect(sandbox.deletes).toBe(0);
});

it.each(["default", undefined])(
  "a delete of a cancelled run fails, also if the record can't be read any more (plugin: %s)",
  async (plugin) => {
    const { sandbox, folder, run } = await start();
    const event = new EventEngine(sandbox, folder, "buy");
    event.plugin = plugin;
    event.declares = { deletes: true };
    await run([[event, { eventName: "Buy", value: 1, advertiserId: 1 }]]);
    const now = event.newRun(DELETES_ONLY);
    await now.runtime.record.state();
    event.saved.trouble = "lagging";
    now.runtime.work.cancel();
    expect(await runProgram(now, [[event, undefined]])).toEqual([
      undefined,
      expect.stringContaining("Not sent: this run was cancelled"),
    ]);
    expect([sandbox.deletes, event.state?.id]).toEqual([0, "2"]);
  },
);

it("what leaves is named at the end of an up, when Pulumi has cancelled the plugin, as it always does", async () => {
  const { sandbox, folder, on, run } = await start();
  const event = on("default", new EventEngine(sandbox, folder, "buy"));
  event.declares = { retains: true };
  const rest = on("default", new EventEngine(sandbox, folder, "rest"));
  const of = (eventName: string) => ({ eventName, value: 1, advertiserId: 1 });
  await run([[event, of("Buy")]]);
  const now = event.newRun(DELETES_ONLY);
  void now.runtime.record.state();
  const program: Program = [
    [rest, of("Rest")],
    [event, undefined],
  ];
  expect(await runProgram(now, program)).toEqual([undefined, undefined]);
  now.runtime.work.cancel();
  await now.close();
  expect(wordsOf(now)).toContain("`buy` is no longer in the program");
  expect(sandbox.deletes).toBe(0);
});

const LOST: FaultRule = { on: "event", act: true, with: { kind: "close-without-answer" } };

describe("the classes and the plugin have an event of one name", () => {
  const of = (eventName: string) => ({ eventName, value: 1, advertiserId: 1 });
  const both = async () => {
    const sandbox = await operatedSandbox();
    const classes = new EventEngine(sandbox, newFolder(), "buy");
    const plugin = new EventEngine(sandbox, newFolder(), "buy");
    plugin.plugin = "default";
    return { sandbox, classes, plugin };
  };

  it.each(["classes", "plugin"] as const)(
    "one is in the state, and the create of the other (%s) was interrupted: it isn't sent again",
    async (name) => {
      const { sandbox, ...engines } = await both();
      const killed = engines[name];
      const other = engines[name === "plugin" ? "classes" : "plugin"];
      expect((await other.up(of("Buy"))).error).toBeUndefined();
      sandbox.fail(LOST);
      await killed.upAndKill(of("Other"));
      const { saved } = killed;
      const here = new EventEngine(sandbox, newFolder(), "buy");
      here.plugin = killed.plugin;
      const UNKNOWN_OUTCOME = /The outcome of 1 create is unknown/;
      expect(await here.preview(of("Other"))).toMatch(UNKNOWN_OUTCOME);
      expect((await here.up(of("Other"))).error).toMatch(UNKNOWN_OUTCOME);
      expect((await other.up({ ...of("Buy"), value: 1 })).error).toBeUndefined();
      expect([sandbox.eventPosts, saved.resources.size]).toEqual([2, 2]);
    },
  );

  it("both creates were interrupted: each has its own answer", async () => {
    const { sandbox, classes, plugin } = await both();
    sandbox.fail({ ...LOST, times: 2 });
    const oneEngine = { engineId: "1" };
    await Promise.all([
      classes.upAndKill(of("Buy"), undefined, oneEngine),
      plugin.upAndKill(of("Other"), undefined, oneEngine),
    ]);
    expect(sandbox.eventPosts).toBe(2);
    const first = new EventEngine(sandbox, newFolder(), "buy");
    const second = new EventEngine(sandbox, newFolder(), "buy");
    second.plugin = "default";
    expect(await first.preview(of("Buy"))).toContain('named "Buy"');
    const asked = await second.preview(of("Other"));
    expect(asked).toContain('named "Other"');
    expect(asked).not.toContain('named "Buy"');
  });
});

it("two accounts may have objects of one id: each provider asks about its own", async () => {
  const { sandbox, folder, on } = await start();
  const there = await operatedSandbox();
  const one = on("one", new EventEngine(sandbox, folder, "a"));
  const two = on("two", new EventEngine(there, folder, "b"));
  const declared = { eventName: "E", value: 1, advertiserId: 1 };
  for (const each of [one, two]) expect((await each.up(declared)).error).toBeUndefined();
  expect([one.state?.id, two.state?.id]).toEqual(["2", "2"]);
  expect((await two.refresh(DELETES_ONLY)).error).toBeUndefined();
  expect(await two.destroy(DELETES_ONLY)).toBeUndefined();
  expect([one.state?.id, two.state, sandbox.deletes]).toEqual(["2", undefined, 0]);
});
