/** Which creates are pending, and what answers about them are worth: facts in, a list or verdicts out. */
import { describe, expect, it } from "vitest";
import { type Resource, readExport } from "../../provider/src/cli/contents.js";
import {
  journalLinesOf,
  readAnswers,
  recordedLines,
} from "../../provider/src/cli/pending-answers.js";
import { factsIn } from "../../provider/src/cli/pending-facts.js";
import type { JournalEntry } from "../../provider/src/journal/journal-entry.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { fingerprintOfBody } from "../../provider/src/kinds/kind.js";
import { markOf } from "../../provider/src/state/index.js";
import {
  EVENT,
  encrypted,
  storedAdvertiser,
  storedEvent,
  storedSet,
  urnOf,
} from "../support/stored.js";

const TIME = "2026-03-02T10:00:00Z";
const [BEFORE, AFTER] = ["2026-03-02T09:59:59Z", "2026-03-02T10:00:01Z"];
const PLACE = { backend: "file:///x", stack: "organization/shop/dev" };
const THERE = { backend: "file:///x", stack: "organization/shop/old" };
const E = (name: string) => urnOf("ConversionEvent", name);
const SET = urnOf("ConversionEventSet", "funnel");

const unresolved = (mark: string, more: object = {}) => ({
  unresolved: {
    at: BEFORE,
    mark,
    body: "b",
    what: "The connection ended.",
    name: "Signup",
    facts: { value: 5 },
    ...more,
  },
});
const record = (
  key: string,
  state: JournalEntry["state"],
  more: Partial<JournalEntry> = {},
): JournalEntry => ({
  ...{ key, state, at: BEFORE, mark: `mark of ${key}`, body: "b", name: "Signup" },
  ...more,
});
const operation = (type: string, resource: Resource) => ({ type, resource });
const creating = (name: string, inputs: object = {}) =>
  operation("creating", {
    ...storedEvent(name, ""),
    inputs: { eventName: name, advertiserId: 1, ...EVENT, ...inputs },
  });

function facts(
  resources: readonly Resource[],
  journal: readonly JournalEntry[] = [],
  pending_operations: object[] = [],
  elsewhere: readonly JournalEntry[] = [],
) {
  const deployment = { manifest: { time: TIME }, resources, pending_operations };
  const stack = readExport(JSON.stringify({ version: 3, deployment }));
  const journalOf = (entries: readonly JournalEntry[]) =>
    new Map(entries.map((each) => [each.key, each]));
  const journals = [
    { ...PLACE, runs: [`${BEFORE} ours`], records: journalOf(journal) },
    { ...THERE, runs: [], records: journalOf(elsewhere) },
  ];
  return factsIn(stack, journals, PLACE);
}
const madeIn = (...given: Parameters<typeof facts>) =>
  facts(...given).made.map(({ ref, record: { id } }) => `${ref.short} ${id}`);

const entry = (eventName: string) => ({ eventName, value: 1 });
const events = { a: entry("A"), b: entry("B") };
const { value: _, ...defaults } = EVENT;
const updating = (given: object) =>
  operation("updating", {
    ...storedSet("funnel", {}),
    inputs: { advertiserId: 1, defaults, events: given },
  });

