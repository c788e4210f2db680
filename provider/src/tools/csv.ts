/** CSV as RFC 4180 describes it. */

/** @param rows the first of them the header. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

/** A cell that begins like a formula would be carried out by a spreadsheet: an apostrophe keeps it text. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
