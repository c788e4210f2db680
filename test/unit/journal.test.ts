/** What one run leaves in a stack's journal and the next finds there. M1 to M6 are the promises in `journal/journal.ts`. */
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { JournalError } from "../../provider/src/base/index.js";
import {
  appendLines,
  confirmedLine,
  everyJournal,
  type Journal,
  keysHolding,
  openElsewhere,
} from "../../provider/src/journal/index.js";
import { MemoryDisk } from "../support/disk.js";
import {
  AT,
  aCreate,
  DEV,
  entryLine,
  FOLDER,
  OURS,
  PROD,
  stackOn,
  type Work,
} from "../support/journal.js";

const KEY = "ConversionEvent::purchase";
const [A, B, C] = ["Advertiser::a", "Advertiser::b", "Advertiser::c"] as const;
const nothing: Work = () => undefined;

const madeFor7 = (run: Journal) =>
  run.recordSending(aCreate(KEY, "7")).then(() => run.recordCreated(KEY, "42"));

/** What an earlier run did. The numbers are ids. */
const FROM: Record<string, Work> = {
  none: nothing,
  sent: (run) => run.recordSending(aCreate(KEY)),
  "sent for 7": (run) => run.recordSending(aCreate(KEY, "7")),
  created: (run) => madeFor7(run).then(() => run.release()), // killed
  reported: (run) => madeFor7(run).then(() => run.markReturned(KEY)),
  confirmed: (run) => run.recordSeen({ key: KEY, id: "7" }),
};

/** What the next run does, in the order of the table's columns. */
const EVENTS: Work[] = [
  (run) => run.release(), // killed
  nothing,
  (run) => run.markReturned(KEY),
  (run) => run.closeNow([KEY]), // it leaves the state, and that was said
  (run) => run.recordSending(aCreate(KEY)),
  (run) => run.recordCreated(KEY, "42"),
  (run) => run.recordNotCarriedOut(KEY),
  (run) => run.recordSeen({ key: KEY, id: "42" }),
  (run) => run.recordSeen({ key: KEY, id: "7" }),
  (run) => run.recordSeen({ key: KEY, id: "9" }),
  (run) => run.recordAdopted(KEY, "9"),
];

// An empty cell is an event that does not come then.
const TABLE = `
from      |killed     |ended      |given      |left      |sending|created 42|back       |saw 42      |saw 7      |saw 9      |adopted 9
none      |none       |none       |none       |none      |sent   |created 42|           |confirmed 42|confirmed 7|confirmed 9|confirmed 9
sent      |sent       |sent       |           |sent      |sent   |created 42|none       |confirmed 42|confirmed 7|confirmed 9|confirmed 9
sent for 7|sent       |sent       |           |sent      |sent   |created 42|confirmed 7|confirmed 42|sent       |confirmed 9|confirmed 9
created   |created 42 |created 42 |reported 42|created 42|       |created 42|           |confirmed 42|created 42 |created 42 |confirmed 9
reported  |reported 42|reported 42|reported 42|none      |       |          |           |confirmed 42|reported 42|confirmed 9|confirmed 9
confirmed |confirmed 7|confirmed 7|confirmed 7|none      |sent   |created 42|           |confirmed 42|confirmed 7|confirmed 9|confirmed 9`;
const [head = [], ...rows] = TABLE.trim()
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()));
const CASES = rows.flatMap(([from = "", ...cells]) =>
  cells.flatMap((to, index) =>
    to === "" ? [] : [[from, head[index + 1], to, EVENTS[index] ?? nothing] as const],
  ),
);

