/** Which creates of earlier runs are open: the table of `plan/open-creates.ts`, row by row. */
import { describe, expect, it } from "vitest";
import {
  addUnresolved,
  asLastSent,
  asUnresolved,
  isOfState,
  type NotedCreate,
  type NotedRun,
  type OpenCreate,
  OpenCreates,
  objectOf,
  openCreates,
  type SavedCreates,
  settledJournals,
  standingOf,
  startOf,
} from "../../provider/src/plan/open-creates.js";
import { markOf, refAt, type SentCreate } from "../../provider/src/state/index.js";

const TIME = "2026-03-02T10:00:00.000Z";
const KEY = "ConversionEvent::buy";
const [RUN, OTHER] = ["run-1", "run-2"];

/** What the saved state says; by default nothing about any create. */
type Saved = Partial<SavedCreates> & { objects?: string[]; left?: string[]; held?: string };
function savedWith({ objects = [], left = [], held, ...more }: Saved = {}): SavedCreates {
  const sent = more.sent ?? [];
  return {
    time: TIME,
    isEmpty: false,
    runs: new Set(sent.map(({ run }) => run)),
    sent,
    resolved: new Map(),
    byKey: new Map(held === undefined ? [] : [[KEY, { id: held, record: undefined }]]),
    unresolved: new Map(),
    hasObject: (kind, id) => objects.includes(`${kind} ${id}`),
    leftBy: (_, id) =>
      left.flatMap((text) => {
        const [key = "", object] = text.split(" ");
        return object === id ? { ref: refAt(key, "") } : [];
      }),
    ...more,
  };
}

const create = (more: Partial<NotedCreate> = {}): NotedCreate => ({
  ...{ key: KEY, run: RUN, mark: "m", at: "", body: "b", name: "Buy", state: "sent" },
  ...more,
});
const listed = (more: Partial<SentCreate> = {}): SentCreate => {
  const { state: _, ...sent } = create(more);
  return sent;
};
/** A journal of a run that the state names, unless it is told otherwise. */
const journalOf = (entries: NotedCreate[], more: Partial<NotedRun> = {}): NotedRun => ({
  run: RUN,
  entries: new Map(entries.map((each) => [each.mark, each])),
  ...more,
});
const OURS = { runs: new Set([RUN, OTHER]) };

/** The open creates as `m`, `m 5` with an id, `m?` if doubtful; superseded ones with `not `. */
function openIn(saved: SavedCreates | undefined, ...journals: NotedRun[]): string[] {
  const { open, superseded } = openCreates(saved, journals, (run) => run === "this-run");
  const shown = ({ mark, id, isDoubtful }: OpenCreate) =>
    `${mark}${isDoubtful ? "?" : ""} ${id ?? ""}`.trim();
  return [...open.map(shown), ...superseded.map((each) => `not ${shown(each)}`)];
}

