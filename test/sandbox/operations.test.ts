/** Operations that only some installations have (read, update, delete), through the provider as the engine calls it. */
import { describe, expect, it } from "vitest";
import type { Runtime } from "../../provider/src/provider/services.js";
import type {
  Fault,
  GoneShape,
  RecordDress,
  RecordShape,
  Sandbox,
  SandboxOptions,
} from "../../provider/src/sandbox/index.js";
import { UNKNOWN } from "../../provider/src/state/properties.js";
import { newFolder } from "../support/folder.js";
import { operatedSettings } from "../support/operated.js";
import { failureOf, newRun } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";

const ALL = {
  createdVisibleAfterSeconds: 0,
  event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" },
  advertiser: { read: "GET rest/advertiser/{id}", update: "PATCH rest/advertiser/{id}" },
};

type Values = Record<string, unknown>;

const WITHOUT_UPDATE = { createdVisibleAfterSeconds: 0, event: { read: ALL.event.read, delete: ALL.event.delete } };

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
) {
  const sandbox = await useSandbox({ operations: true, ...options });
  const folder = newFolder();
  const inThisRun = { settings: { operations: JSON.stringify(operations) }, adapt };
  // A run does not delete what it created itself: the engine asks for deletes in a later run.
  const first = newRun(sandbox, folder, inThisRun);
  await first.advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" });
  const { id, outs } = await first.event.create(inputs);
  first.closeNow();
  const run = newRun(sandbox, folder, inThisRun);
  sandbox.resetCounts();
  return { ...run, sandbox, folder, inThisRun, id, outs: outs as Record<string, unknown> };
}

it("R1: this machine's notes say when an object was created before a read was known, so that it does not count as gone too early", async () => {
  const { createdVisibleAfterSeconds: _, ...operations } = ALL;
  const sandbox = await useSandbox({ operations: true, readLagSeconds: 3600 });
  const folder = newFolder();
  const first = newRun(sandbox, folder);
  await first.advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" });
  const { id, outs = {} } = await first.event.create(inputs);
  first.closeNow();
  expect(outs).not.toHaveProperty("__created");

  const settings = { operations: JSON.stringify(operations) };
  const refreshing = newRun(sandbox, folder, { settings });
  expect(await refreshing.event.read(id, outs as Record<string, unknown>)).toEqual({ id, props: outs });
  expect(refreshing.told.map(({ message }) => message).join()).toMatch(/is not found .* it was created at 20/);
  refreshing.closeNow();
  // Another resource adopts it, and the one that created it is removed.
  const adopter = newRun(sandbox, folder);
  const run = { isUp: true, resources: 1 };
  const adopting = { ...inputs, existingId: Number(id), __identity: { identity: "tiny/dev::adopter", run } };
  const { inputs: news = {} } = await adopter.event.check({}, adopting);
  const { outs: adopted = {} } = await adopter.event.create(news as Record<string, unknown>);
  adopter.closeNow();
  const again = newRun(sandbox, folder, { settings });
  expect((await again.event.read(id, adopted as Record<string, unknown>)).id).toBe(id);
  again.closeNow();
  // An alias moves it to a key that no run here has noted before.
  const renaming = newRun(sandbox, folder);
  const renamed = { ...adopting, __identity: { identity: "tiny/dev::renamed", run } };
  const { inputs: moved = {} } = await renaming.event.check(news as Record<string, unknown>, renamed);
  expect(await renaming.event.diff(id, adopted, moved as Record<string, unknown>)).toMatchObject({ changes: false });
  renaming.closeNow();
  const last = newRun(sandbox, folder, { settings });
  expect((await last.event.read(id, adopted as Record<string, unknown>)).id).toBe(id);
  last.closeNow();
  // A machine without these notes does not know the time.
  const other = newRun(sandbox, newFolder(), { settings });
  expect((await other.event.read(id, outs as Record<string, unknown>)).id).toBe("");
  expect(sandbox.creates).toBe(2);
});

it.each([
  ["nothing", {}, "adopts 2; nothing is sent"],
  ["a read", { read: ALL.event.read }, "adopts 2; it is read, and refused if it differs"],
  [
    "a read and an update",
    { read: ALL.event.read, update: ALL.event.update },
    "adopts 2; it is read, and changed in place if it differs",
  ],
])("R8: the preview of an adoption says what the up then does, if %s is known", async (_, event, words) => {
  const { sandbox } = await start();
  const run = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify({ event }) } });
  const adopting = { ...inputs, value: 7, existingId: 2, __identity: "tiny/dev::adopter" };
  const { inputs: checked = {} } = await run.event.check({}, adopting);
  expect(run.told.map(({ message }) => message)).toContain(words);
  const failure = await run.event.create(checked as Record<string, unknown>).then(
    () => undefined,
    (error: Error) => error.message,
  );
  expect([sandbox.reads > 0, sandbox.updates > 0, failure !== undefined]).toEqual([
    words.includes("is read"),
    words.includes("is read, and changed"),
    words.includes("refused"),
  ]);
  expect(sandbox.creates).toBe(0);
});