describe("what is pending", () => {
  const BUY = "ConversionEvent::buy";
  const OPEN = storedEvent("buy", "unresolved-m", unresolved("m"));
  const [sent, live, none] = (["sent", "confirmed", "closed"] as const).map((state) =>
    record(BUY, state),
  );
  const FUNNEL = storedSet("funnel", { events, eventIds: { a: 1, b: 2 } });
  const MARK = markOf(markOf(PLACE.backend, PLACE.stack, BUY), undefined);
  const RESOLVED = storedEvent("buy-eu", 4, { __resolved: [`m ${BEFORE}`] });
  const stored = { e10: unresolved("m").unresolved, e2: unresolved("n").unresolved };
  const made = (name: string) =>
    record(`ConversionEvent::${name}`, name as "created", { id: "1" });
  const changed = {
    a: { ...entry("A"), value: 7 },
    b: entry("B"),
    c: entry("C"),
    d: { ...entry("D"), existingId: 5 },
  };
  const created = { ...updating(events), type: "creating" };

  it.each<
    [string, string[], Resource[], ((JournalEntry | undefined)[] | undefined)?, object[]?]
  >([
    ["nothing", [], [storedEvent("ok", 1)]],
    ["a single one in the state", ["buy (state)"], [OPEN]],
    ["what only waits for its removal is not", [], [{ ...OPEN, delete: true }]],
    [
      "members, in natural order",
      ["f/e2 (state)", "f/e10 (state)"],
      [storedSet("f", { events, unresolved: stored })],
    ],
    ["one that only the journal has", ["buy (journal)"], [], [sent]],
    [
      "another machine's create, beside an older object that the journal has",
      ["buy (pulumi)"],
      [],
      [record(BUY, "reported", { id: "1" })],
      [creating("buy", { __run: "2026-12-31T00:00:00Z theirs" })],
    ],
    ["one that both have, once", ["buy (state)"], [OPEN], [sent]],
    ["the next run sees it in the state", [], [storedEvent("buy", 4)], [sent]],
    [
      "the state has what it was to replace",
      ["buy (journal)"],
      [storedEvent("buy", 4)],
      [record(BUY, "sent", { replaces: "4" })],
    ],
    [
      "made, reported, live and none are not",
      [],
      [],
      ["created", "reported", "confirmed", "closed"].map(made),
    ],
    [
      "one that only Pulumi's record has",
      ["buy (pulumi)"],
      [],
      undefined,
      [creating("buy")],
    ],
    [
      "the journal has no line about it, but others",
      ["buy (pulumi)"],
      [],
      [],
      [creating("buy")],
    ],
    [
      "of two interrupted runs, once",
      ["buy (pulumi)"],
      [],
      undefined,
      [creating("buy"), creating("buy", { value: 2 })],
    ],
    [
      "the state has it",
      [],
      [storedEvent("buy", 4)],
      undefined,
      [creating("buy", { __mark: "f m" })],
    ],
    [
      "with other ones",
      ["buy (pulumi)"],
      [storedEvent("buy", 4, { value: 2 })],
      undefined,
      [creating("buy")],
    ],
    ["an adoption sent nothing", [], [], undefined, [creating("buy", { existingId: 4 })]],
    [
      "the state has it as unresolved, once",
      ["buy (state)"],
      [OPEN],
      undefined,
      [creating("buy")],
    ],
    ["the journal has it as sent", ["buy (pulumi)"], [], [sent], [creating("buy")]],
    [
      "the journal has it as made",
      [],
      [],
      [record(BUY, "created", { id: "9" })],
      [creating("buy", { __run: `${BEFORE} theirs` })],
    ],
    [
      "handed over, and not saved",
      [],
      [],
      [record(BUY, "reported", { id: "9" })],
      [creating("buy", { __run: `${BEFORE} theirs` })],
    ],
    [
      "what the state had before says nothing of it",
      ["buy (pulumi)"],
      [storedEvent("buy", 9, { value: 2 })],
      [record(BUY, "reported", { id: "9" })],
      [creating("buy")],
    ],
    [
      "another machine replaced what was handed over here",
      ["buy (pulumi)"],
      [storedEvent("buy", 10, { value: 2 })],
      [record(BUY, "reported", { id: "9", replaces: "8" })],
      [creating("buy")],
    ],
    [
      "another machine has resolved what was sent here",
      ["buy (pulumi)"],
      [storedEvent("buy", 5)],
      [sent],
      [creating("buy", { value: 7 })],
    ],
    [
      "an earlier run's object says nothing of it",
      ["buy (pulumi)"],
      [],
      [live],
      [creating("buy")],
    ],
    [
      "a person has answered since",
      [],
      [],
      [record(BUY, "closed", { at: BEFORE })],
      [creating("buy", { __run: `${BEFORE} theirs` })],
    ],
    [
      "a person had answered before",
      ["buy (pulumi)"],
      [],
      [record(BUY, "closed", { at: BEFORE })],
      [creating("buy", { __run: `${TIME} theirs` })],
    ],
    ["an earlier run's record is closed", ["buy (pulumi)"], [], [none], [creating("buy")]],
    [
      "a person has resolved it elsewhere, and it has another name now",
      [],
      [RESOLVED],
      [],
      [creating("buy", { __mark: "f m", __run: `${BEFORE} theirs` })],
    ],
    [
      "one that was resolved elsewhere, though nobody can compare its secret value",
      [],
      [storedEvent("buy", 4, { value: encrypted, __resolved: [`${MARK} ${TIME}`] })],
      [],
      [
        creating("buy", {
          value: { ...encrypted, ciphertext: "v1:other" },
          __run: `${BEFORE} theirs`,
        }),
      ],
    ],
    [
      "another create with the mark of one that was resolved before",
      ["buy (pulumi)"],
      [RESOLVED],
      [],
      [creating("buy", { __mark: "f m", __run: `${TIME} theirs` })],
    ],
    [
      "without a field for marks, it follows from the stack and the key",
      [],
      [
        storedEvent("buy-eu", 4, {
          __resolved: [`${MARK} ${TIME}`],
        }),
      ],
      [],
      [creating("buy", { __run: `${BEFORE} theirs` })],
    ],
    [
      "members of an updated set: new, and changed",
      ["funnel/a (pulumi)", "funnel/c (pulumi)"],
      [FUNNEL],
      undefined,
      [updating(changed)],
    ],
    [
      "members of a set that was created",
      ["funnel/a (pulumi)", "funnel/b (pulumi)"],
      [],
      undefined,
      [created],
    ],
    [
      "the state has the set that was created",
      [],
      [storedSet("funnel", {})],
      undefined,
      [created],
    ],
    [
      "a set's update that was deleting",
      [],
      [FUNNEL],
      undefined,
      [{ ...updating(changed), type: "deleting" }],
    ],
  ])("%s", (_, expected, resources, journal, operations) => {
    const records = journal?.filter((each) => each !== undefined);
    const { open } = facts(resources, records, operations);
    expect(open.map(({ ref, knownBy }) => `${ref.short} (${knownBy})`)).toEqual(expected);
  });

  it("of what this machine sent, and another one was about to send later with other arguments, has the name alone, if both share it", () => {
    const others = [creating("buy", { eventName: "Other" })];
    const { open } = facts([], [record(BUY, "sent")], others);
    expect(open).toMatchObject([
      { knownBy: "pulumi", record: { name: undefined, body: "" } },
    ]);
    const both = [creating("buy"), creating("buy", { value: 2 })];
    const two = facts([], undefined, both).open;
    expect(two.map(({ record }) => record.name)).toEqual(["buy"]);
  });

  it("lists what the next `up` takes over, unless the state has that object already, under whatever name", () => {
    const journal = [
      record("ConversionEvent::buy", "created", { id: "4" }),
      record('ConversionEventSet::funnel["a"]', "reported", { id: "5" }),
    ];
    expect(madeIn([], journal)).toEqual(["buy 4", "funnel/a 5"]);
    expect(madeIn([storedEvent("renamed", 4), storedAdvertiser("a", 5)], journal)).toEqual([
      "funnel/a 5",
    ]);
  });

  it("tells of the record's creates what their inputs say, but nothing secret", () => {
    const inputs = { eventName: "buy", advertiserId: 1, ...EVENT };
    const [plain, secret] = [
      creating("buy", { __mark: "alternative_id m1" }),
      creating("shh", { value: encrypted }),
    ];
    const [first, second] = facts([storedEvent("buy", 3, { value: 9 })], undefined, [
      plain,
      secret,
    ]).open;
    expect(first?.record).toMatchObject({
      mark: "m1",
      field: "alternative_id",
      name: "buy",
      replaces: "3",
      at: "",
    });
    expect(first?.record.body).toBe(fingerprintOfBody(conversionEvent, inputs));
    expect(second?.record).toMatchObject({ body: "", name: "shh" });
    expect(JSON.stringify(second?.record)).not.toContain("ciphertext");
  });
});

