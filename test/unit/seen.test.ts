/** What runs on this machine have learned of objects: a file that several runs append to, and that is never written again. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { momentOf } from "../../provider/src/base/clock.js";
import { type Disk, systemDisk } from "../../provider/src/files/disk.js";
import { Seen, seenAt } from "../../provider/src/store/seen.js";
import { FakeClock } from "../support/clock.js";
import { type Image, imageAfter, MemoryDisk } from "../support/disk.js";
import { newFolder } from "../support/folder.js";

const START = Date.parse("2026-01-02T00:00:00Z");
const EVENT = "ConversionEvent";
const newPath = () => join(newFolder(), "objects.seen");
/** More than a file may have before it is renamed. */
const MUCH = `${"x".repeat(1024 * 1024)}\n`;
const line = (fields: object) => `${JSON.stringify(fields)}\n`;

it("an object that was noted is known to later runs, once", () => {
  const path = join(newFolder(), "made", "objects.seen");
  const clock = new FakeClock(START);
  const first = new Seen(path, clock);
  expect(first.has(EVENT, "1")).toBe(false);
  for (let i = 0; i < 3; i++) first.note(EVENT, "1");
  const later = new Seen(path, clock);
  expect([later.has(EVENT, "1"), later.has("Advertiser", "1")]).toEqual([true, false]);
  expect(readFileSync(path, "utf8")).toBe('{"seen":"ConversionEvent 1","at":"2026-01-02T00:00:00.000Z"}\n');
});

it("after half a line or in a read-only folder less is known, and nothing fails", () => {
  const path = newPath();
  const clock = new FakeClock(START);
  new Seen(path, clock).note("Advertiser", "1");
  appendFileSync(path, '{"seen":"Advertiser 2","a');
  const torn = new Seen(path, clock);
  expect([torn.has("Advertiser", "1"), torn.has("Advertiser", "2")]).toEqual([true, false]);
  const nowhere = new Seen("/dev/null/objects.seen", clock);
  nowhere.note("Advertiser", "1");
  expect(nowhere.has("Advertiser", "1")).toBe(true);
});

it("an object of which a delete or an update was sent may be gone or differ, until that is known", () => {
  const path = newPath();
  const clock = new FakeClock(START);
  const first = new Seen(path, clock);
  first.noteDelete(EVENT, "1", false);
  expect(existsSync(path)).toBe(false);
  first.noteDelete(EVENT, "1", true);
  first.noteDelete(EVENT, "2", true);
  first.noteDelete(EVENT, "2", false);
  first.noteUpdate(EVENT, "3", { names: ["value"] });
  first.noteDone(EVENT, "4", { names: ["value"], done: "f" });
  first.noteUpdate(EVENT, "4", { names: [] });
  const later = new Seen(path, clock);
  expect(["1", "2", "3"].map((id) => later.isDeleteSent(EVENT, id))).toEqual([true, false, false]);
  expect(["3", "4", "5"].map((id) => later.updateOf(EVENT, id).names)).toEqual([["value"], [], []]);
  expect(later.isDeleteSent("Advertiser", "1")).toBe(false);
});

it("a proven delete stays known until something shows the object; an earlier version takes it for one that was sent", () => {
  const path = newPath();
  const clock = new FakeClock(START);
  const known = (id: string) => {
    const seen = new Seen(path, clock);
    return [seen.isDeleteSent(EVENT, id), seen.isDeleted(EVENT, id)];
  };
  const first = new Seen(path, clock);
  first.noteDelete(EVENT, "1", true);
  expect(known("1")).toEqual([true, false]);
  first.noteDeleted(EVENT, "1");
  first.noteDelete(EVENT, "1", true);
  expect(known("1")).toEqual([true, true]);
  expect(readFileSync(path, "utf8")).toContain('{"delete":"ConversionEvent 1","sent":true,"done":true,');
  new Seen(path, clock).noteDelete(EVENT, "1", false);
  expect(known("1")).toEqual([false, false]);
});

