/**
 * CSV as rows of cells, each of which knows where it stands. Spreadsheets separate with commas, semicolons or tabs.
 */
import type { Source } from "../rules/index.js";
import { csvLibrary } from "./libraries.js";
import { errorAt, type Finding } from "./written.js";

export interface Cell {
  /** Without white space at its ends. */
  readonly text: string;
  readonly source: Source;
}

export interface CsvFile {
  /** Without empty rows. As far as the file could be read. */
  readonly rows: readonly (readonly Cell[])[];
  readonly findings: readonly Finding[];
}

const DELIMITERS = [",", ";", "\t", "|"];

/** @param scoreOf how much a row looks like the header: the delimiter with which it does most is taken. */
export function readCsv(text: string, file: string, scoreOf: (header: readonly string[]) => number): CsvFile {
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