describe("answers", () => {
  const given = (answers: Partial<Parameters<typeof readAnswers>[0]>) => ({
    ...{ created: [], "not-created": [], forget: [] },
    ...answers,
  });
  const known = facts(
    [
      storedEvent("buy", "unresolved-m", unresolved("m", { replaces: "3" })),
      storedEvent("twin", "unresolved-t", unresolved("t")),
      storedAdvertiser("twin", "unresolved-u", "Twin", { outputs: unresolved("u") }),
      storedSet("funnel", {
        events,
        eventIds: { a: 20 },
        unresolved: { a: unresolved("x").unresolved, b: unresolved("y").unresolved },
      }),
      storedEvent("other", 8, { __left: [{ id: "7", at: BEFORE }] }),
    ],
    [
      record("ConversionEvent::sent", "sent"),
      record("ConversionEvent::made", "created", { id: "9" }),
      record("ConversionEvent::seen", "confirmed", { id: "10" }),
    ],
  );
  const read = (answers: Partial<Parameters<typeof readAnswers>[0]>) =>
    readAnswers(given(answers), known);
  const verdicts = (answers: Partial<Parameters<typeof readAnswers>[0]>) =>
    read(answers).answers.map(({ create, id }) => `${create.ref.short} ${id}`);

  it.each([
    [{ created: ["buy=4711"] }, ["buy 4711"]],
    [{ created: [`${E("buy")}=4711`] }, ["buy 4711"]],
    [
      { created: ['funnel["a"]=4711'], "not-created": ["funnel/b"] },
      ["funnel/a 4711", "funnel/b undefined"],
    ],
    [{ created: [`${SET}["b"]=4711`] }, ["funnel/b 4711"]],
    [{ "not-created": ["funnel"] }, ["funnel/a undefined", "funnel/b undefined"]],
    [
      { "not-created": [SET, "sent"] },
      ["funnel/a undefined", "funnel/b undefined", "sent undefined"],
    ],
    [{ created: ["sent=7"] }, ["sent 7"]],
    [
      { created: [`${E("twin")}=4711`, `${urnOf("Advertiser", "twin")}=4711`] },
      ["twin 4711", "twin 4711"],
    ],
  ])("%j", (answers, expected) => {
    expect(verdicts(answers)).toEqual(expected);
  });

  it.each<[Parameters<typeof read>[0], string]>([
    [
      { "not-created": ["twin"] },
      `"twin" is ambiguous; give the URN: ${urnOf("Advertiser", "twin")} and ${E("twin")}`,
    ],
    [{ created: ["buy=1x"] }, '--created takes X=ID, where ID is 1 or more; got "buy=1x"'],
    [{ created: ["buy=0"] }, '--created takes X=ID, where ID is 1 or more; got "buy=0"'],
    [{ created: ["buy"] }, '--created takes X=ID, where ID is 1 or more; got "buy"'],
    [{ created: ["funnel=4711"] }, '4711 can\'t be both "funnel/b" and "funnel/a"'],
    [{ created: ["buy=4711"], "not-created": ["buy"] }, '"buy" has two answers'],
    [{ created: ["buy=4711", "sent=4711"] }, '4711 can\'t be both "sent" and "buy"'],
    [
      { created: ["buy=9"] },
      '9 is not the id of "buy": an earlier run created 9 for "made". If you find no other object, answer --not-created \'buy\'',
    ],
    [
      { created: ["buy=10"] },
      '10 is not the id of "buy": an earlier run created 10 for "seen"',
    ],
    [
      { created: ["buy=3"] },
      '3 is not the id of "buy": an earlier object of this resource has that id',
    ],
    [
      { created: ["funnel/a=20"] },
      '20 is not the id of "funnel/a": an earlier object of this resource has that id',
    ],
    [{ forget: ["sent"], created: ["sent=4711"] }, '"sent" has two answers'],
  ])("%j is refused, and nothing is resolved", (answers, fault) => {
    const all = () => read({ ...answers, created: [...(answers.created ?? []), "nobody"] });
    expect(all).toThrow(/^nothing was resolved:\n/);
    expect(all).toThrow(fault);
    expect(all).toThrow('--created takes X=ID, where ID is 1 or more; got "nobody"');
  });

  it("--forget ends any line of the journal, and what the state has as unresolved", () => {
    const forgotten = (...names: string[]) =>
      read({ forget: names }).answers.map(
        ({ create: { ref, knownBy: where } }) => `${ref.short} (${where})`,
      );
    expect(forgotten("made", "sent", E("seen"), "buy", "funnel/b")).toEqual([
      ...["made (journal)", "sent (journal)", "seen (journal)"],
      ...["buy (state)", "funnel/b (state)"],
    ]);
  });

  it("an id that the state has under another name resolves the create: it is managed there", () => {
    const managed = read({ created: ["buy=8", "funnel/b=20"] }).answers;
    expect(managed).toMatchObject([{ managedAs: "other" }, { managedAs: "funnel/a" }]);
  });
});

