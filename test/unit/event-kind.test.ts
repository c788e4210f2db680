/** A set's arguments are checked against its rules: all problems at once, with their paths. */
import { describe, expect, it } from "vitest";
import { conversionEventSet } from "../../provider/src/kinds/event-kind.js";
import { warningsIn } from "../../provider/src/kinds/likely-mistakes.js";
import { holdsUnknown } from "../../provider/src/plan/decide.js";
import { validate } from "../../provider/src/rules/validate.js";

const limits = { maxWindowSeconds: 2_592_000, markField: undefined };
const E = { eventName: "E", value: 1 };

const check = (args: object) =>
  validate(
    { advertiserId: 1, events: { e: E }, ...args },
    conversionEventSet.rules(limits),
    {
      isUnknown: holdsUnknown,
    },
  );
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
        "\u0000": { ...E, eventName: "x".repeat(100) },
      },
      evnts: {},
    });
    expect(problems.map(({ property, reason }) => `${property} ${reason}`)).toEqual([
      expect.stringMatching(/^advertiserId expected an Advertiser or its id.*; got -1$/),
      expect.stringMatching(/^defaults\.clickWindow expected whole seconds/),
      expect.stringMatching(
        /^defaults\.attribution expected "ALL" or "WHITELIST"; got the string "all"$/,
      ),
      expect.stringMatching(/^events\["purchase"\]\.eventName expected a string/),
      expect.stringMatching(
        /^events\["purchase"\]\.value expected a finite number; got the string "25"$/,
      ),
      expect.stringMatching(
        /^events\["a\\"\]\[\\"b"\]\.eventName expected a string of 1 to 99 .*; got a string of 100 characters$/,
      ),
      'events["a\\"][\\"b"].clickWindw is not a known argument; did you mean clickWindow?',
      expect.stringMatching(/^events\["none"\]\.eventName is required/),
      expect.stringMatching(/^events\["none"\]\.value is required/),
      'events["text"] expected an object; got the string "Purchase"',
      'events["list"] expected an object; got a list',
      expect.stringMatching(
        /^events\["\\u0000"\]\.eventName expected a string of 1 to 99 /,
      ),
      expect.stringMatching(
        /^events\["\\u0000"\] is not a valid key: expected 1 to 100 characters/,
      ),
      "evnts is not a known argument; did you mean events?",
    ]);
  });

  it("a set needs an advertiser and events, which may be empty", () => {
    expect(paths({ advertiserId: undefined, events: undefined })).toEqual([
      "advertiserId",
      "events",
    ]);
    expect(paths({ events: [] })).toEqual(["events"]);
    expect(paths({ events: {} })).toEqual([]);
  });

  it("defaults can't give what each event has its own, nor an entry what is the set's", () => {
    for (const name of ["existingId", "eventName", "value", "advertiserId"])
      expect(paths({ defaults: { [name]: 1 } })).toEqual([`defaults.${name}`]);
    expect(paths({ events: { e: { ...E, advertiserId: 1 } } })).toEqual([
      `events["e"].advertiserId`,
    ]);
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
    const events = JSON.parse(
      `{${JSON.stringify(key)}: {"eventName": "E", "value": 1}}`,
    ) as object;
    expect(check({ events }).problems).toEqual([
      {
        property: `events[${JSON.stringify(key)}]`,
        reason: expect.stringContaining("is not a valid key"),
      },
    ]);
  });

  it.each(["🛒".repeat(100), "constructor", `a"]["b`, "__x", "a b"])(
    "the key %s is taken",
    (key) => {
      const { values, problems } = check({ events: { [key]: E } });
      expect([problems, values.events]).toEqual([[], { [key]: E }]);
    },
  );
});

it("an entry's arguments come before the set's defaults, and those before the API's", () => {
  const { values } = check({
    defaults: { clickWindow: 60 },
    events: { e: { ...E, viewWindow: 5 } },
  });
  const defaults = {
    countUnique: false,
    clickWindow: 60,
    viewWindow: 2_592_000,
    attribution: "ALL",
  };
  expect(values).toEqual({
    advertiserId: 1,
    defaults,
    events: { e: { ...E, viewWindow: 5 } },
  });
  const set = { advertiserId: 1, events: {} };
  const rules = conversionEventSet.rules({ ...limits, maxWindowSeconds: 3600 });
  expect(validate(set, rules).values.defaults).toEqual({
    ...defaults,
    clickWindow: 3600,
    viewWindow: 3600,
  });
});

it("an id that a spreadsheet has rounded, and a name with a character that nobody sees, are warnings with their path", () => {
  const rounded = "1234567890123450";
  const told = `is ${rounded}: spreadsheets write zeros after 15 to 17 digits; is that the whole id?`;
  const event = {
    eventName: "Sign\u200bup",
    value: 1,
    existingId: Number(rounded),
    segmentId: `${rounded}00`,
  };
  const unseen = String.raw`"Sign\u200bup" has an invisible character: is it intended?`;
  expect(
    warningsIn({
      advertiserId: rounded,
      defaults: {},
      events: { a: event, b: E },
    }),
  ).toMatchObject([
    { property: "advertiserId", reason: told, level: "warning" },
    { property: 'events["a"].eventName', reason: unseen },
    { property: 'events["a"].existingId', reason: told },
    { property: 'events["a"].segmentId', reason: told.replace(rounded, `${rounded}00`) },
  ]);
  expect(warningsIn({ advertiserName: "Ac\u00adme", existingId: rounded })).toMatchObject([
    { property: "advertiserName" },
    { property: "existingId", reason: told },
  ]);
});

