/** What a catalog's file declares, and its mistakes with their places. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { secondsIn } from "../../provider/src/catalog/field-values.js";
import {
  asSpreadsheet,
  csvOf,
  findingsIn,
  folderWith,
  MISTAKES,
  readCatalogIn,
  yamlWith,
} from "../support/catalogs.js";

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
function declaredIn(
  name: string,
  content: string | Buffer,
  beside: Record<string, string> = {},
) {
  const { advertisers, events, findings } = readCatalogIn(
    folderWith({ [name]: content, ...beside }),
    name,
  );
  expect(findings).toEqual([]);
  return {
    advertisers: Object.fromEntries(advertisers.map(({ key, args }) => [key, args])),
    events: Object.fromEntries(
      events.map(({ key, advertiser, args }) => [`${advertiser}/${key}`, args]),
    ),
  };
}

const PLAIN = "write a plain number: at most 15 digits, a decimal point, no ";
const HEADER = "key,advertiser,eventName,value";
const cellFindings = (column: string, cell: string, value = "1") =>
  findingsIn("c.csv", `${HEADER},${column}\ne,a,E,${value},${cell}\n`);

describe("a cell", () => {
  it.each([
    ...["purchase", "PURCHASE", "landing page", "Landing_Page", "landing-page", "7"].map(
      (cell) => ["eventTypeId", cell],
    ),
    ...["TRUE", "no", "1", "Ja", "nein", "oui", "NON", "WAHR", "faux"].map((cell) => [
      "countUnique",
      cell,
    ]),
    ...["7 Days", "3600", "1.5h", "14 Tage", "2 Stunden", "7 jours", "1 heure"].map(
      (cell) => ["clickWindow", cell],
    ),
    ...["123456789012345678901234567890", "12"].map((cell) => ["existingId", cell]),
    ["attribution", "whitelist"],
  ])("of %s may be %s", (column = "", cell = "") => {
    expect(cellFindings(column, cell)).toEqual([]);
  });

  it.each([
    ["eventTypeId", "view", "; write its number, or Purchase or LandingPage"],
    ["eventTypeId", "LandingPgae", "; did you mean LandingPage?"],
    ["eventTypeId", "purchase?", "; did you mean Purchase?"],
    ["eventTypeId", "Landing/Page", "; did you mean LandingPage?"],
    ["attribution", "whitelst", "; did you mean WHITELIST?"],
    ["eventTypeId", "1.5", 'an integer from 0 to 9007199254740991; got the string "1.5"'],
    ["eventTypeId", "9007199254740993", 'got the string "9007199254740993"'],
    ["countUnique", "constructor", 'got the string "constructor"'],
    ["clickWindow", "1m", "write seconds, or a number with its unit: d, h or min"],
    ["clickWindow", "40d", '; got the string "40d"; that is 3456000 (40 days)'],
    ["clickWindow", "1.3s", '; got the string "1.3s"; that is 1.3'],
    ["clickWindow", "9999999", /; got the string "9999999"$/],
    ["existingId", "1.23E+15", 'got the string "1.23E+15"'],
    ["existingId", "8001.0", 'got the string "8001.0"; write 8001'],
    ["segmentId", "0017", 'got the string "0017"; write only its digits'],
    [
      "segmentId",
      "=1+1",
      '; got the formula or spreadsheet error "=1+1": write the value itself',
    ],
  ])("of %s can't be %s", (column, cell, message) => {
    expect(cellFindings(column, cell)).toEqual([
      expect.stringContaining(`error c.csv:2 a/e: ${column} `),
    ]);
    expect(cellFindings(column, cell)[0]).toEqual(
      typeof message === "string"
        ? expect.stringContaining(message)
        : expect.stringMatching(message),
    );
  });

  it("can't be an error of a spreadsheet in any column, in English or German; other words are names", () => {
    const rows = [
      "purchase,acme,#N/A,25,7d",
      "#REF!,#NV,B,#DIV/0!,7d",
      "nan,acme,nan,5,7d",
      "null,acme,NULL,5,#WERT!",
    ];
    const got = (cell: string) =>
      `got the formula or spreadsheet error "${cell}": write the value itself`;
    expect(findingsIn("c.csv", [`${HEADER},clickWindow`, ...rows].join("\n"))).toEqual([
      expect.stringMatching(/^error c\.csv:2 acme\/purchase: eventName expected /),
      expect.stringMatching(new RegExp(`^error c.csv:3 #NV: advertiser .*${got("#NV")}$`)),
      expect.stringMatching(new RegExp(`^error c.csv:3 #NV/#REF!: key .*${got("#REF!")}$`)),
      `error c.csv:3 #NV/#REF!: value expected a finite number; ${got("#DIV/0!")}`,
      'warning c.csv:4 acme/nan: eventName is "nan": is that a name?',
      expect.stringContaining(
        `c.csv:5 acme/null: clickWindow expected whole seconds from 1 to 2592000 (30 days); see advertising:maxWindowSeconds; ${got("#WERT!")}`,
      ),
      'warning c.csv:5 acme/null: eventName is "NULL": is that a name?',
    ]);
  });

  it("knows those of German and French spreadsheets, and leaves names of campaigns", () => {
    const words = "#BEZUG! #ZAHL! #VALEUR\u00a0! #NOM? ####".split(" ");
    const found = (name: string) => findingsIn("c.csv", `${HEADER}\na,x,${name},1`);
    expect(
      words.filter((word) => !found(word).join().includes("spreadsheet error")),
    ).toEqual([]);
    expect(["#sale!", "#nom", "#1", "C#"].flatMap(found)).toEqual([]);
  });

  it.each([
    ...["9007199254740993", "-9007199254740993", "9007199254740993.0"].map(
      (cell) => [cell, true] as const,
    ),
    ...['"12,50"', '"1,000"', "10%", "€ 5"].map((cell) => [cell, true] as const),
    ...["9007199254740991", "0.1234567890123456789"].map((cell) => [cell, false] as const),
  ])("of value: %s, which is refused: %s", (cell, isRefused) => {
    const refused = (next: string) =>
      isRefused ? [expect.stringContaining(PLAIN + next)] : [];
    expect(cellFindings("segmentId", "", cell)).toEqual(refused("thousands"));
    // YAML and JSON read one with a decimal point as a number, which drops digits.
    if (!/^-?\d+$/.test(cell)) return;
    expect(
      findingsIn("c.yaml", yamlWith("").replace("value: 1", `value: ${cell}`)),
    ).toEqual(refused("thousands"));
  });

  it.each([
    ['"1.000,50"', "1000.50"],
    ['"1,234,567.8"', "1234567.8"],
    ["1 000", "1000"],
    ["1.234.567", "1234567"],
  ])("of value, with thousands separators: %s", (cell, plain) => {
    const told = [expect.stringMatching(new RegExp(`^error .*; write ${plain}$`))];
    expect(cellFindings("segmentId", "", cell)).toEqual(told);
    const inYaml = JSON.stringify(cell.replaceAll('"', ""));
    const yaml = yamlWith("").replace("value: 1", `value: ${inYaml}`);
    expect(findingsIn("c.yaml", yaml)).toEqual(told);
  });

  it.each<[string, string | number]>([
    ["7d", 604_800],
    ["1 day", 86_400],
    ["90min", 5400],
    ["2 weeks", 1_209_600],
    ["30 seconds", 30],
    ["0.3s", 0.3],
    ...["1m", "1 month", "-7d", "7"].map((text): [string, string] => [text, text]),
  ])("the window %s is %s", (text, seconds) => {
    expect(secondsIn(text)).toBe(seconds);
  });
});

describe("YAML and JSON", () => {
  const shared = { clickWindow: 604_800, viewWindow: 43_200, attribution: "WHITELIST" };
  const expected = {
    advertisers: {
      acme: {
        advertiserName: "Acme Shoes",
        existingId: "90071992547409931",
        additionalFields: { active: true },
      },
      no: { advertiserName: "Nøroy" },
    },
    events: {
      "acme/purchase": {
        eventName: "Purchase",
        value: 25,
        eventTypeId: 0,
        ...shared,
        clickWindow: 3600,
      },
      "acme/landing": { eventName: "Landing page", value: 0.5, eventTypeId: 1, ...shared },
      "acme/constructor": {
        eventName: "2024-01-01",
        value: 0,
        existingId: 12,
        countUnique: true,
        ...shared,
      },
    },
  };

  it.each([
    ["with defaults, anchors, merges, words and units", YAML],
    ["with CRLF and a byte order mark", `\ufeff${YAML.replaceAll("\n", "\r\n")}`],
  ])("is read %s", (_, text) => {
    expect(declaredIn("catalog.yml", text)).toEqual(expected);
  });

  it.each(Object.entries(MISTAKES))(
    "%s is reported once, with its place",
    (_name, [text, message]) => {
      const findings = findingsIn("catalog.yaml", text);
      expect(findings).toHaveLength(1);
      expect(findings[0]).toContain(message);
      expect(findings[0]).toMatch(/^error catalog\.yaml:\d+:\d+ /);
    },
  );

  const grow = Array.from(
    { length: 12 },
    (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(9)}]`,
  );
  const ENDLESS = "can't be read: it is nested too deeply";
  const ITSELF = "can't be read: *a is inside its own anchor";
  const UNMERGED = "can't be read: Merge sources must be maps";
  const NESTED = "[".repeat(3000) + "]".repeat(3000);
  it.each([
    [
      "two documents",
      "advertisers: {}\n---\na: 1\n",
      "2:1 can't be read: Source contains multiple documents",
    ],
    ["a type of its own", "advertisers: !mine {}\n", "1:14 "],
    [
      "a placeholder without quotes",
      "advertisers:\n  a: { advertiserName: {{name}} }\n",
      "2:25 can't be read: a placeholder in this line isn't in quotes",
    ],
    [
      "a shell's placeholder without quotes",
      `advertisers:\n  a: { advertiserName: ${"$"}{name} }\n  b: { advertiserName: B }\n`,
      "2:25 can't be read: a placeholder in this line isn't in quotes",
    ],
    [
      "a quote that isn't closed",
      'advertisers:\n  a:\n    advertiserName: "A\n  b: { advertiserName: B }\n',
      "3:21 can't be read: the quote that begins here isn't closed",
    ],
    [
      "the same in braces",
      "advertisers:\n  a: { advertiserName: 'A }\n  b: { advertiserName: B }\n",
      "2:24 can't be read: the quote that begins here isn't closed",
    ],
    [
      "YAML 1.1",
      "%YAML 1.1\n---\nadvertisers: { a: { advertiserName: A, existingId: 0010 } }\n",
      "1:1 is YAML 1.1, in which 010 is 8 and 7:00 is 420: write %YAML 1.2",
    ],
    [
      "what << brings in",
      "defaults: { <<: { viewWindow: x } }\nadvertisers: {}",
      "1:1 defaults: viewWindow expected whole",
    ],
    ["a brace that isn't closed", "{ advertisers: {}\n", "2:1 can't be read: Flow map "],
    ["nothing", "# nothing yet\n", " has no advertisers and no events"],
    [
      "an alias within itself",
      "advertisers: { a: { advertiserName: A, additionalFields: &a { b: *a } } }",
      `1:66 ${ITSELF}`,
    ],
    [
      "an alias that << takes within itself",
      "advertisers: &a { <<: *a }",
      `1:23 ${ITSELF}`,
    ],
    [
      "an advertiser within itself",
      "advertisers:\n  a: &a\n    events: *a\n",
      `3:13 ${ITSELF}`,
    ],
    ["a list within itself", "advertisers: &a\n  - *a\n", `2:5 ${ITSELF}`],
    ["<< of a number", "advertisers:\n  a: { <<: 5 }\n", `2:8 ${UNMERGED}`],
    ["a value nested too deeply", `advertisers: ${NESTED}`, "1:"],
    [
      "aliases that grow without end",
      ["l0: &l0 [x]", ...grow].join("\n"),
      "1:1 can't be read: Excessive alias count",
    ],
  ])("%s is refused", (_name, text, message) => {
    const [finding] = findingsIn("catalog.yaml", text);
    expect(finding).toContain(`error catalog.yaml:${message}`);
    expect(finding).not.toMatch(/call stack|overflow/);
  });

  it("JSON that is nested too deeply is refused", () => {
    for (const finding of findingsIn("catalog.json", `{"advertisers": ${NESTED}}`))
      expect(finding).toContain(ENDLESS);
  });

  it("keys that differ in case or in the form of their letters are one key", () => {
    const keys = (one: string, other: string) =>
      findingsIn(
        "c.yaml",
        yamlWith("").replace(
          /purchase: (.*)/,
          `${one}: $1\n      ${other}: { eventName: Y, value: 1 }`,
        ),
      );
    expect(keys("café", "cafe\u0301")).toEqual([
      'error c.yaml:6:7 acme/café: key "café" is already used at c.yaml:5:7; keys must differ in more than case and invisible details',
    ]);
    expect(keys("buy", "Buy")).toHaveLength(1);
    expect(keys("buy", "buy\ufe0f")[0]).toContain('key "buy\\ufe0f" is already used');
    expect(keys("buy", "buy-2")).toEqual([]);
  });

  it("each alias without an anchor before it is refused, at its own place", () => {
    const text = `advertisers:
  acme:
    advertiserName: *nope
    events:
      a: { <<: *late, eventName: A, value: 1 }
defaults: &late { clickWindow: 7d }
`;
    expect(findingsIn("c.yaml", text)).toEqual([
      "error c.yaml:3:21 can't be read: *nope has no anchor before it",
      "error c.yaml:5:16 can't be read: *late has no anchor before it",
    ]);
  });

  it.each([
    ["[]", "c.yaml:1:1 expected an object, advertisers: { key: value }"],
    [
      "{ a: { events: [], advertiserName: A } }",
      "c.yaml:1:21 a: expected an object, events: { key: value }; got a list",
    ],
    [
      "{ a: { defaults: 7, advertiserName: A } }",
      "c.yaml:1:21 a defaults: expected an object, defaults: { key: value }; got 7",
    ],
    [
      "{ a: { events: { e: }, advertiserName: A } }",
      "c.yaml:1:31 a/e: expected an object, e: { key: value }; got",
    ],
    ["{ a: }", "c.yaml:1:16 a: expected an object, a: { key: value }; got nothing"],
    ["{}", "c.yaml: has no advertisers and no events: write them under advertisers"],
  ])("the advertisers %s are refused, with what to write", (advertisers, message) => {
    expect(findingsIn("c.yaml", `advertisers: ${advertisers}`)).toEqual([
      expect.stringContaining(`error ${message}`),
    ]);
  });

  it("a JSON file's list of advertisers is refused in the same words", () => {
    expect(findingsIn("c.json", '{ "advertisers": [] }')).toEqual([
      "error c.json:1:3 expected an object, advertisers: { key: value }; got a list",
    ]);
  });

  it("one object adopted twice is refused, whatever the form of its id", () => {
    const other = `      other: { eventName: Other, value: 1, existingId: "12" }\n`;
    expect(findingsIn("catalog.yaml", `${yamlWith("existingId: 12")}${other}`)).toEqual([
      "error catalog.yaml:6:44 acme/other: existingId 12 already belongs to acme/purchase: one object can't be two resources; remove one, or correct its existingId",
    ]);
  });

  it("JSON is read with places, and with every digit", () => {
    const text =
      '{\n\t"advertisers": { "a": { "advertiserName": "A", "existingId": 123456789012345678901, "events": {"e": {"eventName": "E", "value": 1}} } }\n}';
    expect(declaredIn("catalog.json", text).advertisers).toEqual({
      a: { advertiserName: "A", existingId: "123456789012345678901" },
    });
    const wrong = (replaced: string) =>
      findingsIn("catalog.json", text.replace('"value": 1', replaced))[0];
    expect(wrong('"value": "1x"')).toContain(
      'error catalog.json:2:121 a/e: value expected a finite number; got the string "1x"; write a plain number',
    );
    expect(wrong('"value": 1, "value": 1')).toContain(
      '"value" is already used at catalog.json:2:121',
    );
  });
});

it("the same keys are the same text in YAML and in CSV", () => {
  const keys = ["007", "1.10", "0x1F", "1e3", "12345678901234567890", ".5", "true"];
  const rows = keys.map((key, i) => `${key},acme,E${i},1\n`).join("");
  const events = keys.map((key, i) => `${key}: { eventName: E${i}, value: 1 }`).join(", ");
  const yaml = declaredIn(
    "c.yaml",
    `advertisers: { acme: { advertiserName: acme, events: { ${events} } } }`,
  );
  expect(declaredIn("c.csv", `${HEADER}\n${rows}`)).toEqual(yaml);
  expect(Object.keys(yaml.events).toSorted()).toEqual(
    keys.map((key) => `acme/${key}`).toSorted(),
  );
});

it("a text in YAML and JSON is read as a cell is; a number is what the format says", () => {
  const texts = `eventTypeId: "1", countUnique: yes, attribution: whitelist, clickWindow: "3600"`;
  const values = {
    eventTypeId: 1,
    countUnique: true,
    attribution: "WHITELIST",
    clickWindow: 3600,
  };
  const read = (event: string) =>
    declaredIn("c.yaml", yamlWith(event)).events["acme/purchase"];
  expect(read(texts)).toMatchObject(values);
  expect(read("existingId: 0x1F")).toMatchObject({ existingId: 31 });
  const [finding] = findingsIn("c.yaml", yamlWith('existingId: "0017"'));
  expect(finding).toContain('got the string "0017"; write only its digits');
});

it("a spreadsheet's error is no name and no key in YAML and JSON either; names of advertisers are held against each other", () => {
  const events = '"#WERT!": { eventName: "#N/A", value: 1 }';
  const named = (name: string) => `advertiserName: "${name}"`;
  const text = `advertisers: { a: { ${named("Acme")}, events: { ${events} } }, b: { ${named("Ac\\u00adme")} }, c: { ${named("NULL")} } }`;
  expect(findingsIn("c.yaml", text)).toEqual([
    expect.stringContaining(
      'got the formula or spreadsheet error "#WERT!": write the value itself',
    ),
    expect.stringContaining(
      'got the formula or spreadsheet error "#N/A": write the value itself',
    ),
    expect.stringContaining(
      'b: advertiserName "Ac\\u00adme" has an invisible character: is it intended?',
    ),
    expect.stringContaining(
      'b: advertiserName "Ac\\u00adme" is also the name of "a" (ignoring case, separators and invisible characters)',
    ),
    expect.stringContaining('c: advertiserName is "NULL": is that a name?'),
  ]);
});

it.each(["Sign\u200bup", "Sign\u00adup", "Ｓignup", "Sign\ufe0eup"])(
  "two names that look the same are a warning, which shows what nobody sees: %j",
  (name) => {
    const findings = findingsIn("c.csv", `${HEADER}\na,x,Signup,1\nb,x,${name},1\n`);
    const [finding = "", ...others] = findings.filter(
      (each) => !each.includes("has an invisible character"),
    );
    expect(finding).toMatch(/^warning c\.csv:3 x\/b: eventName "/);
    expect(finding).toContain('is also the name of "x/a"');
    expect([others, /\u200b|\u00ad|\ufe0e/.test(finding)]).toEqual([[], false]);
  },
);

it("two keys that look the same are refused, and a key with a character that nobody sees is shown with its code", () => {
  const [key, unseen] = findingsIn(
    "c.csv",
    `${HEADER}\na b,x,A,1\na\u00a0b,x,B,1\nc\u200b,x,C,1\n`,
  );
  expect(key).toContain(
    'error c.csv:3 x/a\\u00a0b: key "a\\u00a0b" is already used at c.csv:2; keys must differ in more than',
  );
  expect(unseen).toMatch(/x\/c\\u200b: key expected .* got the string "c\\u200b"$/);
});

describe("CSV", () => {
  it.each([
    ["12,50", 12.5],
    ["1234,5", 1234.5],
    ["3", 3],
    ["0,125", 0.125],
    ["-12,5", -12.5],
    ["1.234,50", 'got "1.234,50": write 1234,50'],
    ["1 234,5", 'got "1 234,5": write 1234,5'],
    ["1.234.567", 'got "1.234.567": write 1234567'],
    ["-1'234.5", `got "-1'234.5": write -1234.5`],
    ["1.234", ", which may mean thousands or decimals: write "],
    ["1,000", ", which may mean thousands or decimals: write "],
  ])("with semicolons and decimal commas: %s", (cell, value) => {
    const text =
      `${HEADER};clickWindow\na;x;A;0,5;1,5 Stunden\nb;x;1,5 L;${cell};7d\n`.replaceAll(
        /(?<=[a-z]),(?=[a-z])/gi,
        ";",
      );
    if (typeof value === "number") {
      expect(declaredIn("c.csv", text).events).toMatchObject({
        "x/a": { value: 0.5, clickWindow: 5400 },
        "x/b": { value, eventName: "1,5 L" },
      });
    } else {
      expect(findingsIn("c.csv", text)).toEqual([expect.stringContaining(value)]);
    }
  });

  it.each([
    ["1.200 Minuten", "1200 Minuten or 1.2000 Minuten"],
    ["1,200 h", "1200 h or 1,2000 h"],
  ])("with semicolons, the window %s is two windows", (cell, windows) => {
    const text = `${HEADER},clickWindow`.replaceAll(",", ";");
    const told = `"${cell}", which may mean thousands or decimals: write ${windows}`;
    expect(findingsIn("c.csv", `${text}\na;x;A;1;${cell}\n`)).toEqual([
      expect.stringContaining(told),
    ]);
  });

  it.each([
    ["1,5x", "", ""],
    ["12,5%", "", ""],
    ["1,2,3", "", ""],
    ["1", "1,5 dayz", ""],
    ["1", "-1,5d", ""],
    ["1", "", "1,5"],
  ])(
    "with semicolons, a refused cell is shown as the file has it: %s;%s;%s",
    (...cells) => {
      const wrong = cells.findLast((cell) => cell !== "");
      const header = `${HEADER},clickWindow,eventTypeId`.replaceAll(",", ";");
      expect(findingsIn("c.csv", `${header}\na;x;A;${cells.join(";")}\n`)).toEqual([
        expect.stringContaining(`; got the string "${wrong}"; `),
      ]);
    },
  );

  it.each([
    ["in a row", 'a,x,A,1\nb,x,"B,1\nc,x,C,1\n', 3, "begins with a quote that isn't"],
    [
      "in a row, after a cell of several lines",
      'a,x,"A\n",1\nb,x,"B,1\n\n',
      4,
      "begins with a quote that isn't closed",
    ],
    ["after a quote", 'a,x,A,1\nb,x,"B"x,1\nc,x,C,1\n', 3, "has a quote in its text: "],
    ["within a cell", 'a,x,A,1\nb,x,B"x",1\nc,x,C,1\n', 3, "has a quote in its text: "],
  ])("a wrong quote %s is reported once, with one line", (_name, rows, line, reason) => {
    const finding = findingsIn("c.csv", `${HEADER}\n${rows}`).at(-1);
    expect(finding).toContain(`error c.csv:${line} eventName ${reason}`);
    expect(finding?.match(/:\d+|line \d+/g)).toHaveLength(1);
  });

  it.each([`"${HEADER}`, HEADER.replace("value", 'v"alue'), `"key"x,value`])(
    "a wrong quote in the headings is the only message: %s",
    (headings) => {
      expect(findingsIn("c.csv", `${headings}\na,x,A,1\n`)).toEqual([
        expect.stringMatching(
          /^error c\.csv:1 has a quote in its text: |^error c\.csv:1 begins with a quote/,
        ),
      ]);
    },
  );

  const KNOWN =
    "Known: key, advertiser, eventName, value, eventTypeId, segmentId, countUnique, clickWindow, viewWindow, attribution, existingId, formerKey. Rename them, or leave them out (ignoreColumns, --ignore-column)";

  it("unknown headings are listed once, whatever separates them, with the known ones", () => {
    const listed =
      '"Keey" (did you mean key?), "Valeu" (did you mean value?), "Preis", "Click window (days)" (write clickWindow, and the unit in each cell: 7d, 12h, 90min), "Value (EUR)" (did you mean value?), "Value in EUR" (did you mean value?), "value EUR" (did you mean value?), "view_window_days" (write viewWindow, and the unit in each cell: 7d, 12h, 90min)';
    const headings = ["Keey", "Valeu", "Preis", "Click window (days)", "Value (EUR)"];
    headings.push("Value in EUR", "value EUR");
    for (const separator of [",", ";", "\t", "|"]) {
      const text = [...headings, "view_window_days"].join(separator);
      expect(findingsIn("c.csv", `${text}\na\n`)).toEqual([
        `error c.csv:1 unknown columns: ${listed}. ${KNOWN}`,
        "error c.csv:1 has no column key, advertiser, eventName, value: the first row must name the columns",
      ]);
    }
  });

  it("columns can be ignored, and only those, whatever their cells have", () => {
    const folder = folderWith({
      "c.csv": `${HEADER},Preis,Notes,Value\na,acme,A,1,x,y,z\n`,
      "c.yaml": "advertisers: { acme: { advertiserName: Acme } }\neventsFile: c.csv",
    });
    const read = (file: string, ...ignored: string[]) =>
      readCatalogIn(folder, file, ignored);
    for (const file of ["c.csv", "c.yaml"]) {
      expect(read(file, "Preis", "Notes", "Value")).toMatchObject({
        events: [{ args: { eventName: "A", value: 1 } }],
        findings: [],
      });
      const { findings } = read(file, "Preis", "Value");
      expect(findings.map(({ reason }) => reason)).toEqual([
        `unknown columns: "Notes". ${KNOWN}`,
      ]);
    }
    const { findings } = read("c.csv", "eventName", "Preis", "Notes", "Value");
    expect(findings[0]?.reason).toMatch(/^has no column eventName/);
  });

  it.each([
    "key,advertiser_id,event_name,value,event_type_id,segment_id,count_unique,click_window,view_window,attribution,existing_id",
    "key,advertiser,eventName,value,eventTypeId,segmentId,countUnique,clickWindow,viewWindow,attribution,existingId",
    "Key,Advertiser name,Event name,Value,Event type,Segment,countUnique,clickWindow,viewWindow,attribution,existingId",
    "Key , Advertiser,Event name,VALUE,Event Type ID,Segment-Id,Count unique,Click window,View window,Attribution,Existing ID",
  ])("has the columns %s", (header) => {
    expect(
      declaredIn(
        "c.csv",
        `${header}\nbuy,4711,Purchase,1,landing page,7,Yes,7 Days,3600,all,12\n`,
      ),
    ).toEqual({
      advertisers: { 4711: undefined },
      events: {
        "4711/buy": {
          ...{
            eventName: "Purchase",
            value: 1,
            eventTypeId: 1,
            segmentId: 7,
            countUnique: true,
            clickWindow: 604_800,
          },
          ...{ viewWindow: 3600, attribution: "ALL", existingId: 12 },
        },
      },
    });
  });

  it.each([
    ["commas", `${HEADER}\na,Acme,A,1\n`],
    [
      "semicolons, CRLF, a byte order mark, quotes and empty rows",
      '\ufeffkey;advertiser;eventName;value;;\r\n;;;;;\r\n\r\n"a"; Acme ;"A";1;;\r\n  ;;;\r\n',
    ],
  ])("may have %s", (_name, content) => {
    expect(declaredIn("c.csv", content)).toEqual({
      advertisers: { Acme: { advertiserName: "Acme" } },
      events: { "Acme/a": { eventName: "A", value: 1 } },
    });
  });

  it("all mistakes are reported at once with their lines, also after a line break in quotes", () => {
    const text = [
      "key;advertiser;eventName;value;clickWindw;Preis;countUnique;existingId;Value",
      'a;Acme;"Buy\r\nnow";x;;;maybe;;',
      "A;Acme;=1+1;1;;;;12;",
      ";Acme;D;1;;;;12;",
      "=e;;E;1;;;;;;too many",
      "f;acme;;;;;;",
    ].join("\r\n");
    expect(findingsIn("c.csv", text)).toEqual([
      expect.stringContaining(
        'error c.csv:1 unknown columns: "clickWindw" (did you mean clickWindow?), "Preis", "Value" (a second value). Known: key, ',
      ),
      'error c.csv:2 Acme/a: eventName expected a string of 1 to 99 characters, not blank, without control characters; got the string "Buy\\nnow"',
      expect.stringContaining(
        'error c.csv:2 Acme/a: value expected a finite number; got the string "x"; write a plain',
      ),
      'error c.csv:2 Acme/a: countUnique expected true or false; got the string "maybe"',
      'error c.csv:4 Acme/A: key "A" is already used at c.csv:2; keys must differ in more than case and invisible details',
      expect.stringContaining(
        '; got the formula or spreadsheet error "=1+1": write the value itself',
      ),
      expect.stringContaining("error c.csv:5 Acme: key is required: expected"),
      "error c.csv:5 Acme: existingId 12 already belongs to Acme/A: one object can't be two resources; remove one, or correct its existingId",
      'error c.csv:6 =e: expected no more cells than the header; got "too many"; put a value that contains the delimiter in quotes',
      expect.stringMatching(
        /^error c.csv:6 =e: key .* got the formula or spreadsheet error "=e": write the value itself$/,
      ),
      "error c.csv:6 =e: advertiser is required: expected the key of an advertiser",
      'error c.csv:7 acme: advertiser "acme" is already used at c.csv:2; keys must differ in more than case and invisible details',
      "error c.csv:7 acme/f: eventName is required: expected a string of 1 to 99 characters, not blank, without control characters",
      "error c.csv:7 acme/f: value is required: expected a finite number",
    ]);
  });

  it.each<[string, string[]]>([
    ["", ["c.csv: has no events below its header"]],
    [`${HEADER}\n`, ["c.csv: has no events below its header"]],
    [`${HEADER}\n,,,\n,,,\n`, ["c.csv: has no events below its header"]],
    [
      `<html xmlns:x="urn:schemas"><table><tr><td>key</td></tr></table></html>`,
      ["c.csv: is an HTML page or XML, in spite of its name: export it as .csv"],
    ],
    ['<?xml version="1.0"?>', ["is an HTML page or XML"]],
    ["\n <!DOCTYPE html>", ["is an HTML page or XML"]],
    [
      "key,advertiser,value\na,Acme,1\n",
      ["c.csv:1 has no column eventName: the first row must name the columns"],
    ],
    [
      "a,value\nb,1\n",
      [
        'unknown columns: "a".',
        "c.csv:1 has no column key, advertiser, eventName: the first row must name the columns",
      ],
    ],
    [
      `${HEADER}\na,Acme,A,x\nb,Acme,"B,1\n`,
      [
        'c.csv:2 Acme/a: value expected a finite number; got the string "x"',
        "c.csv:3 eventName begins with a quote that isn't closed",
      ],
    ],
  ])("%j is refused", (text, messages) => {
    expect(findingsIn("c.csv", text)).toEqual(
      messages.map((message) => expect.stringContaining(message)),
    );
  });

  it.each(["0047", "4711.0", "4.711", "1.23E+15", "0"])(
    "a number as an advertiser's key is refused: %s",
    (text) => {
      const [finding, ...others] = findingsIn("c.csv", `${HEADER}\na,${text},A,1\n`);
      expect(finding).toContain(`c.csv:2 ${text}: advertiser expected 1 to 100 `);
      expect(finding).toContain(`, and not a number; got the string "${text}"`);
      expect(others).toEqual([]);
      expect(finding?.endsWith("; write 4711")).toBe(text === "4711.0");
    },
  );

  it.each([
    ["blank", ""],
    ["Excel's", "sep=;"],
  ])("a %s first line does not hide which character separates the columns", (_, first) => {
    const text = `${HEADER.replaceAll(",", ";")}\na;Acme;A;1\n`;
    expect(findingsIn("c.csv", `${first}\n${text}`)).toEqual([]);
  });

  it("an advertiser whose name is almost another one's is a warning if nothing declares them", () => {
    const names = [
      "Acme Shoes",
      "Acme Shoes",
      "Acme Sheos",
      "Acme-Shoes",
      "Acme Hats",
      "Store A",
      "Store A",
      "Store B",
    ];
    const rows = [...names, "Shop 1", "Shop 1", "Shop 2"].map(
      (name, i) => `k${i},${name},E${i},1`,
    );
    expect(findingsIn("c.csv", [HEADER, ...rows].join("\n"))).toEqual([
      'warning c.csv:4 Acme Sheos/k2: advertiser "Acme Sheos" may be a typo for "Acme Shoes": as written, it is another advertiser',
      'warning c.csv:5 Acme-Shoes/k3: advertiser "Acme-Shoes" may be a typo for "Acme Shoes": as written, it is another advertiser',
    ]);
  });

  it.each([
    [1, "Acme", "Acmee"],
    [1, "Adidas", "Adiads"],
    [1, "Nike Store", "Nike Stroe"],
    [1, "Acme Shoes", "AcmeShoes"],
    [1, "Müller", "Mueller"],
    [0, "Acme", "Asma"],
    [0, "Shop A", "Shop B"],
    [0, "ABC", "ABD"],
    [0, "Store 10", "Store 11"],
    [0, "Acme Shoes", "Acme Hats"],
  ])("%i warnings: one row of %s, and one of %s", (amount, one, other) => {
    const told = `warning c.csv:3 ${other}/b: advertiser "${other}" may be a typo for "${one}": as written, it is another advertiser`;
    const findings = findingsIn("c.csv", `${HEADER}\na,${one},A,1\nb,${other},B,1\n`);
    expect(findings).toEqual(Array(amount).fill(told));
    expect(
      findingsIn(
        "c.csv",
        `${HEADER}\na,${one},A,1\nb,${other},B,1\nc,${other},C,1\nd,${one},D,1\n`,
      ),
    ).toEqual([]);
  });

  it.each([
    ...[
      "Total",
      "TOTAL: 3 events",
      "Grand total",
      "Subtotal",
      "Summe",
      "Gesamtsumme",
      "Gesamt",
      "Total général",
    ],
    ...["Somme", "Zwischensumme"],
  ])("a row of sums is a warning: %s", (text) => {
    const told = `is ${JSON.stringify(text)}: if this row holds totals, remove it`;
    expect(findingsIn("c.csv", `${HEADER}\n${text},x,A,1\n`)).toEqual([
      `warning c.csv:2 x/${text}: key ${told}`,
    ]);
    expect(findingsIn("c.csv", `${HEADER}\na,x,${text},1\n`)).toEqual([
      `warning c.csv:2 x/a: eventName ${told}`,
    ]);
    expect(findingsIn("c.csv", `${HEADER}\na,x,A,1\n,${text},,1\n`)).toContain(
      `warning c.csv:3 ${text}: advertiser ${told}`,
    );
  });

  it("what only begins like a row of sums is none", () => {
    const names = ["Total Wine", "Totally", "Sum up", "Gesamtschule", "Summer"];
    expect(
      findingsIn(
        "c.csv",
        [HEADER, ...names.map((name, at) => `k${at},x,${name},1`)].join("\n"),
      ),
    ).toEqual([]);
  });

  it("another encoding, a missing file and an unknown ending are reported", () => {
    const folder = folderWith({
      "c.xlsx": "",
      "c.csv": Buffer.from(`${HEADER}\na,B\xfccher,A,1`, "latin1"),
      "d.csv": Buffer.from(`\ufeff${HEADER}\r\na,Acme,A,1`, "utf16le"),
      "no-mark.csv": Buffer.from(`${HEADER}\r\na,Acme,A,1`, "utf16le"),
    });
    const reasons = ["c.csv", "d.csv", "no-mark.csv", "e.csv", "c.xlsx"].map((name) =>
      readCatalogIn(folder, name).findings.map(({ reason }) => reason),
    );
    expect(reasons).toEqual([
      ['is not UTF-8: save it as UTF-8, in a spreadsheet as "CSV UTF-8"'],
      ['is not UTF-8: save it as UTF-8, in a spreadsheet as "CSV UTF-8"'],
      ['is not UTF-8: save it as UTF-8, in a spreadsheet as "CSV UTF-8"'],
      [`can't be read: ENOENT: no such file or directory, open '${join(folder, "e.csv")}'`],
      ["is not a supported file type: the name must end in .yaml, .yml, .json, .csv, .tsv"],
    ]);
  });

  it("the order of rows and line breaks make no difference, and the line of each mistake is found", () => {
    const [header = "", ...rows] = csvOf(300);
    const once = declaredIn("c.csv", asSpreadsheet([header, ...rows]));
    expect(declaredIn("c.csv", [header, ...rows.toReversed()].join("\n"))).toEqual(once);
    const findings = findingsIn(
      "c.csv",
      [header, ...rows.map((row) => row.replace(";7d;", ";7x;"))].join("\n"),
    );
    expect(findings[299]).toMatch(/^error c\.csv:301 Store 9\/event-299: clickWindow /);
  });
});

describe("events in a CSV file of a YAML catalog", () => {
  const catalog =
    "defaults: { clickWindow: 7d }\nadvertisers:\n  acme: { advertiserName: Acme Shoes, events: { a: { eventName: A, value: 1 } } }\neventsFile: events.csv\n";

  it("have its defaults and its advertisers", () => {
    expect(
      declaredIn("catalog.yaml", catalog, { "events.csv": `${HEADER}\nb,acme,B,2\n` })
        .events,
    ).toEqual({
      "acme/a": { eventName: "A", value: 1, clickWindow: 604_800 },
      "acme/b": { eventName: "B", value: 2, clickWindow: 604_800 },
    });
  });

  it("are at least one", () => {
    for (const rows of ["", ",,,\n,,,\n"])
      expect(
        findingsIn("catalog.yaml", catalog, { "events.csv": `${HEADER}\n${rows}` }),
      ).toEqual(["error catalog.yaml:4:1 eventsFile has no events below its header"]);
  });

  it("of an undeclared advertiser are refused, with the nearest declared one; so is a file that is not there", () => {
    expect(
      findingsIn("catalog.yaml", catalog, {
        "events.csv": `${HEADER}\na,acme,B,2\nc,acmee,C,1\n`,
      }),
    ).toEqual([
      'error events.csv:2 acme/a: key "a" is already used at catalog.yaml:3:49; keys must differ in more than case and invisible details',
      'error events.csv:3 acmee/c: advertiser "acmee" is not declared; did you mean acme?',
    ]);
    expect(findingsIn("catalog.yaml", catalog)).toEqual([
      expect.stringMatching(
        /^error catalog\.yaml:4:1 eventsFile can't be read: ENOENT: no such file /,
      ),
    ]);
  });
});

it("two names that differ in case and separators alone are a warning", () => {
  const names = ["Add to cart", "add-to  Cart", "★", "☆"];
  const events = names
    .map((name, at) => `      e${at}: { value: 1, eventName: ${name} }\n`)
    .join("");
  const text = `advertisers:\n  acme:\n    advertiserName: Acme\n    events:\n${events}`;
  expect(findingsIn("c.yaml", text)).toEqual([
    'warning c.yaml:6:23 acme/e1: eventName "add-to  Cart" is also the name of "acme/e0" (ignoring case, separators and invisible characters)',
  ]);
});

describe("a key that is there twice", () => {
  const list = (text: string, name = "c.yaml") =>
    findingsIn(name, text).filter((each) => each.startsWith("error"));

  it("is an error, and so are all other mistakes, below the second one too", () => {
    const text = `advertisers:
  acme:
    advertiserName: A
    events:
      a: { eventName: A, value: 1 }
      a: { eventName: A, value: y, value: z }
defaults: { clickWindow: 7d }
defaults: { viewWindow: 7y }
`;
    const wrong = (at: string) =>
      expect.stringMatching(new RegExp(`^error c\\.yaml:${at}`));
    expect(list(text)).toEqual([
      wrong('6:7 "a" is already used at c.yaml:5:7$'),
      wrong('6:36 "value" is already used at c.yaml:6:26$'),
      wrong('6:36 acme/a: value .*"z"'),
      wrong('8:1 "defaults" is already used at c.yaml:7:1$'),
      wrong("8:13 defaults: viewWindow"),
    ]);
  });

  it("is one in JSON too", () => {
    expect(
      list(
        '{ "advertisers": { "a": { "advertiserName": 5 },\n "a": { "advertiserName": "A" } } }',
        "c.json",
      ),
    ).toEqual(['error c.json:2:2 "a" is already used at c.json:1:20']);
  });

  it("names the first row of a CSV file, however many there are, also beside one in another case", () => {
    const keys = ["a", "b", "a", "A", "b", "a"];
    const rows = keys.map((key, at) => `${key},x,N${at},1\n`).join("");
    expect(list(`${HEADER}\n${rows}`, "c.csv")).toEqual([
      expect.stringContaining('c.csv:4 x/a: key "a" is already used at c.csv:2;'),
      expect.stringContaining('c.csv:5 x/A: key "A" is already used at c.csv:2;'),
      expect.stringContaining('c.csv:6 x/b: key "b" is already used at c.csv:3;'),
      expect.stringContaining('c.csv:7 x/a: key "a" is already used at c.csv:2;'),
    ]);
  });
});

describe("JSON", () => {
  const told = (text: string) =>
    findingsIn("c.json", text).map((each) => each.replace("error c.json:", ""));

  it.each([
    ['// a\n{ "advertisers": {} }', "1:1", "Unexpected token '/', "],
    ['{ "advertisers": {}, /* b */ }', "1:22", "Expected double-quoted property name"],
    ['{\n "advertisers": {},\n}', "3:1", "Expected double-quoted property name"],
    ["{ 'advertisers': {} }", "1:3", "Expected property name or '}'"],
    ['{\n"defaults": { "countUnique": True } }', "2:30", "Unexpected token 'T', "],
    ['{\n"a": [1,, 2] }', "2:9", "Unexpected token ',', "],
    ['{ "a": 007 }', "1:9", "Unexpected number"],
    ['{\n"a": NaN }', "2:6", "Unexpected token 'N', "],
    ['{ "a": { "b": [1, -Infinity] } }', "1:20", "No number after minus sign"],
    ["NaN", "1:1", '"NaN" is not valid JSON'],
    ['{ "a": "b", }', "1:13", "Expected double-quoted property name"],
    ["{ \"a\": 'b' }", "1:8", "Unexpected token"],
    ['{ "a": "b\nc" }', "1:10", "Bad control character in string literal"],
    ['{ "a": 1 } b', "1:12", "Unexpected non-whitespace character after JSON"],
    ['{\n"a": "b', "2:8", "Unterminated string"],
    ["advertisers: {}", "1:1", "Unexpected token 'a', "],
    ["", "1:1", "Unexpected end of JSON input"],
  ])("%j is refused at %s, in JSON's words: %s", (text, place, reason) => {
    const [finding, ...others] = told(text);
    expect(finding?.startsWith(`${place} can't be read: ${reason}`)).toBe(true);
    expect(finding).not.toContain("position");
    expect(others).toEqual([]);
  });

  it("is an object", () => {
    expect(told("[]")).toEqual([
      "1:1 expected an object, advertisers: { key: value }; got a list",
    ]);
  });

  it("values are advised as in YAML", () => {
    const event =
      '"eventName": "E", "value": 1, "eventTypeId": "LandingPag", "clickWindow": "7x"';
    const text = `{ "advertisers": { "a": { "advertiserName": "A", "events": { "e": { ${event} } } } } }`;
    expect(told(text)).toEqual([
      expect.stringMatching(/; did you mean LandingPage\?$/),
      expect.stringMatching(/; write seconds, or a number with its unit: d, h or min$/),
    ]);
  });
});