describe("the table", () => {
  const sent = { sent: [listed()] };
  const made = create({ state: "created", id: "5" });
  const returned = journalOf([{ ...made, isReturned: true }]);
  const isThere = { objects: ["ConversionEvent 5"] };

  it.each<[string, string[], Saved | undefined, NotedRun[]]>([
    ["nothing", [], {}, []],
    ["open: the record lists it", ["m"], sent, []],
    ["open: the journal has it", ["m"], OURS, [journalOf([create()])]],
    ["open: both have it, once", ["m"], sent, [journalOf([create()])]],
    ["open with its id: the journal has its object", ["m 5"], sent, [journalOf([made])]],
    ["open: Pulumi can't be asked", ["m"], undefined, [journalOf([create()])]],
    [
      "doubtful: the engine got it, and the record has it no more",
      ["m? 5"],
      OURS,
      [returned],
    ],
    ["… but the record lists it: its save has failed", ["m 5"], sent, [returned]],
    ["… but Pulumi can't be asked", ["m 5"], undefined, [returned]],
    [
      "… but a later run has noted it as open",
      ["m 5"],
      OURS,
      [returned, journalOf([create()], { run: OTHER })],
    ],
    [
      "never sent: its run's journal doesn't have it",
      [],
      { sent: [listed({ mark: markOf(RUN, KEY) })] },
      [journalOf([])],
    ],
    [
      "with another run's mark, that run may have sent it",
      ["m"],
      { ...sent, runs: OURS.runs },
      [journalOf([])],
    ],
    [
      "never sent says nothing about another run's create",
      ["m"],
      { ...sent, runs: OURS.runs },
      [journalOf([], { run: OTHER })],
    ],
    ["of an unknown run it may have been sent", ["m"], { sent: [listed({ run: "" })] }, []],
    ["ended: the state has its object", [], { ...OURS, ...isThere }, [journalOf([made])]],
    [
      "ended: the state says that its resource has left the object live",
      [],
      { ...OURS, left: [`${KEY} 5`] },
      [journalOf([made])],
    ],
    [
      "what another resource has left is another one",
      ["m 5"],
      { ...OURS, left: ["ConversionEvent::other 5"] },
      [journalOf([made])],
    ],
    [
      "an object of the other kind is another one",
      ["m 5"],
      { ...OURS, objects: ["Advertiser 5"] },
      [journalOf([made])],
    ],
    [
      "ended: the state has its outcome, not created",
      [],
      { ...sent, resolved: new Map([["m", ""]]) },
      [],
    ],
    [
      "an answer that a response disproves: open with its id",
      ["m 5"],
      { ...sent, resolved: new Map([["m", ""]]) },
      [journalOf([made])],
    ],
    [
      "… superseded, if that answer has led to a second object",
      ["not m 5"],
      { ...sent, held: "6", resolved: new Map([["m", ""]]) },
      [journalOf([made])],
    ],
    [
      "ended: the state has its outcome and the object",
      [],
      { ...sent, ...isThere, resolved: new Map([["m", "ConversionEvent 5"]]) },
      [],
    ],
    [
      "the outcome's object has left the state: open with its id",
      ["m 5"],
      { ...sent, resolved: new Map([["m", "ConversionEvent 5"]]) },
      [],
    ],
    [
      "ended: not carried out, says the journal",
      [],
      sent,
      [journalOf([create({ state: "closed" })])],
    ],
    [
      "superseded: the state has another object, and the journal has this one",
      ["not m 5"],
      { ...OURS, held: "6" },
      [journalOf([made])],
    ],
    ["superseded: only the record had it", [], { ...sent, held: "6" }, []],
    [
      "the state has the object that it was to replace",
      ["m"],
      { sent: [listed({ replaces: "6" })], held: "6" },
      [],
    ],
    [
      "unresolved: the state lists it",
      [],
      { ...sent, unresolved: new Map([["m", []]]) },
      [journalOf([create()])],
    ],
    [
      "unresolved, but its object is in the state: ended",
      [],
      { ...OURS, ...isThere, unresolved: new Map([["m", []]]) },
      [journalOf([made])],
    ],
  ])("%s", (_, expected, saved, journals) => {
    expect(openIn(saved && savedWith(saved), ...journals)).toEqual(expected);
  });

  it("this run's own pending operations don't count", () => {
    const saved = savedWith({ sent: [listed({ run: "this-run" })] });
    expect(openIn(saved)).toEqual([]);
    // `pending` is no run, so it has none of its own, of an unknown run either.
    expect(openCreates(savedWith({ sent: [listed({ run: "" })] }), []).open).toHaveLength(
      1,
    );
  });

  it("an object of another account isn't this create's", () => {
    const hasObject: SavedCreates["hasObject"] = (_kind, _id, account) => account === "a";
    const standing = (account: string) =>
      standingOf({ ...create({ id: "5" }), account }, savedWith({ hasObject }));
    expect(["a", "b"].map(standing)).toEqual(["ended", "open"]);
  });
});

