/** Rules are made once for an installation, however often they are asked for. */
import { afterEach, expect, it, vi } from "vitest";
import { advertiser, conversionEvent, conversionEventSet } from "../../provider/src/kinds/index.js";
import { validate } from "../../provider/src/program/public-validate.js";

afterEach(() => vi.restoreAllMocks());

const kinds = [advertiser, conversionEvent, conversionEventSet];

it.each(kinds.map((kind) => [kind.name, kind] as const))("%s has one set of rules for equal limits", (_, kind) => {
  const limits = { maxWindowSeconds: 3600, markField: "alternative_id" };
  expect(kind.rules({ ...limits })).toBe(kind.rules({ ...limits }));
  const others = [kind.rules({ ...limits, maxWindowSeconds: 7200 }), kind.rules({ ...limits, markField: undefined })];
  for (const other of others) expect(other).not.toBe(kind.rules(limits));
});

it("validate() holds row after row against the same rules", () => {
  const asked = vi.spyOn(conversionEvent, "rules");
  const args = { eventName: "E", advertiserId: 1, value: 1 };
  expect(validate("ConversionEvent", args)).toEqual([]);
  expect(validate("ConversionEvent", { ...args, value: "1" })).toHaveLength(1);
  const [first, second] = asked.mock.results;
  expect(first?.value).toBeDefined();
  expect(second?.value).toBe(first?.value);
});