describe("R8: an adopted object that was changed by hand, with only a read known", () => {
  const objects = {
    advertisers: [{ id: 1, advertiser_name: "A", active: true }],
    events: [{ id: 2, event_name: "E", advertiser_id: 1, value: 1 }],
  };
  const settings = operatedSettings({ read: ALL.event.read });
  const adopting = { eventName: "E", value: 1, existingId: 2 };
  const textsOf = (run: ReturnType<typeof newRun>) => run.told.map(({ message }) => message).join("\n");
  const change = (sandbox: Sandbox, value: number) => Object.assign(sandbox.events[0] ?? {}, { value });

  it("a single event: the refresh, the preview and the up say that it fails, and how it goes on", async () => {
    const sandbox = await useSandbox({ operations: true, objects });
    const folder = newFolder();
    const run = () => newRun(sandbox, folder, { settings });
    const given = { ...adopting, advertiserId: 1, __identity: "tiny/dev::e" };
    const first = run();
    const { inputs: checked = {} } = await first.event.check({}, given);
    const { id, outs = {} } = await first.event.create(checked as Record<string, unknown>);
    first.closeNow();
    change(sandbox, 5);
    const refreshing = run();
    const { props = {} } = await refreshing.event.read(id, outs as Record<string, unknown>);
    expect(textsOf(refreshing)).toMatch(
      /was changed on the platform \(value\): the next `pulumi up` fails, because existingId/,
    );
    const next = run();
    const { inputs: news = {} } = await next.event.check(checked as Record<string, unknown>, given);
    const { replaces } = await next.event.diff(id, props as Record<string, unknown>, news as Record<string, unknown>);
    expect(replaces).toEqual(["value"]);
    await next.event.check({}, given);
    expect(textsOf(next)).toMatch(
      /the state has 2 with another value\. `pulumi up` reads it, and fails if it still differs\. Copy/,
    );
    const failure = await failureOf(next.event.create(news as Record<string, unknown>));
    expect(failure.message).toContain("existingId 2 differs: value is 5 there, and 1 here");
    change(sandbox, 1);
    expect((await next.event.create(news as Record<string, unknown>)).id).toBe("2");
    expect(sandbox).toMatchObject({ creates: 0, updates: 0 });
  });

  it("a set's event: the same", async () => {
    const sandbox = await useSandbox({ operations: true, objects });
    const engine = new SetEngine(sandbox, newFolder());
    const declared = { advertiserId: 1, events: { e: adopting } };
    expect((await engine.up(declared, { settings })).error).toBe(undefined);
    change(sandbox, 5);
    const refreshing = engine.newRun({ settings });
    const state = engine.state ?? { id: "", outputs: {} };
    await refreshing.set.read(state.id, state.outputs);
    refreshing.closeNow();
    expect(textsOf(refreshing)).toMatch(
      /was changed on the platform \(value\): the next `pulumi up` fails, because existingId/,
    );
    expect((await engine.refresh({ settings })).error).toBe(undefined);
    expect(await engine.preview(declared, { settings })).toContain(
      "events: 1 to fail if they still differ, 0 unchanged\n  to fail if they still differ: copy the refreshed values",
    );
    expect((await engine.up(declared, { settings })).error).toContain(
      "existingId 2 differs: value is 5 there, and 1 here",
    );
    expect((await engine.up({ ...declared, events: { e: { ...adopting, value: 5 } } }, { settings })).error).toBe(
      undefined,
    );
    expect(sandbox).toMatchObject({ creates: 0, updates: 0 });
  });
});

it("R4: a create of an interrupted run for another advertiser is not taken over with an update: a person decides", async () => {
  const advertisers = [1, 2].map((id) => ({ id, advertiser_name: "A", active: true }));
  const sandbox = await useSandbox({ operations: true, objects: { advertisers, events: [] } });
  const folder = newFolder();
  const run = () => newRun(sandbox, folder, { settings: operatedSettings({ update: ALL.event.update }) });
  const given = { eventName: "E", value: 1, __identity: "tiny/dev::e" };
  const killed = run();
  await killed.event.create({ ...given, advertiserId: 1 });
  await killed.kill();
  const next = run();
  const failure = await failureOf(next.event.create({ ...given, advertiserId: 2 }));
  expect(failure.id).toMatch(/^unresolved-/);
  expect(failure.message).toContain("It was sent with other arguments than the program has now");
  expect(sandbox).toMatchObject({ eventPosts: 1, updates: 0, events: [{ advertiser_id: 1 }] });
});

