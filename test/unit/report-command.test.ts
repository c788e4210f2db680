/** Ids by key, as JSON and CSV. */
import { describe, expect, it } from "vitest";
import { contentsOf } from "../../provider/src/tools/contents.js";
import { addressesBy, ID_FORMATS, idsOf } from "../../provider/src/tools/report-command.js";
import type { Resource } from "../../provider/src/tools/stack-export.js";
import {
  CIPHERTEXT,
  encrypted,
  storedAdvertiser,
  storedEvent,
  storedSet,
  UNRESOLVED_OUTPUT,
  urnOf,
} from "../support/stored.js";

const STATE = [
  storedAdvertiser("acme", 1, "Acme, Inc."),
  storedEvent("signup", "unresolved-x", UNRESOLVED_OUTPUT),
  storedEvent("buy", 11, { eventName: '=SUM("x")', eventTypeId: 0 }),
  storedEvent("old", 9, {}, { delete: true }),
  storedSet("funnel", { events: { a: { eventName: "A", value: 2 } }, eventIds: { a: "90071992547409930" } }),
];

function text(format: string, resources: readonly Resource[], template?: string): string {
  const addressOf = template === undefined ? undefined : addressesBy(template);
  return ID_FORMATS[format]?.(idsOf(contentsOf(resources), addressOf)) ?? "";
}

describe("formats", () => {
  it("json", () => {
    expect(JSON.parse(text("json", STATE))).toEqual({
      advertisers: { acme: 1 },
      events: { buy: 11, "funnel/a": "90071992547409930" },
    });
    expect(JSON.parse(text("json", STATE, "https://t.example/{id}?n={key}")).tags).toEqual({
      buy: "https://t.example/11?n=buy",
      "funnel/a": "https://t.example/90071992547409930?n=funnel%2Fa",
    });
  });

  it("csv, with cells quoted as text that a spreadsheet would run as formulas", () => {
    expect(text("csv", STATE, "https://t.example/{id}")).toBe(
      [
        "kind,key,id,name,advertiser,advertiserId,tag",
        'advertiser,acme,1,"Acme, Inc.",,,',
        'event,buy,11,"\'=SUM(""x"")",acme,1,https://t.example/11',
        "event,funnel/a,90071992547409930,A,acme,1,https://t.example/90071992547409930",
        "",
      ].join("\r\n"),
    );
    expect(text("csv", STATE)).toContain("kind,key,id,name,advertiser,advertiserId\r\n");
  });

  it.each([
    ["=1+1", "'=1+1"],
    ["foo;=cmd|' /C calc'!A0", "\"foo;'=cmd|' /C calc'!A0\""],
    ["foo;+1;-2;@x", "\"foo;'+1;'-2;'@x\""],
    ["foo\t=1", '"foo\t\'=1"'],
    ["foo\n=1", '"foo\n\'=1"'],
    ["foo;bar", '"foo;bar"'],
    ["a-b@c.example", "a-b@c.example"],
  ])("csv: %j is text for a spreadsheet with any separator", (eventName, cell) => {
    expect(text("csv", [storedEvent("e", 1, { eventName })])).toContain(`event,e,1,${cell},,1\r\n`);
  });
});

it("the text does not depend on the state's order", () => {
  for (const format of Object.keys(ID_FORMATS)) expect(text(format, STATE.toReversed())).toBe(text(format, STATE));
});

it("resources without an id yet are listed as missing", () => {
  // `deleteBeforeReplace` has deleted its object, or left it live.
  const replaced = storedEvent("replaced", 12, {}, { pendingReplacement: true });
  const { missing, events } = idsOf(contentsOf([...STATE, replaced]), undefined);
  expect(missing.map(({ key }) => key)).toEqual(["replaced", "signup"]);
  expect(events.map(({ id }) => id)).not.toContain("12");
});

