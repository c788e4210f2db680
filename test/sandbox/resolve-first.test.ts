/**
 * What an interrupted run leaves open, and what the next run makes of it: the guard by name, other accounts, other
 * stacks, people's answers, and objects whose arguments the program has changed. A single event and a set's event
 * behave alike.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeAnswers } from "../../provider/src/journal/index.js";
import type { Fault, FaultRule, Sandbox } from "../../provider/src/sandbox/index.js";
import { UNKNOWN } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { journalsOf, type RunOptions } from "../support/run.js";
import {
  journalLines,
  killed,
  RESOURCE_FORMS,
  type ResourceForm,
  runProgram,
  SetEngine,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";

type Values = Record<string, unknown>;

const LOST: FaultRule = { on: "event", act: true, with: { kind: "close-without-answer" } };
const REFUSED = "1 object isn't created: ";
const AS_SENT = /arguments that differ from the program's/;
const answeredWith = (id: number): Fault => ({
  kind: "answer",
  status: 200,
  body: { success: true, payload: { id } },
});
/** What a person answers about the create with this mark; an empty id: it was not created. */
const answering = (mark: unknown, id: string): RunOptions => ({
  environment: {
    ADVERTISING_ANSWERS: JSON.stringify({
      outcomes: { [String(mark)]: id && `ConversionEvent ${id}` },
    }),
  },
});

/** Why a preview fails. */
async function previewError(
  fixture: SingleObjectFixture,
  event?: Values,
  options?: RunOptions,
) {
  const run = fixture.engine.newRun(options);
  const [error] = await runProgram(run, [fixture.is(event)], false);
  await run.close();
  return error;
}

async function start(shape: ResourceForm) {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const fixture = (name: string, of: Sandbox = sandbox) =>
    new SingleObjectFixture(shape, of, folder, name);
  /** The run of a program with these, in this order. */
  const run = async (...program: ReturnType<SingleObjectFixture["is"]>[]) => {
    const now = fixture("any").engine.newRun();
    const errors = await runProgram(now, program);
    await now.close();
    return errors;
  };
  /** In the journal, without the word for a set's key. */
  const journal = (stack?: string) =>
    journalLines(folder, stack).map((each) => each.replace('["k"]', ""));
  return { sandbox, folder, fixture, run, journal };
}

