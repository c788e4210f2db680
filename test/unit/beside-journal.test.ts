import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { forgetSettlements, readSettlements, Seen, writeSettlements } from "../../provider/src/store/beside-journal.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";

const record = {
  mark: "m",
  key: "ConversionEvent::organization/tiny/dev::e",
  at: "2026-01-01T00:00:00Z",
  fingerprint: "f",
};
const settlement = {
  urn: "urn:x",
  before: { resources: [{ id: "unresolved-m" }] },
  after: { resources: [] },
  notes: new Map([["/j.jsonl", [{ ...record, isReported: true as const }]]]),
};

it("settlements are read as they were written, and forgotten", () => {
  const path = join(newFolder(), "made", "x.settled");
  expect(readSettlements(path)).toEqual([]);
  writeSettlements(path, [settlement]);
  expect(readSettlements(path)).toMatchObject([settlement]);
  writeSettlements(path, []);
  expect(existsSync(path)).toBe(false);
  forgetSettlements(path);
});

it("a file that can't be read has none", () => {
  const path = join(newFolder(), "x.settled");
  for (const text of ["", "\0\0", "{", '{"settlements":"pulumi-advertising","version":2,"answers":[]}']) {
    writeFileSync(path, text);
    expect(readSettlements(path)).toEqual([]);
  }
});

describe("objects that were seen", () => {
  const START = Date.parse("2026-01-02T00:00:00Z");

  it("an object that was noted is known to later runs, once", () => {
    const path = join(newFolder(), "made", "objects.seen");
    const clock = new FakeClock(START);
    const first = new Seen(path, clock);
    expect(first.has("ConversionEvent", "1")).toBe(false);
    for (let i = 0; i < 3; i++) first.note("ConversionEvent", "1");
    const later = new Seen(path, clock);
    expect([later.has("ConversionEvent", "1"), later.has("Advertiser", "1")]).toEqual([true, false]);
    expect(readFileSync(path, "utf8")).toBe('{"seen":"ConversionEvent 1","at":"2026-01-02T00:00:00.000Z"}\n');
  });

  it("after half a line or in a read-only folder less is known, and nothing fails", () => {
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

  it("entries that are too old to matter are dropped once the file is large", () => {
    const path = join(newFolder(), "objects.seen");
    const line = (id: number, at: string) => `${JSON.stringify({ seen: `ConversionEvent ${id}`, at })}\n`;
    const old = Array.from({ length: 20_000 }, (_, id) => line(id, "2026-01-01T00:00:00.000Z")).join("");
    writeFileSync(path, old + line(20_000, "2026-01-01T12:00:00.000Z"));
    const seen = new Seen(path, new FakeClock(START + 3600_000));
    expect([seen.has("ConversionEvent", "1"), seen.has("ConversionEvent", "20000")]).toEqual([false, true]);
    expect(readFileSync(path, "utf8")).toBe(line(20_000, "2026-01-01T12:00:00.000Z"));
  });

  it("an object of which a delete or an update was sent may be gone or differ, until that is known", () => {
    const path = join(newFolder(), "objects.seen");
    const clock = new FakeClock(START);
    const first = new Seen(path, clock);
    first.noteDelete("ConversionEvent", "1", false);
    first.noteDelete("ConversionEvent", "1", true);
    first.noteDelete("ConversionEvent", "2", true);
    first.noteDelete("ConversionEvent", "2", false);
    const later = new Seen(path, clock);
    const about = (id: string) => later.isDeleteSent("ConversionEvent", id);
    expect(["1", "2", "3"].map(about)).toEqual([true, false, false]);
    first.noteUpdate("ConversionEvent", "3", { names: ["value"] });
    first.noteUpdate("ConversionEvent", "4", { names: ["value"], done: "f" });
    first.noteUpdate("ConversionEvent", "4", { names: [] });
    const last = new Seen(path, clock);
    expect(["3", "4", "5"].map((id) => last.updateOf("ConversionEvent", id).names)).toEqual([["value"], [], []]);
    expect(later.isDeleteSent("Advertiser", "1")).toBe(false);
    expect(readFileSync(path, "utf8").split("\n")[0]).toBe('{"delete":"ConversionEvent 1","sent":true}');
    writeFileSync(path, `${"x".repeat(1024 * 1024)}\n${readFileSync(path, "utf8")}`);
    expect(new Seen(path, clock).isDeleteSent("ConversionEvent", "1")).toBe(true);
    const kept = '{"delete":"ConversionEvent 1","sent":true}\n{"update":"ConversionEvent 3","names":["value"]}\n';
    expect(readFileSync(path, "utf8")).toBe(kept);
  });
});
