/** Which creates are pending, and what answers about them are worth: facts in, a list or verdicts out. */
import { describe, expect, it } from "vitest";
import { lineOf, managerOf, readAnswers } from "../../provider/src/cli/pending-answers.js";
import { stackCreatesIn } from "../../provider/src/cli/stack-creates.js";
import type { JournalEntry } from "../../provider/src/journal/journal-entry.js";
import { type Resource, readExport } from "../../provider/src/record/export.js";
import { savedStateOf } from "../../provider/src/record/saved-state.js";
import { markOf } from "../../provider/src/state/index.js";
import {
  encrypted,
  senderOf,
  sentInputs,
  sentSetInputs,
  storedAdvertiser,
  storedEvent,
  storedSet,
  urnOf,
} from "../support/stored.js";

const [RUN, OTHER] = ["run-1", "run-2"];
const AT = "2026-03-02T09:59:59Z";
const STACK = "acme/shop/dev";
const E = (name: string) => urnOf("ConversionEvent", name);
const SET = urnOf("ConversionEventSet", "funnel");
const FUNNEL_KEY = "ConversionEventSet::funnel";

const unresolved = (mark: string, more: object = {}) => ({
  unresolved: {
    ...{ at: AT, mark, body: "b", what: "The connection ended." },
    ...{ name: "Signup", args: { value: 5 }, ...more },
  },
});
const noted = (
  key: string,
  state: JournalEntry["state"],
  more: Partial<JournalEntry> = {},
): JournalEntry => ({
  ...{ key, run: RUN, state, at: AT, mark: markOf(RUN, key), body: "b", name: "Signup" },
  ...more,
});
const creating = (name: string, inputs: object = {}) => ({
  type: "creating",
  resource: {
    ...storedEvent(name, ""),
    inputs: sentInputs(name, RUN, inputs),
  },
});
const entry = (eventName: string) => ({ eventName, value: 1 });
const events = { a: entry("A"), b: entry("B") };
const updating = (given: object) => ({
  type: "updating",
  resource: {
    ...storedSet("funnel", {}),
    inputs: sentSetInputs(given, RUN),
  },
});
const FUNNEL = storedSet("funnel", { events, eventIds: { a: 20 } });

/** A journal's run, its entries, and the time of the state that it began with. */
type Journal = [run: string, entries: JournalEntry[], from?: string];

function facts(
  resources: readonly Resource[],
  pending_operations: object[] = [],
  ...journals: Journal[]
) {
  const manifest = { time: "2026-03-02T10:00:00Z" };
  const deployment = { manifest, resources, pending_operations };
  const saved = savedStateOf(readExport(JSON.stringify({ version: 3, deployment })));
  const runs = journals.map(([run, entries, from = ""]) => ({
    ...{ path: run, run, stack: "shop/dev", from },
    entries: new Map(entries.map((each) => [each.mark, each])),
  }));
  return stackCreatesIn(saved, runs, STACK);
}

const BUY = "ConversionEvent::buy";
const THERE = storedEvent(
  "there",
  1,
  {},
  { inputs: { __sender: senderOf("", { run: RUN }) } },
);