describe("M2, M3: one record a key, from one state to the next", () => {
  it.each(CASES)(
    "a record that was '%s' is, after the event '%s', '%s'",
    async (from, _, to, event) => {
      const { up, newRun, all, append } = stackOn();
      await up(FROM[from] ?? nothing);
      await up(event);
      expect(entryLine(newRun().of(KEY))).toBe(to);
      expect(all().length).toBeLessThanOrEqual(1);
      append('{"unfinished');
      expect(entryLine(newRun().of(KEY))).toBe(to); // also while it is written
      await up(nothing); // writes it anew
      expect(entryLine(newRun().of(KEY))).toBe(to);
    },
  );

  it.each([true, false])(
    "what was made under a former name is seen with its object, for the same account: %s",
    async (isSame) => {
      const { up, newRun } = stackOn();
      const account = isSame ? OURS.account : "platform.example b@example.com";
      await up((run) =>
        run
          .recordSending({ ...aCreate(A), name: "Acme", account })
          .then(() => run.recordCreated(A, "42")),
      );
      await up((run) => run.recordSeen({ key: B, id: "42" }), [], OURS);
      expect(newRun().openAtStart).toHaveLength(isSame ? 0 : 1);
      expect(newRun().of(A)).toMatchObject({
        state: isSame ? "confirmed" : "created",
        id: "42",
        name: "Acme",
      });
    },
  );

  it("an object that the state knows to be replaced is open no longer, under its own key too", async () => {
    const { up, newRun } = stackOn();
    await up((run) => run.recordSending(aCreate(A)).then(() => run.recordCreated(A, "42")));
    await up((run) => run.recordSeen({ key: A, id: "43" }));
    expect(entryLine(newRun().of(A))).toBe("created 42");
    const creates = [`${aCreate(A).mark} ${AT}`];
    await up((run) => run.recordSeen({ key: A, id: "43", creates }));
    expect(entryLine(newRun().of(A))).toBe("confirmed 43");
  });

  it("a create that the state looks after under another key, or whose outcome it knows, is open no longer", async () => {
    const { up, newRun } = stackOn();
    await up(async (run) => {
      for (const key of [A, B, C]) await run.recordSending(aCreate(key));
    });
    await up((run) => {
      run.recordSeen({ key: "Advertiser::new-a", creates: [aCreate(A).mark] });
      run.recordSeen({
        key: "Advertiser::new-b",
        id: "7",
        creates: [`${aCreate(B).mark} ${AT}`],
      });
      run.recordSeen({
        key: "Advertiser::new-c",
        id: "8",
        creates: [`${aCreate(C).mark} 2020-01-01T00:00:00.000Z`],
      });
    });
    expect([A, B, C].map((key) => entryLine(newRun().of(key)))).toEqual([
      "none",
      "confirmed 7",
      "sent",
    ]);
  });

  it("with checkpoints off a clean end leaves its creates open, until a later run has seen them", async () => {
    const { newRun, up, words } = stackOn();
    const run = newRun();
    for (const [key, id] of [
      [A, "1"],
      [B, "2"],
    ] as const) {
      await run.recordSending(aCreate(key));
      await run.recordCreated(key, id);
      run.markReturned(key);
    }
    run.closeNow([], false);
    expect(newRun().openAtStart.map(({ key }) => key)).toEqual([A, B]);
    await up((next) => {
      next.recordSeen({ key: A, id: "1" });
      next.markReturned(B); // taken over, and saved by a run with checkpoints
    });
    expect([words(), newRun().openAtStart]).toEqual([
      ["a confirmed 1", "b reported 2"],
      [],
    ]);
  });

  it("at a clean end only what this engine was given is reported", async () => {
    const { up, words, newRun } = stackOn();
    await up(async (run) => {
      await Promise.all([A, B, C].map((key) => run.recordSending(aCreate(key))));
      run.recordSeen({ key: A, id: "9" }); // asked again, of the state that it began with
      await Promise.all(
        [A, B, C].map((key, index) => run.recordCreated(key, String(index))),
      );
      run.markReturned(A);
      expect(run.openAtStart).toEqual([]); // its own
    });
    expect(words()).toEqual(["a reported 0", "b created 1", "c created 2"]);
    expect(newRun().openAtStart).toMatchObject([{ key: B }, { key: C }]);
    await up((run) => run.markReturned(B)); // taken over
    expect(words()).toEqual(["a reported 0", "b reported 1", "c created 2"]);
  });

  it("what is seen in the state keeps its name, by which a rename is known, whoever saw it", async () => {
    const shown = { name: "Acme", facts: { value: 1 } };
    const { up, newRun, disk } = stackOn();
    await up((run) => run.recordSending({ ...aCreate(A), ...shown }));
    // As `pending` does for what the state has.
    const lines = newRun().openAtStart.map((each) => confirmedLine(each, "1"));
    await appendLines(DEV, lines, { folder: FOLDER, disk });
    await up((run) => run.recordSeen({ key: B, id: "2", ...shown }));
    await up((run) => run.recordSeen({ key: B, id: "2" }));
    const found = () => newRun().confirmedNamed("Advertiser", "Acme");
    expect(found()).toMatchObject([A, B].map((key) => ({ key, ...shown })));
    await up((run) => run.recordSeen({ key: B, id: "2", name: "Acme Shoes" }));
    expect(found()).toMatchObject([{ key: A }]);
  });

  it("an object that left the state has no record any more, but the journal still knows its id", async () => {
    const { up, newRun } = stackOn();
    await up((run) => run.recordSending(aCreate(A)).then(() => run.recordCreated(A, "42")));
    await up(async (run) => run.recordSeen({ key: A, id: "42" }));
    const run = newRun();
    await run.openOnce();
    run.closeNow([A]);
    await up(async () => undefined);
    const last = newRun();
    expect([last.of(A), last.records.get(A)?.id]).toEqual([undefined, "42"]);
  });

  it("what goes on under another key has its record there, unless that key has one", async () => {
    const { up, words, newRun } = stackOn();
    await up((run) => run.recordSending(aCreate(A)).then(() => run.recordCreated(A, "42")));
    await up((run) => run.recordSending(aCreate(B)).then(() => run.recordCreated(B, "43")));
    const before = newRun().of(A);
    await up(async (run) => {
      run.moveRecord(A, B);
      run.moveRecord(A, C);
      expect([run.of(A), run.of(C)]).toEqual([undefined, { ...before, key: C }]);
    });
    const after = ["a closed 42", "b created 43", "c created 42"];
    expect(words()).toEqual(after);
    await up(async (run) => run.moveRecord(A, C));
    expect([words(), newRun().holderOf("Advertiser", "42")]).toEqual([after, C]);
  });

  it("what is open under a former key comes before what was only seen under the new one", async () => {
    const { up, words } = stackOn();
    await up(async (run) => run.recordSeen({ key: B, id: "41" }));
    await up((run) =>
      run
        .recordSending({ ...aCreate(A), replaces: "41" })
        .then(() => run.recordCreated(A, "42")),
    );
    await up(async (run) => run.moveRecord(A, B));
    expect(words()).toEqual(["b created 42", "a closed 42"]);
  });

  it("M6: a returned record never changes, and a create after a closed record begins a new one", async () => {
    const { up, newRun } = stackOn();
    await up(FROM["sent for 7"] ?? nothing);
    await up(async (run) => {
      const before = run.of(KEY);
      const copy = structuredClone(before);
      await run.recordCreated(KEY, "42");
      expect(before).toEqual(copy);
      await run.recordNotCarriedOut(KEY);
    });
    await up((run) => run.recordCreated(KEY, "43", { at: AT, mark: "n" }));
    expect(newRun().of(KEY)).toEqual({
      key: KEY,
      state: "created",
      id: "43",
      at: AT,
      mark: "n",
      body: "",
    });
  });
});

