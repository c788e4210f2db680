/** The members of a set on an installation with more operations. What they share with single resources is in `operations.test.ts` and `search.test.ts`. */
import { describe, expect, it } from "vitest";
import type { Runtime } from "../../provider/src/provider/runtime.js";
import { memberMark } from "../../provider/src/provider/search.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { SetEngine, wordsOf } from "../support/set-engine.js";

const A = { eventName: "A", value: 1 };
const B = { eventName: "B", value: 2 };
const of = (events: object, more: object = {}) => ({ advertiserId: 1, events, ...more });
const refusal = { kind: "answer", status: 406, body: { errors: ["busy"] } } as const;
const lost = { kind: "close-without-answer" } as const;

async function start(operations: Partial<typeof eventOperations> = eventOperations) {
  const clock = new FakeClock(Date.now());
  const sandbox = await operatedSandbox({ clock: () => clock.wallMs() });
  const engine = new SetEngine(sandbox, newFolder());
  const adapt = (runtime: Runtime): Runtime => ({ ...runtime, clock });
  const options = { settings: { ...operatedSettings(operations), maxWaitSeconds: "0" }, adapt };
  const up = async (declared: Record<string, unknown>) => (await engine.up(declared, options)).error;
  const puts = () => sandbox.requests.filter(({ method }) => method === "PUT").map(({ body }) => body);
  return { sandbox, clock, engine, options, up, puts };
}

it("a changed member is updated in place", async () => {
  const { sandbox, engine, up, puts } = await start();
  await up(of({ a: A, b: B }));
  const { eventIds } = engine;
  expect(await up(of({ a: A, b: { ...B, eventName: "Bee" } }))).toBeUndefined();
  expect([engine.eventIds, puts()]).toEqual([eventIds, [{ event_name: "Bee" }]]);
  expect(await up(of({ a: A, b: { ...B, eventName: "Bee" } }))).toBeUndefined();
  expect(sandbox).toMatchObject({ eventPosts: 2, updates: 1, deletes: 0 });
});

describe.each([[[]], [["events"]], [["defaults"]], [[`events["a"].value`]]])("with secret arguments (%j)", (secret) => {
  it.each([
    ["refused", refusal, false],
    ["carried out and got no response", lost, true],
  ] as const)(
    "an update that was %s is sent again, whatever was changed, and nothing is replaced",
    async (_, fault, act) => {
      const { sandbox, up, puts } = await start();
      const declare = (value: number, viewWindow: number) =>
        of({ a: { ...A, value }, b: B }, { defaults: { viewWindow }, ...(secret.length > 0 && { __secret: secret }) });
      await up(declare(1, 60));
      for (const news of [declare(5, 60), declare(5, 90)]) {
        sandbox.fail({ on: "update", act, times: 9, with: fault });
        expect(await up(news)).toMatch(/busy|ADVERTISING_BAD_ANSWER|ADVERTISING_NOT_SENT/);
        sandbox.endFaults();
        expect(await up(news)).toBeUndefined();
        const sent = puts().length;
        expect(await up(news)).toBeUndefined();
        expect(puts()).toHaveLength(sent);
      }
      expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
      const now = sandbox.events.map(({ value, view_window }) => [value, view_window]);
      expect(now).toEqual([
        [5, 90],
        [2, 90],
      ]);
    },
  );
});

it.each(["its own", "a default"])(
  "a secret argument that was %s and is removed is in no state, and is taken away by the update after a failed one",
  async (where) => {
    const { sandbox, engine, up, puts } = await start();
    const isOwn = where === "its own";
    const [own, defaults] = isOwn ? [{ eventTypeId: 31337 }, {}] : [{}, { eventTypeId: 31337 }];
    const __secret = [isOwn ? 'events["a"].eventTypeId' : "defaults.eventTypeId"];
    await up(of({ a: { ...A, ...own } }, { defaults, __secret }));
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

it("trouble in a refresh removes no member from the state", async () => {
  const { sandbox, engine, options, up } = await start();
  await up(of({ a: A, b: B }));
  const { eventIds } = engine;
  // test/engine/operations.test.ts does each of these in a real refresh.
  for (const status of [401, 404, 500]) {
    sandbox.fail({ on: "read", with: { kind: "answer", status }, times: 20 });
    expect((await engine.refresh(options)).error).toMatch(/\[ADVERTISING_\w+\]$/);
    sandbox.endFaults();
  }
  expect([engine.eventIds, sandbox.eventPosts]).toEqual([eventIds, 2]);
});

it("a refresh after a partly failed update announces nothing, since it creates and sends nothing", async () => {
  const { sandbox, engine, options, up } = await start();
  await up(of({ a: A, b: B }));
  const former = structuredClone(engine.state?.inputs) ?? expect.fail("no state"); // the engine keeps them after a failed update
  sandbox.fail({ on: "event", after: 1, with: refusal });
  expect(await up(of({ a: A, c: { ...B, eventName: "C" }, d: { ...B, eventName: "D" } }))).toContain("busy");
  const { id, outputs } = engine.state ?? expect.fail("no state");
  const run = engine.newRun(options);
  const { props = {} } = await run.set.read(id, outputs);
  await run.set.diff(id, props as typeof outputs, former);
  run.closeNow();
  expect([wordsOf(run), sandbox.eventPosts]).toEqual(["", 4]);
});

it("marks follow from the set's own, which never changes; twins are looked for, and one that is sent again has the same mark", async () => {
  const { sandbox, clock, engine, up } = await start();
  sandbox.fail({ on: "event", act: true, with: lost, times: 1 });
  sandbox.fail({ on: "event", with: lost, times: 1 });
  sandbox.fail({ on: "search", with: { kind: "answer", status: 406, body: { errors: ["no"] } }, times: 50 });
  expect(await up(of({ a: A, b: A }))).toContain("The outcome of 2 events is unknown");
  sandbox.endFaults();
  const base = String(engine.state?.inputs.__mark).replace(/^alternative_id /, "");
  const markOf = (key: string) => memberMark(base, key, undefined);
  expect(engine.unresolved).toMatchObject({
    a: { mark: markOf("a") },
    b: { mark: markOf("b"), field: "alternative_id" },
  });
  clock.advance(95_000);
  // Whatever the arguments are.
  expect(await up({ ...of({ a: A, b: A, c: { ...A, value: 7 } }), __secret: ["events.c.value"] })).toBeUndefined();
  expect(String(engine.state?.inputs.__mark)).toContain(base);
  const marks = sandbox.events.map(({ alternative_id }) => String(alternative_id));
  expect(marks.toSorted()).toEqual(["a", "b", "c"].map(markOf).toSorted());
  expect([Object.keys(engine.eventIds), engine.unresolved, sandbox.eventPosts]).toEqual([["a", "b", "c"], {}, 4]);
});
