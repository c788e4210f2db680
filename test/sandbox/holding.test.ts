/** A live object belongs to one resource, whichever the engine asks about first, and what follows from that. */
import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { aboutWhom, identityText, journalKeyOf } from "../../provider/src/state/identity.js";
import { journalOf, recordsIn } from "../../provider/src/store/notes.js";
import { newFolder } from "../support/folder.js";
import { operatedSettings } from "../support/operated.js";
import { failureOf, newRun } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";

type Properties = Record<string, unknown>;

const ALL = { event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" } };
const key = (name: string, kind = "ConversionEvent") => `${kind}::organization/tiny/dev::${name}`;
const AT = "2026-01-01T00:00:00Z";
const inputsOf = (name: string, more: Properties = {}) => ({
  eventName: name,
  advertiserId: 1,
  value: 1,
  __identity: `tiny/dev::${name}`,
  ...more,
});

async function start(operations: object = {}) {
  const objects = { advertisers: [{ id: 1, advertiser_name: "X", active: true }], events: [] };
  const sandbox = await useSandbox({ operations: true, objects });
  const folder = newFolder();
  const settings = { operations: JSON.stringify(operations) };
  const run = () => newRun(sandbox, folder, { settings });
  /** Events of an earlier run, each as it is in the state. */
  const created = async (...names: string[]) => {
    const first = run();
    const all: { name: string; id: string; outs: Properties; inputs: Properties }[] = [];
    for (const name of names) {
      const { inputs = {} } = await first.event.check({}, inputsOf(name));
      const { id, outs = {} } = await first.event.create(inputs as Properties);
      all.push({ name, id: String(id), outs: outs as Properties, inputs: inputs as Properties });
    }
    first.closeNow();
    return all;
  };
  return { sandbox, folder, settings, run, created };
}

type Known = Awaited<ReturnType<Awaited<ReturnType<typeof start>>["created"]>>[number];

/** Asks as the engine does in a preview about a resource in the state. @returns its problems. */
async function look({ event }: ReturnType<typeof newRun>, { id, outs, inputs }: Known, more: Properties = {}) {
  const { inputs: news = {}, failures = [] } = await event.check(inputs, { ...inputs, ...more });
  if (failures.length > 0) return failures.map(({ reason }) => reason).join();
  return event.diff(id, outs, news as Properties).then(
    () => "",
    (error: Error) => error.message,
  );
}

describe("an object in the state that another resource names with existingId", () => {
  it("is an error, whichever of the two the engine asks about first", async () => {
    const { sandbox, run, created } = await start();
    const [held] = await created("held");
    const posts = sandbox.creates;
    const adopter = (id: string) => inputsOf("other", { existingId: Number(id) });

    for (const isOnAnotherMachine of [false, true]) {
      const newRunOf = () => (isOnAnotherMachine ? newRun(sandbox, newFolder()) : run());
      const first = newRunOf();
      expect(await look(first, held as Known)).toBe("");
      const { failures = [] } = await first.event.check({}, adopter(held?.id ?? ""));
      expect(failures.map(({ reason }) => reason).join()).toMatch(
        /ConversionEvent::held already: one object can't be two resources; correct this existingId, or remove the other one \(docs\/messages\.md#advertising_arguments\) \[ADVERTISING_ARGUMENTS\]$/,
      );

      const second = newRunOf();
      await second.event.check({}, adopter(held?.id ?? ""));
      expect(await look(second, held as Known)).toMatch(
        /ConversionEvent "other": existingId \d+ belongs to .*::held already: one object can't be two/,
      );
    }
    expect(sandbox.creates).toBe(posts);
  });

  it("may be adopted if its resource adopts another one in the same run, whichever is asked about first", async () => {
    const { run, created } = await start();
    const [a, b] = (await created("a", "b")) as [Known, Known];
    for (const order of [
      [a, b],
      [b, a],
    ] as const) {
      const swapping = run();
      for (const each of order) {
        const other = each === a ? b : a;
        expect(await look(swapping, each, { eventName: other.name, existingId: Number(other.id) })).toBe("");
      }
    }
  });
});

const BOTH =
  /both have \d+ in the state: one object can't be two resources\. Remove one of them from the program; \d+ stays/;

it("R2: an object that two resources have in the state is an error, whichever is asked about first, until one of them is replaced", async () => {
  const { sandbox, folder, settings, run, created } = await start();
  const [held] = (await created("held")) as [Known];
  const twin = { ...held, name: "twin", inputs: { ...held.inputs, ...inputsOf("held"), __identity: "tiny/dev::twin" } };
  for (const [one, other] of [
    [held, twin],
    [twin, held],
  ] as const) {
    const both = run();
    expect(await look(both, one)).toBe("");
    expect(await look(both, other)).toContain(
      `ConversionEvent "${other.name}" and ConversionEvent "${one.name}" both have ${held.id} in the state: one object can't be two resources. Remove one of them from the program; ${held.id} stays, because the other one has it.`,
    );
    const replacing = run();
    expect(await look(replacing, one, { value: 2 })).toBe("");
    expect(await look(replacing, other)).toBe("");
  }

  const engine = new SetEngine(sandbox, folder);
  const entry = { eventName: "held", value: 1 };
  await engine.up({ advertiserId: 1, events: { a: { ...entry, existingId: Number(held.id) } } }, { settings });
  const now = run();
  expect(await look(now, held)).toBe("");
  expect(await engine.apply(now, { advertiserId: 1, events: { a: entry } })).toMatch(BOTH);
  expect(sandbox.creates).toBe(1);
  now.closeNow();
});

it("R2: an object that an interrupted run adopted from a set that still has it is an error, whichever is asked about first, and nothing is changed", async () => {
  const { sandbox, folder, run } = await start(ALL);
  const engine = new SetEngine(sandbox, folder);
  const settings = { settings: { operations: JSON.stringify(ALL) } };
  const entry = { eventName: "A", value: 1 };
  await engine.up({ advertiserId: 1, events: { a: entry, b: { eventName: "B", value: 1 } } }, settings);
  const { a: id = "" } = engine.eventIds;
  const killed = run();
  const { inputs = {} } = await killed.event.check({}, inputsOf("e", { ...entry, existingId: Number(id) }));
  const { outs = {} } = await killed.event.create(inputs as Properties);
  await killed.kill(); // before the set's update removed it
  const adopter = { name: "e", id: String(id), outs: outs as Properties, inputs: inputs as Properties };
  const declared = { advertiserId: 1, events: { a: { eventName: "Other", value: 2 } } };
  const { creates } = sandbox;

  for (const existingId of [Number(id), undefined]) {
    const first = run();
    expect(await look(first, adopter, { existingId })).toBe("");
    expect(await engine.apply(first, declared)).toMatch(BOTH);
    first.closeNow();

    const second = run();
    const { id: set = "", inputs: before = {}, outputs = {} } = engine.state ?? {};
    const { inputs: news = {} } = await second.set.check(before, { ...declared, __identity: "tiny/dev::funnel" });
    await second.set.diff(set, outputs, news as Properties);
    expect(await look(second, adopter, { existingId })).toMatch(/one object can't be two resources/);
    second.closeNow();
  }
  expect(sandbox).toMatchObject({ creates, updates: 0, deletes: 0 });
});

describe("R2: a create is answered with an id that another resource of the program names with existingId", () => {
  const NEXT = 2;
  const DELETE = { event: { delete: ALL.event.delete } };
  /** As the program's half briefs the provider. */
  const declared = (name: string, existingId?: number, resources = 2) =>
    inputsOf(name, {
      ...(existingId === undefined ? {} : { existingId }),
      __identity: { identity: `tiny/dev::${name}`, run: { isUp: true, resources }, deletes: true },
    });
  const failed = (error: Error & { id?: string; properties?: Properties }) => error;

  it.each([
    ["check q", "adopt q", "check p", "create p"],
    ["check q", "check p", "create p", "adopt q"],
    ["check p", "check q", "create p", "adopt q"],
    ["check p", "create p", "check q", "adopt q"],
  ])("%s, %s, %s, %s: the create is saved, one of the two fails, and nothing is deleted", async (...order) => {
    const { sandbox, folder } = await start(DELETE);
    const begin = () => newRun(sandbox, folder, { settings: { operations: JSON.stringify(DELETE) } });
    const first = begin();
    const inputsFor: Record<string, Properties> = {};
    const results: Record<string, Awaited<ReturnType<typeof first.event.create>> | ReturnType<typeof failed>> = {};
    const problems: string[] = [];
    const check = async (run: typeof first, name: string, given: Properties, olds: Properties = {}) => {
      const { inputs = {}, failures = [] } = await run.event.check(olds, given);
      inputsFor[name] = inputs as Properties;
      problems.push(...failures.map(({ reason }) => reason));
    };
    for (const step of order) {
      const [what, name = ""] = step.split(" ");
      if (what === "check") await check(first, name, declared(name, name === "q" ? NEXT : undefined));
      // The engine does not go on with what a check refuses.
      else if (problems.length === 0) results[name] = await first.event.create(inputsFor[name] ?? {}).catch(failed);
    }
    first.closeNow();
    const { p, q } = results;
    expect(String(p?.id)).toBe(String(NEXT));
    const isAdoptedFirst = order[1] === "adopt q";
    if (isAdoptedFirst) {
      expect(p).toMatchObject({
        message: expect.stringContaining(`"p" was created as ${NEXT}, and`),
        properties: { eventId: NEXT },
      });
      expect(q).toMatchObject({ id: String(NEXT) });
    } else {
      expect(p).not.toBeInstanceOf(Error);
      expect([...problems, (q as Error | undefined)?.message].join()).toContain(`existingId ${NEXT} belongs to`);
    }
    expect(sandbox.events).toMatchObject([{ id: NEXT, event_name: "p" }]);

    // On any machine: the state has it.
    const last = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(DELETE) } });
    const outs = ((p as { outs?: Properties }).outs ?? (p as { properties?: Properties }).properties) as Properties;
    const { inputs: news = {} } = await last.event.check(inputsFor.p ?? {}, declared("p", undefined, 1));
    expect(await last.event.diff(String(NEXT), outs, news as Properties)).toMatchObject({ changes: false });
    if (isAdoptedFirst) await last.event.delete(String(NEXT), (q as { outs: Properties }).outs);
    last.closeNow();
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  });

  it("an adoption that is refused claims nothing: the create has the object, whichever comes first in a set", async () => {
    const { sandbox, folder, settings } = await start(ALL);
    const engine = new SetEngine(sandbox, folder);
    for (const isFirst of [true, false]) {
      const q = { [isFirst ? "a" : "z"]: { eventName: "Q", value: 1, existingId: NEXT + 1 } };
      const p = { n: { eventName: "N", value: 1 }, p: { eventName: "P", value: 1 } };
      const { error } = await engine.up({ advertiserId: 1, events: { ...q, ...p } }, { settings });
      expect(error).toContain(`existingId ${NEXT + 1}`);
      expect(error).not.toContain("was created as");
      expect(engine.eventIds).toEqual({ n: NEXT, p: NEXT + 1 });
    }
    const elsewhere = new SetEngine(sandbox, newFolder());
    elsewhere.state = structuredClone(engine.state);
    const events = { n: { eventName: "N", value: 1 }, p: { eventName: "P", value: 1 } };
    expect((await elsewhere.up({ advertiserId: 1, events }, { settings })).error).toBeUndefined();
    expect(sandbox.eventPosts).toBe(2);
  });

  it("an event of a set whose id another set has adopted is in both, with an error until that is corrected", async () => {
    const { sandbox, folder } = await start();
    const [adopting, creating] = ["adopting", "creating"].map((name) => new SetEngine(sandbox, folder, name)) as [
      SetEngine,
      SetEngine,
    ];
    const q = { advertiserId: 1, events: { q: { eventName: "A", value: 1, existingId: NEXT } } };
    const p = { advertiserId: 1, events: { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } } };
    const both = newRun(sandbox, folder);
    expect(await adopting.apply(both, q)).toBeUndefined();
    expect(await creating.apply(both, p)).toContain(`a: was created as ${NEXT}, and`);
    both.closeNow();
    expect(creating.eventIds).toEqual({ a: NEXT, b: NEXT + 1 });
    const again = newRun(sandbox, folder);
    expect(await adopting.apply(again, q)).toBeUndefined();
    expect(await creating.apply(again, p)).toContain(`both have ${NEXT} in the state`);
    again.closeNow();
    expect((await adopting.up({ ...q, events: {} })).error).toBeUndefined();
    expect((await creating.up(p)).error).toBeUndefined();
    expect(creating.eventIds).toEqual({ a: NEXT, b: NEXT + 1 });
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
  });
});

