/**
 * Operations that only some installations have (read, update, delete), through the provider as the engine calls it:
 * what state and platform have then. What an answer proves is decided and tested in `client/`; one of each sort here.
 */

import { describe, expect, it } from "vitest";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import { savedStateOf } from "../../provider/src/record/index.js";
import type { Fault } from "../../provider/src/sandbox/index.js";
import { senderIn } from "../../provider/src/state/index.js";
import { aheadBy, FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import {
  type AnswerForms,
  type InstallationOptions,
  resetCounts,
  sessionRefusal,
} from "../support/installation.js";
import { operatedSandbox, WITNESS, withWitness } from "../support/operated.js";
import { failureOf, type RunOptions, withClock } from "../support/run.js";
import { SavedStack } from "../support/saved-stack.js";
import {
  EventEngine,
  RESOURCE_FORMS,
  runProgram,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";
import { senderOf } from "../support/stored.js";

type Values = Record<string, unknown>;

const HOUR_MS = 3_600_000;

const ALL = {
  createdVisibleAfterSeconds: 0,
  event: {
    read: "GET rest/event/{id}",
    update: "PUT rest/event/{id}",
    delete: "DELETE rest/event/{id}",
  },
};
const { read, update, delete: removal } = ALL.event;
const OTHER = {
  ...{ eventName: "Other", advertiserId: 1, value: 1, deletionPolicy: "delete" },
};
const optionsOf = (operations: unknown) => ({
  settings: { operations: JSON.stringify(operations), maxWaitSeconds: "0" },
});
const KNOWN = optionsOf(ALL);
/** A run that also reads an event that is there. */
const WITNESSED = { ...KNOWN, adapt: withWitness };
const WITH_ANOTHER = { objects: { advertisers: [{ id: 1 }], events: [WITNESS] } };

const inputs = {
  eventName: "Purchase",
  advertiserId: 1,
  value: 100,
  eventTypeId: 0,
  segmentId: 7,
  countUnique: false,
  clickWindow: 3600,
  viewWindow: 2_592_000,
  attribution: "ALL",
  deletionPolicy: "delete",
  __sender: senderOf("tiny/dev::purchase"),
};

/** A run that begins with the event 2 in the state. */
async function start(
  options: InstallationOptions = {},
  operations: unknown = ALL,
  adapt?: RunOptions["adapt"],
) {
  const sandbox = await operatedSandbox(options);
  const engine = new EventEngine(sandbox, newFolder(), "purchase");
  const given = { ...optionsOf(operations), ...(adapt && { adapt }) };
  // An `up` deletes nothing before it has checked anything.
  const next = () => engine.newRun({ ...given, command: { command: "destroy" } });
  const { __sender: _, ...declared } = inputs;
  expect((await engine.up(declared, given)).error).toBeUndefined();
  const { id, outputs: outs } = engine.state ?? expect.fail();
  resetCounts(sandbox);
  return { ...next(), sandbox, engine, next, id, outs };
}

describe.each(RESOURCE_FORMS)("%s", (shape) => {
  const wayOut =
    shape === "a single event" ? "pulumi state delete" : "and this key, and run";
  async function one(options: InstallationOptions = {}) {
    const clock = new FakeClock(Date.now());
    const sandbox = await operatedSandbox({ clock: () => clock.wallMs(), ...options });
    const folder = newFolder();
    const fixture = (name = "e", at = folder) =>
      new SingleObjectFixture(shape, sandbox, at, name);
    /** On a machine whose clock is ahead by some hours; the run also reads an event that is there. */
    const witnessedAhead = (hours: number, operations: unknown): RunOptions => ({
      ...optionsOf(operations),
      adapt: (runtime) => withWitness(withClock(runtime, aheadBy(hours * HOUR_MS, clock))),
    });
    return { sandbox, clock, fixture, witnessedAhead };
  }
  /** An object that this package has not created. */
  const foreign = (value: number) => ({
    objects: {
      advertisers: [{ id: 1 }],
      events: [{ id: 2, event_name: "E", advertiser_id: 1, value }],
    },
  });

  it.each<[string, number, number, InstallationOptions, number]>([
    ["", 0, 0, {}, 0.1],
    [", by the platform's time", -7, 7, {}, 0.1],
    [", by the platform's time", 7, -7, {}, 0.1],
    [", for a day if the platform sends no Date", -7, 7, { date: () => undefined }, 20],
  ])(
    "soon after its create not to find it proves nothing, by the state alone; later it leaves the state%s (clocks ahead by %d and %d h)",
    async (_, hours, otherHours, installation, goneAfterHours) => {
      const { sandbox, clock, fixture, witnessedAhead } = await one({
        ...WITH_ANOTHER,
        ...installation,
      });
      const operations = { event: ALL.event };
      const [e, elsewhere] = [fixture(), fixture("e", newFolder())];
      await e.up({}, witnessedAhead(hours, operations));
      sandbox.delete("event", 2);
      const refresh = () =>
        elsewhere.engine.refresh(witnessedAhead(otherHours, operations));
      clock.advance((goneAfterHours * HOUR_MS) / 2);
      const { error, run } = await refresh();
      expect([error, elsewhere.id]).toEqual([undefined, "2"]);
      expect(wordsOf(run)).toMatch(
        / find 2, but it was just created\. Run this again after 20\S+Z/,
      );
      clock.advance(goneAfterHours * HOUR_MS);
      expect((await refresh()).error).toBeUndefined();
      expect([elsewhere.id, sandbox.eventPosts]).toEqual([undefined, 1]);
    },
  );

  const DIFFERS = /existingId 2 differs .*value is 5 .*7 here\. Nothing was changed\./;
  it.each<[string, object, RegExp | undefined, object]>([
    ["nothing", {}, undefined, { reads: 0, updates: 0 }],
    ["a read", { read }, DIFFERS, { reads: 1 }],
    ["a read and an update", { read, update }, undefined, { reads: 1, updates: 1 }],
  ])(
    "an adoption of an object that differs, with %s known",
    async (_, event, words, sent) => {
      const { sandbox, fixture } = await one(foreign(5));
      const e = fixture();
      const { error = "none" } = await e.up(
        { value: 7, existingId: 2 },
        optionsOf({ event }),
      );
      expect([e.id, error]).toEqual(
        words === undefined ? ["2", "none"] : [undefined, expect.stringMatching(words)],
      );
      expect(sandbox).toMatchObject({ eventPosts: 0, ...sent });
    },
  );

  it("edited beside its existingId: without a known update only the state changes, and both values are said", async () => {
    const { sandbox, fixture } = await one(foreign(5));
    const e = fixture();
    await e.up({ value: 5, existingId: 2 });
    const [edited, secret] = [
      { value: 26, existingId: 2 },
      { segmentId: 8, existingId: 2, value: 26 },
    ];
    const said = / existingId: 2\b.* only the state changes \(value 5 → 26\)/;
    expect(await e.preview(edited)).toMatch(said);
    expect(await e.preview(edited)).not.toMatch(/adopt|replace/);
    const { error, run } = await e.up(edited);
    expect([error, wordsOf(run)]).toEqual([undefined, expect.stringMatching(said)]);
    expect(await e.preview(edited)).toBe("");
    const __secret = [shape === "a single event" ? "segmentId" : "events"];
    const hidden = await e.engine.preview({ ...e.of(secret), __secret });
    expect(hidden).toMatch(/only the state changes \(segmentId \(secret\)\)/);
    // A known update sends what the state does not have yet.
    expect((await e.up(secret, optionsOf({ event: { update } }))).error).toBeUndefined();
    expect(sandbox).toMatchObject({
      eventPosts: 0,
      updates: 1,
      events: [{ id: 2, value: 5, segment_id: 8 }],
    });
  });

  it.each<[string, Values, object, object]>([
    ["an update", {}, { read, update }, { updates: 1, eventPosts: 1 }],
    ["no update", {}, { read }, { updates: 0, eventPosts: 2 }],
    ["no update, adopted", { existingId: 2 }, { read }, { updates: 0, eventPosts: 0 }],
  ])(
    "changed by hand, with %s known: a refresh says so once, and the next up sets it back",
    async (_, more, event, sent) => {
      const { sandbox, fixture } = await one("existingId" in more ? foreign(1) : {});
      const e = fixture();
      const options = optionsOf({ event, createdVisibleAfterSeconds: 0 });
      await e.up(more, options);
      Object.assign(sandbox.events[0] ?? {}, { value: 5 });
      const before = e.engine.state?.inputs;
      expect(wordsOf((await e.engine.refresh(options)).run)).toMatch(
        /^(?:ConversionEvent "e"|events\["k"\] of ConversionEventSet "e") \(2\) was changed on the platform: value 1 → 5\. To keep that,/,
      );
      // The engine compares with the inputs that it gets, and shows both values.
      expect(e.engine.state?.inputs).toEqual({ ...before, ...e.of({ ...more, value: 5 }) });
      expect(wordsOf((await e.engine.refresh(options)).run)).toBe("");
      const { error = "" } = await e.up(more, options);
      expect(error).toMatch(
        "existingId" in more ? /existingId 2 differs .*value is 5 .*1 here/ : /^$/,
      );
      expect([sandbox.events.at(-1)?.value, sandbox]).toMatchObject([
        error === "" ? 1 : 5,
        sent,
      ]);
    },
  );

  it.each(["was secret when it was created", "is secret since a later up"])(
    "no value of an argument that %s secret is said",
    async (when) => {
      const { sandbox, fixture } = await one();
      const e = fixture();
      const options = optionsOf({ event: { read }, createdVisibleAfterSeconds: 0 });
      const __secret = [shape === "a single event" ? "value" : "events"];
      const plain = e.of({ value: 26 });
      for (const declared of [
        when.startsWith("is") ? plain : { ...plain, __secret },
        { ...plain, __secret },
      ])
        expect((await e.engine.up(declared, options)).error).toBeUndefined();
      Object.assign(sandbox.events[0] ?? {}, { value: 99 });
      expect(wordsOf((await e.engine.refresh(options)).run)).toMatch(
        / \(2\) was changed on the platform: value \(secret\)\. To keep that,/,
      );
      expect(sandbox).toMatchObject({ eventPosts: 1, updates: 0 });
    },
  );

  it("once a read is switched on, a refresh names the resource and both values; if Pulumi can't be asked, it compares nothing", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    await e.up({ value: 26 });
    const options = optionsOf({ event: { read }, createdVisibleAfterSeconds: 0 });
    Object.assign(sandbox.events[0] ?? {}, { value: 99 });
    const { saved } = e.engine;
    const before = saved.copy().resources;
    expect(wordsOf((await e.engine.refresh(options)).run)).toMatch(
      /"e" \(2\) was changed on the platform: value 26 → 99\./,
    );
    saved.resources = before;
    saved.trouble = "no rights";
    resetCounts(sandbox);
    const { run } = await e.engine.refresh(options);
    expect(wordsOf(run)).toMatch(
      /A refresh does not compare any event whose account Pulumi's record doesn't show\./,
    );
    expect(sandbox).toMatchObject({ eventPosts: 0, reads: 0, updates: 0 });
  });

  it("an unresolved create stays so in a refresh, which names the command", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
    await e.up({}, optionsOf({ event: { read } }));
    const { unresolved } = e;
    const { error, run } = await e.engine.refresh(optionsOf({ event: { read } }));
    expect([error, e.unresolved]).toEqual([undefined, unresolved]);
    expect(wordsOf(run)).toMatch(
      /leaves unresolved creates as they are\..*\n {2}npx pulumi-advertising pending/,
    );
    expect(sandbox.eventPosts).toBe(1);
  });

  it.each<[string, Values]>([
    ["created", {}],
    ["adopted", { existingId: 2 }],
  ])(
    "deleted by hand after it was %s: it leaves the state, that is said, and nothing counts as live",
    async (_, more) => {
      const { sandbox, fixture } = await one(WITH_ANOTHER);
      const [e, again, other] = [fixture(), fixture(), fixture("other")];
      other.engine.backend = new SavedStack("tiny/dev");
      await (more.existingId === undefined ? e : other).up({}, KNOWN);
      await e.up(more, KNOWN);
      sandbox.delete("event", 2);
      const said = wordsOf((await e.engine.refresh(WITNESSED)).run);
      expect(said).toMatch(
        /^(?:ConversionEvent "e"|events\["k"\] of ConversionEventSet "e") \(2\) is no longer on the platform, so it leaves the state\. /,
      );
      expect(e.id).toBeUndefined();
      expect(await again.preview({}, KNOWN)).not.toContain("was 2 in an earlier run");
      expect((await again.up({}, KNOWN)).error).toBeUndefined();
      expect([again.id, sandbox.eventPosts]).toEqual(["3", 2]);
    },
  );

  it.each([undefined, "default"])(
    "one that a read does not find stays in the state, unless the read finds another object in that run (plugin: %s)",
    async (plugin) => {
      const { sandbox, fixture } = await one(WITH_ANOTHER);
      const e = fixture();
      e.engine.plugin = plugin;
      await e.up({}, KNOWN);
      sandbox.delete("event", 2);
      const { error } = await e.engine.refresh(KNOWN);
      expect(error).toMatch(
        new RegExp(`404: event 2 was not found\\. Look in the account\\..*${wayOut}`, "s"),
      );
      const [, urn = e.engine.urn] = /state delete '(.*)'/.exec(`${error}`) ?? [];
      expect(urn).toBe(e.engine.urn);
      expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
      expect((await e.engine.refresh(WITNESSED)).error).toBeUndefined();
      expect(e.id).toBeUndefined();
    },
  );

  it("that was replaced, and whose delete finds nothing: the new one is not to be taken out of the state", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    e.engine.declares = { deletes: true };
    const options = optionsOf({
      event: { delete: removal },
      createdVisibleAfterSeconds: 0,
    });
    await e.up({}, options);
    sandbox.delete("event", 2);
    const run = e.engine.newRun(options);
    const errors = await runProgram(run, [e.is({ value: 7 })]);
    await run.close();
    expect(errors.at(-1)).toMatch(
      /404: event 2 was not found\..*If it isn't, run `pulumi up` once without the deletionPolicy\./s,
    );
    expect([e.id, sandbox.eventPosts]).toEqual(["3", 2]);
    e.engine.declares = {};
    const { error } = await e.up({ value: 7 }, options);
    expect([error, e.id, sandbox.eventPosts]).toEqual([undefined, "3", 2]);
    const old = e.engine.saved.resources.get(`${e.engine.urn}#2`);
    if (!old) return;
    // The engine calls this again in each run.
    const { deletes } = sandbox;
    const again = e.engine.newRun(options);
    await runProgram(again, [e.is({ value: 7 })]);
    await again.event.delete("2", old.outputs);
    await again.close();
    expect(wordsOf(again)).toContain("(2) leaves the state and isn't deleted");
    expect(sandbox.deletes).toBe(deletes);
  });

  it("an update that does not find it says so, and proves nothing by that", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    const options = optionsOf({ event: { update }, createdVisibleAfterSeconds: 0 });
    await e.up({}, options);
    sandbox.delete("event", 2);
    for (let run = 0; run < 2; run++)
      expect((await e.up({ value: 7 }, options)).error).toMatch(
        new RegExp(
          `PUT \\S+ was refused with status 404: event 2 was not found\\..*${wayOut}`,
          "s",
        ),
      );
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
  });

  it.each(["refresh", "destroy"])(
    "with checkpoints off, what a `%s` takes out of the state right after a clean run is created",
    async (command) => {
      const { sandbox, fixture } = await one(WITH_ANOTHER);
      const e = fixture();
      e.engine.declares = { deletes: true };
      const options = {
        ...optionsOf({ ...ALL, createdVisibleAfterSeconds: 0 }),
        environment: { PULUMI_SKIP_CHECKPOINTS: "true" },
      };
      await e.up({}, options);
      const { id } = e;
      if (command === "refresh") sandbox.delete("event", Number(id));
      if (command === "refresh") await e.engine.refresh({ ...options, adapt: withWitness });
      else await e.engine.destroy(options);
      expect(await e.preview({}, options)).not.toContain("takes it over");
      expect((await e.up({}, options)).error).toBeUndefined();
      expect([e.id === id, sandbox.eventPosts]).toEqual([false, 2]);
    },
  );

  it.each([false, true])(
    "of which another resource keeps a listed create's outcome, it isn't deleted before that is cleared (it was: %s)",
    async (isCleared) => {
      const { sandbox, fixture } = await one();
      const [carrier, e, elsewhere] = [
        fixture("carrier"),
        fixture(),
        fixture("e", newFolder()),
      ];
      for (const { engine } of [carrier, e, elsewhere]) engine.declares = { deletes: true };
      await carrier.up({ eventName: "C" }, KNOWN);
      sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
      await e.kill({}, KNOWN);
      const { saved } = e.engine;
      const [{ mark } = expect.fail()] = savedStateOf(await saved.read()).sent;
      const answers = {
        outcomes: { [mark]: "ConversionEvent 3" },
        carrier: carrier.engine.state?.id,
      };
      const environment = { ADVERTISING_ANSWERS: JSON.stringify(answers) };
      await carrier.engine.refresh({ ...KNOWN, environment });
      expect((await elsewhere.up({}, KNOWN)).error).toBeUndefined();
      if (isCleared) saved.clearCreates();
      const run = elsewhere.engine.newRun(KNOWN);
      const kept = carrier.is({ eventName: "C" });
      expect(await runProgram(run, [kept, elsewhere.gone()])).toEqual([
        undefined,
        undefined,
      ]);
      await run.close();
      expect(wordsOf(run).includes("pending --clear")).toBe(!isCleared);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: Number(isCleared) });
    },
  );

  it.each([false, true])(
    "of which its own resource keeps a listed create's outcome, it isn't deleted before that is cleared, nor does a refresh find it gone (it was: %s)",
    async (isCleared) => {
      const { sandbox, fixture } = await one(WITH_ANOTHER);
      const [other, e] = [fixture("other"), fixture()];
      for (const { engine } of [other, e]) engine.declares = { deletes: true };
      await other.up({ eventName: "Other" }, KNOWN);
      await e.kill({}, KNOWN);
      const { saved } = e.engine;
      expect((await e.up({}, KNOWN)).error).toBeUndefined();
      expect([e.id, sandbox.eventPosts]).toEqual(["3", 2]);
      // A destroy would leave nothing in which a later run could see what has become of the create.
      expect(await e.engine.destroy(KNOWN)).toMatch(/pending --clear.*, then this again/);
      expect([e.id, sandbox.deletes]).toEqual(["3", 0]);
      if (isCleared) saved.clearCreates();
      const before = saved.copy().resources;
      const run = e.engine.newRun(KNOWN);
      await runProgram(run, [other.is({ eventName: "Other" }), e.gone()]);
      await run.close();
      expect(wordsOf(run).includes("pending --clear")).toBe(!isCleared);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: Number(isCleared) });
      saved.resources = before;
      if (!isCleared) sandbox.delete("event", 3);
      const { error } = await e.engine.refresh(WITNESSED);
      expect(error?.includes("pending --clear") ?? false).toBe(!isCleared);
      expect(e.id).toBe(isCleared ? undefined : "3");
    },
  );

  it("deleted by its own run and declared again right away: another one is created, and nothing counts as live", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    e.engine.declares = { deletes: true };
    await e.up({}, KNOWN);
    expect(await e.engine.destroy(KNOWN)).toBeUndefined();
    expect(await e.preview({}, KNOWN)).not.toMatch(/ 2\b|live/);
    expect((await e.up({}, KNOWN)).error).toBeUndefined();
    expect([e.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["3", 2, 1]);
  });

  it("an update or a delete of unknown outcome is sent again by the next run; nothing else is remembered of it", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    e.engine.declares = { deletes: true };
    await e.up({}, KNOWN);
    const saved = structuredClone(e.engine.state);
    for (const work of [
      async () => (await e.up({ value: 7 }, KNOWN)).error,
      () => e.engine.destroy(KNOWN),
    ]) {
      sandbox.fail({
        on: "update",
        act: true,
        with: { kind: "answer", status: 500 },
        times: 9,
      });
      sandbox.fail({ on: "delete", with: { kind: "answer", status: 500 }, times: 9 });
      expect(await work()).toMatch(/an unusable response/);
      sandbox.endFaults();
      e.engine.state = saved;
      expect(await work()).toBeUndefined();
      expect(sandbox.events.map(({ value }) => value)).toEqual(
        e.engine.state === undefined ? [] : [7],
      );
    }
    expect(sandbox.eventPosts).toBe(1);
  });

  it.each([
    ["its advertiser", "advertiser_id", 2, 1],
    ["the length of a list", "tags", ["a"], ["a", "b"]],
    ["a list, for a text", "tags", "a", ["a", "b"]],
  ])(
    "%s, changed by hand and back: a refresh sees both, and nothing is sent",
    async (_, field, edited, before) => {
      const { sandbox, fixture } = await one();
      const e = fixture();
      const options = optionsOf({ event: { read }, createdVisibleAfterSeconds: 0 });
      const declared = { additionalFields: { tags: ["a", "b"] } };
      await e.up(declared, options);
      Object.assign(sandbox.events[0] ?? {}, { [field]: edited });
      const said = wordsOf((await e.engine.refresh(options)).run);
      expect(said).toContain("changed on the platform");
      if (field === "tags") expect(said).toContain(JSON.stringify({ tags: edited }));
      expect(wordsOf((await e.engine.refresh(options)).run)).toBe("");
      Object.assign(sandbox.events[0] ?? {}, { [field]: before });
      await e.engine.refresh(options);
      expect(await e.preview(declared, options)).toBe("");
      expect((await e.up(declared, options)).error).toBeUndefined();
      expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
    },
  );

  const NOTE = { additionalFields: { note: "y" } };
  it.each<[string, Values, Values, boolean]>([
    ["that removes a field is refused", NOTE, {}, false],
    ["that adds a field is carried out", {}, NOTE, true],
  ])(
    "a failed update %s: the next one removes it, and leaves what the program never set",
    async (_, before, then, act) => {
      const { sandbox, fixture } = await one();
      const e = fixture();
      await e.up(before, KNOWN);
      Object.assign(sandbox.events[0] ?? {}, { segment_id: 3 });
      const answer = { kind: "answer", status: act ? 500 : 422 } as const;
      sandbox.fail({ on: "update", act, with: answer, times: 9 });
      expect((await e.up(then, KNOWN)).error).toBeDefined();
      // A second one, with another field.
      const { error } = await e.up({ additionalFields: { other: 1 } }, KNOWN);
      expect(error).toBeDefined();
      sandbox.endFaults();
      expect((await e.up({}, KNOWN)).error).toBeUndefined();
      expect(sandbox.events).toMatchObject([{ note: null, other: null, segment_id: 3 }]);
      const { updates } = sandbox;
      expect((await e.up({}, KNOWN)).error).toBeUndefined();
      expect(sandbox).toMatchObject({ updates, eventPosts: 1 });
    },
  );

  it("a killed update that has added a field, and is undone: the next one removes the field", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    await e.up({}, KNOWN);
    await e.kill(NOTE, KNOWN);
    Object.assign(sandbox.events[0] ?? {}, { segment_id: 3 });
    expect(sandbox.events).toMatchObject([{ note: "y" }]);
    expect((await e.up({}, KNOWN)).error).toBeUndefined();
    expect(sandbox.events).toMatchObject([{ note: null, segment_id: 3 }]);
    expect(sandbox.eventPosts).toBe(1);
  });

  it("after a failed update, a refresh reports and saves what is live", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    await e.up({ value: 4 }, KNOWN);
    const lost = { kind: "answer", status: 500 } as const;
    sandbox.fail({ on: "update", act: true, with: lost, times: 9 });
    expect((await e.up({ value: 2 }, KNOWN)).error).toBeDefined();
    sandbox.endFaults();
    const said = wordsOf((await e.engine.refresh(KNOWN)).run);
    expect(said).toContain("(2) was changed on the platform: value 4 → 2. ");
    expect(e.engine.state?.inputs).toMatchObject(e.of({ value: 2 }));
    expect((await e.up({ value: 4 }, KNOWN)).error).toBeUndefined();
    expect(sandbox.events).toMatchObject([{ value: 4 }]);
  });

  it("a failed update is sent again whole, even if the program is as before it", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    const before = { value: 5, additionalFields: { note: "then" } };
    await e.up(before, KNOWN);
    const lost = { kind: "answer", status: 500 } as const;
    sandbox.fail({ on: "update", act: true, with: lost, times: 9 });
    const failed = await e.up({ value: 7, additionalFields: { note: "now" } }, KNOWN);
    expect(failed.error).toContain("[ADVERTISING_BAD_ANSWER]");
    sandbox.endFaults();
    expect(sandbox.events).toMatchObject([{ value: 7, note: "now" }]);
    // With the update switched off meanwhile, nothing is replaced for it.
    expect(await e.preview(before)).not.toMatch(/replace/);
    expect((await e.up(before)).error).toBeUndefined();
    expect((await e.up(before, KNOWN)).error).toBeUndefined();
    expect(sandbox.events).toMatchObject([{ value: 5, note: "then" }]);
    const { updates } = sandbox;
    expect((await e.up(before, KNOWN)).error).toBeUndefined();
    expect(sandbox).toMatchObject({ updates, eventPosts: 1 });
  });

  it("a delete that was carried out, but whose response was lost, is an error until a person has looked", async () => {
    const { sandbox, fixture } = await one();
    const e = fixture();
    e.engine.declares = { deletes: true };
    await e.up({}, KNOWN);
    sandbox.fail({ on: "delete", act: true, with: { kind: "close-without-answer" } });
    const saved = structuredClone(e.engine.state);
    // A set's error names a refresh once, before what has failed.
    const cure =
      shape === "a single event"
        ? " Look in the account\\..* If it isn't, run `pulumi refresh "
        : "";
    expect(await e.engine.destroy(KNOWN)).toContain("failed after sending");
    e.engine.state = saved;
    expect(await e.engine.destroy(KNOWN)).toMatch(
      new RegExp(`404: event 2 was not found\\.${cure}`, "s"),
    );
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 2, events: [] });
  });

  it("of another account, or of one that the state does not say, is never deleted", async () => {
    const { sandbox, fixture } = await one();
    const { engine, up } = fixture();
    engine.declares = { deletes: true };
    await up({}, KNOWN);
    const { id, inputs, outputs } = engine.state ?? expect.fail();
    const { identity } = senderIn(inputs);
    const of = (account: string) => ({
      ...inputs,
      __sender: senderOf(identity, { account }),
    });
    engine.state = { id, inputs: of("other.example a@b.c"), outputs };
    expect(await engine.destroy(KNOWN)).toContain("ADVERTISING_ACCOUNT_MISMATCH");
    engine.state = { id, inputs: of(""), outputs };
    const run = engine.newRun(KNOWN);
    await run[shape === "a single event" ? "event" : "set"].delete(id, outputs);
    await run.event.delete("unresolved-x", outputs);
    expect(run.told.map(({ message }) => message)).toEqual([
      expect.stringContaining("because the state doesn't name its account"),
    ]);
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  });
});

