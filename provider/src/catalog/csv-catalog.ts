/** Reads the events of a CSV file, with any delimiter that spreadsheets write. A column is known by its heading's letters. */
import { didYouMean, joined, letters, printable, quoted } from "../base/index.js";
import { conversionEvent } from "../kinds/index.js";
import { type CatalogFinding, errorAt, type Source, type WrittenEvent } from "./written.js";

/** The columns that every file must have. */
const REQUIRED = ["key", "advertiser", "eventName", "value"];
/** All columns, in the order in which messages list them. */
const COLUMNS = [
  ...new Set([...REQUIRED, ...Object.keys(conversionEvent.wireNames)]),
  "existingId",
  "formerKey",
].filter((name) => name !== conversionEvent.owner);

/** The columns by the letters of their headings: wire names and spaced names have the same letters as arguments. */
const BY_LETTERS = new Map([
  ...COLUMNS.map((column) => [letters(column), column] as const),
  // Headings that differ from their argument's name.
  ["advertiserid", "advertiser"],
  ["advertisername", "advertiser"],
  ["eventtype", "eventTypeId"],
  ["segment", "segmentId"],
]);

/** @returns the events as far as the file could be read. @param findings gets the problems and warnings. */
export function readCsvEvents(
  content: string,
  file: string,
  findings: CatalogFinding[],
): WrittenEvent[] {
  // Within quotes, the library counts CRLF as two lines. Excel's line about the delimiter becomes a blank one.
  const text = content.replace(/\r\n?/g, "\n").replace(/^\ufeff?"?sep=."?(?=\n)/i, "");
  const delimiter = delimiterOf(text);
  const rows = readRows(text, delimiter, file, findings);
  const [header = { cells: [], source: { file, line: 1 } }, ...body] = rows;
  const columns = header.cells.map((heading) => BY_LETTERS.get(letters(heading)));
  findings.push(...headerFindings(header, columns));
  const missing = REQUIRED.filter((column) => !columns.includes(column));
  if (missing.length > 0) {
    const reason = `has no column ${missing.join(", ")}: the first row must name the columns`;
    findings.push(errorAt(header.source, "", reason));
    // Every row would repeat this problem.
    return [];
  }
  const events: WrittenEvent[] = [];
  for (const { cells, source } of body) {
    const row: Record<string, string> = {};
    columns.forEach((column, at) => {
      if (column !== undefined && cells[at]) row[column] ??= cells[at];
    });
    const { key: ownKey = "", advertiser: owner = "", ...given } = row;
    const key = ownKey.normalize("NFC");
    const advertiser = owner.normalize("NFC");
    const subject = joined("/", advertiser, key);
    // If commas separate cells, a comma in a number is a mistake.
    const hasDecimalComma = delimiter !== ",";
    const sourceOf = () => source;
    events.push({ key, advertiser, subject, given, hasDecimalComma, sourceOf });
    const property = REQUIRED.find((name) => SUMMARY.test(row[name] ?? ""));
    if (property !== undefined) {
      const reason = `is ${quoted(row[property] ?? "")}: if this row holds totals, remove it`;
      findings.push({ level: "warning", subject, property, reason, source });
    }
    // A cell in a column without a heading, or beyond the last column.
    const stray = cells.find((cell, at) => cell !== "" && !header.cells[at]);
    if (stray === undefined) continue;
    const reason = `the row has more cells than the header: ${quoted(stray)}`;
    const cure = "put a value that contains the delimiter in quotes";
    findings.push(errorAt(source, subject, `${reason}; ${cure}`));
  }
  return events;
}

function headerFindings({ cells, source }: Row, columns: readonly (string | undefined)[]) {
  return cells.flatMap((heading, at) => {
    const column = columns[at];
    if (heading === "" || (column !== undefined && columns.indexOf(column) === at))
      return [];
    let reason = `is not a known column; ${didYouMean(heading, COLUMNS)}`;
    if (column !== undefined) reason = `is a second ${column} column: remove one`;
    return errorAt(source, "", reason, printable(heading));
  });
}

/** The label of a row of sums, in English, German and French. */
const SUMMARY =
  /^(?:(?:grand |sub[- ]?|sous-)?totals?(?: général)?|(?:zwischen|gesamt)?summe|gesamt|sum|somme)(?:\s*[:=(].*)?$/iu;

interface Row {
  cells: readonly string[];
  source: Source;
}

function readRows(
  text: string,
  delimiter: string,
  file: string,
  findings: CatalogFinding[],
) {
  // The library is loaded with the first file.
  const { parse } = require("csv-parse/sync") as CsvLibrary;
  let line = 1;
  const rows: Row[] = [];
  try {
    parse(text, {
      relax_column_count: true,
      trim: true,
      delimiter,
      on_record: (cells: readonly string[], { lines }) => {
        if (cells.some((cell) => cell !== "")) rows.push({ cells, source: { file, line } });
        line = 1 + lines;
      },
    });
  } catch (error) {
    const { message } = error as Error;
    findings.push(errorAt({ file, line }, "", `is not valid CSV: ${message}`));
  }
  return rows;
}

/** The delimiter that gives the first line that isn't blank the most columns. */
function delimiterOf(text: string) {
  const [header = ""] = /^.*\S.*$/m.exec(text) ?? [];
  const amount = (delimiter: string) => header.split(delimiter).length;
  const [most = ","] = [",", ";", "\t", "|"].toSorted((a, b) => amount(b) - amount(a));
  return most;
}

type CsvLibrary = typeof import("csv-parse/sync", { with: {
  "resolution-mode": "require",
}});
