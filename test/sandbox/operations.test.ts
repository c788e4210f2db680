/**
 * Operations that only some installations have (read, update, delete), through the provider as the engine calls it. What an answer proves is
 * decided in `client/evidence.ts`; here it is what the state and the platform have afterwards.
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
import { failureOf, newRun } from "../support/run.js";
import { EventEngine, Lone, SHAPES, wordsOf } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";

const ALL = {
  createdVisibleAfterSeconds: 0,
  event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" },
  advertiser: { read: "GET rest/advertiser/{id}", update: "PATCH rest/advertiser/{id}" },
};
const { read, update, delete: removal } = ALL.event;
const optionsOf = (operations: unknown) => ({ settings: { operations: JSON.stringify(operations) } });
const KNOWN = optionsOf(ALL);
/** Without waits between attempts. */
const IMPATIENT = { settings: { ...KNOWN.settings, maxWaitSeconds: "0" } };

type Values = Record<string, unknown>;

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

async function start(
  options: SandboxOptions = {},
  operations: unknown = ALL,
  adapt: (runtime: Runtime) => Runtime = (runtime) => runtime,
  settings: Readonly<Record<string, string>> = {},
) {
  const sandbox = await useSandbox({ operations: true, ...options });
  const folder = newFolder();
  const inThisRun = { settings: { ...optionsOf(operations).settings, ...settings }, adapt };
  // A run does not delete what it created itself: the engine asks for deletes in a later run.
  const first = newRun(sandbox, folder, inThisRun);
  await first.advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" });
  const { id, outs } = await first.event.create(inputs);
  first.closeNow();
  const run = newRun(sandbox, folder, inThisRun);
  sandbox.resetCounts();
  return { ...run, sandbox, folder, inThisRun, id, outs: outs as Values };
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
    return { sandbox, folder, lone: (name = "e", at = folder) => new Lone(shape, sandbox, at, name) };
  }
  const changeTo = (sandbox: Sandbox, value: number) => Object.assign(sandbox.events[0] ?? {}, { value });

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

  it("with creates alone known, its state keeps no moment", async () => {
    const { sandbox, lone } = await one();
    const e = lone();
    await e.up();
    expect(e.engine.state?.outputs).not.toHaveProperty("__created");
    expect(sandbox.eventPosts).toBe(1);
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
    changeTo(sandbox, 5);
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
    await e.up({}, IMPATIENT);
    const lost = (on: "update" | "delete") =>
      sandbox.fail({ on, act: true, with: { kind: "answer", status: 500 }, times: 9 });
    lost("update");
    expect((await e.up({ value: 7 }, IMPATIENT)).error).toMatch(/no usable response/);
    sandbox.endFaults();
    expect((await e.up({ value: 7 }, IMPATIENT)).error).toBeUndefined();
    expect(sandbox).toMatchObject({ events: [{ value: 7 }], eventPosts: 1 });
    lost("delete");
    const state = structuredClone(e.engine.state);
    const failing = e.engine.newRun(IMPATIENT);
    await expect(Promise.all(e.engine.leave(failing).map((work) => work()))).rejects.toThrow(/no usable response/);
    failing.closeNow();
    sandbox.endFaults();
    e.engine.state = state;
    const again = e.engine.newRun(IMPATIENT);
    await Promise.all(e.engine.leave(again).map((work) => work()));
    again.closeNow();
    expect(sandbox).toMatchObject({ events: [], eventPosts: 1 });
  });
});

/** Changes an object by hand. */
function change(sandbox: Sandbox, id: string, fields: Record<string, unknown>): void {
  Object.assign(sandbox.events.find((each) => each.id === Number(id)) ?? {}, fields);
}

const RECORDS: RecordShape[] = ["object", "payload", "payload-list", "list", "own-name"];
const DRESSES: RecordDress[] = ["plain", "strings"];
const everyDress = RECORDS.flatMap((recordShape) => DRESSES.map((recordDress) => ({ recordShape, recordDress })));

