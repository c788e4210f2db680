/**
 * What people read of a sandbox: a line for each request, without anything of its body but the name of what was created, and tables of what
 * lives there. Pure.
 */
import type { SandboxObject, SandboxRequest, SandboxSnapshot } from "./options.js";
import type { Operation } from "./routes.js";
import { count, printable } from "./text.js";

export interface Occurrence {
  readonly operation?: Operation | undefined;
  readonly created?: SandboxObject | undefined;
  readonly loggedIn?: boolean;
  /** Why it went otherwise than the platform would have it. */
  readonly because?: string | undefined;
}

export function logLine({ method, path, status }: SandboxRequest, occurrence: Occurrence): string {
  const { operation, created, loggedIn, because } = occurrence;
  const query = path.indexOf("?"); // may hold credentials
  const shown = printable(query < 0 ? path : path.slice(0, query), 80) + (query < 0 ? "" : "?…");
  const result =
    created !== undefined ? `, ${described(operation ?? "object", created)}` : loggedIn ? ", logged in" : "";
  return `${method} ${shown} ${status === 0 ? "no response" : status}${result}${because === undefined ? "" : ` (${because})`}`;
}

function described(noun: string, object: SandboxObject): string {
  return `${noun} ${object.id} "${printable(String(object[`${noun}_name`]), 60)}"`;
}

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
  const title = count(objects.length, noun);
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
