/**
 * What an interrupted run leaves open, and what the next run makes of it: rule S, other accounts, renamed stacks,
 * people's answers, and objects whose arguments the program has changed. A single event and a set's event behave alike.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fault, FaultRule, Sandbox } from "../../provider/src/sandbox/index.js";
import { writeAnswers } from "../../provider/src/store/index.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import type { RunOptions } from "../support/run.js";
import { Lone, play, remembered, SetEngine, SHAPES, type Shape, wordsOf } from "../support/set-engine.js";

type Values = Record<string, unknown>;

const LOST: FaultRule = { on: "event", act: true, with: { kind: "close-without-answer" } };
const FIRST = "Nothing new is created: the program does not declare 1 create of interrupted runs";
const AS_SENT = /arguments (?:that differ from the program's|other than|than the program has now)|with other arguments/;
const answeredWith = (id: number): Fault => ({ kind: "answer", status: 200, body: { success: true, payload: { id } } });
/** What a person answers, by mark. */
const answering = (mark: unknown, id: string | null): RunOptions => ({
  environment: { ADVERTISING_ANSWERS: JSON.stringify({ [String(mark)]: id }) },
});

async function start(shape: Shape) {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const lone = (name: string, of: Sandbox = sandbox) => new Lone(shape, of, folder, name);
  /** The run of a program with these, in this order. */
  const run = async (...program: ReturnType<Lone["is"]>[]) => {
    const now = lone("any").engine.newRun();
    const errors = await play(now, program);
    now.closeNow();
    return errors;
  };
  /** In the memory, without the word for a set's key. */
  const memory = (stack?: string) => remembered(folder, stack).map((each) => each.replace('["k"]', ""));
  return { sandbox, folder, lone, run, memory };
}