it("R4: an adoption settles a create under a former name only if the advertisers agree; otherwise nothing is adopted", async () => {
  const { sandbox, run } = await start();
  const first = run();
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  await failureOf(first.event.create(inputsOf("old", { eventName: "Purchase" })));
  first.closeNow();
  expect(sandbox.creates).toBe(1);

  const formerly = { identity: "tiny/dev::new", formerly: [key("old")] };
  const adopt = async (advertiserId: number, existingId: number) => {
    const { event, closeNow, runtime } = run();
    const declared = inputsOf("new", { eventName: "Purchase", advertiserId, existingId, __identity: formerly });
    const done = await event
      .check({}, declared)
      .then(({ inputs = {} }) => event.create(inputs as Properties))
      .then(
        ({ id }) => id,
        (error: Error) => error.message,
      );
    const left = await runtime.journal("tiny/dev::new").notSettled();
    closeNow();
    return { done, left: left.map((record) => aboutWhom(record.key).name) };
  };
  for (const _ of [1, 2]) {
    const { done, left } = await adopt(2, 77);
    expect(done).toContain(
      "existingId: 77 does not settle this create: it was sent with advertiserId 1, and 77 has another one",
    );
    expect(done).toContain('ConversionEvent "old" is no longer declared.');
    expect(left).toEqual(["old"]);
  }
  for (const _ of [1, 2]) expect(await adopt(1, 1000)).toEqual({ done: "1000", left: [] });
  expect(sandbox.creates).toBe(1);
});

