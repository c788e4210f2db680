/** A stack's files at two addresses of its account are joined, at whatever moment the process that joins them is killed. */
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { appendNow, readNow, replaceNow } from "../../provider/src/files/private-file.js";
import type { CreateRecord } from "../../provider/src/state/create-record.js";
import { readRunEnds, readSettlements } from "../../provider/src/store/beside-journal.js";
import { readInventory } from "../../provider/src/store/inventory.js";
import { journalOf, recordsIn } from "../../provider/src/store/notes.js";
import { pathsIn, type StorePaths } from "../../provider/src/store/places.js";
import { Seen } from "../../provider/src/store/seen.js";
import { moveNotes } from "../../provider/src/tools/relocate.js";
import { FakeClock } from "../support/clock.js";
import { type Image, imageAfter, MemoryDisk } from "../support/disk.js";

const from = pathsIn("/cache/journal-there", "o/p/s");
const to = pathsIn("/cache/journal-here", "o/p/s");
const FILES = Object.keys(from) as (keyof StorePaths)[];

const record = (mark: string, more: Partial<CreateRecord> = {}): CreateRecord => ({
  mark,
  key: `ConversionEvent::o/p/s::${mark}`,
  at: "2026-01-01T00:00:00Z",
  fingerprint: "f",
  ...more,
});
const settlements = (journal: string, ...urns: string[]) =>
  JSON.stringify({
    settlements: "pulumi-advertising",
    version: 1,
    answers: urns.map((urn) => ({ urn, before: "b", after: journal, notes: { [journal]: journalOf([record(urn)]) } })),
  });
const inventory = (...lines: object[]) =>
  [{ inventory: "pulumi-advertising", version: 1 }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
const runEnd = (ended: string) => `${JSON.stringify({ ended, backend: "" })}\n${journalOf([record(ended)])}`;

type Texts = Partial<Record<keyof StorePaths, string>>;
const THERE: Texts = {
  journal: journalOf([record("both"), record("former")]),
  objects: inventory({ key: "gone", id: "1" }, { key: "former", id: "2" }, { key: "both", id: "3" }),
  runEnd: runEnd("2026-01-01T00:00:00Z"),
  settlements: settlements(from.journal, "both", "former"),
};
const HERE: Texts = {
  journal: journalOf([record("both", { id: "7" }), record("current")]),
  objects: inventory({ key: "gone" }, { key: "both", id: "4" }),
  runEnd: runEnd("2026-01-02T00:00:00Z"),
  settlements: settlements(to.journal, "both", "current"),
};

function diskWith(there: Texts, here: Texts): Image {
  const files = [
    [from, there],
    [to, here],
  ] as const;
  const image = new Map<string, { text?: Buffer; mode: number }>([["/cache", { mode: 0o700 }]]);
  for (const [paths, texts] of files) {
    image.set(dirname(paths.journal), { mode: 0o700 });
    for (const file of FILES) {
      const text = texts[file];
      if (text !== undefined) image.set(paths[file], { text: Buffer.from(text), mode: 0o600 });
    }
  }
  return image;
}

function textsOn(disk: MemoryDisk, paths: StorePaths): Texts {
  const texts = FILES.map((file) => [file, readNow(paths[file], disk)] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined));
}

/** What later runs and commands find under the current address. */
const knownOn = (disk: MemoryDisk) => ({
  creates: recordsIn(to.journal, disk),
  objects: [...readInventory(to.objects, disk).objects].map(([key, { id }]) => [key, id]),
  ends: [...new Set(readRunEnds(to.runEnd, disk).map(({ ended }) => ended))],
  answers: readSettlements(to.settlements, disk).map(({ urn, after, notes }) => [urn, after, [...notes.keys()]]),
});
const KNOWN = {
  creates: [record("both", { id: "7" }), record("former"), record("current")],
  objects: [
    ["former", "2"],
    ["both", "4"],
  ],
  ends: ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
  answers: [
    ["both", to.journal, [to.journal]],
    ["former", from.journal, [to.journal]], // its record is in that journal now
    ["current", to.journal, [to.journal]],
  ],
};

it("if both addresses have files, they are joined, and those of the current address count as newer", () => {
  const disk = new MemoryDisk(diskWith(THERE, HERE));
  moveNotes([{ from, to }], disk);
  expect(textsOn(disk, from)).toEqual({});
  expect(knownOn(disk)).toEqual(KNOWN);
});

it("an answer is taken back in the journals at their new places, whichever address and name of the stack it was given at", () => {
  const [former, later] = [pathsIn("/cache/journal-there", "o/p/old"), pathsIn("/cache/journal-here", "o/p/old")];
  const notes = {
    [from.journal]: journalOf([record("one"), record("two")]),
    [to.journal]: journalOf([record("two", { id: "7" })]),
    [former.journal]: journalOf([record("old")]),
  };
  const answers = [{ urn: "e", before: "b", after: "a", notes }];
  const text = JSON.stringify({ settlements: "pulumi-advertising", version: 1, answers });
  for (const [there, here] of [
    [{ settlements: text }, {}],
    [{ journal: journalOf([]) }, { settlements: text }],
  ] as const) {
    const disk = new MemoryDisk(diskWith(there, here));
    const moves = [
      { from, to },
      { from: former, to: later },
    ];
    moveNotes(moves, disk);
    const [answer] = readSettlements(to.settlements, disk);
    expect([...(answer?.notes ?? [])]).toEqual([
      [to.journal, [record("one"), record("two", { id: "7" })]],
      [later.journal, [record("old")]],
    ]);
  }
});

