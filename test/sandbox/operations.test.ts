/**
 * Operations that only some installations have (read, update, delete), through the provider as the engine calls it: what the state and the platform
 * have afterwards. What an answer proves is decided in `client/`, and tested there; here is one of each sort.
 */
import { describe, expect, it } from "vitest";
import type { Runtime } from "../../provider/src/provider/runtime.js";
import type {
  Fault,
  GoneShape,
  RecordDress,
  RecordShape,
  Sandbox,
  SandboxOptions,
} from "../../provider/src/sandbox/index.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { failureOf, newRun, type RunOptions } from "../support/run.js";
import { EventEngine, Lone, SHAPES, wordsOf } from "../support/set-engine.js";

type Values = Record<string, unknown>;

const ALL = {
  createdVisibleAfterSeconds: 0,
  event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" },
};
const { read, update, delete: removal } = ALL.event;
const optionsOf = (operations: unknown) => ({
  settings: { operations: JSON.stringify(operations), maxWaitSeconds: "0" },
});
const KNOWN = optionsOf(ALL);

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
  __identity: "tiny/dev::purchase",
};

/** A run that begins with the event 2 in the state. */
async function start(options: SandboxOptions = {}, operations: unknown = ALL, adapt?: RunOptions["adapt"]) {
  const sandbox = await operatedSandbox(options);
  const folder = newFolder();
  const next = () => newRun(sandbox, folder, { ...optionsOf(operations), ...(adapt && { adapt }) });
  // A run does not delete what it created itself: the engine asks for deletes in a later run.
  const first = next();
  const { id, outs } = await first.event.create(inputs);
  first.closeNow();
  sandbox.resetCounts();
  return { ...next(), sandbox, next, id, outs: outs as Values };
}

/** Deletes an event as another machine does. */
async function byHand(sandbox: Sandbox, id: string): Promise<void> {
  const { event, runtime, closeNow } = newRun(sandbox, newFolder(), KNOWN);
  await event.delete(id, { __at: runtime.account });
  closeNow();
  sandbox.deletes = 0;
}