it("a refresh shows each changed argument once, in the form of the program, and an update sets it back", async () => {
  /** The field, the argument, the platform's value now, the same value in a program's form, and the words. */
  const changes = [
    ["event_name", "eventName", "Buy", "Buy", '"Purchase" → "Buy"'],
    ["value", "value", 30.5, 30.5, "100 → 30.5"],
    ["event_type_id", "eventTypeId", null, undefined, "0 → none"],
    ["segment_id", "segmentId", 8, 8, "7 → 8"],
    ["count_unique", "countUnique", true, true, "false → true"],
    ["click_window", "clickWindow", null, undefined, "3600 (1 hour) → none"],
    ["attribution", "attribution", "WHITELIST", "WHITELIST", '"ALL" → "WHITELIST"'],
    ["advertiser_id", "advertiserId", 2, 2, "1 → 2"],
  ] as const;
  const warned: string[] = [];
  const adapt = (runtime: Runtime): Runtime => ({
    ...runtime,
    messages: Object.assign(runtime.messages, {
      tellEach: ({ text }: { text: string }) => void warned.push(text),
    }),
  });
  const { event, id, outs, sandbox } = await start({ hasTextValues: true }, ALL, adapt);
  const before = { ...sandbox.events[0] };
  for (const [field, property, theirs, value, words] of changes) {
    Object.assign(sandbox.events[0] ?? {}, before, { [field]: theirs });
    const { props = {} } = await event.read(id, outs);
    expect(props).toEqual({ ...outs, [property]: value });
    expect(await event.read(id, props as Values)).toEqual({ id, props });
    expect(warned).toEqual([
      expect.stringContaining(`was changed on the platform: ${property} ${words}. To`),
    ]);
    const replaces = property === "advertiserId" ? ["advertiserId"] : [];
    expect(await event.diff(id, props as Values, inputs)).toMatchObject({
      changes: true,
      replaces,
    });
    warned.length = 0;
  }
});