describe("whose journal it is", () => {
  /** The journal has another create too, whose object is known. */
  const made = create({ mark: "other", state: "created", id: "6" });
  const MADE_TOO = { entries: journalOf([create(), made]).entries };
  it.each<[string, boolean, Partial<NotedRun>, Saved]>([
    ["the record names its run", true, {}, OURS],
    ["the state is empty", true, {}, { isEmpty: true }],
    [
      "the state is empty but for what this run has begun",
      true,
      {},
      { isEmpty: true, runs: new Set(["this-run"]) },
    ],
    ["the state is the one that it began with", true, { from: TIME }, {}],
    ["the state was saved since", false, { from: "2026-03-01T10:00:00.000Z" }, {}],
    ["it doesn't know its state", false, {}, {}],
    [
      "the record names a run that its state named",
      true,
      { stateRuns: ["x", OTHER] },
      OURS,
    ],
    [
      "with checkpoints, the record would name its run",
      false,
      { from: TIME, hasCheckpoints: true },
      { isEmpty: true },
    ],
    ["neither has a time", false, { from: "" }, { time: "" }],
    ["the state has what it created", true, MADE_TOO, { objects: ["ConversionEvent 6"] }],
    ["the state has something else", false, MADE_TOO, { objects: ["ConversionEvent 7"] }],
  ])("%s: %s", (_, isOurs, header, state) => {
    const [journal, saved] = [journalOf([create()], header), savedWith(state)];
    expect(isOfState(journal, saved, (run) => run === "this-run")).toBe(isOurs);
    expect(openIn(saved, journal)[0]).toEqual(isOurs ? "m" : "m?");
  });

  it("another state's answer says nothing about this state's create", () => {
    const answer = journalOf([create({ state: "closed" })], { run: "answer" });
    const saved = savedWith({ runs: new Set([RUN]) });
    expect(openIn(saved, journalOf([create()]), answer)).toEqual(["m"]);
  });

  it("what another journal of this state has too isn't doubtful", () => {
    const [theirs, ours] = [OTHER, RUN].map((run) => journalOf([create()], { run }));
    const saved = savedWith({ runs: new Set([RUN]) });
    expect(openIn(saved, theirs as NotedRun)).toEqual(["m?"]);
    expect(openIn(saved, theirs as NotedRun, ours as NotedRun)).toEqual(["m"]);
  });

  it("is not searched for: a search would find another state's object too", () => {
    const fieldIn = (...runs: string[]) => {
      const journal = journalOf([create({ field: "alternative_id" })]);
      return openCreates(savedWith({ runs: new Set(runs) }), [journal]).open[0]?.field;
    };
    expect([fieldIn(RUN), fieldIn(OTHER)]).toEqual(["alternative_id", undefined]);
  });

  it("a person reads of the doubt", () => {
    const about = (isDoubtful: boolean) => asUnresolved({ ...listed(), isDoubtful }).what;
    expect(about(true)).toBe(
      `${about(false)} Only this machine's journal has it: the state may have had it before, or it may be another state's.`,
    );
  });
});

describe("reports of one mark", () => {
  it("are about the last sending, in any order", () => {
    const [early, late] = ["2026-01-01T00:00:26.000Z", "2026-01-01T00:01:31.000Z"];
    const journals = [early, late].map((at) => journalOf([create({ at })]));
    for (const all of [journals, journals.toReversed()])
      expect(openCreates(undefined, all).open[0]?.at).toBe(late);
  });

  const joined = (...reports: (Partial<NotedCreate> | Partial<SentCreate>)[]) => {
    const [first = {}, ...others] = reports;
    const journals = others.map((each, n) =>
      journalOf([create(each)], { run: n === 0 ? RUN : `${n}` }),
    );
    const runs = new Set(journals.map(({ run }) => run));
    const saved = savedWith({ sent: [listed(first)], runs });
    return openCreates(saved, journals).open;
  };
  const args = { value: 1 };
  const field = "alternative_id";

  it("who knows the outcome wins", () => {
    expect(joined({}, {}, { state: "created", id: "5" })).toMatchObject([{ id: "5" }]);
    expect(joined({}, { state: "created", id: "5" }, { state: "closed" })).toEqual([]);
  });

  it("the journal adds the moment and the account, and the record that an update sent it", () => {
    const noted = { at: TIME, account: "a", latest: TIME };
    const [one] = joined({ isOfUpdate: true }, noted);
    expect(one).toMatchObject({ at: TIME, account: "a", isOfUpdate: true });
    expect(one).not.toHaveProperty("latest"); // about one of two sendings
  });

  it.each<[string, Partial<NotedCreate>[], Partial<NotedCreate>]>([
    ["all agree", [{ args }, { args }], { body: "b", name: "Buy", args }],
    [
      "one has a secret",
      [
        { body: "", args },
        { body: "b", args },
      ],
      { body: "b", name: "Buy", args },
    ],
    [
      "their arguments differ",
      [{ args, field }, { body: "c" }, { body: "c" }],
      { body: "", name: "Buy", args: {} },
    ],
    [
      "they differ, and one has the object",
      [
        { args, field },
        { body: "c", args: { value: 2 }, state: "created", id: "5" },
      ],
      { body: "c", name: "Buy", args: { value: 2 } },
    ],
    [
      "their names differ",
      [{ field }, { body: "c", name: "Lead" }],
      { body: "", args: {} },
    ],
    [
      "without a search, only the earliest has sent anything",
      [{ args }, { body: "c", name: "Lead" }],
      { body: "b", name: "Buy", args },
    ],
  ])("what was sent is known only if all agree: %s", (_, reports, expected) => {
    const [{ body, name, args: known } = listed()] = joined(...reports);
    const all = { name: undefined, args: undefined, ...expected };
    expect({ body, name, args: known }).toEqual(all);
  });
});

