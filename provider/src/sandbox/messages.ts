/** What people read about a sandbox: a line for each request, and for each object. Pure. */
import { excerpt, printable, quoted } from "../base/index.js";
import type { Noun, SandboxObject, SandboxRequest, SandboxSnapshot } from "./options.js";

/** Leaves out the query, which may contain credentials, and all of the body but the name. */
export function requestLine({
  method,
  path,
  status,
  operation,
  created,
}: SandboxRequest): string {
  const [plainPath = "", query] = path.split("?");
  const shownPath = excerpt(printable(plainPath), 80) + (query === undefined ? "" : "?…");
  const line = `${method} ${shownPath} ${status || "no response"}`;
  if (created === undefined) return line;
  return `${line}, ${objectName(operation as Noun, created)}`;
}

export function objectLines({ advertisers, events }: SandboxSnapshot): string {
  if (advertisers.length + events.length === 0) return "Nothing lives here.";
  const lines = [
    ...advertisers.map((advertiser) => objectLine("advertiser", advertiser)),
    ...events.map((event) => objectLine("event", event)),
  ];
  return lines.join("\n");
}

export function objectLine(noun: Noun, object: SandboxObject): string {
  const { id: _, [`${noun}_name`]: _name, ...others } = object;
  return `${objectName(noun, object)} ${printable(JSON.stringify(others))}`;
}

/** `event 3 "Purchase"` */
function objectName(noun: Noun, object: SandboxObject): string {
  return `${noun} ${object.id} ${quoted(String(object[`${noun}_name`]))}`;
}