it("an object that is gone leaves the state, and is an error for .get, which otherwise has every argument", async () => {
  const { engine, event, next, id, outs, said, sandbox } = await start();
  const { inputs: stored } = engine.state ?? expect.fail();
  await event.read(id, outs); // proves that the read works
  engine.saved.set(engine.ref.urn.replace("purchase", "gone"), {
    id: "999",
    inputs: stored,
    outputs: outs,
  });
  const now = next().event;
  await now.read(id, outs);
  expect(await now.read("999", outs)).toEqual({ id: "", props: {} });
  expect((await failureOf(event.read("999", {}))).message).toContain(
    "there is no event 999 on the platform",
  );
  const { __sender: _, deletionPolicy: __, ...given } = inputs;
  expect((await event.read(id, {})).props).toEqual({ ...given, eventId: Number(id) });
  expect([await event.read(id, outs), said, sandbox.reads]).toEqual([
    { id, props: outs },
    [],
    6,
  ]);
});

it("what is read twice is compared in a refresh", async () => {
  const { sandbox, engine, next } = await start();
  const { props: outputs = {} } = await next().event.read("2", {});
  for (const name of ["one", "two"])
    engine.saved.set(engine.ref.urn.replace("purchase", name), {
      ...{ id: "2", inputs: {}, outputs, isRead: true },
    });
  Object.assign(sandbox.events[0] ?? {}, { value: 99 });
  const { props } = await next().event.read("2", outputs as Values);
  expect(props).toMatchObject({ value: 99 });
});

