/**
 * A live object belongs to one resource, whichever the engine asks about first: what two of them name is an error at
 * one, and no delete takes an object that something else has or may get. And what a resource has left live. A single
 * event and a set's event behave alike, on this machine and on one without its journal.
 */
import { describe, expect, it } from "vitest";
import {
  objectKey,
  otherFormUrn,
  refOf,
  senderIn,
  UNKNOWN,
} from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { failureOf } from "../support/run.js";
import {
  EventEngine,
  RESOURCE_FORMS,
  type ResourceForm,
  runProgram,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";

type Values = Record<string, unknown>;
type Program = Parameters<typeof runProgram>[1];

const ONE = "one object can't be two resources; remove one, or correct its existingId";
const LIVE = /stays? live/;
const B = { eventName: "B" };

/** Runs of an installation with deletes. */
async function start(
  options = { settings: operatedSettings({ delete: eventOperations.delete }) },
) {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  let at = folder;
  const fixture = (shape: ResourceForm, name: string, more: Values = { deletes: true }) => {
    const made = new SingleObjectFixture(shape, sandbox, folder, name);
    Object.assign(made.engine.declares, more);
    return made;
  };
  const run = async (program: Program, isUp = true) => {
    const now = new EventEngine(sandbox, at, "any").newRun(options);
    const errors = (await runProgram(now, program, isUp)).filter(
      (each) => each !== undefined,
    );
    await now.close();
    return { errors, words: wordsOf(now) };
  };
  /** From now on runs are on a machine without the journal. */
  const moveAway = () => {
    at = newFolder();
  };
  return { sandbox, folder, fixture, run, moveAway };
}

it.each(RESOURCE_FORMS)(
  "%s: what an existingId displaces stays live, since it may be there by a wrong answer",
  async (shape) => {
    const { sandbox, fixture, run } = await start();
    const [a, b] = [fixture(shape, "a"), fixture(shape, "b", {})];
    await run([a.is(), b.is(B)]);
    await run([a.is(), b.gone()]);
    const kept = /2 isn't deleted, because existingId now names another object/;
    const preview = await run([a.is({ ...B, existingId: 3 })], false);
    expect(preview.words).toMatch(kept);
    // The program has just set it.
    expect(preview.words).not.toContain("set existingId");
    if (shape === "a single event")
      expect(preview.words).toContain("To keep 2, undo the change.");
    const { errors, words } = await run([a.is({ ...B, existingId: 3 })]);
    expect([errors, a.id, sandbox.deletes]).toEqual([[], "3", 0]);
    expect(words).toMatch(kept);
  },
);

/** A single event "a" that the state has, with what the engine passes about it. */
async function stored() {
  const { sandbox, fixture, run } = await start();
  const { engine } = fixture("a single event", "a");
  const other = fixture("a single event", "other", {});
  const declared = { advertiserId: 1, eventName: "E", value: 1 };
  await run([[engine, declared], other.is(B)]);
  await run([[engine, declared], other.gone()]);
  const { id, outputs, inputs } = engine.state ?? expect.fail();
  const newRun = (command = "up") =>
    engine.newRun({
      settings: operatedSettings({ delete: eventOperations.delete }),
      command: { command },
    });
  return { sandbox, engine, declared, id, outputs, inputs, newRun };
}

it("an object whose resource only has another name isn't said to leave the state, as with a catalog's alias", async () => {
  const { sandbox, declared, id, outputs, inputs, newRun } = await stored();
  const now = newRun("preview");
  // The program's process doesn't know an alias that a parent's implies.
  const context = { identity: "tiny/dev::b", run: { isUp: false, resources: 1 } };
  const news = { ...declared, deletionPolicy: "delete", __sender: context };
  const { inputs: checked = {} } = await now.event.check(inputs, news);
  await now.event.diff(id, outputs, checked);
  await now.close();
  expect(wordsOf(now)).toBe("");
  expect(sandbox.eventPosts).toBe(2);
});

it("what an existingId displaces stays live under an alias, also if it is deleted first", async () => {
  const { sandbox, engine, declared, id, outputs, inputs, newRun } = await stored();
  const now = newRun();
  const context = {
    identity: "tiny/dev::b",
    run: { isUp: true, resources: 1 },
    formerKeys: [engine.ref.key],
  };
  const news = {
    ...{ ...declared, ...B, existingId: 3, deletionPolicy: "delete" },
    __sender: context,
  };
  const { inputs: checked = {} } = await now.event.check(inputs, news);
  await now.event.diff(id, outputs, checked);
  await now.event.check({}, news);
  // With `deleteBeforeReplace`.
  await now.event.delete(id, outputs);
  await now.close();
  expect(wordsOf(now)).toMatch(/existingId now names another object/);
  expect(sandbox.deletes).toBe(0);
});

it("a single event's old object that the plugin has replaced is not deleted by the classes", async () => {
  const { sandbox, engine, id, outputs, inputs, newRun } = await stored();
  const moved = { id: "9", inputs, outputs: { ...outputs, eventId: 9 } };
  engine.saved.set(otherFormUrn(engine.ref), moved);
  const now = newRun();
  await now.event.delete(id, outputs);
  await now.close();
  expect(wordsOf(now)).toMatch(/is moving to another provider/);
  expect(sandbox.deletes).toBe(0);
});

it("what the program only reads is not deleted, and another reader in the state holds nothing", async () => {
  const { sandbox, engine, id, outputs, inputs, newRun } = await stored();
  const deleting = async (isRead: boolean) => {
    const now = newRun("destroy");
    if (isRead) await now.event.read(id, {});
    await now.event.delete(id, outputs);
    await now.close();
    return { words: wordsOf(now), deletes: sandbox.deletes };
  };
  const reader = refOf("ConversionEvent", "tiny/dev::reader").resourceUrn;
  engine.saved.set(reader, { id, inputs: {}, outputs, isRead: true });
  const { words, deletes } = await deleting(true);
  expect(words).toMatch(/"a" \(2\) .* because the program still reads it/);
  expect([deletes, inputs.deletionPolicy]).toEqual([0, "delete"]);
  expect((await deleting(false)).deletes).toBe(1);
});

const PAIRS = RESOURCE_FORMS.flatMap((one) =>
  RESOURCE_FORMS.map((other) => ({ one, other })),
);
const EVERY = PAIRS.flatMap((pair) =>
  [false, true].map((isReversed) => ({ ...pair, isReversed })),
).flatMap((how) => [false, true].map((isElsewhere) => ({ ...how, isElsewhere })));

describe.each(EVERY)(
  "$one, and $other; asked in reverse: $isReversed; without the journal: $isElsewhere",
  (how) => {
    const turned = (...program: Program) =>
      how.isReversed ? program.toReversed() : program;

    async function two(more?: Values) {
      const started = await start();
      const [a, b] = [
        started.fixture(how.one, "a", more),
        started.fixture(how.other, "b", more),
      ];
      expect((await started.run([a.is(), b.is(B)])).errors).toEqual([]);
      if (how.isElsewhere) started.moveAway();
      return { ...started, a, b, c: started.fixture(how.other, "c", more) };
    }

    it("an object of one that the other names is an error at one of them, and nothing changes", async () => {
      const { sandbox, run, a, c } = await two({});
      for (const isUp of [false, true]) {
        const { errors } = await run(turned(a.is(), c.is({ existingId: 2 })), isUp);
        expect(errors).toEqual([expect.stringContaining(ONE)]);
        expect(errors[0]).toMatch(
          /2 already belongs to (?:ConversionEvent "|events\["k"\] of ConversionEventSet ")[ac]"/,
        );
      }
      expect([a.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["2", 2, 0]);
    });

    it("an object that the state has twice is an error at the second one, until one of them gives it up", async () => {
      const { sandbox, run, a, c } = await two();
      expect((await run([c.is({ existingId: 2 })])).errors).toEqual([]);
      expect((await run(turned(a.is(), c.is()), false)).errors).toEqual([
        expect.stringContaining(ONE),
      ]);
      expect((await run(turned(a.is({ value: 2 }), c.is()))).errors).toEqual([]);
      expect([a.id, c.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["4", "2", 3, 0]);
    });

    it("they swap their objects: nothing is sent, deleted, or said to be left", async () => {
      const { sandbox, run, a, b } = await two();
      const swapped = turned(a.is({ ...B, existingId: 3 }), b.is({ existingId: 2 }));
      for (const isUp of [false, true]) {
        const { errors, words } = await run(swapped, isUp);
        expect([errors, words.match(LIVE)]).toEqual([[], null]);
      }
      expect((await run(turned(a.is(B), b.is()))).errors).toEqual([]);
      expect([a.id, b.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["3", "2", 2, 0]);
    });

    it("an object that one gives to another isn't deleted: the preview says so if the `up` does", async () => {
      const { sandbox, run, a, b, c } = await two();
      const notes = /^.*isn't deleted, because it also belongs to .*$/gm;
      const agreed = async (...program: Program) => {
        const { words: shown } = await run(turned(...program), false);
        const { errors, words } = await run(turned(...program));
        expect(errors).toEqual([]);
        const said = words.match(notes)?.toSorted() ?? [];
        expect(shown.match(notes)?.toSorted() ?? []).toEqual(said);
        return said.length;
      };
      const singles = [how.one, how.other].filter((each) => each === "a single event");
      const replaced = await agreed(a.is({ value: 2 }), b.is(B), c.is({ existingId: 2 }));
      expect(replaced).toBe(how.one === "a single event" ? 1 : 0);
      expect([a.id, c.id, sandbox.deletes]).toEqual(["4", "2", 0]);
      // A swap.
      const swapped = await agreed(
        a.is({ ...B, existingId: 3 }),
        b.is({ value: 2, existingId: 4 }),
        c.is(),
      );
      expect(swapped).toBe(singles.length);
      expect([a.id, b.id, sandbox.deletes]).toEqual(["3", "4", 0]);
    });

    it("an object moves to a new one, the former one is removed, or keeps its place with another object", async () => {
      const { sandbox, fixture, run, a, b, c } = await two();
      // Pulumi shows a delete of a single resource.
      const moving = turned(a.gone(), b.is(B), c.is({ existingId: 2 }));
      const { words: shown } = await run(moving, false);
      expect(shown).toMatch(/\(2\).* isn't deleted, because it also belongs to c/);
      expect(
        (await run(turned(a.gone(), b.is(B), c.is({ existingId: 2 })))).errors,
      ).toEqual([]);
      const d = fixture(how.one, "d");
      const B2 = { eventName: "B2" };
      const { errors, words } = await run(
        turned(b.is(B2), c.is(), d.is({ ...B, existingId: 3 })),
      );
      expect([errors, words.match(LIVE)]).toEqual([[], null]);
      expect([b.id, c.id, d.id, sandbox.eventPosts, sandbox.deletes]).toEqual([
        "4",
        "2",
        "3",
        3,
        0,
      ]);
      await run([b.is(B2), d.is(B), c.is()]);
      expect(
        (await run(turned(b.gone(), c.is(), d.is({ eventName: "D" })))).errors,
      ).toEqual([]);
      expect([
        sandbox.events.map(({ id }) => id),
        sandbox.eventPosts,
        sandbox.deletes,
      ]).toEqual([[2, 5], 4, 2]);
    });
  },
);

describe.each(RESOURCE_FORMS)("%s that leaves the state with its object", (shape) => {
  it.each([
    ["is replaced", { value: 2 }],
    ["is removed", undefined],
  ])("and %s: in doubt the object stays live, and that is said", async (_, next) => {
    const { sandbox, fixture, run } = await start();
    const a = fixture(shape, "a");
    await run([a.is()]);
    // An id that is not known yet may be this one.
    const other = fixture("a single event", "other", {
      adopted: objectKey("ConversionEvent", UNKNOWN),
    });
    const { errors, words } = await run([
      other.is(),
      next === undefined ? a.gone() : a.is(next),
    ]);
    expect([errors, words]).toEqual([
      [],
      expect.stringMatching(/(?:2 stays live|2\) leaves .*isn't deleted|k \(2\))/),
    ]);
    expect(sandbox).toMatchObject({ deletes: 0, eventPosts: next === undefined ? 2 : 3 });
  });

  it.each(["the mover", "the former one"])(
    "half of a move was done: a destroy of %s deletes nothing",
    async (which) => {
      const { sandbox, fixture, run } = await start();
      const a = fixture(shape, "a");
      const b = fixture("a single event", "b", {
        deletes: true,
        run: { isUp: true, resources: 2 },
      });
      await run([a.is()]);
      await run([b.is({ existingId: 2 })]); // a run of this target alone
      const { words } = await run([which === "the mover" ? b.gone() : a.gone()]);
      expect(words).toMatch(
        /\(2\) leaves the state and isn't deleted, because it also belongs to [ab](?:\/k)?\.$/,
      );
      expect([sandbox.deletes, sandbox.eventPosts]).toEqual([0, 1]);
    },
  );
});

it.each([true, false])(
  "C7: an id that a create is answered with, while another resource adopts it (asked about first: %s), is of one of them",
  async (isFirst) => {
    const { sandbox, fixture, run } = await start();
    const [p, q] = [fixture("a single event", "p"), fixture("a set's event", "q")];
    const program = [q.is({ existingId: 2 }), p.is()];
    const { errors } = await run(isFirst ? program : program.toReversed());
    expect(errors).toEqual([expect.stringMatching(/2,? (?:which )?already belongs to/)]);
    expect([p.id, q.id]).toEqual(isFirst ? [undefined, "2"] : ["2", undefined]);
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0, events: [{ id: 2 }] });
  },
);

it.each(RESOURCE_FORMS)(
  "%s that is changed back after a kill: what the killed run has made is named once a run, and nothing is sent",
  async (shape) => {
    const { sandbox, fixture } = await start();
    const e = fixture(shape, "e");
    await e.up();
    await e.kill({ value: 2 });
    for (const words of [await e.preview(), wordsOf((await e.up()).run)])
      expect(
        words.match(/an earlier run also created 3\. Object 3 stays live/g),
      ).toHaveLength(1);
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 2]);
    const { error } = await e.up({ value: 2 });
    // Of a set's update, Pulumi's record has forgotten the run with that save; the journal names a run that the state had.
    expect([error, e.id]).toEqual([undefined, "3"]);
    expect(sandbox.eventPosts).toBe(2);
  },
);

it.each(
  RESOURCE_FORMS.flatMap((shape) => [
    { shape, what: "the killed run's arguments", next: { value: 2 }, other: "3", now: "3" },
    { shape, what: "others again", next: { value: 3 }, other: "3", now: "3" },
    { shape, what: "another object", next: { existingId: 99 }, other: "3", now: "99" },
  ]),
)(
  "$shape that is declared with $what after a kill: preview and `up` name the id that leaves now, and then the killed run's",
  async ({ shape, next, other, now }) => {
    const { sandbox, fixture } = await start();
    const e = fixture(shape, "e", {});
    await e.up();
    await e.kill({ value: 2 });
    const preview = await e.preview(next);
    const { run, error } = await e.up(next);
    expect([e.id, sandbox.eventPosts]).toEqual([now, 2]);
    // A set's preview that fails shows no plan.
    const isWhole = shape === "a single event" || error === undefined;
    for (const words of isWhole ? [preview, wordsOf(run)] : [wordsOf(run)]) {
      const leaves = words.search(/(?:object 2 stays|\(2\) stays|event, 2\.)/);
      expect(leaves).toBeGreaterThanOrEqual(0);
      const made = `(?:created (?:it as )?${other}|earlier run: (?:k \\()?${other}|differ.*\\(${other}\\))`;
      expect(words.search(made)).toBeGreaterThan(leaves);
    }
  },
);

describe.each(RESOURCE_FORMS)("an `up` deletes nothing of %s", (shape) => {
  it("with --target, since what the run leaves out may adopt it", async () => {
    const { sandbox, fixture } = await start();
    const [a, b] = [fixture(shape, "a"), fixture(shape, "b")];
    await a.up();
    await b.up(B);
    const settings = operatedSettings({ delete: eventOperations.delete });
    for (const isUp of [false, true]) {
      const run = b.engine.newRun({ settings });
      expect(await runProgram(run, [b.is(B), a.gone()], isUp, 1)).toEqual([
        undefined,
        undefined,
      ]);
      await run.close();
      expect(wordsOf(run)).toMatch(
        /\b2\b.*isn't deleted, because this run leaves out resources that may adopt it\./,
      );
    }
    expect([a.id, sandbox.deletes]).toEqual([undefined, 0]);
  });

  it("whose preview had no provider to name it: the program has nothing more of the package", async () => {
    const { sandbox, fixture, run } = await start();
    const a = fixture(shape, "a");
    await a.up();
    const { errors, words } = await run([a.gone()]);
    expect([errors, a.id, sandbox.deletes]).toEqual([[], undefined, 0]);
    expect(words).toMatch(/\(2\) leaves .*isn't deleted, because .* no preview shows it\./);
  });
});

it.each([undefined, "default"])(
  "an object that its resource gets back while an interrupted run's delete of it is due stays, and isn't said to be unmanaged (plugin: %s)",
  async (plugin) => {
    const { sandbox, fixture } = await start();
    const e = fixture("a single event", "e");
    Object.assign(e.engine, { plugin });
    const settings = operatedSettings({ delete: eventOperations.delete });
    await e.up();
    const { id, outputs } = e.engine.state ?? expect.fail();
    sandbox.fail({ on: "delete", with: { kind: "answer", status: 400 } });
    await e.up({ value: 5 }, { settings });
    const run = e.engine.newRun({ settings });
    expect(await runProgram(run, [e.is({ existingId: 2 })])).toEqual([undefined]);
    await run.event.delete(id, outputs);
    await run.close();
    expect([e.id, sandbox.events.map((each) => each.id)]).toEqual(["2", [2, 3]]);
    expect(wordsOf(run)).toMatch(
      /"e" \(2\) .*isn't deleted, because the resource has it again\./,
    );
    expect(wordsOf(run)).not.toMatch(/\b2\b[^.]*unmanaged/);
  },
);

describe.each(RESOURCE_FORMS)("what %s has left live", (shape) => {
  const left = (id: string, name: string) => ({
    id,
    name,
    at: expect.any(String),
    ...(shape !== "a single event" && { key: "k" }),
  });

  it("is listed again and again, on any machine, but not what it gets back", async () => {
    const { sandbox, fixture } = await start();
    const e = fixture(shape, "e", {});
    await e.up();
    await e.up(B);
    const elsewhere = new SingleObjectFixture(shape, sandbox, newFolder(), "e");
    await elsewhere.up({ eventName: "C" });
    expect(elsewhere.left).toEqual([left("2", "E"), left("3", "B")]);
    await elsewhere.up({ existingId: 2 });
    expect([elsewhere.left, sandbox.eventPosts]).toEqual([
      [left("3", "B"), left("4", "C")],
      3,
    ]);
  });

  it.each(["was", "is"])("is listed without its name if that %s secret", async (when) => {
    const { sandbox, fixture } = await start();
    const e = fixture(shape, "e", {});
    const secret = { __secret: [shape === "a single event" ? "eventName" : "events"] };
    await e.engine.up({ ...e.of({}), ...(when === "was" && secret) });
    await e.engine.up({ ...e.of(B), ...(when === "is" && secret) });
    expect(e.left).toEqual([expect.not.objectContaining({ name: expect.anything() })]);
    expect([e.left[0]?.id, sandbox.eventPosts]).toEqual(["2", 2]);
  });
});

it.each([undefined, "default"])(
  "`up --replace` of a set keeps its events: nothing is sent, deleted, or said to be unmanaged (plugin: %s)",
  async (plugin) => {
    const { sandbox, fixture } = await start();
    const { engine, of } = fixture("a set's event", "s");
    Object.assign(engine, { plugin });
    await engine.up(of.call({ engine }, {}));
    const { id = "", inputs = {}, outputs = {} } = engine.state ?? {};
    const settings = operatedSettings({ delete: eventOperations.delete });
    const run = engine.newRun({ settings });
    // The engine calls no `diff`.
    const contextOf = (isUp: boolean) => {
      return { identity: senderIn(inputs).identity, run: { isUp, resources: 1 } };
    };
    const preview = engine.newRun({ settings });
    const events = { ...Object(inputs.events), n: { eventName: "New", value: 1 } };
    await preview.set.check({}, { ...inputs, events, __sender: contextOf(false) });
    // A plugin's preview shows it in `create`.
    if (plugin === undefined)
      expect(wordsOf(preview)).toContain("events: 1 to create, 1 unchanged");
    const context = contextOf(true);
    const checked = await run.set.check({}, { ...inputs, __sender: context });
    const { outs } = await run.set.create(checked.inputs ?? {});
    await run.set.delete(id, outputs);
    await run.close();
    expect(outs?.eventIds).toEqual(outputs.eventIds);
    expect(wordsOf(run)).toMatch(
      /^ConversionEventSet "s": taken over from an earlier run: k \(2\)\. No create was sent for it\.$/,
    );
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  },
);

it.each([
  ["after its create", false],
  ["before its create", true],
])(
  "`up --replace` of a set that loses an event deletes nothing (%s), and names what it leaves, as its preview does",
  async (_, isBefore) => {
    const { sandbox, fixture } = await start();
    const { engine } = fixture("a set's event", "s", { deletes: true });
    const events = { k: { eventName: "E", value: 1 }, gone: { eventName: "G", value: 1 } };
    await engine.up({ advertiserId: 1, events });
    const { id = "", inputs = {}, outputs = {} } = engine.state ?? {};
    const settings = operatedSettings({ delete: eventOperations.delete });
    const begin = async (isUp: boolean) => {
      const run = engine.newRun({ settings });
      const context = { identity: senderIn(inputs).identity, run: { isUp, resources: 1 } };
      const news = { ...inputs, events: { k: events.k }, __sender: context };
      return { run, checked: await run.set.check({}, news) };
    };
    const left =
      /^events\["gone"\] of ConversionEventSet "s" \(3\) leaves .*isn't deleted, because its set is replaced/;
    const preview = await begin(false);
    await preview.run.close();
    expect(wordsOf(preview.run)).not.toContain("to create");
    expect(wordsOf(preview.run)).toMatch(left);
    const { run, checked } = await begin(true);
    if (isBefore) await run.set.delete(id, outputs);
    await run.set.create(checked.inputs ?? {});
    if (!isBefore) await run.set.delete(id, outputs);
    await run.close();
    // It still has the other event.
    expect(wordsOf(run)).toMatch(new RegExp(left, "m"));
    expect(wordsOf(run)).not.toMatch(/managed after this run|\(2\) leaves/);
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
  },
);

it("an alias that would change a resource's type is an error, and nothing is sent", async () => {
  const { sandbox, fixture, run } = await start();
  const [single, many] = [
    fixture("a single event", "single"),
    fixture("a set's event", "many"),
  ];
  await run([single.is(), many.is()]);
  const before = sandbox.requests.length;
  const [one = expect.fail(), set = expect.fail()] = [single, many].map(
    ({ engine }) => engine.state,
  );
  const { event, set: sets } = single.engine.newRun();
  const refused = /its state \(id (\S+)\) has no \w+\. Nothing was sent/;
  for (const [failing, id] of [
    [sets.diff(one.id, one.outputs, set.inputs), "2"],
    [sets.update(one.id, one.outputs, set.inputs), "2"],
    [event.diff(set.id, set.outputs, one.inputs), set.id],
    [event.diff("1", { advertiserName: "X", advertiserId: 1 }, one.inputs), "1"],
  ] as const)
    expect(refused.exec((await failureOf(failing)).message)?.[1]).toBe(id);
  expect(sandbox.requests).toHaveLength(before);
});
