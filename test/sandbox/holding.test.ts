/**
 * A live object belongs to one resource, whichever the engine asks about first: what two of them name is an error at one, and no delete takes an
 * object that something else has or may get. A single event and a set's event behave alike, on this machine and on one without its memory.
 */
import { describe, expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { failureOf } from "../support/run.js";
import { EventEngine, Lone, play, remembered, SetEngine, SHAPES, type Shape, wordsOf } from "../support/set-engine.js";

type Values = Record<string, unknown>;
type Program = (readonly [Lone, Values | undefined])[];

const ONE = "one object can't be two resources; correct this existingId, or remove the other one";
const DELETES = { settings: operatedSettings({ delete: eventOperations.delete }) };

/** @param options of each run. */
async function start(options: { settings?: Record<string, string> } = {}) {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  let at = folder;
  const lone = (shape: Shape, name: string, more: Values = {}) => {
    const made = new Lone(shape, sandbox, folder, name);
    Object.assign(made.engine.declares, more);
    return made;
  };
  /** The run of a program with these, in this order. */
  const run = async (program: Program, isUp = true) => {
    const now = new EventEngine(sandbox, at, "any").newRun(options);
    const errors = await play(
      now,
      program.map(([one, event]) => [one.engine, event && one.of(event)]),
      isUp,
    );
    now.closeNow();
    return { errors: errors.filter((each) => each !== undefined), words: wordsOf(now) };
  };
  /** From now on runs are on a machine without the memory. */
  const moveAway = () => {
    at = newFolder();
  };
  return { sandbox, folder, lone, run, moveAway };
}

const PAIRS = SHAPES.flatMap((one) => SHAPES.map((other) => [one, other] as const));
const EVERY = PAIRS.flatMap(([one, other]) =>
  [false, true].flatMap((isReversed) => [false, true].map((isElsewhere) => ({ one, other, isReversed, isElsewhere }))),
);

describe.each(EVERY)("$one, and $other; asked in reverse: $isReversed; without the memory: $isElsewhere", (how) => {
  const turned = (program: Program) => (how.isReversed ? program.toReversed() : program);

  async function two(more: Values = {}) {
    const started = await start(DELETES);
    const [a, b] = [started.lone(how.one, "a", more), started.lone(how.other, "b", more)];
    expect(
      (
        await started.run([
          [a, {}],
          [b, { eventName: "B" }],
        ])
      ).errors,
    ).toEqual([]);
    if (how.isElsewhere) started.moveAway();
    return { ...started, a, b };
  }

  it("an object of one that the other names is an error at one of them, and nothing changes", async () => {
    const { sandbox, lone, run, a } = await two();
    const program = turned([
      [a, {}],
      [lone(how.other, "c"), { existingId: 2 }],
    ]);
    for (const isUp of [false, true]) {
      const { errors } = await run(program, isUp);
      expect(errors).toEqual([expect.stringContaining(ONE)]);
      expect(errors[0]).toMatch(
        /2 already belongs to (?:ConversionEvent "|events\["k"\] of ConversionEventSet ")[ac]"/,
      );
    }
    expect([a.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["2", 2, 0]);
  });

  it("an object that the state has twice is an error at the second one, until one of them gives it up", async () => {
    const { sandbox, lone, run, a } = await two({ deletes: true });
    const c = lone(how.other, "c");
    expect((await run([[c, { existingId: 2 }]])).errors).toEqual([]);
    expect(
      (
        await run(
          turned([
            [a, {}],
            [c, {}],
          ]),
          false,
        )
      ).errors,
    ).toEqual([expect.stringContaining(ONE)]);
    const { errors } = await run(
      turned([
        [a, { value: 2 }],
        [c, {}],
      ]),
    );
    expect(errors).toEqual([]);
    expect([a.id, c.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["4", "2", 3, 0]);
  });

  it("they swap their objects: nothing is sent, deleted, or said to be left", async () => {
    const { sandbox, run, a, b } = await two({ deletes: true });
    const swapped = turned([
      [a, { eventName: "B", existingId: 3 }],
      [b, { existingId: 2 }],
    ]);
    for (const isUp of [false, true]) {
      const { errors, words } = await run(swapped, isUp);
      expect([errors, words.match(/stays? live|not deleted/)]).toEqual([[], null]);
    }
    expect(
      (
        await run(
          turned([
            [a, { eventName: "B" }],
            [b, {}],
          ]),
        )
      ).errors,
    ).toEqual([]);
    expect([a.id, b.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["3", "2", 2, 0]);
  });

  it("an object moves to a new one, the former one is removed, or keeps its place with another object", async () => {
    const { sandbox, lone, run, a, b } = await two({ deletes: true });
    const c = lone(how.other, "c", { deletes: true });
    expect(
      (
        await run(
          turned([
            [a, undefined],
            [b, { eventName: "B" }],
            [c, { existingId: 2 }],
          ]),
        )
      ).errors,
    ).toEqual([]);
    const d = lone(how.one, "d", { deletes: true });
    const { errors, words } = await run(
      turned([
        [b, { eventName: "B2" }],
        [c, {}],
        [d, { eventName: "B", existingId: 3 }],
      ]),
    );
    expect([errors, words.match(/stays? live|not deleted/)]).toEqual([[], null]);
    expect([b.id, c.id, d.id, sandbox.eventPosts, sandbox.deletes]).toEqual(["4", "2", "3", 3, 0]);
    await run([
      [b, { eventName: "B2" }],
      [d, { eventName: "B" }],
      [c, {}],
    ]);
    // What nothing else has is deleted, once.
    expect(
      (
        await run(
          turned([
            [b, undefined],
            [c, {}],
            [d, { eventName: "D" }],
          ]),
        )
      ).errors,
    ).toEqual([]);
    expect(sandbox.events.map(({ id }) => id)).toEqual([2, 5]);
    expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 2 });
  });
});

describe.each(SHAPES)("%s that leaves the state with its object", (shape) => {
  it.each([
    ["is replaced", { value: 2 }],
    ["is removed", undefined],
  ])("and %s: in doubt the object stays live, and that is said", async (_, next) => {
    const { sandbox, lone, run } = await start(DELETES);
    const a = lone(shape, "a", { deletes: true });
    await run([[a, {}]]);
    // An id that is not known yet may be this one.
    const other = lone("a single event", "other", { adoptsLater: true });
    const { errors, words } = await run([
      [other, { eventName: "O" }],
      [a, next],
    ]);
    expect(errors).toEqual([]);
    expect(words).toMatch(/2(?: stays live|: k is \d now|, which was k)/);
    expect(sandbox).toMatchObject({ deletes: 0, eventPosts: next === undefined ? 2 : 3 });
  });

  it.each(["the mover", "the former one"])(
    "half of a move was done: a destroy of %s deletes nothing",
    async (which) => {
      const { sandbox, folder, lone, run } = await start(DELETES);
      const [a, b] = [
        lone(shape, "a", { deletes: true }),
        lone("a single event", "b", { deletes: true, run: { isUp: true, resources: 2 } }),
      ];
      await run([[a, {}]]);
      await run([[b, { existingId: 2 }]]); // a run of this target alone
      const { words } = await run([[which === "the mover" ? b : a, undefined]]);
      expect(words).toContain("left the state but was not deleted, because another resource has it");
      expect([sandbox.deletes, sandbox.eventPosts, remembered(folder)]).toEqual([
        0,
        1,
        expect.arrayContaining(["b live 2"]),
      ]);
    },
  );
});

describe("an id that a create is answered with, while another resource adopts it", () => {
  it.each([true, false])(
    "(the adoption is asked about first: %s) is of one of them, and nothing is deleted",
    async (isFirst) => {
      const { sandbox, lone, run } = await start(DELETES);
      const [p, q] = [lone("a single event", "p", { deletes: true }), lone("a set's event", "q", { deletes: true })];
      const program: Program = [
        [q, { existingId: 2 }],
        [p, {}],
      ];
      const { errors } = await run(isFirst ? program : program.toReversed());
      expect(errors).toEqual([expect.stringMatching(/2,? (?:which )?already belongs to/)]);
      expect([p.id, q.id]).toEqual(isFirst ? [undefined, "2"] : ["2", undefined]);
      expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0, events: [{ id: 2 }] });
    },
  );
});