describe.each(SHAPES)("%s", (shape) => {
  describe("rule S: while a create of an interrupted run is declared by nothing, nothing new is sent", () => {
    it.each<[string, boolean, RegExp]>([
      [
        "of unknown outcome",
        true,
        /Look in the account for the ConversionEvent named "E".*pending --not-created 'old/s,
      ],
      ["that was answered", false, /an interrupted run created it as 2.*pending --forget 'old/s],
    ])("one %s: the preview stops as the up does, in full once a run", async (_, isLost, words) => {
      const { sandbox, lone, run, memory } = await start(shape);
      if (isLost) sandbox.fail(LOST);
      await lone("old").kill();
      const [fresh, other] = [lone("fresh"), lone("other")];
      expect(await fresh.preview()).toMatch(words);
      const errors = await run(fresh.is(), other.is({ value: 2 }));
      expect(errors[0]).toContain(FIRST);
      expect(errors[0]).toMatch(words);
      expect(errors[1]).toMatch(/not created: creates of interrupted runs are to be settled first\. Another error/);
      expect([fresh.engine.state, other.engine.state]).toEqual([undefined, undefined]);
      // Undone, it goes on; and then the new ones too.
      if (!isLost) expect(await run(lone("old").is(), fresh.is())).toEqual([undefined, undefined]);
      expect(sandbox.eventPosts).toBe(isLost ? 1 : 2);
      expect(memory()).toContain(isLost ? "old sent" : "old handed 2");
    });

    it("take-overs go on, and what is declared stops no other", async () => {
      const { sandbox, lone, run } = await start(shape);
      const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => lone(name)) as [Lone, Lone, Lone, Lone];
      const killed = a.engine.newRun();
      await play(killed, [a.is(), b.is()]);
      await killed.kill();
      for (const { engine } of [a, b]) engine.state = undefined;
      expect(await run(a.is(), c.is())).toEqual([undefined, expect.stringContaining(FIRST)]);
      expect([a.id, sandbox.eventPosts]).toEqual(["2", 2]);
      sandbox.fail(LOST);
      const errors = await run(b.is(), d.is(), c.is());
      expect(errors).toEqual([undefined, expect.stringMatching(/outcome/i), undefined]);
      expect([b.id, c.id, d.unresolved?.name, sandbox.eventPosts]).toEqual(["3", "5", "E", 4]);
    });

    it("what another run wrote meanwhile counts as not declared until it was asked about", async () => {
      const { sandbox, lone, run } = await start(shape);
      const [old, fresh] = [lone("old"), lone("fresh")];
      await old.kill();
      for (const { engine } of [old, fresh]) engine.declares = { run: { isUp: true, resources: 2 } };
      expect((await run(fresh.is(), old.is()))[0]).toContain(FIRST);
      old.engine.state = undefined;
      expect(await run(old.is(), fresh.is())).toEqual([undefined, undefined]);
      expect(sandbox.eventPosts).toBe(2);
    });
  });

  it("an interrupted run of another account stops with both accounts named; formerAccount says that they are one", async () => {
    const { sandbox, folder, lone } = await start(shape);
    await lone("e").kill();
    const there = await operatedSandbox({ objects: sandbox.snapshot() });
    const e = lone("e", there);
    const [former = "", now] = [sandbox, there].map(({ url, email }) => `${new URL(url).host} ${email}`);
    const cookieFile = join(folder, "other.json");
    const { error } = await e.up({}, { cookieFile });
    expect(error).toContain(`at ${former}, and the settings of this run name ${now}`);
    expect(error).toContain("ADVERTISING_ACCOUNT_MISMATCH");
    expect((await e.up({}, { cookieFile, settings: { formerAccount: former } })).error).toBeUndefined();
    expect([e.id, sandbox.eventPosts, there.eventPosts]).toEqual(["2", 1, 0]);
    // What had ended cleanly there is none of another account's.
    const third = await operatedSandbox();
    expect((await lone("e", third).up({}, { cookieFile: join(folder, "third.json") })).error).toBeUndefined();
    expect([there.eventPosts, third.eventPosts]).toEqual([0, 1]);
  });

  describe("after `pulumi stack rename`", () => {
    it("the same create that is open under the former name stops it, other arguments do not", async () => {
      const { sandbox, lone, memory } = await start(shape);
      sandbox.fail(LOST);
      await lone("e").kill();
      const now = lone("e");
      now.engine.stack = "tiny/prod";
      for (const text of [await now.preview(), (await now.up()).error]) {
        expect(text).toContain(
          "outcome is unknown. That was in the stack organization/tiny/dev, so it is not sent here.",
        );
        expect(text).toMatch(/ {2}npx pulumi-advertising pending --stack organization\/tiny\/dev --forget 'e/);
      }
      expect((await now.up({ value: 2 })).error).toBeUndefined();
      expect([memory(), sandbox.eventPosts]).toEqual([["e sent"], 2]);
    });

    it("what a run made that ended cleanly, and no state has, is not made again", async () => {
      const { sandbox, lone } = await start(shape);
      await lone("e").up();
      const now = lone("e");
      now.engine.stack = "tiny/prod";
      for (const text of [await now.preview(), (await now.up()).error])
        expect(text).toMatch(
          /earlier run created it as 2\. That was in the stack organization\/tiny\/dev, .*existingId: 2\./s,
        );
      expect((await now.up({ existingId: 2 })).error).toBeUndefined();
      expect(sandbox.eventPosts).toBe(1);
    });

    it.each([true, false])(
      "the memory moves with the state, and what is new is taken over (asked about after it: %s)",
      async (isAfter) => {
        const { sandbox, lone, run, memory } = await start(shape);
        const [e, made] = [lone("e"), lone("made")];
        await e.up();
        await made.kill();
        for (const { engine } of [e, made]) engine.stack = "tiny/prod";
        const program = [e.is(), made.is()];
        const errors = await run(...(isAfter ? program : program.toReversed()));
        if (!isAfter) expect(errors[0]).toContain("That was in the stack organization/tiny/dev");
        expect(isAfter ? errors : await run(...program)).toEqual([undefined, undefined]);
        expect([made.id, sandbox.eventPosts]).toEqual(["3", 2]);
        expect([memory(), memory("organization/tiny/prod")]).toEqual([[], ["e live 2", "made handed 3"]]);
      },
    );
  });

  describe("C7: a create that is answered with the id", () => {
    it.each([true, false])(
      "of another resource (of an earlier run: %s): unresolved, the other one keeps it",
      async (isEarlier) => {
        const { sandbox, lone, run } = await start(shape);
        const [p, q] = [lone("p"), lone("q")];
        if (isEarlier) await p.up();
        sandbox.fail({ on: "event", after: isEarlier ? 0 : 1, with: answeredWith(2) });
        for (const time of [1, 2]) {
          const errors = await run(p.is(), q.is({ eventName: "Q" }));
          expect(errors[0], String(time)).toBeUndefined();
          expect(errors[1]).toContain(`2, which already belongs to ${p.label}.`);
          expect([p.id, q.id, q.unresolved?.name, sandbox.eventPosts]).toEqual(["2", undefined, "Q", 2]);
        }
      },
    );

    it("of what it had before: unresolved, and its replacement leaves nothing behind unsaid", async () => {
      const { sandbox, lone } = await start(shape);
      const e = lone("e");
      await e.up();
      sandbox.fail({ on: "event", with: answeredWith(2) });
      expect((await e.up({ value: 2 })).error).toContain("2, which this resource had before");
      expect([e.unresolved?.replaces, sandbox.eventPosts]).toEqual(["2", 2]);
    });
  });

  it("existingId under another name settles nothing", async () => {
    const { sandbox, lone, run, memory } = await start(shape);
    sandbox.fail(LOST);
    await lone("old").kill();
    const [adopter, fresh] = [lone("adopter"), lone("fresh")];
    const errors = await run(adopter.is({ existingId: 2 }), fresh.is({ value: 2 }));
    expect(errors).toEqual([undefined, expect.stringContaining(FIRST)]);
    expect([adopter.id, memory(), sandbox.eventPosts]).toEqual(["2", ["adopter live 2", "old sent"], 1]);
  });

  it.each([true, false])(
    "existingId settles its own create unless something contradicts that (in the state: %s)",
    async (isSaved) => {
      const { sandbox, lone, memory } = await start(shape);
      const e = lone("e");
      sandbox.fail(LOST);
      if (isSaved) expect((await e.up()).error).toMatch(/Look in the account for/);
      else await e.kill();
      const { error } = await e.up({ eventName: "Other", existingId: 900 });
      expect(error).toContain('existingId: 900 does not settle this create: it was sent with eventName "E"');
      expect([e.id, e.unresolved?.name, memory()]).toEqual([undefined, "E", ["e sent"]]);
      expect((await e.up({ existingId: 2 })).error).toBeUndefined();
      expect([e.id, memory(), sandbox.eventPosts]).toEqual(["2", ["e live 2"], 1]);
    },
  );

  const UPDATES = { settings: operatedSettings({ update: eventOperations.update }) };
  it.each<[string, RunOptions | undefined, Values, { updates: number; eventPosts: number }]>([
    ["replaced", undefined, { value: 2 }, { updates: 0, eventPosts: 2 }],
    ["updated, if that is known", UPDATES, { value: 2 }, { updates: 1, eventPosts: 1 }],
    ["replaced, if it is another advertiser's", UPDATES, { advertiserId: 7 }, { updates: 0, eventPosts: 2 }],
    ["kept, if the program has what was sent again", UPDATES, {}, { updates: 0, eventPosts: 1 }],
  ])(
    "what was made with other arguments than the program has now is saved as it was sent, and %s by the next up",
    async (_, options, then, sent) => {
      const { sandbox, lone } = await start(shape);
      const e = lone("e");
      await e.kill({}, options);
      expect(await e.preview({ value: 9 }, options)).toContain("saves 2 with the arguments it was sent with");
      expect((await e.up({ value: 9 }, options)).error).toMatch(AS_SENT);
      expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
      if ("advertiserId" in then) sandbox.fail({ on: "event", with: answeredWith(3) }); // there is no advertiser 7
      expect((await e.up(then, options)).error).toBeUndefined();
      expect([e.id, JSON.stringify(e.engine.state?.outputs)]).toEqual([
        String(1 + sent.eventPosts),
        expect.not.stringMatching("earlier"),
      ]);
      expect(await e.preview(then, options)).toBe("");
      expect(sandbox).toMatchObject(sent);
    },
  );

  it.each([true, false])(
    "a create whose body nobody knows is taken over, unless its name contradicts that (%s)",
    async (isOther) => {
      const { sandbox, folder, lone } = await start(shape);
      const e = lone("e");
      const [key = ""] = e.engine.keysOf(e.of({}));
      const line = { key, state: "made", id: "5", at: "", mark: "m", body: "", name: isOther ? "Other" : "E" } as const;
      await writeAnswers(e.engine.newRun().runtime.placeOf("tiny/dev::e"), [line], { folder: join(folder, "stacks") });
      const { error } = await e.up();
      expect([e.id, sandbox.eventPosts]).toEqual(["5", 0]);
      if (isOther) expect(error).toMatch(AS_SENT);
      else expect(error).toBeUndefined();
      expect([(await e.up()).error, sandbox.eventPosts]).toEqual([undefined, isOther ? 1 : 0]);
    },
  );

  it("C6: an engine that asks for a failed create again, as its error hooks do, gets the same answer: one POST", async () => {
    const { sandbox, lone } = await start(shape);
    const [made, e] = [lone("made"), lone("e")];
    await made.kill();
    for (const [one, event, id, words] of [
      [made, { value: 2 }, "2", AS_SENT],
      [e, {}, undefined, /outcome/i],
    ] as const) {
      if (one === e) sandbox.fail(LOST);
      const run = one.engine.newRun();
      const errors: (string | undefined)[] = [];
      for (let time = 0; time < 3; time++) {
        one.engine.state = undefined;
        errors.push(await one.engine.apply(run, one.of(event)));
      }
      expect(errors).toEqual(Array(3).fill(errors[0]));
      expect([one.id, errors[0]]).toEqual([id, expect.stringMatching(words)]);
      run.closeNow();
    }
    expect(sandbox.eventPosts).toBe(2);
  });

  it("answers of a person reach the state through a refresh; without one it stays as it is", async () => {
    const { sandbox, lone } = await start(shape);
    const [e, other] = [lone("e"), lone("other")];
    sandbox.fail({ ...LOST, times: 2 });
    await e.up();
    const { error } = await e.engine.refresh();
    if (shape === "a single event") expect(error).toContain("A refresh does not find out what became of");
    expect(e.unresolved?.name).toBe("E");
    expect((await e.engine.refresh(answering(e.unresolved?.mark, "2"))).error).toBeUndefined();
    expect([e.id, e.unresolved, (await e.up()).error]).toEqual(["2", undefined, undefined]);
    await other.up();
    await other.engine.refresh(answering(other.unresolved?.mark, null));
    expect([other.id, other.unresolved, sandbox.eventPosts]).toEqual([undefined, undefined, 2]);
  });

  it("an answer for a replacement leaves the former object on the list of what is live", async () => {
    const { sandbox, lone } = await start(shape);
    const e = lone("e");
    await e.up();
    sandbox.fail(LOST);
    await e.up({ value: 2 });
    await e.engine.refresh(answering(e.unresolved?.mark, "3"));
    expect([e.id, e.left, sandbox.eventPosts]).toMatchObject(["3", [{ id: "2" }], 2]);
  });
});

it("a key that is renamed in a set after a kill stops, in the preview too; the others stay as they are", async () => {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const engine = new SetEngine(sandbox, folder);
  const of = (...keys: string[]) => ({
    advertiserId: 1,
    events: Object.fromEntries(keys.map((key) => [key, { eventName: key, value: 1 }])),
  });
  await engine.up(of("a"));
  await engine.upAndKill(of("a", "b"));
  expect(await engine.preview(of("a", "c"))).toContain(FIRST);
  const { error, run } = await engine.up(of("a", "c"));
  expect(error).toContain(FIRST);
  expect(wordsOf(run)).not.toContain("stays live");
  expect(engine.eventIds).toEqual({ a: 2 });
  expect((await engine.up(of("a", "b"))).error).toBeUndefined();
  expect([engine.eventIds, sandbox.eventPosts]).toEqual([{ a: 2, b: 3 }, 2]);
});
