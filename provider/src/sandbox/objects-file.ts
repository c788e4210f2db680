/**
 * What lives in a sandbox, kept in a file from one run to the next.
 */
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import type { SandboxSnapshot } from "./options.js";

/**
 * Reads `file`, or makes it. Finds out at once, and not when there is something to lose, whether it can be written.
 * @throws Error in words for people. A file that is something else stays as it is: it must not be overwritten.
 */
export function openObjects(file: string): SandboxSnapshot {
  let snapshot: SandboxSnapshot = { advertisers: [], events: [] };
  const isThere = existsSync(file);
  if (isThere) snapshot = read(file);
  try {
    if (isThere) closeSync(openSync(file, "r+"));
    else writeObjects(file, snapshot);
  } catch (error) {
    throw new Error(`--objects ${file} can't be written: ${(error as Error).message}`);
  }
  return snapshot;
}

/** @throws the system's error. */
export function writeObjects(file: string, snapshot: SandboxSnapshot): void {
  writeFileSync(file, JSON.stringify(snapshot, undefined, 2));
}

function read(file: string): SandboxSnapshot {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`--objects ${file} can't be read: ${(error as Error).message}`);
  }
  const fault = faultIn(content);
  if (fault !== undefined) throw new Error(`--objects ${file} holds no snapshot of a sandbox: ${fault}`);
  return content as SandboxSnapshot;
}

/** What keeps `content` from being a snapshot, as "expected …; got …"; nothing where it is one. */
function faultIn(content: unknown): string | undefined {
  if (!isObject(content)) return `expected an object with the lists advertisers and events; got ${kindOf(content)}`;
  for (const noun of ["advertisers", "events"]) {
    const list = content[noun];
    if (!Array.isArray(list)) return `expected ${noun} to be a list of objects; got ${kindOf(list)}`;
    const ids = new Set<unknown>();
    for (const [index, object] of list.entries()) {
      const place = `${noun}[${index}]`;
      if (!isObject(object)) return `expected ${place} to be an object with an id; got ${kindOf(object)}`;
      const { id } = object;
      const isId = Number.isSafeInteger(id) && (id as number) >= 0;
      if (!isId || ids.has(id)) {
        const twice = isId ? ", as an earlier one has" : "";
        return `expected ${place}.id to be an integer from 0 up, different in each; got ${kindOf(id)}${twice}`;
      }
      ids.add(id);
    }
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return "a text";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return String(value);
}