const [SEEN_THERE, SEEN_HERE] = ["/cache/journal-there/objects.seen", "/cache/journal-here/objects.seen"];
const deleted = (id: number, sent: boolean, at: string) =>
  `${JSON.stringify({ delete: `ConversionEvent ${id}`, sent, at: `2026-01-01T00:00:${at}.000Z` })}\n`;

it("what was seen of objects, of all stacks of the account, is known at both addresses afterwards", () => {
  const disk = new MemoryDisk(diskWith({}, {}));
  replaceNow(SEEN_THERE, deleted(1, true, "01"), disk);
  replaceNow(SEEN_HERE, deleted(2, true, "02"), disk);
  const takeBack = moveNotes([{ from, to }], disk);
  const textAt = (path: string) => readNow(path, disk);
  expect([SEEN_THERE, SEEN_HERE].map(textAt)).toEqual([
    deleted(1, true, "01"),
    deleted(2, true, "02") + deleted(1, true, "01"),
  ]);
  appendNow(SEEN_HERE, deleted(3, true, "03"), disk); // by a run of another stack
  takeBack();
  expect(textAt(SEEN_HERE)).toBe(deleted(2, true, "02") + deleted(3, true, "03"));
});

it("there and back again: what was noted last counts", () => {
  const disk = new MemoryDisk(diskWith({}, {}));
  const clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"));
  const seenAt = (path: string) => new Seen(path, clock, disk);
  seenAt(SEEN_THERE).noteDelete("ConversionEvent", "1", true);
  seenAt(SEEN_THERE).noteUpdate("ConversionEvent", "2", { names: ["value"] });
  moveNotes([{ from, to }], disk);
  seenAt(SEEN_HERE).noteDelete("ConversionEvent", "1", false);
  seenAt(SEEN_HERE).noteUpdate("ConversionEvent", "2", { names: [] });
  moveNotes([{ from: to, to: from }], disk);
  expect(seenAt(SEEN_THERE).isDeleteSent("ConversionEvent", "1")).toBe(false);
  expect(seenAt(SEEN_THERE).updateOf("ConversionEvent", "2").names).toEqual([]);
});

it("if what was seen can't be added, nothing is changed", () => {
  const disk = new MemoryDisk(diskWith(THERE, HERE));
  replaceNow(SEEN_THERE, deleted(1, true, "01"), disk);
  const open = disk.openSync.bind(disk);
  disk.openSync = (path, ...more) => {
    if (path === SEEN_HERE) throw new Error("no space");
    return open(path, ...more);
  };
  expect(() => moveNotes([{ from, to }], disk)).toThrow(`${SEEN_THERE} can't be joined with ${SEEN_HERE}`);
  expect([from, to].map((paths) => textsOn(disk, paths))).toEqual([THERE, HERE]);
});

it("a file that only the former address has is moved unchanged, even if it can't be read", () => {
  const disk = new MemoryDisk(diskWith({ ...THERE, journal: "no journal" }, {}));
  moveNotes([{ from, to }], disk);
  expect(textsOn(disk, from)).toEqual({});
  expect(textsOn(disk, to)).toMatchObject({ journal: "no journal", objects: THERE.objects, runEnd: THERE.runEnd });
});

it.each([
  ["both", HERE],
  ["only the former one", {}],
])(
  "files at %s: at whatever moment the process or the machine stops, nothing is lost, and a second call finishes",
  (_, here) => {
    const disk = new MemoryDisk(diskWith(THERE, here));
    const images: Image[] = [];
    disk.onChange = () => {
      const moment = disk.moment();
      for (const fate of [0, 1])
        images.push(
          imageAfter(
            moment,
            moment.unsynced.map(() => fate),
          ),
        );
    };
    moveNotes([{ from, to }], disk);
    const whole = knownOn(disk);
    expect(images.length).toBeGreaterThan(20);
    for (const image of images) {
      const next = new MemoryDisk(image);
      const marks = [from, to].flatMap(({ journal }) => recordsIn(journal, next).map(({ mark }) => mark));
      expect(new Set(marks)).toEqual(new Set(whole.creates.map(({ mark }) => mark)));
      moveNotes([{ from, to }], next);
      expect(textsOn(next, from)).toEqual({});
      expect(knownOn(next)).toEqual(whole);
    }
  },
);

it.each([
  ["both", HERE],
  ["only the former one", {}],
])("files at %s: the move can be undone", (_, here) => {
  const disk = new MemoryDisk(diskWith(THERE, here));
  moveNotes([{ from, to }], disk)();
  expect([from, to].map((paths) => textsOn(disk, paths))).toEqual([THERE, here]);
});

it("if one of two journals can't be read, nothing is changed", () => {
  for (const [there, here] of [
    [{ ...THERE, journal: "no journal" }, HERE],
    [THERE, { ...HERE, journal: "no journal" }],
  ] as const) {
    const disk = new MemoryDisk(diskWith(there, here));
    expect(() => moveNotes([{ from, to }], disk)).toThrow("can't be joined");
    expect([from, to].map((paths) => textsOn(disk, paths))).toEqual([there, here]);
  }
});
