/** Reports on a state: ids, the page (`test/package/page.test.ts` opens it in a browser), and what is left live. */
import { describe, expect, it } from "vitest";
import { currentObjectsIn, leftoversOf } from "../../provider/src/cli/contents.js";
import { pageOf } from "../../provider/src/cli/page.js";
import {
  addressesBy,
  ID_FORMATS,
  LEFTOVER_FORMATS,
} from "../../provider/src/cli/reports.js";
import { type Resource, readExport } from "../../provider/src/record/export.js";
import { LEFT_LIVE } from "../../provider/src/state/stored.js";
import {
  CIPHERTEXT,
  encrypted,
  exportOf,
  senderOf,
  storedAdvertiser,
  storedEvent,
  storedSet,
  UNRESOLVED_OUTPUT,
  urnOf,
} from "../support/stored.js";

const TIME = "2026-03-02T10:00:00Z";
const stateOf = (resources: readonly Resource[], time = TIME) =>
  readExport(exportOf(resources, time));
const LEFT = "left the state at 2026-03-01T00:00:00.000Z; may be live";
const NOTED = { id: "7", name: "Old", at: "2026-03-01T00:00:00.000Z" };

const STATE = [
  storedAdvertiser("acme", 1, "Acme, Inc."),
  storedEvent("signup", "unresolved-x", UNRESOLVED_OUTPUT),
  storedEvent("buy", 11, { eventName: '=SUM("x")', eventTypeId: 0 }),
  storedEvent("old", 9, {}, { delete: true }),
  storedSet("funnel", {
    events: { a: { eventName: "A", value: 2 } },
    eventIds: { a: "90071992547409930" },
  }),
];

function ids(
  format: keyof typeof ID_FORMATS,
  resources: readonly Resource[],
  template?: string,
): string {
  return (
    ID_FORMATS[format]?.(
      currentObjectsIn(resources).filter(({ id }) => id !== undefined),
      template === undefined ? undefined : addressesBy(template),
    ) ?? ""
  );
}

const page = (resources: readonly Resource[], time = TIME) =>
  pageOf(stateOf(resources, time));

describe("ids", () => {
  it("json, in which an id that no number can hold is text, and __proto__ is a key like any other", () => {
    expect(JSON.parse(ids("json", STATE))).toEqual({
      advertisers: { acme: 1 },
      events: { buy: 11, "funnel/a": "90071992547409930" },
    });
    expect(JSON.parse(ids("json", STATE, "https://t.example/{id}?n={key}")).tags).toEqual({
      buy: "https://t.example/11?n=buy",
      "funnel/a": "https://t.example/90071992547409930?n=funnel%2Fa",
    });
    expect(ids("json", [storedEvent("__proto__", 7)])).toContain('"__proto__": 7');
  });

  it("csv", () => {
    expect(ids("csv", STATE, "https://t.example/{id}")).toBe(
      [
        "\ufeffkind,key,id,name,advertiser,advertiserId,tag",
        'Advertiser,acme,1,"Acme, Inc.",acme,1,',
        'ConversionEvent,buy,11,"\'=SUM(""x"")",acme,1,https://t.example/11',
        "ConversionEvent,funnel/a,90071992547409930,A,acme,1,https://t.example/90071992547409930",
        "",
      ].join("\r\n"),
    );
  });

  it.each([
    ["=1+1", "'=1+1"],
    ["foo;=cmd|' /C calc'!A0", "\"foo;'=cmd|' /C calc'!A0\""],
    ["foo;+1;-2;@x", "\"foo;'+1;'-2;'@x\""],
    ["foo\n=1", '"foo\n\'=1"'],
    ["a-b@c.example", "a-b@c.example"],
  ])("csv: %j is text for a spreadsheet with any separator", (eventName, cell) => {
    expect(ids("csv", [storedEvent("e", 1, { eventName })])).toContain(
      `ConversionEvent,e,1,${cell},,1,\r\n`,
    );
  });

  it("a template gets encoded values; one with an unknown name is refused", () => {
    const event = storedEvent("a", 1, { eventName: "50% & more", value: 2.5 });
    const text = ids("json", [event], "x/{id}?n={eventName}&v={value}&s={segmentId}");
    expect(text).toContain("x/1?n=50%25%20%26%20more&v=2.5&s=");
    expect(() => addressesBy("https://t.example/{id}/{eventNam}")).toThrow(
      /takes {id}.*; got {eventNam}$/,
    );
  });
});

