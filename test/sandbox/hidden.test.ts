/** What Pulumi's record hides, since it is secret, may show that an object has to stay: nothing is deleted then. */
import { describe, expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { DELETES_ONLY, operatedSandbox } from "../support/operated.js";
import {
  AdvertiserEngine,
  EventEngine,
  RESOURCE_FORMS,
  runProgram,
  SetEngine,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";

type Program = Parameters<typeof runProgram>[1];

async function run(program: Program, isUp = true) {
  const [[first] = []] = program;
  const now = first?.newRun(DELETES_ONLY) ?? expect.fail();
  void now.runtime.record.state();
  const errors = await runProgram(now, program, isUp);
  await now.close();
  expect(errors.filter((each) => each !== undefined)).toEqual([]);
  return wordsOf(now);
}

const PLUGINS = [undefined, "default"];

describe.each(
  RESOURCE_FORMS.flatMap((form) => PLUGINS.map((plugin) => ({ form, plugin }))),
)("$form (plugin: $plugin)", ({ form, plugin }) => {
  const OTHER = { eventName: "Other", value: 1, advertiserId: 1 };
  async function start() {
    const sandbox = await operatedSandbox();
    const folder = newFolder();
    const fixture = new SingleObjectFixture(form, sandbox, folder);
    const other = new EventEngine(sandbox, folder, "other");
    for (const each of [fixture.engine, other]) {
      each.plugin = plugin;
      each.declares = { deletes: true };
    }
    return { sandbox, fixture, other };
  }

  it("its deletionPolicy: it stays live", async () => {
    const { sandbox, fixture, other } = await start();
    fixture.engine.hides = ["deletionPolicy"];
    await run([fixture.is(), [other, OTHER]]);
    const program = [fixture.gone(), [other, OTHER]] as const;
    for (const isUp of [false, true])
      expect(await run(program, isUp)).toMatch(/2\)? .*isn't deleted, because .*secret/);
    expect([sandbox.deletes, fixture.engine.state]).toEqual([0, undefined]);
  });

  it("a secret deletionPolicy is refused", async () => {
    const { sandbox, fixture } = await start();
    const { error } = await fixture.engine.up({
      ...fixture.of({}),
      __secret: ["deletionPolicy"],
    });
    expect(error).toMatch(/deletionPolicy can't be secret/);
    expect(sandbox.eventPosts).toBe(0);
  });

  it("its advertiser, which then stays live", async () => {
    const { sandbox, fixture, other } = await start();
    const acme = new AdvertiserEngine(sandbox, newFolder(), "acme");
    Object.assign(acme, { plugin, declares: { deletes: true } });
    fixture.engine.hides = ["advertiserId"];
    const advertiser = { advertiserName: "Acme" };
    await run([[acme, advertiser]]);
    const advertiserId = Number(acme.state?.id);
    await run([[acme, advertiser], fixture.is({ advertiserId }), [other, OTHER]]);
    const program = [
      [acme, undefined],
      fixture.is({ advertiserId }),
      [other, OTHER],
    ] as const;
    const why = /isn't deleted, because .*"buy" may belong to it: .*secret/;
    expect(await run(program, false)).toMatch(why);
    expect(await run(program)).toMatch(why);
    expect(sandbox.deletes).toBe(0);
  });
});

describe.each(PLUGINS)("a set's eventIds (plugin: %s)", (plugin) => {
  const E = { eventName: "E", value: 1 };
  async function start() {
    const sandbox = await operatedSandbox();
    const folder = newFolder();
    const set = Object.assign(new SetEngine(sandbox, folder, "s"), {
      plugin,
      declares: { deletes: true },
      hides: ["eventIds"],
    });
    return { sandbox, folder, set };
  }

  it("another resource's object stays live: it may also be the set's", async () => {
    const { sandbox, folder, set } = await start();
    const declared = { advertiserId: 1, events: { k: E } };
    await run([[set, declared]]);
    const other = new EventEngine(sandbox, folder, "other");
    Object.assign(other, { plugin: "second", declares: { deletes: true } });
    const adopted = { ...E, advertiserId: 1, existingId: 2 };
    await run([[other, adopted]]);
    const why = /isn't deleted, because nothing shows what s has: .*secret/;
    expect(await run([[other, undefined]], false)).toMatch(why);
    expect(await run([[other, undefined]])).toMatch(why);
    expect(sandbox.deletes).toBe(0);
  });

  it("it's named when the set leaves, and its events stay", async () => {
    const { sandbox, folder, set } = await start();
    const other = new EventEngine(sandbox, folder, "other");
    other.plugin = plugin;
    const OTHER = { ...E, eventName: "Other", advertiserId: 1 };
    await run([
      [set, { advertiserId: 1, events: { k: E } }],
      [other, OTHER],
    ]);
    const program = [
      [set, undefined],
      [other, OTHER],
    ] as const;
    expect(await run(program, false)).toMatch(
      /`s` is no longer .*eventIds are secret.*its events stay live/,
    );
    expect(await run(program)).toMatch(/\(2\) leaves the state and isn't deleted/);
    expect([sandbox.deletes, set.state]).toEqual([0, undefined]);
  });

  it("its advertiser stays live, and so do its own events", async () => {
    const { sandbox, folder, set } = await start();
    const acme = new AdvertiserEngine(sandbox, folder, "acme");
    Object.assign(acme, { plugin, declares: { deletes: true } });
    await run([[acme, { advertiserName: "Acme" }]]);
    const advertiserId = Number(acme.state?.id);
    const two = { advertiserId, events: { k: E, l: { ...E, eventName: "L" } } };
    const one = { advertiserId, events: { k: E } };
    await run([
      [acme, { advertiserName: "Acme" }],
      [set, two],
    ]);
    const program = [
      [acme, undefined],
      [set, one],
    ] as const;
    for (const isUp of [false, true]) {
      const words = await run(program, isUp);
      expect(words).toMatch(/2\)? .*isn't deleted, because .*belong/);
      expect(words).toMatch(/4 isn't deleted, because .*secret/);
    }
    expect(sandbox.deletes).toBe(0);
  });
});

it.each(PLUGINS)(
  "a policy that turns a set's deletionPolicy into retain keeps a removed event (plugin: %s)",
  async (plugin) => {
    const sandbox = await operatedSandbox();
    const set = new SetEngine(sandbox, newFolder());
    Object.assign(set, { plugin, declares: { deletes: true } });
    const E = { eventName: "E", value: 1 };
    const both = { advertiserId: 1, events: { k: E, l: { ...E, eventName: "L" } } };
    await run([[set, both]]);
    set.remediate = (inputs) => ({ ...inputs, deletionPolicy: "retain" });
    const one = { advertiserId: 1, events: { k: E } };
    for (const isUp of [false, true])
      expect(await run([[set, one]], isUp)).toMatch(/3.*stays live/s);
    expect([sandbox.deletes, sandbox.events.length]).toEqual([0, 2]);
  },
);