it("R4: of several adoptions one settles a create under a former name, whichever the engine asks for first", async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const { sandbox, run } = await start();
    const first = run();
    sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
    await failureOf(first.event.create(inputsOf("old", { eventName: "Purchase" })));
    first.closeNow();
    const adopting = async (ids: readonly [number, number][]) => {
      const { event, closeNow, runtime } = run();
      const results: string[] = [];
      for (const at of order) {
        const [advertiserId, existingId] = ids[at] ?? [];
        const identity = { identity: `tiny/dev::new${at}`, formerly: [key("old")], adopters: { [key("old")]: 2 } };
        const declared = inputsOf(`new${at}`, {
          eventName: "Purchase",
          advertiserId,
          existingId,
          __identity: identity,
        });
        results[at] = await event
          .check({}, declared)
          .then(({ inputs = {} }) => event.create(inputs as Properties))
          .then(
            ({ id }) => String(id),
            () => "refused",
          );
      }
      const left = await runtime.journal("tiny/dev::new0").notSettled();
      closeNow();
      return [...results, left.length];
    };
    // The last one is refused: nothing has settled it.
    expect(
      (
        await adopting([
          [2, 77],
          [3, 78],
        ])
      ).filter((each) => each === "refused"),
    ).toHaveLength(1);
    expect(
      await adopting([
        [2, 77],
        [1, 1000],
      ]),
    ).toEqual(["77", "1000", 0]);
    expect(sandbox.creates).toBe(1);
  }
});

it("an adoption settles the notes about its object under any name, but not those of the other kind with the same id", async () => {
  const { run, created } = await start();
  await created("any"); // creates the folder
  const first = run();
  const { path } = first.runtime.journal("tiny/dev::new");
  const noted = (mark: string, of: string, id?: string) => ({
    mark,
    key: of,
    fingerprint: "f",
    at: AT,
    ...(id && { id }),
  });
  writeFileSync(
    path,
    journalOf([
      noted("m1", key("acme", "Advertiser"), "7"),
      noted("m2", key("elsewhere"), "7"),
      noted("m3", key("elsewhere"), "8"),
      noted("m4", key("new"), "9"),
    ]),
  );
  const { inputs = {} } = await first.event.check({}, inputsOf("new", { existingId: 7 }));
  await first.event.create(inputs as Properties);
  first.closeNow();
  expect(recordsIn(path).map(({ mark }) => mark)).toEqual(["m1", "m3"]);
  expect(first.said.join()).toContain("an interrupted run also created 9, which nothing manages");
});

describe("a create of unknown outcome that is noted under the former name of an alias", () => {
  const lost = { on: "event", act: true, with: { kind: "close-without-answer" } } as const;
  const NOT_SENT =
    /is not sent: .* was sent at .*, and its outcome is unknown until you settle it\.\nLook in the account for/;

  it("stops a resource that is not in the state, with any arguments, and is a message if the state has another object", async () => {
    const { sandbox, run, created } = await start();
    const [held] = (await created("held")) as [Known];
    const first = run();
    sandbox.fail(lost);
    const failed = await failureOf(first.event.create(inputsOf("old")));
    first.closeNow();
    const identity = { identity: "tiny/dev::new", moved: [key("old")] };

    const isNew = run();
    const words = (await failureOf(isNew.event.check({}, inputsOf("new", { value: 2, __identity: identity })))).message;
    expect(words).toMatch(NOT_SENT);
    expect(words).toContain('ConversionEvent "new" is not sent: ConversionEvent "old" was sent at');
    expect(words).toMatch(/pending --not-created '.*ConversionEvent::old'/);

    const isKept = run();
    expect(await look(isKept, { ...held, inputs: { ...held.inputs, __identity: identity } })).toBe("");
    expect(isKept.said.join()).toContain(
      `until you settle it. The state has ${held.id}. Check the account for a second one`,
    );
    expect(isKept.said.join()).toMatch(/pending --forget '.*ConversionEvent::old'/);
    isKept.closeNow();

    // The state has the create as unresolved, which has its own error.
    const moved = run();
    const { id = "", properties } = failed as Error & { id: string; properties: Properties };
    const known = { name: "new", id, outs: properties, inputs: inputsOf("old", { __identity: identity }) };
    expect(await look(moved, known)).toContain('Look in the account for the ConversionEvent named "old"');
    expect(moved.said).toEqual([]);
    expect(sandbox.creates).toBe(2);
  });

  it("stops the event of a set", async () => {
    const { sandbox, folder } = await start();
    const events = { x: { eventName: "X", value: 1 } };
    sandbox.fail(lost);
    const first = new SetEngine(sandbox, folder, "old");
    expect((await first.up({ advertiserId: 1, events })).error).toContain("outcome of 1 event is unknown");
    const engine = new SetEngine(sandbox, folder, "new");
    engine.declares = { moved: [key("old", "ConversionEventSet")] };
    const declared = { advertiserId: 1, events: { x: { eventName: "X", value: 2 }, y: { eventName: "Y", value: 1 } } };
    expect(await engine.preview(declared)).toMatch(NOT_SENT);
    expect((await engine.up(declared)).error).toContain(
      'x: is not sent: events["x"] of ConversionEventSet "old" was sent at',
    );
    expect(Object.keys(engine.eventIds)).toEqual(["y"]);
    expect(sandbox.eventPosts).toBe(2);
  });
});