describe("current objects", () => {
  it("are in one order in all formats, whatever the state's", () => {
    for (const format of Object.keys(ID_FORMATS))
      expect(ids(format, STATE.toReversed())).toBe(ids(format, STATE));
  });

  it("leave out what a set has replaced, and could not delete: it may be live", () => {
    const events = { a: { eventName: "A", value: 1 }, "a#7": { eventName: "A", value: 2 } };
    const state = [storedSet("funnel", { events, eventIds: { a: 8, "a#7": 7 } })];
    expect(JSON.parse(ids("json", state)).events).toEqual({ "funnel/a": 8 });
    expect(leftoversOf(stateOf(state), []).map(({ id }) => id)).toEqual(["7"]);
  });

  it("leave out one that is being replaced", () => {
    const event = storedEvent("buy", 1);
    const current = currentObjectsIn([event, { ...event, delete: true }]);
    expect(current.map(({ key }) => key)).toEqual(["buy"]);
  });
});

describe("the page", () => {
  it("a name can't be markup, in content or in an attribute", () => {
    const name = `<script>alert(1)</script>" onclick='x' & \u0645\u0631\u062d\u0628\u0627`;
    const left = { [LEFT_LIVE]: [{ ...NOTED, name }] };
    const urn = urnOf("ConversionEvent", "b").replace(":dev:", `:${name}:`);
    const more = { urn, inputs: { __sender: senderOf("shop/dev::b") } };
    const text = page([
      storedAdvertiser(name, 1),
      storedEvent("b", 2, { eventName: name, ...left }, more),
    ]);
    expect(text).toContain("<title>Conversion events of organization/shop/&#60;script");
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text).toContain("default-src 'none'");
    expect(text).not.toContain("onclick='x'");
    expect(text).not.toMatch(/aria-label="[^"]*" onclick/);
  });

  it("shows windows with their unit, what is unresolved, and what is left live, as what awaits its replacement is", () => {
    const text = page([
      storedEvent("a", 8, { clickWindow: 604_800, [LEFT_LIVE]: [NOTED] }),
      storedEvent("b", 4711, {}, { pendingReplacement: true }),
      storedEvent("c", "unresolved-x", UNRESOLVED_OUTPUT),
    ]);
    const parts = [
      ">604800 (7 days)<",
      ">unknown<",
      "Left live (2)",
      ">Old<",
      ">7<",
      ">4711<",
      ">is being replaced; may be live<",
      `>${LEFT}<`,
    ];
    for (const part of parts) expect(text).toContain(part);
    expect(text).toContain(
      `0 advertisers, 2 events, 1 unresolved, state of 2026-03-02T10:00:00.000Z<`,
    );
    expect(page([], "")).toContain("0 advertisers, 0 events, 0 unresolved<");
  });
});

const DELETING = { deletionPolicy: "delete" };

