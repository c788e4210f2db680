/** Rules for arguments in both processes: the program with Outputs, the provider with the engine's unknown values. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { printable } from "../../provider/src/base/index.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type { Kind } from "../../provider/src/kinds/kind.js";
import { holdsOutput } from "../../provider/src/program/declaration.js";
import { expecting } from "../../provider/src/rules/fields.js";
import { validate } from "../../provider/src/rules/validate.js";
import { UNKNOWN } from "../../provider/src/state/stored.js";

/** As in `plan/decide.ts`. */
function holdsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  return (
    typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown)
  );
}

const processes: [
  string,
  { unknown: () => unknown; isUnknown: (value: unknown) => boolean },
][] = [
  [
    "the program, an Output",
    { unknown: () => pulumi.output("later"), isUnknown: (value) => holdsOutput(value) },
  ],
  ["the provider", { unknown: () => UNKNOWN, isUnknown: holdsUnknown }],
];
const limits = { maxWindowSeconds: 2_592_000, markField: undefined };
const needed = new Map<Kind, object>([
  [advertiser, { advertiserName: "A" }],
  [conversionEvent, { eventName: "E", advertiserId: 1, value: 1 }],
]);

function check(
  schema: Kind,
  args: object,
  { isUnknown = holdsUnknown, markField = undefined as string | undefined } = {},
) {
  return validate(
    { ...needed.get(schema), ...args },
    schema.rules({ ...limits, markField }),
    {
      isUnknown,
    },
  );
}

const fieldsOf = (additionalFields: unknown, reading = {}) =>
  check(conversionEvent, { additionalFields }, reading);

describe.each([...needed.keys()].map((schema) => [schema.name, schema] as const))(
  "additionalFields of %s",
  (_, schema) => {
    it("must not set the mark's field, and the message says why", () => {
      const additionalFields = { alternative_id: "mine" };
      expect(check(schema, { additionalFields }).problems).toEqual([]);
      const { problems } = check(
        schema,
        { additionalFields },
        { markField: "alternative_id" },
      );
      expect(problems).toEqual([
        {
          property: "additionalFields",
          reason: expect.stringMatching(
            /alternative_id \(advertising:markField\).*; got an object; not allowed: "alternative_id"/,
          ),
        },
      ]);
      expect(
        check(schema, { additionalFields: { other: 1 } }, { markField: "alternative_id" })
          .problems,
      ).toEqual([]);
    });

    it("must not set what is an argument's", () => {
      for (const name of Object.values(schema.wireNames))
        expect(check(schema, { additionalFields: { [name]: 1 } }).problems).toMatchObject([
          { reason: expect.stringContaining(`not allowed: "${name}"`) },
        ]);
    });

    it("names each field that must not be set", () => {
      const names = Object.values(schema.wireNames).slice(0, 2);
      const additionalFields = {
        other: 1,
        ...Object.fromEntries(names.map((n) => [n, 1])),
      };
      const listed = names.map((name) => `"${name}"`).join(", ");
      expect(check(schema, { additionalFields }).problems).toMatchObject([
        { reason: expect.stringMatching(new RegExp(`not allowed: ${listed}$`)) },
      ]);
    });
  },
);

describe.each(processes)(
  "a value that is not known yet, in %s",
  (_, { unknown, isUnknown }) => {
    it("does not keep the known names from being checked", () => {
      for (const name of ["event_name", "alternative_id", ""]) {
        expect(
          fieldsOf(
            { x: unknown(), [name]: "v" },
            { isUnknown, markField: "alternative_id" },
          ).problems,
          name,
        ).toMatchObject([{ property: "additionalFields" }]);
        expect(
          fieldsOf({ [name]: unknown() }, { isUnknown, markField: "alternative_id" })
            .problems,
          name,
        ).toMatchObject([{ property: "additionalFields" }]);
      }
    });

    it("does not keep the known values from being checked", () => {
      for (const value of [() => 1, Number.NaN, { deep: [Symbol("s")] }, new Date(0)]) {
        expect(fieldsOf({ x: unknown(), y: value }, { isUnknown }).problems).toHaveLength(
          1,
        );
      }
      expect(
        check(conversionEvent, { eventName: [unknown()] }, { isUnknown }).problems,
      ).toHaveLength(1);
    });

    it("is left as it is, at any depth", () => {
      const [a, b, c] = [unknown(), unknown(), unknown()];
      const { values, problems } = fieldsOf(
        { a, list: [1, b, undefined], deep: { c, gone: undefined } },
        { isUnknown },
      );
      expect(problems).toEqual([]);
      const fields = values.additionalFields as {
        a: unknown;
        list: unknown[];
        deep: object;
      };
      expect(fields.a).toBe(a);
      expect(fields.list[1]).toBe(b);
      expect(fields.list).toHaveLength(3);
      expect(fields.list[2]).toBe(null);
      expect(Object.entries(fields.deep)).toEqual([["c", c]]);
    });
  },
);

