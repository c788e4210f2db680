/** A set's arguments are checked against its rules: all problems at once, with paths, and unknown values left alone. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { holdsUnknown } from "../../provider/src/decision/compare.js";
import { conversionEventSet } from "../../provider/src/kinds/event-kind.js";
import { isNotPlain } from "../../provider/src/program/ids.js";
import { validate } from "../../provider/src/rules/validate.js";
import { UNKNOWN } from "../../provider/src/state/stored.js";

const limits = { maxWindowSeconds: 2_592_000, markField: undefined };
const E = { eventName: "E", value: 1 };

const check = (args: object, secret: string[] = [], isUnknown: (value: unknown) => boolean = holdsUnknown) =>
  validate({ advertiserId: 1, events: { e: E }, ...args }, conversionEventSet.rules(limits), {
    isUnknown,
    secret: new Set(secret),
  });
const paths = (args: object) => check(args).problems.map(({ property }) => property);

describe("what is wrong", () => {
  it("is reported all at once, each with its path", () => {
    const { problems } = check({
      advertiserId: -1,
      defaults: { clickWindow: 0, attribution: "all" },
      events: {
        ok: E,
        purchase: { eventName: "", value: "25" },
        'a"]["b': { eventName: "x".repeat(100), value: 1, clickWindw: 5 },
        none: {},
        text: "Purchase",
        list: [],
        "\u0000": E,
      },
      evnts: {},
    });
    expect(problems.map(({ property, reason }) => `${property} ${reason}`)).toEqual([
      expect.stringMatching(/^advertiserId expected an Advertiser or its id.*; got -1$/),
      expect.stringMatching(/^defaults\.clickWindow expected whole seconds/),
      expect.stringMatching(/^defaults\.attribution expected "ALL" or "WHITELIST"; got the string "all"$/),
      expect.stringMatching(/^events\["purchase"\]\.eventName expected a string/),
      expect.stringMatching(/^events\["purchase"\]\.value expected a finite number; got the string "25"$/),
      expect.stringMatching(/^events\["a\\"\]\[\\"b"\]\.eventName has 100 characters; the limit is 99$/),
      'events["a\\"][\\"b"].clickWindw is not a known argument; did you mean clickWindow?',
      expect.stringMatching(/^events\["none"\]\.eventName is required/),
      expect.stringMatching(/^events\["none"\]\.value is required/),
      'events["text"] expected an object; got the string "Purchase"',
      'events["list"] expected an object; got a list',
      expect.stringMatching(/^events\["\\u0000"\] is not a valid key: expected 1 to 100 characters/),
      "evnts is not a known argument; did you mean events?",
    ]);
  });

  it("a set needs an advertiser and events, which may be empty", () => {
    expect(paths({ advertiserId: undefined, events: undefined })).toEqual(["advertiserId", "events"]);
    expect(paths({ events: [] })).toEqual(["events"]);
    expect(paths({ events: {} })).toEqual([]);
  });

  it.each(["existingId", "eventName", "value", "advertiserId"])("defaults can't give %s", (name) => {
    expect(paths({ defaults: { [name]: 1 } })).toEqual([`defaults.${name}`]);
  });

  it("an entry can't give advertiserId, which is the set's", () => {
    expect(paths({ events: { e: { ...E, advertiserId: 1 } } })).toEqual([`events["e"].advertiserId`]);
  });

  it.each([
    ["empty", ""],
    ["blank", "  "],
    ["of 101 characters", "k".repeat(101)],
    ["with a line break", "a\nb"],
    ["with an escape sequence", "\u001b[2J"],
    ["__proto__", "__proto__"],
    ["toString, which Pulumi can't print", "toString"],
    ["one that marks an Output", "__pulumiOutput"],
    ["one that marks a secret", "4dabf18193072939515e22adb298388d"],
    ["half of a character", "a\ud800"],
  ])("a key that is %s is refused", (_, key) => {
    const events = JSON.parse(`{${JSON.stringify(key)}: {"eventName": "E", "value": 1}}`) as object;
    expect(check({ events }).problems).toEqual([
      { property: `events[${JSON.stringify(key)}]`, reason: expect.stringContaining("is not a valid key") },
    ]);
  });

  it("a literal with __proto__ has no such key, and the message says so", () => {
    expect(check({ events: { __proto__: { ...E }, other: E } }).problems).toEqual([
      {
        property: "events",
        reason:
          'expected an object with each event under its key; got an object with "__proto__", which JavaScript takes for no key',
      },
    ]);
    expect(check({ events: new Date() }).problems).toMatchObject([{ reason: expect.stringMatching(/got an object$/) }]);
  });

  it.each(["k".repeat(100), "🛒".repeat(100), "constructor", "valueOf", "a.b", `a"]["b`, "1", "__x", "id", "a b"])(
    "the key %s is taken",
    (key) => {
      const { values, problems } = check({ events: { [key]: E } });
      expect(problems).toEqual([]);
      expect(values.events).toEqual({ [key]: E });
    },
  );

  it("a secret is not quoted, wherever it stands", () => {
    const events = { a: { eventName: "E", value: "needle" }, b: { eventName: "needle\n", value: "needle" } };
    const secret = [`events["a"].value`, `events["b"]`, "defaults"];
    const { problems } = check({ defaults: { clickWindow: "needle" }, events }, secret);
    expect(problems).toHaveLength(4);
    expect(JSON.stringify(problems)).not.toContain("needle");
  });
});

describe.each([
  ["the program", () => pulumi.output("later") as unknown, (value: unknown) => isNotPlain(value)],
  ["the provider", () => UNKNOWN as unknown, holdsUnknown],
])("a value that %s does not know yet", (_, unknown, isUnknown) => {
  const problemsWith = (args: object) => check(args, [], isUnknown).problems.map(({ property }) => property);

  it("switches off only what depends on it", () => {
    const bad = { eventName: "", value: 1 };
    expect(problemsWith({ advertiserId: unknown(), events: { bad } })).toEqual([`events["bad"].eventName`]);
    expect(problemsWith({ events: { later: unknown(), bad } })).toEqual([`events["bad"].eventName`]);
    expect(problemsWith({ events: { e: { ...bad, value: unknown() } } })).toEqual([`events["e"].eventName`]);
    expect(problemsWith({ defaults: { clickWindow: unknown(), viewWindow: 0 } })).toEqual(["defaults.viewWindow"]);
    expect(problemsWith({ defaults: unknown(), events: { bad } })).toEqual([`events["bad"].eventName`]);
    expect(problemsWith({ events: unknown(), advertiserId: 0 })).toEqual(["advertiserId"]);
    expect(problemsWith({ events: { e: { ...E, additionalFields: { x: unknown(), event_name: 1 } } } })).toEqual([
      `events["e"].additionalFields`,
    ]);
  });

  it("comes through as it is", () => {
    const later = unknown();
    const { values } = check({ events: { later, e: { ...E, value: later } } }, [], isUnknown);
    expect((values.events as { later: unknown }).later).toBe(later);
    expect((values.events as { e: { value: unknown } }).e.value).toBe(later);
  });
});

it("an entry's arguments come before the set's defaults, and those before the API's", () => {
  const { values } = check({ defaults: { clickWindow: 60 }, events: { e: { ...E, viewWindow: 5 } } });
  expect(values).toEqual({ advertiserId: 1, defaults: { clickWindow: 60 }, events: { e: { ...E, viewWindow: 5 } } });
  expect(conversionEventSet.defaultsIn({ ...limits, maxWindowSeconds: 3600 })).toEqual({
    countUnique: false,
    clickWindow: 3600,
    viewWindow: 3600,
    attribution: "ALL",
  });
});