describe("what is pending", () => {
  const OPEN = storedEvent("buy", "unresolved-m", unresolved("m"));
  const sent = noted(BUY, "sent");
  const made = noted(BUY, "created", { id: "9" });
  const stored = { e10: unresolved("m").unresolved, e2: unresolved("n").unresolved };

  it.each<[string, string[], Parameters<typeof facts>]>([
    ["nothing", [], [[storedEvent("ok", 1)]]],
    ["a single one in the state", ["buy (state)"], [[OPEN]]],
    ["what only waits for its removal is not", [], [[{ ...OPEN, delete: true }]]],
    [
      "members, in natural order",
      ["f/e2 (state)", "f/e10 (state)"],
      [[storedSet("f", { events, unresolved: stored })]],
    ],
    ["one that only Pulumi's record has", ["buy (record)"], [[], [creating("buy")]]],
    [
      "one that the journal has too",
      ["buy (record)"],
      [[], [creating("buy")], [RUN, [sent]]],
    ],
    ["one that only the journal has", ["buy (journal)"], [[THERE], [], [RUN, [sent]]]],
    ["one that the journal knows better", [], [[], [creating("buy")], [RUN, [made]]]],
    ["one that was never sent", [], [[], [creating("buy")], [RUN, []]]],
    [
      "one whose id a journal has that may be another state's",
      ["buy (journal)"],
      [[storedEvent("there", 1)], [], [RUN, [made]]],
    ],
    [
      "one that a state has as unresolved, and the record too, once",
      ["buy (state)"],
      [
        [storedEvent("buy", "unresolved-m", unresolved(markOf(RUN, BUY)))],
        [creating("buy")],
        [RUN, [sent]],
      ],
    ],
    [
      "creates of two runs of one resource",
      ["buy (record)", "buy (record)"],
      [[], [creating("buy"), creating("buy", { __sender: senderOf("", { run: OTHER }) })]],
    ],
    [
      "none of a resource for which an object is known: the next `up` takes that one over",
      [],
      [
        [
          storedEvent("there", 1, {
            __resolved: { [markOf(RUN, BUY)]: "ConversionEvent 9" },
          }),
        ],
        [creating("buy"), creating("buy", { __sender: senderOf("", { run: OTHER }) })],
      ],
    ],
    [
      "the members of an update: new, and changed",
      ["funnel/a (record)", "funnel/c (record)"],
      [[FUNNEL], [updating({ a: { ...entry("A"), value: 2 }, c: entry("C") })]],
    ],
  ])("%s", (_, expected, given) => {
    const { open } = facts(...given);
    expect(open.map(({ ref, knownBy }) => `${ref.shownName} (${knownBy})`)).toEqual(
      expected,
    );
  });

  it("lists what the next `up` takes over, unless the state has that object already", () => {
    const journal: Journal = [
      RUN,
      [made, noted(`${FUNNEL_KEY}["a"]`, "created", { id: "5", account: "a x@y" })],
    ];
    const madeIn = (...resources: Resource[]) =>
      facts([THERE, ...resources], [], journal).created.map(
        ({ ref, record: { id } }) => `${ref.shownName} ${id}`,
      );
    expect(madeIn()).toEqual(["buy 9", "funnel/a 5"]);
    expect(madeIn(storedEvent("renamed", 9), storedAdvertiser("a", 5))).toEqual([
      "funnel/a 5",
    ]);
    // An id of another account is another object.
    const of = (account: string) => ({ inputs: { __sender: senderOf("", { account }) } });
    expect(madeIn(storedEvent("y", 5, {}, of("b x@y")))).toHaveLength(2);
    expect(madeIn(storedEvent("y", 5, {}, of("a x@y")))).toEqual(["buy 9"]);
  });

  it("names a create by the record's URN, or else by the journal's key", () => {
    const { open } = facts(
      [THERE],
      [creating("sale")],
      [RUN, [sent, noted("ConversionEvent::sale", "sent")]],
    );
    expect(open.map(({ ref }) => ref.urn)).toEqual([E("buy"), E("sale")]);
  });

  it("knows which ids can't be a create's: those that its resource has, had, and was to replace", () => {
    const left = [
      { id: "6", at: AT, key: "a" },
      { id: "7", at: AT, key: "b" },
    ];
    const set = storedSet("funnel", { events, eventIds: { a: 20 }, __left: left });
    const replacing = creating("buy", { value: 2 });
    const { open } = facts(
      [set, storedEvent("buy", 3, { __left: [{ id: "2", at: AT }] })],
      [updating({ a: { ...entry("A"), value: 2 } }), replacing],
    );
    expect(open.map(({ ref, formerIds }) => [ref.shownName, new Set(formerIds)])).toEqual([
      ["buy", new Set(["3", "2"])],
      ["funnel/a", new Set(["20", "6"])],
    ]);
  });

  it("has nothing secret", () => {
    const { open } = facts([], [creating("shh", { value: encrypted })]);
    expect(open).toMatchObject([{ record: { body: "", name: "shh" } }]);
    expect(JSON.stringify(open)).not.toContain("ciphertext");
  });
});

