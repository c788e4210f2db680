/** The record of a create that was sent: its mark, which every run computes alike, and what it says without secrets. */
import { expect, it } from "vitest";
import { advertiser, conversionEvent } from "../../provider/src/kinds/index.js";
import {
  identifyingIn,
  MARK,
  markIn,
  markOf,
  UNKNOWN,
} from "../../provider/src/state/index.js";

const OF = ["file:///states", "acme/shop/dev", "ConversionEvent::purchase", "5"] as const;

it("its mark follows from what the create is of, on every machine and in every run", () => {
  // A contract: a search of a later version looks for this text.
  expect(markOf(...OF)).toBe("a6b15ccd-b9d8-124b-61c1-ce596dca8925");
  const others = OF.map((_, at) =>
    markOf(...OF.map((part, index) => (index === at ? `${part}x` : part))),
  );
  const marks = [
    markOf(...OF),
    markOf(...OF.slice(0, 3)),
    markOf(...OF.slice(0, 3), undefined),
    ...others,
  ];
  // Nothing to replace is not the same as one part less: whoever asks always gives all of them.
  expect(new Set(marks).size).toBe(marks.length);
  for (const mark of marks)
    expect(mark).toMatch(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/);
  expect(markOf("a", "bc")).not.toBe(markOf("ab", "c"));
});

it.each([
  ["alternative_id m-1", { field: "alternative_id", mark: "m-1" }],
  ["alternative_id", undefined],
  [UNKNOWN, undefined],
  [undefined, undefined],
])("the input %j is a mark and its field: %j", (text, expected) => {
  expect(markIn({ [MARK]: text })).toEqual(expected);
});

it("tells an object from others without what is secret or not known", () => {
  const values = { eventName: "Signup", advertiserId: 7, value: 2, clickWindow: 60 };
  const told = (more: object, secret: string[] = []) =>
    identifyingIn(conversionEvent, { ...values, ...more }, new Set(secret));
  expect(told({})).toEqual({ name: "Signup", facts: { advertiserId: 7, value: 2 } });
  expect(told({ value: { deep: 1 } })).toEqual({
    name: "Signup",
    facts: { advertiserId: 7 },
  });
  expect(told({}, ["eventName", "value"])).toEqual({
    name: undefined,
    facts: { advertiserId: 7 },
  });
  expect(identifyingIn(advertiser, { advertiserName: "Acme" }, new Set())).toEqual({
    name: "Acme",
    facts: {},
  });
});
