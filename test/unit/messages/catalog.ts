/** What is wrong with a catalog's file, as `validate` and a preview list it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  CATALOG_RULES,
  type CatalogFinding,
  describeAlike,
} from "../../../provider/src/catalog/index.js";
import { validate } from "../../../provider/src/rules/index.js";
import { catalogFindings, readCatalogIn } from "../../support/catalogs.js";
import { newFolder } from "../../support/folder.js";
import type { Examples } from "./examples.js";

const listed = (findings: readonly CatalogFinding[]) =>
  (["error", "warning"] as const)
    .flatMap((level) =>
      describeAlike(findings.filter((finding) => finding.level === level)).map(
        (line) => `${level}: ${line}`,
      ),
    )
    .join("\n");
const found = (...given: Parameters<typeof catalogFindings>) =>
  listed(catalogFindings(...given));

function foundInFolder() {
  const folder = newFolder();
  mkdirSync(join(folder, "events.csv"));
  return listed(readCatalogIn(folder, "events.csv").findings);
}

const WRONG_VALUES = `
defaults: { clickWindow: 7 dayz, value: 1 }
advertisers:
  acme:
    advertiserName: 2024
    segmentID: 7
    existingId: "007"
    events:
      buy: { eventName: Buy, value: 10%, eventTypeId: view, click_window: 7d, countUnique: "=A1" }
      sell: { value: 5, attribution: whitelst }
  a/b: { advertiserName: "" }
  "12": { advertiserName: Twelve, events: { "": { eventName: Buy, value: 1 } } }
`;

const TWICE = `
advertisers:
  acme:
    advertiserName: Acme
    existingId: 7
    events:
      buy: { eventName: Buy, value: 1, existingId: 8 }
      BUY: { eventName: buy, value: 1 }
      lead: { eventName: Lead, value: 1, existingId: 8, formerKey: buy }
  Acme: { advertiserName: ACME }
  shop: { advertiserName: Shop, existingId: 7 }
`;

const WRONG_SHAPE = `
x-week: &week { clickWindow: 7d }
advertiser: {}
eventsFile: 7
advertisers:
  acme: Acme Shoes
  shop: { advertiserName: Shop, events: { buy: 25 } }
  store: { advertiserName: Store, events: [] }
  store: { advertiserName: Store, events: [] }
`;

const ADVERTISERS = "eventsFile: e.csv\nadvertisers: { acme: { advertiserName: Acme } }";
const OWNERS = `key,advertiser,eventName,value
buy,,Buy,1
lead,acmee,Lead,1
view,shop,View,1
sale,1234567890123450000,Sale,1
`;

/** As a German spreadsheet saves it. */
const CELLS = `key;advertiser;eventName;value;click window
buy;Acme Shoes;Buy;1.234
lead;Acme Shoes;Lead;1.234,5;40 days
view;Acme Shoe;View;1;7d
#NAME?;Acme Shoes;Sale;#REF!
page;Acme Shoes;Page;1;7d;none
Total;Acme Shoes;3;14,5
`;

export const catalog: Examples = {
  "wrong values": () => found("catalog.yaml", WRONG_VALUES),
  "the same key, id or name twice": () => found("catalog.yaml", TWICE),
  "a YAML file in the wrong shape": () => found("catalog.yaml", WRONG_SHAPE),
  "a list instead of advertisers": () => found("catalog.yaml", "[acme]"),
  "a YAML file that can't be parsed": () => found("catalog.yaml", "advertisers: { acme"),
  "several YAML documents": () => found("catalog.yaml", "---\na: {}\n---\nb: {}\n"),
  "a JSON file with a comment": () => found("catalog.json", '{\n  // ours\n  "a": 1 }'),
  "a JSON file with a comma at the end": () => found("catalog.json", '{ "a": 1, }'),
  "an empty file": () => found("catalog.yaml", ""),
  "a YAML file of an older version": () => found("c.yaml", "%YAML 1.1\n---\ndefaults: {}"),
  "a file with only a header": () => found("e.csv", "key,advertiser,eventName,value\n"),
  "<< of a number": () => found("c.yaml", "advertisers: { <<: 5 }"),
  // How deep that is depends on the machine.
  "too deep": () =>
    found("c.json", `${"[".repeat(3000)}${"]".repeat(3000)}`).replace(/:1:\d+| \(.*/g, ""),
  "an alias inside its own anchor": () => found("c.yaml", "advertisers: &a { a: *a }"),
  "an alias without an anchor": () => found("c.yaml", "advertisers: { a: *b }"),
  "an HTML page": () => found("events.csv", "<html><table></table></html>"),
  "wrong cells": () => found("events.csv", CELLS),
  "wrong columns": () =>
    found(
      "events.csv",
      "key,advertiser,eventName,value,windw,Event_Name,Click window (days),Preis\na,b,C,1,7d,D\n",
    ),
  "missing columns": () => found("events.csv", "key,eventName\na,B\n"),
  "a quote that isn't closed in a CSV file": () =>
    found("events.csv", 'key,advertiser,eventName,value\na,b,"C,1\n'),
  "a quote within a cell": () =>
    found("events.csv", 'key,advertiser,eventName,value\na,b,5" screen,1\n'),
  "a quote that isn't closed in a YAML file": () =>
    found("catalog.yaml", 'advertisers:\n  acme:\n    advertiserName: "Acme\n'),
  "a placeholder without quotes in a YAML file": () =>
    found("catalog.yaml", "advertisers:\n  a: { advertiserName: {{name}} }\n"),
  "advertisers of a CSV file beside a YAML file": () =>
    found("catalog.yaml", ADVERTISERS, { "e.csv": OWNERS }),
  "a file that isn't found": () => found("catalog.yaml", "eventsFile: nofile.csv"),
  "a file of another type": () => found("catalog.xlsx", ""),
  "a folder instead of a file": foundInFolder,
  "a file in another encoding": () =>
    found("events.csv", Buffer.from("M\xfcller", "latin1")),
  "a Catalog without a file": () =>
    validate({ ignoreColumns: "Preis" }, CATALOG_RULES, { isUnknown: () => false })
      .problems.map(({ property, reason }) => `${property} ${reason}`)
      .join("\n"),
};