it("several creates of one object are one question, with what they agree about", () => {
  const args = { advertiserId: 1, value: 2 };
  const unresolved = new Map();
  addUnresolved(unresolved, "k", listed({ args }));
  addUnresolved(unresolved, "k", listed({ mark: "n", args }));
  expect(unresolved.get("k")).toMatchObject({ mark: "m", body: "b", name: "Buy", args });
  addUnresolved(unresolved, "k", listed({ body: "c", args: { ...args, value: 3 } }));
  const agreed = { mark: "m", body: "", name: "Buy", args: { advertiserId: 1 } };
  expect(unresolved.get("k")).toMatchObject(agreed);
  expect(unresolved.get("k").args).not.toHaveProperty("value");
  addUnresolved(unresolved, "k", listed({ body: "d", name: "Lead" }));
  expect(unresolved.get("k")).not.toHaveProperty("name");
});

describe("journals that nobody needs any more", () => {
  const closed = create({ state: "closed" });
  /** The journals that lose entries, with the marks that stay. */
  const settled = (saved: SavedCreates | undefined, open: string[], ...all: NotedRun[]) => {
    const changed = settledJournals(all, saved, ({ mark }) => open.includes(mark));
    const shown = ({ mark, state }: NotedCreate) =>
      mark + (state === "closed" ? " closed" : "");
    return changed.map(({ run, entries }) =>
      [run, ...[...entries.values()].map(shown)].join(" "),
    );
  };
  const answer = journalOf([closed], { run: "answer" });
  const ours = { runs: new Set([RUN, "answer"]) };
  const saved = savedWith(ours);

  it.each<[string, string[], Parameters<typeof settled>]>([
    ["empty", [RUN], [saved, [], journalOf([])]],
    ["each is accounted for", [RUN], [saved, [], journalOf([create()])]],
    [
      "one is open",
      [`${RUN} n`],
      [saved, ["n"], journalOf([create(), create({ mark: "n" })])],
    ],
    ["all are open", [], [saved, ["m", "n"], journalOf([create(), create({ mark: "n" })])]],
    ["an answer that nobody asks for", ["answer"], [saved, [], answer]],
    ["another state may need it", [], [savedWith(), [], journalOf([create()]), answer]],
    ["an answer to the record", [], [savedWith({ ...ours, sent: [listed()] }), [], answer]],
    [
      "all are accounted for, and the record lists them: it stays, and says which were never sent",
      [`${RUN} m closed`],
      [
        savedWith({ ...ours, sent: [listed(), listed({ mark: "n" })] }),
        [],
        journalOf([create()]),
      ],
    ],
    ["an answer, and no state to compare", [], [undefined, [], answer]],
    [
      "an answer that another state's journal asks for",
      [],
      [
        savedWith({ runs: new Set(["answer"]) }),
        [],
        answer,
        journalOf([create({ state: "created", id: "5" })]),
      ],
    ],
    [
      "an answer counts once more than the journal that asks for it",
      [RUN],
      [saved, [], answer, journalOf([create()])],
    ],
    [
      "an answer, and a journal that is still needed and asks for it",
      [`${RUN} n`],
      [saved, ["n"], answer, journalOf([create(), create({ mark: "n" })])],
    ],
    [
      "an answer that has been taken over, and a journal that is still needed and asks for it",
      [`${RUN} n`],
      [
        undefined,
        ["n"],
        journalOf([create({ state: "created", id: "5" })], { run: "answer" }),
        journalOf([create(), create({ mark: "n" })]),
      ],
    ],
  ])("%s", (_, expected, given) => {
    expect(settled(...given)).toEqual(expected);
  });
});

