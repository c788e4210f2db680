/** Catalogs for tests: YAML files with one mistake each, and a long CSV file as spreadsheets save it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readCatalog } from "../../provider/src/catalog/read-catalog.js";
import { describeFinding } from "../../provider/src/catalog/written.js";
import type { Limits } from "../../provider/src/kinds/kind.js";

export const LIMITS: Limits = { maxWindowSeconds: 2_592_000, markField: undefined };

/** A folder with these files, which is removed after the test. */
export function folderWith(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), "advertising-catalog-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** The findings in a file with this name and content, as they are printed. @param beside other files in its folder. */
export function findingsIn(name: string, content: string | Buffer, beside: Readonly<Record<string, string>> = {}) {
  return catalogFindings(name, content, beside).map((finding) => `${finding.level} ${describeFinding(finding)}`);
}

export function catalogFindings(name: string, content: string | Buffer, beside: Readonly<Record<string, string>> = {}) {
  return readCatalog(name, folderWith({ [name]: content, ...beside }), LIMITS).findings;
}

/** A catalog with this event and no other mistake. */
export function yamlWith(event: string): string {
  return `advertisers:\n  acme:\n    advertiserName: Acme\n    events:\n      purchase: { eventName: Purchase, value: 1, ${event} }\n`;
}

/** Mistakes that an editor can show: the file's text, and the end of the message, with the place. */
export const MISTAKES: Readonly<Record<string, readonly [text: string, told: string]>> = {
  "a misspelt field": [
    yamlWith("clickWindw: 7d"),
    ":5:50 acme/purchase: clickWindw is not a known argument; did you mean clickWindow?",
  ],
  "a wire name": [yamlWith("click_window: 7d"), "did you mean clickWindow?"],
  "a number in quotes": [yamlWith('eventTypeId: "1"'), 'got the string "1"; write 1, without quotes'],
  "a decimal comma": [yamlWith('segmentId: "1,5"'), 'got the string "1,5"; write 1.5, with a decimal point'],
  "a decimal comma between braces": [
    yamlWith("additionalFields: {}").replace("value: 1", "value: 1,5"),
    "5:49 acme/purchase: 5 is not a known argument; known are eventName, value, eventTypeId, segmentId, countUnique, clickWindow, viewWindow, attribution, existingId, additionalFields; within { } a comma begins another entry: write a decimal point",
  ],
  "a thousands separator": [yamlWith('eventTypeId: "1,000"'), "no thousands separator, percent or currency sign"],
  "a unit that is none": [yamlWith("clickWindow: 7 dayz"), "write seconds, or a number with its unit: 7d, 12h, 90min"],
  months: [yamlWith("clickWindow: 1m"), "write seconds, or a number with its unit: 7d, 12h, 90min"],
  "no window": [yamlWith("clickWindow: 0"), "expected whole seconds from 1 to 2592000; got 0"],
  "a window far too long": [
    yamlWith("clickWindow: 4000000000"),
    "the limit is 30 days (advertising:maxWindowSeconds, if your installation allows more)",
  ],
  "yes, which is a string in YAML 1.2": [yamlWith("countUnique: yes"), 'got the string "yes"; write true or false'],
  "another attribution": [yamlWith("attribution: whitelist"), '"ALL" or "WHITELIST"; got the string "whitelist"'],
  "another event type": [yamlWith("eventTypeId: purchase"), "or write Purchase or LandingPage"],
  "an id of 0": [yamlWith("existingId: 0"), "an integer from 1 to 9007199254740991; got 0"],
  "a field with a typed argument": [yamlWith("additionalFields: { event_name: x }"), 'with a fault at "event_name"'],
  "a name that is a number": ["advertisers: { acme: { advertiserName: 2024 } }", 'got 2024; put it in quotes: "2024"'],
  "a name that is blank": [
    "advertisers: { acme: { advertiserName: ' ' } }",
    'not blank, without control characters; got the string " "',
  ],
  "a name that is too long": [
    `advertisers: { acme: { advertiserName: A, events: { e: { eventName: ${"x".repeat(100)}, value: 1 } } } }`,
    "has 100 characters; the limit is 99",
  ],
  "no name": [
    "advertisers: { acme: { events: {} } }",
    "advertiserName is required: expected a string of at least 1 character, not blank, without control characters",
  ],
  "no value": [
    "advertisers: { acme: { advertiserName: A, events: { e: { eventName: E } } } }",
    "acme/e: value is required: expected a finite number",
  ],
  infinity: [
    "advertisers: { acme: { advertiserName: A, events: { e: { eventName: E, value: .inf } } } }",
    "expected a finite number; got Infinity",
  ],
  "a list of advertisers": [
    "advertisers: [{ advertiserName: A }]",
    ":1:14 advertisers: expected advertisers by key; got a list",
  ],
  "a list of events": [
    "advertisers: { acme: { advertiserName: A, events: [] } }",
    "acme: expected events by key; got a list",
  ],
  "an event that is a text": [
    "advertisers: { acme: { advertiserName: A, events: { e: E } } }",
    'acme/e: expected an object with eventName and value; got the string "E"',
  ],
  "a default that an event needs itself": [
    "defaults: { value: 1 }\nadvertisers: { acme: { advertiserName: A } }",
    "defaults: value is not a known argument; known are eventTypeId, segmentId, countUnique, clickWindow, viewWindow, attribution, additionalFields",
  ],
  "a misspelt name at the top": [
    "advertiser: { acme: { advertiserName: A } }",
    '"advertiser" is not known; did you mean advertisers?',
  ],
  "a misspelt rule": [
    "rules: { errors: { uniqeNames: true } }\nadvertisers: { acme: { advertiserName: A } }",
    "rules.errors: uniqeNames is not a known argument; did you mean uniqueNames?",
  ],
  "another kind of rules": [
    "rules: { error: { uniqueNames: true } }\nadvertisers: { acme: { advertiserName: A } }",
    '"error" is not known; did you mean errors?',
  ],
  "a rule that is none": [
    "rules: { errors: { nameCasing: sentence } }\nadvertisers: { acme: { advertiserName: A } }",
    "rules.errors: nameCasing is not a known argument; known are uniqueNames",
  ],
  "digits as an advertiser's key": [
    'advertisers: { "12": { advertiserName: A } }',
    "that are not a number, without /, ::, control characters, and spaces at the ends",
  ],
  "a key with a slash": [
    "advertisers: { a/b: { advertiserName: A } }",
    '"a/b" is not valid: expected 1 to 100 characters that are not a number, without /, ::, control characters, and spaces at the ends',
  ],
  "a key with spaces at its end": [
    'advertisers: { "a ": { advertiserName: A } }',
    '"a " is not valid: expected 1 to 100 characters that are not a number, without /, ::, control characters, and spaces at the ends',
  ],
  "__proto__ as a key": [
    "advertisers: { acme: { advertiserName: A, events: { __proto__: { eventName: E, value: 1 } } } }",
    '"__proto__" is not valid: expected 1 to 100 characters without /, ::, control characters, and spaces at the ends',
  ],
  "events in a file that is no CSV": [
    "eventsFile: events.xlsx",
    'eventsFile "events.xlsx" is not a CSV file: expected a name that ends in .csv or .tsv',
  ],
  "nothing that is declared": ["defaults: { clickWindow: 7d }", "has no advertisers and no events"],
};

/** Rows as a German spreadsheet saves them, with an advertiser for every ten events. */
export function csvOf(events: number): string[] {
  const rows = Array.from(
    { length: events },
    (_, i) =>
      `event-${i};Store ${i % 10};"Purchase; no. ${i}";${i}.5;${i % 2 === 0 ? "Purchase" : "1"};7d;12 hours;whitelist`,
  );
  return ["Key;Advertiser;Event name;Value;event_type_id;Click window;viewWindow;ATTRIBUTION", ...rows];
}

/** The file's text as spreadsheets save it. */
export function asSpreadsheet(rows: readonly string[]): string {
  return `\ufeff${rows.join("\r\n")}\r\n`;
}