describe.each(everyDress)("an object in an answer of the shape $recordShape, $recordDress", (dress) => {
  it("shows no change if there is none, however often it is read", async () => {
    const { event, id, outs, said, sandbox } = await start(dress);
    for (let i = 0; i < 2; i++) expect(await event.read(id, outs)).toEqual({ id, props: outs });
    expect(said).toEqual([]);
    expect(sandbox.reads).toBe(2);
  });

  it("shows each changed argument once, in the form of the program", async () => {
    /** By field: the argument, the platform's value now, and the same value in a program's form. */
    const changes: readonly (readonly [string, string, unknown, unknown])[] = [
      ["event_name", "eventName", "Buy", "Buy"],
      ["value", "value", 30.5, 30.5],
      ["event_type_id", "eventTypeId", 1, 1],
      ["event_type_id", "eventTypeId", null, undefined],
      ["segment_id", "segmentId", 8, 8],
      ["segment_id", "segmentId", null, undefined],
      ["count_unique", "countUnique", true, true],
      ["click_window", "clickWindow", 7200, 7200],
      ["click_window", "clickWindow", null, undefined],
      ["view_window", "viewWindow", 60, 60],
      ["attribution", "attribution", "WHITELIST", "WHITELIST"],
      ["advertiser_id", "advertiserId", 2, 2],
    ];
    const warned: string[] = [];
    const adapt = (runtime: Runtime): Runtime => ({
      ...runtime,
      warnEach: ({ text }) => void warned.push(text),
    });
    const { event, id, outs, sandbox } = await start(dress, ALL, adapt);
    const before = { ...sandbox.events[0] };
    for (const [field, property, theirs, value] of changes) {
      change(sandbox, id, { ...before, [field]: theirs });
      const { props } = await event.read(id, outs);
      expect(props).toEqual({ ...outs, [property]: value });
      expect(warned.splice(0)).toEqual([expect.stringContaining(`was changed on the platform (${property})`)]);
      expect(await event.read(id, props)).toEqual({ id, props });
      expect(warned).toEqual([]);
      // An update sets only this argument back to the program's value.
      const { changes: isChange, replaces } = await event.diff(id, props as Record<string, unknown>, inputs);
      expect({ isChange, replaces }).toEqual({
        isChange: true,
        replaces: property === "advertiserId" ? ["advertiserId"] : [],
      });
      warned.length = 0;
    }
  });

  it("gives .get every argument", async () => {
    const { event, id } = await start(dress);
    const { props } = await event.read(id, {});
    const { __identity: _, ...given } = inputs;
    expect(props).toEqual({ ...given, eventId: Number(id) });
  });
});

describe("an object that is gone", () => {
  const shapes: GoneShape[] = ["404", "410", "empty-list", "empty-payload", "could-not-load"];
  it.each(shapes)("leaves the state after %s", async (goneShape) => {
    const { event, outs, sandbox } = await start({ goneShape });
    expect(await event.read("999", outs)).toEqual({ id: "", props: {} });
    expect(sandbox.reads).toBe(1);
    expect((await failureOf(event.read("999", {}))).message).toContain("there is no event 999 on the platform");
  });

  it.each([
    { success: true, message: "Events retrieved successfully", payload: [] },
    { status: "OK", code: 200, payload: [], total: 0, meta: { page: 1, total_count: 0 } },
    { payload: [], message: "No events found" },
  ])("leaves the state after %j", async (body) => {
    const { event, outs, sandbox } = await start();
    sandbox.fail({ on: "read", with: { kind: "answer", status: 200, body } });
    expect(await event.read("999", outs)).toEqual({ id: "", props: {} });
  });

  it.each([
    { payload: null, errors: [] },
    { success: true, payload: {} },
  ])("leaves the state after %j only if the read works for another object", async (body) => {
    const { event, id, outs, sandbox } = await start();
    sandbox.fail({ on: "read", with: { kind: "answer", status: 200, body }, times: 2 });
    const failure = await failureOf(event.read("999", outs));
    expect(failure.message).toMatch(
      /got no usable response.*whether the object or the operation is missing.*\[ADVERTISING_BAD_ANSWER\]$/,
    );
    sandbox.endFaults();
    await event.read(id, outs);
    sandbox.fail({ on: "read", with: { kind: "answer", status: 200, body } });
    expect(await event.read("999", outs)).toEqual({ id: "", props: {} });
  });

  it("leaves the state after a bare 404 only if the read works for another object", async () => {
    const { event, id, outs } = await start({ goneShape: "404-bare" });
    const failure = await failureOf(event.read("999", outs));
    expect(failure.message).toMatch(
      /which does not say whether the object or the operation is missing.*\[ADVERTISING_BAD_ANSWER\]$/s,
    );
    const [gone] = await Promise.all([event.read("998", outs), event.read(id, outs)]);
    expect(gone.id).toBe("");
    expect((await event.read("999", outs)).id).toBe("");
  });
});