it("a delete that succeeded is known with its moment, until the object is live again", () => {
  const path = newPath();
  const clock = new FakeClock(START);
  const first = new Seen(path, clock);
  for (const id of ["1", "2", "3"]) first.noteDelete(EVENT, id, true);
  for (const id of ["1", "2"]) first.noteDeleted(EVENT, id);
  first.noteDelete(EVENT, "2", false);
  const later = new Seen(path, clock);
  expect(["1", "2", "3"].map((id) => later.deletedAt(EVENT, id))).toEqual([
    momentOf({ wallMs: () => START + 1 }),
    undefined,
    undefined,
  ]);
  expect(["1", "2", "3"].map((id) => later.isDeleteSent(EVENT, id))).toEqual([true, false, true]);
});

it("the newest line about an object counts, wherever it is, also if the clock was set back; without a moment it is the oldest", () => {
  const path = newPath();
  new Seen(path, new FakeClock(START)).noteDelete(EVENT, "1", true);
  const back = new Seen(path, new FakeClock(START - 3600_000));
  back.noteDelete(EVENT, "1", false);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const unmarked = '{"delete":"ConversionEvent 1","sent":true}';
  for (const order of [lines, lines.toReversed(), [...lines, unmarked], [unmarked, ...lines]]) {
    writeFileSync(path, order.map((each) => `${each}\n`).join(""));
    expect(new Seen(path, new FakeClock(START)).isDeleteSent(EVENT, "1")).toBe(false);
  }
  writeFileSync(path, `${unmarked}\n`);
  expect(new Seen(path, new FakeClock(START)).isDeleteSent(EVENT, "1")).toBe(true);
});

it("once the file is large another one begins, and what still matters of the one before that is kept", () => {
  const path = newPath();
  const clock = new FakeClock(START);
  const at = (hours: number) => new Date(START + hours * 3600_000).toISOString();
  const old = [
    line({ seen: `${EVENT} 1`, at: at(-25) }),
    line({ seen: `${EVENT} 2`, at: at(-1) }),
    line({ delete: `${EVENT} 3`, sent: true, at: at(-100) }),
    line({ delete: `${EVENT} 4`, sent: false, at: at(-100) }),
    line({ delete: `${EVENT} 5`, sent: false, at: at(-100) }),
    line({ delete: `${EVENT} 6`, sent: true, at: at(-100) }),
    line({ update: `${EVENT} 7`, names: ["value"], at: at(-100) }),
    line({ update: `${EVENT} 8`, names: [], at: at(-100) }),
  ].join("");
  const recent = [
    MUCH,
    line({ delete: `${EVENT} 4`, sent: true, at: at(-200) }), // older, as after a relocation
    line({ delete: `${EVENT} 6`, sent: false, at: at(-1) }),
  ].join("");
  writeFileSync(`${path}.old`, old);
  writeFileSync(path, recent);
  const known = () => {
    const seen = new Seen(path, clock);
    return [
      ["1", "2"].map((id) => seen.has(EVENT, id)),
      ["3", "4", "5", "6"].map((id) => seen.isDeleteSent(EVENT, id)),
      ["7", "8"].map((id) => seen.updateOf(EVENT, id).names),
    ];
  };
  const expected = [
    [true, false, false, false],
    [["value"], []],
  ];
  expect(known()).toEqual([[true, true], ...expected]);
  expect(existsSync(path)).toBe(false);
  const kept = old.split("\n").filter((_, index) => [1, 2, 3, 6].includes(index));
  expect(readFileSync(`${path}.old`, "utf8")).toBe(`${recent}${kept.join("\n")}\n`);
  expect(known()).toEqual([[false, true], ...expected]);
});

