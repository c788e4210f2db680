/** A set's members with more operations. What single resources share is in `operations.test.ts`, `search.test.ts`. */
import { describe, expect, it } from "vitest";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import {
  markOf,
  memberOf,
  objectKey,
  senderIn,
  UNKNOWN,
} from "../../provider/src/state/index.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { failureOf, withClock } from "../support/run.js";
import { EventEngine, runProgram, SetEngine, wordsOf } from "../support/set-engine.js";

const A = { eventName: "A", value: 1 };
const B = { eventName: "B", value: 2 };
const C = { eventName: "C", value: 3 };
const of = (events: object, more: object = {}) => ({ advertiserId: 1, events, ...more });
const refusal = { kind: "answer", status: 406, body: { errors: ["busy"] } } as const;
const lost = { kind: "close-without-answer" } as const;

async function start(
  operations: Partial<typeof eventOperations> = eventOperations,
  deletes = false,
) {
  const clock = new FakeClock(Date.now());
  const sandbox = await operatedSandbox({ clock: () => clock.wallMs() });
  const folder = newFolder();
  const engine = new SetEngine(sandbox, folder);
  engine.declares = { deletes };
  const adapt = (runtime: Runtime): Runtime => withClock(runtime, clock);
  const options = {
    settings: { ...operatedSettings(operations), maxWaitSeconds: "0" },
    adapt,
  };
  const up = async (declared: Record<string, unknown>) =>
    (await engine.up(declared, options)).error;
  const sent = (wanted: string) =>
    sandbox.requests.filter(({ method }) => method === wanted);
  const puts = () => sent("PUT").map(({ body }) => body);
  const deleted = () => sent("DELETE").map(({ path }) => Number(path.split("/").at(-1)));
  const live = () => sandbox.events.map(({ event_name }) => event_name).toSorted();
  return { sandbox, folder, clock, engine, options, up, puts, deleted, live };
}

