/**
 * What lives in a sandbox, for people to read. Pure.
 */
import type { SandboxObject, SandboxSnapshot } from "./options.js";
import { printable } from "./printable.js";

const ADVERTISER_COLUMNS = ["id", "advertiser_name", "active"];
const EVENT_COLUMNS = [
  "id",
  "event_name",
  "advertiser_id",
  "value",
  "event_type_id",
  "segment_id",
  "click_window",
  "view_window",
  "attribution",
];

/** A table for each kind, with the platform's own names; fields that few installations have are in the JSON alone. */
export function tableOf({ advertisers, events }: SandboxSnapshot): string {
  return [...section("advertiser", advertisers, ADVERTISER_COLUMNS), ...section("event", events, EVENT_COLUMNS)].join(
    "\n",
  );
}

function section(noun: string, objects: readonly SandboxObject[], columns: readonly string[]): string[] {
  const title = `${objects.length} ${noun}${objects.length === 1 ? "" : "s"}`;
  if (objects.length === 0) return [title];
  const rows = [columns, ...objects.map((object) => columns.map((column) => cell(object[column])))];
  const widths = columns.map((_, index) => rows.reduce((most, row) => Math.max(most, lengthOf(row[index])), 0));
  const line = (row: readonly string[]) =>
    row.map((text, index) => text + " ".repeat((widths[index] ?? 0) - lengthOf(text))).join("  ");
  return [title, ...rows.map((row) => `  ${line(row)}`.trimEnd())];
}

function cell(value: unknown): string {
  if (value === undefined) return "";
  return printable(typeof value === "string" ? value : JSON.stringify(value), 40);
}

/** In characters as people count them, not in UTF-16 units. */
function lengthOf(text = ""): number {
  return [...text].length;
}