describe("an object is not gone after trouble", () => {
  const html = { "content-type": "text/html" };
  const json = { "content-type": "application/json" };
  const troubles: [string, Fault][] = [
    ["401", { kind: "answer", status: 401, body: { message: "event 2 not found" } }],
    ["403", { kind: "answer", status: 403, body: { message: "event 2 was not found, or you may not see it" } }],
    ["500", { kind: "answer", status: 500, body: { message: "event 2 not found" } }],
    [
      "404 of a route",
      { kind: "answer", status: 404, headers: json, body: { message: "there is no GET /rest/event/2" } },
    ],
    ["404 as a page", { kind: "answer", status: 404, headers: html, body: "<html><title>Not Found</title></html>" }],
    ["405", { kind: "answer", status: 405 }],
    ["a page", { kind: "answer", status: 200, headers: html, body: "<html><title>Maintenance</title></html>" }],
    ["half a body", { kind: "half-body" }],
    ["nothing", { kind: "answer", status: 200 }],
    ["a success and no more", { kind: "answer", status: 200, headers: json, body: { success: true } }],
    ["a refusal without a reason", { kind: "answer", status: 200, headers: json, body: { success: false } }],
    [
      "404 of a tenant",
      { kind: "answer", status: 404, headers: json, body: { error: "Tenant not found: host unknown" } },
    ],
    [
      "404 with the object",
      { kind: "answer", status: 404, headers: json, body: { payload: { id: 2, event_name: "x" } } },
    ],
    [
      "a refusal about another",
      { kind: "answer", status: 406, headers: json, body: { errors: ["advertiser 2 not found"] } },
    ],
    ["others", { kind: "answer", status: 200, headers: json, body: { payload: [{ id: 7, event_name: "x" }] } }],
    [
      "its id on something else",
      { kind: "answer", status: 200, headers: json, body: { payload: [{ id: 2, line: "x" }] } },
    ],
    ...[
      { payload: [], errors: ["database timeout"] },
      { payload: null, error: "maintenance" },
      { payload: [], total: 200 },
      { success: false, error: "Could not load event: lock wait timeout exceeded" },
    ].map((body): [string, Fault] => [JSON.stringify(body), { kind: "answer", status: 200, headers: json, body }]),
    ["a part of an answer", { kind: "answer", status: 207, headers: json, body: { payload: [] } }],
    ["a login page", { kind: "session-refusal", way: "login-page" }],
    ["a redirect", { kind: "session-refusal", way: "redirect" }],
  ];
  it.each(troubles)("%s: it stays in the state", async (_, fault) => {
    const { event, id, outs, sandbox } = await start({}, ALL, undefined, IMPATIENT.settings);
    // The read has worked for this object and for another one.
    await event.read(id, outs);
    sandbox.fail({ on: "read", with: fault, times: 10 });
    const failure = await failureOf(event.read(id, outs));
    expect(failure.message).toMatch(
      /ConversionEvent 2: GET http:.*rest\/event\/2 .*\[ADVERTISING_(REFUSED|SETTINGS|BAD_ANSWER)\]$/s,
    );
    sandbox.endFaults();
    expect(await event.read(id, outs)).toEqual({ id, props: outs });
  });
});

/** Answers to an update or a delete of 2, and whether they prove that it was not carried out. */
const ANSWERS: readonly [string, Fault, boolean][] = [
  ["another id", { kind: "answer", status: 200, body: { success: true, payload: { id: 77 } } }, false],
  ["202", { kind: "answer", status: 202, body: { success: true, payload: { id: 2 } } }, false],
  ["207 with a refusal", { kind: "answer", status: 207, body: { success: false, message: "in use" } }, false],
  ["500", { kind: "answer", status: 500, body: { success: false, message: "in use" } }, false],
  ["501", { kind: "answer", status: 501 }, false],
  ["408", { kind: "answer", status: 408 }, false],
  [
    "a page",
    { kind: "answer", status: 200, headers: { "content-type": "text/html" }, body: "<html>Hello</html>" },
    false,
  ],
  ["half a refusal", { kind: "half-body" }, false],
  ["no answer", { kind: "close-without-answer" }, false],
  ["a redirect to an object", { kind: "answer", status: 302, headers: { location: "/event/77" } }, false],
  ["a refusal", { kind: "answer", status: 200, body: { success: false, message: "in use" } }, true],
  ["406", { kind: "answer", status: 406, body: { errors: ["in use"] } }, true],
  ["405", { kind: "answer", status: 405 }, true],
  ["a 404 of a route", { kind: "answer", status: 404, body: { message: "there is no such route" } }, true],
  ["429", { kind: "answer", status: 429, headers: { "retry-after": "9999" } }, true],
  ["a login page", { kind: "session-refusal", way: "login-page" }, true],
];

