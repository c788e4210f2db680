/** The record of a create that was sent: its mark, which every run computes alike, and what it says without secrets. */
import { expect, it } from "vitest";
import { advertiser, conversionEvent } from "../../provider/src/kinds/index.js";
import {
  identifyingIn,
  markOf,
  RESOLVED,
  resolvedIn,
  SENDER,
  senderIn,
  senderText,
} from "../../provider/src/state/index.js";

const OF = ["AbCdEfGh-_12", "ConversionEvent::purchase"] as const;

it("its mark follows from the run and the key, on every machine", () => {
  // A contract: a search of a later version looks for this text.
  expect(markOf(...OF)).toBe("e069d933-8fbb-d8f7-c2f5-decae9308d22");
  const others = OF.map((_, at) =>
    markOf(
      ...(OF.map((part, index) => (index === at ? `${part}x` : part)) as [string, string]),
    ),
  );
  const marks = [markOf(...OF), ...others, markOf("", "")];
  expect(new Set(marks).size).toBe(marks.length);
  for (const mark of marks)
    expect(mark).toMatch(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/);
  expect(markOf("a", "bc")).not.toBe(markOf("ab", "c"));
});

const ALL = {
  identity: "shop/dev::Acme's $::buy  now",
  account: "x.example:8443/p ops@example.com",
  run: "AbCdEfGh-_12",
  field: "alternative_id",
  canUpdate: true,
};
const NONE = { identity: "", account: "", run: "", field: undefined, canUpdate: false };

it.each([
  ALL,
  { ...ALL, account: "" },
  { ...ALL, run: "" },
  { ...ALL, field: undefined },
  { ...ALL, canUpdate: false },
  NONE,
])("the sender %j is read as it was written", (sender) => {
  expect(senderIn({ [SENDER]: senderText(sender) })).toEqual(sender);
});

it.each([{ secret: true }, undefined, 5, ""])("nobody is named by %j", (input) => {
  expect(senderIn({ [SENDER]: input })).toEqual(NONE);
});

it("the outcomes of creates are texts by mark", () => {
  const outcomes = resolvedIn({ [RESOLVED]: { m: "5", n: "", o: 6 } });
  expect([...outcomes]).toEqual([
    ["m", "5"],
    ["n", ""],
    ["o", "6"],
  ]);
  for (const other of [undefined, ["m 2026"], "m"])
    expect(resolvedIn({ [RESOLVED]: other }).size).toBe(0);
});

it("tells an object from others without what is secret or not known", () => {
  const values = { eventName: "Signup", advertiserId: 7, value: 2, clickWindow: 60 };
  const told = (more: object, secret: string[] = []) =>
    identifyingIn(conversionEvent, { ...values, ...more }, new Set(secret));
  expect(told({})).toEqual({ name: "Signup", args: { advertiserId: 7, value: 2 } });
  expect(told({ value: { deep: 1 } })).toEqual({
    name: "Signup",
    args: { advertiserId: 7 },
  });
  expect(told({}, ["eventName", "value"])).toEqual({
    name: undefined,
    args: { advertiserId: 7 },
  });
  expect(identifyingIn(advertiser, { advertiserName: "Acme" }, new Set())).toEqual({
    name: "Acme",
    args: {},
  });
});
