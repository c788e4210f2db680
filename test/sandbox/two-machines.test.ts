/** One stack on two machines, each with its own journals: what a preview here says of what was done there. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../provider/src/sandbox/index.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox } from "../support/operated.js";
import {
  RESOURCE_FORMS,
  runProgram,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";

const LOST: FaultRule = { on: "event", act: true, with: { kind: "close-without-answer" } };

describe.each(RESOURCE_FORMS)("%s that leaves the program", (form) => {
  it.each<[string, Record<string, unknown>[], string, number]>([
    ["created", [{}], "2", 1],
    ["replaced", [{}, { value: 2 }], "3", 2],
    ["adopted", [{ existingId: 2 }], "2", 0],
  ])("is named with its id where it wasn't %s", async (_, ups, id, posts) => {
    const theirs = { id: 2, event_name: "E", advertiser_id: 1, value: 1 };
    const events = posts === 0 ? [theirs] : [];
    const objects = { advertisers: [{ id: 1, active: true }], events };
    const sandbox = await operatedSandbox({ objects });
    const there = new SingleObjectFixture(form, sandbox, newFolder(), "old");
    for (const event of ups) expect((await there.up(event)).error).toBeUndefined();
    const here = newFolder();
    const [old, fresh] = ["old", "fresh"].map(
      (name) => new SingleObjectFixture(form, sandbox, here, name),
    ) as [SingleObjectFixture, SingleObjectFixture];
    for (const isUp of [false, true]) {
      const run = fresh.engine.newRun();
      const errors = await runProgram(run, [old.gone(), fresh.is({ value: 9 })], isUp);
      await run.close();
      expect(errors).toEqual([undefined, undefined]);
      const named = new RegExp(
        `\`old(?:/k)?\` is no longer in the program(?:, unless an error ended it early, it waits for an unknown value, or another provider has it)?\\. (?:Its|If none of these, its) event ${id} \\("E"\\) stays live`,
        "g",
      );
      // By the time an `up` ends, its state has it no more.
      expect(wordsOf(run).match(named)).toHaveLength(1);
    }
    expect([old.id, sandbox.eventPosts]).toEqual([undefined, posts + 1]);
  });
});

describe.each(RESOURCE_FORMS)(
  "%s of a run that was killed after its object was saved",
  (form) => {
    it("and that left the state elsewhere, is asked about when it's declared again", async () => {
      const sandbox = await operatedSandbox();
      const here = newFolder();
      const [e, other] = ["e", "other"].map(
        (name) => new SingleObjectFixture(form, sandbox, here, name),
      ) as [SingleObjectFixture, SingleObjectFixture];
      const run = e.engine.newRun();
      expect(await runProgram(run, [e.is(), other.is({ eventName: "Other" })])).toEqual([
        undefined,
        undefined,
      ]);
      await sleep(1); // what nobody waits for
      await run.kill();
      const there = newFolder();
      const [gone, kept] = ["e", "other"].map(
        (name) => new SingleObjectFixture(form, sandbox, there, name),
      ) as [SingleObjectFixture, SingleObjectFixture];
      const next = gone.engine.newRun();
      await runProgram(next, [gone.gone(), kept.is({ eventName: "Other" })]);
      await next.close();
      expect([e.id, sandbox.eventPosts]).toEqual([undefined, 2]);
      const asked = "Only this machine's journal has it";
      expect(await e.preview()).toContain(asked);
      expect((await e.up()).error).toContain(asked);
      expect(sandbox.eventPosts).toBe(2);
    });
  },
);

describe.each(RESOURCE_FORMS)(
  "%s: a create of unknown outcome that a colleague has resolved",
  (form) => {
    const start = async () => {
      const sandbox = await operatedSandbox();
      const [here, there] = [newFolder(), newFolder()].map(
        (folder) => new SingleObjectFixture(form, sandbox, folder),
      ) as [SingleObjectFixture, SingleObjectFixture];
      sandbox.fail(LOST);
      await here.up();
      return { sandbox, here, there };
    };
    const resolved = async () => {
      const started = await start();
      const outcomes = { [String(started.here.unresolved?.mark)]: "ConversionEvent 2" };
      const environment = { ADVERTISING_ANSWERS: JSON.stringify({ outcomes }) };
      const { error } = await started.there.engine.refresh({ environment });
      expect(error).toBeUndefined();
      return started;
    };

    it("and nothing else: a preview here warns of no second one", async () => {
      const { sandbox, here, there } = await resolved();
      await there.up();
      expect(await here.preview()).toBe("");
      expect(sandbox.eventPosts).toBe(1);
    });

    it("and then replaced: a preview here warns of no second one", async () => {
      const { sandbox, here, there } = await resolved();
      await there.up({ value: 2 });
      expect(await here.preview({ value: 2 })).toBe("");
      expect([here.id, sandbox.eventPosts]).toEqual(["3", 2]);
    });

    it("by existingId: a preview here warns of no second one", async () => {
      const { sandbox, here, there } = await start();
      expect((await there.up({ existingId: 2 })).error).toBeUndefined();
      expect(await here.preview({ existingId: 2 })).toBe("");
      expect([here.id, sandbox.eventPosts]).toEqual(["2", 1]);
    });

    it("while another create of this machine is open: that one is warned of", async () => {
      const { sandbox, here, there } = await resolved();
      sandbox.fail(LOST);
      // It replaces what the colleague found, and nobody knows whether it did.
      await here.kill({ value: 2 });
      for (const machine of [here, there])
        expect(await machine.preview({ value: 2 })).toMatch(/its outcome is unknown/);
      expect(sandbox.eventPosts).toBe(2);
    });
  },
);

describe.each(RESOURCE_FORMS)(
  "%s in a state that was imported into another backend",
  (form) => {
    const there = { environment: { PULUMI_BACKEND_URL: "file:///other" } };
    /** A state that names a run. */
    const start = async () => {
      const [sandbox, folder] = [await operatedSandbox(), newFolder()];
      const named = (name: string) => new SingleObjectFixture(form, sandbox, folder, name);
      const before = await named("other").up({ eventName: "Other" });
      expect(before.error).toBeUndefined();
      return { sandbox, e: named("e") };
    };

    it.each([true, false])(
      "is asked about after a kill, since the import drops what was in flight (created: %s)",
      async (isMade) => {
        const { sandbox, e } = await start();
        if (!isMade) sandbox.fail(LOST);
        await e.kill();
        const imported = e.engine.saved.copy();
        imported.operations = [];
        e.engine.backend = imported;
        for (const said of [await e.preview({}, there), (await e.up({}, there)).error])
          expect(said).toMatch(/The outcome of 1 create is unknown.*pending --created/s);
        expect(sandbox.eventPosts).toBe(2);
      },
    );

    it("isn't stopped by a run of the original that is still going on", async () => {
      const { sandbox, e } = await start();
      const copied = e.engine.saved.copy();
      const run = e.engine.newRun();
      run.runtime.begin(e.engine.ref, true);
      await run.runtime.journal().recordSending({
        ...{
          key: e.engine.ref.key,
          run: run.runtime.runName,
          mark: "m",
          at: "",
          body: "b",
        },
      });
      e.engine.backend = copied;
      expect(await e.preview({}, there)).not.toContain("unknown");
      expect((await e.up({}, there)).error).toBeUndefined();
      expect(sandbox.eventPosts).toBe(2);
      await run.close();
    });
  },
);

it.each(["tiny/dev", "tiny/renamed"])(
  "an up of a stack that was tiny/dev and is %s: Pulumi saves what has another identity only after its record was read",
  async (stack) => {
    const sandbox = await operatedSandbox();
    const event = new SingleObjectFixture("a single event", sandbox, newFolder());
    expect((await event.up()).error).toBeUndefined();
    const { engine } = event;
    const run = engine.newRun();
    const { saved } = engine;
    const read = saved.read.bind(saved);
    const order: string[] = [];
    saved.read = async () => {
      await sleep(100);
      order.push("read");
      return read();
    };
    // Before its last resource, a program waits for the record anyway.
    const more = { run: { isUp: true, resources: 2 } };
    engine.declares = { identity: `${stack}::${engine.name}`, ...more };
    await runProgram(run, [event.is()]);
    order.push("saved");
    await run.close();
    const isSame = stack === "tiny/dev";
    expect(order).toEqual(isSame ? ["saved", "read"] : ["read", "saved"]);
    expect(sandbox.eventPosts).toBe(1);
  },
);