describe("R4: an adoption of another object settles nothing, and the create of unknown outcome still stops the run", () => {
  const lost = { on: "event", act: true, with: { kind: "close-without-answer" } } as const;
  const OTHER = { eventName: "Other", value: 7, existingId: 900 };
  const differs = (name: string) =>
    `existingId: 900 does not settle this create: it was sent with eventName "${name}" and value 1, and 900 has others in the program or on the platform. Nothing is adopted until you settle it.`;
  const DIFFERS = differs("Q");

  /** An event whose create was carried out with its answer lost. @param isSaved whether the engine has saved that. */
  async function lostSingle(isSaved: boolean, operations: object = {}) {
    const started = await start(operations);
    const first = started.run();
    started.sandbox.fail(lost);
    const { inputs = {} } = await first.event.check({}, inputsOf("q", { eventName: "Q" }));
    const failed = await failureOf(first.event.create(inputs as Properties));
    if (isSaved) first.closeNow();
    else await first.kill();
    const { id = "", properties } = failed as Error & { id: string; properties: Properties };
    return { ...started, known: { name: "q", id, outs: properties, inputs: inputs as Properties } };
  }
  const stillOpen = async ({ runtime }: ReturnType<typeof newRun>) =>
    (await runtime.journal("tiny/dev::q").notSettled()).map(({ name }) => name);

  it("of a resource that the state has", async () => {
    const { sandbox, run, known } = await lostSingle(true);
    const now = run();
    const words = await look(now, known, OTHER);
    expect(words).toContain('Look in the account for the ConversionEvent named "Q" (advertiserId 1, value 1), sent at');
    expect(words).toMatch(/^existingId: 900 does not settle this create/m);
    expect(words).toContain(DIFFERS);
    expect(words).not.toContain("setting existingId");
    expect(await stillOpen(now)).toEqual(["Q"]);
    now.closeNow();
    const own = run();
    expect(await look(own, known, { existingId: 2 })).toBe("");
    const { inputs = {} } = await own.event.check({}, { ...known.inputs, existingId: 2 });
    expect(await own.event.create(inputs as Properties)).toMatchObject({ id: "2" });
    expect(await stillOpen(own)).toEqual([]);
    expect(sandbox.creates).toBe(1);
  });

  it.each([false, true])("of a resource that only the journal knows (in an up: %s)", async (isUp) => {
    const { sandbox, run, known } = await lostSingle(false);
    const now = run();
    const identity = { identity: "tiny/dev::q", run: { isUp, resources: 1 } };
    const { inputs = {} } = await now.event.check({}, inputsOf("q", { ...OTHER, __identity: identity }));
    if (!isUp) expect(now.said.join()).toContain(`${DIFFERS} \`pulumi up\` will`);
    const failed = await failureOf(now.event.create(inputs as Properties));
    expect(failed).toMatchObject({ id: known.id, properties: { unresolved: { name: "Q", facts: { value: 1 } } } });
    expect(failed.message).toContain('Look in the account for the ConversionEvent named "Q" (advertiserId 1, value 1)');
    expect(failed.message).toContain(DIFFERS);
    expect(await stillOpen(now)).toEqual(["Q"]);
    expect(sandbox.creates).toBe(1);
  });

  it("of a resource with two such creates in the journal: one was forgotten and reopened, the other one is of an interrupted run", async () => {
    for (const isOfFormer of [false, true]) {
      const { sandbox, folder, run } = await start();
      const killed = async (more: Properties) => {
        const now = run();
        sandbox.fail(lost);
        const { inputs = {} } = await now.event.check({}, inputsOf("q", more));
        await failureOf(now.event.create(inputs as Properties));
        const { path } = now.runtime.journal("tiny/dev::q");
        await now.kill();
        return path;
      };
      const path = await killed({ eventName: "Q" });
      const forgotten = recordsIn(path);
      rmSync(path);
      await killed({ eventName: "Q", value: 2 });
      const held = await newRun(sandbox, folder).runtime.journal("tiny/dev::q").notSettled();
      expect([forgotten, held].map((those) => those.map(({ facts }) => facts?.value))).toEqual([[1], [2]]);
      writeFileSync(path, journalOf([...forgotten, ...held]));

      const now = run();
      const [as, identity] = isOfFormer
        ? ["r", { identity: "tiny/dev::r", formerly: [key("q")] }]
        : ["q", { identity: "tiny/dev::q" }];
      const declared = inputsOf(as, { eventName: "Q", existingId: 2, __identity: identity });
      const checked = now.event.check({}, declared);
      const { message } = await failureOf(checked.then(({ inputs = {} }) => now.event.create(inputs as Properties)));
      expect(`${now.said.join()} ${message}`).toContain("existingId: 2 does not settle this create");
      expect(message).toContain('Look in the account for the ConversionEvent named "Q" (advertiserId 1, value 2)');
      const left = await now.runtime.journal("tiny/dev::q").notSettled();
      expect(left.map(({ facts }) => facts?.value)).toEqual([1, 2]);
      expect(sandbox.creates).toBe(2);
      now.closeNow();
    }
  });

  it("of a resource that this machine and another one sent: the state keeps the other machine's create", async () => {
    const { sandbox, folder, run, known } = await lostSingle(true);
    const { path } = newRun(sandbox, folder).runtime.journal("tiny/dev::q");
    const [ofElsewhere] = recordsIn(path);
    writeFileSync(
      path,
      journalOf([{ mark: "m", key: key("q"), fingerprint: "f", at: AT, name: "Q", facts: { value: 9 } }]),
    );
    const now = run();
    expect(await look(now, known, { existingId: 2 })).toBe("");
    const { inputs = {} } = await now.event.check({}, { ...known.inputs, existingId: 2 });
    expect(now.said.join()).toContain("existingId: 2 does not settle this create");
    const failed = await failureOf(now.event.create(inputs as Properties));
    expect(failed.id).toBe(`unresolved-${ofElsewhere?.mark}`);
    expect(failed.message).toContain("existingId: 2 does not settle this create");
    expect(await stillOpen(now)).toEqual(["Q"]);
    expect(sandbox.creates).toBe(1);
  });

  it("of a member of a set, whether the state or only the journal knows its create", async () => {
    for (const isSaved of [true, false]) {
      const { sandbox, folder } = await start();
      const engine = new SetEngine(sandbox, folder);
      const declared = (y: object) => ({ advertiserId: 1, events: { x: { eventName: "X", value: 1 }, y } });
      sandbox.fail({ ...lost, after: 1 });
      const first = engine.newRun();
      expect(await engine.apply(first, declared({ eventName: "Y", value: 1 }))).toContain(
        "outcome of 1 event is unknown",
      );
      const [key = ""] = Object.keys(engine.unresolved);
      if (isSaved) first.closeNow();
      else {
        await first.kill();
        engine.state = undefined;
      }
      const other = (existingId: number) => ({
        advertiserId: 1,
        events: {
          x: { eventName: "X", value: 1 },
          y: { eventName: "Y", value: 1 },
          [key]: { ...OTHER, existingId },
        },
      });
      const preview = await engine.preview(other(900));
      expect(preview).toContain(differs(key.toUpperCase()));
      expect(preview).not.toContain("to adopt");
      const { error } = await engine.up(other(900));
      expect(error).toContain(
        `events["${key}"]: the ConversionEvent named "${key.toUpperCase()}" (advertiserId 1, value 1)`,
      );
      expect(error).toContain(differs(key.toUpperCase()));
      expect(error).not.toContain("setting existingId");
      expect(Object.keys(engine.unresolved)).toEqual([key]);
      expect(engine.eventIds).not.toHaveProperty(key);
      expect(sandbox.eventPosts).toBe(2);
    }
  });

  it("of an object that a known update could have changed to the declared arguments", async () => {
    const { sandbox, run, created, known } = await lostSingle(true, ALL);
    const [other] = (await created("other")) as [Known];
    const now = run();
    expect(await look(now, known, { existingId: Number(other.id) })).toBe("");
    const { inputs = {} } = await now.event.check({}, { ...known.inputs, existingId: Number(other.id) });
    const failed = await failureOf(now.event.create(inputs as Properties));
    expect(failed.id).toBe(known.id);
    expect(failed.message).toContain(`existingId: ${other.id} does not settle this create`);
    expect(await stillOpen(now)).toEqual(["Q"]);
    expect(sandbox).toMatchObject({ creates: 2, updates: 0 });
  });
});

it("an event that leaves a set is not called unmanaged if another resource has it", async () => {
  const { sandbox, folder, run, created } = await start();
  const [held] = await created("held");
  const engine = new SetEngine(sandbox, folder);
  const entry = { eventName: "held", value: 1, existingId: Number(held?.id) };
  expect((await engine.up({ advertiserId: 1, events: { a: entry } })).error).toBeUndefined();
  const now = run();
  expect(await look(now, held as Known)).toBe("");
  expect(await engine.apply(now, { advertiserId: 1, events: {} })).toBeUndefined();
  expect(now.told.map(({ message }) => message).join()).not.toContain("No longer managed");
  expect(sandbox.creates).toBe(1);
  now.closeNow();
});

describe("R5: an adopted object is removed on a machine without notes, and the program names it with existingId", () => {
  async function removed(more: { readonly isNoted?: boolean; readonly isUp?: boolean } = {}) {
    const { sandbox, created, settings } = await start(ALL);
    const [held] = (await created("held")) as [Known];
    const outs = { ...held.outs, existingId: Number(held.id) };
    const now = newRun(sandbox, newFolder(), { settings });
    const { run, inventory } = now.runtime;
    const notes = inventory("tiny/dev::held");
    if (more.isNoted === true) notes.note(key("held"), { id: held.id, fingerprint: "f" });
    notes.noteAdopts("program", { [key("other")]: held.id });
    Object.assign(run, {
      program: "program",
      ...(more.isUp === true ? { isUp: true, identity: "tiny/dev::any" } : {}),
    });
    const error = await now.event.delete(held.id, outs).then(
      () => undefined,
      ({ message }: Error) => message,
    );
    now.closeNow();
    return { error, said: now.said.join(), deletes: sandbox.deletes };
  }

  it("perhaps for the same resource: nothing is sent, and it stays in the state", async () => {
    const { error, deletes } = await removed();
    expect(error).toMatch(
      /^ConversionEvent \d+ is not deleted in this run, and the state keeps it: an existingId of the program names it, perhaps for another resource\. Run `pulumi up` without --target and --exclude, and then a stopped destroy again\./,
    );
    expect(deletes).toBe(0);
  });

  it("in an `up` for another resource: it is not deleted", async () => {
    expect(await removed({ isUp: true })).toMatchObject({ error: undefined, deletes: 0 });
    expect((await removed({ isUp: true })).said).toContain("Not deleted: ConversionEvent");
  });

  it("and the notes have both resources: it is not deleted", async () => {
    expect(await removed({ isNoted: true })).toMatchObject({ error: undefined, deletes: 0 });
  });
});

