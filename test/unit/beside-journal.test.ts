import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { forgetSettlements, readSettlements, writeSettlements } from "../../provider/src/store/beside-journal.js";
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
