/** What one run leaves in its journal file and the next finds. M1 to M6 are the promises in `journal/journal.ts`. */
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../provider/src/base/index.js";
import {
  Journal,
  journalErrorFrom,
  lockPath,
  readJournal,
  writeAnswers,
} from "../../provider/src/journal/index.js";
import { FakeClock } from "../support/clock.js";
import { MemoryDisk } from "../support/disk.js";
import {
  aCreate,
  DEV,
  emptyJournals,
  entryLine,
  FOLDER,
  markOf,
  stackOn,
  type Work,
} from "../support/journal.js";

const KEY = "ConversionEvent::purchase";
const [A, B, C] = ["Advertiser::a", "Advertiser::b", "Advertiser::c"] as const;
const M = markOf(KEY);

const sending: Work = (run) => run.recordSending(aCreate(KEY));
const created: Work = (run) => run.recordCreated(M, "42");
const notCarriedOut: Work = (run) => run.recordNotCarriedOut(M);
const returned: Work = (run) => run.markReturned(M);
const made: Work = (run) => run.recordSending(aCreate(KEY)).then(() => created(run));

const one = (entries: ReadonlyMap<string, { state: "sent" | "created" | "closed" }>) => {
  expect(entries.size).toBeLessThanOrEqual(1);
  return entryLine(entries.get(M));
};

describe("M2, M3: a mark has one entry, from one state to the next", () => {
  it.each<[string, Work[], string]>([
    ["sent", [sending], "sent"],
    ["a response has the id", [sending, created], "created 42"],
    ["a search has it, of a create of an earlier run", [created], "created 42"],
    ["certainly not carried out", [sending, notCarriedOut], "closed"],
    ["sent again after that", [sending, notCarriedOut, sending], "sent"],
    [
      "sent again after that, and made",
      [sending, notCarriedOut, sending, created],
      "created 42",
    ],
    ["sent twice", [sending, sending], "sent"],
  ])("%s", async (_, events, expected) => {
    const { newRun, append, pathOf, journals } = stackOn();
    const run = newRun();
    for (const event of events) await event(run);
    const found = () => one(journals()[0]?.entries ?? new Map());
    expect(found()).toBe(expected);
    append('{"unfinished', pathOf("run-1"));
    expect(found()).toBe(expected);
  });

  it("that the engine has got an outcome is noted, unless it was sent again", async () => {
    const { newRun, journals } = stackOn();
    const run = newRun();
    const isReturned = () => journals()[0]?.entries.get(M)?.isReturned;
    for (const event of [sending, created, returned]) await event(run);
    expect(isReturned()).toBeUndefined();
    await turn();
    expect([isReturned(), one(journals()[0]?.entries ?? new Map())]).toEqual([
      true,
      "created 42",
    ]);
    await sending(run);
    expect(isReturned()).toBeUndefined();
  });

  it.each<[string, Work[], string[], boolean?]>([
    ["nothing was sent", [], []],
    ["killed", [made, (run) => run.release()], ["purchase created 42"]],
    ["made and returned", [made, returned], []],
    ["made, and not returned", [made], ["purchase created 42"]],
    ["unknown and returned: the state has it as unresolved", [sending, returned], []],
    ["not carried out", [sending, notCarriedOut], []],
    [
      "one of two is returned",
      [made, returned, (run) => run.recordSending(aCreate(A))],
      ["purchase created 42", "a sent"],
    ],
    [
      "made and returned, with checkpoints off: a later run has to see it",
      [made, returned],
      ["purchase created 42"],
      false,
    ],
    ["not carried out, with checkpoints off", [sending, notCarriedOut], [], false],
  ])("after a run's end only what is open has a file: %s", async (_, events, left, has) => {
    const { up, words, paths, disk } = stackOn();
    await up(async (run) => {
      for (const event of events) await event(run);
    }, has);
    expect(words()).toEqual(left);
    expect(paths()).toHaveLength(left.length === 0 ? 0 : 1);
    const locks = disk.readdirSync(FOLDER).filter((name) => name.endsWith(".lock"));
    expect(locks).toEqual([]);
  });

  it("what several files have of a mark is one create, and an answer ends it", async () => {
    const { up, open, disk } = stackOn();
    await up((run) => run.recordSending(aCreate(A)));
    await up((run) => run.recordSending(aCreate(A)));
    await up((run) => run.recordCreated(markOf(A), "42", aCreate(A)));
    expect(open()).toEqual(["a 42"]);
    const answer = { key: A, mark: markOf(A), state: "closed" } as const;
    const options = { folder: FOLDER, disk };
    await writeAnswers({ place: DEV, run: "answers" }, [answer], options);
    expect(open()).toEqual([]);
  });

  it("an id that a search has found comes with the create", async () => {
    const { up, journals } = stackOn();
    const found = { ...aCreate(KEY), name: "Purchase", account: "a x@y" };
    await up((run) => run.recordCreated(M, "42", found));
    expect(journals()[0]?.entries.get(M)).toEqual({ ...found, state: "created", id: "42" });
  });

  it("what only Pulumi's record had is kept until somebody resolves it", async () => {
    const { up, open } = stackOn();
    await up((run) => run.keep([aCreate(A), aCreate(B)]));
    expect(open()).toEqual(["a sent", "b sent"]);
  });

  it("M6: an entry is never changed in place", async () => {
    const { newRun, journals } = stackOn();
    const run = newRun();
    await run.recordSending(aCreate(KEY));
    const before = journals()[0]?.entries.get(M);
    const create = { ...aCreate(A), args: { value: 1 } };
    const copy = structuredClone(create);
    await run.recordSending(create);
    await run.recordCreated(create.mark, "7");
    await created(run);
    expect([before?.state, create]).toEqual(["sent", copy]);
  });
});

