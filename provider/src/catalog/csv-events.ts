/**
 * The events in the rows of a CSV file: which column is which, whatever its header's spelling.
 */

import { didYouMean, letters } from "../base/index.js";
import { conversionEvent } from "../kinds/index.js";
import { show } from "../rules/index.js";
import { fieldNamed } from "./catalog-fields.js";
import { type Cell, readCsv } from "./csv-file.js";
import { keyOf } from "./keys.js";
import { errorAt, type Finding, type WrittenEvent } from "./written.js";

/** In the order in which they are told. */
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

/** By the letters of a header. Wire names and spaced names have the letters of the arguments'. */
const BY_LETTERS = new Map<string, Column>([
  ...COLUMNS.map((column) => [letters(column), column] as const),
  // The wire name of the one that is called otherwise here.
  [letters(conversionEvent.wireNames.advertiserId ?? ""), "advertiser"],
]);

export interface CsvEvents {
  readonly events: readonly WrittenEvent[];
  readonly findings: readonly Finding[];
}

export function readCsvEvents(text: string, file: string): CsvEvents {
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
      findings.push(errorAt(source, "", `column ${show(text)} is there twice: both are ${column}`));
    } else if (column === undefined && text !== "") {
      findings.push(errorAt(source, "", `column ${show(text)} is not known; ${didYouMean(text, COLUMNS)}`));
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
      errorAt(source, "", `${show(text)} stands in no column; a text with the delimiter in it needs quotes`),
    );
}

const isFormula = (text: string) => text.startsWith("=");

function formulasIn(row: readonly Cell[], columns: readonly (Column | undefined)[]): Finding[] {
  return row
    .filter(({ text }, index) => isFormula(text) && columns[index] !== undefined)
    .map(({ text, source }) => errorAt(source, "", `${show(text)} is a formula: write the value that it has`));
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