describe("R5: half of a move was done, so that a set and a resource have an object, and the notes have only one of them", () => {
  const entry = { eventName: "Y", value: 1 };
  const single = key("y");
  const member = `${key("funnel", "ConversionEventSet")}["y"]`;

  /** @param noted the journal key of the holder in the notes of the second machine. */
  async function halfMoved(noted: string) {
    const { sandbox, folder, settings } = await start(ALL);
    const engine = new SetEngine(sandbox, folder);
    engine.declares = { deletes: true };
    expect((await engine.up({ advertiserId: 1, events: { y: entry } }, { settings })).error).toBeUndefined();
    const id = String(engine.eventIds.y);
    const elsewhere = newFolder();
    const now = newRun(sandbox, elsewhere, { settings });
    now.runtime.inventory("tiny/dev::any").note(noted, { id, fingerprint: "f" });
    // What its own state has of the resource that has adopted it.
    const outs = { ...inputsOf("Y"), __at: engine.state?.outputs.__at, existingId: Number(id), eventId: Number(id) };
    return { sandbox, engine, now, id, outs, settings, elsewhere };
  }

  it.each<[string, string, number]>([
    ["the other one's", single, 0],
    ["its own", member, 1],
  ])("a destroy of the set, and the note is %s", async (_, noted, deletes) => {
    const { sandbox, engine, now } = await halfMoved(noted);
    await now.set.delete(engine.state?.id ?? "", engine.state?.outputs ?? {});
    expect(now.said.join()).toMatch(deletes === 0 ? /^Not deleted: \d+ of ConversionEventSet/ : /^$/);
    expect(sandbox).toMatchObject({ creates: 1, deletes });
  });

  it.each<[string, string, number]>([
    ["the other one's", member, 0],
    ["its own", single, 1],
  ])("a destroy of the resource, and the note is %s", async (_, noted, deletes) => {
    const { sandbox, now, id, outs } = await halfMoved(noted);
    await now.event.delete(id, outs);
    expect(now.said.join()).toMatch(deletes === 0 ? /^Not deleted: ConversionEvent \d+/ : /^$/);
    expect(sandbox).toMatchObject({ creates: 1, deletes });
  });

  it.each<[string, string, number]>([
    ["the other one's", single, 0],
    ["its own", member, 1],
  ])("an `up` of the set alone, without its key, and the note is %s", async (_, noted, deletes) => {
    const { sandbox, engine, now } = await halfMoved(noted);
    // Another resource of the program is no target.
    engine.declares = { deletes: true, run: { isUp: true, resources: 2 } };
    expect(await engine.apply(now, { advertiserId: 1, events: {} })).toBeUndefined();
    now.closeNow();
    expect(engine.eventIds).toEqual({});
    expect(sandbox).toMatchObject({ creates: 1, deletes });
  });
});

describe("an object that leaves the state while an existingId that is not known yet may name it", () => {
  const held = { a: { eventName: "A", value: 1 } };
  const wordsOf = ({ told }: ReturnType<typeof newRun>) =>
    told.flatMap(({ message }) => (message.startsWith("adopts") ? [] : message)).join("\n");
  const two = (isUp: boolean) => ({ adoptsUnknown: true, run: { isUp, resources: 2 } });

  it("of a set is perhaps unmanaged, and managed if the id turns out to be its own, whatever the engine calls first", async () => {
    const { sandbox, folder, run } = await start();
    const engine = new SetEngine(sandbox, folder);
    await engine.up({ advertiserId: 1, events: held });
    const before = structuredClone(engine.state);
    const words = async (adoptsFirst: boolean, id = Number(engine.eventIds.a)) => {
      engine.state = structuredClone(before);
      engine.declares = two(true);
      const now = run();
      if (adoptsFirst) await now.event.check({}, inputsOf("other", { existingId: id }));
      expect(await engine.apply(now, { advertiserId: 1, events: {} })).toBeUndefined();
      now.closeNow();
      return wordsOf(now);
    };
    expect(await words(true)).toBe("");
    expect(await words(true, 77)).toMatch(/^No longer managed after this run[\s\S]*by hand\.$/);
    expect(await words(false)).toMatch(
      /^Perhaps no longer managed after this run[\s\S]*, unless an existingId that is not known/,
    );
    engine.state = structuredClone(before);
    engine.declares = two(false);
    expect(await engine.preview({ advertiserId: 1, events: {} })).toMatch(
      /stays live[\s\S]*, unless an existingId that is not known/,
    );
    expect(sandbox.creates).toBe(1);
  });

  it("of a single resource is so too", async () => {
    const { sandbox, run, created } = await start();
    const [one] = (await created("one")) as [Known];
    const identity = (isUp: boolean) => ({ identity: "tiny/dev::one", ...two(isUp) });
    const replaced = async (isUp: boolean, adoptsFirst = false) => {
      const now = run();
      if (adoptsFirst) await now.event.check({}, inputsOf("other", { existingId: Number(one.id) }));
      expect(await look(now, one, { value: 2, __identity: identity(isUp) })).toBe("");
      if (isUp) {
        const { inputs = {} } = await now.event.check({}, { ...one.inputs, value: 2, __identity: identity(isUp) });
        await now.event.create(inputs as Properties);
      }
      await now.kill();
      return wordsOf(now);
    };
    const unless = "deactivate it there by hand, unless an existingId that is not known yet names it.";
    expect(await replaced(false)).toContain(unless);
    expect(await replaced(false, true)).toBe("");
    expect(await replaced(true)).toContain(unless);
    expect(sandbox.creates).toBe(2);
  });
});

it("a set drops the planned delete of an object that another resource adopts, also if nothing else changes", async () => {
  const { sandbox, folder, settings } = await start(ALL);
  const engine = new SetEngine(sandbox, folder);
  engine.declares = { deletes: true };
  const up = (events: object) => engine.up({ advertiserId: 1, events }, { settings });
  const A = { eventName: "A", value: 1 };
  await up({ a: A, b: { eventName: "B", value: 1 } });
  const { a } = engine.eventIds;
  engine.declares = { deletes: true, replaceOnChanges: ["events"] };
  sandbox.fail({ on: "delete", with: { kind: "answer", status: 406, body: { errors: ["the event is in use"] } } });
  await up({ a: { ...A, value: 2 }, b: { eventName: "B", value: 1 } });
  const left = () => engine.state?.outputs.__left;
  expect(left()).toMatchObject([{ id: String(a), toDelete: true }]);
  const deletes = sandbox.deletes;

  engine.declares = { deletes: true, adopted: String(a) };
  expect((await up({ a: { ...A, value: 2 }, b: { eventName: "B", value: 1 } })).error).toBeUndefined();
  expect(left()).toMatchObject([{ id: String(a) }]);
  expect(left()).not.toMatchObject([{ toDelete: true }]);
  // Later the program no longer names it, because the adoption is done, and the set is removed.
  engine.declares = { deletes: true };
  await up({ a: { ...A, value: 2 }, b: { eventName: "B", value: 1 } });
  await engine.newRun({ settings }).set.delete(engine.state?.id ?? "", engine.state?.outputs ?? {});
  const gone = sandbox.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  expect(gone.slice(deletes)).not.toContain(`/rest/event/${a}`);
  expect(sandbox.events.map(({ id }) => id)).toContain(a);
});