it("natural order: event-2 before event-10, in every list", () => {
  const names = ["event-10", "event-2", "Event-1", "event-1"];
  const { events } = contentsOf(names.map((name, index) => storedEvent(name, index + 1)));
  expect(events.map(({ key }) => key)).toEqual(["event-1", "Event-1", "event-2", "event-10"]);
  expect(
    Object.keys(
      JSON.parse(
        text(
          "json",
          names.map((name) => storedEvent(name, 1)),
        ),
      ).events,
    ).at(-1),
  ).toBe("event-10");
});

it("an argument that a refresh found removed is not shown with the set's default", () => {
  const events = { own: { eventName: "Own", value: 1 }, gone: { eventName: "Gone", value: 1, segmentId: null } };
  const set = storedSet("s", { defaults: { segmentId: 5 }, events, eventIds: { own: 1, gone: 2 } });
  expect(contentsOf([set]).events.map(({ values }) => values.segmentId)).toEqual([undefined, 5]);
});

it("keys are unique: resources with the same name get their parent's name, or their URN", () => {
  const below = (parent: string, id: number, type: string) =>
    storedEvent("buy", id, {}, { parent: urnOf("x", parent), urn: `${urnOf("Shop$x", type)}::buy` });
  const { events } = contentsOf([
    { ...storedEvent("buy", 1, {}), parent: urnOf("Shop", "berlin") },
    { ...storedEvent("buy", 2, {}), parent: urnOf("Shop", "paris") },
    storedEvent("other", 3),
  ]);
  expect(events.map(({ key, id }) => `${key} ${id}`)).toEqual(["berlin/buy 1", "other 3", "paris/buy 2"]);
  const same = contentsOf([below("a", 1, "p"), below("a", 2, "q")]).events;
  expect(new Set(same.map(({ key }) => key)).size).toBe(2);
});

describe("the template", () => {
  it("with an unknown name, or without {id}, is refused", () => {
    expect(() => addressesBy("https://t.example/{id}/{eventNam}")).toThrow(/knows {id}.*; got {eventNam}$/);
    expect(() => addressesBy("https://t.example/")).toThrow("needs {id}");
  });

  it("gets encoded values, and never a secret", () => {
    const [event] = idsOf(contentsOf([storedEvent("a", 1, { eventName: "50% & more", value: 2.5 })]), undefined).events;
    if (event === undefined) throw new Error("no event");
    expect(addressesBy("https://t.example/{id}?n={eventName}&v={value}&s={segmentId}")(event)).toBe(
      "https://t.example/1?n=50%25%20%26%20more&v=2.5&s=",
    );
    expect(() => text("json", [storedEvent("a", 1, { eventName: encrypted })], "x/{id}/{eventName}")).toThrow(
      "{eventName}, which is secret of the event a",
    );
  });
});

it("JSON: __proto__ is a key like any other", () => {
  expect(text("json", [storedEvent("__proto__", 7)])).toContain('"__proto__": 7');
});

describe("secrets", () => {
  const hidden = [
    storedAdvertiser("acme", 1, encrypted),
    storedEvent("buy", 2, { eventName: encrypted, value: encrypted }),
    storedSet("one", { events: { a: encrypted, b: { eventName: encrypted, value: 1 } }, eventIds: { a: 3, b: 4 } }),
    storedSet("all", { events: encrypted, eventIds: { a: 5 } }),
    storedSet("ids", { events: { a: { eventName: "A", value: 1 } }, eventIds: encrypted }),
  ];

  it.each(Object.keys(ID_FORMATS))("%s shows none", (format) => {
    const shown = text(format, hidden);
    expect(shown).not.toContain(CIPHERTEXT);
    expect(shown).not.toContain("4dabf18193072939515e22adb298388d");
    expect(shown).toMatch(/\b5\b/);
  });

  it("are shown as secret", () => {
    expect(text("csv", hidden)).toContain("event,all/a,5,(secret),acme,1");
    expect(contentsOf(hidden).secretSets).toEqual(["ids"]);
  });
});