describe.each(RESOURCE_FORMS)("%s", (shape) => {
  describe("the guard: an open create of the same platform name and advertiser", () => {
    it.each<[string, boolean, RegExp]>([
      [
        "of unknown outcome",
        true,
        /sent .*"old".* its outcome is unknown.*pending --created 'old.* --stack \S+dev\n.*pending --not-created 'old.* --stack \S+dev\n/s,
      ],
      ["that was answered", false, /created .*"old".* as 2.*existingId: 2/s],
    ])(
      "one %s: the preview stops as the up does, and nothing new is sent in that run",
      async (_, isLost, words) => {
        const { sandbox, fixture, run, journal } = await start(shape);
        if (isLost) sandbox.fail(LOST);
        await fixture("old").kill();
        const fresh = fixture("fresh");
        const other = fixture("other");
        const preview = await fresh.preview();
        expect(preview).toMatch(words);
        expect(/doesn't declare "old.*pending --help/.test(preview)).toBe(!isLost);
        const errors = await run(fresh.is(), other.is({ eventName: "Other" }));
        expect(errors[0]).toContain(REFUSED);
        expect(errors[0]).toMatch(words);
        // Nothing is to be forgotten that the program may still declare, for example after an `await`.
        for (const each of [preview, errors[0]]) {
          expect(each).toMatch(/pulumi up --target '\S+::old'/);
          expect(each).not.toContain("--forget");
        }
        expect(errors[1]).toMatch(/isn't created: .*"fresh" may exist already/);
        expect([fresh.engine.state, other.engine.state]).toEqual([undefined, undefined]);
        // Undone, it goes on; and then the new ones too.
        if (!isLost)
          expect(await run(fixture("old").is(), fresh.is())).toEqual([
            undefined,
            undefined,
          ]);
        expect(sandbox.eventPosts).toBe(isLost ? 1 : 2);
        expect(journal()).toEqual(isLost ? ["old sent"] : []);
      },
    );

    it.each<[string, Values]>([
      ["another name", { eventName: "Other" }],
      ["another advertiser", { advertiserId: 2 }],
    ])("stops nothing of %s, and stays listed", async (_, event) => {
      const { sandbox, fixture, run, journal } = await start(shape);
      sandbox.fail(LOST);
      await fixture("old").kill();
      if ("advertiserId" in event) sandbox.fail({ on: "event", with: answeredWith(9) }); // there is no advertiser 2
      expect(await run(fixture("fresh").is(event))).toEqual([undefined]);
      expect([journal(), sandbox.eventPosts]).toEqual([["old sent"], 2]);
    });

    it("an advertiser that is not known yet makes it a warning in a preview", async () => {
      const { sandbox, fixture } = await start(shape);
      await fixture("old").kill();
      const preview = await fixture("fresh").preview({ advertiserId: UNKNOWN });
      expect(preview).toMatch(/"fresh" may exist already.* created .*"old".* as 2/);
      expect(sandbox.eventPosts).toBe(1);
    });

    it("what is declared looks after itself: take-overs go on, and so do namesakes", async () => {
      const { sandbox, fixture, run } = await start(shape);
      const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => fixture(name)) as [
        SingleObjectFixture,
        SingleObjectFixture,
        SingleObjectFixture,
        SingleObjectFixture,
      ];
      await killed(a.engine.newRun(), [a.is(), b.is()]);
      expect(await run(a.is(), c.is())).toEqual([
        undefined,
        expect.stringContaining(REFUSED),
      ]);
      expect([a.id, sandbox.eventPosts]).toEqual(["2", 2]);
      sandbox.fail(LOST);
      // Asked about in any order: what the program declares is known before.
      const errors = await run(d.is(), b.is(), c.is());
      expect(errors).toEqual([expect.stringMatching(/outcome/i), undefined, undefined]);
      expect([b.id, c.id, d.unresolved?.name, sandbox.eventPosts]).toEqual([
        "3",
        "5",
        "E",
        4,
      ]);
    });

    it("an alias, or existingId, says that it is the same object", async () => {
      const { sandbox, fixture, run, journal } = await start(shape);
      await fixture("old").kill();
      const renamed = fixture("renamed");
      renamed.engine.declares = { formerKeys: [fixture("old").engine.ref.key] };
      expect(await renamed.preview()).toContain("takes it over");
      expect(await run(renamed.is())).toEqual([undefined]);
      expect([renamed.id, journal(), sandbox.eventPosts]).toEqual(["2", [], 1]);

      await fixture("other").kill({ eventName: "Other" });
      const adopter = fixture("adopter");
      expect(
        await run(adopter.is({ eventName: "Other", existingId: 3 }), renamed.is()),
      ).toEqual([undefined, undefined]);
      expect([adopter.id, sandbox.eventPosts]).toEqual(["3", 2]);
      expect((await run(adopter.is({ eventName: "Other" }), renamed.is())).join("")).toBe(
        "",
      );
      expect(journal()).toEqual([]);
    });

    it("a colleague resolves a create and renames it: here, it is open no longer", async () => {
      const { sandbox, fixture, run, journal } = await start(shape);
      const old = fixture("old");
      sandbox.fail(LOST);
      await old.up();
      const there = new SingleObjectFixture(shape, sandbox, newFolder(), "old");
      expect(
        (await there.engine.refresh(answering(old.unresolved?.mark, "2"))).error,
      ).toBeUndefined();
      const [renamed, fresh] = [fixture("renamed"), fixture("fresh")];
      renamed.engine.declares = { formerKeys: [old.engine.ref.key] };
      expect(await run(renamed.is(), fresh.is())).toEqual([undefined, undefined]);
      expect([renamed.id, fresh.id, journal(), sandbox.eventPosts]).toEqual([
        "2",
        "3",
        [],
        2,
      ]);
    });
  });

  it("an interrupted run of another account stops with both accounts named; formerAccount says that they are one", async () => {
    const { sandbox, folder, fixture } = await start(shape);
    await fixture("e").kill();
    const there = await operatedSandbox({ objects: sandbox.snapshot() });
    const e = fixture("e", there);
    const [former = "", now] = [sandbox, there].map(
      ({ url, email }) => `${new URL(url).host} ${email}`,
    );
    const cookieFile = join(folder, "other.json");
    const { error } = await e.up({}, { cookieFile });
    expect(error).toContain(`the account ${former}, but this run's settings name ${now}.`);
    expect(error).toContain("ADVERTISING_ACCOUNT_MISMATCH");
    expect(
      (await e.up({}, { cookieFile, settings: { formerAccount: former } })).error,
    ).toBeUndefined();
    expect([e.id, sandbox.eventPosts, there.eventPosts]).toEqual(["2", 1, 0]);
  });

  it.each([true, false])(
    "another stack of the project is stopped by nothing, neither a clean run's nor a killed one's (checkpoints: %s)",
    async (hasCheckpoints) => {
      const { sandbox, fixture } = await start(shape);
      const environment: Record<string, string> = hasCheckpoints
        ? {}
        : { PULUMI_SKIP_CHECKPOINTS: "true" };
      for (const [index, stack] of ["tiny/dev", "tiny/prod", "tiny/pr-7"].entries()) {
        const e = fixture("e");
        e.engine.stack = stack;
        if (stack === "tiny/prod") await e.kill({}, { environment });
        else expect((await e.up({}, { environment })).error).toBeUndefined();
        expect(sandbox.eventPosts).toBe(index + 1);
      }
    },
  );

  it("with checkpoints off, what ended cleanly and perhaps was not saved is not made again under another name", async () => {
    const { sandbox, fixture } = await start(shape);
    const environment = { PULUMI_SKIP_CHECKPOINTS: "true" };
    const { saved } = fixture("old").engine;
    saved.isStuck = true; // Pulumi is killed before it saves
    await fixture("old").up({}, { environment });
    saved.isStuck = false;
    expect((await fixture("new").up({}, { environment })).error).toContain(REFUSED);
    const old = fixture("old");
    expect((await old.up({}, { environment })).error).toBeUndefined();
    expect([old.id, sandbox.eventPosts]).toEqual(["2", 1]);
  });

  describe("C7: a create that is answered with the id", () => {
    it.each([true, false])(
      "of another resource (of an earlier run: %s): unresolved, the other one keeps it",
      async (isEarlier) => {
        const { sandbox, fixture, run } = await start(shape);
        const [p, q] = [fixture("p"), fixture("q")];
        if (isEarlier) await p.up();
        sandbox.fail({ on: "event", after: isEarlier ? 0 : 1, with: answeredWith(2) });
        for (const time of [1, 2]) {
          const errors = await run(p.is(), q.is({ eventName: "Q" }));
          expect(errors[0], String(time)).toBeUndefined();
          expect(errors[1]).toContain(`2, which already belongs to ${p.label}.`);
          expect([p.id, q.id, q.unresolved?.name, sandbox.eventPosts]).toEqual([
            "2",
            undefined,
            "Q",
            2,
          ]);
        }
      },
    );

    it("of what was replaced and only awaits its removal: unresolved", async () => {
      const { sandbox, fixture } = await start(shape);
      const { engine } = fixture("p");
      await fixture("p").up();
      const { saved, urn, state } = engine;
      if (state) saved.set(`${urn}#old`, { ...state, isOld: true, resourceUrn: urn });
      saved.set(urn, undefined);
      sandbox.fail({ on: "event", with: answeredWith(2) });
      const q = fixture("q");
      expect((await q.up({ eventName: "Q" })).error).toMatch(
        /names 2, which already belongs to .*"p"/,
      );
      expect([q.id, q.unresolved?.name, sandbox.eventPosts]).toEqual([undefined, "Q", 2]);
    });

    it("of what it had before: unresolved, and its replacement leaves nothing behind unsaid", async () => {
      const { sandbox, fixture } = await start(shape);
      const e = fixture("e");
      await e.up();
      sandbox.fail({ on: "event", with: answeredWith(2) });
      expect((await e.up({ value: 2 })).error).toContain(
        "2, which this resource had before",
      );
      expect([e.unresolved?.replaces, sandbox.eventPosts]).toEqual(["2", 2]);
    });
  });

  it.each(["up", "destroy"])(
    "through the plugin, an unresolved create stays in the state in an `%s` without it, until it is resolved",
    async (command) => {
      const { sandbox, fixture } = await start(shape);
      const [e, other] = [fixture("e"), fixture("other")];
      for (const each of [e, other]) each.engine.plugin = "default";
      sandbox.fail(LOST);
      expect((await e.up()).error).toMatch(/Look in the account for/);
      const leave = async () => {
        if (command === "destroy") return e.engine.destroy();
        const program = [other.is({ eventName: "O" }), e.gone()];
        const next = other.engine.newRun();
        const errors = await runProgram(next, program);
        await next.close();
        return errors.at(-1);
      };
      for (let time = 0; time < 2; time++)
        expect(await leave()).toMatch(
          /outcome of 1 create is unknown.*Pulumi would forget what/s,
        );
      const { mark } = e.unresolved ?? expect.fail();
      await e.engine.refresh(answering(mark, "2"));
      expect([e.id, await leave()]).toEqual(["2", undefined]);
      expect(e.engine.state).toBeUndefined();
      expect(sandbox.eventPosts).toBe(command === "up" ? 2 : 1);
    },
  );

  it("existingId under another name resolves nothing", async () => {
    const { sandbox, fixture, run, journal } = await start(shape);
    sandbox.fail(LOST);
    await fixture("old").kill();
    const [adopter, fresh] = [fixture("adopter"), fixture("fresh")];
    const errors = await run(adopter.is({ existingId: 2 }), fresh.is({ value: 2 }));
    expect(errors).toEqual([undefined, expect.stringContaining(REFUSED)]);
    expect([adopter.id, journal(), sandbox.eventPosts]).toEqual(["2", ["old sent"], 1]);
  });

  it.each([true, false])(
    "existingId resolves its own create unless something contradicts that (in the state: %s)",
    async (isSaved) => {
      const { sandbox, fixture, journal } = await start(shape);
      const e = fixture("e");
      sandbox.fail(LOST);
      if (isSaved) expect((await e.up()).error).toMatch(/Look in the account for/);
      else await e.kill();
      const { error } = await e.up({ eventName: "Other", existingId: 900 });
      expect(error).toMatch(/existingId: 900 can't be .* was sent with eventName "E"/);
      expect([e.id, e.unresolved?.name]).toEqual([undefined, "E"]);
      expect((await e.up({ existingId: 2 })).error).toBeUndefined();
      expect([e.id, journal(), sandbox.eventPosts]).toEqual(["2", [], 1]);
    },
  );

  const UPDATES = { settings: operatedSettings({ update: eventOperations.update }) };
  it.each<
    [string, RunOptions | undefined, Values, { updates: number; eventPosts: number }]
  >([
    ["replaced", undefined, { value: 2 }, { updates: 0, eventPosts: 2 }],
    ["updated, if that is known", UPDATES, { value: 2 }, { updates: 1, eventPosts: 1 }],
    [
      "replaced, if it is another advertiser's",
      UPDATES,
      { advertiserId: 7 },
      { updates: 0, eventPosts: 2 },
    ],
    [
      "kept, if the program has what was sent again",
      UPDATES,
      {},
      { updates: 0, eventPosts: 1 },
    ],
  ])(
    "what was made with other arguments than the program has now is saved as it was sent, and %s by the next up",
    async (_, options, then, sent) => {
      const { sandbox, fixture } = await start(shape);
      const e = fixture("e");
      await e.kill({}, options);
      expect(await previewError(e, { value: 9 }, options)).toMatch(AS_SENT);
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
      const { sandbox, folder, fixture } = await start(shape);
      const e = fixture("e");
      const [{ key } = { key: "" }] = e.engine.namesOf(e.of({}));
      const line = {
        key,
        state: "created",
        id: "5",
        at: "",
        mark: "m",
        body: "",
        name: isOther ? "Other" : "E",
      } as const;
      const place = { stack: "tiny/dev", backend: "file:///states" };
      const options = { folder: journalsOf(folder) };
      await writeAnswers({ place, run: "an earlier one" }, [line], options);
      const { error } = await e.up();
      expect([e.id, sandbox.eventPosts]).toEqual(["5", 0]);
      if (isOther) expect(error).toMatch(AS_SENT);
      else expect(error).toBeUndefined();
      expect([(await e.up()).error, sandbox.eventPosts]).toEqual([
        undefined,
        isOther ? 1 : 0,
      ]);
    },
  );

  it("where a policy may still change the arguments, a preview says perhaps, and doesn't fail", async () => {
    const { sandbox, fixture } = await start(shape);
    const e = fixture("e");
    await e.kill();
    const options: RunOptions = { command: { hasPolicies: true } };
    expect(await previewError(e, { value: 9 }, options)).toBeUndefined();
    const preview = await e.preview({ value: 9 }, options);
    expect(preview).toMatch(/takes it over, and fails if its arguments turn out to differ/);
    expect(preview).not.toMatch(/undo/);
    expect(await previewError(e, { value: 9 })).toMatch(AS_SENT);
    expect((await e.up({}, options)).error).toBeUndefined();
    expect([e.id, sandbox.eventPosts]).toEqual(["2", 1]);
  });

  it("what is unknown in the journal or in the state stops the preview as it stops the up", async () => {
    const { sandbox, fixture } = await start(shape);
    const e = fixture("e");
    sandbox.fail(LOST);
    await e.kill();
    const ASKS =
      /Look in the account for.*named "E".*pending --created 'e.*pending --not-created 'e/s;
    for (const _ of ["the journal", "the state"]) {
      expect(await previewError(e)).toMatch(ASKS);
      expect((await e.up()).error).toMatch(ASKS);
      expect(e.unresolved?.name).toBe("E");
    }
    expect(sandbox.eventPosts).toBe(1);
  });

  it("C6: an engine that asks for a failed create again, as its error hooks do, gets the same answer: one POST", async () => {
    const { sandbox, fixture } = await start(shape);
    const [made, e] = [fixture("created"), fixture("e")];
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
      await run.close();
    }
    expect(sandbox.eventPosts).toBe(2);
  });

  it("answers of a person reach the state through a refresh; without one it stays as it is", async () => {
    const { sandbox, fixture } = await start(shape);
    const [e, other] = [fixture("e"), fixture("other")];
    sandbox.fail({ ...LOST, times: 2 });
    await e.up();
    expect((await e.engine.refresh()).error).toBeUndefined();
    expect(e.unresolved?.name).toBe("E");
    expect(
      (await e.engine.refresh(answering(e.unresolved?.mark, "2"))).error,
    ).toBeUndefined();
    expect([e.id, e.unresolved, (await e.up()).error]).toEqual(["2", undefined, undefined]);
    await other.up();
    await other.engine.refresh(answering(other.unresolved?.mark, ""));
    expect([other.id, other.unresolved, sandbox.eventPosts]).toEqual([
      undefined,
      undefined,
      2,
    ]);
  });

  it("with a known read, an answer is compared with what was sent, and is no day old", async () => {
    const { sandbox, fixture } = await start(shape);
    const [e, other] = [fixture("e"), fixture("other")];
    const options = { settings: operatedSettings({ read: eventOperations.read }) };
    await other.up({ eventName: "Other" }, options);
    sandbox.fail(LOST);
    await e.up({}, options);
    const answered = (id: string) =>
      e.engine.refresh({ ...options, ...answering(e.unresolved?.mark, id) });
    expect((await answered("2")).error).toMatch(
      /object 2 has another eventName than was sent\. Nothing was resolved\..*existingId: 2/,
    );
    expect([e.id, sandbox.eventPosts]).toEqual([undefined, 2]);
    expect((await answered("3")).error).toBeUndefined();
    expect(e.id).toBe("3");
    const created = Date.parse(String(e.engine.state?.outputs.__created));
    expect(created).toBeLessThan(Date.now() + 3_600_000);
    // One that isn't found may be new.
    sandbox.fail({ ...LOST, times: 1 });
    const late = fixture("late");
    await late.up({ eventName: "Late" }, options);
    sandbox.fail({ on: "any", with: { kind: "answer", status: 404, body: {} }, times: 9 });
    const refreshed = late.engine.refresh({
      ...options,
      ...answering(late.unresolved?.mark, "4"),
    });
    expect([(await refreshed).error, late.id]).toEqual([undefined, "4"]);
  });

  it("an answer for a replacement leaves the former object on the list of what is live", async () => {
    const { sandbox, fixture } = await start(shape);
    const e = fixture("e");
    await e.up();
    sandbox.fail(LOST);
    await e.up({ value: 2 });
    await e.engine.refresh(answering(e.unresolved?.mark, "3"));
    expect([e.id, e.left, sandbox.eventPosts]).toMatchObject(["3", [{ id: "2" }], 2]);
  });
});

it.each([true, false])(
  "an answer for a set's replacement that deletes: the next run deletes the former object (delete is known then: %s)",
  async (isKnown) => {
    const { sandbox, fixture } = await start("a set's event");
    const e = fixture("e");
    const { delete: deletes } = eventOperations;
    const options = { settings: operatedSettings({ delete: deletes }) };
    e.engine.declares = { deletes: true };
    await e.up({}, options);
    sandbox.fail(LOST);
    await e.up({ value: 2 }, options);
    await e.engine.refresh({ ...options, ...answering(e.unresolved?.mark, "3") });
    expect([e.id, e.left]).toEqual(["3", []]);
    const next = isKnown ? options : undefined;
    const told = await e.preview({ value: 2 }, next);
    expect(told).toMatch(isKnown ? /deletes each old object \(2\)/ : /\(2\) stays live/);
    expect((await e.up({ value: 2 }, next)).error).toBeUndefined();
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: isKnown ? 1 : 0 });
    expect(await e.preview({ value: 2 }, next)).toBe("");
  },
);