describe("one create under several names", () => {
  it("what the state has under a new name, and the journal under a former one, is one, and goes by both", () => {
    const renamed = storedEvent("buy-eu", "unresolved-m", unresolved("m"));
    const known = facts([renamed], [record("ConversionEvent::buy", "sent", { mark: "m" })]);
    expect(known.open.map(({ ref }) => ref.short)).toEqual(["buy-eu"]);
    for (const name of ["buy", "buy-eu", E("buy"), E("buy-eu")])
      expect(
        readAnswers({ created: [`${name}=5`], "not-created": [], forget: [] }, known)
          .answers,
      ).toMatchObject([{ create: { ref: { short: "buy-eu" } }, id: "5" }]);
  });

  it("a create that an `up` has moved to a new name still goes by the former one", () => {
    const moved = record("ConversionEvent::bought", "sent", { mark: "m" });
    const { answers } = readAnswers(
      { created: ["buy=7"], "not-created": [], forget: [] },
      facts([], [record("ConversionEvent::buy", "closed", { mark: "m", at: "" }), moved]),
    );
    expect(answers).toMatchObject([{ id: "7", create: { ref: { short: "bought" } } }]);
  });

  it("what somebody resolved elsewhere, or the state has by its id, is out of date here", () => {
    const sent = record("ConversionEvent::buy", "sent", { mark: "m" });
    const made = record("ConversionEvent::lead", "created", { id: "5", mark: "n" });
    const resources = [
      storedEvent("x", 4, { __resolved: [`m ${BEFORE}`] }),
      storedEvent("y", 5),
    ];
    const { open, made: left, outdated } = facts(resources, [sent, made]);
    expect([open, left, outdated.map(({ ref }) => ref.short)]).toEqual([
      [],
      [],
      ["buy", "lead"],
    ]);
    // Sent again since.
    expect(facts(resources, [{ ...sent, at: AFTER }]).open).toHaveLength(1);
  });

  it("what was sent here, and the state has under its key, is out of date too; an object beside that one is not", () => {
    const records = [
      record("ConversionEvent::buy", "sent"),
      record("ConversionEvent::lead", "created", { id: "9" }),
    ];
    const { outdated } = facts([storedEvent("buy", 4), storedEvent("lead", 5)], records);
    expect(outdated.map(({ ref, held }) => `${ref.short} ${held}`)).toEqual(["buy 4"]);
  });

  it("what somebody else has answered needs no answer: a true one is no mistake", () => {
    const sent = record("ConversionEvent::buy", "sent", { mark: "m" });
    const known = facts([storedEvent("buy", 4, { __resolved: [`m ${BEFORE}`] })], [sent]);
    const words = (answers: object) =>
      readAnswers({ created: [], "not-created": [], forget: [], ...answers }, known)
        .unknown;
    expect([
      ...words({ created: ["buy=4"] }),
      ...words({ "not-created": ["sennt"] }),
    ]).toEqual(
      ["buy", "sennt"].map(
        (name) =>
          `${name} is not pending: it was resolved, or never sent. To correct a wrong answer, set existingId or use --forget.`,
      ),
    );
  });

  it("what the journal has as sent, and the state has by another create, stops no up any more", () => {
    const { open, outdated } = facts(
      [storedEvent("buy", 4)],
      [record("ConversionEvent::buy", "sent")],
    );
    expect([open, outdated]).toMatchObject([[], [{ ref: { short: "buy" }, held: "4" }]]);
    const replacing = record("ConversionEvent::buy", "sent", { replaces: "4" });
    expect(facts([storedEvent("buy", 4)], [replacing])).toMatchObject({
      open: [{ knownBy: "journal" }],
      outdated: [],
    });
  });

  it("what was listed while its run was under way, and the state has since, is closed without a word", () => {
    const noted = record("ConversionEvent::buy", "sent", { atLatest: true });
    const { open, outdated } = facts([storedEvent("buy", 4)], [noted]);
    expect([open, outdated]).toMatchObject([[], [{ ref: { short: "buy" } }]]);
    expect(outdated[0]).not.toHaveProperty("held");
    expect(facts([], [noted]).open).toMatchObject([{ ref: { short: "buy" } }]);
  });

  it("what only Pulumi's record has is noted, before a refresh drops that record", () => {
    const open = storedEvent("buy", "unresolved-m", unresolved("m"));
    const { length } = facts([open], [], [creating("lead")]).open;
    const lines = recordedLines(facts([open], [], [creating("lead")])).map(
      ({ line }) => line,
    );
    expect([length, lines]).toMatchObject([
      2,
      [{ key: "ConversionEvent::lead", state: "sent", name: "lead", atLatest: true }],
    ]);
  });

  it("what is noted again, since its secret can't be compared, still has only its latest moment", () => {
    const recorded = [creating("shh", { value: encrypted })];
    const noted = (journal: JournalEntry[]) =>
      recordedLines(facts([], journal, recorded)).map(({ line }) => line as JournalEntry);
    expect(noted(noted([]))).toMatchObject([{ state: "sent", atLatest: true }]);
  });

  it("an id of another account is another object", () => {
    const made = record("ConversionEvent::lead", "created", {
      id: "5",
      mark: "n",
      account: "a x@y",
    });
    const there = storedEvent("y", 5, { __at: "b x@y" });
    expect(facts([there], [made]).made).toHaveLength(1);
    expect(facts([storedEvent("y", 5, { __at: "a x@y" })], [made]).made).toEqual([]);
  });
});

