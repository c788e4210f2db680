/**
 * Where the session and the memory of a stack stand between runs, and what was deleted. A memory is found by backend
 * and stack alone: no other address, e-mail, password or cookie file hides what an interrupted run has sent.
 */
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { jsonIn, own } from "../base/index.js";
import { appendHints, cacheFolder, type Disk, readHints, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import { objectKey } from "../state/index.js";

/** @param folder the program's: a relative `cookieFile` begins there, `~/` is the home folder. @returns none if the session stays in memory. */
export function cookieFileFor(settings: Settings, folder: string): string | undefined {
  const { baseUrl, email, keepLoggedIn, authenticatePath, cookieFile } = settings;
  if (cookieFile === "none") return undefined;
  if (cookieFile !== undefined) return resolve(folder, cookieFile.replace(/^~(?=[/\\]|$)/, homedir));
  const address = baseUrl.replace(/^http:/, "https:"); // plain HTTP is for a loopback address alone
  const name = digestOf(address, email.toLowerCase(), String(keepLoggedIn), authenticatePath);
  return join(cacheFolder(), `session-${name}.json`);
}

export interface StackPlace {
  readonly backend: string;
  readonly stack: string;
}

export function memoryFolder(): string {
  return join(cacheFolder(), "stacks");
}

export function memoryPath({ backend, stack }: StackPlace, folder = memoryFolder()): string {
  return join(folder, `${digestOf(backend, stack)}.jsonl`);
}

/** Written by the program's half once it has ended well: only then what it did not declare surely leaves the state. */
export function endedPath(memory: string): string {
  return `${memory}.ended`;
}

/** Where the engine keeps states, as Pulumi finds it: environment, project file, last `pulumi login`; else empty. */
export function backendIn(environment: Readonly<Record<string, string | undefined>>, folder: string): string {
  const { PULUMI_BACKEND_URL, PULUMI_CREDENTIALS_PATH, PULUMI_HOME } = environment;
  const home = PULUMI_CREDENTIALS_PATH || PULUMI_HOME || join(homedir(), ".pulumi");
  const lastLogin = () => String(own(jsonIn(readHints(join(home, "credentials.json"))), "current") ?? "");
  return asSpelled(PULUMI_BACKEND_URL || backendOfProject(folder) || lastLogin(), folder);
}

/** One spelling for what Pulumi takes for one place, without options behind `?`, and without a database's password. */
function asSpelled(url: string, folder: string): string {
  const [place = ""] = url.trim().split("?", 1);
  const [, path] = /^file:\/\/(.*)$/.exec(place) ?? [];
  if (path === undefined) return place.replace(/^([a-z]+:\/\/)[^/]*@/i, "$1").replace(/\/+$/, "");
  const meant = resolve(folder, path.replace(/^~(?=\/|$)/, homedir));
  return `file://${existsSync(meant) ? realpathSync(meant) : meant}`;
}

const BACKEND_IN_PROJECT = /^backend:[^\n]*\n(?:[ \t]+[^\n]*\n)*?[ \t]+url:[ \t]*["']?([^\s"'#]+)/m;

function backendOfProject(folder: string): string | undefined {
  const text = readHints(join(folder, "Pulumi.yaml"));
  if (text !== "" || dirname(folder) === folder) return BACKEND_IN_PROJECT.exec(text)?.[1];
  return backendOfProject(dirname(folder));
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
