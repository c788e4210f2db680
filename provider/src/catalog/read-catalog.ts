/** Reads a catalog's file, in any of its formats, and checks it. */
import { readFileSync } from "node:fs";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { natural, printable } from "../base/index.js";
import { deletionPolicy, type RuleSettings } from "../kinds/index.js";
import { booleanRule, expecting } from "../rules/index.js";
import { validateCatalog } from "./catalog-validator.js";
import { readCsvEvents } from "./csv-catalog.js";
import {
  type AddFinding,
  type CatalogFinding,
  placeOf,
  type Source,
  type WrittenCatalog,
} from "./written.js";
import { readYamlCatalog } from "./yaml-catalog.js";

export const CATALOG_RULES = z.strictObject({
  file: expecting("a file's path", z.string().min(1)),
  sets: booleanRule.optional(),
  ignoreColumns: expecting("a list of column headings", z.array(z.string())).optional(),
  deletionPolicy,
});

const CSV = [".csv", ".tsv"];

/**
 * Reads a catalog and checks it against all rules.
 * @param file relative to this process's folder; findings name it as it is given here. @param limits the installation's.
 * @param ignoreColumns headings of a CSV file's columns to leave out.
 */
export function readCatalog(
  file: string,
  limits: RuleSettings,
  ignoreColumns: readonly string[] = [],
) {
  const findings: CatalogFinding[] = [];
  const report: AddFinding = (source, reason, about) => {
    findings.push({ level: "error", subject: "", property: "", reason, source, ...about });
  };
  const endings = [".yaml", ".yml", ".json", ...CSV];
  const written = readWritten(file, endings, report, ignoreColumns);
  const content = validateCatalog(written, limits, report);
  if (content.advertisers.length + content.events.length + findings.length === 0)
    report({ file }, "has no advertisers and no events: write them under advertisers");
  findings.sort((a, b) => natural(placeOf(a.source), placeOf(b.source)));
  return { ...content, findings };
}

function readWritten(
  file: string,
  endings: readonly string[],
  report: AddFinding,
  ignoreColumns: readonly string[],
): WrittenCatalog {
  const nothing: WrittenCatalog = { defaults: [], events: [] };
  const refuse = (reason: string, place?: Partial<Source>) => {
    report({ file, ...place }, printable(reason));
    return nothing;
  };
  const ending = extname(file).toLowerCase();
  if (!endings.includes(ending))
    return refuse(
      `is not a supported file type: the name must end in ${endings.join(", ")}`,
    );
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(resolve(file)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return refuse(NOT_UTF8);
    return refuse(`can't be read: ${message}`);
  }
  // UTF-16 without its mark at the beginning.
  if (text.includes("\0")) return refuse(NOT_UTF8);
  // Downloads that need a login, and exports that only spreadsheets read.
  if (/^\s*<[!?a-z]/i.test(text))
    return refuse(`is an HTML page or XML, in spite of its name: export it as ${ending}`);
  if (CSV.includes(ending))
    return { ...nothing, events: readCsvEvents(text, file, report, ignoreColumns) };
  // The YAML library accepts more than JSON.
  const fault = ending === ".json" ? jsonFault(text) : undefined;
  if (fault) return refuse(`can't be read: ${fault.reason}`, fault.place);
  const written = readYamlCatalog(text, file, report) ?? nothing;
  const { eventsFile } = written;
  if (eventsFile === undefined) return written;
  const { path, source } = eventsFile;
  const beside = isAbsolute(path) ? path : join(dirname(file), path);
  const reportBeside: AddFinding = (place, reason, about) => {
    if (place.line !== undefined) report(place, reason, about);
    else report(source, `eventsFile ${reason}`);
  };
  const { events } = readWritten(beside, CSV, reportBeside, ignoreColumns);
  return { ...written, events: [...written.events, ...events] };
}

const NOT_UTF8 = 'is not UTF-8: save it as UTF-8, in a spreadsheet as "CSV UTF-8"';

/** Why and where a text isn't JSON; `undefined` if it is. The engine's own message often has no place. */
function jsonFault(text: string) {
  const message = jsonError(text);
  if (message === "") return undefined;
  // The fault follows the longest beginning that more text could complete.
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const error = jsonError(text.slice(0, middle));
    if (/^$|Unexpected end/.test(error) || error.includes(`position ${middle} `))
      good = middle;
    else bad = middle;
  }
  const line = text.slice(0, good).split("\n").length;
  const column = good - text.lastIndexOf("\n", good - 1);
  return {
    reason: message.replace(/( in JSON)? at position .*/s, ""),
    place: { line, column },
  };
}

/** @returns the engine's message; empty for JSON. */
function jsonError(text: string) {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
