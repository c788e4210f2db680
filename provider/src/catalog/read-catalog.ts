/** Reads a catalog's file, in any of its formats, and checks it. */
import { readFileSync } from "node:fs";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import type { RuleSettings } from "../kinds/index.js";
import { booleanRule, expecting } from "../rules/index.js";
import { validateCatalog } from "./catalog-validator.js";
import { readCsvEvents } from "./csv-catalog.js";
import {
  type CatalogContent,
  type CatalogFinding,
  errorAt,
  type WrittenCatalog,
} from "./written.js";
import { readYamlCatalog } from "./yaml-catalog.js";

export const CATALOG_RULES = z.strictObject({
  file: expecting("a file's path, not an Output", z.string().min(1)),
  sets: booleanRule.optional(),
});

const YAML = [".yaml", ".yml", ".json"];
const CSV = [".csv", ".tsv"];

/**
 * Reads a catalog and checks it against all rules.
 * @param file relative to `folder`; findings name it as it is given here. @param limits the installation's.
 */
export function readCatalog(
  file: string,
  folder: string,
  limits: RuleSettings,
): CatalogContent {
  const findings: CatalogFinding[] = [];
  const content = validateCatalog(readWritten(file, folder, findings), limits, findings);
  if (content.advertisers.length + content.events.length + findings.length === 0)
    findings.push(errorAt({ file }, "", "has no advertisers and no events"));
  return { ...content, findings: findings.toSorted(inOrderOfFile) };
}

function readWritten(
  file: string,
  folder: string,
  findings: CatalogFinding[],
  endings = [...YAML, ...CSV],
): WrittenCatalog {
  const unread = (reason: string) => {
    findings.push(errorAt({ file }, "", reason));
    return { events: [] };
  };
  const ending = extname(file).toLowerCase();
  if (!endings.includes(ending))
    return unread(
      `is not a supported file type: the name must end in ${endings.join(", ")}`,
    );
  const path = resolve(folder, file);
  let text: string;
  try {
    const bytes = readFileSync(path);
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      return unread('is not UTF-8: in a spreadsheet, save it as "CSV UTF-8"');
    if (code === "ENOENT") return unread(`file not found (${path})`);
    return unread(`can't be read: ${message}`);
  }
  if (HTML.test(text))
    return unread(`is an HTML page, despite its name: save it as ${ending.slice(1)}`);
  if (CSV.includes(ending)) return { events: readCsvEvents(text, file, findings) };
  const format = ending === ".json" ? "json" : "yaml";
  const written = readYamlCatalog(text, file, format, findings);
  const { eventsFile } = written;
  if (eventsFile === undefined) return written;
  const beside = isAbsolute(eventsFile) ? eventsFile : join(dirname(file), eventsFile);
  const { events } = readWritten(beside, folder, findings, CSV);
  return { ...written, events: [...written.events, ...events] };
}

function inOrderOfFile({ source: a }: CatalogFinding, { source: b }: CatalogFinding) {
  const { line = 0, column = 0 } = a;
  return a.file.localeCompare(b.file) || line - (b.line ?? 0) || column - (b.column ?? 0);
}

/** The beginning of an HTML page: downloads and old exports may be HTML under another format's name. */
const HTML = /^[^\w"]*<(!doctype html|html|head|body|table|meta|script)\b/i;
