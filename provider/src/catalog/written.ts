/** A catalog as written, whichever format the file has, and as judged: its objects, their keys, and what is wrong. */
import { z } from "zod";
import { joined, saidOnce, type Values, withEscapes } from "../base/index.js";
import { NOT_PULUMIS } from "../kinds/index.js";
import { expecting, type Problem } from "../rules/index.js";

/** The place in a file where a value is written. Lines and columns count from 1. */
export interface Source {
  file: string;
  /** `undefined` for the file as a whole. */
  line?: number;
  /** `undefined` in a CSV file, where the property names the column. */
  column?: number;
}

export interface Written {
  /** As people know it: `acme/purchase`, `acme defaults`. */
  subject: string;
  key: string;
  /** The values that the file gives, by property in camelCase; texts as they are written. */
  given: Values;
  hasDecimalComma?: boolean;
  /** Finds where a property is named; where the object is, if it is not. `key`: the object itself. */
  sourceOf: (property: string) => Source;
}

export interface WrittenEvent extends Written {
  /** The key of its advertiser, or the id of a live one. */
  advertiser: string;
}

export interface WrittenAdvertiser extends Written {
  defaults?: Written;
}

export interface WrittenCatalog {
  file: string;
  defaults?: Written;
  /** None where the file declares none: the events' own texts name them. */
  advertisers?: readonly WrittenAdvertiser[];
  events: readonly WrittenEvent[];
  /** The path of a CSV file with more events, from this file's folder. */
  eventsFile?: string;
  findings: readonly CatalogFinding[];
}

export interface CatalogContent {
  /** Those without an error. Without `args`: one that lives already and is no resource; its key is its id. */
  advertisers: readonly {
    key: string;
    args: Values | undefined;
  }[];
  /** Those without an error, of advertisers without one. `args`: with the catalog's defaults, not the platform's. */
  events: readonly {
    key: string;
    advertiser: string;
    args: Values;
  }[];
  findings: readonly CatalogFinding[];
}

export interface CatalogFinding extends Problem {
  level: "error" | "warning";
  subject: string;
  source: Source;
}

/** An error that stands in a file. @param property the one that it is about, if it is about one. */
export function errorAt(
  source: Source,
  subject: string,
  reason: string,
  property = "",
): CatalogFinding {
  return { level: "error", subject, property, reason, source };
}

/** `catalog.yaml:12:9 acme/purchase: value expected a finite number; …`; in a CSV file the property is the column. */
export function describeFinding({
  source,
  subject,
  property,
  reason,
}: CatalogFinding): string {
  const about = subject && `${withEscapes(subject)}:`;
  return joined(" ", placeOf(source), about, property, reason);
}

/** The same, with each mistake that several rows share on one line. */
export function describeAlike(findings: readonly CatalogFinding[]): string[] {
  return saidOnce(
    findings,
    describeFinding,
    ({ subject, source }) => joined(" at ", withEscapes(subject), placeOf(source)),
    ({ property, reason }) => `${property} ${reason}`,
  );
}

function placeOf({ file, line, column }: Source) {
  if (line === undefined) return `${file}:`;
  return joined(":", file, String(line), column?.toString());
}

/** 1 to 100 characters without white space at either end, control and format characters, `/` and `::`. */
const KEY = `${NOT_PULUMIS}(?!\\s)(?:(?!::)[^\\p{C}\\p{Zl}\\p{Zp}/]){1,100}(?<!\\s)$`;

/** Digits name a live advertiser by its id; any other number is one that a spreadsheet has changed. */
const NOT_A_NUMBER = "(?![\\d.,' +-]+$)(?!\\d[.,]?\\d*[eE]\\+?\\d+$)";

function keyRule(more: string, pattern: string) {
  const ends = "or spaces at the ends; not a name that Pulumi reserves, such as toString";
  return expecting(
    `1 to 100 characters, without /, ::, control or invisible characters, ${ends}${more}`,
    z.string().regex(new RegExp(`^${pattern}`, "u")),
  );
}

export const eventKey = keyRule("", KEY);

export const advertiserKey = keyRule(", and not a number", NOT_A_NUMBER + KEY);