describe("what a spreadsheet or a copy has changed is a warning", () => {
  it.each([
    ["1234567890123450", true],
    ["123456789012345000000", true],
    ["123456789012340", false],
    ["1234567890123456", false],
    ["12345678901234560", false],
    ["4611686018427388000", true],
    ["4611686018427387900", true],
    ["4611686018427387910", false],
  ])("the id %s: %s", (id, isRounded) => {
    const told = `is ${id}: spreadsheets write zeros after 15 to 17 digits; is that the whole id?`;
    const of = (column: string) =>
      isRounded ? [`warning c.csv:2 a/e: ${column} ${told}`] : [];
    expect(cellFindings("existingId", id)).toEqual(of("existingId"));
    expect(cellFindings("segmentId", id)).toEqual(of("segmentId"));
    const place = (at: number) =>
      `warning c.yaml:5:${at} acme/purchase: existingId ${told}`;
    for (const [written, file] of [
      [id, "c.yaml"],
      [`"${id}"`, "c.yaml"],
    ] as const)
      expect(findingsIn(file, yamlWith(`existingId: ${written}`))).toEqual(
        isRounded ? [place(50)] : [],
      );
    const json = `{ "advertisers": { "a": { "advertiserName": "A", "existingId": ${id} } } }`;
    expect(findingsIn("c.json", json)).toEqual(
      isRounded ? [`warning c.json:1:50 a: existingId ${told}`] : [],
    );
    const advertiser = isRounded ? [`warning c.csv:2 ${id}/e: advertiser ${told}`] : [];
    expect(findingsIn("c.csv", `${HEADER}\ne,${id},E,1\n`)).toEqual(advertiser);
  });

  it.each(["Sign\u200bup", "Sign\u00a0up", "\ufeffSignup", "Sign\u200dup", "Signup\u202e"])(
    "the name %j",
    (name) => {
      const told = `warning c.yaml:5:19 acme/purchase: eventName ${JSON.stringify(name).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)} has an invisible character: is it intended?`;
      expect(
        findingsIn(
          "c.yaml",
          yamlWith("").replace("eventName: Purchase", `eventName: "${name}"`),
        ),
      ).toEqual([told]);
    },
  );

  it.each([
    "Achat\u00a0!",
    "«\u00a0Achat\u00a0»",
    "❤\ufe0f",
    "👩\u200d💻 Kauf",
    "می\u200cخرم",
    "क्\u200dष",
  ])("but not %s", (name) => {
    expect(
      findingsIn(
        "c.yaml",
        yamlWith("").replace("eventName: Purchase", `eventName: "${name}"`),
      ),
    ).toEqual([]);
  });
});

