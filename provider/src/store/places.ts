/**
 * Where the files of a run stand between runs: its session, and beside it the journals, one folder for each address and account.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { cacheFolder, type Disk, systemDisk } from "../files/index.js";
import type { Settings } from "../settings/index.js";

export type Account = Pick<Settings, "baseUrl" | "email">;

export interface Places {
  /** None where the session is kept in memory only. */
  readonly cookieFile: string | undefined;
  readonly journalFolder: string;
}

export interface StorePaths {
  readonly journal: string;
  readonly objects: string;
  /** What the last run left that ended cleanly. */
  readonly runEnd: string;
  /** What was answered of its creates since the last `up` that went through. */
  readonly settlements: string;
}

/** @param folder the program's, which a relative `cookieFile` begins at. */
export function placesFor(settings: Settings, folder: string): Places {
  const { keepLoggedIn, authenticatePath, cookieFile } = settings;
  // Sessions of one account that must not be taken for each other.
  return placesOf(settings, `${keepLoggedIn ? "long-lived" : "short"} ${authenticatePath}`, cookieFile, folder);
}

/**
 * @param cookieFile the setting: a path, relative to `folder`, or `none`; absent for the user's cache folder.
 * @param mode distinguishes the sessions of one account: a long-lived one is not taken for a short one.
 */
export function placesOf(account: Account, mode: string, cookieFile: string | undefined, folder: string): Places {
  const cache = cacheFolder();
  const names = namesOf(account);
  const explicit = cookieFile === undefined || cookieFile === "none" ? undefined : resolve(folder, cookieFile);
  const byDefault = cookieFile === "none" ? undefined : join(cache, `session-${digestOf(...names, mode)}.json`);
  const prefix = explicit === undefined ? join(cache, "journal-") : `${explicit}.journal-`;
  // An earlier version named the folder by the settings as they are written.
  const former = prefix + digestOf(account.baseUrl, account.email);
  return {
    cookieFile: explicit ?? byDefault,
    journalFolder: existsSync(former) ? former : prefix + digestOf(...names),
  };
}

/** @param stack `<organization>/<project>/<stack>` */
export function pathsIn(journalFolder: string, stack: string): StorePaths {
  return pathsOf(join(journalFolder, digestOf(stack)));
}

function pathsOf(name: string): StorePaths {
  return { journal: `${name}.jsonl`, objects: `${name}.live`, runEnd: `${name}.ended`, settlements: `${name}.settled` };
}

/** The files of every stack that has any of which {@link pathsIn} knows the names. */
export function everyStackIn(journalFolder: string, disk: Disk): StorePaths[] {
  const names = namesIn(journalFolder, disk).flatMap((name) => /^(.+)\.(jsonl|live)$/.exec(name)?.[1] ?? []);
  return [...new Set(names)].map((name) => pathsOf(join(journalFolder, name)));
}

/** Of all stacks of the account: an object is read without its stack's name. */
export function seenIn(journalFolder: string): string {
  return join(journalFolder, "objects.seen");
}

/** The files of every journal of this stack that a run on this machine may have written with this setting, of whichever account. */
export function stackPathsHere(stack: string, cookieFile: string | undefined, folder: string): StorePaths[] {
  return journalFoldersHere(cookieFile, folder)
    .map((journals) => pathsIn(journals, stack))
    .filter(({ journal }) => existsSync(journal));
}

/** @param cookieFile as for {@link placesOf}, or absent where it is not known. */
function journalFoldersHere(cookieFile: string | undefined, folder: string): string[] {
  const isOurs = (name: string, prefix: string) => name.startsWith(prefix) && /journal-[0-9a-f]{16}$/.test(name);
  const below = (parent: string, prefix: string) =>
    namesIn(parent, systemDisk)
      .filter((name) => isOurs(name, prefix))
      .map((name) => join(parent, name));
  const explicit = cookieFile === undefined || cookieFile === "none" ? undefined : resolve(folder, cookieFile);
  return [
    ...below(cacheFolder(), "journal-"),
    ...(explicit === undefined ? [] : below(dirname(explicit), `${basename(explicit)}.journal-`)),
  ];
}

function namesIn(folder: string, disk: Disk): string[] {
  try {
    return disk.readdirSync(folder);
  } catch {
    return []; // no run has written there
  }
}

/**
 * Two spellings that `accountOf` takes for one account have one journal: a create that was noted under the one is found under the other.
 * Plain HTTP is for a loopback address alone, so the scheme distinguishes no accounts.
 */
function namesOf({ baseUrl, email }: Account): string[] {
  return [baseUrl.replace(/^http:/, "https:"), email.toLowerCase()];
}

/** A short name that does not tell what it was made of. */
function digestOf(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
