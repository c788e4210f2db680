/** Catalogs for tests: YAML files with one mistake each, and a long CSV file as spreadsheets save it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { readCatalog } from "../../provider/src/catalog/read-catalog.js";
import { describeFinding } from "../../provider/src/catalog/written.js";
import type { RuleSettings } from "../../provider/src/kinds/kind.js";

export const LIMITS: RuleSettings = { maxWindowSeconds: 2_592_000, markField: undefined };

/** A folder with these files, which is removed after the test. */
export function folderWith(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), "advertising-catalog-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), content);
  return folder;
}

/** Reads a catalog in a folder, whose findings name it as from within the folder. */
export function readCatalogIn(
  folder: string,
  name: string,
  ignoreColumns: readonly string[] = [],
) {
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
  try {
    return readCatalog(name, LIMITS, ignoreColumns);
  } finally {
    cwd.mockRestore();
  }
}

/** The findings in a file with this name and content, as they are printed. @param beside other files in its folder. */
export function findingsIn(
  name: string,
  content: string | Buffer,
  beside: Readonly<Record<string, string>> = {},
) {
  return catalogFindings(name, content, beside).map(
    (finding) => `${finding.level} ${describeFinding(finding)}`,
  );
}

export function catalogFindings(
  name: string,
  content: string | Buffer,
  beside: Readonly<Record<string, string>> = {},
) {
  return readCatalogIn(folderWith({ [name]: content, ...beside }), name).findings;
}

/** A catalog with this event and no other mistake. */
export function yamlWith(event: string): string {
  return `advertisers:\n  acme:\n    advertiserName: Acme\n    events:\n      purchase: { eventName: Purchase, value: 1, ${event} }\n`;
}

/** Mistakes that only a catalog can have: the file's text, and a part of the message. */
export const MISTAKES: Readonly<Record<string, readonly [text: string, told: string]>> = {
  "an anchor at the top": [
    "x-week: &week { clickWindow: 7d }\nadvertisers:\n  acme: { advertiserName: Acme, events: {} }\n",
    '"x-week" is not known; expected one of $schema, defaults, advertisers, eventsFile',
  ],
  "a wire name": [
    yamlWith("click_window: 7d"),
    ":5:50 acme/purchase: click_window is not a known argument; did you mean clickWindow?",
  ],
  "another name for events": [
    "advertisers: { acme: { advertiserName: A, conversionEvents: {} } }",
    ":1:43 acme: conversionEvents is not a known argument; expected one of advertiserName, existingId, additionalFields, defaults, events",
  ],
  "events in the singular": [
    "advertisers: { acme: { advertiserName: A, event: {} } }",
    ":1:43 acme: event is not a known argument; did you mean events?",
  ],
  "a type that is none": [
    yamlWith('eventTypeId: "1a"'),
    "write its number, or Purchase or LandingPage",
  ],
  "a unit that is none": [
    yamlWith("clickWindow: 7 dayz"),
    "write seconds, or a number with its unit: d, h or min",
  ],
  "a name that is a number": [
    "advertisers: { acme: { advertiserName: 2024 } }",
    "got 2024; put it in quotes",
  ],
  "no value": [
    "advertisers: { acme: { advertiserName: A, events: { e: { eventName: E } } } }",
    "acme/e: value is required: expected a finite number",
  ],
  "a default that an event needs itself": [
    "defaults: { value: 1 }\nadvertisers: { acme: { advertiserName: A } }",
    "defaults: value is not a known argument; expected one of eventTypeId, segmentId, countUnique, clickWindow, viewWindow, attribution, additionalFields",
  ],
  "a misspelt name at the top": [
    "advertiser: { acme: { advertiserName: A } }",
    '"advertiser" is not known; did you mean advertisers?',
  ],
  "digits as an advertiser's key": [
    'advertisers: { "12": { advertiserName: A } }',
    "key expected 1 to 100 characters, ",
  ],
  "a key with a slash": [
    "advertisers: { a/b: { advertiserName: A } }",
    "key expected 1 to 100 characters, ",
  ],
  "a name of Pulumi's as an advertiser's key": [
    "advertisers: { toString: { advertiserName: A } }",
    "toString: key expected 1 to 100 characters, ",
  ],
  "__proto__ as a key": [
    "advertisers: { acme: { advertiserName: A, events: { __proto__: { eventName: E, value: 1 } } } }",
    "acme/__proto__: key expected 1 to 100 characters, ",
  ],
  "events in a file that is no CSV": [
    "eventsFile: events.xlsx",
    "is not a supported file type: the name must end in .csv, .tsv",
  ],
};

/** The rows of a CSV file that a German spreadsheet saves, with an advertiser for every ten events. */
export function csvOf(events: number): string[] {
  const rows = Array.from(
    { length: events },
    (_, i) =>
      `event-${i};Store ${i % 10};"Purchase; no. ${i}";${i}.5;${i % 2 === 0 ? "Purchase" : "1"};7d;12 hours;whitelist`,
  );
  return [
    "Key;Advertiser;Event name;Value;event_type_id;Click window;viewWindow;ATTRIBUTION",
    ...rows,
  ];
}

/** The file's text as spreadsheets save it. */
export function asSpreadsheet(rows: readonly string[]): string {
  return `\ufeff${rows.join("\r\n")}\r\n`;
}