describe("M1: what is on the disk before a byte leaves", () => {
  it("one write and one sync a create; many at once share them", async () => {
    const disk = new MemoryDisk();
    const { newRun, path, words } = stackOn(disk);
    const run = newRun();
    await run.assertUsable();
    const calls: string[] = [];
    disk.onChange = (what) => calls.push(what);
    await run.recordSending(aCreate(KEY));
    expect(calls).toEqual([`write ${path}`, `sync ${path}`]);
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        run.recordSending(aCreate(`Advertiser::${index}`)),
      ),
    );
    expect([calls.length, words().length]).toEqual([4, 101]);
  });

  it("a create that could not be written is not sent; an id that could not be written counts in this run", async () => {
    let isFull = false;
    const disk = new MemoryDisk();
    const write = disk.writeFileSync.bind(disk);
    disk.writeFileSync = (file, text) => {
      if (isFull) throw new Error("ENOSPC");
      write(file, text);
    };
    const { newRun } = stackOn(disk);
    const run = newRun();
    await run.recordSending(aCreate(A));
    isFull = true;
    await expect(run.recordSending(aCreate(KEY))).rejects.toThrow(
      /^Nothing was sent\. The journal .*ENOSPC/,
    );
    await expect(run.recordAdopted(B, "9")).rejects.toThrow(JournalError);
    await expect(run.recordCreated(A, "42")).rejects.toThrow(/^The journal /);
    run.recordSeen({ key: C, id: "3" });
    await turn();
    expect([KEY, A, B, C].map((key) => entryLine(run.of(key)))).toEqual([
      "none",
      "created 42",
      "confirmed 9",
      "confirmed 3",
    ]);
    isFull = false;
    await run.recordSending(aCreate(KEY));
    run.markReturned(A);
    run.closeNow([]);
    expect([KEY, A, B].map((key) => entryLine(newRun().of(key)))).toEqual([
      "sent",
      "reported 42",
      "none",
    ]);
  });
});

describe("M4: two runs of one stack", () => {
  it("a run that ends while it opens the journal releases it for others, and writes nothing more", async () => {
    for (let turns = 0; turns < 60; turns++) {
      const { up, newRun, words, append } = stackOn();
      await up((run) => run.recordSending(aCreate(A)));
      if (turns % 2 === 0) append("unfinished");
      const run = newRun();
      const opening = run.openOnce();
      for (let count = 0; count < turns; count++) await undefined;
      run.closeNow([]);
      await opening;
      await expect(run.recordSending(aCreate(B))).rejects.toThrow(
        /this run has ended|took over/,
      );
      await newRun().assertUsable();
      expect(words()).toEqual(["a sent"]);
    }
  });

  it("the end of a run writes all waiting changes, and refuses later ones", async () => {
    const { newRun, words } = stackOn();
    const run = newRun();
    await run.recordSending(aCreate(A));
    const made = run.recordCreated(A, "42");
    for (let count = 0; count < 9; count++) await undefined; // no turn of the event loop
    run.markReturned(A);
    run.closeNow([]);
    await made;
    await expect(run.recordSending(aCreate(B))).rejects.toThrow("this run has ended");
    expect(words()).toEqual(["a reported 42"]);
  });
});

