/**
 * Where the session and the memory of a stack stand between runs, and what was deleted. A memory is found by backend
 * and stack alone: no other address, e-mail, password or cookie file hides what an interrupted run has sent.
 */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { appendHints, cacheFolder, type Disk, readHints, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import { objectKey } from "../state/index.js";

/** @param folder the program's: a relative `cookieFile` begins there. @returns none if the session stays in memory. */
export function cookieFileFor(settings: Settings, folder: string): string | undefined {
  const { baseUrl, email, keepLoggedIn, authenticatePath, cookieFile } = settings;
  if (cookieFile === "none") return undefined;
  if (cookieFile !== undefined) return resolve(folder, cookieFile);
  const address = baseUrl.replace(/^http:/, "https:"); // plain HTTP is for a loopback address alone
  const name = digestOf(address, email.toLowerCase(), String(keepLoggedIn), authenticatePath);
  return join(cacheFolder(), `session-${name}.json`);
}

export interface StackPlace {
  /** As {@link backendIn} says it. */
  readonly backend: string;
  readonly stack: string;
  /** The name of the provider resource, each with a memory of its own. @default "default": the dynamic provider has one */
  readonly provider?: string;
}

export function memoryFolder(): string {
  return join(cacheFolder(), "stacks");
}

export function memoryPath({ backend, stack, provider = "default" }: StackPlace, folder = memoryFolder()): string {
  return join(folder, `${digestOf(backend, stack, provider)}.jsonl`);
}

/** Written by the program's half once it has ended well: only then what it did not declare surely leaves the state. */
export function endedPath(memory: string): string {
  return `${memory}.ended`;
}

/**
 * The objects that runs on this machine have deleted, or found to be gone, so that no later run takes one of them over.
 * One file for all stacks, since a `destroy` does not say which it is about; any run may append lines to it. Only a
 * hint: nothing fails without it. @param account of this run.
 */
export function deletedObjects(folder: string, account: string, disk: Disk = systemDisk) {
  const path = join(folder, "deleted.lines");
  const lineOf = (kind: Kind["name"], id: string) => JSON.stringify({ deleted: `${objectKey(kind, id)} ${account}` });
  let read: Set<string> | undefined;
  const lines = () => {
    read ??= new Set(readHints(path, disk).split("\n"));
    return read;
  };
  return {
    has: (kind: Kind["name"], id: string) => lines().has(lineOf(kind, id)),
    add(kind: Kind["name"], id: string): void {
      const line = lineOf(kind, id);
      if (lines().has(line)) return;
      lines().add(line);
      appendHints(path, `\n${line}\n`, disk); // a kill may have left half a line
    },
  };
}

function digestOf(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