describe("on the machine whose run was interrupted", () => {
  const created = (run: string) => ({
    ...updating(events),
    type: "creating",
    resource: {
      ...updating(events).resource,
      inputs: { ...updating(events).resource.inputs, __run: run },
    },
  });
  const sent = record('ConversionEventSet::funnel["a"]', "sent");

  it("only what its journal has as sent is asked about; the rest was never sent, or is resolved", () => {
    const { open } = facts([], [sent], [created(`${BEFORE} ours`)]);
    expect(open.map(({ ref, knownBy }) => `${ref.short} (${knownBy})`)).toEqual([
      "funnel/a (journal)",
    ]);
  });

  it("what another machine's run may have sent is asked about", () => {
    for (const operations of [
      [created(`${BEFORE} theirs`)],
      [created(`${BEFORE} ours`), created(`${BEFORE} theirs`)],
    ]) {
      const { open } = facts([], [sent], operations);
      expect(open.map(({ ref, knownBy }) => `${ref.short} (${knownBy})`)).toEqual([
        "funnel/a (pulumi)",
        "funnel/b (pulumi)",
      ]);
    }
  });
});

it("a set's run without a changed argument has the name of an earlier run: what it may have sent is asked about", () => {
  const inputs = { ...updating(events).resource.inputs, __run: `${BEFORE} ours` };
  const operation = {
    ...updating(events),
    resource: { ...updating(events).resource, inputs },
  };
  const before = (run: string) =>
    storedSet(
      "funnel",
      { events, eventIds: { a: 1 } },
      { inputs: { ...inputs, __run: run } },
    );
  const asked = (run: string) =>
    facts([before(run)], [], [operation]).open.map(({ ref }) => ref.short);
  expect([asked(`${BEFORE} ours`), asked(`${BEFORE} theirs`)]).toEqual([["funnel/b"], []]);
  // Nobody is asked again after an answer that is later than the state.
  const answered = (at: string) => {
    const closed = { ...record('ConversionEventSet::funnel["b"]', "closed"), at };
    return facts([before(`${BEFORE} ours`)], [closed], [operation]).open.length;
  };
  expect([answered("2000-01-01T00:00:00Z"), answered("2099-01-01T00:00:00Z")]).toEqual([
    1, 0,
  ]);
});