it("a planned delete waits while only a note of this machine says that another resource has the object", async () => {
  const { sandbox, folder, settings } = await start(ALL);
  const engine = new SetEngine(sandbox, folder);
  engine.declares = { deletes: true };
  const up = (events: object) => engine.up({ advertiserId: 1, events }, { settings });
  const B = { b: { eventName: "B", value: 1 } };
  await up({ a: { eventName: "A", value: 1 }, ...B });
  const { a } = engine.eventIds;
  sandbox.fail({ on: "delete", with: { kind: "answer", status: 406, body: { errors: ["the event is in use"] } } });
  expect((await up(B)).error).toContain("the event is in use");
  const left = () => engine.state?.outputs.__left ?? engine.state?.outputs.eventIds;
  const inventory = () => engine.newRun({ settings }).runtime.inventory("tiny/dev::funnel");
  inventory().note(key("other"), { id: String(a), fingerprint: "f" });
  const deletes = sandbox.deletes;
  expect((await up(B)).error).toBeUndefined();
  expect(sandbox.deletes).toBe(deletes);
  inventory().noteGone(key("other"));
  expect((await up(B)).error).toBeUndefined();
  expect(sandbox.deletes).toBe(deletes + 1);
  expect(sandbox.events.map(({ id }) => id)).not.toContain(a);
  expect(JSON.stringify(left())).not.toContain(`"${a}"`);
});

it("R5: a planned delete is dropped if the note is of a protected resource, which stays in the state however long", async () => {
  const { sandbox, folder, settings } = await start(ALL);
  const engine = new SetEngine(sandbox, folder);
  engine.declares = { deletes: true };
  const up = (events: object) => engine.up({ advertiserId: 1, events }, { settings });
  await up({ a: { eventName: "A", value: 1 } });
  const { a } = engine.eventIds;
  const inventory = () => engine.newRun({ settings }).runtime.inventory("tiny/dev::funnel");
  inventory().note(key("other"), { id: String(a), fingerprint: "f", protects: true });
  expect((await up({})).error).toBeUndefined();
  inventory().noteGone(key("other"));
  expect((await up({})).error).toBeUndefined();
  expect(sandbox.deletes).toBe(0);
  expect(engine.state?.outputs.__left).toMatchObject([{ id: String(a), why: "removed" }]);
});

it.each([
  { what: "alone", hasOther: false },
  { what: "and an advertiser with the same id is adopted too", hasOther: true },
])("R5: an event that leaves its set is not deleted if the program adopts it later, $what", async ({ hasOther }) => {
  const { sandbox, folder, settings } = await start(ALL);
  const engine = new SetEngine(sandbox, folder);
  engine.declares = { deletes: true };
  await engine.up({ advertiserId: 1, events: { a: { eventName: "A", value: 1 } } }, { settings });
  const id = Number(engine.eventIds.a);
  const briefing = { adopted: String(id), run: { isUp: true, resources: hasOther ? 3 : 2 } };
  const run = engine.newRun({ settings });
  if (hasOther) {
    const identity = { identity: "tiny/dev::other", ...briefing };
    await run.advertiser.check({}, { advertiserName: "Y", existingId: id, __identity: identity });
  }
  engine.declares = { deletes: true, ...briefing };
  expect(await engine.apply(run, { advertiserId: 1, events: {} })).toBeUndefined();
  const identity = { identity: "tiny/dev::A", ...briefing };
  const { inputs = {} } = await run.event.check({}, inputsOf("A", { existingId: id, __identity: identity }));
  expect(await run.event.create(inputs as Properties)).toMatchObject({ id: String(id) });
  expect(sandbox).toMatchObject({ deletes: 0, eventPosts: 1 });
});

it("R5: what a set leaves live because an existingId that is not known yet may name it is not deleted by a later run", async () => {
  const { sandbox, folder, settings } = await start({ ...ALL, createdVisibleAfterSeconds: 0 });
  const engine = new SetEngine(sandbox, folder);
  engine.declares = { deletes: true };
  await engine.up({ advertiserId: 1, events: { a: { eventName: "A", value: 1 } } }, { settings });
  const id = Number(engine.eventIds.a);
  const declares = { run: { isUp: true, resources: 2 } };
  engine.declares = { deletes: true, adoptsUnknown: true, ...declares };
  const run = engine.newRun({ settings });
  expect(await engine.apply(run, { advertiserId: 1, events: {} })).toBeUndefined();
  const identity = { identity: "tiny/dev::A", ...declares };
  const { inputs = {} } = await run.event.check({}, inputsOf("A", { existingId: id, __identity: identity }));
  await run.event.create(inputs as Properties);
  run.closeNow();

  // Another machine, where the set comes first, and nothing names the object any longer.
  const later = new SetEngine(sandbox, newFolder());
  later.state = engine.state;
  later.declares = { deletes: true, ...declares };
  expect((await later.up({ advertiserId: 1, events: {} }, { settings })).error).toBeUndefined();
  expect(sandbox).toMatchObject({ deletes: 0, eventPosts: 1 });
});

it("a move that is refused after the object has left its set says how to put it back, and going back names it too", async () => {
  const { sandbox, folder, settings } = await start(ALL);
  const [one, two] = ["one", "two"].map((name) => new SetEngine(sandbox, folder, name)) as [SetEngine, SetEngine];
  const declared = (...keys: string[]) => ({
    advertiserId: 1,
    events: Object.fromEntries(keys.map((key) => [key, { eventName: key, value: 1 }])),
  });
  await one.up(declared("c", "d"), { settings });
  const { c } = one.eventIds;
  const run = one.newRun({ settings });
  expect(await one.apply(run, declared("d"))).toBeUndefined();
  const adopts = { advertiserId: 1, events: { c: { eventName: "c", value: 2, existingId: Number(c) } } };
  expect(await two.apply(run, { ...adopts, advertiserId: 2 })).toContain(
    `Declare what is there, or correct existingId. If it left events["c"] of ConversionEventSet "one" in this run, nothing manages it: to put it back there, declare it with existingId: ${c}.`,
  );
  run.closeNow();
  expect(await one.preview(declared("c", "d"), { settings })).toContain(`To go on with ${c}, set existingId: ${c}.`);
  const back = {
    advertiserId: 1,
    events: { ...declared("d").events, c: { eventName: "c", value: 1, existingId: Number(c) } },
  };
  expect((await one.up(back, { settings })).error).toBeUndefined();
  expect(one.eventIds).toMatchObject({ c });
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
});

it("there is no message about a former resource's object that another resource adopts", async () => {
  const { sandbox, run } = await start(ALL);
  const declared = (name: string, more: object) =>
    inputsOf(name, { eventName: "E", __identity: { identity: `tiny/dev::${name}`, deletes: true, ...more } });
  const first = run();
  const { inputs = {} } = await first.event.check({}, declared("old", {}));
  const { id } = await first.event.create(inputs as Properties);
  first.closeNow();
  const words = async (more: object) => {
    const renamed = run();
    await renamed.event.check({}, declared("new", { formerly: [key("old")], ...more }));
    return renamed.told.map(({ message }) => message).join("\n");
  };
  expect(await words({})).toContain(`creates a second live event and deletes ${id}`);
  expect(await words({ adopted: String(id) })).toBe("");
  expect(await words({ adoptsUnknown: true })).toContain(`creates a second live event and perhaps deletes ${id}`);
  expect(sandbox.creates).toBe(1);
});

