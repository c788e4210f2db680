/** The record of a create in the state, whose form is a contract, and the latest moment when it may have been sent. */
import { describe, expect, it } from "vitest";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { fingerprintOfBody } from "../../provider/src/kinds/kind.js";
import {
  type CreateRecord,
  lastMomentSent,
  memberRecord,
  recordIn,
  writeMemberRecord,
  writeRecord,
} from "../../provider/src/state/create-record.js";
import { describe as describeRecord } from "../../provider/src/state/sentences.js";

const sent = { eventName: "E", advertiserId: 1, value: 2 };
const record: CreateRecord = {
  mark: "m",
  key: "",
  at: "2026-01-01T00:00:00Z",
  fingerprint: fingerprintOfBody(conversionEvent, sent),
  field: "alternative_id",
  name: "E",
  facts: { advertiserId: 1, value: 2 },
  replaces: "5",
  what: "It was sent.",
  urn: "urn:e",
};
const stored = {
  since: "2026-01-01T00:00:00Z",
  what: "It was sent.",
  urn: "urn:e",
  trace: { field: "alternative_id", value: "m" },
  replaces: "5",
};

describe("in the state of a single resource", () => {
  it("leaves out what the resource's arguments say, unless they have changed since", () => {
    expect(writeRecord(conversionEvent, record, sent)).toEqual({ unresolved: stored });
    const others = writeRecord(conversionEvent, record, { ...sent, value: 3 });
    expect(others).toEqual({ unresolved: { ...stored, name: "E", facts: record.facts } });
    expect(recordIn(conversionEvent, { ...sent, unresolved: stored }, "unresolved-m")).toEqual(record);
    const read = recordIn(conversionEvent, { ...sent, value: 3, ...others }, "unresolved-m");
    expect(read).toEqual({ ...record, fingerprint: "" }); // the record does not say all that was sent
  });

  it("keeps what the last search found beside what happened", () => {
    const searched = { ...record, searched: "It was not found." };
    const written = writeRecord(conversionEvent, searched, sent);
    expect(written).toEqual({ unresolved: { ...stored, searched: "It was not found." } });
    expect(recordIn(conversionEvent, { ...sent, ...written }, "unresolved-m")).toEqual(searched);
  });

  it("without a field the mark is the one in the id; a secret name is left out, however it was written", () => {
    const { trace: _, ...bare } = stored;
    expect(recordIn(conversionEvent, { ...sent, unresolved: bare }, "unresolved-x")).toMatchObject({ mark: "x" });
    for (const secret of [{ secret: ["eventName"] }, { nameIsSecret: true }]) {
      const read = recordIn(conversionEvent, { ...sent, unresolved: { ...bare, ...secret } }, "unresolved-x");
      expect(read?.name).toBeUndefined();
      expect(describeRecord("ConversionEvent", read as CreateRecord)).not.toContain('"E"');
    }
  });

  it("is absent if nothing is unresolved", () => {
    expect(recordIn(conversionEvent, sent, "7")).toBeUndefined();
  });
});

it("in the state of a set it has its mark, its body's fingerprint and what to look for", () => {
  const member = { ...stored, name: "E", facts: record.facts, mark: "m", fingerprint: record.fingerprint };
  expect(writeMemberRecord(record)).toEqual(member);
  expect(memberRecord(member as never)).toEqual(record);
  expect(writeMemberRecord({ ...record, fingerprint: "" })).not.toHaveProperty("fingerprint");
});

it.each<[string, Partial<CreateRecord>, string]>([
  ["the moment in the record", {}, "2026-01-01T00:00:00Z"],
  ["now, if there is none", { at: "" }, "2026-02-01T00:00:00Z"],
  ["now, if only the earliest one is known", { isEarliest: true }, "2026-02-01T00:00:00Z"],
])("R6: the latest moment when it may have been sent is %s", (_, more, expected) => {
  expect(lastMomentSent({ ...record, ...more }, Date.parse("2026-02-01T00:00:00Z"))).toBe(Date.parse(expected));
});
