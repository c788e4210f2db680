/** A catalog's file on the disk: which format it has, and its bytes as text. */
import { readFileSync } from "node:fs";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { quoted } from "../base/index.js";
import type { Limits } from "../kinds/index.js";
import { expecting, truth } from "../rules/index.js";
import { CatalogValidator } from "./catalog-validator.js";
import { readCsvEvents } from "./csv-catalog.js";
import type { Format } from "./spelling.js";
import { type CatalogContent, type CatalogFinding, errorAt, type Source, type WrittenCatalog } from "./written.js";
import { readYaml, YamlReader } from "./yaml-catalog.js";

export const CATALOG_RULES = z.strictObject({
  file: expecting("the path of a file, known when the program runs", z.string().min(1)),
  sets: truth.optional(),
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
function readWritten(file: string, folder: string, named: Source = { file, line: 1, column: 1 }): WrittenCatalog {
  const unread = (...findings: readonly CatalogFinding[]) => ({ file, events: [], findings });
  const format = formatOf(file);
  if (format === undefined) {
    const known = Object.keys(FORMATS).join(", ");
    return unread(errorAt(named, "", `is not a supported type of file: expected a name that ends in ${known}`));
  }
  const text = readCatalogText(file, folder, named, format);
  if (typeof text !== "string") return unread(text);
  if (format === "csv") return readCsvEvents(text, file);
  const yaml = readYaml(text, file, format);
  if (!("data" in yaml)) return unread(...yaml);
  const written = new YamlReader(yaml, file).read();
  const { eventsFile } = written;
  if (eventsFile === undefined) return written;
  const source = yaml.sourceOf(["eventsFile"]);
  const path = isAbsolute(eventsFile) ? eventsFile : join(dirname(file), eventsFile);
  const reason = `eventsFile ${quoted(eventsFile)} is not a CSV file: expected a name that ends in .csv or .tsv`;
  const isCsv = formatOf(path) === "csv";
  const { events, findings } = isCsv ? readWritten(path, folder, source) : unread(errorAt(source, "", reason));
  return { ...written, events: [...written.events, ...events], findings: [...written.findings, ...findings] };
}

const SAVED_AS: Readonly<Record<Format, string>> = { csv: "CSV UTF-8", yaml: "YAML", json: "JSON" };

/** By the byte order mark of UTF-16, which spreadsheets call Unicode. */
const ENCODINGS: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be" };

/** What a file is that has the name of another format: downloads are, and exports that only spreadsheets read. */
function otherFormatOf(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 4).toString("hex");
  if (start === "504b0304" || start === "d0cf11e0") return "a workbook of a spreadsheet program";
  const text = bytes.subarray(0, 1000).toString("latin1").replaceAll("\0", "");
  if (/^[^\w"]*<(!doctype html|html|head|body|table|meta|script)\b/i.test(text)) return "an HTML page";
  return /^[^\w"]*<\?xml\b/.test(text) ? "XML" : undefined;
}

function readCatalogText(file: string, folder: string, named: Source, format: Format): string | CatalogFinding {
  const path = resolve(folder, file);
  const problem = (reason: string) =>
    errorAt(named, "", named.file === file ? reason : `eventsFile ${quoted(file)} ${reason}`);
  try {
    const bytes = readFileSync(path);
    const other = otherFormatOf(bytes);
    if (other !== undefined) return problem(`is ${other}, whatever its name says: save it as ${SAVED_AS[format]}`);
    const mark = bytes.subarray(0, 2).toString("hex");
    return new TextDecoder(ENCODINGS[mark] ?? "utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      return problem('is not UTF-8: in a spreadsheet, save it as "CSV UTF-8"');
    return problem(code === "ENOENT" ? `is not there; looked for ${path}` : `can't be read: ${message}`);
  }
}