it("broken letters and names that nobody filled in are warnings, in names and keys", () => {
  const text = `${HEADER}\nCafÃ©,CafÃ© Müller,&amp;,1\nb,CafÃ© Müller,TODO,1\n`;
  const broken = (part: string) =>
    `has broken letters, "${part}": write it as people should read it`;
  expect(findingsIn("c.csv", text)).toEqual([
    `warning c.csv:2 CafÃ© Müller: advertiser "CafÃ© Müller" ${broken("Ã©")}`,
    `warning c.csv:2 CafÃ© Müller/CafÃ©: key "CafÃ©" ${broken("Ã©")}`,
    `warning c.csv:2 CafÃ© Müller/CafÃ©: eventName "&amp;" ${broken("&amp;")}`,
    'warning c.csv:3 CafÃ© Müller/b: eventName is "TODO": is that a name?',
  ]);
  const yaml = `advertisers: { "\${KEY}": { advertiserName: "{{ name }}" } }`;
  const filled = "nothing has filled in this placeholder; write the name itself";
  expect(findingsIn("c.yaml", yaml)).toEqual([
    `warning c.yaml:1:16 \${KEY}: key is "\${KEY}": ${filled}`,
    `warning c.yaml:1:28 \${KEY}: advertiserName is "{{ name }}": ${filled}`,
  ]);
});