describe("what an answer does not prove stays in doubt: the state keeps what it has", () => {
  it.each(ANSWERS)("%s to a delete", async (_, fault, isNotDone) => {
    const { event, id, outs, sandbox, folder, inThisRun } = await start({}, ALL, undefined, IMPATIENT.settings);
    sandbox.fail({ on: "delete", with: fault, times: 9 });
    const { message } = await failureOf(event.delete(id, outs));
    if (!isNotDone) expect(message).not.toContain("Nothing was deleted");
    sandbox.endFaults();
    expect(sandbox.events).toHaveLength(1);
    await newRun(sandbox, folder, inThisRun).event.delete(id, outs);
    expect(sandbox.events).toHaveLength(0);
  });

  it.each(ANSWERS)("%s to an update", async (_, fault, isNotDone) => {
    const { event, id, outs, sandbox } = await start({}, ALL, undefined, IMPATIENT.settings);
    sandbox.fail({ on: "update", with: fault, times: 9 });
    const { message, id: saved } = await failureOf(event.update(id, outs, { ...inputs, value: 7 }));
    if (!isNotDone) expect(message).not.toContain("Nothing was changed");
    expect([saved, sandbox.eventPosts]).toEqual([undefined, 0]);
  });
});

describe("update", () => {
  it("changes only what was changed, without a POST, and the id stays", async () => {
    const { event, id, outs, sandbox } = await start();
    const news = { ...inputs, eventName: "Buy", clickWindow: 60 };
    expect(await event.diff(id, outs, news)).toEqual({ changes: true, replaces: [], deleteBeforeReplace: false });
    const updated = await event.update(id, outs, news);
    expect(updated.outs).toEqual({ ...outs, eventName: "Buy", clickWindow: 60 });
    expect(sandbox.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["PUT", "/rest/event/2", { event_name: "Buy", click_window: 60 }],
    ]);
    expect(sandbox.creates).toBe(0);
    expect(await event.read(id, updated.outs)).toEqual({ id, props: updated.outs });
  });

  it("a removed argument gets its default again, or null", async () => {
    const { event, id, outs, sandbox } = await start();
    const { eventTypeId: _, ...without } = inputs;
    const news = { ...without, additionalFields: { alternative_id: "x" } };
    const { outs: updated } = await event.update(id, outs, news);
    expect(sandbox.requests.at(-1)?.body).toEqual({ event_type_id: null, alternative_id: "x" });
    await event.update(id, updated as Record<string, unknown>, without);
    expect(sandbox.requests.at(-1)?.body).toEqual({ alternative_id: null });
    expect(sandbox.creates).toBe(0);
  });

  it("a different advertiser is a replacement", async () => {
    const { event, id, outs } = await start();
    const { replaces } = await event.diff(id, outs, { ...inputs, advertiserId: 3, eventName: "Buy" });
    expect(replaces).toEqual(["eventName", "advertiserId"]);
  });

  it("is sent again if its answer is lost, and an error if the outcome stays unknown", async () => {
    const { event, id, outs, sandbox } = await start();
    sandbox.fail({ on: "update", act: true, with: { kind: "close-without-answer" } });
    await event.update(id, outs, { ...inputs, value: 1 });
    expect(sandbox.updates).toBe(2);
    sandbox.fail({ on: "update", with: { kind: "answer", status: 500 }, times: 3 });
    const failure = await failureOf(event.update(id, outs, { ...inputs, value: 2 }));
    expect(failure.message).toMatch(/PUT .* got no usable response \(status 500\).*\[ADVERTISING_BAD_ANSWER\]$/s);
    expect(failure.id).toBeUndefined();
  });

  it("a refusal changes nothing, not even inside a success", async () => {
    const { event, id, outs, sandbox } = await start();
    const inner = { success: true, payload: { success: false, message: "the name is reserved" } };
    sandbox.fail({ on: "update", with: { kind: "answer", status: 200, body: inner } });
    const failure = await failureOf(event.update(id, outs, { ...inputs, eventName: "Buy" }));
    expect(failure.message).toMatch(/was refused with status 200: .*the name is reserved\. Nothing was changed\./);
  });

  it("an answer with another id is an error, because it may be about another object", async () => {
    const { event, id, outs, sandbox } = await start();
    sandbox.fail({ on: "update", with: { kind: "answer", status: 200, body: { success: true, payload: { id: 77 } } } });
    const failure = await failureOf(event.update(id, outs, { ...inputs, eventName: "Buy" }));
    expect(failure.message).toContain("look in the account for an object 77 that nothing manages");
    expect(failure.message).toContain("[ADVERTISING_REFUSED]");
  });
});