it("so it is if an alias has renamed the set, whose unchanged inputs name this machine's earlier run", () => {
  const inputs = { ...updating(events).resource.inputs, __run: `${BEFORE} ours` };
  const outputs = { events, eventIds: { a: 1 } };
  const renamed = {
    ...storedSet("renamed", {}, { inputs }),
    aliases: [urnOf("ConversionEventSet", "funnel")],
  };
  const { open } = facts(
    [storedSet("funnel", outputs, { inputs })],
    [],
    [operation("updating", renamed)],
  );
  expect(open.map(({ ref }) => ref.short)).toEqual(["renamed/b"]);
});

it("an answer about what Pulumi's record has ends it, whatever the journal had under its key", () => {
  const own = record('ConversionEventSet::funnel["b"]', "confirmed", { id: "9" });
  const set = [storedSet("funnel", {})];
  const [noted] = recordedLines(facts(set, [own], [updating(events)]))
    .map(({ line }) => line as JournalEntry)
    .filter(({ key }) => key === own.key);
  expect(noted).toMatchObject({ state: "sent" });
  const known = facts(set, noted && [noted], [updating(events)]);
  const lines = (typed: Partial<Parameters<typeof readAnswers>[0]>) => {
    const none = { created: [], "not-created": [], forget: [] };
    const { answers } = readAnswers({ ...none, ...typed }, known);
    return answers
      .flatMap((answer) => journalLinesOf(answer, known))
      .map(({ line }) => line.state);
  };
  expect(lines({ "not-created": ["funnel/b"] })).toEqual(["closed"]);
  expect(lines({ created: ["funnel/b=7"] })).toEqual(["created"]);
});