it("without a password .get reads nothing in a preview, and is an error elsewhere", async () => {
  const { engine } = await start();
  const readIn = (command: string) => {
    const settings = { ...KNOWN.settings, password: "" };
    return engine.newRun({ command: { command }, settings }).event.read("999", {});
  };
  expect((await readIn("preview")).props).toEqual({ eventId: 999 });
  for (const command of ["up", ""])
    expect((await failureOf(readIn(command))).message).toContain("password is required");
});

it.each<AnswerForms>([
  { recordForm: "object", goneForm: "410" },
  { recordForm: "payload-list", goneForm: "empty-list", hasTextValues: true },
  { recordForm: "list", goneForm: "empty-payload" },
  { recordForm: "own-name", goneForm: "404-bare", hasTextValues: true },
])(
  "of an installation that answers with %j, what is there shows no change, and what is gone leaves the state",
  async (options) => {
    const { engine, id, outs, next } = await start(options);
    const { inputs: stored } = engine.state ?? expect.fail();
    engine.saved.set(engine.ref.urn.replace("purchase", "gone"), {
      id: "999",
      inputs: stored,
      outputs: outs,
    });
    const { event, said } = next();
    expect([await event.read(id, outs), said]).toEqual([{ id, props: outs }, []]);
    expect(await event.read("999", outs)).toEqual({ id: "", props: {} });
  },
);

