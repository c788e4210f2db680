/** A catalog's file on the disk: which format it has, and its bytes as text. */
import { readFileSync } from "node:fs";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { quoted } from "../base/index.js";
import type { Limits } from "../kinds/index.js";
import { booleanRule, expecting } from "../rules/index.js";
import { CatalogValidator } from "./catalog-validator.js";
import { readCsvEvents } from "./csv-catalog.js";
import type { Format } from "./field-values.js";
import { type CatalogContent, errorAt, type Source, type WrittenCatalog } from "./written.js";
import { type EventsFile, readYamlCatalog } from "./yaml-catalog.js";

export const CATALOG_RULES = z.strictObject({
  file: expecting("the path of a file, known when the program runs", z.string().min(1)),
  sets: booleanRule.optional(),
});

const FORMATS: Readonly<Record<string, Format>> = {
  ".yaml": "yaml",
  ".yml": "yaml",
  ".json": "json",
  ".csv": "csv",
  ".tsv": "csv",
};
const formatOf = (file: string) => FORMATS[extname(file).toLowerCase()];

/**
 * Reads a catalog and checks it against all rules.
 * @param file relative to `folder`; findings name it as it is given here. @param limits those of the installation.
 */
export function readCatalog(file: string, folder: string, limits: Limits): CatalogContent {
  return new CatalogValidator(readWritten(file, folder), limits).validate();
}

/** @param named the place at which a problem with the file itself is reported: in the catalog, of its `eventsFile`. */
function readWritten(
  file: string,
  folder: string,
  named: Source = { file, line: 1, column: 1 },
): WrittenCatalog {
  const format = formatOf(file);
  if (format === undefined) {
    const known = Object.keys(FORMATS).join(", ");
    return unread(
      file,
      named,
      `is not a supported type of file: expected a name that ends in ${known}`,
    );
  }
  let text: string;
  try {
    text = readCatalogText(readFileSync(resolve(folder, file)), format);
  } catch (error) {
    const reason = reasonOf(error, resolve(folder, file));
    return unread(
      file,
      named,
      named.file === file ? reason : `eventsFile ${quoted(file)} ${reason}`,
    );
  }
  if (format === "csv") return readCsvEvents(text, file);
  const written = readYamlCatalog(text, file, format);
  if (written.eventsFile === undefined) return written;
  const { events, findings } = eventsFileOf(written.eventsFile, file, folder);
  return {
    ...written,
    events: [...written.events, ...events],
    findings: [...written.findings, ...findings],
  };
}

function unread(file: string, place: Source, reason: string): WrittenCatalog {
  return { file, events: [], findings: [errorAt(place, "", reason)] };
}

function eventsFileOf(
  { path, source }: EventsFile,
  catalog: string,
  folder: string,
): WrittenCatalog {
  const file = isAbsolute(path) ? path : join(dirname(catalog), path);
  if (formatOf(file) === "csv") return readWritten(file, folder, source);
  const expected = "expected a name that ends in .csv or .tsv";
  return unread(file, source, `eventsFile ${quoted(path)} is not a CSV file: ${expected}`);
}

const SAVED_AS: Readonly<Record<Format, string>> = {
  csv: "CSV UTF-8",
  yaml: "YAML",
  json: "JSON",
};

/** By the byte order mark of UTF-16, which spreadsheets call Unicode. */
const ENCODINGS: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be" };

/** How the content of files begins that have the name of another format, as downloads and old exports do. */
const OTHER_FORMATS = [
  { what: "a workbook of a spreadsheet program", start: /^PK\W\W|^\u00d0\u00cf/ },
  {
    what: "an HTML page",
    start: /^[^\w"]*<(!doctype html|html|head|body|table|meta|script)\b/i,
  },
  { what: "XML", start: /^[^\w"]*<\?xml\b/ },
];

/** With the reason why a file's bytes are no text of its format. */
class NoText extends Error {}

/** @throws NoText */
function readCatalogText(bytes: Buffer, format: Format): string {
  const beginning = bytes.subarray(0, 1000).toString("latin1").replaceAll("\0", "");
  const other = OTHER_FORMATS.find(({ start }) => start.test(beginning));
  if (other !== undefined)
    throw new NoText(
      `is ${other.what}, whatever its name says: save it as ${SAVED_AS[format]}`,
    );
  const mark = bytes.subarray(0, 2).toString("hex");
  return new TextDecoder(ENCODINGS[mark] ?? "utf-8", { fatal: true }).decode(bytes);
}

function reasonOf(error: unknown, path: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof NoText) return message;
  if (code === "ENOENT") return `is not there; looked for ${path}`;
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
    return 'is not UTF-8: in a spreadsheet, save it as "CSV UTF-8"';
  return `can't be read: ${message}`;
}
