/** What a run learns from Pulumi's record: read once, believed only if it shows this run's own, and without it. */
import { describe, expect, it } from "vitest";
import type { Disk } from "../../provider/src/files/index.js";
import type { Journal, RunJournal } from "../../provider/src/journal/index.js";
import { RunRecord } from "../../provider/src/operations/run-record.js";
import { type ExportedStack, readExport } from "../../provider/src/record/export.js";
import { markOf } from "../../provider/src/state/index.js";
import { FakeClock } from "../support/clock.js";
import { EVENT, senderOf, storedEvent } from "../support/stored.js";

const [THIS, EARLIER] = ["this-run", "earlier"];
const TIME = "2026-03-02T10:00:00.000Z";
const KEY = "ConversionEvent::buy";
const MARK = markOf(EARLIER, KEY);

const creating = (run: string) => ({
  type: "creating",
  resource: {
    ...storedEvent("buy", ""),
    inputs: {
      eventName: "Buy",
      advertiserId: 1,
      ...EVENT,
      __sender: senderOf("", { run: run }),
    },
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
  {
    journals = [],
    hasStack = true,
    hasCheckpoints = true,
  }: { journals?: RunJournal[]; hasStack?: boolean; hasCheckpoints?: boolean } = {},
) {
  const warnings: string[] = [];
  const clock = new FakeClock();
  let reads = 0;
  const waits: unknown[] = [];
  const run = { isUp: true, hasStack };
  const journal = {
    readEarlier: async (_runs: Set<string>, isAwaited: (run: RunJournal) => boolean) => {
      waits.push(journals.map((each) => isAwaited(each)));
      return journals;
    },
  };
  const record = new RunRecord({
    isThisRun: (run) => run === THIS,
    isSameAccount: () => true,
    provider: undefined,
    read: async () => {
      const answer = answers[Math.min(reads++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer as ExportedStack;
    },
    journal: () => (run.hasStack ? (journal as unknown as Journal) : undefined),
    notes: undefined,
    isUp: () => run.isUp,
    hasCheckpoints,
    warn: (message) => void warnings.push(message),
    clock,
  });
  return { record, warnings, clock, run, waits, reads: () => reads };
}

/** The journals that the end of a run removes. */
function removedBy(record: RunRecord): string[] {
  const removed: string[] = [];
  const disk = { existsSync: () => false, rmSync: (path: string) => removed.push(path) };
  record.closeJournals(disk as unknown as Disk);
  return removed;
}

const journalOf = (run: string, state: "sent" | "created" | "closed", id?: string) => {
  const entry = { key: KEY, run, at: "", mark: markOf(run, KEY), body: "b", state, id };
  return { path: run, stack: "shop/dev", run, entries: new Map([[entry.mark, entry]]) };
};

describe("the record", () => {
  it("is read once, whoever asks, and nobody waits for it before", async () => {
    const { record, reads, warnings } = start([HELD]);
    expect([record.hasBegun, reads()]).toEqual([false, 0]);
    const states = [record.state(), record.state()];
    expect([record.hasBegun, record.arrived]).toEqual([true, undefined]);
    const [one, two] = await Promise.all(states);
    await Promise.all([record.open(), record.open()]);
    expect([reads(), warnings]).toEqual([1, []]);
    expect(one).toBe(two);
    expect(record.arrived).toBe(one);
  });

  it("that can't be read is one warning; then only the journals count, and nothing is believed", async () => {
    const journals = [journalOf(EARLIER, "sent")];
    const { record, warnings, reads, clock } = start([new Error("no rights")], {
      journals,
    });
    await Promise.all([record.state(), record.state(), record.stateNow()]);
    const { all } = await record.open();
    expect(all).toMatchObject([{ mark: MARK, isDoubtful: false }]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Pulumi's record of this stack can't be read: no rights\. So only this machine's journal .* run `npx pulumi-advertising pending` first\.$/,
      ),
    ]);
    expect([await record.stateNow(), reads(), clock.monotonicMs()]).toEqual([
      undefined,
      2,
      500,
    ]);
    expect(removedBy(record)).toEqual([]);
  });

  it("that can't be read is said with the reason", async () => {
    const { record, warnings } = start([new Error("no rights")]);
    await record.state();
    expect(warnings).toEqual([expect.stringContaining("can't be read: no rights. So ")]);
  });

  it("is read again if it can't be read at once: the engine may be writing it", async () => {
    const { record, warnings, reads } = start([new Error("EOF"), exported()]);
    expect([await record.state(), reads(), warnings]).toMatchObject([{}, 2, []]);
  });
});

describe("before a delete it is read again, and believed", () => {
  const own = exported([creating(THIS)]);
  const foreign = exported([creating(EARLIER)]);
  const none = exported();

  it.each<[string, boolean, number, (ExportedStack | Error)[]]>([
    ["it has the operation that is under way", true, 2, [own]],
    ["it had it at the start", true, 2, [own, none]],
    [
      "it had it at the start, and can be read later",
      true,
      3,
      [own, new Error("no"), none],
    ],
    ["it has it once it is asked again", true, 2, [none, own]],
    ["it has it at last", true, 4, [none, none, foreign, own]],
    ["it can't be read then, but later", true, 3, [none, new Error("no"), own]],
    ["it has another run's operation", false, 4, [foreign]],
    ["it is another backend's", false, 4, [HELD]],
    ["it can't be read again", false, 4, [none, new Error("no")]],
  ])("if %s: %j", async (_, isBelieved, asked, answers) => {
    const { record, reads, clock, warnings } = start(answers);
    const states = await Promise.all([record.stateNow(), record.stateNow()]);
    expect(states.map((state) => state !== undefined)).toEqual([isBelieved, isBelieved]);
    expect([reads(), warnings]).toEqual([asked, []]);
    expect(clock.monotonicMs()).toBe([0, 500, 2000][asked - 2]);
  });

  it("if it has a resource as the engine has passed it", async () => {
    for (const id of ["5", "6"]) {
      const { record } = start([HELD]);
      record.notePassed((resource) => resource.id === id);
      expect((await record.stateNow()) !== undefined).toBe(id === "5");
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
    expect(await record.stateNow()).toBeUndefined();
    expect(asked).toBe(40); // 10 in each of 4 reads
  });
});

describe("open creates", () => {
  it("an `up` waits for runs of this state that are still ending, a preview for none", async () => {
    const journals = [journalOf(EARLIER, "sent"), journalOf("elsewhere", "sent")];
    const saved = exported([creating(EARLIER)], [storedEvent("other", 6)]);
    const { record, waits, run } = start([saved], { journals });
    run.isUp = false;
    const preview = await record.open();
    expect(preview.all.map(({ run, isDoubtful }) => `${run} ${isDoubtful}`)).toEqual([
      `${EARLIER} false`,
      "elsewhere true",
    ]);
    run.isUp = true;
    const up = await record.open();
    expect(waits).toEqual([
      [false, false],
      [true, false],
    ]);
    expect(await record.open()).toBe(up);
    expect(waits).toHaveLength(2);
  });

  it("are there once the run knows its stack, also if somebody has asked before", async () => {
    const options = { hasStack: false };
    const { record, run } = start([exported([creating(EARLIER)])], options);
    expect((await record.open()).all).toEqual([]);
    run.hasStack = true;
    expect((await record.open()).all).toHaveLength(1);
  });

  it("are none for a run that doesn't know its stack", async () => {
    const { record } = start([exported([creating(EARLIER)])], { hasStack: false });
    expect((await record.open()).all).toEqual([]);
  });

  it("are this run's no longer once the state has them, by the mark or the object", async () => {
    const { record } = start([HELD]);
    const create = { key: KEY, run: EARLIER, at: "", mark: "m", body: "" };
    expect(record.hasSeen({ ...create, id: "5" })).toBe(false);
    record.seenInState.add("ConversionEvent 5");
    expect(record.hasSeen({ ...create, id: "5" })).toBe(true);
    expect(record.hasSeen({ ...create, id: "6" })).toBe(false);
    record.seenInState.add("m");
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

  it.each<[string, (record: RunRecord) => void, boolean[]]>([
    ["nothing is known", () => undefined, []],
    [
      "the engine has shown its outcome",
      (record) => record.seenInState.add(MARK),
      [true, false],
    ],
    // With checkpoints off, a later run has to see it in the state.
    ["this run has resolved it", (record) => record.resolved.add(MARK), [true]],
  ])("the journal of an open create: %s", async (_, note, finishedWith) => {
    const journals = [journalOf(EARLIER, "sent")];
    for (const saved of [exported([creating(EARLIER)]), new Error("no rights")])
      for (const hasCheckpoints of [true, false]) {
        const { record } = start([saved], { journals, hasCheckpoints });
        await record.open();
        note(record);
        const isFinished = finishedWith.includes(hasCheckpoints);
        expect(removedBy(record)).toEqual(isFinished ? [EARLIER] : []);
      }
  });

  it("an object beside the state's is superseded: it is named once, and its journal goes", async () => {
    const journals = [journalOf(EARLIER, "created", "4")];
    const inputs = { __sender: senderOf("", { run: EARLIER }) };
    const saved = exported([], [storedEvent("buy", 5, {}, { inputs })]);
    const { record } = start([saved], { journals });
    expect((await record.open()).all).toEqual([]);
    expect(record.superseded).toMatchObject([{ id: "4", mark: MARK }]);
    expect(removedBy(record)).toEqual([EARLIER]);
  });
});