it("R2: with checkpoints off, an object that a run deleted is created again by the next one, not taken over", async () => {
  const sandbox = await useSandbox({ operations: true });
  const folder = newFolder();
  const options = { settings: { operations: JSON.stringify(ALL) }, environment: { PULUMI_SKIP_CHECKPOINTS: "true" } };
  const first = newRun(sandbox, folder, options);
  await first.advertiser.create({ advertiserName: "A", __identity: "tiny/dev::a" });
  const { id, outs = {} } = await first.event.create({ ...inputs, __delete: true });
  first.closeNow();
  const destroying = newRun(sandbox, folder, options);
  await destroying.event.delete(String(id), outs as Record<string, unknown>);
  destroying.closeNow();
  expect(sandbox).toMatchObject({ deletes: 1, events: [] });

  const next = newRun(sandbox, folder, options);
  const { inputs: checked = {} } = await next.event.check({}, inputs);
  expect(next.said.join()).not.toContain("was created as");
  expect((await next.event.create(checked as Record<string, unknown>)).id).not.toBe(id);
  expect(sandbox).toMatchObject({ eventPosts: 2, events: [{ event_name: "Purchase" }] });
});

/** Changes an object by hand. */
function change(sandbox: Sandbox, id: string, fields: Record<string, unknown>): void {
  Object.assign(sandbox.events.find((each) => each.id === Number(id)) ?? {}, fields);
}