/** A disk that calls `meanwhile` before its nth call. */
function interrupted(disk: Disk, nth: number, meanwhile: () => void): Disk {
  let calls = 0;
  return new Proxy(disk, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (++calls === nth) meanwhile();
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}

it("two runs at once, of which one begins another file: whatever each notes at whatever moment is known afterwards", () => {
  const clock = new FakeClock(START);
  let moments = 0;
  for (let nth = 1; ; nth++) {
    const path = newPath();
    const other = new Seen(path, clock);
    expect(other.isDeleteSent(EVENT, "1")).toBe(false); // it has read the file
    writeFileSync(`${path}.old`, line({ delete: `${EVENT} 1`, sent: true, at: "2026-01-01T00:00:00.000Z" }));
    writeFileSync(path, MUCH + line({ delete: `${EVENT} 2`, sent: true, at: "2026-01-01T00:00:00.000Z" }));
    let wasReached = false;
    const disk = interrupted(systemDisk, nth, () => {
      wasReached = true;
      other.noteDelete(EVENT, "3", true);
      const third = new Seen(path, clock);
      expect(["1", "2", "3"].map((id) => third.isDeleteSent(EVENT, id))).toEqual([true, true, true]);
      third.noteDelete(EVENT, "4", true);
    });
    const first = new Seen(path, clock, disk);
    expect(["1", "2"].map((id) => first.isDeleteSent(EVENT, id))).toEqual([true, true]);
    first.noteDelete(EVENT, "5", true);
    if (!wasReached) break;
    moments++;
    const last = new Seen(path, clock);
    expect(["1", "2", "3", "4", "5"].filter((id) => !last.isDeleteSent(EVENT, id))).toEqual([]);
  }
  expect(moments).toBeGreaterThan(20);
});

it("a run that is killed, or a machine that stops, while another file begins: what was on the disk before is known afterwards", () => {
  const path = "/cache/objects.seen";
  const clock = new FakeClock(START);
  const text = (content: string) => ({ text: Buffer.from(content), mode: 0o600 });
  const disk = new MemoryDisk(
    new Map<string, { text?: Buffer; mode: number }>([
      ["/cache", { mode: 0o700 }],
      [`${path}.old`, text(line({ delete: `${EVENT} 1`, sent: true, at: "2026-01-01T00:00:00.000Z" }))],
      [path, text(MUCH + line({ delete: `${EVENT} 2`, sent: true, at: "2026-01-01T00:00:00.000Z" }))],
    ]),
  );
  const images: Image[] = [];
  disk.onChange = () => {
    const moment = disk.moment();
    for (const fate of [0, 0.5, 1])
      images.push(
        imageAfter(
          moment,
          moment.unsynced.map(() => fate),
        ),
      );
  };
  expect(new Seen(path, clock, disk).isDeleteSent(EVENT, "1")).toBe(true);
  expect(images.length).toBeGreaterThan(10);
  for (const image of images) {
    const next = new Seen(path, clock, new MemoryDisk(image));
    expect(["1", "2"].map((id) => next.isDeleteSent(EVENT, id))).toEqual([true, true]);
  }
});

it("all that is known at a path can be added to another one", () => {
  const [here, there] = [newPath(), newPath()];
  const clock = new FakeClock(START);
  writeFileSync(`${here}.old`, line({ delete: `${EVENT} 1`, sent: true, at: "2026-01-01T00:00:00.000Z" }));
  new Seen(here, clock).noteDelete(EVENT, "1", false);
  new Seen(here, clock).noteDelete(EVENT, "2", true);
  new Seen(there, clock).noteDelete(EVENT, "3", true);
  appendFileSync(there, seenAt(here));
  const seen = new Seen(there, clock);
  expect(["1", "2", "3"].map((id) => seen.isDeleteSent(EVENT, id))).toEqual([false, true, true]);
  expect(seenAt("/nowhere")).toBe("");
});

it("R4: a create that an adoption has settled is settled for the object that its set expects, and stays so", () => {
  const path = newPath();
  const clock = new FakeClock(START);
  const first = new Seen(path, clock);
  for (const id of ["1", "2", "2"]) first.noteSettled("m", id);
  const knows = (seen: Seen) => ["1", "2", undefined].map((adoptedAs) => seen.isSettled({ mark: "m", adoptedAs }));
  expect([first, new Seen(path, clock)].map(knows)).toEqual(Array(2).fill([false, true, false]));
  expect(first.isSettled({ mark: "n", adoptedAs: "2" })).toBe(false);
  const lines = readFileSync(path, "utf8").trim().split("\n");
  expect(lines.map((each) => JSON.parse(each))).toMatchObject([
    { settled: "m", as: "1" },
    { settled: "m", as: "2" },
  ]);
  for (let times = 0; times < 3; times++) {
    appendFileSync(path, MUCH);
    expect(knows(new Seen(path, clock))).toEqual([false, true, false]);
    expect(existsSync(path)).toBe(false);
  }
});