describe("formerKey", () => {
  it("is a column, and an event's in YAML", () => {
    const row = declaredIn(
      "c.csv",
      `${HEADER},Former key\nbuy,x,Buy,1,e\u0301\nlook,x,Look,1,\n`,
    ).events;
    const args = { eventName: "Buy", value: 1, formerKey: "é" };
    expect(row).toEqual({ "x/buy": args, "x/look": { eventName: "Look", value: 1 } });
    expect(declaredIn("c.yaml", yamlWith("formerKey: buy")).events).toMatchObject({
      "acme/purchase": { formerKey: "buy" },
    });
  });

  it("of one event is that of no other event, and no key of now; all of them are listed", () => {
    const rows = [
      "a,x,A,1,a",
      "b,x,B,1,a",
      "c,x,C,1,old",
      "d,x,D,1,old",
      "e,y,E,1,old",
      'f,y,F,1," "',
      "g,y,G,1,#N/A",
    ];
    const taken = "is already a key or a formerKey here: one object can't be two events";
    expect(findingsIn("c.csv", [`${HEADER},formerKey`, ...rows].join("\n"))).toEqual([
      `error c.csv:2 x/a: formerKey "a" ${taken}`,
      `error c.csv:3 x/b: formerKey "a" ${taken}`,
      `error c.csv:5 x/d: formerKey "old" ${taken}`,
      expect.stringContaining("error c.csv:7 y/f: formerKey expected 1 to 100 characters"),
      expect.stringContaining(
        'got the formula or spreadsheet error "#N/A": write the value itself',
      ),
    ]);
    expect(findingsIn("c.yaml", yamlWith("formerKey: 7"))).toEqual([
      expect.stringContaining("got 7; put it in quotes"),
    ]);
  });
});

