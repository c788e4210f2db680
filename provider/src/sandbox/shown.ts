/**
 * What people read of a sandbox: a line for each request, with nothing of its body but the name of what was created,
 * and tables of what lives there. Pure.
 */
import type { Noun, SandboxObject, SandboxRequest, SandboxSnapshot } from "./options.js";

/** Control and direction characters could make a terminal show other text than was sent: each run becomes a space. */
export function printable(text: string, most: number): string {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return plain.length <= most ? plain : `${plain.slice(0, most - 1).toWellFormed()}…`;
}

/** `1 event`, `2 events`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

/** @param created with its noun, if the request has created something. */
export function logLine(
  { method, path, status }: SandboxRequest,
  created?: { readonly noun: string; readonly object: SandboxObject },
): string {
  const [plain = "", query] = path.split("?"); // a query may hold credentials
  const shown = `${method} ${printable(plain, 80)}${query === undefined ? "" : "?…"} ${status || "no response"}`;
  if (created === undefined) return shown;
  const { noun, object } = created;
  return `${shown}, ${noun} ${object.id} "${printable(String(object[`${noun}_name`]), 60)}"`;
}

const ADVERTISER_COLUMNS = ["id", "advertiser_name", "active"];
const EVENT_COLUMNS = [
  ...["id", "event_name", "advertiser_id", "value", "event_type_id", "segment_id"],
  ...["click_window", "view_window", "attribution"],
];

/** A table for each kind, with the platform's own names; fields that few installations have are in the JSON alone. */
export function tableOf({ advertisers, events }: SandboxSnapshot): string {
  const tables: Readonly<Record<Noun, readonly string[]>> = {
    advertiser: section("advertiser", advertisers, ADVERTISER_COLUMNS),
    event: section("event", events, EVENT_COLUMNS),
  };
  return Object.values(tables).flat().join("\n");
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