it("with --refresh, a member that is gone and no longer declared is only said to be gone", async () => {
  const { sandbox, engine, options } = await start(eventOperations, true);
  const run = engine.newRun(options);
  await runProgram(run, [[engine, of({ a: A, b: B })]]);
  await run.close();
  sandbox.delete("event", 2);
  const { id, inputs, outputs } = engine.state ?? expect.fail();
  const refreshed = engine.newRun(options);
  const { props } = await refreshed.set.read(id, outputs);
  engine.state = { id, inputs, outputs: props as typeof outputs };
  expect(await runProgram(refreshed, [[engine, of({ b: B })]])).toEqual([undefined]);
  await refreshed.close();
  expect(wordsOf(refreshed)).toMatch(/is no longer on the platform/);
  expect(wordsOf(refreshed)).not.toMatch(/isn't deleted/);
  expect([sandbox.deletes, sandbox.events.length]).toEqual([0, 1]);
});

it("members whose deletes find nothing stay, and the error names the way out, which works in one run", async () => {
  const { sandbox, engine, up } = await start({ delete: eventOperations.delete }, true);
  expect(await up(of({ a: A, b: B, c: C }))).toBeUndefined();
  for (const id of [2, 3]) sandbox.delete("event", id);
  for (let run = 0; run < 2; run++)
    expect(await up(of({ c: C }))).toMatch(
      /404: event 2 was not found\..*If it isn't, keep the set, remove its deletionPolicy and this key, and run `pulumi up` once\./s,
    );
  const { deletes } = sandbox;
  engine.declares = {};
  expect(await up(of({ c: C }))).toBeUndefined();
  engine.declares = { deletes: true };
  expect(await up(of({ c: C }))).toBeUndefined();
  expect(engine.eventIds).toEqual({ c: 4 });
  expect(sandbox).toMatchObject({ deletes, eventPosts: 3 });
});

it("the way out of a replaced event whose delete finds nothing keeps its key, in each run", async () => {
  const { sandbox, engine, up } = await start({ delete: eventOperations.delete }, true);
  await up(of({ a: A }));
  sandbox.delete("event", 2);
  for (let run = 0; run < 2; run++)
    expect(await up(of({ a: { ...A, value: 5 } }))).toMatch(
      /If it isn't, run `pulumi up` once without the deletionPolicy\./,
    );
  engine.declares = {};
  expect(await up(of({ a: { ...A, value: 5 } }))).toBeUndefined();
  expect([engine.eventIds, sandbox.eventPosts]).toEqual([{ a: 3 }, 2]);
});

it("a removed set whose deletes fail stays whole in the state: the error lists them, and says what follows", async () => {
  const { sandbox, engine, up, options, deleted } = await start(
    { delete: eventOperations.delete },
    true,
  );
  expect(await up(of({ a: A, b: B, c: C }))).toBeUndefined();
  sandbox.fail({ on: "delete", after: 1, times: 4, with: refusal });
  const error = await engine.destroy(options);
  expect(error?.match(/events\["\w"\] of /g)).toHaveLength(2);
  expect(error).toContain("Before you declare it again");
  expect([engine.eventIds, sandbox.events.length]).toEqual([{ a: 2, b: 3, c: 4 }, 2]);
  expect(deleted()).toHaveLength(5);
});

it("where a read is known, the error of an interrupted destroy names a refresh, first and once, which resolves it", async () => {
  const { sandbox, engine, up, options, clock } = await start(eventOperations, true);
  const keys = ["a", "b", "c", "d"];
  const events = Object.fromEntries(keys.map((key) => [key, { ...A, eventName: key }]));
  expect(await up(of(events))).toBeUndefined();
  for (const id of [2, 3]) sandbox.delete("event", id);
  // The other objects can't be deleted either, so that nothing proves anything.
  sandbox.fail({ on: "delete", times: 4, with: refusal });
  const error = (await engine.destroy(options)) ?? "";
  expect(error).toMatch(
    /^If objects are no longer in the account, first run `pulumi refresh --stack .*\n/,
  );
  expect(error).not.toMatch(/remove its deletionPolicy|Look in the account/);
  expect(error.match(/pulumi refresh/g)).toHaveLength(1);
  clock.advance(25 * 3600_000);
  expect((await engine.refresh(options)).error).toBeUndefined();
  expect(engine.eventIds).toEqual({ c: 4, d: 5 });
  expect(await engine.destroy(options)).toBeUndefined();
  expect(sandbox.events).toEqual([]);
});

it("a changed member is updated in place", async () => {
  const { sandbox, engine, up, puts } = await start();
  await up(of({ a: A, b: B }));
  const { eventIds } = engine;
  for (const _ of [1, 2])
    expect(await up(of({ a: A, b: { ...B, eventName: "Bee" } }))).toBeUndefined();
  expect([engine.eventIds, puts()]).toEqual([eventIds, [{ event_name: "Bee" }]]);
  expect(sandbox).toMatchObject({ eventPosts: 2, updates: 1, deletes: 0 });
});

describe.each([[[]], [["events"]], [["defaults"]]])(
  "with secret arguments (%j)",
  (secret) => {
    it.each([
      ["refused", refusal, false],
      ["carried out and got no response", lost, true],
    ] as const)(
      "an update that was %s is sent again, whatever was changed, and nothing is replaced",
      async (_, fault, act) => {
        const { sandbox, up, puts } = await start();
        const declare = (value: number, viewWindow: number) =>
          of(
            { a: { ...A, value }, b: B },
            { defaults: { viewWindow }, ...(secret.length > 0 && { __secret: secret }) },
          );
        await up(declare(1, 60));
        for (const news of [declare(5, 60), declare(5, 90)]) {
          sandbox.fail({ on: "update", act, times: 9, with: fault });
          expect(await up(news)).toMatch(
            /busy|ADVERTISING_BAD_ANSWER|ADVERTISING_NOT_SENT/,
          );
          sandbox.endFaults();
          expect(await up(news)).toBeUndefined();
          const sent = puts().length;
          expect([await up(news), puts().length]).toEqual([undefined, sent]);
        }
        expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
        const now = sandbox.events.map(
          ({ value, view_window }) => `${value} ${view_window}`,
        );
        expect(now).toEqual(["5 90", "2 90"]);
      },
    );
  },
);

it.each([true, false])(
  "a secret argument that is removed (its own: %s, or a default) is in no state, and is taken away by the update after a failed one",
  async (isOwn) => {
    const { sandbox, engine, up, puts } = await start();
    const secret = { eventTypeId: 31337 };
    const __secret = [isOwn ? "events" : "defaults"];
    await up(
      of(
        { a: { ...A, ...(isOwn && secret) } },
        { defaults: isOwn ? {} : secret, __secret },
      ),
    );
    expect(sandbox.events).toMatchObject([{ event_type_id: 31337 }]);
    const news = of({ a: { ...A, value: 5 } });
    sandbox.fail({ on: "update", with: refusal });
    expect(await up(news)).toContain("busy");
    expect(JSON.stringify(engine.state?.outputs)).not.toContain("31337");
    expect(await up(news)).toBeUndefined();
    expect(puts().at(-1)).toMatchObject({ value: 5, event_type_id: null });
    expect(await up(news)).toBeUndefined();
    expect(sandbox).toMatchObject({ eventPosts: 1, updates: 2 });
  },
);

it("marks follow from the run that sent them; twins are looked for, and one that is sent again has the same mark", async () => {
  const { sandbox, clock, engine, up } = await start();
  sandbox.fail({ on: "event", act: true, with: lost, times: 1 });
  sandbox.fail({ on: "event", with: lost, times: 1 });
  sandbox.fail({ on: "search", with: refusal, times: 50 });
  expect(await up(of({ a: A, b: A }))).toContain("The outcome of 2 creates is unknown");
  sandbox.endFaults();
  const marksNow = (...keys: string[]) => {
    const { run } = senderIn(engine.state?.inputs ?? {});
    return keys.map((key) => markOf(run, memberOf(engine.ref.key, key)));
  };
  const [a, b] = marksNow("a", "b");
  expect(engine.unresolved).toMatchObject({
    a: { mark: a },
    b: { mark: b, field: "alternative_id" },
  });
  expect(await up(of({ a: A, b: A }))).toContain("The outcome of 1 create is unknown");
  clock.advance(95_000);
  expect(
    await up({ ...of({ a: A, b: A, c: { ...A, value: 7 } }), __secret: ["events"] }),
  ).toBeUndefined();
  const marks = sandbox.events.map(({ alternative_id }) => String(alternative_id));
  expect(marks.toSorted()).toEqual([a, b, ...marksNow("c")].toSorted());
  expect([Object.keys(engine.eventIds), engine.unresolved, sandbox.eventPosts]).toEqual([
    ["a", "b", "c"],
    {},
    4,
  ]);
});

describe("with the deletionPolicy and a known delete", () => {
  const { read, delete: removal } = eventOperations;
  const deleting = () => start({ read, delete: removal }, true);
  const changed = { a: { ...A, value: 9 } };
  const RETAINED = "the resource has the option retainOnDelete";

  it("what leaves it is deleted, once, and last of all", async () => {
    const { sandbox, engine, options, up, live, deleted } = await deleting();
    await up(of({ a: A, b: B, c: C }));
    const { a, b, c } = engine.eventIds;
    const declared = of({ ...changed, b: B });
    const preview = await engine.preview(declared, options);
    expect(preview).toContain(`to replace: a (${a})`);
    expect(preview).toContain(`to delete on the platform: c (${c})`);
    const { error, run } = await engine.up(declared, options);
    expect([error, wordsOf(run)]).toEqual([
      undefined,
      'ConversionEventSet "funnel": deleted 2, 4 on the platform.',
    ]);
    expect(preview + wordsOf(run)).not.toContain("stays live");
    expect(deleted().toSorted()).toEqual([a, c]);
    const order = sandbox.requests.map(({ method }) => method);
    expect(order.indexOf("DELETE")).toBeGreaterThan(order.lastIndexOf("POST"));
    expect([live(), engine.eventIds]).toEqual([
      ["A", "B"],
      { a: sandbox.events.at(-1)?.id, b },
    ]);
    await up(declared);
    expect(engine.state?.outputs).not.toHaveProperty("__left");
    expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 2 });
  });

  it.each([
    ["an earlier run has saved it", true, undefined],
    ["it arrives in this run", false, undefined],
    ["it arrives in this run, through the plugin", false, "default"],
  ])(
    "Pulumi's option retainOnDelete keeps what leaves it, if %s; that is named once",
    async (_, isSaved, plugin) => {
      const { sandbox, engine, options, up } = await deleting();
      engine.plugin = plugin;
      engine.declares = { deletes: true, retains: isSaved };
      await up(of({ a: A, b: B }));
      const { b } = engine.eventIds;
      engine.declares = { deletes: true, retains: true };
      // Before the run only the engine knows an option that the record doesn't have.
      if (isSaved) {
        const preview = await engine.preview(of({ a: A }), options);
        expect(preview).toContain(`to remove from the state: b (${b})`);
        expect(preview).not.toContain("to delete");
        expect(preview).toContain(RETAINED);
      }
      const { error, run } = await engine.up(of({ a: A }), options);
      expect([error, sandbox.deletes]).toEqual([undefined, 0]);
      const messages = [...run.told.map(({ message }) => message), ...run.said];
      expect(messages).toEqual([
        expect.stringMatching(`\\b${b}\\b.* deleted, because ${RETAINED}`),
      ]);
      expect(engine.state?.outputs.__left).toMatchObject([{ id: String(b) }]);
    },
  );

  it("an interrupted run's option doesn't keep what leaves it later", async () => {
    const { sandbox, engine, options, up } = await deleting();
    engine.declares = { deletes: true, retains: true };
    await engine.upAndKill(of({ a: A, b: B }), undefined, options);
    engine.declares = { deletes: true };
    await up(of({ a: A, b: B }));
    expect([await up(of({ a: A })), sandbox.deletes]).toEqual([undefined, 1]);
  });

  it("nothing is deleted if anything else fails; what was removed or replaced waits in the state", async () => {
    const { sandbox, engine, options, up, live, deleted } = await deleting();
    await up(of({ a: A, b: B }));
    const { a, b } = engine.eventIds;
    const declared = of({ ...changed, c: C });
    sandbox.fail({ on: "event", after: 1, with: refusal });
    expect(await up(declared)).toContain("busy");
    expect([deleted(), engine.eventIds]).toMatchObject([[], { b, [`a#${a}`]: a }]);
    sandbox.fail({ on: "delete", with: refusal, times: 4 });
    expect(await up(declared)).toMatch(/busy\./);
    sandbox.endFaults();
    expect(live()).toEqual(["A", "A", "B", "C"]);
    const waiting = structuredClone(engine.state);
    expect(await engine.preview(declared, options)).toContain(
      `to delete on the platform: a#${a} (${a}), b (${b})`,
    );
    // If the option is on again before that, it stays live, and is noted.
    const { declares } = engine;
    engine.declares = {};
    const { deletes } = sandbox;
    const reason = `${a}–${b} aren't deleted, because the program no longer asks for it`;
    expect(await engine.preview(declared, options)).toContain(reason);
    const { error, run } = await engine.up(declared, options);
    expect([error, sandbox.deletes, sandbox.eventPosts]).toEqual([undefined, deletes, 5]);
    expect(wordsOf(run)).toContain(reason);
    const left = [a, b].map((id) => ({ id: String(id) }));
    expect(engine.state?.outputs.__left).toMatchObject(left);
    engine.state = waiting;
    engine.declares = declares;
    expect(await up(declared)).toBeUndefined();
    expect(live()).toEqual(["A", "C"]);
    expect(deleted().slice(-2).toSorted()).toEqual([a, b]);
  });

  it("if Pulumi can't be asked, what leaves it stays live, in the preview as in the `up`", async () => {
    const { sandbox, engine, options, up } = await deleting();
    await up(of({ a: A, b: B }));
    engine.saved.trouble = "no rights";
    const declared = of({ a: A });
    const preview = await engine.preview(declared, options);
    const { run } = await engine.up(declared, options);
    for (const said of [preview, wordsOf(run)]) {
      expect(said).toContain("isn't deleted, because Pulumi's record doesn't show whether");
      expect(said).not.toContain("on the platform (deletionPolicy");
    }
    expect(sandbox.deletes).toBe(0);
  });

  const failed = { kind: "answer", status: 500, body: "" } as const;
  it.each([
    ["failed", failed, false, undefined],
    [
      "lost its answer",
      lost,
      true,
      /If .* run `pulumi refresh .*\n {2}b#\d+ \(\d+\): .*404/,
    ],
  ] as const)(
    "a replaced member whose delete %s waits beside the new one, and the next run deletes it",
    async (_, fault, act, next) => {
      const { sandbox, clock, engine, options, up, deleted } = await deleting();
      await up(of({ a: A, b: B }));
      const { b } = engine.eventIds;
      const declared = of({ a: A, b: { ...B, value: 9 } });
      sandbox.fail({ on: "delete", act, with: fault, times: 1 });
      const { error, run } = await engine.up(declared, options);
      expect(error).toContain("The next `pulumi up` sends only what is missing or failed.");
      expect(wordsOf(run)).toBe("");
      expect(engine.state?.outputs).toMatchObject({
        events: { b: { value: 9 }, [`b#${b}`]: B },
        eventIds: { b: expect.not.stringMatching(`^${b}$`), [`b#${b}`]: b },
      });
      expect(await engine.preview(declared, options)).toContain(
        `to delete on the platform: b#${b} (${b})`,
      );
      const again = await up(declared);
      expect(again ?? "").toMatch(next ?? /^$/);
      expect(deleted()).toEqual([b, b]);
      // What it says is the way out.
      clock.advance(25 * 3600_000);
      if (next) expect((await engine.refresh(options)).error).toBeUndefined();
      expect(await up(declared)).toBeUndefined();
      expect(Object.keys(engine.eventIds)).toEqual(["a", "b"]);
      expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 2 });
    },
  );

  it("what is renamed and replaced at once is deleted, or stays live under its former key", async () => {
    const { sandbox, engine, options, up, deleted } = await deleting();
    await up(of({ a: A, b: B }));
    const { b } = engine.eventIds;
    const renamed = (value: number, to: string, formerKey: string) =>
      of({ a: A, [to]: { ...B, value, formerKey } });
    const { error, run } = await engine.up(renamed(5, "c", "b"), options);
    expect([error, deleted()]).toEqual([undefined, [b]]);
    expect(wordsOf(run)).not.toContain("isn't deleted");
    const { c } = engine.eventIds;
    engine.declares = {};
    const kept = await engine.up(renamed(6, "d", "c"), options);
    expect(wordsOf(kept.run)).toContain(`  c (${c})\n`);
    expect(engine.state?.outputs.__left).toMatchObject([
      { id: String(c), key: "c", name: "B" },
    ]);
    expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 1 });
  });

  it("an object that another key or resource has, or may get, is not deleted", async () => {
    const { sandbox, engine, up } = await deleting();
    await up(of({ a: A, b: B }));
    const { a, b } = engine.eventIds;
    // It moves to another key of the set, and to another resource.
    engine.declares = {
      deletes: true,
      adopted: `ConversionEvent ${a},ConversionEvent ${b}`,
    };
    expect(await up(of({ c: { ...A, existingId: a } }))).toBeUndefined();
    expect(engine.eventIds).toEqual({ c: a });
    // An id that is not known yet may be this one.
    engine.declares = { deletes: true, adopted: objectKey("ConversionEvent", UNKNOWN) };
    expect([await up(of({})), engine.eventIds]).toEqual([undefined, {}]);
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
  });

  it("a removed member is deleted, also in the run that renames its set", async () => {
    const { sandbox, folder, engine, options, up, deleted } = await deleting();
    // Once created, once seen in the state.
    for (const _ of [1, 2]) await up(of({ a: A, b: B }));
    const { b } = engine.eventIds;
    const renamed = new SetEngine(sandbox, folder, "renamed");
    renamed.declares = {
      deletes: true,
      formerKeys: ["ConversionEventSet::funnel"],
    };
    const { error, run } = await renamed.up(of({ a: A }), options);
    expect([error, deleted()]).toEqual([undefined, [b]]);
    expect(wordsOf(run)).not.toContain("was not deleted");
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
  });

  it("what it is about to delete is not adopted later: the preview fails, with the way on", async () => {
    const { sandbox, engine, options, up } = await deleting();
    await up(of({ a: A, b: B }));
    const { b } = engine.eventIds;
    // The set's context doesn't have what is declared after an `await`.
    engine.declares = { deletes: true, adopted: "" };
    const later = (existingId: unknown, isFirst = false, isUp = false) => {
      const run = engine.newRun(options);
      const event = { ...B, advertiserId: 1, existingId };
      const adopter = engine.beside(EventEngine, "later");
      const inOrder: Parameters<typeof runProgram>[1] = [
        [engine, of({ a: A })],
        [adopter, event],
      ];
      return runProgram(run, isFirst ? inOrder.toReversed() : inOrder, isUp);
    };
    expect(await later(b)).toEqual([
      undefined,
      expect.stringMatching(
        /^ConversionEvent "later": ConversionEventSet "funnel" deletes \d+, perhaps before it is adopted. First adopt it in a run with deletionPolicy: "retain" in Con/,
      ),
    ]);
    expect((await later(UNKNOWN))[1]).toContain("isn't known yet: it may name what");
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
    // Without a preview, and too late.
    const [, error] = await later(b, false, true);
    expect(error).toMatch(/this run deleted \d+ \(existingId\)/);
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
  });

  it.each([false, true])(
    "through the plugin, a preview fails whichever is declared first (the adopter: %s)",
    async (isFirst) => {
      const { sandbox, engine, options, up } = await deleting();
      engine.plugin = "default";
      await up(of({ a: A, b: B }));
      const adopter = engine.beside(EventEngine, "later");
      adopter.plugin = "default";
      const event = { ...B, advertiserId: 1, existingId: engine.eventIds.b };
      const inOrder: Parameters<typeof runProgram>[1] = [
        [engine, of({ a: A })],
        [adopter, event],
      ];
      const program = isFirst ? inOrder.toReversed() : inOrder;
      const errors = await runProgram(engine.newRun(options), program, false);
      expect(errors.filter(Boolean)).toEqual([
        expect.stringMatching(/First adopt it in a run with deletionPolicy: "retain" in /),
      ]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
    },
  );

  it("a changed deletionPolicy changes the state alone, and counts from the next run on", async () => {
    const { sandbox, engine, up } = await start({ ...eventOperations }, false);
    await up(of({ a: A, b: B, c: C }));
    sandbox.requests.length = 0;
    engine.declares = { deletes: true };
    expect(await up(of({ a: A, b: B, c: C }))).toBeUndefined();
    expect([engine.state?.outputs.deletionPolicy, sandbox.requests]).toEqual([
      "delete",
      [],
    ]);
    engine.declares = { deletes: false };
    await up(of({ a: A, b: B }));
    expect(engine.state?.outputs).not.toHaveProperty("deletionPolicy");
    engine.declares = { deletes: true };
    await up(of({ a: A }));
    expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 0 });
    await up(of({}));
    expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 1 });
  });

  it("removing a set deletes all its objects, if necessary in a second run", async () => {
    const { sandbox, engine, options, up } = await deleting();
    const events = Array.from(
      { length: 40 },
      (_, n) => [`k${n}`, { eventName: `E${n}`, value: n }] as const,
    );
    await up(of(Object.fromEntries(events)));
    const { id = "", outputs = {} } = engine.state ?? {};
    sandbox.fail({ on: "delete", after: 30, with: refusal, times: 20 });
    const destroy = { ...options, command: { command: "destroy" } };
    const run = engine.newRun(destroy);
    const { message } = await failureOf(run.set.delete(id, outputs));
    expect(message).toMatch(/^If .*\nevents\["k\d+"\].*busy.*\[ADVERTISING_REFUSED\]$/s);
    await run.close();
    expect(sandbox.events).toHaveLength(10);
    // What is missing is asked about again, once the delete has worked.
    await engine.newRun(destroy).set.delete(id, outputs);
    expect(sandbox.events).toEqual([]);
    expect(sandbox).toMatchObject({ eventPosts: 40, logins: 1 });
  });
});
