/**
 * Where the session and the journal of a stack stand between runs, and what was deleted. A journal is found by backend
 * and stack alone: no other address, e-mail, password or cookie file hides what an interrupted run has sent.
 */
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { asRecord, jsonIn } from "../base/index.js";
import {
  appendHints,
  cacheFolder,
  type Disk,
  readHints,
  systemDisk,
} from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import type { IsSameAccount, Settings } from "../settings/index.js";
import { objectKey } from "../state/index.js";

/** @param folder the program's: a relative `cookieFile` begins there, `~/` is the home folder. @returns none if the session stays in memory. */
export function cookieFileFor(settings: Settings, folder: string): string | undefined {
  const { baseUrl, email, keepLoggedIn, authenticatePath, cookieFile } = settings;
  if (cookieFile === "none") return undefined;
  if (cookieFile !== undefined)
    return resolve(folder, cookieFile.replace(/^~(?=[/\\]|$)/, homedir));
  const address = baseUrl.replace(/^http:/, "https:"); // plain HTTP is for a loopback address alone
  const name = digestOf(
    address,
    email.toLowerCase(),
    String(keepLoggedIn),
    authenticatePath,
  );
  return join(cacheFolder(), `session-${name}.json`);
}

export interface StackPlace {
  /** As {@link backendIn} says it. */
  readonly backend: string;
  readonly stack: string;
  /** The name of the provider resource, each with a journal of its own. @default "default": the dynamic provider has one */
  readonly provider?: string;
}

export function journalFolder(): string {
  return join(cacheFolder(), "stacks");
}

export function journalPath(
  { backend, stack, provider = "default" }: StackPlace,
  folder = journalFolder(),
): string {
  return join(folder, `${digestOf(backend, stack, provider)}.jsonl`);
}

/** Written by the program process once it has ended well: only then what it did not declare surely leaves the state. */
export function endedPath(journal: string): string {
  return `${journal}.ended`;
}

/**
 * The objects that runs on this machine have deleted, or found to be gone, so that no later run takes one of them over.
 * One file for all stacks, since a `destroy` does not say which it is about; any run may append lines to it. Only a
 * hint: nothing fails without it. @param account of this run. @param isSameAccount true of its former names too.
 */
export function deletedObjects(
  folder: string,
  account: string,
  isSameAccount: IsSameAccount,
  disk: Disk = systemDisk,
) {
  const path = join(folder, "deleted.lines");
  let read: Set<unknown> | undefined;
  const objects = () => {
    if (read !== undefined) return read;
    const lines = readHints(path, disk)
      .split("\n")
      .map((line) => asRecord(jsonIn(line)));
    const ours = lines.filter((line) => isSameAccount(line.account));
    read = new Set(ours.map(({ deleted }) => deleted));
    return read;
  };
  return {
    has: (kind: Kind["name"], id: string) => objects().has(objectKey(kind, id)),
    add(kind: Kind["name"], id: string): void {
      const object = objectKey(kind, id);
      if (objects().has(object)) return;
      objects().add(object);
      const line = JSON.stringify({ deleted: object, account });
      appendHints(path, `\n${line}\n`, disk); // a kill may have left half a line
    },
  };
}

function digestOf(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
