/**
 * Reads the events of a CSV file, with any delimiter that spreadsheets write. A column is known by its heading, however
 * that is spelled; its field (`field-values.ts`) reads its cells.
 */
import { didYouMean, joined, letters, printable, quoted } from "../base/index.js";
import { DescribedInvalidValue } from "../rules/index.js";
import { fieldNamed, mistakeIn, rowRules } from "./field-values.js";
import {
  type CatalogFinding,
  errorAt,
  normalizedKey,
  type Source,
  type WrittenCatalog,
  type WrittenEvent,
} from "./written.js";

/** The arguments that a cell can hold. */
const ARGUMENTS = Object.entries(rowRules()).filter(([name]) => name !== "additionalFields");
const needed = ARGUMENTS.filter(([, rule]) => !rule.isOptional()).map(([name]) => name);

/** Without these, each row would lack something. */
const REQUIRED = ["key", "advertiser", ...needed];
/** In the order in which messages list them. */
const CSV_COLUMNS = [...new Set([...REQUIRED, ...ARGUMENTS.map(([name]) => name)])];

/** Columns by the letters of a heading: wire names and spaced names have the same letters as the arguments. */
const BY_LETTERS = new Map([
  ...CSV_COLUMNS.map((column) => [letters(column), column] as const),
  // What is called otherwise here.
  [letters("advertiser_id"), "advertiser"],
  [letters("Advertiser name"), "advertiser"],
  [letters("Event type"), "eventTypeId"],
  [letters("Segment"), "segmentId"],
]);
const columnOf = (heading: string) => BY_LETTERS.get(letters(heading));

/** @returns the events as far as the file could be read. */
export function readCsvEvents(text: string, file: string): WrittenCatalog {
  const { rows, findings, delimiter } = readCsv(text, file);
  const [header = { cells: [], source: { file, line: 1 } }, ...body] = rows;
  const columns = header.cells.map(columnOf);
  const missing = REQUIRED.filter((column) => !columns.includes(column));
  findings.push(...headerFindings(header, columns));
  if (missing.length > 0) {
    // The rows would say nothing but that.
    const reason = `has no column ${missing.join(", ")}: the first row names the columns`;
    return { file, events: [], findings: [...findings, errorAt(header.source, "", reason)] };
  }
  const events: WrittenEvent[] = [];
  for (const row of body) {
    // Beside a comma that separates cells, one in a number is a mistake.
    const event = readEvent(row, columns, delimiter !== ",");
    events.push(event);
    findings.push(...summaryIn(event));
    // In a column without a heading, or beyond the last one.
    const stray = row.cells.find(
      (cell, column) => cell !== "" && (header.cells[column] ?? "") === "",
    );
    if (stray === undefined) continue;
    const reason = `the row has more cells than the header (${quoted(stray)})`;
    const cure = "put a value that contains the delimiter in quotes";
    findings.push(errorAt(row.source, event.subject, `${reason}; ${cure}`));
  }
  return { file, events, findings };
}

function headerFindings(
  { cells, source }: Row,
  columns: readonly (string | undefined)[],
): CatalogFinding[] {
  const unknown = cells.filter((heading, at) => heading !== "" && columns[at] === undefined);
  const twice = columns.filter(
    (column, at) => column !== undefined && columns.indexOf(column) !== at,
  );
  const findings = unknown.map((heading) =>
    errorAt(
      source,
      "",
      `is not a known column; ${didYouMean(heading, CSV_COLUMNS)}`,
      printable(heading),
    ),
  );
  if (twice.length > 0)
    findings.push(errorAt(source, "", `has two columns ${[...new Set(twice)].join(", ")}`));
  return findings;
}

function readEvent(
  { cells, source }: Row,
  columns: readonly unknown[],
  allowsDecimalComma: boolean,
): WrittenEvent {
  const cellOf = (column: string) => cells[columns.indexOf(column)] ?? "";
  const key = normalizedKey(cellOf("key"));
  const advertiser = normalizedKey(cellOf("advertiser"));
  const given: Record<string, unknown> = {};
  for (const column of CSV_COLUMNS) {
    const cell = cellOf(column);
    const field = fieldNamed(column);
    if (field === undefined || cell === "") continue;
    const mistake = mistakeIn(cell);
    given[column] =
      mistake === undefined
        ? field.fromCell(cell, allowsDecimalComma)
        : new DescribedInvalidValue(mistake);
  }
  const subject = joined("/", advertiser, key);
  return { format: "csv", key, advertiser, subject, given, sourceOf: () => source };
}

/** What stands at the row of sums below a table, in the languages of western Europe and in Polish. */
const BEFORE_SUM = "grand |sub[- ]?|zwischen|gesamt|eind";
const SUM = "totals?|totales?|totaal|sum|summe|somm[ea]|suma|som|razem|gesamt(?:ergebnis)?";
const AFTER_SUM = " (?:général|generale?|complessivo|końcowa)";
const SUMMARY = new RegExp(
  `^(?:${BEFORE_SUM})?(?:${SUM})(?:${AFTER_SUM})?(?:\\s*[:=(].*)?$`,
  "iu",
);

function summaryIn({
  key,
  advertiser,
  subject,
  given,
  sourceOf,
}: WrittenEvent): CatalogFinding[] {
  const texts = Object.entries({ key, advertiser, eventName: given.eventName });
  const found = texts.find(([, text]) => typeof text === "string" && SUMMARY.test(text));
  if (found === undefined) return [];
  const [column, text] = found;
  const reason = `is ${quoted(String(text))}: if that is a row of sums, remove it; it is read as an event`;
  return [{ level: "warning", subject, property: column, reason, source: sourceOf(column) }];
}

interface Row {
  readonly cells: readonly string[];
  readonly source: Source;
}

const DELIMITERS = [",", ";", "\t", "|"];

/** Some programs write the delimiter into a line of its own, for spreadsheets. */
const DELIMITER_LINE = /^sep=(.)\n/;

function readCsv(
  content: string,
  file: string,
): { rows: readonly Row[]; findings: CatalogFinding[]; delimiter: string } {
  // Within quotes, the library counts CRLF as two lines.
  const text = content.replace(/\r\n?/g, "\n");
  const delimiter = DELIMITER_LINE.exec(text)?.[1] ?? delimiterOf(text);
  const table = text.replace(DELIMITER_LINE, "");
  const first = text.length - table.length > 0 ? 2 : 1;
  let line = first;
  const rows: Row[] = [];
  const findings: CatalogFinding[] = [];
  try {
    csvLibrary().parse(table, {
      ...{ relax_column_count: true, trim: true, delimiter },
      on_record: (cells: readonly string[], { lines }) => {
        if (cells.some((cell) => cell !== "")) rows.push({ cells, source: { file, line } });
        line = first + lines;
      },
    });
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    if (code === undefined) throw error;
    findings.push(errorAt({ file, line }, "", `is not read as CSV: ${message}`));
  }
  return { rows, findings, delimiter };
}

/** The one with which the first line has the most columns that are known; or the most, if none is known. */
function delimiterOf(text: string): string {
  const [header = ""] = text.split("\n", 1);
  const columns = (delimiter: string) => header.split(delimiter);
  const amount = (delimiter: string) =>
    columns(delimiter).filter(columnOf).length * 1000 + columns(delimiter).length;
  return DELIMITERS.reduce((best, each) => (amount(each) > amount(best) ? each : best));
}

function csvLibrary(): typeof import("csv-parse/sync", { with: {
  "resolution-mode": "require",
}}) {
  return require("csv-parse/sync") as ReturnType<typeof csvLibrary>;
}
