/** What people read about a sandbox: a line for each request, and for each object. Pure. */
import { excerpt, printable, quoted } from "../base/index.js";
import type { Noun, SandboxObject, SandboxRequest } from "./options.js";

/** Leaves out the query, which may contain credentials, and all of the body but the name. */
export function requestLine(request: SandboxRequest): string {
  const { method, path, status, operation, created } = request;
  const [plainPath = "", query] = path.split("?");
  const shownPath = excerpt(printable(plainPath), 80) + (query === undefined ? "" : "?…");
  const line = `${method} ${shownPath} ${status || "no response"}`;
  if (created === undefined) return line;
  return `${line}, ${objectName(operation as Noun, created)}`;
}

export function objectLine(noun: Noun, object: SandboxObject): string {
  const { id: _, [`${noun}_name`]: _name, ...others } = object;
  return `${objectName(noun, object)} ${printable(JSON.stringify(others))}`;
}

/** `event 3 "Purchase"` */
function objectName(noun: Noun, object: SandboxObject): string {
  return `${noun} ${object.id} ${quoted(String(object[`${noun}_name`]))}`;
}