describe("left live", () => {
  const inShort = (...args: Parameters<typeof leftoversOf>) =>
    leftoversOf(...args).map(
      ({ kind, id, name, key, why }) => `${kind} ${id} ${name} ${key}: ${why}`,
    );
  const idsOf = (...args: Parameters<typeof leftoversOf>) =>
    leftoversOf(...args).map(({ kind, id }) => `${kind} ${id}`);

  it("what the state notes about replacements and about events that left a set, in natural order, unless it has it again", () => {
    const at = "2026-03-02T00:00:00.000Z";
    const left = ["e10", "e2"].map((key, index) => ({
      id: String(index + 30),
      name: key,
      key,
      at,
    }));
    const set = storedSet("funnel", {
      eventIds: { a: 20 },
      [LEFT_LIVE]: [...left, { id: "9", key: "b", at }],
    });
    const state = [storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }), set];
    expect(inShort(stateOf(state), [])).toEqual([
      `ConversionEvent 7 Old buy: ${LEFT}`,
      "ConversionEvent 9  funnel/b: left the state at 2026-03-02T00:00:00.000Z; may be live",
      "ConversionEvent 31 e2 funnel/e2: left the state at 2026-03-02T00:00:00.000Z; may be live",
      "ConversionEvent 30 e10 funnel/e10: left the state at 2026-03-02T00:00:00.000Z; may be live",
    ]);
    const again = [7, 9, 30, 31].map((id) => storedEvent(`again-${id}`, id));
    expect(idsOf(stateOf([...state, ...again]), [])).toEqual([]);
  });

  it.each([{ delete: true }, { pendingReplacement: true }])(
    "what is replaced, until the next run: %j",
    (mark) => {
      const why = (rest: object) =>
        leftoversOf(stateOf([storedEvent("buy", 7, DELETING, rest)]), []).map(
          (each) => each.why,
        );
      expect(why(mark)).toEqual(["is being replaced; may be live"]);
      const deleting =
        'is being replaced; may have been deleted (deletionPolicy: "delete")';
      expect(why({ ...mark, retainOnDelete: undefined })).toEqual([deleting]);
    },
  );

  const set = storedSet("funnel", { eventIds: { a: 20, b: 21 } });
  const before = stateOf([
    storedAdvertiser("acme", 1),
    storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }),
    set,
  ]);

  it("after a destroy all ids are listed: single resources, members and what was noted", () => {
    const all = [
      "Advertiser 1",
      "ConversionEvent 7",
      "ConversionEvent 8",
      "ConversionEvent 20",
      "ConversionEvent 21",
    ];
    expect(idsOf(stateOf([]), [before])).toEqual(all);
  });

  it("an earlier state that had an object is named, also if two kinds share an id; not what was only read (.get)", () => {
    const theirs = storedAdvertiser("theirs", 5, "theirs", { external: true });
    const first = [storedAdvertiser("acme", 1), storedEvent("a", 1), theirs];
    const second = [
      storedAdvertiser("acme", 1),
      storedEvent("b", 2, DELETING, { retainOnDelete: undefined }),
    ];
    const earlier = [stateOf(first, "2026-01-01T00:00:00Z"), stateOf(second, "")];
    expect(inShort(stateOf([storedAdvertiser("acme", 1)]), earlier)).toEqual([
      "ConversionEvent 1 a a: left the state after the export of 2026-01-01T00:00:00.000Z; may be live",
      'ConversionEvent 2 b b: left the state after the export of an unknown time; may have been deleted (deletionPolicy: "delete")',
    ]);
  });

  it("what the program only reads now (.get) wasn't deleted: an advertiser of the same id may have been", () => {
    const deleting = { retainOnDelete: undefined };
    const earlier = stateOf([
      storedAdvertiser("acme", 2, "acme", { ...deleting, outputs: DELETING }),
      storedEvent("b", 2, DELETING, deleting),
    ]);
    const reads = stateOf([storedEvent("b", 2, {}, { external: true })]);
    expect(leftoversOf(reads, [earlier]).map(({ kind, why }) => [kind, why])).toEqual([
      ["Advertiser", expect.stringContaining("may have been deleted")],
      ["ConversionEvent", expect.stringMatching(/; may be live$/)],
    ]);
  });

  it("what `--replace` has left has no name of its own: the resource's, unless that is secret", () => {
    const { name: _, ...unnamed } = NOTED;
    const left = { [LEFT_LIVE]: [unnamed] };
    expect(inShort(stateOf([storedEvent("buy", 8, left)]), [])).toEqual([
      `ConversionEvent 7 buy buy: ${LEFT}`,
    ]);
    const secret = storedEvent("buy", 8, { ...left, eventName: encrypted });
    expect(inShort(stateOf([secret]), [])).toEqual([
      `ConversionEvent 7 (secret) buy: ${LEFT}`,
    ]);
  });

  it("what the state of now notes is said with its words; what any resource of its kind has again is not listed", () => {
    const again = [
      storedSet("other", { eventIds: { x: 20 } }),
      storedAdvertiser("acme", 1),
      storedAdvertiser("a", 21),
    ];
    expect(
      inShort(
        stateOf([
          storedEvent("buy", 9, { [LEFT_LIVE]: [{ ...NOTED, id: "8" }] }),
          ...again,
        ]),
        [before],
      ),
    ).toEqual([
      `ConversionEvent 7 Old buy: ${LEFT}`,
      `ConversionEvent 8 Old buy: ${LEFT}`,
      `ConversionEvent 21  funnel/b: left the state after the export of 2026-03-02T10:00:00.000Z; may be live`,
    ]);
  });

  it("text says what to do with them", () => {
    const text = (...resources: Resource[]) =>
      LEFTOVER_FORMATS.text?.(leftoversOf(stateOf(resources), []));
    expect(text(storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }))).toMatch(
      /^1 object is no longer managed\. .* --before EXPORT\.\nConversionEvent 7 "Old" \(buy\): left the state at 2026-03-01T00:00:00\.000Z; may be live\n.*deactivate it by hand\.\n$/,
    );
    expect(text()).toMatch(
      /^What was read shows nothing that was left live\. .* --before EXPORT\.\n$/,
    );
    expect(LEFTOVER_FORMATS.text?.([], 2)).toBe(
      "What was read shows nothing that was left live.\n",
    );
  });
});

