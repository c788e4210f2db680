/** Creates of unknown outcome that a search resolves, single events' and a set's alike; a create's end in the journal. */
import { describe, expect, it } from "vitest";
import { JournalError, systemClock } from "../../provider/src/base/index.js";
import { conversionEvent } from "../../provider/src/kinds/index.js";
import { searchByMark } from "../../provider/src/operations/create.js";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import type {
  Fault,
  FaultRule,
  SandboxAnswerer,
} from "../../provider/src/sandbox/index.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { type InstallationOptions, jsonAnswer } from "../support/installation.js";
import { struck } from "../support/killing.js";
import { eventOperations, operatedSandbox } from "../support/operated.js";
import { failureOf, newRun } from "../support/run.js";
import {
  journalLines,
  RESOURCE_FORMS,
  runProgram,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";

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
  const adapt = (runtime: Runtime): Runtime => ({ ...runtime, clock });
  /** Searches prove nothing then; unlike a 500, this answer is not asked for again after a pause. */
  const noSearch = () =>
    sandbox.fail({ on: "search", with: { kind: "answer", status: 404 }, times: 50 });
  return { sandbox, folder, clock, noSearch, run: { settings, adapt } };
}

describe.each(RESOURCE_FORMS)("%s: an answer that is lost", (shape) => {
  async function one(...given: Parameters<typeof start>) {
    const started = await start(...given);
    const { sandbox, folder, run } = started;
    const fixture = (at = folder, name = "e") =>
      new SingleObjectFixture(shape, sandbox, at, name);
    const e = fixture();
    const up = async (of = e, event = {}) => (await of.up(event, run)).error;
    /** The same state on a machine without the journal. */
    const elsewhere = () => {
      const other = fixture(newFolder());
      other.engine.state = structuredClone(e.engine.state);
      return other;
    };
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
    expect(clock.sleeps).toEqual([1000, 2000]);
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
      now.closeNow();
    }
    expect(sandbox.eventPosts).toBe(1);
  });

  it("C3: is found by a machine without the journal, and under another name by an alias", async () => {
    const { sandbox, fixture, up, e, noSearch, elsewhere } = await one();
    sandbox.fail({ on: "event", act: true, with: lost });
    noSearch();
    await up();
    sandbox.endFaults();
    const [there, renamed] = [elsewhere(), fixture(undefined, "renamed")];
    renamed.engine.state = structuredClone(e.engine.state);
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
    e.engine.state = structuredClone(there.engine.state);
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
    now.closeNow();
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
      expect(await e.preview({}, run)).toContain(
        "its outcome is unknown. `pulumi up` searches the platform for it",
      );
      if (!act) expect(await up()).toMatch(/Searched for/);
      clock.advance(act ? 0 : TOO_LATE_MS);
      expect([await up(), e.id, sandbox.eventPosts]).toEqual([undefined, "2", act ? 1 : 2]);
    },
  );

  it("without a mark is not searched for; the mark is in the inputs even without a known search", async () => {
    const { sandbox, clock, e, run } = await one();
    sandbox.fail({ on: "event", act: true, with: lost });
    await e.up();
    expect(e.engine.state?.inputs).not.toHaveProperty("__mark");
    clock.advance(3_600_000);
    expect((await e.up({}, run)).error).toContain("Look in the account");
    expect([e.unresolved?.name, sandbox.searches, sandbox.eventPosts]).toEqual(["E", 0, 1]);
    const other = new SingleObjectFixture("a single event", sandbox, newFolder(), "other");
    await other.up({}, { settings: { markField: "alternative_id" } });
    expect(other.engine.state?.inputs.__mark).toBe(
      `alternative_id ${sandbox.events.at(-1)?.alternative_id}`,
    );
  });
});

it("R6: a create that waited for a rate limit counts as not made only from its last sending on", async () => {
  const { sandbox, clock, folder, run } = await start();
  const limit = sandbox.fail({
    on: "event",
    with: { kind: "answer", status: 429, headers: { "retry-after": "1" } },
  });
  sandbox.fail({ on: "event", with: lost });
  const settings = { ...run.settings, requestTimeoutSeconds: "5" };
  const { event, runtime } = newRun(sandbox, folder, { ...run, settings });
  const failing = failureOf(
    event.create({ eventName: "E", advertiserId: 1, value: 1, __identity: "tiny/dev::e" }),
  );
  await struck(limit);
  const firstMs = Date.now();
  await failing; // a second later
  const sent =
    runtime.journal({ identity: "tiny/dev::e" }).of("ConversionEvent::e") ??
    expect.fail("nothing is noted");
  const sentMs = Date.parse(sent.at);
  expect(sentMs).toBeGreaterThan(firstMs);
  const arrivesWithinMs = (5 + 60) * 1000;
  const still = {
    ...systemClock,
    wallMs: () => clock.wallMs(),
    sleep: async () => undefined,
  };
  for (const [atMs, kind] of [
    [(firstMs + sentMs) / 2 + arrivesWithinMs, "open"],
    [sentMs + arrivesWithinMs, "not-made"],
  ] as const) {
    clock.jumpWall(atMs - clock.wallMs());
    const searchContext = { ...runtime, clock: still };
    expect(
      await searchByMark(searchContext, {
        kind: conversionEvent,
        label: "e",
        sent,
        formerIds: [],
      }),
    ).toMatchObject({ kind });
  }
  expect(sandbox).toMatchObject({ eventPosts: 2, events: [] });
});

describe("C5: the end of a create", () => {
  const inputs = { eventName: "E", advertiserId: 1, value: 1, __identity: "tiny/dev::e" };

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
    await run.event.create(inputs).catch(() => undefined);
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
      journal: (ref) =>
        Object.assign(runtime.journal(ref), {
          recordCreated: failing,
          recordNotCarriedOut: failing,
        }),
    });
    const run = newRun(sandbox, folder, { adapt });
    expect((await run.event.create(inputs)).id).toBe("2");
    expect(run.said).toEqual([
      `ConversionEvent "e" was created as 2. The journal can't be written: no space left.`,
    ]);
    sandbox.fail({
      on: "event",
      with: { kind: "answer", status: 406, body: { errors: ["no"] } },
    });
    const other = await failureOf(
      run.event.create({ ...inputs, __identity: "tiny/dev::other" }),
    );
    expect([other.id, other.message]).toEqual([
      undefined,
      expect.stringContaining("Nothing was created."),
    ]);
    expect(sandbox.eventPosts).toBe(2);
  });
});