it("a key that is renamed in a set after a kill is not made again, and nothing else of the set is sent", async () => {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const engine = new SetEngine(sandbox, folder);
  const of = (names: Record<string, string>) => ({
    advertiserId: 1,
    events: Object.fromEntries(
      Object.entries(names).map(([key, eventName]) => [key, { eventName, value: 1 }]),
    ),
  });
  await engine.up(of({ a: "A" }));
  await engine.upAndKill(of({ a: "A", b: "B" }));
  const renamed = of({ a: "A", c: "B", d: "D" });
  expect(await engine.preview(renamed)).toMatch(
    /1 object isn't created.*\n {2}events\["c"\] of .*events\["b"\].* as 3/,
  );
  const { error, run } = await engine.up(renamed);
  expect(error).toContain(REFUSED);
  expect(error).toMatch(
    /events\["c"\] of .*"funnel": an earlier run created events\["b"\].* as 3/,
  );
  expect(error).toMatch(/d: isn't created: events\["c"\] of .*"funnel" may exist already/);
  expect(wordsOf(run)).not.toContain("stays live");
  expect([engine.eventIds, sandbox.eventPosts]).toEqual([{ a: 2 }, 2]);
  // Whoever changes both the key and the name declares something else.
  expect((await engine.up(of({ a: "A", d: "D" }))).error).toBeUndefined();
  expect((await engine.up(of({ a: "A", b: "B", d: "D" }))).error).toBeUndefined();
  expect([engine.eventIds, sandbox.eventPosts]).toEqual([{ a: 2, b: 3, d: 4 }, 3]);
});

it("an event that the set's state has as unresolved, and that is declared under another key, is not made again", async () => {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const engine = new SetEngine(sandbox, folder);
  const of = (key: string, more: Values = {}) => ({
    advertiserId: 1,
    events: { [key]: { eventName: "E", value: 1 }, ...more },
  });
  sandbox.fail(LOST);
  await engine.up(of("old"));
  const elsewhere = new SetEngine(sandbox, newFolder()); // a machine without the journal
  const other = { other: { eventName: "Other", value: 1 } };
  expect(await elsewhere.preview(of("new"))).toContain(REFUSED);
  expect((await elsewhere.up(of("new"))).error).toContain(REFUSED);
  expect((await elsewhere.up(of("old", other))).error).toMatch(/Look in the account/);
  expect([elsewhere.eventIds, sandbox.eventPosts]).toEqual([{ other: 3 }, 2]);
});

it("a set that is renamed after a kill: an alias of the set is the cure", async () => {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const declared = { advertiserId: 1, events: { a: { eventName: "A", value: 1 } } };
  const former = new SetEngine(sandbox, folder);
  await former.upAndKill(declared);
  const renamed = new SetEngine(sandbox, folder, "renamed");
  const name = former.ref.name;
  expect((await renamed.up(declared)).error).toContain(
    `add the alias { name: "${name}" } to the set, or set existingId: 2`,
  );
  renamed.declares = { formerKeys: [former.ref.key] };
  expect((await renamed.up(declared)).error).toBeUndefined();
  expect([renamed.eventIds, sandbox.eventPosts]).toEqual([{ a: 2 }, 1]);
});

it("an alias of what is unresolved: the commands name it as the state does, on a machine without the journal too", async () => {
  const sandbox = await operatedSandbox();
  const old = new SingleObjectFixture("a single event", sandbox, newFolder(), "old");
  sandbox.fail(LOST);
  await old.up();
  const renamed = new SingleObjectFixture(
    "a single event",
    sandbox,
    newFolder(),
    "renamed",
  );
  renamed.engine.declares = { formerKeys: [old.engine.ref.key] };
  expect(await renamed.preview()).toMatch(
    /pending --created 'old=.*pending --not-created 'old'/s,
  );
  expect(sandbox.eventPosts).toBe(1);
});

describe("a create that an error names isn't named again at the end of the run", () => {
  /** The set `t` was killed in its creation, on this machine or another one. */
  const killedSet = async (isHere: boolean) => {
    const [sandbox, folder] = [await operatedSandbox(), newFolder()];
    const engine = new SetEngine(sandbox, isHere ? folder : newFolder(), "t");
    sandbox.fail({ ...LOST, times: isHere ? 0 : 9 });
    await engine.upAndKill(setOf("k", "l"));
    sandbox.endFaults();
    return { sandbox, folder, t: new SetEngine(sandbox, folder, "t") };
  };
  const setOf = (...keys: string[]) => {
    const events = keys.map((key) => [key, { eventName: key, value: 1 }]);
    return { advertiserId: 1, events: Object.fromEntries(events) };
  };
  const ended = async (
    engine: SetEngine,
    program: Parameters<typeof runProgram>[1],
    isUp: boolean,
    options?: RunOptions,
  ) => {
    const run = engine.newRun(options);
    const errors = await runProgram(run, program, isUp);
    await run.close();
    return { errors: errors.join("\n"), words: wordsOf(run) };
  };

  it.each([false, true])("of a removed key (up: %s)", async (isUp) => {
    const { t } = await killedSet(false);
    const { errors, words } = await ended(t, [[t, setOf("l")]], isUp);
    expect(errors).toMatch(/The outcome of 2 creates is unknown.* {2}t\/k: .* {2}t\/l: /s);
    expect(words).toBe("");
  });

  it.each([false, true])(
    "of a removed key, whose id only a doubtful journal has (up: %s)",
    async (isUp) => {
      const { sandbox, t } = await killedSet(true);
      t.backend = t.saved.copy();
      t.backend.operations = [];
      const other = t.beside(SetEngine, "other");
      await other.up(setOf("m"));
      const { errors, words } = await ended(
        t,
        [
          [t, setOf("l")],
          [other, setOf("m")],
        ],
        isUp,
      );
      expect(errors).toMatch(/is unknown.* {2}t\/k: .* {2}t\/l: /s);
      expect([words, sandbox.eventPosts]).toEqual(["", 3]);
    },
  );

  it.each([false, true])("of an object with the new one's name (up: %s)", async (isUp) => {
    const { t } = await killedSet(true);
    const fresh = t.beside(SetEngine, "fresh");
    const { errors, words } = await ended(fresh, [[fresh, setOf("k")]], isUp);
    expect(errors).toMatch(/1 object isn't created.* created .*"k".* as \d+/s);
    expect(words).toMatch(/An earlier run also sent 1 create: t\/l \(\d+\)\./);
  });
});
