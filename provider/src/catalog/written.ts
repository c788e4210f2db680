/** A catalog as written in any format, and as checked: its objects, their keys, and the findings. */
import { z } from "zod";
import { joined, quoted, saidOnce, type Values, withEscapes } from "../base/index.js";
import { NOT_RESERVED } from "../kinds/index.js";
import { expecting, type Problem } from "../rules/index.js";

/** The place in a file where a value is written. Lines and columns count from 1. */
export interface Source {
  file: string;
  line?: number;
  /** `undefined` in a CSV file, where the property names the column. */
  column?: number;
}

/** An advertiser, an event, or the arguments that several share, as written. */
export interface CatalogEntry {
  /** An event's: the advertiser's key, or a live advertiser's id. Empty otherwise. */
  owner: string;
  key: string;
  /** The object's name in messages: `acme/purchase`, `acme defaults`. */
  subject: string;
  /** The values that the file gives, by property in camelCase; texts as they are written. */
  given: Values;
  /** Whether a comma in a number is a decimal one. */
  hasDecimalCommas?: boolean;
  /** Finds a property's place, or the object's if the property isn't written. `key`: the object's place. */
  sourceOf: (property: string) => Source;
}

export interface WrittenCatalog {
  /** Under the key of the advertiser whose events share them; under an empty key those of the file. */
  defaults: readonly CatalogEntry[];
  /** Undefined if the file declares none: then the events' own texts name them. */
  advertisers?: readonly CatalogEntry[];
  events: readonly CatalogEntry[];
  /** The path of a CSV file with more events, relative to this file's folder, and where it is named. */
  eventsFile?: { path: string; source: Source };
}

export interface CatalogContent {
  /** The advertisers without an error. `args` is undefined for a live one that the file names by its id (its key). */
  advertisers: readonly {
    key: string;
    args: Values | undefined;
  }[];
  /** The events without an error, if their advertisers have none. `args` has the catalog's defaults, not the API's. */
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

/** Adds a finding. @param about what it is about, if not the whole file. @default an error */
export type AddFinding = (
  source: Source,
  reason: string,
  about?: Partial<CatalogFinding>,
) => void;

/** `catalog.yaml:12:9 acme/purchase: value expected a finite number; …`; in a CSV file the property is the column. */
export function describeFinding({ source, subject, property, reason }: CatalogFinding) {
  return joined(
    " ",
    placeOf(source),
    subject && `${withEscapes(subject)}:`,
    property,
    reason,
  );
}

/** Like {@link describeFinding} for each, with one line for a mistake that several rows share. */
export function describeAlike(findings: readonly CatalogFinding[]) {
  return saidOnce(
    findings,
    describeFinding,
    ({ subject, source }) => joined(" at ", subject && quoted(subject), placeOf(source)),
    ({ property, reason }) => `${property} ${reason}`,
  );
}

export function placeOf({ file, line, column }: Source) {
  if (line === undefined) return `${file}:`;
  return joined(":", file, String(line), column?.toString());
}

/** 1 to 100 characters without white space at either end, control and format characters, `/` and `::`. */
const KEY = `${NOT_RESERVED}(?!\\s)(?:(?!::)[^\\p{C}\\p{Zl}\\p{Zp}/]){1,100}(?<!\\s)$`;

/** Digits name a live advertiser by its id, and other numbers are keys that a spreadsheet has changed. */
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