describe("another stack of the project", () => {
  const open = record("ConversionEvent::buy", "created", { id: "5" });

  it("its open creates are listed by their URN, unless this stack's state has the object", () => {
    const { elsewhere, open: own } = facts([], [], [], [open]);
    expect([own, elsewhere.map(({ ref }) => ref.urn)]).toEqual([
      [],
      [E("buy").replace(":dev:", ":old:")],
    ]);
    expect(facts([storedEvent("y", 5)], [], [], [open]).elsewhere).toEqual([]);
  });

  it("a name is this stack's before it is the other one's", () => {
    const known = facts(
      [storedEvent("buy", "unresolved-m", unresolved("m"))],
      [],
      [],
      [open],
    );
    const { answers } = readAnswers(
      { created: [], "not-created": ["buy"], forget: [] },
      known,
    );
    expect(answers.map(({ create }) => create.journal.stack)).toEqual([PLACE.stack]);
  });

  it("an answer about its create goes to its journal, whatever this stack has under the key", () => {
    const sent = record("ConversionEvent::buy", "sent");
    const own = record("ConversionEvent::buy", "confirmed", { id: "9", mark: "other" });
    const known = facts([storedEvent("buy", 9)], [own], [], [sent]);
    const [urn = ""] = known.elsewhere.map(({ ref }) => ref.urn);
    const { answers } = readAnswers(
      { created: [], "not-created": [urn], forget: [] },
      known,
    );
    expect(answers.flatMap((answer) => journalLinesOf(answer, known))).toMatchObject([
      { line: { key: "ConversionEvent::buy", state: "closed" }, journal: THERE },
    ]);
  });
});