describe("what others ask of it", () => {
  it("the holder of an object is the key that has it now, or else one that had it; two keys share it", async () => {
    const { up, newRun } = stackOn();
    await up(async (run) => {
      run.recordSeen({ key: B, id: "42" });
      await run.recordSending(aCreate(A, "42"));
      expect(run.holderOf("Advertiser", "43")).toBeUndefined();
      await run.recordCreated(A, "43");
      expect(run.holderOf("Advertiser", "43")).toBe(A);
      await run.recordCreated(C, "42");
      await run.recordNotCarriedOut(C);
      await run.recordSending(aCreate("Advertiser::d", "40"));
    });
    const holders = ["42", "43", "40", "1"].map((id) =>
      newRun().holderOf("Advertiser", id),
    );
    expect(holders).toEqual([B, A, "Advertiser::d", undefined]);
    expect(newRun().holderOf("ConversionEvent", "42")).toBeUndefined();
    expect(
      ["42", "43"].map(
        (id) => keysHolding(newRun().records.values(), "Advertiser", id).size > 1,
      ),
    ).toEqual([true, false]);
    // In the journals of two providers: a resource that an alias has moved.
    const [entry, other] = [newRun().of(A), newRun().of("Advertiser::d")];
    const moved = [entry, entry, other].flatMap((each) => each ?? []);
    expect(["43", "40"].map((id) => keysHolding(moved, "Advertiser", id).size > 1)).toEqual(
      [false, false],
    );
  });

  it("a run without an account finds open creates with theirs; an answer keeps its time", async () => {
    const { up, newRun, disk, all, append } = stackOn();
    await up((run) =>
      run.recordSending({ ...aCreate(KEY), account: "platform.example a@example.com" }),
    );
    expect(newRun().openAtStart).toMatchObject([
      { key: KEY, account: "platform.example a@example.com" },
    ]);
    await appendLines(DEV, [{ key: KEY, state: "closed", at: AT }], {
      folder: FOLDER,
      disk,
    });
    expect([newRun().of(KEY), newRun().openAtStart]).toEqual([undefined, []]);
    append("unfinished");
    await up(nothing); // writes it anew
    expect(all()).toMatchObject([{ state: "closed", at: AT, mark: aCreate(KEY).mark }]);
  });

  it("three stacks of one name in three backends share nothing, and find what is open in the project's others", async () => {
    const { disk, append } = stackOn();
    const places = ["file:///a", "s3://bucket", "https://api.pulumi.com"].map(
      (backend) => ({
        ...DEV,
        backend,
      }),
    );
    for (const [index, place] of places.entries()) {
      const { up, newRun } = stackOn(disk, place);
      const before = places.slice(0, index).map((elsewhere) => ({ elsewhere, key: KEY }));
      expect([
        newRun().of(KEY),
        openElsewhere(place, everyJournal(FOLDER, disk)),
      ]).toMatchObject([undefined, before]);
      await up(FROM.sent ?? nothing);
    }
    for (const stack of ["organization/other/dev", "acme/shop/dev"])
      await stackOn(disk, { ...DEV, stack }).up(nothing);
    append("", `${FOLDER}/damaged.jsonl`);
    append("{}\n", `${FOLDER}/deleted.lines`);
    disk.mkdirSync(`${FOLDER}/folder.jsonl`, { recursive: true, mode: 0o700 });
    expect(everyJournal(FOLDER, disk)).toHaveLength(5);
    const found = openElsewhere(PROD, everyJournal(FOLDER, disk)).map(
      ({ elsewhere, key }) => `${elsewhere?.backend} ${key}`,
    );
    expect(found.toSorted()).toEqual(
      places.map(({ backend }) => `${backend} ${KEY}`).toSorted(),
    );
    expect(everyJournal("/nowhere", disk)).toEqual([]);
    const known = new Map();
    const [place = PROD] = places;
    const recordsOf = () =>
      everyJournal(FOLDER, disk, known)
        .filter(({ backend }) => backend === place.backend)
        .flatMap(({ records }) => [...records.keys()]);
    const before = recordsOf();
    await stackOn(disk, place).up((run) => run.recordSending(aCreate("Advertiser::z")));
    expect(recordsOf().length, "a journal that has changed is read again").toBe(
      before.length + 1,
    );
  });
});
