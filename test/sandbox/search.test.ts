/** Creates of unknown outcome that a search resolves, single events' and a set's alike; a create's end in the journal. */

import { describe, expect, it } from "vitest";
import { JournalError } from "../../provider/src/base/index.js";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import type {
  Fault,
  FaultRule,
  SandboxAnswerer,
} from "../../provider/src/sandbox/index.js";
import { markOf, senderIn } from "../../provider/src/state/index.js";
import { aheadBy, FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { type InstallationOptions, jsonAnswer } from "../support/installation.js";
import { eventOperations, operatedSandbox } from "../support/operated.js";
import { failureOf, newRun, withClock } from "../support/run.js";
import {
  journalLines,
  RESOURCE_FORMS,
  runProgram,
  SetEngine,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";
import { senderOf } from "../support/stored.js";

const lost: Fault = { kind: "close-without-answer" };
const eventWith = (id: number, alternative_id = "") => ({
  id,
  event_name: "E",
  advertiser_id: 1,
  alternative_id,
});
/** An answer to a search. */
const answerWith =
  (found: (mark: string | undefined) => object[]): SandboxAnswerer =>
  (_, { path }) =>
    jsonAnswer({ payload: found(path.split("=")[1]) });
/** From then on a create that was sent can no longer arrive. */
const TOO_LATE_MS = 1_000_000;

async function start(options: InstallationOptions = {}, more: object = {}) {
  const clock = new FakeClock(Date.now());
  const [sandbox, folder] = [
    await operatedSandbox({ clock: () => clock.wallMs(), ...options }),
    newFolder(),
  ];
  const operations = {
    event: { search: eventOperations.search },
    createdVisibleAfterSeconds: 0,
    ...more,
  };
  const settings = { operations: JSON.stringify(operations), markField: "alternative_id" };
  /** On a machine whose clock is ahead by some hours. */
  const runAhead = (hours: number) => {
    const own = aheadBy(hours * 3_600_000, clock);
    return { settings, adapt: (runtime: Runtime): Runtime => withClock(runtime, own) };
  };
  /** Searches prove nothing then; unlike a 500, this answer is not asked for again after a pause. */
  const noSearch = () =>
    sandbox.fail({ on: "search", with: { kind: "answer", status: 404 }, times: 50 });
  return { sandbox, folder, clock, noSearch, runAhead, run: runAhead(0) };
}

describe.each(RESOURCE_FORMS)("%s: an answer that is lost", (shape) => {
  async function one(...given: Parameters<typeof start>) {
    const started = await start(...given);
    const { sandbox, folder, run } = started;
    const fixture = (at = folder, name = "e") =>
      new SingleObjectFixture(shape, sandbox, at, name);
    const e = fixture();
    const up = async (of = e, event = {}) => (await of.up(event, run)).error;
    /** On a machine without the journal. */
    const elsewhere = () => fixture(newFolder());
    return { ...started, fixture, e, up, elsewhere };
  }

  it("is found by its mark in the same run, perhaps only later", async () => {
    const { sandbox, clock, e, run } = await one();
    sandbox.fail({ on: "search", with: answerWith(() => []), times: 2 });
    sandbox.fail({ on: "event", act: true, with: lost });
    const { error, run: now } = await e.up({}, run);
    expect([error, e.id]).toEqual([undefined, "2"]);
    expect(wordsOf(now)).toContain(
      `${e.label} was created as 2: its response was lost, but a search found it.`,
    );
    expect(clock.sleeps).toEqual([0, 1000, 2000]);
    expect(sandbox).toMatchObject({ eventPosts: 1, searches: 3 });
  });

  it("C2, C3: is unresolved if it is not found; the next run sends it, with its mark, once it can no longer arrive", async () => {
    const { sandbox, clock, e, up, run } = await one();
    sandbox.fail({ on: "event", with: lost });
    const words =
      /Searched for alternative_id = (\S+) until \S+: nothing found\..*From \S+ on, .* sends the create again/;
    const [, mark] = words.exec((await up()) ?? "") ?? [];
    expect(await up()).toMatch(words);
    expect(sandbox.eventPosts).toBe(1);
    clock.advance(TOO_LATE_MS);
    expect(await e.preview({}, run)).toMatch(/look for on|searches/);
    expect(await up()).toBeUndefined();
    expect([e.id, sandbox.events[0]?.alternative_id, sandbox.eventPosts]).toEqual([
      "2",
      mark,
      2,
    ]);
  });

  it("R6: counts as not made only from its last sending on", async () => {
    const { sandbox, clock, up, e } = await one();
    sandbox.fail({ on: "event", with: lost, times: 2 });
    await up();
    const first = e.unresolved?.latest;
    clock.advance(TOO_LATE_MS);
    for (let time = 0; time < 2; time++) {
      expect(await up()).toMatch(/Searched for/);
      expect(sandbox.eventPosts).toBe(2);
    }
    expect(Number(new Date(String(e.unresolved?.latest)))).toBeGreaterThanOrEqual(
      Number(new Date(String(first))) + TOO_LATE_MS,
    );
    clock.advance(TOO_LATE_MS);
    expect([await up(), e.id, sandbox.eventPosts]).toEqual([undefined, "2", 3]);
  });

  it.each(["on another machine", "where Pulumi can't be asked", "with checkpoints off"])(
    "R6: is not sent a third time soon after a killed run has sent it again, %s",
    async (where) => {
      const { sandbox, clock, up, e, elsewhere, run } = await one();
      if (where === "with checkpoints off")
        Object.assign(run, { environment: { PULUMI_SKIP_CHECKPOINTS: "true" } });
      sandbox.fail({ on: "event", with: lost, times: 2 });
      await up();
      clock.advance(TOO_LATE_MS);
      await e.kill({}, run);
      expect(sandbox.eventPosts).toBe(2);
      const there = where === "on another machine" ? elsewhere() : e;
      if (where === "where Pulumi can't be asked") e.engine.saved.trouble = "no rights";
      for (let time = 0; time < 2; time++) {
        expect(await up(there)).toMatch(/Searched for/);
        expect(sandbox.eventPosts).toBe(2);
      }
      clock.advance(TOO_LATE_MS);
      await up(there);
      expect(new Set(sandbox.events.map(({ alternative_id }) => alternative_id)).size).toBe(
        sandbox.events.length,
      );
    },
  );

  it.each([
    [-7, 7],
    [7, -7],
  ])(
    "on a machine %d h ahead is sent again by one %d h ahead only once the platform's time allows it",
    async (hours, otherHours) => {
      const { sandbox, clock, e, elsewhere, runAhead } = await one();
      sandbox.fail({ on: "event", with: lost });
      await e.up({}, runAhead(hours));
      const other = elsewhere();
      expect((await other.up({}, runAhead(otherHours))).error).toMatch(/Searched for/);
      expect(sandbox.eventPosts).toBe(1);
      clock.advance(TOO_LATE_MS);
      expect((await other.up({}, runAhead(otherHours))).error).toBeUndefined();
      expect([other.id, sandbox.eventPosts]).toEqual(["2", 2]);
    },
  );

  it("is not sent again on a platform that sends no Date, and no moment is named", async () => {
    const { sandbox, clock, up } = await one({ date: () => undefined });
    sandbox.fail({ on: "event", with: lost });
    for (let time = 0; time < 3; time++) {
      const error = await up();
      expect(error).toContain("nothing found.");
      expect(error).not.toContain("sends the create again");
      clock.advance(3_600_000);
    }
    expect(sandbox.eventPosts).toBe(1);
  });

  it("C6: is never sent again with resendAfterSeconds: never, nor if the engine asks again; only the last search is told", async () => {
    const { sandbox, clock, e, up, run, elsewhere } = await one(
      {},
      { resendAfterSeconds: "never" },
    );
    const body = { message: "Gateway. Searched for an upstream: none" };
    sandbox.fail({ on: "event", with: { kind: "answer", status: 502, body } });
    await up();
    clock.advance(3_600_000);
    for (const of of [e, elsewhere()]) {
      const now = of.engine.newRun(run);
      for (let time = 0; time < 3; time++) {
        const error = await of.engine.apply(now, of.of({}));
        expect(error?.match(/Searched for alternative_id/g)).toHaveLength(1);
        expect(error).toContain("Searched for an upstream: none");
      }
      await now.close();
    }
    expect(sandbox.eventPosts).toBe(1);
  });

  it("is taken over as it is, though a killed run has sent it again with other arguments", async () => {
    const { sandbox, clock, up, e, run } = await one();
    sandbox.fail({ on: "event", with: lost });
    await up();
    clock.advance(TOO_LATE_MS);
    await e.kill({ value: 2 }, run);
    expect(sandbox.eventPosts).toBe(2);
    for (let time = 0; time < 2; time++) expect(await up(e, { value: 2 })).toBeUndefined();
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 2]);
  });

  it("with a known update, gets all arguments in the next run, if nobody knows which of two sendings made it", async () => {
    const { search, update } = eventOperations;
    const { sandbox, clock, up, e, run } = await one({}, { event: { search, update } });
    sandbox.fail({ on: "event", with: lost });
    await up();
    clock.advance(TOO_LATE_MS);
    await e.kill({ value: 2 }, run);
    expect(await up(e, { value: 2 })).toMatch(
      /arguments that differ from the program's: e.* \(2, perhaps\)\./,
    );
    expect([e.id, sandbox.updates]).toEqual(["2", 0]);
    for (let time = 0; time < 2; time++) expect(await up(e, { value: 2 })).toBeUndefined();
    expect([e.id, sandbox.eventPosts, sandbox.updates]).toEqual(["2", 2, 1]);
  });

  it("C3: is found by a machine without the journal, and under another name by an alias", async () => {
    const { sandbox, fixture, up, e, noSearch, elsewhere } = await one();
    sandbox.fail({ on: "event", act: true, with: lost });
    noSearch();
    await up();
    sandbox.endFaults();
    const [there, renamed] = [elsewhere(), fixture(undefined, "renamed")];
    renamed.engine.backend = e.engine.saved.copy();
    renamed.engine.declares = { formerKeys: [e.engine.ref.key] };
    for (const of of [there, renamed])
      expect([await up(of), of.id]).toEqual([undefined, "2"]);
    expect(sandbox.eventPosts).toBe(1);
  });

  it("C2: is not hidden by what its create was to replace, which the journal still has as new", async () => {
    const { sandbox, e, up, noSearch, elsewhere } = await one();
    await up();
    const there = elsewhere();
    sandbox.fail({ on: "event", act: true, with: lost });
    noSearch();
    await up(there, { value: 2 });
    sandbox.endFaults();
    expect([await up(e, { value: 2 }), e.id, sandbox.eventPosts]).toEqual([
      undefined,
      "3",
      2,
    ]);
  });

  it.each<[string, RegExp, FaultRule["with"]]>([
    ["proves nothing", /Searched for/, { kind: "answer", status: 200, body: {} }],
    [
      "ignores the filter",
      /check the filter in advertising:operations/,
      answerWith(() => [eventWith(7, "another")]),
    ],
    [
      "finds two",
      /found 2 objects: 8 and 9/,
      answerWith((mark) => [8, 9].map((id) => eventWith(id, mark))),
    ],
  ])("C2: is not sent again if the search %s", async (_, words, fault) => {
    const objects = { advertisers: [{ id: 1 }], events: [eventWith(7, "another")] };
    const { sandbox, clock, e, up } = await one({ objects });
    sandbox.fail({ on: "event", with: lost });
    sandbox.fail({ on: "search", with: fault, times: 1000 });
    expect(await up()).toMatch(words);
    clock.advance(3_600_000);
    expect(await up()).toMatch(words);
    expect([e.unresolved?.name, sandbox.eventPosts]).toEqual(["E", 1]);
  });

  it.each([
    ["another name", "eventName", { event_name: "Other" }],
    ["another advertiser", "advertiserId", { advertiser_id: 99 }],
  ])("what a search finds with %s than was sent is no find", async (_, argument, other) => {
    const { sandbox, clock, e, up } = await one();
    sandbox.fail({ on: "event", act: true, with: lost });
    sandbox.fail({
      on: "search",
      with: answerWith((mark) => [{ ...eventWith(2, mark), ...other }]),
      times: 1000,
    });
    for (let time = 0; time < 2; time++) {
      expect(await up()).toContain(
        `A search found object 2, which has another ${argument} than was sent.`,
      );
      clock.advance(TOO_LATE_MS);
    }
    expect([e.id, e.unresolved?.name, sandbox.eventPosts]).toEqual([undefined, "E", 1]);
  });

  it.each([
    ["in the same run", true],
    ["in a later run", false],
  ])(
    "an object that a search finds %s with another value than was sent is saved as it is, and told",
    async (_, isSameRun) => {
      const { search, update } = eventOperations;
      const { sandbox, e, run, noSearch } = await one({}, { event: { search, update } });
      sandbox.fail({ on: "event", act: true, with: lost });
      if (!isSameRun) {
        noSearch();
        await e.up({}, run);
        sandbox.endFaults();
      }
      sandbox.fail({
        on: "search",
        with: answerWith((mark) => [{ ...eventWith(2, mark), value: 99 }]),
      });
      const { error, run: now } = await e.up({}, run);
      expect(error).toMatch(/differ from the program's: e.* \(2\)\./);
      expect(wordsOf(now)).toContain(
        `${e.label} (2) isn't on the platform as the program has it: value 1 → 99.`,
      );
      const saved = e.engine.saved.copy();
      expect([(await e.up({ value: 99 }, run)).error, sandbox.updates]).toEqual([
        undefined,
        0,
      ]);
      e.engine.backend = saved;
      expect([(await e.up({}, run)).error, e.id, sandbox.updates]).toEqual([
        undefined,
        "2",
        1,
      ]);
      expect(sandbox.eventPosts).toBe(1);
    },
  );

  it("an object that it had before, or that another resource has, is none that it finds", async () => {
    const { sandbox, clock, fixture, e, up, run, noSearch } = await one();
    await up();
    // Each has the mark of what it replaces, but a search may answer with the former one.
    for (const id of [2, 3]) {
      sandbox.fail({ on: "event", with: lost });
      sandbox.fail({
        on: "search",
        times: 6,
        with: answerWith((mark) => [eventWith(id, mark)]),
      });
      expect(await up(e, { value: id })).toMatch(/Searched for/);
      sandbox.endFaults();
      clock.advance(TOO_LATE_MS);
      expect([await up(e, { value: id }), e.id]).toEqual([undefined, String(id + 1)]);
    }
    expect(sandbox.eventPosts).toBe(5);
    sandbox.fail({ on: "event", act: true, with: lost });
    noSearch();
    await up(e, { value: 9 });
    sandbox.endFaults();
    const now = e.engine.newRun(run);
    const adopter = fixture(undefined, "adopter");
    const program = [
      [adopter.engine, adopter.of({ existingId: 5 })],
      [e.engine, e.of({ value: 9 })],
    ] as const;
    expect(await runProgram(now, program)).toEqual([
      undefined,
      expect.stringContaining(`already belongs to ${adopter.label}`),
    ]);
    await now.close();
    expect([e.id ?? "4", adopter.id, sandbox.eventPosts]).toEqual(["4", "5", 6]);
  });

  it.each([true, false])(
    "of a killed run is found if it was carried out (%s), or sent once it can no longer arrive",
    async (act) => {
      const { sandbox, clock, e, up, run, noSearch } = await one();
      sandbox.fail({ on: "event", act, with: lost });
      noSearch();
      await e.kill({}, run);
      sandbox.endFaults();
      expect(await e.preview({}, run)).toMatch(
        /its outcome is unknown\. `pulumi up` searches the platform for it|to look for on the platform: k/,
      );
      if (!act) expect(await up()).toMatch(/Searched for/);
      clock.advance(act ? 0 : TOO_LATE_MS);
      expect([await up(), e.id, sandbox.eventPosts]).toEqual([undefined, "2", act ? 1 : 2]);
    },
  );

  it("without a mark is not searched for; without a known search the mark is sent all the same, and follows from the inputs", async () => {
    const { sandbox, clock, e, run: searching } = await one();
    sandbox.fail({ on: "event", act: true, with: lost });
    await e.up();
    clock.advance(3_600_000);
    expect((await e.up({}, searching)).error).toContain("Look in the account");
    expect([e.unresolved?.name, sandbox.searches, sandbox.eventPosts]).toEqual(["E", 0, 1]);
    const other = new SingleObjectFixture("a single event", sandbox, newFolder(), "other");
    await other.up({ eventName: "Other" }, { settings: { markField: "alternative_id" } });
    const { run, field } = senderIn(other.engine.state?.inputs ?? {});
    expect([field, sandbox.events.at(-1)?.alternative_id]).toEqual([
      "alternative_id",
      markOf(run, other.engine.ref.key),
    ]);
  });
});

it.each([
  ["set back", {}, { value: 1 }, "2"],
  ["updated", { update: eventOperations.update }, { value: 5 }, "2"],
])(
  "a set's replacement that a search rules out isn't sent if the event is %s meanwhile",
  async (_, more, event, id) => {
    const { sandbox, clock, run, folder } = await start();
    const set = new SetEngine(sandbox, folder, "s");
    const declared = (advertiserId: number, entry: object) => ({
      ...{ advertiserId, events: { k: { eventName: "E", ...entry } } },
    });
    await set.up(declared(1, { value: 1 }), run);
    sandbox.fail({ on: "event", with: lost });
    expect((await set.up(declared(2, { value: 1 }), run)).error).toMatch(/Searched for/);
    clock.advance(TOO_LATE_MS);
    const operations = JSON.stringify({
      event: { search: eventOperations.search, ...more },
      createdVisibleAfterSeconds: 0,
    });
    const settings = { ...run.settings, operations };
    const { error } = await set.up(declared(1, event), { ...run, settings });
    expect([error, set.eventIds, Object.keys(set.unresolved), sandbox.eventPosts]).toEqual([
      undefined,
      { k: Number(id) },
      [],
      2,
    ]);
    expect(sandbox.events.find((each) => String(each.id) === id)?.value).toBe(event.value);
  },
);

it("a set's default that changes counts, though nobody knew which of two sendings made its event", async () => {
  const { search, update } = eventOperations;
  const updating = await start({}, { event: { search, update } });
  const { sandbox, clock, folder } = updating;
  const set = new SetEngine(sandbox, folder, "s");
  const declared = (eventTypeId: number) => ({
    ...{ advertiserId: 1, defaults: { eventTypeId } },
    events: { k: { eventName: "E", value: 1 } },
  });
  sandbox.fail({ on: "event", with: lost });
  await set.up(declared(1), updating.run);
  clock.advance(TOO_LATE_MS);
  await set.upAndKill(declared(2), undefined, updating.run);
  expect((await set.up(declared(2), updating.run)).error).toContain("(2, perhaps)");
  const operations = JSON.stringify({ event: { search }, createdVisibleAfterSeconds: 0 });
  const settings = { ...updating.run.settings, operations };
  const { error } = await set.up(declared(3), { ...updating.run, settings });
  expect([error, set.eventIds, sandbox.eventPosts]).toEqual([undefined, { k: 3 }, 3]);
});

describe("C5: the end of a create", () => {
  const inputs = {
    eventName: "E",
    advertiserId: 1,
    value: 1,
    __sender: senderOf("tiny/dev::e"),
  };

  it.each([
    ["created", undefined, "e created 2"],
    ["of unknown outcome", lost, "e sent"],
    [
      "refused",
      { kind: "answer", status: 406, body: { errors: ["no"] } } as Fault,
      undefined,
    ],
  ])("is noted before the engine gets it: %s", async (_, fault, noted) => {
    const { sandbox, folder } = await start();
    const run = newRun(sandbox, folder);
    if (fault !== undefined) sandbox.fail({ on: "event", with: fault });
    await run.event.declare(inputs).catch(() => undefined);
    expect([journalLines(folder), sandbox.eventPosts]).toEqual([
      noted === undefined ? [] : [noted],
      1,
    ]);
  });

  it("that can't be noted is said, and changes no outcome", async () => {
    const { sandbox, folder } = await start();
    const failing = async () =>
      Promise.reject(new JournalError("The journal can't be written: no space left."));
    const adapt = (runtime: Runtime): Runtime => ({
      ...runtime,
      journal: () =>
        Object.assign(runtime.journal(), {
          recordCreated: failing,
          recordNotCarriedOut: failing,
        }),
    });
    const run = newRun(sandbox, folder, { adapt });
    expect((await run.event.declare(inputs)).id).toBe("2");
    expect(run.said).toEqual([
      `ConversionEvent "e" was created as 2. The journal can't be written: no space left.`,
    ]);
    sandbox.fail({
      on: "event",
      with: { kind: "answer", status: 406, body: { errors: ["no"] } },
    });
    const other = await failureOf(
      run.event.declare({ ...inputs, __sender: senderOf("tiny/dev::other") }),
    );
    expect([other.id, other.message]).toEqual([
      undefined,
      expect.stringContaining("Nothing was created."),
    ]);
    expect(sandbox.eventPosts).toBe(2);
  });
});
