/** What a catalog's file declares, and its mistakes with their places. */
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { catalogJsonSchema } from "../../provider/src/catalog/judge.js";
import { fitsCasing } from "../../provider/src/catalog/lint.js";
import { readCatalog } from "../../provider/src/catalog/read-catalog.js";
import { secondsIn } from "../../provider/src/catalog/spelling.js";
import { asSpreadsheet, csvOf, findingsIn, folderWith, LIMITS, MISTAKES, yamlWith } from "../support/catalogs.js";

const YAML = `
# yaml-language-server: $schema=node_modules/pulumi-advertising/catalog.schema.json
defaults: &d { clickWindow: 7d, attribution: WHITELIST }
advertisers:
  acme:
    advertiserName: Acme Shoes
    existingId: "90071992547409931"
    additionalFields: { active: true }
    defaults: { viewWindow: 12 hours }
    events:
      purchase: { eventName: "Purchase", value: 25, eventTypeId: Purchase, clickWindow: 3600 }
      landing: { <<: *d, eventName: Landing page, value: 0.5, eventTypeId: LandingPage }
      constructor: { eventName: "2024-01-01", value: -0, existingId: 12, countUnique: true }
  no: { advertiserName: "Nøroy" }
`;

/** What a file without mistakes declares. */
function declaredIn(name: string, content: string | Buffer, beside: Record<string, string> = {}) {
  const { advertisers, events, findings } = readCatalog(name, folderWith({ [name]: content, ...beside }), LIMITS);
  expect(findings).toEqual([]);
  return {
    advertisers: Object.fromEntries(advertisers.map(({ key, args }) => [key, args])),
    events: Object.fromEntries(events.map(({ key, advertiser, args }) => [`${advertiser}/${key}`, args])),
  };
}

describe("a cell that is almost a value", () => {
  const of = (column: string, cell: string, value = "1") =>
    findingsIn("c.csv", `key,advertiser,eventName,value,${column}\ne,a,E,${value},${cell}\n`);

  it.each(["purchase", "PURCHASE", "landing page", "Landing_Page", "landing-page"])("%s is an event type", (cell) => {
    expect(of("eventTypeId", cell)).toEqual([]);
  });

  it.each(["purchase?", "purchase!", "(purchase)", "landing.page", "pürchase"])("%s is none", (cell) => {
    const [message, ...more] = of("eventTypeId", cell);
    expect(message).toContain(`got the string "${cell}"; or write Purchase or LandingPage`);
    expect(more).toEqual([]);
  });

  it.each([
    ["-1", "an integer from 0 to 9007199254740991; got -1"],
    ["1.5", "an integer from 0 to 9007199254740991; got 1.5"],
    ["9007199254740993", 'an integer from 0 to 9007199254740991; got the string "9007199254740993"; or write Purchase'],
  ])("the event type %s is refused, with advice that would be accepted", (cell, message) => {
    expect(of("eventTypeId", cell)).toEqual([expect.stringContaining(message)]);
    expect(findingsIn("c.yaml", yamlWith(`eventTypeId: "${cell}"`)).join()).not.toContain("without quotes");
  });

  it.each(["9007199254740993", "-9007199254740993", "9007199254740993.0", "123456789012345678901234567890"])(
    "the value %s would be rounded: it is refused in each format",
    (value) => {
      const message = "a whole number beyond 9007199254740991 would be rounded";
      expect(of("segmentId", "", value)).toEqual([expect.stringContaining(message)]);
      if (value.includes(".")) return; // YAML and JSON read it as a number with a decimal point, which drops digits
      expect(findingsIn("c.yaml", yamlWith("").replace("value: 1", `value: ${value}`))).toEqual([
        expect.stringContaining(message),
      ]);
    },
  );

  it.each(["9007199254740991", "1e300", "0.1234567890123456789"])("the value %s is taken", (value) => {
    expect(of("segmentId", "", value)).toEqual([]);
  });
});