describe("undefined", () => {
  it("is dropped at any depth, and null in a list, as Pulumi does it", () => {
    const { values, problems } = fieldsOf({
      active: undefined,
      kept: null,
      deep: { gone: undefined, list: [undefined, { gone: undefined }] },
    });
    expect(problems).toEqual([]);
    expect(values.additionalFields).toStrictEqual({
      kept: null,
      deep: { list: [null, {}] },
    });
    expect(fieldsOf({ active: undefined }).values.additionalFields).toStrictEqual({});
  });
});

describe("values that JSON can't carry", () => {
  const circular: Record<string, unknown> = {};
  circular.itself = [circular];
  let deep: unknown = 1;
  for (let level = 0; level < 20_000; level++) deep = [deep];

  it.each<[string, unknown]>([
    ["a value that contains itself", { circular }],
    ["a value nested without end", { deep }],
    ["a name that would be a prototype", JSON.parse('{"__proto__":1}')],
    ["a name that would be a prototype, deep down", { x: [JSON.parse('{"__proto__":1}')] }],
    ["no fields at all", "x"],
    ["a list", []],
  ])("%s is refused", (_, fields) => {
    expect(fieldsOf(fields, { isUnknown: () => false }).problems).toMatchObject([
      { property: "additionalFields" },
    ]);
  });

  it("the same object in two places is accepted", () => {
    const shared = { a: 1 };
    expect(fieldsOf({ x: shared, y: [shared, shared] }).problems).toEqual([]);
  });
});

const NO_NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, "1e21"];
const NO_IDS = [
  ...NO_NUMBERS,
  1e21,
  2 ** 53,
  0.5,
  -1,
  "1.0",
  "-1",
  " 1",
  "0x1",
  "",
  "9".repeat(31),
  "007",
];
const NO_WINDOWS = [...NO_NUMBERS, 0, -0, -1, 0.5, 2_592_001];
const NO_NAMES = [
  ...[
    "a\r\nb",
    "a\n",
    "\ta",
    "a\u0000b",
    "\u001b[31mred",
    "a\u007f",
    "a\u0085b",
    "a\u009b31m",
    "",
    " ",
    "\u200b",
  ],
  ...["a\ud83d", "\udc69b", "\udc69\ud83d", "🎉".repeat(100), 7],
];
const NO_FIELDS = [
  Number.NaN,
  [{ y: [Number.NEGATIVE_INFINITY] }],
  1n,
  "\ud800",
  ["a\udc00"],
  { "\ud800": 1 },
];

it.each<[string, readonly unknown[]]>([
  ["eventName", NO_NAMES],
  ["value", NO_NUMBERS],
  ["eventTypeId", [...NO_NUMBERS, 0.5, -1]],
  ...["advertiserId", "segmentId", "existingId"].map((name): [string, unknown[]] => [
    name,
    NO_IDS,
  ]),
  ...["clickWindow", "viewWindow"].map((name): [string, unknown[]] => [name, NO_WINDOWS]),
  ["countUnique", ["yes", 1]],
  ["attribution", ["all", "🎉"]],
  ["additionalFields", NO_FIELDS.map((x) => ({ fine: 1, x }))],
])(
  "%s refuses what the platform could not take as it is, in words that can be printed",
  (property, values) => {
    for (const value of values) {
      const { problems } = check(conversionEvent, { [property]: value });
      expect(problems, JSON.stringify(property)).toMatchObject([{ property }]);
      for (const { reason } of problems) expect(reason).toBe(printable(reason));
    }
  },
);

