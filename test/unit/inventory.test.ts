import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemDisk } from "../../provider/src/files/index.js";
import { Inventory, readInventory, Seen } from "../../provider/src/store/inventory.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";

const START = Date.parse("2026-01-02T00:00:00Z");

it("is remembered by later runs, of the kind that was read, once", () => {
  const path = join(newFolder(), "made", "objects.seen");
  const clock = new FakeClock(START);
  const first = new Seen(path, clock);
  expect(first.has("ConversionEvent", "1")).toBe(false);
  for (let i = 0; i < 3; i++) first.note("ConversionEvent", "1");
  const later = new Seen(path, clock);
  expect([later.has("ConversionEvent", "1"), later.has("Advertiser", "1")]).toEqual([true, false]);
  expect(readFileSync(path, "utf8")).toBe('{"seen":"ConversionEvent 1","at":"2026-01-02T00:00:00.000Z"}\n');
});

it("what a crash has left of a line, or a folder that can't be written, only means that less is known", () => {
  const path = join(newFolder(), "objects.seen");
  const clock = new FakeClock(START);
  new Seen(path, clock).note("Advertiser", "1");
  appendFileSync(path, '{"seen":"Advertiser 2","a');
  const torn = new Seen(path, clock);
  expect([torn.has("Advertiser", "1"), torn.has("Advertiser", "2")]).toEqual([true, false]);
  const nowhere = new Seen("/dev/null/objects.seen", clock);
  nowhere.note("Advertiser", "1");
  expect(nowhere.has("Advertiser", "1")).toBe(true);
});

it("drops what is too old to matter once the file is large", () => {
  const path = join(newFolder(), "objects.seen");
  const line = (id: number, at: string) => `${JSON.stringify({ seen: `ConversionEvent ${id}`, at })}\n`;
  const old = Array.from({ length: 20_000 }, (_, id) => line(id, "2026-01-01T00:00:00.000Z")).join("");
  writeFileSync(path, old + line(20_000, "2026-01-01T12:00:00.000Z"));
  const seen = new Seen(path, new FakeClock(START + 3600_000));
  expect([seen.has("ConversionEvent", "1"), seen.has("ConversionEvent", "20000")]).toEqual([false, true]);
  expect(readFileSync(path, "utf8")).toBe(line(20_000, "2026-01-01T12:00:00.000Z"));
});

it("what a program is about to adopt is noted beside what its resources have, until the next program notes something", () => {
  const path = join(newFolder(), "objects.jsonl");
  const inventory = new Inventory(path);
  inventory.note("b", { id: "3", fingerprint: "f" });
  inventory.noteAdopts("first", { b: "2" });
  inventory.noteAdopts("first", { c: "4" });
  inventory.noteAdopts("first", {});
  // An earlier version reads lines of this form as ones about the program, which say nothing of a resource.
  expect(readFileSync(path, "utf8").split("\n").slice(2, -1)).toEqual([
    '{"key":"","program":"first","adopts":{"b":"2"}}',
    '{"key":"","program":"first","adopts":{"c":"4"}}',
  ]);
  const objects = new Map([["b", { id: "3", fingerprint: "f", name: undefined }]]);
  expect(readInventory(path, systemDisk)).toEqual({
    objects,
    adopts: new Map([
      ["b", "2"],
      ["c", "4"],
    ]),
  });
  expect(inventory.later("second")).toBeUndefined();
  inventory.noteEnded("first");
  expect(inventory.later("first")).toMatchObject({
    adopts: new Map([
      ["b", "2"],
      ["c", "4"],
    ]),
    hasEnded: true,
  });
  inventory.noteOver("another");
  expect(inventory.later("first")).toMatchObject({ hasEnded: true });
  inventory.noteOver("first");
  expect([inventory.later("first"), readInventory(path, systemDisk)]).toEqual([
    undefined,
    { objects, adopts: new Map() },
  ]);
  inventory.noteAdopts("first", { b: "2" });
  inventory.noteEnded("second");
  expect(readInventory(path, systemDisk)).toEqual({ objects, adopts: new Map() });
});