it("short windows are warned of, in defaults and in each entry", () => {
  const events = { a: { ...E, clickWindow: 30 }, b: { ...E, viewWindow: 366 } };
  expect(warningsIn({ defaults: { viewWindow: 1 }, events })).toMatchObject([
    {
      property: "defaults.viewWindow",
      reason: expect.stringContaining("is 1 second; windows are in seconds."),
    },
    {
      property: 'events["a"].clickWindow',
      reason: expect.stringContaining("write 2592000"),
    },
  ]);
});

it.each<[number, string | undefined]>([
  [30, "2592000 (30 days)"],
  [366, undefined],
  [10_080, "604800 (7 days)"],
  [20_160, "1209600 (14 days)"],
  // The platform's default; other whole hours are often meant.
  [43_200, "2592000 (30 days)"],
  [21_600, undefined],
  [86_400, undefined],
  [604_800, undefined],
])("a window of %i seconds is probably meant as %s", (clickWindow, meant) => {
  const [warning] = warningsIn({ clickWindow });
  expect(warning?.reason.split("write ")[1]).toBe(meant);
});

it.each([
  [365, undefined, "days, the longest is 2592000 (30 days)"],
  [365, 40_000_000, "days, write 31536000 (365 days)"],
  [60, 3600, "days, the longest is 3600 (1 hour)"],
  [44_640, undefined, "minutes, the longest is 2592000 (30 days)"],
])(
  "nothing that the limit refuses is advised: %i seconds, limit %s",
  (clickWindow, most, advice) => {
    const [warning] = warningsIn({ defaults: { clickWindow } }, most);
    expect(warning?.reason.split("If you mean ")[1]).toBe(advice);
  },
);

/** The reason of the warning about a name; empty if there is none. */
const toldOf = (eventName: string) => warningsIn({ eventName })[0]?.reason ?? "";

it("names that stand for no value are warned of", () => {
  const names = ["None", "undefined", "TODO", "tbd", "xxx", "#N/A"];
  expect(names.map((name) => toldOf(name).endsWith(": is that a name?"))).toEqual([
    ...[true, true, true, true, true, false],
  ]);
  expect(["Nonesuch", "Todo list", "XX"].map(toldOf)).toEqual(["", "", ""]);
});

it("placeholders that nothing has filled in are warned of", () => {
  const placeholders = [
    `\${ADVERTISER_NAME}`,
    `Buy \${name}`,
    "#{name}",
    "$(Build.Name)",
    "{{ var('purchase_name') }}",
    "{{Event}}",
    "{% if x %}Buy",
    "%PURCHASE_NAME%",
    "[object Object]",
    "<event name>",
    "$PURCHASE_NAME",
  ];
  for (const name of placeholders)
    expect(toldOf(name)).toMatch(/^is ".*": nothing has filled in this placeholder;/);
  const names = ["5 % off, 10 % off", "a < b", "A$AP", "$5 coupon", "[Shop] Buy", "{x}"];
  expect(names.filter((name) => toldOf(name) !== "")).toEqual([]);
});

it("broken letters are warned of, and those of many languages aren't broken", () => {
  const utf8 = (name: string) => [...new TextEncoder().encode(name)];
  const misread = (name: string, encoding: string) =>
    new TextDecoder(encoding).decode(new Uint8Array(utf8(name)));
  const names = ["Café", "Größe", "À la carte", "Kauf – Shop", "Покупка", "購入 🎉"];
  const latin1 = names.slice(0, 4).map((name) => String.fromCharCode(...utf8(name)));
  const broken = [
    ...names.slice(0, 5).map((name) => misread(name, "windows-1252")),
    misread("🎉", "windows-1252"),
    ...latin1.slice(0, 3),
    ...["Café", "Größe"].map((name) => misread(name, "macintosh")),
    "Caf\ufffd",
    "Tom &amp; Jerry",
    "D&#39;Artagnan",
    "M&uuml;ller",
    ...["€ 5", "Acme™", "\ufeffPurchase"].map((name) => misread(name, "windows-1252")),
    encodeURIComponent("Café"),
    "caf\\u00e9",
  ];
  const isBroken = (name: string) => toldOf(name).includes("has broken letters, ");
  expect(broken.filter((name) => !isBroken(name))).toEqual([]);
  const good = ["CAFÉ–BAR", "«\u00a0CAFÉ\u00a0»", "NÃO", "Âge", "AT&T; R&D", "√ 9", "ÄÖÜß"];
  expect([...names, ...good].filter(isBroken)).toEqual([]);
});
