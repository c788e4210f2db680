/** What a run learns from Pulumi's record: read once, believed only if it shows this run's own, and without it. */
import { describe, expect, it } from "vitest";
import type { Journal, RunJournal } from "../../provider/src/journal/index.js";
import { RunRecord } from "../../provider/src/operations/run-record.js";
import { type ExportedStack, readExport } from "../../provider/src/record/export.js";
import { markOf } from "../../provider/src/state/index.js";
import { FakeClock } from "../support/clock.js";
import { EVENT, storedEvent } from "../support/stored.js";

const [THIS, EARLIER] = ["this-run", "earlier"];
const TIME = "2026-03-02T10:00:00.000Z";
const KEY = "ConversionEvent::buy";
const MARK = markOf(EARLIER, KEY);

const creating = (run: string) => ({
  type: "creating",
  resource: {
    ...storedEvent("buy", ""),
    inputs: { eventName: "Buy", advertiserId: 1, ...EVENT, __run: run },
  },
});
const exported = (pending_operations: object[] = [], resources: object[] = []) =>
  readExport(
    JSON.stringify({
      version: 3,
      deployment: { manifest: { time: TIME }, resources, pending_operations },
    }),
  );
const HELD = exported([], [storedEvent("buy", 5)]);

/** A run whose reads of the record give these, one after the other; the last one again. */
function start(
  answers: (ExportedStack | Error)[],
  { journals = [], hasStack = true }: { journals?: RunJournal[]; hasStack?: boolean } = {},
) {
  const warnings: string[] = [];
  const clock = new FakeClock();
  let reads = 0;
  const waits: unknown[] = [];
  const journal = {
    start: {},
    readEarlier: async (_runs: Set<string>, mayBeOurs?: (run: RunJournal) => boolean) => {
      waits.push(mayBeOurs && journals.map((each) => mayBeOurs(each)));
      return journals;
    },
  };
  const record = new RunRecord({
    isThisRun: (run) => run === THIS,
    read: async () => {
      const answer = answers[Math.min(reads++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer as ExportedStack;
    },
    journal: () => (hasStack ? (journal as unknown as Journal) : undefined),
    warn: (message) => void warnings.push(message),
    clock,
  });
  return { record, warnings, clock, journal, waits, reads: () => reads };
}

const journalOf = (run: string, state: "sent" | "created" | "closed", id?: string) => {
  const entry = { key: KEY, run, at: "", mark: markOf(run, KEY), body: "b", state, id };
  return { path: run, stack: "shop/dev", run, entries: new Map([[entry.mark, entry]]) };
};

describe("the record", () => {
  it("is read once, whoever asks, and nobody waits for it before", async () => {
    const { record, reads, warnings } = start([HELD]);
    expect([record.hasBegun, reads()]).toEqual([false, 0]);
    record.begin();
    expect([record.hasBegun, record.arrived]).toEqual([true, undefined]);
    const [one, two] = await Promise.all([record.state(), record.state()]);
    await Promise.all([record.open(true), record.open(false)]);
    expect([reads(), warnings]).toEqual([1, []]);
    expect(one).toBe(two);
    expect(record.arrived).toBe(one);
  });

  it("that can't be read is one warning; then only the journals count, and nothing is believed", async () => {
    const journals = [journalOf(EARLIER, "sent")];
    const { record, warnings, reads, clock } = start([new Error("no rights")], {
      journals,
    });
    await Promise.all([record.state(), record.state(), record.isBelieved()]);
    const { all } = await record.open(true);
    expect(all).toMatchObject([{ mark: MARK, isDoubtful: false }]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Pulumi's record of this stack can't be read: no rights\. So only this machine's journal .* run `npx pulumi-advertising pending` first\.$/,
      ),
    ]);
    expect([await record.isBelieved(), reads(), clock.monotonicMs()]).toEqual([
      false,
      1,
      0,
    ]);
    expect(record.finishedJournals(true)).toEqual([]);
  });
});