describe("M1: what is on the disk before a byte leaves", () => {
  it("one write and one sync a create; many at once share them", async () => {
    const disk = new MemoryDisk();
    const { newRun, words } = stackOn(disk);
    const run = newRun();
    await run.assertUsable();
    const calls: string[] = [];
    disk.onChange = (what) => calls.push(what);
    await run.recordSending(aCreate(KEY));
    expect(calls).toEqual([`write ${run.path}`, `sync ${run.path}`]);
    const keys = Array.from({ length: 100 }, (_, index) => `Advertiser::${index}`);
    await Promise.all(keys.map((key) => run.recordSending(aCreate(key))));
    expect([calls.length, words().length]).toEqual([4, 101]);
  });

  it("the first line says which state the run began with, before anything is sent", async () => {
    const { disk, journals } = stackOn();
    const start = { from: "2026-03-02T10:00:00Z", stateRuns: ["r"] };
    const known = Promise.withResolvers<typeof start>();
    const of = { place: DEV, run: "run-1", engine: "127.0.0.1:1" };
    const run = new Journal(of, { folder: FOLDER, disk }, () => known.promise);
    const sent = run.recordSending(aCreate(A));
    await turn();
    expect(journals()).toEqual([]);
    known.resolve(start);
    await sent;
    const header = { stack: DEV.stack, run: "run-1", engine: "127.0.0.1:1", ...start };
    expect(journals()).toMatchObject([{ ...header, path: run.path }]);
  });

  it("a create that could not be written is not sent; an id that could not be written counts in this run", async () => {
    let isFull = false;
    const disk = new MemoryDisk();
    const write = disk.writeFileSync.bind(disk);
    disk.writeFileSync = (file, text) => {
      if (isFull) {
        write(file, String(text).slice(0, 20)); // half a line
        throw new Error("ENOSPC");
      }
      write(file, text);
    };
    const { newRun, words, paths } = stackOn(disk);
    const run = newRun();
    await run.recordSending(aCreate(A));
    isFull = true;
    await expect(run.recordSending(aCreate(KEY))).rejects.toThrow(
      /^Nothing was sent\. The journal .*ENOSPC/,
    );
    await expect(run.recordCreated(markOf(A), "42")).rejects.toThrow(/^The journal /);
    isFull = false;
    await run.recordSending(aCreate(B));
    expect(words()).toEqual(["a sent", "b sent"]);
    for (const key of [A, B]) run.markReturned(markOf(key));
    run.closeNow();
    expect(paths()).toEqual([]);
  });
});