it("a journal notes the state that it began with, and a few of the runs that this names", () => {
  const runs = new Set(Array.from({ length: 30 }, (_, n) => `r${n}`));
  const start = startOf(savedWith({ runs }));
  expect([start.from, start.stateRuns.length]).toEqual([TIME, 10]);
  expect(startOf(undefined)).toEqual({ from: "", stateRuns: [] });
});

describe("the index", () => {
  const open = (key: string, mark: string, name?: string): OpenCreate =>
    listed({ key, mark, name });
  const all = new OpenCreates([
    open(KEY, "a", "Buy"),
    open("ConversionEvent::old", "b", "Buy"),
    open("ConversionEvent::secret", "c"),
    open("Advertiser::acme", "d", "Buy"),
  ]);
  const marks = (creates: readonly OpenCreate[]) => creates.map(({ mark }) => mark).join();

  it("has creates by their keys, and by kind and name; an unknown name may be any", () => {
    expect(marks(all.of([KEY, "ConversionEvent::old", "ConversionEvent::x"]))).toBe("a,b");
    const named = (kind: "ConversionEvent" | "Advertiser", name: string, not = "") => {
      const isMeant = ({ mark }: OpenCreate) => !not.includes(mark);
      return all.findNamed(kind, name, () => false, isMeant)?.mark;
    };
    expect([named("ConversionEvent", "Buy"), named("ConversionEvent", "Buy", "a")]).toEqual(
      ["a", "b"],
    );
    expect([
      named("ConversionEvent", "Buy", "ab"),
      named("ConversionEvent", "Lead"),
    ]).toEqual(["c", "c"]);
    expect([named("Advertiser", "Buy"), named("Advertiser", "Lead")]).toEqual([
      "d",
      undefined,
    ]);
    expect(objectOf(listed({ key: KEY }))).toBe("ConversionEvent ");
  });

  it("is empty until a create is noted", () => {
    const index = new OpenCreates();
    expect(index.isEmpty).toBe(true);
    index.note(listed());
    expect([index.isEmpty, index.all]).toEqual([false, []]);
    expect(all.isEmpty).toBe(false);
  });

  it("has each of 10,000 creates of one name", () => {
    const many = Array.from({ length: 10_000 }, (_, n) =>
      create({ key: `ConversionEvent::e${n}`, mark: `m${n}` }),
    );
    const saved = savedWith({ ...OURS, sent: many });
    const { open } = openCreates(saved, [journalOf(many)]);
    const index = new OpenCreates(open);
    for (const { key } of many) expect(index.of([key])).toHaveLength(1);
    const asked: string[] = [];
    const isOver = ({ mark }: OpenCreate) => asked.push(mark) > 0 && mark !== "m9999";
    for (const mark of many.map(() => "m9999"))
      expect(index.findNamed("ConversionEvent", "Buy", isOver, () => true)).toMatchObject({
        mark,
      });
    expect(asked.length, "each that is over, once").toBeLessThan(40_000);
    expect(settledJournals([journalOf(many)], saved, () => true)).toEqual([]);
  });
});

describe("a create that the state lists as unresolved, as it was last sent", () => {
  const args = { advertiserId: 1 };
  const known = { at: "1", mark: "m", what: "w", body: "b", name: "Buy", args };
  const searched = { ...known, field: "alternative_id", latest: "2" };
  const { latest: _, ...sentAgain } = searched;
  const { name: __, args: ___, ...unknown } = sentAgain;
  const last = (body: string, at = "1") => listed({ body, at });

  it.each<[string, Parameters<typeof asLastSent>, object]>([
    ["only the state has it", [searched, undefined, undefined], searched],
    ["the journal has the same sending", [searched, last("b"), undefined], searched],
    [
      "Pulumi's record has it without a moment",
      [searched, last("b", ""), undefined],
      searched,
    ],
    [
      "sent again with the same arguments",
      [searched, last("b", "3"), undefined],
      sentAgain,
    ],
    ["the same, perhaps", [searched, undefined, last("b")], sentAgain],
    ["with others", [searched, last("c", "3"), undefined], { ...unknown, body: "" }],
    ["with others, perhaps", [searched, last("b"), last("c")], { ...unknown, body: "" }],
    ["secret", [{ ...searched, body: "" }, undefined, last("")], { ...unknown, body: "" }],
    ["without a search nothing is sent again", [known, last("c", "3"), last("c")], known],
  ])("%s", (_, given, expected) => {
    expect(asLastSent(...given)).toEqual(expected);
  });
});