describe("after `pulumi state rename` and the same change in the program", () => {
  it("a single resource gets no message that its own object leaves the state, changed or not", async () => {
    const { sandbox, run, created } = await start();
    const [p] = (await created("p")) as [Known];
    for (const more of [{}, { value: 2 }]) {
      const now = run();
      const renamed = { ...more, __identity: { identity: "tiny/dev::pp", formerly: [key("p")] } };
      expect(await look(now, p, renamed)).toBe("");
      expect(now.told.map(({ message }) => message).join()).not.toContain("no longer declared");
      await now.kill();
    }
    // Another resource that the object may have become is asked about later.
    const now = run();
    expect(await look(now, p, { __identity: "tiny/dev::pp" })).toBe("");
    await now.event.check({}, { ...inputsOf("p"), __identity: { identity: "tiny/dev::q", formerly: [key("p")] } });
    expect(now.told).toEqual([]);
    expect(sandbox.creates).toBe(1);
  });

  it("several with the same platform name get none either, and an object that really leaves is reported once", async () => {
    const { sandbox, run, created } = await start();
    const all = await created("p", "q", "gone");
    const [p, q] = all as [Known, Known];
    const formerly = ["p", "q", "gone"].map((name) => key(name));
    const messagesWith = async (last: "held" | "new", ...order: readonly [Known, string][]) => {
      const now = run();
      const identity = (name: string) => ({
        identity: `tiny/dev::${name}`,
        formerly,
        run: { isUp: false, resources: 3 },
      });
      const checkOther = () =>
        now.event.check({}, { ...inputsOf("other"), __identity: { ...identity("other"), formerly: [] } });
      if (last === "held") await checkOther();
      for (const [known, name] of order) expect(await look(now, known, { __identity: identity(name) })).toBe("");
      if (last === "new") await checkOther();
      await now.kill();
      return now.told.map(({ message }) => message);
    };
    for (const last of ["held", "new"] as const) {
      expect(await messagesWith(last, [p, "pp"], [q, "qq"])).toEqual([
        expect.stringContaining('"gone" is no longer declared. If event 4 leaves'),
      ]);
      expect(await messagesWith(last, [q, "qq"], [p, "pp"])).toHaveLength(1);
    }
    expect(sandbox.creates).toBe(3);
  });

  it("a set gets none about its members", async () => {
    const { sandbox, folder } = await start();
    const events = { a: { eventName: "A", value: 1 }, b: { eventName: "A", value: 2 } };
    const old = new SetEngine(sandbox, folder, "s");
    await old.up({ advertiserId: 1, events });
    const renamed = new SetEngine(sandbox, folder, "ss");
    renamed.state = old.state;
    const was = (member: string) => `${key("s", "ConversionEventSet")}["${member}"]`;
    const is = (member: string) => `${key("ss", "ConversionEventSet")}["${member}"]`;
    const formerly = ["a", "b"].map(was);
    renamed.declares = { membersFormerly: { [is("a")]: formerly, [is("b")]: formerly } };
    expect(await renamed.preview({ advertiserId: 1, events })).toBe("");
    expect(await renamed.preview({ advertiserId: 1, events: { a: events.a } })).not.toContain("no longer declared");
    expect(sandbox.eventPosts).toBe(2);
  });

  it("an unresolved resource is settled by its new name", async () => {
    const { sandbox, run } = await start();
    sandbox.fail({ on: "event", with: { kind: "close-without-answer" } });
    const first = run();
    const { inputs = {} } = await first.event.check({}, inputsOf("r"));
    const failed = await failureOf(first.event.create(inputs as Properties));
    first.closeNow();
    const now = run();
    const held = {
      name: "r",
      id: failed.id ?? "",
      outs: failed.properties as Properties,
      inputs: inputs as Properties,
    };
    expect(await look(now, held, { __identity: "tiny/dev::rr" })).toMatch(/--created '\S+::rr=<its id>'/);
    expect(sandbox.eventPosts).toBe(1);
  });
});

it("the advice for a renamed catalog comes once for all of its rows", async () => {
  const { run } = await start();
  const stack = {
    organization: "organization",
    project: "tiny",
    stack: "dev",
    parentTypes: "advertising:index:Catalog",
  };
  const row = (name: string, formerly: readonly string[] = []) =>
    inputsOf(name, { eventName: name.slice(-1), __identity: { identity: identityText({ ...stack, name }), formerly } });
  const first = run();
  for (const each of ["a", "b"]) {
    const { inputs = {} } = await first.event.check({}, row(`shop/1/${each}`));
    await first.event.create(inputs as Properties);
  }
  first.closeNow();
  const renamed = run();
  for (const each of ["a", "b"])
    await renamed.event.check(
      {},
      row(`store/1/${each}`, [journalKeyOf("ConversionEvent", identityText({ ...stack, name: `shop/1/${each}` }))]),
    );
  const words = renamed.told.map(({ message }) => message).join("\n");
  expect(words.match(/creates a second live event/g)).toHaveLength(2);
  expect(words).not.toContain("existingId");
  expect([...new Set(renamed.said)]).toEqual([
    'If you renamed Catalog "shop", add `{ aliases: [{ name: "shop" }] }` to Catalog "store": nothing is created then. Otherwise set existingId in the rows that go on with an object.',
  ]);
});

it("R9: an object that leaves the state is reported, also if the resource that it may have become is already in the state", async () => {
  const { run, created, folder, settings, sandbox } = await start();
  const engine = new SetEngine(sandbox, folder);
  const events = { a: { eventName: "gone", value: 1 } };
  await engine.up({ advertiserId: 1, events }, { settings });
  const [gone, held] = (await created("gone", "held")) as [Known, Known];
  const wordsOf = ({ told }: ReturnType<typeof run>) => told.map(({ message }) => message).join("\n");
  const leaves = `ConversionEvent "gone" is no longer declared. If event ${gone.id} leaves the state, it stays live`;
  const formerly = [key("gone")];
  const single = run();
  expect(await look(single, held, { __identity: { identity: "tiny/dev::held", formerly } })).toBe("");
  expect(await look(single, held, { __identity: { identity: "tiny/dev::held", formerly } })).toBe("");
  expect(wordsOf(single).split(leaves)).toHaveLength(2); // reported once

  const member = `${key("funnel", "ConversionEventSet")}["a"]`;
  engine.declares = { membersFormerly: { [member]: formerly } };
  expect(await engine.preview({ advertiserId: 1, events }, { settings })).toContain(leaves);

  // The create of the member was lost on another machine, and this run looks for it.
  const elsewhere = new SetEngine(sandbox, newFolder());
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  await elsewhere.up(
    { advertiserId: 1, events: { a: { eventName: "gone", value: 2 } } },
    { settings: { markField: "alternative_id" } },
  );
  engine.state = elsewhere.state;
  const posts = sandbox.eventPosts;
  const declared = { advertiserId: 1, events: { a: { eventName: "gone", value: 2 } } };
  const searching = { settings: operatedSettings() };
  expect(await engine.preview(declared, searching)).toContain(leaves);
  const { error, run: up } = await engine.up(declared, searching);
  expect(error).toBe(undefined);
  expect(wordsOf(up)).toContain(leaves);
  expect(sandbox.eventPosts).toBe(posts);
});