describe("M4: two runs of one stack", () => {
  it("each has a file of its own", async () => {
    const { newRun, words } = stackOn();
    const [one, two] = [newRun(), newRun()];
    await Promise.all([one.recordSending(aCreate(A)), two.recordSending(aCreate(B))]);
    expect(words()).toEqual(["a sent", "b sent"]);
  });

  it("a run that ends while it opens its journal releases it, and writes nothing", async () => {
    for (let turns = 0; turns < 60; turns++) {
      const { newRun, words, disk } = stackOn();
      const run = newRun();
      const opening = run.openOnce();
      for (let count = 0; count < turns; count++) await undefined;
      run.closeNow();
      await opening;
      await expect(run.recordSending(aCreate(B))).rejects.toThrow("this run has ended");
      expect([words(), disk.existsSync(lockPath(run.path))]).toEqual([[], false]);
    }
  });

  it("the end of a run writes all waiting changes, and refuses later ones", async () => {
    const { newRun, words } = stackOn();
    const run = newRun();
    await run.recordSending(aCreate(A));
    const noting = run.recordCreated(markOf(A), "42");
    for (let count = 0; count < 9; count++) await undefined; // no turn of the event loop
    run.closeNow();
    await noting;
    await expect(run.recordSending(aCreate(B))).rejects.toThrow("this run has ended");
    expect(words()).toEqual(["a created 42"]);
  });

  it("a file that was removed or replaced is not written any more", async () => {
    for (const isReplaced of [false, true]) {
      const { newRun, disk, append } = stackOn();
      const run = newRun();
      await run.recordSending(aCreate(A));
      disk.rmSync(run.path, { force: true });
      if (isReplaced) append("", run.path);
      await expect(run.recordSending(aCreate(B))).rejects.toThrow(
        /^Nothing was sent\. .*removed while this run was using it/,
      );
      await expect(run.recordCreated(markOf(A), "1")).rejects.toThrow(/^The journal/);
    }
  });

  it("a later run waits for one that is still ending, if it may be of this state", async () => {
    const { newRun, said } = stackOn();
    const first = newRun();
    await first.recordSending(aCreate(A));
    const clock = new FakeClock();
    const later = newRun({ clock, maxWaitMs: 30_000 });
    const waiting = later.readEarlier(new Set(), ({ run }) => run === "run-1");
    await expect(waiting).resolves.toHaveLength(0);
    await expect(later.assertUsable()).rejects.toThrow(/held by another run|in use/);
    expect(said.join()).toContain("The journal of an earlier run is in use by process");
    later.release();
    // It has ended since, and noted an id.
    const next = newRun({ clock: systemClock, maxWaitMs: 30_000 });
    const reading = next.readEarlier(new Set(), () => true);
    await first.recordCreated(markOf(A), "42");
    first.release();
    const [found] = await reading;
    expect(entryLine(found?.entries.get(markOf(A)))).toBe("created 42");
  });

  it("a preview waits for none, and nobody for another provider's process of its own run", async () => {
    const { newRun } = stackOn();
    const engine = "127.0.0.1:4711";
    const [first, sibling] = [newRun(), newRun({}, engine)];
    for (const run of [first, sibling]) await run.recordSending(aCreate(A));
    const later = newRun({}, engine);
    const found = await later.readEarlier(new Set(), () => false);
    expect(found.map(({ run }) => run)).toEqual(["run-1"]);
    expect(await later.readEarlier(new Set(), () => false)).toHaveLength(1);
    await later.assertUsable();
    expect(await later.readEarlier(new Set(), () => false)).toHaveLength(1); // not its own
  });
});