it("a window that was probably meant in days or minutes is a warning, unless its unit is written", () => {
  expect(
    findingsIn(
      "c.yaml",
      "defaults: { viewWindow: 1 }\nadvertisers: { a: { advertiserName: A } }",
    ),
  ).toEqual([
    "warning c.yaml:1:13 defaults: viewWindow is 1 second; windows are in seconds. If you mean days, write 86400 (1 day)",
  ]);
  expect(
    findingsIn("c.csv", `${HEADER},clickWindow\na,Acme,A,1,30\nb,Acme,B,1,30d\n`),
  ).toEqual([
    "warning c.csv:2 Acme/a: clickWindow is 30 seconds; windows are in seconds. If you mean days, write 2592000 (30 days)",
  ]);
  const withUnits = ["12 Stunden", "5min", "43200s"];
  const rows = ["43200", ...withUnits].map((text, i) => `${i}x,Acme,A${i}b,1,${text}`);
  expect(findingsIn("c.csv", `${HEADER},clickWindow\n${rows.join("\n")}\n`)).toEqual([
    "warning c.csv:2 Acme/0x: clickWindow is 43200 seconds; windows are in seconds. If you mean minutes, write 2592000 (30 days)",
  ]);
});

describe("catalog.schema.json", () => {
  const repository = resolve(import.meta.dirname, "../..");
  const schema = JSON.parse(
    readFileSync(join(repository, "provider/catalog.schema.json"), "utf8"),
  ) as object;

  it("is what the rules make: npm run schema writes it again", async () => {
    const [script, paths] = [
      "scripts/catalog-schema.mjs",
      ["kinds/index", "rules/index", "catalog/written", "catalog/field-values"],
    ];
    const { catalogJsonSchema } = await import(join(repository, script));
    const modules = paths.map(
      (module) => import(join(repository, `provider/src/${module}.ts`)),
    );
    expect(schema).toEqual(
      JSON.parse(JSON.stringify(catalogJsonSchema({ z }, ...(await Promise.all(modules))))),
    );
  });
});
