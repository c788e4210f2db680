/**
 * Where files are kept between runs: a user's cache folder, one name for each address and account.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import envPaths from "env-paths";

/** What files are kept apart by. */
export interface Account {
  readonly baseUrl: string;
  readonly email: string;
}

export interface Places {
  /** None where the session is kept in memory only. */
  readonly cookieFile: string | undefined;
  /** The folder of the notes about creates; beside the cookie file. */
  readonly journalFolder: string;
}

/**
 * @param cookieFile the setting: a path, relative to `folder`, or `none`; absent for the user's cache folder.
 * @param mode what sessions differ by besides: a long-lived one is not taken for a short one.
 */
export function placesOf(account: Account, mode: string, cookieFile: string | undefined, folder: string): Places {
  const cache = cacheFolder();
  const name = digestOf(account.baseUrl, account.email);
  const byDefault = join(cache, `session-${digestOf(account.baseUrl, account.email, mode)}.json`);
  if (cookieFile === undefined) return { cookieFile: byDefault, journalFolder: join(cache, `journal-${name}`) };
  if (cookieFile === "none") return { cookieFile: undefined, journalFolder: join(cache, `journal-${name}`) };
  const file = resolve(folder, cookieFile);
  return { cookieFile: file, journalFolder: join(dirname(file), `${basename(file)}.journal-${name}`) };
}

/**
 * The notes of a stack under its account's former address go on under the current one, unless there are some already.
 * @param from `<host>[:<port>][/<path>] <e-mail>`. @param files the names of the stack's files in a journal folder.
 */
export function moveNotes(
  from: string,
  to: Account,
  files: readonly string[],
  cookieFile: string | undefined,
  folder: string,
): void {
  const [place = "", typed = ""] = from.split(" ");
  // `from` has it in lower case; most often it is the same as now.
  const email = typed === to.email.toLowerCase() ? to.email : typed;
  const current = placesOf(to, "", cookieFile, folder).journalFolder;
  for (const scheme of ["https", "http"]) {
    const former = placesOf({ baseUrl: `${scheme}://${place}`, email }, "", cookieFile, folder).journalFolder;
    for (const name of former === current ? [] : files) {
      if (!existsSync(join(former, name)) || existsSync(join(current, name))) continue;
      mkdirSync(current, { recursive: true, mode: 0o700 });
      renameSync(join(former, name), join(current, name));
    }
  }
}

/**
 * Every stack's journal on this machine that a run may have written with this setting, of whichever account.
 * @param cookieFile as for {@link placesOf}, or absent where it is not known.
 */
export function journalsOnThisMachine(cookieFile: string | undefined, folder: string): string[] {
  const isOurs = (name: string, prefix: string) => name.startsWith(prefix) && /journal-[0-9a-f]{16}$/.test(name);
  const below = (parent: string, prefix: string) =>
    namesIn(parent)
      .filter((name) => isOurs(name, prefix))
      .map((name) => join(parent, name));
  const explicit = cookieFile === undefined || cookieFile === "none" ? undefined : resolve(folder, cookieFile);
  const folders = [
    ...below(cacheFolder(), "journal-"),
    ...(explicit === undefined ? [] : below(dirname(explicit), `${basename(explicit)}.journal-`)),
  ];
  return folders.flatMap((journals) =>
    namesIn(journals)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(journals, name)),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no run has written there
  }
}

/** What this package keeps for a user between runs. */
export function cacheFolder(): string {
  return envPaths("pulumi-advertising", { suffix: "" }).cache;
}

/** A short name that does not tell what it was made of. */
export function digestOf(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