const SHAPES: RecordShape[] = ["object", "payload", "payload-list", "list", "own-name"];
const DRESSES: RecordDress[] = ["plain", "strings"];
const everyDress = SHAPES.flatMap((recordShape) => DRESSES.map((recordDress) => ({ recordShape, recordDress })));

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
      warnEach: (_sort, _urn, message) => void warned.push(message),
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

  it("is created again without a message about a live object", async () => {
    const sandbox = await useSandbox({
      operations: true,
      objects: { advertisers: [{ id: 1, active: true }], events: [] },
    });
    const folder = newFolder();
    const settings = { operations: JSON.stringify(ALL) };
    const first = newRun(sandbox, folder, { settings });
    const { id, outs } = await first.event.create(inputs);
    first.closeNow();
    const deleting = newRun(sandbox, folder, { settings });
    await deleting.event.delete(id, outs as Record<string, unknown>);
    deleting.closeNow();
    const second = newRun(sandbox, folder, { settings });
    const identity = { identity: inputs.__identity, run: { isUp: false, resources: 1 } };
    expect(await second.event.read(id, outs as Record<string, unknown>)).toEqual({ id: "", props: {} });
    await second.event.check({}, { ...inputs, __identity: identity });
    expect(second.told.map(({ message }) => message).join("\n")).not.toContain("second live object");
    second.closeNow();
    // A later run knows it too.
    const third = newRun(sandbox, folder, { settings });
    await third.event.check({}, { ...inputs, __identity: identity });
    expect(third.told).toEqual([]);
  });

  const deletedByHand = async (sandbox: Sandbox, id: string, outs: Record<string, unknown>) => {
    const other = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(ALL) } });
    await other.event.delete(id, outs);
    sandbox.resetCounts();
  };
  const wordsOf = ({ told }: Pick<ReturnType<typeof newRun>, "told">) => told.map(({ message }) => message).join("\n");

  it.each(["created", "adopted", "unknown to this machine"] as const)(
    "is reported with what the next up does: %s",
    async (how) => {
      const { sandbox, folder, inThisRun, event, id, outs: created, closeNow } = await start();
      let outs = created;
      const isAdopted = how === "adopted";
      if (isAdopted) {
        const { inputs: news } = await event.check({}, { ...inputs, existingId: Number(id) });
        outs = (await event.create(news)).outs as typeof outs;
      }
      closeNow();
      await deletedByHand(sandbox, id, outs);
      const refreshing = newRun(sandbox, how.startsWith("unknown") ? newFolder() : folder, inThisRun);
      expect(await refreshing.event.read(id, outs)).toEqual({ id: "", props: {} });
      const named = how.startsWith("unknown") ? `ConversionEvent ${id}` : `ConversionEvent "purchase" (${id})`;
      const next = isAdopted
        ? `Then \`pulumi up\` fails if existingId still names ${id}: remove existingId to create another one, or name another object.`
        : "Then `pulumi up` creates another one.";
      expect(wordsOf(refreshing)).toBe(`${named} is no longer on the platform, so it leaves the state. ${next}`);
      refreshing.closeNow();
      // Later runs know the read too, so nothing counts as live.
      const later = newRun(sandbox, folder, inThisRun);
      const identity = { identity: inputs.__identity, run: { isUp: false, resources: 1 } };
      await later.event.check({}, { ...inputs, __identity: identity });
      expect(wordsOf(later).includes("second live object")).toBe(how.startsWith("unknown"));
      expect(sandbox).toMatchObject({ creates: 0 });
    },
  );

  it("is reported with its key in a set", async () => {
    const { sandbox, folder, inThisRun } = await start();
    const engine = new SetEngine(sandbox, folder);
    await engine.up({ advertiserId: 1, events: { a: { eventName: "A", value: 1 } } }, inThisRun);
    const { a } = engine.eventIds;
    await deletedByHand(sandbox, String(a), { ...engine.state?.outputs, eventName: "A" });
    const refreshing = newRun(sandbox, folder, inThisRun);
    await refreshing.set.read(engine.state?.id ?? "", engine.state?.outputs ?? {});
    expect(wordsOf(refreshing)).toContain(
      `events["a"] of ConversionEventSet "funnel" (${a}) is no longer on the platform`,
    );
  });

  it.each([
    ["a known read", ALL.event, "pulumi refresh\n  pulumi up"],
    [
      "no known read",
      { update: ALL.event.update },
      "pulumi state delete 'urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:ConversionEvent::purchase'\n  pulumi up",
    ],
  ])("R8: an update that notices it says what to do with %s", async (_, event, commands) => {
    const { sandbox, folder, id, outs } = await start();
    await deletedByHand(sandbox, id, outs);
    const settings = { operations: JSON.stringify({ createdVisibleAfterSeconds: 0, event }) };
    const run = newRun(sandbox, folder, { settings });
    const failure = await failureOf(run.event.update(id, outs, { ...inputs, value: 7 }));
    expect(failure.message).toBe(
      `ConversionEvent "purchase" was not changed: object ${id} is no longer on the platform. To create another one:\n  ${commands}\n(docs/messages.md#advertising_refused) [ADVERTISING_REFUSED]`,
    );
    const adopted = await failureOf(run.event.update(id, outs, { ...inputs, value: 7, existingId: Number(id) }));
    expect(adopted.message).toContain("To create another one (without existingId):");
    run.closeNow();
    const later = newRun(sandbox, folder, { settings });
    await later.event.check({}, inputs);
    expect(wordsOf(later)).not.toContain("second live object");
    expect(sandbox.creates).toBe(0);
  });

  it("R8: in a set without a known read, its key is to be removed and added again", async () => {
    const { sandbox, folder } = await start();
    const settings = {
      operations: JSON.stringify({ createdVisibleAfterSeconds: 0, event: { update: ALL.event.update } }),
    };
    const engine = new SetEngine(sandbox, folder);
    const up = (events: object) => engine.up({ advertiserId: 1, events }, { settings });
    await up({ a: { eventName: "A", value: 1 } });
    await deletedByHand(sandbox, String(engine.eventIds.a), { ...engine.state?.outputs, eventName: "A" });
    const changed = { a: { eventName: "A", value: 2 } };
    expect((await up(changed)).error).toContain(
      "is no longer on the platform. To create another one, remove its key, run `pulumi up`, and add the key again.",
    );
    for (const events of [{}, changed]) expect((await up(events)).error).toBeUndefined();
    expect(sandbox.creates).toBe(1);
  });

  it("and was perhaps adopted is not said to have been created", async () => {
    const { sandbox, folder, inThisRun, event, id, closeNow } = await start();
    const { inputs: news } = await event.check({}, { ...inputs, existingId: Number(id) });
    await event.create(news);
    closeNow();
    const later = newRun(sandbox, folder, inThisRun);
    await later.event.check({}, inputs);
    expect(wordsOf(later)).toContain(
      `ConversionEvent "purchase" was ${id} before: this creates a second live object. If the state no longer has ${id}, and nobody has deleted it, ${id} stays live`,
    );
  });

  it("in a catalog: the message says where existingId belongs", async () => {
    const { sandbox, folder, inThisRun, event, advertiser, closeNow } = await start();
    const inShop = (name: string) => `tiny/dev::advertising:index:Catalog$::shop/${name}`;
    const acme = { advertiserName: "Acme", __identity: inShop("acme") };
    const many = Array.from({ length: 12 }, (_, index) => ({ ...inputs, __identity: inShop(`acme/e${index}`) }));
    await advertiser.create(acme);
    for (const each of many) await event.create(each);
    closeNow();
    sandbox.resetCounts();
    const later = newRun(sandbox, folder, inThisRun);
    await later.advertiser.check({}, acme);
    for (const each of many) await later.event.check({}, each);
    later.runtime.tellCollected();
    const words = wordsOf(later).split("\n");
    expect(words[0]).toContain("in the catalog's YAML file (a CSV file has no place for it: declare the advertiser");
    expect(words.slice(1, 10)).toEqual(
      Array.from({ length: 9 }, () =>
        expect.stringMatching(/in the catalog's file \(in a CSV file, the column existingId/),
      ),
    );
    // The rest are counted, with their ids.
    expect(words.slice(10)).toEqual([
      expect.stringMatching(/^3 more objects were live before .*"shop\/acme\/e11" \(\d+\)/),
    ]);
    expect(sandbox.creates).toBe(0);
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
    const { event, id, outs, sandbox } = await start();
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

describe("R1: what an answer does not prove stays in doubt", () => {
  it.each(ANSWERS)("%s to a delete", async (_, fault, isNotDone) => {
    const { event, id, outs, sandbox, folder, inThisRun } = await start();
    sandbox.fail({ on: "delete", with: fault, times: 9 });
    const { message } = await failureOf(event.delete(id, outs));
    if (!isNotDone) expect(message).not.toContain("Nothing was deleted");
    const next = newRun(sandbox, folder, inThisRun).event.diff(id, outs, inputs);
    if (isNotDone) expect(await next).toMatchObject({ changes: false });
    else expect((await failureOf(next)).message).toContain("has sent a delete of 2, which may have been carried out");
    expect(sandbox.events).toHaveLength(1);
  });

  it.each(ANSWERS)("%s to an update", async (_, fault, isNotDone) => {
    const { event, id, outs, sandbox, folder, inThisRun } = await start();
    sandbox.fail({ on: "update", with: fault, times: 9 });
    const { message } = await failureOf(event.update(id, outs, { ...inputs, value: 7 }));
    if (!isNotDone) expect(message).not.toContain("Nothing was changed");
    // The program has its former values again.
    const next = newRun(sandbox, folder, inThisRun);
    expect(await next.event.diff(id, outs, inputs)).toMatchObject({ changes: !isNotDone });
  });

  it("a refusal of a request that was sent before does not say that nothing was done", async () => {
    const { event, id, outs, sandbox, folder, inThisRun } = await start();
    sandbox.fail({ on: "delete", act: true, with: { kind: "reset" } });
    sandbox.fail({ on: "delete", with: { kind: "answer", status: 406, body: { errors: ["in use"] } } });
    const { message } = await failureOf(event.delete(id, outs));
    expect(message).toMatch(/was refused with status 406: in use\. \(docs.*\[ADVERTISING_REFUSED\]$/s);
    const next = newRun(sandbox, folder, inThisRun).event.diff(id, outs, inputs);
    expect((await failureOf(next)).message).toContain("may have been carried out");
    expect(sandbox.deletes).toBe(2);
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

  it("R1: is sent again by the next run if its outcome stayed unknown, also if the program has its former values again", async () => {
    const { event, id, outs, sandbox, folder, inThisRun } = await start();
    const changed = { ...inputs, value: 7, additionalFields: { colour: "red" } };
    sandbox.fail({ on: "update", act: true, with: { kind: "answer", status: 500 }, times: 9 });
    await failureOf(event.update(id, outs, changed));
    sandbox.endFaults();
    expect(sandbox.events).toMatchObject([{ value: 7 }]);

    const preview = newRun(sandbox, folder, inThisRun);
    await preview.event.check(inputs, inputs);
    expect(await preview.event.diff(id, outs, inputs)).toMatchObject({ changes: true, replaces: [] });
    const refreshing = newRun(sandbox, folder, inThisRun);
    await refreshing.event.diff(id, outs, inputs);
    expect(refreshing.told).toEqual([]); // R8: it sends nothing
    expect(preview.told.map(({ message }) => message)).toEqual([
      'ConversionEvent "purchase": this machine has sent an update of 2, which may have been carried out. It is sent again, with the program\'s values.',
    ]);
    const next = newRun(sandbox, folder, inThisRun);
    const { outs: after } = await next.event.update(id, outs, inputs);
    expect(sandbox.events).toMatchObject([{ id: 2, value: inputs.value }]);
    const last = newRun(sandbox, folder, inThisRun);
    expect(await last.event.diff(id, after as Record<string, unknown>, inputs)).toMatchObject({ changes: false });

    // It succeeds, and the run is killed before the state is saved.
    await newRun(sandbox, folder, inThisRun).event.update(id, outs, changed);
    const later = newRun(sandbox, folder, inThisRun);
    expect(await later.event.diff(id, outs, inputs)).toMatchObject({ changes: true, replaces: [] });
    await later.event.update(id, outs, inputs);
    expect(sandbox.events).toMatchObject([{ id: 2, value: inputs.value }]);
    expect(sandbox.eventPosts).toBe(0);
  });

  describe("of unknown outcome, and then a read shows the object", () => {
    const changed = { ...inputs, value: 7 };
    /** @param act whether it was carried out. */
    async function doubtful(act: boolean, news: Values = changed) {
      const first = await start();
      const { event, id, outs, sandbox, folder, inThisRun } = first;
      sandbox.fail({ on: "update", act, with: { kind: "answer", status: 500 }, times: 9 });
      await failureOf(event.update(id, outs, news));
      sandbox.endFaults();
      sandbox.resetCounts();
      const next = () => newRun(sandbox, folder, inThisRun);
      const refreshed = async (run = next()) => {
        const { props } = await run.event.read(id, outs);
        run.closeNow();
        return props as Values;
      };
      /** A preview and an `up` with this state. @returns the arguments that the platform got, if there was an update. */
      const upWith = async (state: Values, declared: Values) => {
        const preview = next();
        await preview.event.check(inputs, declared);
        const { changes } = await preview.event.diff(id, state, declared);
        expect(preview.told.map(({ message }) => message).join()).not.toContain("may have been carried out");
        preview.closeNow();
        if (changes === true) await next().event.update(id, state, declared);
        return sandbox.requests.filter(({ method }) => method === "PUT").map(({ body }) => body);
      };
      return { ...first, next, refreshed, upWith };
    }

    it.each<[string, boolean, Values, object[]]>([
      ["it was carried out, and is declared: no update", true, changed, []],
      ["it was carried out, and the former value is declared: an ordinary update", true, inputs, [{ value: 100 }]],
      ["it was not, and is declared: an ordinary update", false, changed, [{ value: 7 }]],
      ["it was not, and the former value is declared: no update", false, inputs, []],
    ])("R1: %s", async (_, act, declared, updates) => {
      const { refreshed, upWith } = await doubtful(act);
      expect(await upWith(await refreshed(), declared)).toEqual(updates);
    });

    it("R1: an `up` that refreshes first settles it too, for the next run as well", async () => {
      const { id, outs, next, upWith, sandbox } = await doubtful(true);
      const up = next();
      const state = (await up.event.read(id, outs)).props as Values;
      await up.event.check(state, {
        ...changed,
        __identity: { identity: "tiny/dev::purchase", run: { isUp: true, resources: 1 } },
      });
      expect(await up.event.diff(id, state, changed)).toMatchObject({ changes: false });
      up.closeNow();
      expect(await upWith(state, changed)).toEqual([]);
      expect(sandbox.updates).toBe(0);
    });

    it("R1: as long as the state does not have what was read, as after a preview that refreshes, it is sent again", async () => {
      const { id, outs, next, refreshed, sandbox } = await doubtful(true);
      await refreshed();
      const up = next();
      expect(await up.event.diff(id, outs, inputs)).toMatchObject({ changes: true });
      sandbox.fail({ on: "update", with: { kind: "answer", status: 406, body: { errors: ["no"] } } });
      await failureOf(up.event.update(id, outs, inputs));
      up.closeNow();
      expect(await next().event.diff(id, outs, inputs)).toMatchObject({ changes: true });
      await next().event.update(id, outs, inputs);
      expect(sandbox.events).toMatchObject([{ value: 100 }]);
    });

    it("R1: what the read does not show stays in doubt", async () => {
      const { id, next, refreshed, sandbox } = await doubtful(true, { ...inputs, additionalFields: { colour: "red" } });
      const preview = next();
      await preview.event.check(inputs, inputs);
      expect(await preview.event.diff(id, await refreshed(), inputs)).toMatchObject({ changes: true });
      expect(preview.told.map(({ message }) => message).join()).toContain("may have been carried out");
      expect(sandbox.updates).toBe(0);
    });
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

  describe("sent by a run that was interrupted, or with an unknown outcome", () => {
    const later = ({ sandbox, folder, inThisRun }: Awaited<ReturnType<typeof start>>, operations?: object) => {
      const settings = operations === undefined ? inThisRun.settings : { operations: JSON.stringify(operations) };
      return newRun(sandbox, folder, { ...inThisRun, settings });
    };

    it("R1: if the program declares the object again, the run fails until somebody knows whether it is there", async () => {
      const first = await start({ goneShape: "404" });
      const { event, id, outs, sandbox } = first;
      // The state that an interrupted run leaves still has it.
      await event.delete(id, outs);
      const message = (await failureOf(later(first).event.diff(id, outs, inputs))).message;
      expect(message).toBe(
        'ConversionEvent "purchase": this machine has sent a delete of 2, which may have been carried out. Nothing was sent in this run. ' +
          "To find out:\n  pulumi refresh\n(docs/messages.md#advertising_arguments) [ADVERTISING_ARGUMENTS]",
      );
      const withoutRead = { event: { delete: ALL.event.delete } };
      expect((await failureOf(later(first, withoutRead).event.diff(id, outs, inputs))).message).toContain(
        "Look in the account. If it is there, set existingId to its id. Otherwise:\n  pulumi state delete 'urn:",
      );
      expect(await later(first).event.read(id, outs)).toMatchObject({ id: "" });
      expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 1 });
    });

    it("a read that finds it, a refusal, and existingId settle that", async () => {
      const first = await start();
      const { event, id, outs, sandbox } = first;
      const again = () => later(first).event.diff(id, outs, inputs);
      const unchanged = { changes: false, replaces: [] };
      sandbox.fail({ on: "delete", with: { kind: "answer", status: 500 }, times: 9 });
      await failureOf(event.delete(id, outs));
      await failureOf(again());
      const refreshing = later(first);
      expect(await refreshing.event.read(id, outs)).toMatchObject({ id });
      expect(await refreshing.event.diff(id, outs, inputs)).toMatchObject(unchanged);
      expect(await again()).toMatchObject(unchanged);

      await failureOf(later(first).event.delete(id, outs));
      const naming = later(first);
      const run = { isUp: true, resources: 1 };
      const given = { ...inputs, existingId: 2, __identity: { identity: "tiny/dev::purchase", run } };
      const { inputs: named = {} } = await naming.event.check(outs, given);
      expect(await naming.event.diff(id, outs, named as Record<string, unknown>)).toMatchObject(unchanged);
      expect(await again()).toMatchObject(unchanged);

      sandbox.endFaults();
      for (const status of [406, 403]) {
        // A 403 is sent again after a new login.
        sandbox.fail({ on: "delete", with: { kind: "answer", status, body: { message: "in use" } }, times: 2 });
        await failureOf(later(first).event.delete(id, outs));
        expect(await again()).toMatchObject(unchanged);
        sandbox.endFaults();
      }
      expect(sandbox.events).toHaveLength(1);
      expect(sandbox.eventPosts).toBe(0);
    });
  });

  describe("with a replacement or a removal", () => {
    /** Checks the resource, with which the engine begins a run. */
    const begin = (run: ReturnType<typeof newRun>, olds: object | undefined, more: object, isUp = false) =>
      run.event.check(olds === undefined ? {} : { ...olds, __identity: "tiny/dev::purchase" }, {
        ...inputs,
        ...more,
        __identity: { identity: "tiny/dev::purchase", run: { isUp, resources: 1 }, deletes: true },
      });

    it("is announced as a delete, and is not noted as left live", async () => {
      const first = await start({}, WITHOUT_UPDATE);
      const { inputs: held = {} } = await begin(first, {}, {});
      expect(held).toMatchObject({ __delete: true });
      const preview = newRun(first.sandbox, newFolder(), { settings: { operations: JSON.stringify(WITHOUT_UPDATE) } });
      const { inputs: next } = await begin(preview, held, { eventName: "Buy" });
      await preview.event.diff(first.id, first.outs, next ?? {});
      expect(preview.told.map(({ message }) => message)).toEqual([
        `ConversionEvent "purchase": The replacement creates another live object, and ${first.id} is deleted on the platform, as retainOnDelete: false says.`,
      ]);
      const up = newRun(first.sandbox, newFolder(), { settings: { operations: JSON.stringify(WITHOUT_UPDATE) } });
      await begin(up, held, { eventName: "Buy" }, true);
      await up.event.diff(first.id, first.outs, next ?? {});
      const { id, outs } = await up.event.create({ ...next });
      await up.event.delete(first.id, first.outs);
      expect(outs).not.toHaveProperty("__left");
      expect(up.told.map(({ message }) => message)).toEqual([
        `ConversionEvent "purchase" is ${id} now. ${first.id} is deleted on the platform at the end of this run.`,
      ]);
      expect(first.sandbox.events.map((each) => String(each.id))).toEqual([id]);
      expect(first.sandbox).toMatchObject({ eventPosts: 1, deletes: 1 });
    });

    it("R8: a preview does not say that an object stays live which the program adopts elsewhere", async () => {
      const { id, outs, sandbox } = await start({}, WITHOUT_UPDATE);
      const said = async (more: object) => {
        const preview = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(WITHOUT_UPDATE) } });
        const identity = { identity: "tiny/dev::purchase", run: { isUp: false, resources: 2 }, ...more };
        const { inputs: next = {} } = await preview.event.check(inputs, {
          ...inputs,
          eventName: "Buy",
          __identity: identity,
        });
        await preview.event.diff(id, outs, next);
        return preview.told.map(({ message }) => message).join("\n");
      };
      expect(await said({})).toContain(`${id} stays live`);
      expect(await said({ adopted: id })).toBe("");
    });

    it("is sent if the engine asks for no `diff` (`--replace`), on the machine that remembers the object", async () => {
      const { sandbox } = await start({}, WITHOUT_UPDATE);
      const folder = newFolder();
      const settings = { operations: JSON.stringify(WITHOUT_UPDATE) };
      const first = newRun(sandbox, folder, { settings });
      const { inputs: held = {} } = await begin(first, undefined, {}, true);
      const { id, outs } = await first.event.create({ ...held });
      first.closeNow();
      const up = newRun(sandbox, folder, { settings });
      const { inputs: next } = await begin(up, undefined, {}, true);
      const created = await up.event.create({ ...next });
      await up.event.delete(id, outs as object as Record<string, unknown>);
      expect(up.told.map(({ message }) => message).join("\n")).not.toContain("Not deleted");
      expect(sandbox.deletes).toBe(1);
      expect(sandbox.events.map((each) => String(each.id))).not.toContain(id);
      expect(sandbox.events.map((each) => String(each.id))).toContain(created.id);
    });

    it.each<[string, Readonly<Record<string, string>>]>([
      ["", {}],
      ["; with checkpoints off, the former object is not taken over", { PULUMI_SKIP_CHECKPOINTS: "true" }],
    ])("is also sent before the create if the engine asks for no `diff` (`--replace`)%s", async (_, environment) => {
      const { sandbox } = await start({}, WITHOUT_UPDATE);
      const folder = newFolder();
      const settings = { operations: JSON.stringify(WITHOUT_UPDATE) };
      const first = newRun(sandbox, folder, { settings, environment });
      const { inputs: held = {} } = await begin(first, undefined, {}, true);
      const { id, outs } = await first.event.create({ ...held });
      first.closeNow();
      const up = newRun(sandbox, folder, { settings });
      const { inputs: next } = await begin(up, undefined, {}, true);
      await up.event.delete(id, outs as object as Record<string, unknown>);
      const created = await up.event.create({ ...next });
      expect(created.outs).not.toHaveProperty("__left");
      expect(up.said).toEqual([]);
      const ids = sandbox.events.map((each) => String(each.id));
      expect([ids.includes(id), ids.includes(created.id)]).toEqual([false, true]);
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
    });

    it("is not noted as left live if it came before the create (`deleteBeforeReplace`), also if the engine asked for no `check`", async () => {
      const { id: first, outs: olds, sandbox } = await start({}, WITHOUT_UPDATE);
      const run = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(WITHOUT_UPDATE) } });
      const news = { ...inputs, advertiserId: UNKNOWN, __identity: "tiny/dev::purchase" };
      await run.event.diff(first, olds, news);
      await run.event.delete(first, olds);
      const __identity = { identity: "tiny/dev::purchase", run: { isUp: true, resources: 1 }, deletes: true };
      const { inputs: next } = await run.event.check({}, { ...inputs, eventName: "Buy", __identity });
      const created = await run.event.create({ ...next });
      expect(created.outs).not.toHaveProperty("__left");
      expect(run.told).toEqual([]);
      expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 1, events: [{ id: Number(created.id) }] });
    });

    it("is not sent before the create (`deleteBeforeReplace`) if the object may be adopted: it is noted as left live", async () => {
      const { id, outs, sandbox } = await start({}, WITHOUT_UPDATE);
      const run = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(WITHOUT_UPDATE) } });
      const identity = { identity: "tiny/dev::purchase", run: { isUp: true, resources: 2 }, adoptsUnknown: true };
      const held = { ...inputs, __delete: true, __identity: "tiny/dev::purchase" };
      const news = { ...inputs, eventName: "Buy", __identity: { ...identity, deletes: true } };
      const { inputs: next } = await run.event.check(held, news);
      await run.event.diff(id, outs, next ?? {});
      await run.event.delete(id, outs);
      const { inputs: anew } = await run.event.check({}, news);
      const created = await run.event.create({ ...anew });
      expect(run.said).toEqual([
        `Not deleted: ConversionEvent ${id}, which another resource has or may adopt, by the program or this machine's notes.`,
      ]);
      expect(created.outs.__left).toMatchObject([{ id, why: "replaced", by: created.id }]);
      expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
    });

    it("is not sent if the option was switched off with the replacement", async () => {
      const { id, outs, sandbox } = await start({}, WITHOUT_UPDATE);
      const run = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(WITHOUT_UPDATE) } });
      const { inputs: next } = await begin(run, {}, { eventName: "Buy" });
      await run.event.diff(id, outs, next ?? {});
      expect(run.told.map(({ message }) => message).join()).toContain(`${id} stays live on the platform`);
    });

    it("is not sent for an object that another resource has adopted, or that its own resource keeps", async () => {
      const { id, outs, sandbox } = await start();
      for (const name of ["other", "purchase"]) {
        const run = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(ALL) } });
        const identity = `tiny/dev::${name}`;
        await run.event.check({}, { ...inputs, value: 7, existingId: Number(id), __identity: { identity } });
        await run.event.delete(id, outs);
        expect(run.said).toEqual([expect.stringMatching(/^Not deleted: ConversionEvent \d+, /)]);
      }
      expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 0 });
    });
  });

  it("is never sent for another account's object, nor if the state does not say which account", async () => {
    const { event, id, outs, sandbox, said } = await start();
    expect((await failureOf(event.delete(id, { ...outs, __at: "other.example a@b.c" }))).message).toContain(
      "ADVERTISING_ACCOUNT_MISMATCH",
    );
    const { __at: _, ...unknown } = outs;
    await event.delete(id, unknown);
    expect(said.at(-1)).toContain("The state does not say at which account it was created");
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
