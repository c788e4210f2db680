/** Reads the events of a CSV file, with any delimiter that spreadsheets write. A column is known by its heading's letters. */
import type { CsvError } from "csv-parse/sync" with { "resolution-mode": "require" };
import { joined, letters, nearest, quoted } from "../base/index.js";
import { conversionEvent, WINDOWS } from "../kinds/index.js";
import type { AddFinding, Source } from "./written.js";

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

/** @param ignored headings of columns to leave out. @returns the events as far as the file could be read. */
export function readCsvEvents(
  content: string,
  file: string,
  report: AddFinding,
  ignored: readonly string[] = [],
) {
  // Within quotes, the library counts CRLF as two lines. Excel's line about the delimiter becomes a blank one.
  const text = content.replace(/\r\n?/g, "\n").replace(/^"?sep=."?(?=\n)/i, "");
  const delimiter = delimiterOf(text);
  const [header, ...body] = readRows(text, delimiter, file, report);
  if (!header) return [];
  const headings = header.cells.map((cell) => (ignored.includes(cell) ? "" : cell));
  const columns = headings.map((heading) => BY_LETTERS.get(letters(heading)));
  const unknown = headings.filter(
    (heading, at) =>
      heading !== "" && !(columns[at] && columns.indexOf(columns[at]) === at),
  );
  if (unknown.length > 0)
    report(
      header.source,
      `unknown columns: ${unknown.map(describeUnknown).join(", ")}. Known: ${COLUMNS.join(", ")}. Rename them, or leave them out (ignoreColumns, --ignore-column)`,
    );
  const missing = REQUIRED.filter((column) => !columns.includes(column));
  if (missing.length > 0) {
    report(
      header.source,
      `has no column ${missing.join(", ")}: the first row must name the columns`,
    );
    // Every row would repeat this problem.
    return [];
  }
  return body.map(({ cells, source }) => {
    const row: Record<string, string> = {};
    columns.forEach((column, at) => {
      if (column !== undefined && cells[at]) row[column] ??= cells[at];
    });
    const { key: cell = "", advertiser = "", ...given } = row;
    const key = cell.normalize("NFC");
    const owner = advertiser.normalize("NFC");
    const subject = joined("/", owner, key);
    const property = REQUIRED.find((name) => SUMMARY.test(row[name] ?? ""));
    if (property !== undefined) {
      const value = quoted(row[property] ?? "");
      report(source, `is ${value}: if this row holds totals, remove it`, {
        level: "warning",
        subject,
        property,
      });
    }
    // A cell in a column without a heading, or beyond the last column.
    const stray = cells.find((cell, at) => cell !== "" && !header.cells[at]);
    if (stray !== undefined) {
      const reason = `expected no more cells than the header; got ${quoted(stray)}; put a value that contains the delimiter in quotes`;
      report(source, reason, { subject });
    }
    // If commas separate cells, a comma in a number is a mistake.
    return {
      owner,
      key,
      subject,
      given,
      hasDecimalCommas: delimiter !== ",",
      sourceOf: () => source,
    };
  });
}

/** An unknown heading, with what to write instead if that is likely. */
function describeUnknown(heading: string) {
  const known = BY_LETTERS.get(letters(heading));
  const window = WINDOWS.find((name) => letters(heading).startsWith(letters(name)));
  // Without what may be a unit.
  const name = heading.replace(/[([].*| in .*| [A-Z]{3}$/, "");
  const meant = nearest(name, BY_LETTERS.keys());
  let hint = meant && `(did you mean ${BY_LETTERS.get(meant)}?)`;
  if (window) hint = `(write ${window}, and the unit in each cell: 7d, 12h, 90min)`;
  if (known) hint = `(a second ${known})`;
  return joined(" ", quoted(heading), hint);
}

/** The label of a row of sums, in English, German and French. */
const SUMMARY =
  /^(?:(?:grand |sub[- ]?|sous-)?totals?(?: général)?|(?:zwischen|gesamt)?summe|gesamt|sum|somme)(?:\s*[:=(].*)?$/iu;

function readRows(text: string, delimiter: string, file: string, report: AddFinding) {
  // The library is loaded with the first file.
  const { parse } = require("csv-parse/sync") as typeof import("csv-parse/sync", { with: {
    "resolution-mode": "require",
  }});
  let line = 1;
  const rows: { cells: readonly string[]; source: Source }[] = [];
  try {
    parse(text, {
      relax_column_count: true,
      trim: true,
      delimiter,
      on_record: (cells, { lines }) => {
        if (cells.some((cell) => cell !== "")) rows.push({ cells, source: { file, line } });
        line = 1 + lines;
      },
    });
    if (rows.length < 2) report({ file }, "has no events below its header");
  } catch (error) {
    const { code, column } = error as Partial<CsvError>;
    let reason =
      "has a quote in its text: put the cell in quotes, and write that quote twice";
    if (code === "CSV_QUOTE_NOT_CLOSED") reason = "begins with a quote that isn't closed";
    // The library may name another line.
    report({ file, line }, reason, { property: rows[0]?.cells[Number(column)] ?? "" });
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