it("warnings of the platform are passed on when a take-over updates the object", async () => {
  const { sandbox, run } = await start(ALL);
  const first = run();
  const { inputs = {} } = await first.event.check({}, inputsOf("e"));
  await first.event.create(inputs as Properties);
  await first.kill();
  sandbox.fail({
    on: "update",
    act: true,
    with: { kind: "answer", status: 200, body: { success: true, errors: ["WARNING: the value was rounded"] } },
  });
  const second = run();
  const { inputs: news = {} } = await second.event.check({}, inputsOf("e", { value: 2.5 }));
  await second.event.create(news as Properties);
  expect(second.said.join("\n")).toContain("the value was rounded");
  expect(sandbox).toMatchObject({ eventPosts: 1, updates: 1 });
});

it("a replacement that only the engine was asked for (--replace) keeps the list of what was left live", async () => {
  const { sandbox, run, created } = await start();
  const [held] = (await created("a")) as [Known];
  const before = { id: "3", at: "2026-01-01T00:00:00Z", why: "replaced" };
  const forced = run();
  const known = { ...held, outs: { ...held.outs, __left: [before] } };
  expect(await look(forced, known)).toBe("");
  const { inputs = {} } = await forced.event.check({}, held.inputs);
  const { id, outs } = await forced.event.create(inputs as Properties);
  expect(outs?.__left).toMatchObject([before, { id: held.id, by: String(id), why: "replaced" }]);
  expect(forced.told.map(({ message }) => message).join("\n")).toContain(`${held.id} stays live on the platform`);
  expect(forced.told.map(({ message }) => message).join("\n")).not.toContain("creates a second live object");
  expect(sandbox.creates).toBe(2);
});

describe("R9: if the state is older than an object that this machine created with the same arguments, a preview names that object", () => {
  const AGAIN = (id: unknown) => `was ${id} before: this creates a second live object.`;
  const wordsOf = ({ told }: ReturnType<typeof newRun>) => told.map(({ message }) => message).join("\n");

  it("of a resource that is replaced, but not if the state has it", async () => {
    const { sandbox, run, created } = await start();
    const [held] = (await created("p")) as [Known];
    const replaces = async (more: Properties) => {
      const now = run();
      expect(await look(now, held, more)).toBe("");
      const { inputs = {} } = await now.event.check({}, { ...held.inputs, ...more });
      return { now, inputs: inputs as Properties };
    };
    const first = await replaces({ value: 5 });
    expect(wordsOf(first.now)).not.toContain("creates a second live object");
    const { id } = await first.now.event.create(first.inputs);
    first.now.closeNow();
    // Now the older state has been imported again.
    const second = await replaces({ value: 5 });
    expect(wordsOf(second.now)).toContain(`ConversionEvent "p" ${AGAIN(id)}`);
    expect(wordsOf(second.now)).toContain(`To go on with ${id}, set existingId: ${id}.`);
    expect(wordsOf((await replaces({ value: 6 })).now)).not.toContain("creates a second live object");
    expect(sandbox.creates).toBe(2);
  });

  it("of a member of a set that is replaced", async () => {
    const { sandbox, folder } = await start();
    const engine = new SetEngine(sandbox, folder);
    const declared = (value: number) => ({ advertiserId: 1, events: { y: { eventName: "Y", value } } });
    await engine.up(declared(1));
    const older = structuredClone(engine.state);
    expect(await engine.preview(declared(2))).not.toContain("creates a second live object");
    await engine.up(declared(2));
    const { y } = engine.eventIds;
    engine.state = older;
    expect(await engine.preview(declared(2))).toContain(`events["y"] of ConversionEventSet "funnel" ${AGAIN(y)}`);
    expect(await engine.preview(declared(3))).not.toContain("creates a second live object");
    expect(sandbox.eventPosts).toBe(2);
  });

  it("of a key that is declared again, on any machine, unless another resource has the object", async () => {
    const { sandbox, folder } = await start();
    const engine = new SetEngine(sandbox, folder);
    const declared = (...keys: string[]) => {
      return { advertiserId: 1, events: Object.fromEntries(keys.map((key) => [key, { eventName: key, value: 1 }])) };
    };
    await engine.up(declared("x", "y"));
    const { y } = engine.eventIds;
    await engine.up(declared("x"));
    const elsewhere = new SetEngine(sandbox, newFolder());
    elsewhere.state = structuredClone(engine.state);
    for (const each of [engine, elsewhere]) {
      const words = await each.preview(declared("x", "y"));
      expect(words).toContain(
        `events["y"] of ConversionEventSet "funnel" ${AGAIN(y)} To go on with ${y}, set existingId: ${y}.`,
      );
      expect(await each.preview({ ...declared("x", "y"), advertiserId: 2 })).not.toContain(AGAIN(y));
    }
    const { events } = declared("x", "y");
    const adopts = { advertiserId: 1, events: { ...events, z: { ...events.y, existingId: Number(y) } } };
    expect(await elsewhere.preview(adopts)).not.toContain(AGAIN(y));
    expect(sandbox.eventPosts).toBe(2);
  });

  it("with --replace, which the engine shows like a new resource, the message stays true", async () => {
    const { run, created } = await start();
    const [held] = (await created("p")) as [Known];
    const single = run();
    await single.event.check({}, held.inputs);
    expect(wordsOf(single)).toContain(
      `ConversionEvent "p" ${AGAIN(held.id)} If the state no longer has ${held.id}, and nobody has deleted it, `,
    );
  });

  it("with --replace of what is deleted with its resource, the message says that", async () => {
    const { sandbox, run } = await start(ALL);
    const declared = inputsOf("p", { __identity: { identity: "tiny/dev::p", deletes: true } });
    const first = run();
    const { inputs = {} } = await first.event.check({}, declared);
    const { id } = await first.event.create(inputs as Properties);
    first.closeNow();
    const next = run();
    await next.event.check({}, declared);
    expect(wordsOf(next)).toContain(
      `ConversionEvent "p" was ${id} before: this creates another object. If the state has ${id}, it is deleted on the platform, as retainOnDelete: false says. If the state no longer has ${id}, and nobody has deleted it, ${id} stays live`,
    );
    expect(sandbox.creates).toBe(1);
  });
});

it("an alias that would change a resource's type is an error, and nothing is sent", async () => {
  const { sandbox, folder, run, created } = await start(ALL);
  const [held] = (await created("held")) as [Known];
  const engine = new SetEngine(sandbox, folder);
  await engine.up({ advertiserId: 1, events: { a: { eventName: "A", value: 1 } } });
  const { id: setId = "", inputs = {}, outputs = {} } = engine.state ?? {};
  const before = sandbox.requests.length;
  const refused = /the state has (.*) here, with the id (.*), and an alias can't change its type\. Nothing was sent/;
  const { set, event } = run();
  expect((await failureOf(set.diff(held.id, held.outs, inputs))).message).toMatch(refused);
  expect((await failureOf(set.update(held.id, held.outs, inputs))).message).toMatch(refused);
  const fromSet = (await failureOf(event.diff(setId, outputs, held.inputs))).message;
  expect(refused.exec(fromSet)?.slice(1)).toEqual(["a ConversionEventSet", setId]);
  const owner = { advertiserName: "X", advertiserId: 1 };
  expect((await failureOf(event.diff("1", owner, held.inputs))).message).toContain("the state has an Advertiser here");
  expect(sandbox.requests).toHaveLength(before);
});