describe("YAML", () => {
  const expected = {
    advertisers: {
      acme: { advertiserName: "Acme Shoes", existingId: "90071992547409931", additionalFields: { active: true } },
      no: { advertiserName: "Nøroy" },
    },
    events: {
      "acme/purchase": {
        eventName: "Purchase",
        value: 25,
        eventTypeId: 0,
        clickWindow: 3600,
        viewWindow: 43_200,
        attribution: "WHITELIST",
      },
      "acme/landing": {
        eventName: "Landing page",
        value: 0.5,
        eventTypeId: 1,
        clickWindow: 604_800,
        viewWindow: 43_200,
        attribution: "WHITELIST",
      },
      "acme/constructor": {
        eventName: "2024-01-01",
        value: 0,
        existingId: 12,
        countUnique: true,
        clickWindow: 604_800,
        viewWindow: 43_200,
        attribution: "WHITELIST",
      },
    },
  };

  it("may have defaults, anchors, merges, words and units", () => {
    expect(declaredIn("catalog.yaml", YAML)).toEqual(expected);
  });

  it("means the same with CRLF, with a byte order mark and in UTF-16", () => {
    expect(declaredIn("catalog.yml", `\ufeff${YAML.replaceAll("\n", "\r\n")}`)).toEqual(expected);
    expect(declaredIn("catalog.yaml", Buffer.from(`\ufeff${YAML}`, "utf16le"))).toEqual(expected);
  });

  it.each(Object.entries(MISTAKES))("%s is reported once, with its place", (_name, [text, message]) => {
    const findings = findingsIn("catalog.yaml", text);
    expect(findings).toHaveLength(1);
    expect(findings[0]?.endsWith(message), findings[0]).toBe(true);
    expect(findings[0]).toMatch(/^error catalog\.yaml:\d+:\d+ /);
  });

  it.each([
    ["a key twice", "advertisers:\n  a: {}\n  a: {}\n", "3:3 is not read as YAML: Map keys must be unique"],
    ["an alias of nothing", "advertisers: *no\n", "1:14 is not read as YAML: there is no &no before *no"],
    ["a tab", "advertisers:\n\ta: {}\n", "2:1 is not read as YAML: Tabs are not allowed as indentation"],
    [
      "two documents",
      "advertisers: {}\n---\na: 1\n",
      "2:1 is not read as YAML: Source contains multiple documents; please use YAML.parseAllDocuments()",
    ],
    ["a type of its own", "advertisers: !mine {}\n", "1:14 "],
    ["nothing", "# nothing yet\n", "1:1 has no advertisers and no events"],
    ["a list", "- a\n", "1:1 expected advertisers, by key; got a list"],
  ])("%s", (_name, text, message) => {
    const [first] = findingsIn("catalog.yaml", text);
    expect(first).toContain(`error catalog.yaml:${message}`);
  });

  it("an alias within itself, and aliases that grow without end, are refused", () => {
    expect(
      findingsIn("catalog.yaml", "advertisers: { a: { advertiserName: A, additionalFields: &a { b: *a } } }"),
    ).toHaveLength(1);
    const grow = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(9)}]`);
    expect(findingsIn("catalog.yaml", ["l0: &l0 [x]", ...grow].join("\n"))[0]).toContain("Excessive alias count");
  });

  it("keys that differ in case or in the form of their letters are one key", () => {
    const keys = (one: string, other: string) =>
      findingsIn(
        "catalog.yaml",
        `advertisers:\n  a:\n    advertiserName: A\n    events:\n      ${one}: {eventName: X, value: 1}\n      ${other}: {eventName: Y, value: 1}\n`,
      );
    expect(keys("café", "cafe\u0301")).toEqual([
      expect.stringMatching(
        /^error catalog\.yaml:6:7 .* is already used at catalog\.yaml:5; keys of an advertiser's events must differ in more than case$/,
      ),
    ]);
    expect(keys("buy", "Buy")).toHaveLength(1);
    expect(keys("buy", "buy-2")).toEqual([]);
  });

  it("one object adopted twice is refused, whatever the form of its id", () => {
    const findings = findingsIn(
      "catalog.yaml",
      `${yamlWith("existingId: 12").trimEnd()}\n      other: { eventName: Other, value: 1, existingId: "12" }\n`,
    );
    expect(findings).toEqual([
      "error catalog.yaml:6:56 acme/other: existingId 12 already belongs to acme/purchase: one object can't be two resources; correct this existingId, or remove the other one",
    ]);
  });
});

describe("JSON", () => {
  it("is read with places, and with every digit", () => {
    const text =
      '{\n\t"advertisers": { "a": { "advertiserName": "A", "existingId": 123456789012345678901, "events": {"e": {"eventName": "E", "value": 1}} } }\n}';
    expect(declaredIn("catalog.json", text).advertisers).toEqual({
      a: { advertiserName: "A", existingId: "123456789012345678901" },
    });
    expect(findingsIn("catalog.json", text.replace('"value": 1', '"value": "1"'))).toEqual([
      'error catalog.json:2:130 a/e: value expected a finite number; got the string "1"; write 1, without quotes',
    ]);
    expect(findingsIn("catalog.json", text.replace('"value": 1', '"value": 1,'))[0]).toContain("is not JSON");
    expect(findingsIn("catalog.json", '{"advertisers": {}, "advertisers": {}}')[0]).toContain(
      "Map keys must be unique",
    );
    expect(findingsIn("catalog.json", "")[0]).toMatch(/^error catalog\.json:1:1 /);
  });
});

describe("CSV", () => {
  const args = (eventName: string, more: object = {}) => ({ eventName, value: 1, ...more });

  it.each([
    [
      "wire names",
      "key,advertiser_id,event_name,value,event_type_id,segment_id,count_unique,click_window,view_window,attribution,existing_id",
    ],
    [
      "camelCase",
      "key,advertiser,eventName,value,eventTypeId,segmentId,countUnique,clickWindow,viewWindow,attribution,existingId",
    ],
    [
      "as people write them",
      "Key , Advertiser,Event name,VALUE,Event Type ID,Segment-Id,Count unique,Click window,View window,Attribution,Existing ID",
    ],
  ])("headers in %s", (_name, header) => {
    expect(declaredIn("c.csv", `${header}\nbuy,4711,Purchase,1,landing page,7,Yes,7 Days,3600,all,12\n`)).toEqual({
      advertisers: { 4711: undefined },
      events: {
        "4711/buy": args("Purchase", {
          eventTypeId: 1,
          segmentId: 7,
          countUnique: true,
          clickWindow: 604_800,
          viewWindow: 3600,
          attribution: "ALL",
          existingId: 12,
        }),
      },
    });
  });

  it.each([
    ["commas", "key,advertiser,eventName,value\na,Acme,A,1\n"],
    [
      "semicolons, CRLF, a byte order mark, quotes and empty rows",
      '\ufeffkey;advertiser;eventName;value;;\r\n;;;;;\r\n\r\n"a"; Acme ;"A";1;;\r\n  ;;;\r\n',
    ],
    ["tabs", "key\tadvertiser\teventName\tvalue\r\na\tAcme\tA\t1"],
    ["a line that names the delimiter", "sep=|\r\nkey|advertiser|eventName|value\r\na|Acme|A|1\r\n"],
    [
      "UTF-16, as spreadsheets save Unicode",
      Buffer.from("\ufeffkey\tadvertiser\teventName\tvalue\r\na\tAcme\tA\t1", "utf16le"),
    ],
    [
      "UTF-16 in the other order",
      Buffer.from("\ufeffkey\tadvertiser\teventName\tvalue\r\na\tAcme\tA\t1", "utf16le").swap16(),
    ],
  ])("with %s", (_name, content) => {
    expect(declaredIn("c.csv", content)).toEqual({
      advertisers: { Acme: { advertiserName: "Acme" } },
      events: { "Acme/a": args("A") },
    });
  });

  it("all mistakes are reported at once with their places, also after a line break in quotes", () => {
    const text = [
      "key;advertiser;eventName;value;clickWindw;countUnique;existingId;Value;clickWindow",
      'a;Acme;"Buy\r\nnow";12,50;;ja;;;',
      "b;Acme;Ä b;1.000,50;;no;1,23E+15;;",
      "A;Acme;=1+1;10%;;;;;m",
      ";Acme;D;€ 5;;;12;;40d",
      "e;;E;#REF!;;;12;;1d;too many",
      "f;acme;;;;;;;",
    ].join("\r\n");
    expect(findingsIn("c.csv", text)).toEqual([
      'error c.csv:1:32 the column "clickWindw" is not known; did you mean clickWindow?',
      'error c.csv:1:66 the column "Value" is there twice: both are value',
      'error c.csv:2:8 Acme/a: eventName expected a string of 1 to 99 characters, not blank, without control characters; got the string "Buy\\r\\nnow"',
      'error c.csv:3:6 Acme/a: value expected a finite number; got the string "12,50"; write 12.50, with a decimal point',
      'error c.csv:3:13 Acme/a: countUnique expected true or false; got the string "ja"; write true or false',
      'error c.csv:4:12 Acme/b: value expected a finite number; got the string "1.000,50"; write it without a thousands separator, and with a decimal point',
      'error c.csv:4:25 Acme/b: existingId expected the id of a live event, an integer from 1 to 9007199254740991; got the string "1,23E+15"; a spreadsheet has shortened it: format the column as text, and type the digits again',
      'error c.csv:5:1 Acme/A: key "A" is already used at c.csv:2; keys of an advertiser\'s events must differ in more than case',
      'error c.csv:5:8 "=1+1" is a formula: write the value that it has',
      'error c.csv:5:13 Acme/A: value expected a finite number; got the string "10%"; write a plain number, without a percent sign',
      'error c.csv:5:21 Acme/A: clickWindow expected whole seconds from 1 to 2592000; got the string "m"; write seconds, or a number with its unit: 7d, 12h, 90min',
      "error c.csv:6:1 Acme: key is required: expected 1 to 100 characters without /, ::, control characters, and spaces at the ends",
      'error c.csv:6:9 Acme: value expected a finite number; got the string "€ 5"; write a plain number, without a currency',
      "error c.csv:6:19 Acme: clickWindow is 40 days; the limit is 30 days (advertising:maxWindowSeconds, if your installation allows more)",
      "error c.csv:7:3 e: advertiser is required: expected the key of an advertiser",
      'error c.csv:7:6 e: value expected a finite number; got the string "#REF!"; the spreadsheet could not work it out',
      "error c.csv:7:14 e: existingId 12 already belongs to Acme: one object can't be two resources; correct this existingId, or remove the other one",
      'error c.csv:7:21 the row has more cells than the header ("too many"); put a value that contains the delimiter in quotes',
      'error c.csv:8:3 acme: key "acme" is already used at c.csv:2; keys of advertisers must differ in more than case',
      "error c.csv:8:8 acme/f: eventName is required: expected a string of 1 to 99 characters, not blank, without control characters",
      "error c.csv:8:9 acme/f: value is required: expected a finite number",
    ]);
  });

  it.each([
    [
      "nothing",
      "",
      "c.csv:1:1 is empty: expected a header with key, advertiser, eventName, value, and a row for each event",
    ],
    ["a header alone", "key,advertiser,eventName,value\n", "c.csv:1:1 has no advertisers and no events"],
    [
      "no header",
      "a,Acme,A,1\n",
      "c.csv:1:1 has no column key, advertiser, eventName, value: the first row names the columns",
    ],
    [
      "no column for names",
      "key,advertiser,value\na,Acme,1\n",
      "c.csv:1:1 has no column eventName: the first row names the columns",
    ],
    ["an open quote", 'key,advertiser,eventName,value\na,Acme,A,x\nb,Acme,"B,1\n', "c.csv:3:7 is not read as CSV: "],
  ])("%s", (_name, text, message) => {
    expect(findingsIn("c.csv", text).map((each) => each.slice("error ".length))).toContainEqual(
      expect.stringContaining(message),
    );
  });

  it.each(["0047", "4711.0", "4.711", "1,23E+15", "0"])("the advertiser %s is neither an id nor a name", (text) => {
    const findings = findingsIn("c.csv", `key;advertiser;eventName;value\na;${text};A;1\n`);
    expect(findings).toEqual([
      expect.stringMatching(/^error c\.csv:2:3 .* is not valid: expected .* not a number, without .*$/),
    ]);
  });

  it("an advertiser whose name is almost another one's is a warning if nothing declares them", () => {
    const rows = [
      "Acme Shoes",
      "Acme Shoes",
      "Acme Sheos",
      "Acme-Shoes",
      "Acme Hats",
      "Store A",
      "Store A",
      "Store B",
      "Shop 1",
      "Shop 1",
      "Shop 2",
    ];
    const text = ["key,advertiser,eventName,value", ...rows.map((name, i) => `k${i},${name},E${i},1`)].join("\n");
    expect(findingsIn("c.csv", text)).toEqual([
      'warning c.csv:4:4 Acme Sheos/k2: advertiser "Acme Sheos" is almost "Acme Shoes": it is another advertiser, with this event alone',
      'warning c.csv:5:4 Acme-Shoes/k3: advertiser "Acme-Shoes" is almost "Acme Shoes": it is another advertiser, with this event alone',
    ]);
  });

  it("an open quote hides no mistake before it", () => {
    const findings = findingsIn("c.csv", 'key,advertiser,eventName,value\na,Acme,A,x\nb,Acme,"B,1\n');
    expect(findings).toContainEqual(
      expect.stringContaining('c.csv:2:10 Acme/a: value expected a finite number; got the string "x"'),
    );
  });

  it("another encoding, a folder, a missing file and an unknown ending are reported", () => {
    expect(findingsIn("c.csv", Buffer.from("key;advertiser;eventName;value\na;B\xfccher;A;1", "latin1"))).toEqual([
      'error c.csv:1:1 is not UTF-8: in a spreadsheet, save it as "CSV UTF-8"',
    ]);
    const folder = folderWith({ "c.xlsx": "" });
    mkdirSync(join(folder, "d.csv"));
    const reasons = ["d.csv", "e.csv", "c.xlsx"].map((name) =>
      readCatalog(name, folder, LIMITS).findings.map(({ reason }) => reason),
    );
    expect(reasons).toEqual([
      ["is a folder"],
      [`is not there; looked for ${join(folder, "e.csv")}`],
      ["is not a supported type of file: expected a name that ends in .yaml, .yml, .json, .csv, .tsv"],
    ]);
  });

  it("the order of rows and columns and the spelling of values make no difference", () => {
    const [header = "", ...rows] = csvOf(200);
    const once = declaredIn("c.csv", asSpreadsheet([header, ...rows]));
    expect(Object.keys(once.events)).toHaveLength(200);
    expect(Object.keys(once.advertisers)).toHaveLength(10);
    expect(declaredIn("c.csv", [header, ...rows.toReversed()].join("\n"))).toEqual(once);
  });

  it("the places of 3,000 mistakes are all found", () => {
    const [header = "", ...rows] = csvOf(3000);
    const findings = findingsIn("c.csv", [header, ...rows.map((row) => row.replace(";7d;", ";7x;"))].join("\n"));
    expect(findings).toHaveLength(3000);
    expect(findings.at(-1)).toMatch(/^error c\.csv:3001:\d+ Store 9\/event-2999: clickWindow /);
  });
});

describe("events in a CSV file of a YAML catalog", () => {
  const catalog =
    "defaults: { clickWindow: 7d }\nadvertisers:\n  acme: { advertiserName: Acme Shoes, events: { a: { eventName: A, value: 1 } } }\neventsFile: events.csv\n";

  it("have its defaults and its advertisers", () => {
    const { events } = declaredIn("catalog.yaml", catalog, {
      "events.csv": "key,advertiser,eventName,value\nb,acme,B,2\n",
    });
    expect(events).toEqual({
      "acme/a": { eventName: "A", value: 1, clickWindow: 604_800 },
      "acme/b": { eventName: "B", value: 2, clickWindow: 604_800 },
    });
  });

  it("of an undeclared advertiser are refused, with the nearest declared one", () => {
    expect(
      findingsIn("catalog.yaml", catalog, {
        "events.csv": "key,advertiser,eventName,value\na,acme,B,2\nc,acmee,C,1\n",
      }),
    ).toEqual([
      'error events.csv:2:1 acme/a: key "a" is already used at catalog.yaml:3; keys of an advertiser\'s events must differ in more than case',
      'error events.csv:3:3 acmee/c: advertiser "acmee" is not declared; did you mean acme?',
    ]);
    expect(findingsIn("catalog.yaml", catalog)).toEqual([
      expect.stringMatching(/^error catalog\.yaml:4:13 eventsFile "events\.csv" is not there; looked for /),
    ]);
  });
});

describe("a team's rules", () => {
  const names = (rules: string, ...events: string[]) =>
    findingsIn(
      "c.yaml",
      `rules: ${rules}\nadvertisers:\n  acme:\n    advertiserName: Acme\n    events:\n${events.map((event, i) => `      e${i}: { value: 1, ${event} }\n`).join("")}`,
    );

  it("two names that differ in case and separators alone are a warning, an error by choice, or nothing", () => {
    const two = ["eventName: Add to cart", "eventName: add-to  Cart"];
    const message =
      'c.yaml:7:34 acme/e1: eventName "add-to  Cart" is also the name of "acme/e0", case and separators aside';
    expect(names("{}", ...two)).toEqual([`warning ${message}`]);
    expect(names("{ errors: { uniqueNames: true } }", ...two)).toEqual([`error ${message}`]);
    expect(names("{ warnings: { uniqueNames: false } }", ...two)).toEqual([]);
    expect(names("{}", "eventName: ★", "eventName: ☆")).toEqual([]);
  });

  it("a window above its limit is an error or a warning, as is the API's default one", () => {
    expect(
      names(
        "{ errors: { maxClickWindow: 7d }, warnings: { maxViewWindow: 1d } }",
        "eventName: A, clickWindow: 8d, viewWindow: 24h",
        "eventName: B, clickWindow: 7d",
      ),
    ).toEqual([
      "error c.yaml:6:50 acme/e0: clickWindow is 8 days; the catalog's rules allow 7 days",
      "warning c.yaml:7:7 acme/e1: viewWindow is 30 days by default, since nothing is written; the catalog's rules allow 1 day",
    ]);
  });

  it("names and keys in a different casing from the required one are errors or warnings", () => {
    expect(
      names(
        "{ warnings: { nameCasing: sentence }, errors: { keyCasing: upper } }",
        "eventName: Landing page USA",
        "eventName: Landing Page",
      ),
    ).toEqual([
      'error c.yaml:6:7 acme/e0: key "e0" is not in upper case',
      'error c.yaml:7:7 acme/e1: key "e1" is not in upper case',
      'warning c.yaml:7:34 acme/e1: eventName "Landing Page" is not in sentence case',
    ]);
  });

  it.each([
    ["sentence", ["Landing page", "Buy now USA", "Über uns", "B2B sale", "登录"], ["landing page", "Landing Page"]],
    ["title", ["Landing Page", "Add to Cart"], ["Landing page", "landing Page"]],
    ["lower", ["landing page"], ["Landing"]],
    ["upper", ["LANDING 2"], ["Landing"]],
    ["kebab", ["landing-page-2"], ["landing page", "Landing-page", "landing_page", "a--b"]],
    ["snake", ["landing_page"], ["landing-page", "LANDING_PAGE"]],
    ["camel", ["landingPage"], ["LandingPage", "landing-page"]],
    ["pascal", ["LandingPage"], ["landingPage", "Landing Page"]],
  ] as const)("%s case", (casing, right, wrong) => {
    expect(right.filter((name) => !fitsCasing(name, casing))).toEqual([]);
    expect(wrong.filter((name) => fitsCasing(name, casing))).toEqual([]);
  });

  it("a window so short that days were probably meant is a warning", () => {
    expect(findingsIn("c.yaml", "defaults: { viewWindow: 1 }\nadvertisers: { a: { advertiserName: A } }")).toEqual([
      "warning c.yaml:1:25 defaults: viewWindow is 1 second; windows are seconds if no unit is written. If days were meant, write 1d",
    ]);
    expect(findingsIn("c.csv", "key,advertiser,eventName,value,clickWindow\na,Acme,A,1,30\nb,Acme,B,1,30d\n")).toEqual([
      "warning c.csv:2:12 Acme/a: clickWindow is 30 seconds; windows are seconds if no unit is written. If days were meant, write 30d",
    ]);
  });
});

it.each([
  ["7d", 604_800],
  ["1 day", 86_400],
  ["1.5h", 5400],
  ["90min", 5400],
  ["2 weeks", 1_209_600],
  ["30 seconds", 30],
  ["1m", "1m"],
  ["1 month", "1 month"],
  ["0.3s", "0.3s"],
  ["-7d", "-7d"],
  ["7", "7"],
])("the window %s is %s", (text, seconds) => {
  expect(secondsIn(text)).toBe(seconds);
});

describe("catalog.schema.json", () => {
  const repository = resolve(import.meta.dirname, "../..");
  const schema = JSON.parse(readFileSync(join(repository, "provider/catalog.schema.json"), "utf8")) as object;

  it("is what the rules make: npm run schema writes it again", () => {
    expect(schema).toEqual(JSON.parse(JSON.stringify(catalogJsonSchema())));
  });
});