describe("answers", () => {
  const known = facts(
    [
      THERE,
      storedEvent("buy", "unresolved-m", unresolved("m", { replaces: "3" })),
      storedEvent("twin", "unresolved-t", unresolved("t")),
      storedAdvertiser("twin", "unresolved-u", "Twin", { outputs: unresolved("u") }),
      storedSet("funnel", {
        events,
        eventIds: { a: 20 },
        unresolved: { a: unresolved("x").unresolved, b: unresolved("y").unresolved },
        __left: [{ id: "21", at: AT, key: "a" }],
      }),
      storedEvent("other", 8, { __left: [{ id: "7", at: AT }] }),
    ],
    [],
    [
      RUN,
      [
        noted("ConversionEvent::sent", "sent"),
        noted("ConversionEvent::made", "created", { id: "9" }),
      ],
    ],
  );
  type Typed = Partial<Parameters<typeof readAnswers>[0]>;
  const read = (answers: Typed, all = known) =>
    readAnswers({ created: [], "not-created": [], forget: [], ...answers }, all);
  const verdicts = (answers: Typed) =>
    read(answers).answers.map(({ create, id }) => `${create.ref.shownName} ${id}`);

  it.each<[Typed, string[]]>([
    [{ created: ["buy=4711"] }, ["buy 4711"]],
    [{ created: [`${E("buy")}=4711`] }, ["buy 4711"]],
    [
      { created: ['funnel["a"]=4711'], "not-created": ["funnel/b"] },
      ["funnel/a 4711", "funnel/b "],
    ],
    [{ created: [`${SET}["b"]=4711`] }, ["funnel/b 4711"]],
    [{ "not-created": ["funnel"] }, ["funnel/a ", "funnel/b "]],
    [{ "not-created": [SET, "sent"] }, ["funnel/a ", "funnel/b ", "sent "]],
    [{ created: ["sent=7"] }, ["sent 7"]],
    [
      { created: [`${E("twin")}=4711`, `${urnOf("Advertiser", "twin")}=4711`] },
      ["twin 4711", "twin 4711"],
    ],
  ])("%j", (answers, expected) => {
    expect(verdicts(answers)).toEqual(expected);
  });

  it.each<[Typed, string]>([
    [
      { "not-created": ["twin"] },
      `"twin" is ambiguous; give the URN: ${urnOf("Advertiser", "twin")} and ${E("twin")}`,
    ],
    [{ created: ["buy=1x"] }, '--created takes X=ID, where ID is 1 or more; got "buy=1x"'],
    [{ created: ["buy=0"] }, '--created takes X=ID, where ID is 1 or more; got "buy=0"'],
    [{ created: ["buy"] }, '--created takes X=ID, where ID is 1 or more; got "buy"'],
    [
      { created: ["funnel=4711"] },
      `"funnel" is ambiguous; give the URN: ${SET}["a"] and ${SET}["b"]`,
    ],
    [{ created: ["buy=4711"], "not-created": ["buy"] }, '"buy" has two answers'],
    [
      { created: ["buy=4711", "sent=4711"] },
      '4711 can\'t be the id of "sent": "buy" has or had it',
    ],
    [
      { created: ["buy=9"] },
      '9 can\'t be the id of "buy": "made" has or had it. If that was a wrong answer, first run `npx pulumi-advertising pending --forget ',
    ],
    [{ created: ["buy=3"] }, '3 can\'t be the id of "buy": "buy" has or had it'],
    [
      { created: ["funnel/a=20"] },
      '20 can\'t be the id of "funnel/a": "funnel/a" has or had it',
    ],
    [
      { created: ["funnel/b=21"] },
      '21 can\'t be the id of "funnel/b": "funnel/a" has or had it',
    ],
    [{ created: ["buy=8"] }, '8 can\'t be the id of "buy": "other" has or had it'],
    [{ forget: ["sent"], created: ["sent=4711"] }, '"sent" has two answers'],
  ])("%j is refused, and nothing is resolved", (answers, fault) => {
    const all = () => read({ ...answers, created: [...(answers.created ?? []), "nobody"] });
    expect(all).toThrow(/^nothing was resolved:\n/);
    expect(all).toThrow(fault);
    expect(all).toThrow('--created takes X=ID, where ID is 1 or more; got "nobody"');
  });

  it("an id of two providers' accounts is two objects; a provider's account may have moved", () => {
    const of = (key: string, account: string) =>
      noted(`ConversionEvent::${key}`, "sent", { mark: key, account });
    const held = storedEvent("held", 5, undefined, {
      inputs: { __sender: senderOf("", { account: "former x@y" }) },
    });
    const sentTo = [of("one", "a x@y"), of("two", "b x@y")];
    const all = facts([THERE, held], [], [RUN, sentTo]);
    const open = all.open.map((create) => {
      const provider = create.ref.shownName === "two" ? "second" : undefined;
      return { ...create, record: { ...create.record, provider } };
    });
    const idsOf = (...created: string[]) =>
      read({ created }, { ...all, open }).answers.map(({ id }) => id);
    expect(idsOf("one=4", "two=4")).toEqual(["4", "4"]);
    expect(idsOf("two=5")).toEqual(["5"]);
    expect(() => idsOf("one=5")).toThrow("5 can't be the id of");
  });

  describe("an id that another resource manages", () => {
    const sentTo = (advertiserId: number, name = "Signup") =>
      storedEvent("buy", "unresolved-m", unresolved("m", { name, args: { advertiserId } }));
    const manager = storedEvent("renamed", 8, { eventName: "Signup", advertiserId: 7 });
    const answer = (resource: Resource) =>
      read({ created: ["buy=8"] }, facts([resource, manager]));

    it("is the answer where kind, advertiser and name are the create's, and names the manager", () => {
      const { answers } = answer(sentTo(7));
      expect(answers).toMatchObject([{ id: "8", create: { ref: { shownName: "buy" } } }]);
      const known = facts([sentTo(7), manager]);
      const [first] = answers;
      expect(first && managerOf(first, known)?.ref.shownName).toBe("renamed");
    });

    it.each([
      ["another advertiser", sentTo(6)],
      ["another name", sentTo(7, "Sign-up")],
      ["no known advertiser", storedEvent("buy", "unresolved-m", unresolved("m"))],
      [
        "what it was to replace",
        storedEvent(
          "buy",
          "unresolved-m",
          unresolved("m", { args: { advertiserId: 7 }, replaces: "8" }),
        ),
      ],
    ])("is refused with %s", (_, resource) => {
      expect(() => answer(resource)).toThrow('8 can\'t be the id of "buy"');
    });
  });

  it("a create of secret events, which nobody can tell, has no id; that it's over is an answer, also after another one", () => {
    const hidden = updating(encrypted);
    const mark = markOf(RUN, FUNNEL_KEY);
    const mistaken = storedEvent("other", 8, {
      __resolved: { [mark]: "ConversionEvent 5" },
    });
    for (const other of [[], [mistaken]]) {
      const all = facts([FUNNEL, ...other], [hidden]);
      expect(all.created).toEqual([]);
      expect(() => read({ created: ["funnel=5"] }, all)).toThrow(
        /secret.* set existingId for each that is there\..*--not-created 'funnel'/s,
      );
      expect(read({ "not-created": ["funnel"] }, all).answers).toMatchObject([
        { id: "", create: { ref: { shownName: "funnel" }, record: { mark } } },
      ]);
    }
  });

  it("several interrupted runs may have sent a resource's create: each is answered", () => {
    const two = facts(
      [],
      [creating("buy"), creating("buy", { __sender: senderOf("", { run: OTHER }) })],
    );
    const outcomes = (answers: Typed) =>
      read(answers, two).answers.map((each) => [each.create.record.run, each.id]);
    // An id is that of the last one. The others need an answer of their own.
    expect(outcomes({ created: ["buy=5"] })).toEqual([[RUN, "5"]]);
    expect(outcomes({ created: ["buy=5"], "not-created": ["buy"] })).toEqual([
      [RUN, "5"],
      [OTHER, ""],
    ]);
    expect(outcomes({ "not-created": ["buy"] })).toEqual([
      [OTHER, ""],
      [RUN, ""],
    ]);
    const more = { created: ["buy=5", "buy=6"], "not-created": ["buy"] };
    expect(() => read(more, two)).toThrow('"buy" has two answers');
  });

  it("an id is that of the doubtful create only if its journal names it", () => {
    const others = noted(BUY, "created", { id: "9", mark: "other" });
    const both = facts([], [creating("buy")], ["elsewhere", [others]]);
    const runOf = (id: string) =>
      read({ created: [`buy=${id}`] }, both).answers.map(({ create }) => create.knownBy);
    expect(runOf("5")).toEqual(["record"]);
    expect(runOf("9")).toEqual(["journal"]);
  });

  it("--forget ends what only the journal has, what the state has as unresolved, and what is known to be made", () => {
    const forgotten = (...names: string[]) =>
      read({ forget: names }).answers.map(
        ({ create: { ref, knownBy: where } }) => `${ref.shownName} (${where})`,
      );
    expect(forgotten("made", "sent", "buy", "funnel/b")).toEqual([
      ...["made (journal)", "sent (journal)"],
      ...["buy (state)", "funnel/b (state)"],
    ]);
  });

  it("what needs no answer gets a sentence: a true one is no mistake", () => {
    const { answers, unknown } = read({ created: ["there=4"], "not-created": ["sennt"] });
    expect([answers, unknown]).toEqual([
      [],
      ["there", "sennt"].map(
        (name) =>
          `${name} was resolved before, or never sent, or has another name now. To correct a wrong answer, set existingId.`,
      ),
    ]);
  });

  it("what only the journal can keep is a line of it, with the create's mark", () => {
    const key = "ConversionEvent::sent";
    const lines = (answers: Typed) => read(answers).answers.map(lineOf);
    const closed = { key, mark: markOf(RUN, key), state: "closed" };
    expect(lines({ "not-created": ["sent"] })).toEqual([closed]);
    expect(lines({ forget: ["sent"] })).toEqual([closed]);
    const { state: __, ...create } = noted(key, "sent");
    expect(lines({ created: ["sent=4711"] })).toEqual([
      { ...create, state: "created", id: "4711" },
    ]);
  });
});
