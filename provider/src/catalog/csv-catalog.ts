/**
 * Reads the events of a CSV file. Spreadsheets separate with commas, semicolons or tabs, and each cell knows where it stands. A
 * column is known by its header, however that is spelled; its field (`spelling.ts`) reads its cells.
 */
import { didYouMean, letters } from "../base/index.js";
import { conversionEvent } from "../kinds/index.js";
import { quoted, type Source } from "../rules/index.js";
import { fieldNamed } from "./spelling.js";
import { errorAt, type Finding, keyOf, type WrittenCatalog, type WrittenEvent } from "./written.js";

/** In the order in which messages list them. */
const COLUMNS = [
  "key",
  "advertiser",
  "eventName",
  "value",
  "eventTypeId",
  "segmentId",
  "countUnique",
  "clickWindow",
  "viewWindow",
  "attribution",
  "existingId",
] as const;
type Column = (typeof COLUMNS)[number];

/** Absent, each row would lack it. */
const REQUIRED: readonly Column[] = ["key", "advertiser", "eventName", "value"];

/** Columns by the letters of a header: wire names and spaced names have the same letters as the arguments. */
const BY_LETTERS = new Map<string, Column>([
  ...COLUMNS.map((column) => [letters(column), column] as const),
  // The wire name of the one that is called otherwise here.
  [letters(conversionEvent.wireNames.advertiserId ?? ""), "advertiser"],
]);

export function readCsvEvents(text: string, file: string): Pick<WrittenCatalog, "events" | "findings"> {
  const knownIn = (header: readonly string[]) => header.filter((name) => BY_LETTERS.has(letters(name))).length;
  const { rows, findings: unread } = readCsv(text, file, knownIn);
  const [header, ...body] = rows;
  const top = { file, line: 1, column: 1 };
  if (header === undefined) {
    const empty = errorAt(top, "", `is empty: expected a header with ${REQUIRED.join(", ")}, and a row for each event`);
    return { events: [], findings: unread.length > 0 ? unread : [empty] };
  }
  const { columns, findings } = readHeader(header);
  const missing = REQUIRED.filter((column) => !columns.includes(column));
  if (missing.length > 0)
    findings.push(
      errorAt(header[0]?.source ?? top, "", `has no column ${missing.join(", ")}: the first row names the columns`),
    );
  // The rows would say nothing but that.
  if (missing.includes("key") || missing.includes("advertiser"))
    return { events: [], findings: [...unread, ...findings] };
  const events = body.map((row) => {
    findings.push(...strayCells(row, header), ...formulasIn(row, columns));
    return eventIn(row, columns, missing);
  });
  return { events, findings: [...unread, ...findings] };
}

function readHeader(header: readonly Cell[]) {
  const columns: (Column | undefined)[] = [];
  const findings: Finding[] = [];
  for (const { text, source } of header) {
    const column = BY_LETTERS.get(letters(text));
    if (column !== undefined && columns.includes(column)) {
      findings.push(errorAt(source, "", `the column ${quoted(text)} is there twice: both are ${column}`));
    } else if (column === undefined && text !== "") {
      findings.push(errorAt(source, "", `the column ${quoted(text)} is not known; ${didYouMean(text, COLUMNS)}`));
    }
    columns.push(column);
  }
  // Spreadsheets save columns that are empty.
  return { columns, findings };
}

/** Texts in no column: in one without a header, or beyond the last one. */
function strayCells(row: readonly Cell[], header: readonly Cell[]): Finding[] {
  return row
    .filter(({ text }, index) => text !== "" && (header[index]?.text ?? "") === "")
    .slice(0, 1)
    .map(({ text, source }) =>
      errorAt(
        source,
        "",
        `the row has more cells than the header (${quoted(text)}); put a value that contains the delimiter in quotes`,
      ),
    );
}

const isFormula = (text: string) => text.startsWith("=");

function formulasIn(row: readonly Cell[], columns: readonly (Column | undefined)[]): Finding[] {
  return row
    .filter(({ text }, index) => isFormula(text) && columns[index] !== undefined)
    .map(({ text, source }) => errorAt(source, "", `${quoted(text)} is a formula: write the value that it has`));
}

