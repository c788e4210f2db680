/** What this machine remembers of a stack between runs, and how a command changes its journal. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../provider/src/base/clock.js";
import type { CreateRecord } from "../../provider/src/state/create-record.js";
import { Inventory } from "../../provider/src/store/inventory.js";
import { journalOf, look, recordsIn, reviseNow, withJournal } from "../../provider/src/store/notes.js";
import { pathsIn } from "../../provider/src/store/places.js";
import { newFolder } from "../support/folder.js";

const record = (mark: string, more: Partial<CreateRecord> = {}): CreateRecord => ({
  mark,
  key: "ConversionEvent::o/p/s::e",
  at: "2026-01-01T00:00:00Z",
  fingerprint: "f",
  ...more,
});

function remembering(...records: CreateRecord[]) {
  const paths = pathsIn(newFolder(), "o/p/s");
  mkdirSync(dirname(paths.journal), { recursive: true });
  writeFileSync(paths.journal, journalOf(records), { mode: 0o600 });
  return paths;
}

const options = { clock: systemClock, unique: "u", maxWaitMs: 0 };

it("is empty without a journal, or if it can't be read", () => {
  expect(look(pathsIn(newFolder(), "o/p/s"))).toEqual({ creates: [], objects: new Map(), adopts: new Map() });
  const paths = remembering(record("m"));
  new Inventory(paths.objects).note("k", { id: "7", fingerprint: "f" });
  writeFileSync(paths.journal, "no journal\n");
  expect(look(paths)).toMatchObject({ creates: [], objects: new Map([["k", { id: "7" }]]) });
});

it("has all records of a resource, because runs may have been killed several times", () => {
  const paths = remembering(record("m1"), record("m2", { id: "7" }), record("m3", { key: "Advertiser::o/p/s::a" }));
  expect(look(paths).creates.map(({ mark, id }) => [mark, id])).toEqual([
    ["m1", undefined],
    ["m2", "7"],
    ["m3", undefined],
  ]);
});

it("a journal that a run has locked is not changed, or waited for if the caller may wait", async () => {
  const { journal } = remembering(record("m1"), record("m2"));
  const before = readFileSync(journal, "utf8");
  await withJournal(journal, options, async (held) => {
    expect(reviseNow(journal, () => undefined)).toBe(0);
    expect(readFileSync(journal, "utf8")).toBe(before);
    await expect(withJournal(journal, options, async () => undefined)).rejects.toThrow("is held by another run");
    expect(held.revise((each) => (each.mark === "m1" ? undefined : each))).toBe(1);
    expect(recordsIn(journal).map(({ mark }) => mark)).toEqual(["m2"]);
    expect(held.revise((each) => ({ ...each, id: "9" }))).toBe(0);
  });
  expect(look({ ...pathsIn(dirname(journal), "o/p/s") }).creates).toMatchObject([{ mark: "m2", id: "9" }]);
  expect(reviseNow(journal, () => undefined)).toBe(1);
  expect(readdirSync(dirname(journal))).toEqual([]);
});

it("nothing is written once the lock is lost", async () => {
  const { journal } = remembering(record("m1"));
  await withJournal(journal, options, async (held) => {
    writeFileSync(`${journal}.lock`, "another's");
    expect(() => held.revise(() => undefined)).toThrow("another run took over the lock");
  });
  expect(look(pathsIn(dirname(journal), "o/p/s")).creates).toHaveLength(1);
});
