/** What one stack declares and another does not. */
import { expect, it } from "vitest";
import { COMPARISON_FORMATS, compare, isSame } from "../../provider/src/tools/compare.js";
import { contentsOf } from "../../provider/src/tools/contents.js";
import type { Resource } from "../../provider/src/tools/stack-export.js";
import { CIPHERTEXT, encrypted, storedAdvertiser, storedEvent, storedSet } from "../support/stored.js";

const textOf = (first: Resource[], second: Resource[], format = "text") =>
  COMPARISON_FORMATS[format]?.(compare(contentsOf(first), contentsOf(second)), ["staging", "prod"]) ?? "";

it("ids are not compared; advertisers are compared by their keys", () => {
  const first = [storedAdvertiser("acme", 1), storedEvent("buy", 2, { advertiserId: 1, existingId: 2 })];
  const second = [storedAdvertiser("acme", 77), storedEvent("buy", 78, { advertiserId: "77" })];
  expect(isSame(compare(contentsOf(first), contentsOf(second)))).toBe(true);
});

it("lists what either stack is missing and what differs", () => {
  const set = (value: number) =>
    storedSet("funnel", { events: { a: { eventName: "A", value } }, eventIds: { a: 5 }, advertiserId: 1 });
  const first = [storedAdvertiser("acme", 1), storedEvent("buy", 2), storedEvent("old", 3), set(1)];
  const second = [storedAdvertiser("acme", 1), storedEvent("buy", 2, { segmentId: 4 }), set(2), storedEvent("new", 9)];
  expect(textOf(first, second)).toBe(
    [
      "Only in staging:",
      "  ConversionEvent old",
      "Only in prod:",
      "  ConversionEvent new",
      "In both, and different:",
      "  ConversionEvent buy",
      "    segmentId: not set in staging, 4 in prod",
      '  ConversionEvent funnel/a "A"',
      "    value: 1 in staging, 2 in prod",
      "1 object is the same in both; 1 only in staging, 1 only in prod, 2 different.",
      "",
    ].join("\n"),
  );
  expect(JSON.parse(textOf(first, second, "json"))).toMatchObject({
    same: 1,
    onlyInFirst: [{ kind: "ConversionEvent", key: "old" }],
    differing: [{ key: "buy", differences: [{ argument: "segmentId", first: "", second: "4" }] }, { key: "funnel/a" }],
  });
});

it("secrets are neither shown nor compared", () => {
  const text = textOf([storedEvent("a", 1, { eventName: encrypted })], [storedEvent("a", 2, { eventName: encrypted })]);
  expect(text).toContain("(1 with secret arguments, which can't be compared)");
  expect(text).not.toContain(CIPHERTEXT);
});