function eventIn(
  row: readonly Cell[],
  columns: readonly (Column | undefined)[],
  missing: readonly Column[],
): WrittenEvent {
  const cells = new Map<string, Cell>();
  for (const [index, column] of columns.entries()) {
    const cell = row[index];
    if (column !== undefined && cell !== undefined && !cells.has(column)) cells.set(column, cell);
  }
  const textOf = (column: Column) => cells.get(column)?.text ?? "";
  const [key, advertiser] = [keyOf(textOf("key")), keyOf(textOf("advertiser"))];
  const given: Record<string, unknown> = {};
  const told = new Set<string>(missing);
  for (const [column, { text }] of cells) {
    const field = fieldNamed(column);
    if (field === undefined || text === "") continue;
    if (isFormula(text)) told.add(column);
    else given[column] = field.fromCell(text);
  }
  const first = (row.find(({ text }) => text !== "") ?? row[0]) as Cell;
  return {
    key,
    advertiser,
    subject: [advertiser, key].filter((part) => part !== "").join("/"),
    given,
    told,
    sourceOf: (property = "key") => cells.get(property)?.source ?? first.source,
  };
}

interface Cell {
  /** Without white space at its ends. */
  readonly text: string;
  readonly source: Source;
}

const DELIMITERS = [",", ";", "\t", "|"];

/**
 * @param scoreOf how much a row looks like the header: the delimiter with which it does most is taken.
 * @returns the rows that are not empty, as far as the file could be read.
 */
function readCsv(text: string, file: string, scoreOf: (header: readonly string[]) => number) {
  // Some programs write the delimiter into a line of its own, for spreadsheets.
  const stated = /^sep=(.)\r?\n/.exec(text);
  const skipped = stated?.[0].length ?? 0;
  const scores = DELIMITERS.map((each) => scoreOf(headerWith(each, text.slice(skipped))));
  const delimiter = stated?.[1] ?? DELIMITERS[scores.indexOf(Math.max(...scores))] ?? ",";
  const bytes = Buffer.from(text);
  const at = placesIn(bytes, file);

  const cells: (Cell & { readonly row: number })[] = [];
  const findings: Finding[] = [];
  // The library counts lines, not columns; what it does know is how many bytes a cell ends at.
  let end = Buffer.byteLength(text.slice(0, skipped));
  const offset = end;
  try {
    csvLibrary().parse(bytes.subarray(offset), {
      ...TOLERANT,
      delimiter,
      cast: (value, { index, records, bytes: endOfCell }) => {
        const start = index === 0 ? afterLineBreak(bytes, end) : end + delimiter.length;
        end = offset + endOfCell;
        cells.push({ row: records, text: value.trim(), source: at(start) });
        return value;
      },
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === undefined) throw error;
    findings.push(errorAt(at(afterLineBreak(bytes, end)), "", `is not read as CSV: ${message}`));
  }
  const rows = [...Map.groupBy(cells, ({ row }) => row).values()];
  return { rows: rows.filter((row) => row.some((cell) => cell.text !== "")), findings };
}

const TOLERANT = { relax_column_count: true, trim: true } as const;

function headerWith(delimiter: string, text: string): string[] {
  try {
    return csvLibrary().parse(text, { ...TOLERANT, delimiter, to: 1 })[0] ?? [];
  } catch {
    return [];
  }
}

function afterLineBreak(bytes: Buffer, offset: number): number {
  let start = offset;
  while (bytes[start] === 0x0a || bytes[start] === 0x0d) start++;
  return start;
}

/** @returns where an offset is. Looked up only when it is asked for. */
function placesIn(bytes: Buffer, file: string): (offset: number) => Source {
  let lineStarts: number[] | undefined;
  const look = (offset: number) => {
    lineStarts ??= lineStartsIn(bytes);
    let line = lineStarts.findLastIndex((start) => start <= offset);
    if (line < 0) line = 0;
    const column = bytes.subarray(lineStarts[line], offset).toString().length + 1;
    return { line: line + 1, column };
  };
  return (offset) => {
    let place: { readonly line: number; readonly column: number } | undefined;
    const found = () => (place ??= look(offset));
    return {
      file,
      get line() {
        return found().line;
      },
      get column() {
        return found().column;
      },
    };
  };
}

function lineStartsIn(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) starts.push(at + 1);
  return starts;
}

/** Loaded when the first file is read: programs without a catalog do without it. */
function csvLibrary(): typeof import("csv-parse/sync", { with: { "resolution-mode": "require" }}) {
  return require("csv-parse/sync") as ReturnType<typeof csvLibrary>;
}