describe("it is believed", () => {
  const own = exported([creating(THIS)]);
  const foreign = exported([creating(EARLIER)]);
  const none = exported();

  it.each<[string, boolean, number, (ExportedStack | Error)[]]>([
    ["it has the operation that is under way", true, 1, [own]],
    ["it has it once it is asked again", true, 2, [none, own]],
    ["it has it at last", true, 3, [none, foreign, own]],
    ["it can't be read then, but later", true, 3, [none, new Error("no"), own]],
    ["it has another run's operation", false, 3, [foreign]],
    ["it is another backend's", false, 3, [HELD]],
    ["it can't be read again", false, 3, [none, new Error("no")]],
  ])("if %s: %j", async (_, isBelieved, asked, answers) => {
    const { record, reads, clock, warnings } = start(answers);
    expect(await Promise.all([record.isBelieved(), record.isBelieved()])).toEqual([
      isBelieved,
      isBelieved,
    ]);
    expect([reads(), warnings]).toEqual([asked, []]);
    expect(clock.monotonicMs()).toBe([0, 500, 2000][asked - 1]);
  });

  it("if it has a resource as the engine has passed it", async () => {
    for (const id of ["5", "6"]) {
      const { record } = start([HELD]);
      record.notePassed((resource) => resource.id === id);
      expect(await record.isBelieved()).toBe(id === "5");
    }
  });

  it("by any of the first few resources", async () => {
    const { record } = start([HELD]);
    let asked = 0;
    for (let n = 0; n < 30; n++)
      record.notePassed(() => {
        asked++;
        return false;
      });
    expect(await record.isBelieved()).toBe(false);
    expect(asked).toBe(30); // 10 in each of 3 reads
  });
});

describe("open creates", () => {
  it("an `up` waits for runs of this state that are still ending, a preview for none", async () => {
    const journals = [journalOf(EARLIER, "sent"), journalOf("elsewhere", "sent")];
    const saved = exported([creating(EARLIER)], [storedEvent("other", 6)]);
    const { record, waits, journal } = start([saved], { journals });
    const preview = await record.open(false);
    expect(preview.all.map(({ run, isDoubtful }) => `${run} ${isDoubtful}`)).toEqual([
      `${EARLIER} false`,
      "elsewhere true",
    ]);
    expect(journal.start).toEqual({ from: TIME, stateRuns: [EARLIER] });
    const up = await record.open(true);
    expect(waits).toEqual([undefined, [true, false]]);
    // From then on, everybody asks that.
    expect([await record.open(false), await record.open(true)]).toEqual([up, up]);
    expect(waits).toHaveLength(2);
  });

  it("are none for a run that doesn't know its stack", async () => {
    const { record } = start([exported([creating(EARLIER)])], { hasStack: false });
    expect((await record.open(false)).all).toEqual([]);
  });

  it("are this run's no longer once the state has them, by the mark or the object", async () => {
    const { record } = start([HELD]);
    const create = { key: KEY, run: EARLIER, at: "", mark: "m", body: "" };
    expect(record.hasSeen({ ...create, id: "5" })).toBe(false);
    record.noteSeen("ConversionEvent 5");
    expect(record.hasSeen({ ...create, id: "5" })).toBe(true);
    expect(record.hasSeen({ ...create, id: "6" })).toBe(false);
    record.noteSeen("m");
    expect(record.hasSeen(create)).toBe(true);
  });
});

describe("what is kept", () => {
  it("outcomes only as long as a pending operation asks for them", async () => {
    const outcomes = new Map([
      [MARK, "5"],
      ["old", ""],
    ]);
    const { record } = start([exported([creating(EARLIER)])]);
    expect(record.stillListed(outcomes)).toEqual(outcomes); // not known yet
    await record.state();
    expect([...record.stillListed(outcomes)]).toEqual([[MARK, "5"]]);
  });

  it.each<[string, string[], string[]]>([
    ["nothing is resolved", [], []],
    ["the create is resolved", [MARK], [EARLIER]],
  ])("journals whose creates are open: %s", async (_, seen, finished) => {
    const journals = [journalOf(EARLIER, "sent")];
    const { record } = start([exported([creating(EARLIER)])], { journals });
    await record.open(true);
    for (const mark of seen) record.noteSeen(mark);
    expect(record.finishedJournals(true).map(({ run }) => run)).toEqual(finished);
    // With checkpoints off, a later run has to see it in the state.
    expect(record.finishedJournals(false)).toEqual([]);
  });

  it("an object beside the state's is superseded: it is named once, and its journal goes", async () => {
    const journals = [journalOf(EARLIER, "created", "4")];
    const inputs = { __run: EARLIER };
    const saved = exported([], [storedEvent("buy", 5, {}, { inputs })]);
    const { record } = start([saved], { journals });
    expect((await record.open(true)).all).toEqual([]);
    expect(record.superseded).toMatchObject([{ id: "4", mark: MARK }]);
    expect(record.finishedJournals(true)).toEqual(journals);
  });
});
