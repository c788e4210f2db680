/**
 * What is told of a request: one line, without anything of its body but the name of what was created. Pure.
 */
import type { SandboxObject, SandboxRequest } from "./options.js";
import { printable } from "./printable.js";
import type { Operation } from "./routes.js";

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
  return `${method} ${shown} ${status === 0 ? "no answer" : status}${result}${because === undefined ? "" : ` (${because})`}`;
}

function described(noun: string, object: SandboxObject): string {
  return `${noun} ${object.id} "${printable(String(object[`${noun}_name`]), 60)}"`;
}