describe("delete", () => {
  it("deletes only the object; one that is not there counts as deleted", async () => {
    const { event, id, outs, sandbox } = await start();
    await event.delete(id, outs);
    expect(sandbox.events).toEqual([]);
    expect(sandbox.advertisers).toHaveLength(1);
    const elsewhere = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(ALL) } });
    await elsewhere.event.delete(id, outs);
    expect(sandbox.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /rest/event/2",
      "POST /rest/authenticate",
      "DELETE /rest/event/2",
    ]);
  });

  it("is not sent again if the state was not saved, also soon after the create, and a refresh believes it", async () => {
    const operations = { event: ALL.event };
    const sandbox = await useSandbox({ operations: true, objects: { advertisers: [{ id: 1 }], events: [] } });
    const folder = newFolder();
    const next = () => newRun(sandbox, folder, { settings: { operations: JSON.stringify(operations) } });
    const first = next();
    const { id, outs } = await first.event.create(inputs);
    const saved = outs as Record<string, unknown>;
    first.closeNow();
    const deleting = next();
    await deleting.event.delete(id, saved);
    await deleting.kill();
    const again = next();
    await again.event.delete(id, saved);
    again.closeNow();
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 1 });
    expect(await next().event.read(id, saved)).toEqual({ id: "", props: {} });
  });

  it("is sent again if its answer is lost", async () => {
    const { event, id, outs, sandbox } = await start({ goneShape: "404" });
    sandbox.fail({ on: "delete", act: true, with: { kind: "reset" } });
    await event.delete(id, outs);
    expect(sandbox.deletes).toBe(2);
    expect(sandbox.events).toEqual([]);
  });

  it("trouble is an error, and the object stays in the state", async () => {
    const { event, id, outs, sandbox } = await start();
    sandbox.fail({
      on: "delete",
      with: { kind: "answer", status: 403, body: { message: "you may not delete" } },
      times: 2,
    });
    const failure = await failureOf(event.delete(id, outs));
    expect(failure.message).toMatch(/was refused with status 403: you may not delete\. Nothing was deleted\./);
    expect(sandbox.events).toHaveLength(1);
  });

  it.each([
    [200, { success: 0, message: "event is in use" }],
    [207, { success: true, payload: { id: 2 } }],
    [200, { success: true, payload: { id: 77 } }],
    [406, { success: false, message: "event can not be deleted: pixel 7 was not found" }],
    [410, { message: "this version of the API was retired" }],
  ])("R1: answered with %i %j is trouble, and the object stays in the state", async (status, body) => {
    const { event, id, outs, sandbox } = await start();
    sandbox.fail({ on: "delete", with: { kind: "answer", status, body }, times: 9 });
    await failureOf(event.delete(id, outs));
    expect(sandbox.events).toHaveLength(1);
  });

  it("R1: the service's own words for an object that is not there count as deleted", async () => {
    const { event, id, outs, sandbox } = await start();
    const message = ["there were problems", "with your request", `Could not load object ${id} to delete`];
    const body = { success: false, payload: [{ message }] };
    sandbox.fail({ on: "delete", with: { kind: "answer", status: 406, body }, times: 9 });
    await event.delete(id, outs);
    expect(sandbox.deletes).toBe(1);
  });

  it.each([
    [200, { success: true, payload: [], warning: "shard 3 is down" }],
    [200, { success: 0 }],
    [410, { message: "this version of the API was retired" }],
    [404, { message: "Could not load object 2: you are not allowed to see it" }],
  ])("R1: a read answered with %i %j is trouble, and a refresh keeps the object", async (status, body) => {
    const { event, id, outs, sandbox } = await start();
    sandbox.fail({ on: "read", with: { kind: "answer", status, body }, times: 9 });
    await failureOf(event.read(id, outs));
    expect(sandbox.eventPosts).toBe(0);
  });

  describe("with a replacement or a removal", () => {
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

    it("is announced as a delete, comes last, and is not noted as left live", async () => {
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

    it("is not sent if the option was switched on only with the replacement: that says what stays live", async () => {
      const { sandbox, engine, given } = await held(false);
      engine.declares = { deletes: true };
      expect(await engine.preview(given({ value: 2 }), WITHOUT_UPDATE)).toContain("2 stays live on the platform");
      const { run } = await engine.up(given({ value: 2 }), WITHOUT_UPDATE);
      expect(wordsOf(run)).toContain("is 3 now. 2 stays live on the platform");
      expect(engine.state?.outputs.__left).toMatchObject([{ id: "2", name: "E" }]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
    });

    it.each(["after it", "before it (deleteBeforeReplace, or --replace)"])(
      "is sent if the delete comes %s",
      async (when) => {
        const { sandbox, engine, given } = await held();
        await engine.up(given(), WITHOUT_UPDATE); // from now on it is known to be in the state
        const { id, outputs, inputs: before } = engine.state ?? expect.fail();
        const run = engine.newRun(WITHOUT_UPDATE);
        const news = {
          ...given({ value: 2 }),
          __identity: { identity: "tiny/dev::e", run: { isUp: true, resources: 1 }, deletes: true },
        };
        // Under `--replace` there is no `diff`.
        const { inputs: next = {} } = await run.event.check(before, news);
        if (when !== "after it") await run.event.delete(id, outputs);
        const created = await run.event.create(next as Values);
        if (when === "after it") await run.event.delete(id, outputs);
        run.closeNow();
        expect(created.outs).not.toHaveProperty("__left");
        expect(sandbox.events.map((each) => String(each.id))).toEqual([created.id]);
        expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
      },
    );
  });

  it("is never sent for another account's object, nor if the state does not say which account", async () => {
    const { event, id, outs, sandbox, said } = await start();
    expect((await failureOf(event.delete(id, { ...outs, __at: "other.example a@b.c" }))).message).toContain(
      "ADVERTISING_ACCOUNT_MISMATCH",
    );
    const { __at: _, ...unknown } = outs;
    await event.delete(id, unknown);
    expect(said.at(-1)).toContain("was not deleted, because the state does not say which account it belongs to");
    await event.delete("unresolved-x", outs);
    expect(sandbox.requests).toEqual([]);
  });
});

it("without the setting only the documented operations are sent", async () => {
  const { event, id, outs, sandbox, said } = await start({}, {});
  expect((await event.read(id, outs)).props).toEqual(outs);
  expect((await event.diff(id, outs, { ...inputs, eventName: "Buy" })).replaces).toEqual(["eventName"]);
  await event.delete(id, outs);
  expect(said.at(-1)).toContain("no known way to delete");
  expect(sandbox.requests).toEqual([]);
});

it("reads of many objects: few at a time, one login, and one wait for a rate limit", async () => {
  const AT_ONCE = 3;
  const sandbox = await useSandbox({ operations: true });
  const settings = { operations: JSON.stringify(ALL), maxConcurrentRequests: String(AT_ONCE) };
  const { advertiser, event } = newRun(sandbox, newFolder(), { settings });
  await advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" });
  const { id, outs } = await event.create(inputs);
  sandbox.resetCounts();
  const limited = sandbox.fail({
    on: "read",
    after: 20,
    times: AT_ONCE,
    with: { kind: "answer", status: 429, headers: { "retry-after": "1" }, body: { message: "slowly" } },
  });
  const reads = await Promise.all(Array.from({ length: 60 }, () => event.read(id, outs)));
  expect(reads.every((read) => read.id === id)).toBe(true);
  expect(sandbox.maxOpenConnections).toBeLessThanOrEqual(AT_ONCE);
  expect(limited.hits).toBeLessThanOrEqual(AT_ONCE);
  expect(sandbox.reads).toBe(60 + limited.hits);
  expect({ logins: sandbox.logins, creates: sandbox.creates }).toEqual({ logins: 0, creates: 0 });
});