describe.each(SHAPES)("%s that this machine remembers", (shape) => {
  it("and the state has lost: right after its run it is taken over, from the next one on it is named, and another one is created", async () => {
    const { sandbox, lone } = await start();
    const e = lone(shape, "e");
    await e.up();
    e.engine.state = undefined;
    expect(await e.preview()).toContain("an earlier run created it as 2. `pulumi up` takes it over.");
    const second = await e.up();
    expect(wordsOf(second.run)).toContain("nothing is sent");
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
    await e.up();
    e.engine.state = undefined;
    expect(await e.preview()).toContain(
      `${e.label} was 2 before: this creates another event, and leaves 2 as it is. To go on with 2, set existingId: 2.`,
    );
    await e.up();
    expect([e.id, sandbox.eventPosts]).toEqual(["3", 2]);
  });

  it("and the state is older: what nothing manages is named once a run, and nothing is sent", async () => {
    const { sandbox, lone } = await start();
    const e = lone(shape, "e");
    await e.up();
    await e.up();
    await e.kill({ value: 2 });
    for (const words of [await e.preview(), wordsOf((await e.up()).run)])
      expect(words.match(/created it as 3\. The state has 2\. Nothing manages 3: it stays live/g)).toHaveLength(1);
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 2]);
  });

  it("and that is replaced with --replace alone keeps the list of what it has left live", async () => {
    const { sandbox, lone, run } = await start();
    const e = lone(shape, "e");
    await e.up();
    await e.up({ value: 2 });
    if (e.engine instanceof SetEngine) return; // the engine gives a new set, and its members are taken for lost
    const { state, newRun } = { state: e.engine.state ?? expect.fail(), newRun: e.engine.newRun() };
    const given = { ...e.of({ value: 2 }), __identity: { identity: "tiny/dev::e", run: { isUp: true, resources: 1 } } };
    const { inputs = {} } = await newRun.event.check(state.inputs, given);
    await newRun.event.diff(state.id, state.outputs, inputs as Values);
    const { outs } = await newRun.event.create(inputs as Values);
    newRun.closeNow();
    expect((outs as Values).__left).toMatchObject([{ id: "2" }, { id: "3" }]);
    expect(await run([], false)).toEqual({ errors: [], words: "" });
    expect(sandbox.eventPosts).toBe(3);
  });
});

it("an alias that would change a resource's type is an error, and nothing is sent", async () => {
  const { sandbox, lone, run } = await start(DELETES);
  const [single, many] = [lone("a single event", "single"), lone("a set's event", "many")];
  await run([
    [single, {}],
    [many, {}],
  ]);
  const before = sandbox.requests.length;
  const states = [single, many].map(({ engine }) => engine.state ?? expect.fail());
  const [one = expect.fail(), set = expect.fail()] = states;
  const { event, set: sets } = single.engine.newRun();
  const refused =
    /the state has a resource of the type (\w+) here, with the id (\S+), and an alias can't change its type/;
  for (const [failing, type, id] of [
    [sets.diff(one.id, one.outputs, set.inputs), "ConversionEvent", "2"],
    [sets.update(one.id, one.outputs, set.inputs), "ConversionEvent", "2"],
    [event.diff(set.id, set.outputs, one.inputs), "ConversionEventSet", set.id],
    [event.diff("1", { advertiserName: "X", advertiserId: 1 }, one.inputs), "Advertiser", "1"],
  ] as const)
    expect(refused.exec((await failureOf(failing)).message)?.slice(1)).toEqual([type, id]);
  expect(sandbox.requests).toHaveLength(before);
});