it("left live, as CSV: the fields of the JSON, and no formula for a spreadsheet, which reads it as UTF-8", () => {
  const left = { ...NOTED, name: "=A1, b" };
  const text = LEFTOVER_FORMATS.csv?.(
    leftoversOf(stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [left] })]), []),
  );
  const header = "\ufeffkind,id,name,key,at,why\r\n";
  expect(text).toBe(
    `${header}ConversionEvent,7,"'=A1, b",buy,2026-03-01T00:00:00.000Z,"${LEFT}"\r\n`,
  );
  expect(LEFTOVER_FORMATS.csv?.([])).toBe(header);
});

const HIDDEN = [
  storedAdvertiser("acme", 1, encrypted),
  storedEvent("buy", 2, { eventName: encrypted, value: encrypted, clickWindow: encrypted }),
  storedSet("one", {
    events: { a: encrypted, b: { eventName: encrypted, value: 1 } },
    eventIds: { a: 3, b: 4 },
  }),
  storedSet("all", { events: encrypted, eventIds: { a: 5 } }),
  storedSet("ids", { events: { a: { eventName: "A", value: 1 } }, eventIds: encrypted }),
];
it.each([
  ...Object.keys(ID_FORMATS).map(
    (format) => [`ids, ${format}`, () => ids(format, HIDDEN)] as const,
  ),
  ...Object.entries(LEFTOVER_FORMATS).map(
    ([format, write]) =>
      [
        `left live, ${format}`,
        () => write(leftoversOf(stateOf([]), [stateOf(HIDDEN)])),
      ] as const,
  ),
  ["page", () => page(HIDDEN)] as const,
])("no secret is shown: %s", (name, write) => {
  expect(write()).not.toMatch(RegExp(`${CIPHERTEXT}|4dabf18193072939515e22adb298388d`));
  expect(write()).toMatch(/\b5\b/);
  if (!name.includes("json")) expect(write()).toContain("(secret)");
});

it("an export's moment is read in UTC, whatever the offset of the machine that wrote it", () => {
  expect(stateOf([], "2026-03-02T05:30:00.5-05:00").time).toBe("2026-03-02T10:30:00.500Z");
  expect(stateOf([], "soon").time).toBe("");
});