describe.each(SHAPES)("%s", (shape) => {
  async function one(options: SandboxOptions = {}) {
    const [sandbox, folder] = [await operatedSandbox(options), newFolder()];
    return { sandbox, lone: (name = "e", at = folder) => new Lone(shape, sandbox, at, name) };
  }

  it("soon after its create not to find it proves nothing, by the state alone; later it leaves the state", async () => {
    const clock = new FakeClock(Date.now());
    const { sandbox, lone } = await one({ readLagSeconds: 3600, clock: () => clock.wallMs() });
    const adapt = (runtime: Runtime): Runtime => ({ ...runtime, clock });
    const options = { ...optionsOf({ event: ALL.event }), adapt };
    const e = lone();
    await e.up({}, options);
    expect(e.engine.state?.outputs).toHaveProperty("__created");
    const elsewhere = lone("e", newFolder());
    elsewhere.engine.state = structuredClone(e.engine.state);
    const { error, run } = await elsewhere.engine.refresh(options);
    expect([error, elsewhere.id]).toEqual([undefined, "2"]);
    expect(wordsOf(run)).toMatch(
      /the platform does not find 2, but it was just created: until 20\S+Z that proves nothing/,
    );
    expect((await elsewhere.up({ value: 2 }, options)).error).toMatch(
      /does not find 2, but it was just created: until 20\S+Z that proves nothing/,
    );
    clock.advance(1_000_000);
    expect((await elsewhere.engine.refresh(options)).error).toBeUndefined();
    expect([elsewhere.id, sandbox.eventPosts]).toEqual([undefined, 1]);
  });

  it.each<[string, object, RegExp | undefined, object]>([
    ["nothing", {}, undefined, { reads: 0, updates: 0 }],
    ["a read", { read }, /existingId 2 differs: value is 5 there, and 7 here\. Nothing was changed\./, { reads: 1 }],
    ["a read and an update", { read, update }, undefined, { reads: 1, updates: 1 }],
  ])("an adoption of an object that differs, with %s known", async (_, event, words, sent) => {
    const events = [{ id: 2, event_name: "E", advertiser_id: 1, value: 5 }];
    const { sandbox, lone } = await one({ objects: { advertisers: [{ id: 1 }], events } });
    const e = lone();
    const { error } = await e.up({ value: 7, existingId: 2 }, optionsOf({ event }));
    if (words === undefined) expect(error).toBeUndefined();
    else expect(error).toMatch(words);
    expect(e.id).toBe(words === undefined ? "2" : undefined);
    expect(sandbox).toMatchObject({ eventPosts: 0, ...sent });
  });

  it("adopted and changed by hand, with only a read known: the refresh says that the up fails, and it does", async () => {
    const events = [{ id: 2, event_name: "E", advertiser_id: 1, value: 1 }];
    const { sandbox, lone } = await one({ objects: { advertisers: [{ id: 1 }], events } });
    const options = operatedSettings({ read });
    const e = lone();
    const up = (value: number) => e.up({ value, existingId: 2 }, { settings: options });
    expect((await up(1)).error).toBeUndefined();
    Object.assign(sandbox.events[0] ?? {}, { value: 5 });
    const { run } = await e.engine.refresh({ settings: options });
    expect(wordsOf(run)).toMatch(
      /was changed on the platform \(value\): the next `pulumi up` fails, because existingId/,
    );
    expect((await up(1)).error).toContain("existingId 2 differs: value is 5 there, and 1 here");
    expect((await up(5)).error).toBeUndefined();
    expect(sandbox).toMatchObject({ eventPosts: 0, updates: 0 });
  });

  it.each([
    ["an update", { read, update }, "sets it back to what the program says", { updates: 1, eventPosts: 1 }],
    ["no update", { read }, "replaces it, which creates another live object", { updates: 0, eventPosts: 2 }],
  ])("changed by hand, with %s known: a refresh says once what the next up does", async (_, event, words, sent) => {
    const { sandbox, lone } = await one();
    const e = lone();
    const options = optionsOf({ event, createdVisibleAfterSeconds: 0 });
    await e.up({ segmentId: 7 }, options);
    Object.assign(sandbox.events[0] ?? {}, { segment_id: null });
    expect(wordsOf((await e.engine.refresh(options)).run)).toContain(`(segmentId): the next \`pulumi up\` ${words}`);
    expect(wordsOf((await e.engine.refresh(options)).run)).toBe("");
    expect((await e.up({ segmentId: 7 }, options)).error).toBeUndefined();
    expect(sandbox.events.at(-1)?.segment_id).toBe(7);
    expect(sandbox).toMatchObject(sent);
  });

  it.each<[string, Values, string]>([
    ["created", {}, "Then `pulumi up` creates another one."],
    ["adopted", { existingId: 2 }, "Then `pulumi up` fails as long as existingId names 2: remove it"],
  ])(
    "deleted by hand after it was %s: it leaves the state, that is said, and nothing counts as live",
    async (_, more, words) => {
      const { sandbox, lone } = await one();
      const [e, again] = [lone(), lone()];
      await (more.existingId === undefined ? e : lone("other")).up({}, KNOWN);
      await e.up(more, KNOWN);
      await byHand(sandbox, "2");
      const { run } = await e.engine.refresh(KNOWN);
      expect([e.id, wordsOf(run)]).toEqual([
        undefined,
        expect.stringMatching(
          /^ConversionEvent 2(?: \(events\["k"\]\))? is no longer on the platform, so it leaves the state\. /,
        ),
      ]);
      expect(wordsOf(run)).toContain(words);
      expect(await again.preview({}, KNOWN)).not.toContain("was 2 before");
      expect((await again.up({}, KNOWN)).error).toBeUndefined();
      expect([again.id, sandbox.eventPosts]).toEqual(["3", 2]);
    },
  );

  it("an update that finds it gone says so, and the next run replaces it", async () => {
    const { sandbox, lone } = await one();
    const e = lone();
    const options = optionsOf({ event: { update }, createdVisibleAfterSeconds: 0 });
    await e.up({}, options);
    await byHand(sandbox, "2");
    const { error } = await e.up({ value: 7 }, options);
    expect(error).toContain(
      "was not changed: object 2 is no longer on the platform. The next `pulumi up` replaces it.",
    );
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
    expect((await e.up({ value: 7 }, options)).error).toBeUndefined();
    expect([e.id, sandbox.eventPosts]).toEqual(["3", 2]);
  });

  it("made by an interrupted run and deleted by hand: it is taken over, and a refresh finds that it is gone", async () => {
    const clock = new FakeClock(Date.now());
    const { sandbox, lone } = await one({ clock: () => clock.wallMs() });
    const options = { ...KNOWN, adapt: (runtime: Runtime): Runtime => ({ ...runtime, clock }) };
    const e = lone();
    await e.kill({}, options);
    await byHand(sandbox, "2");
    expect((await e.up({}, options)).error).toBeUndefined();
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
    clock.advance(400_000);
    await e.engine.refresh(options);
    expect((await e.up({}, options)).error).toBeUndefined();
    expect([e.id, sandbox.eventPosts, sandbox.events.length]).toEqual(["3", 2, 1]);
  });

  it("deleted by its own run and declared again right away: another one is created, and nothing counts as live", async () => {
    const { sandbox, lone } = await one();
    const e = lone();
    e.engine.declares = { deletes: true };
    await e.up({}, KNOWN);
    const destroying = e.engine.newRun(KNOWN);
    for (const work of e.engine.leave(destroying)) await work();
    destroying.closeNow();
    expect(await e.preview({}, KNOWN)).not.toMatch(/ 2\b|live/);
    expect((await e.up({}, KNOWN)).error).toBeUndefined();
    expect([e.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["3", 2, 1]);
  });

  it("an update or a delete of unknown outcome is sent again by the next run; nothing else is remembered of it", async () => {
    const { sandbox, lone } = await one();
    const e = lone();
    e.engine.declares = { deletes: true };
    await e.up({}, KNOWN);
    const lost = (on: "update" | "delete") =>
      sandbox.fail({ on, act: true, with: { kind: "answer", status: 500 }, times: 9 });
    lost("update");
    expect((await e.up({ value: 7 }, KNOWN)).error).toMatch(/no usable response/);
    sandbox.endFaults();
    expect((await e.up({ value: 7 }, KNOWN)).error).toBeUndefined();
    expect(sandbox).toMatchObject({ events: [{ value: 7 }], eventPosts: 1 });
    lost("delete");
    const state = structuredClone(e.engine.state);
    const failing = e.engine.newRun(KNOWN);
    await expect(Promise.all(e.engine.leave(failing).map((work) => work()))).rejects.toThrow(/no usable response/);
    failing.closeNow();
    sandbox.endFaults();
    e.engine.state = state;
    const again = e.engine.newRun(KNOWN);
    await Promise.all(e.engine.leave(again).map((work) => work()));
    again.closeNow();
    expect(sandbox).toMatchObject({ events: [], eventPosts: 1 });
  });

  it("of another account, or of one that the state does not say, is never deleted", async () => {
    const { sandbox, lone } = await one();
    const e = lone();
    e.engine.declares = { deletes: true };
    await e.up({}, KNOWN);
    const { id, outputs } = e.engine.state ?? expect.fail();
    const run = e.engine.newRun(KNOWN);
    const provider = shape === "a single event" ? run.event : run.set;
    const { __at: _, ...unknown } = outputs;
    const elsewhere = provider.delete(id, { ...outputs, __at: "other.example a@b.c" });
    expect((await failureOf(elsewhere)).message).toContain("ADVERTISING_ACCOUNT_MISMATCH");
    await provider.delete(id, unknown);
    await run.event.delete("unresolved-x", outputs);
    expect(run.said).toEqual([expect.stringContaining("because the state does not say which account it belongs to")]);
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  });
});

const RECORDS: RecordShape[] = ["object", "payload", "payload-list", "list", "own-name"];
const DRESSES: RecordDress[] = ["plain", "strings"];
it.each(RECORDS.flatMap((recordShape) => DRESSES.map((recordDress) => ({ recordShape, recordDress }))))(
  "an object in an answer of the shape $recordShape, $recordDress: no change if there is none, and .get has every argument",
  async (dress) => {
    const { event, id, outs, said, sandbox } = await start(dress);
    expect(await event.read(id, outs)).toEqual({ id, props: outs });
    const { __identity: _, ...given } = inputs;
    expect((await event.read(id, {})).props).toEqual({ ...given, eventId: Number(id) });
    expect([said, sandbox.reads]).toEqual([[], 2]);
  },
);

it("a refresh shows each changed argument once, in the form of the program, and an update sets it back", async () => {
  /** The field, the argument, the platform's value now, and the same value in a program's form. */
  const changes = [
    ["event_name", "eventName", "Buy", "Buy"],
    ["value", "value", 30.5, 30.5],
    ["event_type_id", "eventTypeId", null, undefined],
    ["segment_id", "segmentId", 8, 8],
    ["count_unique", "countUnique", true, true],
    ["click_window", "clickWindow", null, undefined],
    ["attribution", "attribution", "WHITELIST", "WHITELIST"],
    ["advertiser_id", "advertiserId", 2, 2],
  ] as const;
  const warned: string[] = [];
  const adapt = (runtime: Runtime): Runtime => ({ ...runtime, warnEach: ({ text }) => void warned.push(text) });
  const { event, id, outs, sandbox } = await start({ recordDress: "strings" }, ALL, adapt);
  const before = { ...sandbox.events[0] };
  for (const [field, property, theirs, value] of changes) {
    Object.assign(sandbox.events[0] ?? {}, before, { [field]: theirs });
    const { props = {} } = await event.read(id, outs);
    expect(props).toEqual({ ...outs, [property]: value });
    expect(await event.read(id, props as Values)).toEqual({ id, props });
    expect(warned).toEqual([expect.stringContaining(`was changed on the platform (${property})`)]);
    const replaces = property === "advertiserId" ? ["advertiserId"] : [];
    expect(await event.diff(id, props as Values, inputs)).toMatchObject({ changes: true, replaces });
    warned.length = 0;
  }
});

const GONE: GoneShape[] = ["404", "410", "empty-list", "empty-payload", "could-not-load"];
it.each(GONE)("an object that is gone (%s) leaves the state, and is an error for .get", async (goneShape) => {
  const { event, outs, sandbox } = await start({ goneShape });
  expect(await event.read("999", outs)).toEqual({ id: "", props: {} });
  expect(sandbox.reads).toBe(1);
  expect((await failureOf(event.read("999", {}))).message).toContain("there is no event 999 on the platform");
});

it("R1: a bare 404 counts only if the read works for another object", async () => {
  const { event, id, outs } = await start({ goneShape: "404-bare" });
  expect((await failureOf(event.read("999", outs))).message).toMatch(/whether the object or the operation is missing/);
  const [gone] = await Promise.all([event.read("998", outs), event.read(id, outs)]);
  expect([gone.id, (await event.read("999", outs)).id]).toEqual(["", ""]);
});

it.each<[string, Fault]>([
  ["500", { kind: "answer", status: 500, body: { message: "event 2 not found" } }],
  ["others", { kind: "answer", status: 200, body: { payload: [{ id: 7, event_name: "x" }] } }],
  ["a refusal about another", { kind: "answer", status: 406, body: { errors: ["advertiser 2 not found"] } }],
  ["a login page", { kind: "session-refusal", way: "login-page" }],
])("R1: a read that is answered with trouble (%s) leaves the object in the state", async (_, fault) => {
  const { event, id, outs, sandbox } = await start();
  sandbox.fail({ on: "read", with: fault, times: 10 });
  expect((await failureOf(event.read(id, outs))).message).toMatch(
    /ConversionEvent 2: GET http:.*rest\/event\/2 .*\[ADVERTISING_(REFUSED|SETTINGS|BAD_ANSWER)\]$/s,
  );
  sandbox.endFaults();
  expect(await event.read(id, outs)).toEqual({ id, props: outs });
});

it.each<[string, Fault, RegExp]>([
  [
    "500",
    { kind: "answer", status: 500, body: { success: false, message: "in use" } },
    /no usable response \(status 500/,
  ],
  ["406", { kind: "answer", status: 406, body: { errors: ["in use"] } }, /406: in use\. Nothing was (changed|deleted)/],
  ["another id", { kind: "answer", status: 200, body: { success: true, payload: { id: 77 } } }, /77/],
])(
  "an update or a delete that is answered with %s is an error, and the state keeps what it has",
  async (_, fault, words) => {
    const { event, id, outs, sandbox, next } = await start();
    for (const on of ["update", "delete"] as const) sandbox.fail({ on, with: fault, times: 9 });
    const updating = await failureOf(event.update(id, outs, { ...inputs, value: 7 }));
    expect([updating.message, updating.id]).toEqual([expect.stringMatching(words), undefined]);
    expect((await failureOf(event.delete(id, outs))).message).toMatch(words);
    sandbox.endFaults();
    expect(sandbox).toMatchObject({ eventPosts: 0, events: [{ value: 100 }] });
    await next().event.delete(id, outs);
    expect(sandbox.events).toEqual([]);
  },
);

it("an update sends only what was changed, a default or null for what was removed, and the id stays", async () => {
  const { event, id, outs, sandbox } = await start();
  const news = { ...inputs, eventName: "Buy", clickWindow: 60 };
  expect(await event.diff(id, outs, news)).toEqual({ changes: true, replaces: [], deleteBeforeReplace: false });
  const updated = await event.update(id, outs, news);
  expect(updated.outs).toEqual({ ...outs, eventName: "Buy", clickWindow: 60 });
  const { eventTypeId: _, ...without } = news;
  const { outs: more } = await event.update(id, updated.outs as Values, {
    ...without,
    additionalFields: { note: "x" },
  });
  await event.update(id, more as Values, without);
  expect(sandbox.requests.map(({ method, path, body }) => [method, path, body])).toEqual(
    [{ event_name: "Buy", click_window: 60 }, { event_type_id: null, note: "x" }, { note: null }].map((body) => [
      "PUT",
      "/rest/event/2",
      body,
    ]),
  );
  expect(sandbox.creates).toBe(0);
});

describe("delete", () => {
  it("deletes only the object, once, also if the state was not saved; one that is not there counts as deleted", async () => {
    const { event, id, outs, sandbox, next, kill } = await start({}, { event: ALL.event });
    await event.delete(id, outs);
    await kill();
    expect([sandbox.events, sandbox.advertisers.length]).toEqual([[], 1]);
    // Soon after its create, when not to find it proves nothing.
    await next().event.delete(id, outs);
    expect(await next().event.read(id, outs)).toEqual({ id: "", props: {} });
    await newRun(sandbox, newFolder(), KNOWN).event.delete(id, outs);
    expect(sandbox).toMatchObject({ creates: 0, deletes: 2 });
  });

  const WITHOUT_UPDATE = optionsOf({ createdVisibleAfterSeconds: 0, event: { read, delete: removal } });

  /** An event with the option in its state. */
  async function held(isDeleting = true) {
    const [sandbox, folder] = [await operatedSandbox(), newFolder()];
    const engine = new EventEngine(sandbox, folder, "e");
    const given = (more: Values = {}) => ({ eventName: "E", advertiserId: 1, value: 1, ...more });
    engine.declares = { deletes: isDeleting };
    await engine.up(given(), WITHOUT_UPDATE);
    return { sandbox, engine, given };
  }

  it("of a replaced object is announced, comes last, and is not noted as left live", async () => {
    const { sandbox, engine, given } = await held();
    expect(await engine.preview(given({ value: 2 }), WITHOUT_UPDATE)).toBe(
      'ConversionEvent "e": The replacement creates another live object. 2 is deleted on the platform, as retainOnDelete: false says.',
    );
    const { error, run } = await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
    expect([error, wordsOf(run)]).toEqual([undefined, ""]);
    expect(sandbox.requests.slice(-2).map(({ method }) => method)).toEqual(["POST", "DELETE"]);
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1, events: [{ id: 3 }] });
    await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
    expect(JSON.stringify(engine.state)).not.toMatch(/"__left":\[\{"id":"3/);
  });

  it.each([true, false])(
    "is not sent if only the state (%s), or only the program has the option: the object stays live, and that is said",
    async (isInState) => {
      const { sandbox, engine, given } = await held(isInState);
      engine.declares = { deletes: !isInState };
      expect(await engine.preview(given({ value: 2 }), WITHOUT_UPDATE)).toContain("2 stays live on the platform");
      const { run } = await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
      expect(wordsOf(run)).toContain("is 3 now. 2 stays live on the platform");
      const { id, outputs } = engine.state ?? expect.fail();
      if (isInState) await run.event.delete("2", { ...outputs, eventId: 2 }); // the engine goes by the state
      expect([id, outputs.__left]).toEqual(["3", [expect.objectContaining({ id: "2", name: "E" })]]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
    },
  );

  it.each([true, false])(
    "is sent if it comes before the create, as with deleteBeforeReplace or --replace: %s",
    async (isBefore) => {
      const { sandbox, engine, given } = await held();
      await engine.up(given(), WITHOUT_UPDATE); // from now on it is known to be in the state
      const { id, outputs, inputs: before } = engine.state ?? expect.fail();
      const run = engine.newRun(WITHOUT_UPDATE);
      const briefing = { identity: "tiny/dev::e", run: { isUp: true, resources: 1 }, deletes: true };
      // Under `--replace` there is no `diff`.
      const { inputs: next = {} } = await run.event.check(before, { ...given({ value: 2 }), __identity: briefing });
      if (isBefore) await run.event.delete(id, outputs);
      const created = await run.event.create(next as Values);
      if (!isBefore) await run.event.delete(id, outputs);
      run.closeNow();
      expect(created.outs).not.toHaveProperty("__left");
      expect(sandbox.events.map((each) => String(each.id))).toEqual([created.id]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
    },
  );
});

it("without the setting only the documented operations are sent, and the state keeps no moment", async () => {
  const { event, id, outs, sandbox, said } = await start({}, {});
  expect(outs).not.toHaveProperty("__created");
  expect((await event.read(id, outs)).props).toEqual(outs);
  expect((await event.diff(id, outs, { ...inputs, eventName: "Buy" })).replaces).toEqual(["eventName"]);
  await event.delete(id, outs);
  expect(said.at(-1)).toContain("no known way to delete");
  expect(sandbox.requests).toEqual([]);
});