it.each(["toString", "constructor", "__proto__", "hasOwnProperty", "click_window"])(
  "the unknown argument %s is refused",
  (name) => {
    const args = JSON.parse(`{"${name}":1}`);
    expect(check(conversionEvent, args).problems).toEqual([
      { property: name, reason: expect.stringContaining("is not a known argument") },
    ]);
  },
);

describe("reasons that say what to write instead", () => {
  const reasonsOf = (args: object, limit = limits) =>
    validate({ ...needed.get(conversionEvent), ...args }, conversionEvent.rules(limit), {
      isUnknown: holdsUnknown,
    }).problems.map(({ property, reason }) => `${property} ${reason}`);

  it.each<[object, string]>([
    [
      { clickWindow: 31 * 86_400 },
      "clickWindow expected whole seconds from 1 to 2592000 (30 days); see advertising:maxWindowSeconds; got 2678400",
    ],
    [
      { eventName: " \t" },
      'eventName expected a string of 1 to 99 characters, not blank, without control characters; got the string " \\t"',
    ],
    [
      { advertiserId: 0 },
      "advertiserId expected an Advertiser or its id, an integer from 1 or a string of digits; got 0",
    ],
    [
      { eventName: `${"x".repeat(70)}\n` },
      "eventName expected a string of 1 to 99 characters, not blank, without control characters; got a string of 71 characters",
    ],
    [
      { existingId: 0 },
      "existingId expected the id of a live event, an integer from 1 or a string of digits; got 0",
    ],
  ])("%j", (args, reason) => {
    expect(reasonsOf(args)).toEqual([reason]);
  });

  it("do not quote a secret value", () => {
    const { problems } = validate(
      { ...needed.get(conversionEvent), clickWindow: 31 * 86_400 },
      conversionEvent.rules(limits),
      { isUnknown: holdsUnknown, secret: new Set(["clickWindow"]) },
    );
    expect(problems).toEqual([
      {
        property: "clickWindow",
        reason: expect.stringMatching(
          /^expected whole seconds from 1 to 2592000 .*; got a secret value that doesn't fit$/,
        ),
      },
    ]);
  });

  it("a segment may have the id 0", () => {
    expect(reasonsOf({ segmentId: 0 })).toEqual([]);
  });
});

describe("a map of members", () => {
  const key = expecting("1 to 100 characters", z.string().min(1).max(100));
  const rules = z.strictObject({
    events: expecting(
      "events by key",
      z.record(key, expecting("an object", conversionEvent.rules(limits))),
    ),
  });
  const event = { eventName: "E", advertiserId: 1, value: 1 };
  const checked = (events: unknown, reading: object = {}) =>
    validate({ events }, rules, { isUnknown: holdsUnknown, ...reading });

  it("is checked except for what is not known yet: a part, a member, or all of it", () => {
    const { values, problems } = checked({
      part: { ...event, advertiserId: UNKNOWN, value: "x" },
      member: UNKNOWN,
      known: { ...event, value: "y" },
    });
    expect(values.events).toMatchObject({
      part: { advertiserId: UNKNOWN, clickWindow: 2_592_000 },
      member: UNKNOWN,
    });
    expect(problems.map(({ property }) => property)).toEqual([
      'events["part"].value',
      'events["known"].value',
    ]);
    expect(checked(UNKNOWN)).toEqual({ values: { events: UNKNOWN }, problems: [] });
  });

  it("shows nothing inside a secret", () => {
    const inside = {
      a: { ...event, eventName: "needle\n", additionalFields: "needle" },
      b: { ...event, value: "needle" },
    };
    const within = checked(inside, { secret: new Set(["events"]) }).problems;
    expect(within).toHaveLength(3);
    expect(JSON.stringify(within)).not.toContain("needle");
  });
});