describe("M5: what can't be read stops every create", () => {
  const HEADER = '{"journal":"pulumi-advertising","version":1,"stack":"s","run":"r"}\n';
  it.each<[string, string, RegExp]>([
    ["no journal", "garbage\n", /its first line isn't a journal's\. .*rm '/s],
    ["an empty file", "", /its first line isn't a journal's/],
    ["a lost line", `${HEADER}\0\0\n`, /line 2 can't be read/],
    ["no mark", `${HEADER}{"state":"sent"}\n`, /line 2 can't be read/],
    ["an unknown state", `${HEADER}{"mark":"m","state":"x"}\n`, /line 2 can't be read/],
    [
      "an id that is no text",
      `${HEADER}{"mark":"m","state":"created","id":5}\n`,
      /line 2 can't be read/,
    ],
    [
      "a later version",
      '{"journal":"pulumi-advertising","version":2}\n',
      /its format \(2\) is too new: update pulumi-advertising\. Run this again\.$/,
    ],
  ])("%s", async (_, text, words) => {
    const { newRun, append, paths, journals } = stackOn();
    append(text);
    expect(journals).toThrow();
    const run = newRun();
    expect(await run.readEarlier(new Set(), () => false)).toEqual([]);
    expect(run.trouble?.message).toMatch(words); // a preview says it too
    await expect(run.recordSending(aCreate(A))).rejects.toThrow(words);
    run.closeNow();
    expect(paths()).toHaveLength(1); // it stays as it is
  });

  it("another stack's, another place's and other files are not even read", async () => {
    const { newRun, append, pathOf, paths, disk } = stackOn();
    for (const place of [
      { ...DEV, stack: "shop/prod" },
      { ...DEV, backend: "s3://x" },
    ])
      append("garbage\n", stackOn(disk, place).pathOf("run"));
    append("garbage\n", `${pathOf("run")}.lock`);
    append("garbage\n", `${FOLDER}/notes.txt`);
    disk.mkdirSync(`${FOLDER}/old.jsonl`, { recursive: true, mode: 0o700 });
    expect(paths()).toEqual([]);
    expect(await newRun().readEarlier(new Set(), () => false)).toEqual([]);
  });

  it("a journal of a run that Pulumi's record names is read wherever its place was guessed", async () => {
    const { disk, newRun } = stackOn();
    const other = stackOn(disk, { ...DEV, backend: "s3://x" });
    await other.up((run) => run.recordSending(aCreate(A)));
    expect(await newRun().readEarlier(new Set(["run-2"]), () => false)).toEqual([]);
    expect(await newRun().readEarlier(new Set(["run-1"]), () => false)).toMatchObject([
      { run: "run-1" },
    ]);
  });

  it("a folder that can't be read stops too; none is an empty one", async () => {
    const disk = new MemoryDisk();
    const { newRun } = stackOn(disk);
    expect(await newRun().readEarlier(new Set(), () => false)).toEqual([]);
    disk.mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
    disk.readdirSync = () => {
      throw Object.assign(new Error("EACCES: refused"), { code: "EACCES" });
    };
    const run = newRun();
    expect(await run.readEarlier(new Set(), () => false)).toEqual([]);
    await expect(run.recordSending(aCreate(A))).rejects.toThrow("EACCES");
    expect(journalErrorFrom("/x", new Error("y")).message).toBe(
      "Nothing was sent. The journal /x can't be used: y. Run this again.",
    );
  });
});

it("a read error that passes is waited out", async () => {
  const disk = new MemoryDisk();
  const { newRun, up } = stackOn(disk);
  await up((run) => run.recordSending(aCreate(A)));
  const clock = new FakeClock(0);
  const sleep = vi.spyOn(clock, "sleep").mockResolvedValue();
  const { readdirSync } = disk;
  let failures = 2;
  disk.readdirSync = ((...args: Parameters<typeof readdirSync>) => {
    if (failures-- > 0)
      throw Object.assign(new Error("EIO: i/o error, scandir"), {
        code: "EIO",
        syscall: "scandir",
      });
    return readdirSync.apply(disk, args);
  }) as typeof readdirSync;
  const run = newRun({ clock });
  expect(await run.readEarlier(new Set(), () => false)).toMatchObject([{ run: "run-1" }]);
  expect(run.trouble).toBeUndefined();
  await run.recordSending(aCreate(B));
  run.closeNow();
  // One that stays stops every create, as any other.
  failures = 3;
  const next = newRun({ clock });
  expect(await next.readEarlier(new Set(), () => false)).toEqual([]);
  await expect(next.recordSending(aCreate(C))).rejects.toThrow("EIO");
  expect(sleep).toHaveBeenCalledTimes(4);
});

describe("the end", () => {
  it("removes the journals that nobody needs any more, and no process writes", async () => {
    const { up, paths, journals, disk } = stackOn();
    for (const key of [A, B, C]) await up((run) => run.recordSending(aCreate(key)));
    const [first, second] = journals();
    emptyJournals(first ? [first] : [], disk);
    expect(paths()).toHaveLength(2);
    // A process still writes it.
    const lock = lockPath(second?.path ?? "");
    disk.writeFileSync(disk.openSync(lock, "a", 0o600), "of a run");
    emptyJournals(second ? [second] : [], disk);
    expect(paths()).toHaveLength(2);
    disk.rmSync(lock, { force: true });
    emptyJournals(second ? [second] : [], disk);
    expect(paths()).toHaveLength(1);
  });

  it("leaves a journal that can't be removed to the next run", async () => {
    const { up, journals, paths, disk } = stackOn();
    await up((run) => run.recordSending(aCreate(A)));
    const all = journals();
    disk.rmSync = () => {
      throw new Error("EBUSY");
    };
    expect(() => emptyJournals(all, disk)).not.toThrow();
    expect(paths()).toHaveLength(1);
  });

  it("has answers on the disk once they are written, in a file that no run has", async () => {
    const { disk, words, paths } = stackOn();
    const lines = [A, B].map(
      (key) => ({ ...aCreate(key), state: "created", id: "7" }) as const,
    );
    const of = { place: DEV, run: "answers" };
    await writeAnswers(of, lines, { folder: FOLDER, disk });
    expect(words()).toEqual(["a created 7", "b created 7"]);
    const [path = ""] = paths();
    expect(readJournal(path, disk)).toMatchObject({ run: "answers", stack: DEV.stack });
    expect(disk.existsSync(lockPath(path))).toBe(false);
    await turn();
  });
});