it.each<[string, Fault]>([
  ["500", { kind: "answer", status: 500, body: { message: "event 2 not found" } }],
  [
    "a sentence",
    {
      kind: "answer",
      status: 406,
      body: { payload: [{ message: ["Could not load object 2"] }] },
    },
  ],
  [
    "others",
    { kind: "answer", status: 200, body: { payload: [{ id: 7, event_name: "x" }] } },
  ],
  ["a login page", sessionRefusal("login-page")],
])(
  "R1: a read that is answered with trouble (%s) leaves the object in the state",
  async (_, fault) => {
    const { event, id, outs, sandbox } = await start();
    sandbox.fail({ on: "read", with: fault, times: 10 });
    expect((await failureOf(event.read(id, outs))).message).toMatch(
      /ConversionEvent "purchase" \(2\): GET http:.*rest\/event\/2 .*\[ADVERTISING_(REFUSED|SETTINGS|BAD_ANSWER)\]$/s,
    );
    sandbox.endFaults();
    expect(await event.read(id, outs)).toEqual({ id, props: outs });
  },
);

it.each<[string, Fault, RegExp]>([
  [
    "500",
    { kind: "answer", status: 500, body: { success: false, message: "in use" } },
    /an unusable response \(status 500/,
  ],
  ["406", { kind: "answer", status: 406, body: { errors: ["in use"] } }, /406: in use\./],
  [
    "another id",
    { kind: "answer", status: 200, body: { success: true, payload: { id: 77 } } },
    /77/,
  ],
])(
  "an update or a delete that is answered with %s is an error, and the state keeps what it had",
  async (_, fault, words) => {
    const { event, id, outs, sandbox, next } = await start();
    for (const on of ["update", "delete"] as const)
      sandbox.fail({ on, with: fault, times: 9 });
    const updating = await failureOf(event.update(id, outs, { ...inputs, value: 7 }));
    expect(updating).toMatchObject({
      message: expect.stringMatching(words),
      id: "2",
      properties: { value: 100, __sentAs: { isUnsure: true } },
    });
    // A run that a failed update has ended deletes nothing.
    expect((await failureOf(next().event.delete(id, outs))).message).toMatch(words);
    sandbox.endFaults();
    expect(sandbox).toMatchObject({ eventPosts: 0, events: [{ value: 100 }] });
    await next().event.delete(id, outs);
    expect(sandbox.events).toEqual([]);
  },
);

it("a failed update of an event whose advertiser is secret is an update the next time too, and nothing is replaced", async () => {
  const sandbox = await operatedSandbox();
  const e = new EventEngine(sandbox, newFolder(), "e");
  const event = { eventName: "E", advertiserId: 1, __secret: ["advertiserId"] };
  await e.up({ ...event, value: 1 }, KNOWN);
  sandbox.fail({ on: "update", with: { kind: "answer", status: 500 }, times: 9 });
  expect((await e.up({ ...event, value: 7 }, KNOWN)).error).toContain("500");
  sandbox.endFaults();
  expect((await e.up({ ...event, value: 7 }, KNOWN)).error).toBeUndefined();
  expect(sandbox).toMatchObject({ eventPosts: 1, events: [{ value: 7 }] });
});

it("an update sends only what was changed, a default or null for what was removed, and the id stays", async () => {
  const { event, id, outs, sandbox } = await start();
  const news = { ...inputs, eventName: "Buy", clickWindow: 60 };
  expect(await event.diff(id, outs, news)).toEqual({
    changes: true,
    replaces: [],
  });
  const updated = await event.update(id, outs, news);
  expect(updated.outs).toEqual({ ...outs, eventName: "Buy", clickWindow: 60 });
  const { eventTypeId: _, ...without } = news;
  const { outs: more } = await event.update(id, updated.outs as Values, {
    ...without,
    additionalFields: { note: "x" },
  });
  await event.update(id, more as Values, without);
  expect(sandbox.requests.map(({ method, path, body }) => [method, path, body])).toEqual(
    [
      { event_name: "Buy", click_window: 60 },
      { event_type_id: null, note: "x" },
      { note: null },
    ].map((body) => ["PUT", "/rest/event/2", body]),
  );
  expect(sandbox.creates).toBe(0);
});

describe("delete", () => {
  it.each([undefined, "default"])(
    "after an error, what the program hasn't declared stays in the state, as with --continue-on-error (plugin: %s)",
    async (plugin) => {
      const [sandbox, folder] = [await operatedSandbox(), newFolder()];
      const named = (name: string) =>
        Object.assign(new EventEngine(sandbox, folder, name), {
          plugin,
          declares: { deletes: true },
        });
      const [e, old] = [named("e"), named("old")];
      const first = { eventName: "E", advertiserId: 1, value: 1 };
      for (const [engine, eventName] of [
        [e, "E"],
        [old, "Old"],
      ] as const)
        expect((await engine.up({ ...first, eventName }, KNOWN)).error).toBeUndefined();
      sandbox.fail({ on: "update", with: { kind: "answer", status: 400 } });
      const run = e.newRun(KNOWN);
      const errors = await runProgram(run, [[e, { ...first, value: 2 }]]);
      expect(errors).toEqual([expect.stringContaining("status 400")]);
      const [leave = expect.fail()] = old.leave(run);
      expect((await failureOf(leave())).message).toContain(
        "isn't deleted and stays in the state",
      );
      await run.close();
      expect(sandbox).toMatchObject({ updates: 1, deletes: 0 });
      const next = e.newRun(KNOWN);
      await runProgram(next, [
        [e, { ...first, value: 2 }],
        [old, undefined],
      ]);
      expect(sandbox).toMatchObject({ creates: 2, updates: 2, deletes: 1 });
    },
  );

  it("deletes only the object; one that is not there counts as deleted if the delete works", async () => {
    const { event, id, outs, sandbox, engine, next, kill } = await start();
    await event.delete(id, outs);
    await kill();
    expect([sandbox.events, sandbox.advertisers.length]).toEqual([[], 1]);
    expect((await failureOf(next().event.delete(id, outs))).message).toContain(
      "refused with status 404",
    );
    const another = engine.beside(EventEngine, "another");
    expect((await another.up({ ...OTHER }, KNOWN)).error).toBeUndefined();
    const { id: anotherId, outputs } = another.state ?? expect.fail();
    const working = next();
    await working.event.delete(anotherId, outputs);
    await working.event.delete(id, outs);
    expect([working.said, sandbox]).toMatchObject([[], { creates: 1, deletes: 4 }]);
  });

  const WITHOUT_UPDATE = optionsOf({
    createdVisibleAfterSeconds: 0,
    event: { read, delete: removal },
  });

  /** An event with the option in its state. */
  async function held(isDeleting = true) {
    const [sandbox, folder] = [await operatedSandbox(), newFolder()];
    const engine = new EventEngine(sandbox, folder, "e");
    const given = (more: Values = {}) => ({
      eventName: "E",
      advertiserId: 1,
      value: 1,
      ...more,
    });
    engine.declares = { deletes: isDeleting };
    await engine.up(given(), WITHOUT_UPDATE);
    return { sandbox, engine, given };
  }

  it("of a replaced object is announced, comes last, and is not noted as left live", async () => {
    const { sandbox, engine, given } = await held();
    expect(await engine.preview(given({ value: 2 }), WITHOUT_UPDATE)).toMatch(
      /^ConversionEvent "e" is replaced\. The old object 2 will be deleted on the platform .*\nTo keep 2, .*$/,
    );
    const { error, run } = await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
    expect([error, wordsOf(run)]).toEqual([
      undefined,
      'ConversionEvent "e" (2): deleted 2 on the platform.',
    ]);
    expect(sandbox.requests.slice(-2).map(({ method }) => method)).toEqual([
      "POST",
      "DELETE",
    ]);
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1, events: [{ id: 3 }] });
    expect(engine.state?.outputs).not.toHaveProperty("__left");
  });

  it("is told before what the resource has left live earlier", async () => {
    const { engine, given } = await held(false);
    await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
    engine.declares = { deletes: true };
    await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
    const { id, outputs } = engine.state ?? expect.fail();
    const run = engine.newRun({ command: { command: "destroy" }, ...WITHOUT_UPDATE });
    await run.event.delete(id, outputs);
    expect(wordsOf(run).split("\n")).toEqual([
      'ConversionEvent "e" (3): deleted 3 on the platform.',
      '`e` left 1 object live before, unless deleted since: 2 ("E").',
    ]);
  });

  it.each([true, false])(
    "is not sent if only the state (%s), or only the program has the option: the object stays live, and that is said",
    async (isInState) => {
      const { sandbox, engine, given } = await held(isInState);
      engine.declares = { deletes: !isInState };
      const why = isInState ? "the program no longer asks" : "the state doesn't ask";
      const fate = new RegExp(
        `The old object 2 stays live.*\\. 2 isn't deleted, because ${why} for it`,
      );
      expect(await engine.preview(given({ value: 2 }), WITHOUT_UPDATE)).toMatch(fate);
      const { run } = await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
      expect(wordsOf(run)).toContain("is 3 now. The old object 2 stays live");
      expect(wordsOf(run)).toMatch(fate);
      const { id, outputs } = engine.state ?? expect.fail();
      if (isInState) await run.event.delete("2", { ...outputs, eventId: 2 }); // the engine goes by the state
      expect([id, outputs.__left]).toEqual([
        "3",
        [expect.objectContaining({ id: "2", name: "E" })],
      ]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
    },
  );

  it.each([true, false])(
    "is not sent if Pulumi's option keeps it, which only the engine knows before this run (%s: through the plugin)",
    async (isPlugin) => {
      const { sandbox, engine, given } = await held();
      if (isPlugin) {
        await engine.destroy(WITHOUT_UPDATE);
        engine.plugin = "default";
        await engine.up(given(), WITHOUT_UPDATE);
      }
      const { deletes } = sandbox;
      const { id } = engine.state ?? expect.fail();
      engine.declares = { deletes: true, retains: true };
      const { error, run } = await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
      expect([error, sandbox.deletes]).toEqual([undefined, deletes]);
      expect(wordsOf(run)).toMatch(
        new RegExp(
          `\\(${id}\\) leaves .*isn't deleted, because .* has the option retainOnDelete\\.`,
        ),
      );
    },
  );

  it("is not sent if Pulumi's option in the state keeps it: preview and `up` give the reason", async () => {
    const { engine, given, sandbox } = await held();
    engine.declares = { deletes: true, retains: true };
    await engine.up(given(), WITHOUT_UPDATE);
    const fate = "2 isn't deleted, because the resource has the option retainOnDelete.";
    expect(await engine.preview(given({ value: 2 }), WITHOUT_UPDATE)).toContain(fate);
    const { run } = await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
    expect([wordsOf(run), sandbox.deletes]).toEqual([expect.stringContaining(fate), 0]);
  });

  it("is not sent if none is known any more: preview and `up` give the reason to who asks for it", async () => {
    const { engine, given } = await held();
    const changed = given({ value: 2 });
    const without = optionsOf({ event: {} });
    const fate = "2 isn't deleted, because advertising:operations has no delete.";
    expect(await engine.preview(changed, without)).toContain(fate);
    expect(wordsOf((await engine.up(changed, without)).run)).toContain(fate);
    const other = await held(false);
    expect(await other.engine.preview(changed, without)).not.toContain("because");
  });

  it("an object that a state has twice is deleted once", async () => {
    const { sandbox, engine, given } = await held();
    await engine.up(given({ deletionPolicy: "delete" }), WITHOUT_UPDATE);
    const { id, outputs } = engine.state ?? expect.fail();
    const run = engine.newRun({ ...WITHOUT_UPDATE, command: { command: "destroy" } });
    await Promise.all([1, 2].map(() => run.event.delete(id, outputs)));
    await run.close();
    expect([sandbox.deletes, sandbox.events]).toEqual([1, []]);
  });

  it.each([true, false])(
    "is sent if it comes before the create, as with deleteBeforeReplace or --replace: %s",
    async (isBefore) => {
      const { sandbox, engine, given } = await held();
      await engine.up(given(), WITHOUT_UPDATE); // from now on it is known to be in the state
      const { id, outputs } = engine.state ?? expect.fail();
      const run = engine.newRun(WITHOUT_UPDATE);
      const context = {
        identity: "tiny/dev::e",
        run: { isUp: true, resources: 1 },
      };
      // Under `--replace` the engine gives no old inputs, and calls no `diff`.
      const { inputs: next = {} } = await run.event.check(
        {},
        {
          ...given({ value: 2, deletionPolicy: "delete" }),
          __sender: context,
        },
      );
      if (isBefore) await run.event.delete(id, outputs);
      const created = await run.event.create(next as Values);
      if (!isBefore) await run.event.delete(id, outputs);
      await run.close();
      expect(created.outs).not.toHaveProperty("__left");
      expect(sandbox.events.map((each) => String(each.id))).toEqual([created.id]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
    },
  );

  it.each([true, false])(
    "is sent for what only the engine's options replace, as its preview says, before the create: %s",
    async (isBefore) => {
      const { sandbox, engine, given } = await held();
      const declared = given({ deletionPolicy: "delete" });
      await engine.up(declared, WITHOUT_UPDATE);
      const { id, inputs, outputs } = engine.state ?? expect.fail();
      const begin = async (isUp: boolean) => {
        const run = engine.newRun(WITHOUT_UPDATE);
        const context = { identity: "tiny/dev::e", run: { isUp, resources: 1 } };
        const news = { ...declared, __sender: context };
        const first = await run.event.check(inputs, news);
        const diff = await run.event.diff(id, outputs, first.inputs ?? {});
        expect(diff.replaces).toEqual([]);
        return { run, checked: await run.event.check({}, news) };
      };
      const preview = await begin(false);
      expect(wordsOf(preview.run)).toMatch(/\b2 will be deleted on the platform/);
      const { run, checked } = await begin(true);
      if (isBefore) await run.event.delete(id, outputs);
      const created = await run.event.create(checked.inputs as Values);
      if (!isBefore) await run.event.delete(id, outputs);
      await run.close();
      expect(sandbox.events.map((each) => String(each.id))).toEqual([created.id]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
    },
  );
});

it("without a known operation only the documented ones are sent", async () => {
  const { event, id, outs, sandbox, told } = await start({}, {});
  expect((await event.read(id, outs)).props).toEqual(outs);
  expect((await event.diff(id, outs, { ...inputs, eventName: "Buy" })).replaces).toEqual([
    "eventName",
  ]);
  await event.delete(id, outs);
  expect(told.at(-1)?.message).toContain("has no delete");
  expect(sandbox.requests).toEqual([]);
});
