/**
 * Where the session and the journal of a stack stand between runs, and what was deleted. A journal is found by backend
 * and stack alone: no other address, e-mail, password or cookie file hides what an interrupted run has sent.
 *
 * Which backend keeps a stack's state, as Pulumi finds it (3.259: `pkg/workspace/creds.go`, `pkg/backend/diy`), is a text
 * that differs for any two backends. The same backend in another spelling may be another text: that costs a question.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  asRecord,
  type Environment,
  JournalError,
  jsonIn,
  own,
  setCommandTarget,
  type Values,
} from "../base/index.js";
import {
  appendHints,
  cacheFolder,
  type Disk,
  readHints,
  systemDisk,
} from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import type { IsSameAccount, Settings } from "../settings/index.js";
import { objectKey, stackOption } from "../state/index.js";

/** @param folder the program's: a relative `cookieFile` begins there, `~/` is the home folder. @returns none if the session stays in memory. */
export function cookieFileFor(settings: Settings, folder: string): string | undefined {
  const { baseUrl, email, keepLoggedIn, authenticatePath, cookieFile } = settings;
  if (cookieFile === "none") return undefined;
  if (cookieFile !== undefined)
    return resolve(folder, cookieFile.replace(/^~(?=[/\\]|$)/, homedir));
  // Plain HTTP is for a loopback address alone.
  const address = baseUrl.replace(/^http:/, "https:");
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
  backend: string;
  stack: string;
  /** The name of the provider resource, each with a journal of its own. @default "default": the dynamic provider has one */
  provider?: string | undefined;
}

/** The {@link StackPlace.provider} of a plugin. @param name the provider resource's; a default one's has the package's version */
export function pluginProvider(name: string): string {
  return `plugin-${name.replace(/^default_.*/, "default")}`;
}

/** The plugin's without a provider resource in the program. */
export const DEFAULT_PROVIDER = pluginProvider("default");

export function isSameProject(one: StackPlace, other: StackPlace): boolean {
  return one.stack.split("/")[1] === other.stack.split("/")[1];
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
    read ??= new Set(
      readHints(path, disk)
        .split("\n")
        .map((line) => asRecord(jsonIn(line)))
        .filter((line) => isSameAccount(line.account))
        .map(({ deleted }) => deleted),
    );
    return read;
  };
  return {
    has: (kind: Kind["name"], id: string) => objects().has(objectKey(kind, id)),
    add(kind: Kind["name"], id: string): void {
      const object = objectKey(kind, id);
      if (objects().has(object)) return;
      objects().add(object);
      const line = JSON.stringify({ deleted: object, account });
      // A kill may have left half a line.
      appendHints(path, `\n${line}\n`, disk);
    },
  };
}

function digestOf(...parts: string[]) {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

/**
 * From the environment, the project file, or the last `pulumi login`; empty if there is none.
 * @param folder the program's. @throws JournalError if the text that says it can't be understood.
 */
export function backendIn(environment: Environment, folder: string): string {
  const { PULUMI_BACKEND_URL } = environment;
  const url = PULUMI_BACKEND_URL || backendOfProject(folder) || lastLogin(environment);
  return [asSpelled(url, folder), ...storeSettings(url, environment)].join(" ");
}

/** In the order in which Pulumi looks for them. */
const PROJECT_FILES = ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"];

/** The project file of a folder: the nearest one upwards. */
export function projectFileOf(folder: string): string | undefined {
  for (let each = resolve(folder); ; each = dirname(each)) {
    const found = PROJECT_FILES.map((name) => join(each, name)).find(existsSync);
    if (found !== undefined || dirname(each) === each) return found;
  }
}

/** As Pulumi reads it: its first document, whose form Pulumi checks. @throws Error the parser's. */
export function parseProject(text: string): Values {
  // Loaded here, since most runs need no parser.
  const { parseAllDocuments } = require("yaml") as typeof import("yaml");
  const [document] = parseAllDocuments(text, { merge: true });
  const [error] = document?.errors ?? [];
  if (error) throw error;
  return asRecord(document?.toJS());
}

/**
 * From now on, the commands that this process prints are about this stack. An inline program has no project file of its
 * own, and the stack's full name works without one. @param stack `<organization>/<project>/<stack>`
 */
export function printCommandsFor(stack: string): void {
  setCommandTarget(() => {
    const isInline = !isProjectOf(stack, process.cwd());
    return { options: ["--stack", isInline ? stack : stackOption(stack)], isInline };
  });
}

/** Whether a folder's project file is that of a stack. @param stack `<organization>/<project>/<stack>` */
export function isProjectOf(stack: string, folder: string): boolean {
  const path = projectFileOf(folder);
  if (path === undefined) return false;
  try {
    return own(parseProject(readFileSync(path, "utf8")), "name") === stack.split("/")[1];
  } catch {
    // Pulumi says what is wrong with it.
    return true;
  }
}

/** @returns an empty text if the project names none. */
function backendOfProject(folder: string) {
  const path = projectFileOf(folder);
  if (path === undefined) return "";
  try {
    const text = readFileSync(path, "utf8");
    if (!text.includes("backend")) return "";
    return String(own(own(parseProject(text), "backend"), "url") ?? "");
  } catch (error) {
    // The parser adds an excerpt.
    const [reason] = (error as Error).message.split(/:?\n/);
    throw unknownBackend(`${path} can't be read: ${reason}`, "Correct the file");
  }
}

function unknownBackend(why: string, cure: string) {
  return new JournalError(
    `Nothing was sent: ${why}. The file may name the backend, whose journal this run needs. ${cure}, and run this again.`,
  );
}

function lastLogin({ PULUMI_CREDENTIALS_PATH, PULUMI_HOME }: Environment) {
  const path = join(
    PULUMI_CREDENTIALS_PATH || PULUMI_HOME || join(homedir(), ".pulumi"),
    "credentials.json",
  );
  const credentials = jsonIn(readHints(path));
  if (own(credentials, "$pulumiSecureStore") !== undefined)
    throw unknownBackend(
      `${path} is encrypted`,
      "Set PULUMI_BACKEND_URL to the address that `pulumi whoami --verbose` prints",
    );
  return String(own(credentials, "current") ?? "");
}

/** One spelling for what Pulumi takes for one place, without a database's users and passwords. */
function asSpelled(url: string, folder: string) {
  const [address = "", ...queries] = url.trim().split("?");
  const options = new URLSearchParams(queries.join("?"));
  for (const name of [...options.keys()]) if (/password/i.test(name)) options.delete(name);
  options.sort();
  const query = options.size === 0 ? "" : `?${options}`;
  if (!address.startsWith(FILE))
    return address.replace(/^([a-z]+:\/\/)[^/]*@/i, "$1").replace(/\/+$/, "") + query;
  const path = resolve(folder, address.slice(FILE.length).replace(/^~(?=\/|$)/, homedir));
  return `${FILE}${existsSync(path) ? realpathSync(path) : path}${query}`;
}

const FILE = "file://";

/** By a backend's scheme: the variables that lead the same address to another store. */
const STORE_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  s3: [
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    // It may name an endpoint.
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_CONFIG_FILE",
  ],
  azblob: [
    "AZURE_STORAGE_ACCOUNT",
    "AZURE_STORAGE_DOMAIN",
    "AZURE_STORAGE_IS_LOCAL_EMULATOR",
    "AZURE_STORAGE_CONNECTION_STRING",
    "AZURE_STORAGEBLOB_CONNECTIONSTRING",
  ],
  gs: ["STORAGE_EMULATOR_HOST"],
  postgres: ["PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE", "PGSERVICEFILE"],
};

function storeSettings(url: string, environment: Environment) {
  const [scheme = ""] = url.trim().split("://", 1);
  return (STORE_VARIABLES[scheme] ?? []).flatMap((name) => {
    const value = environment[name];
    if (!value) return [];
    if (!name.includes("CONNECTION")) return `${name}=${value}`;
    // `AccountName=a;AccountKey=…;…`: the other parts are keys.
    const parts = value.match(/\b(AccountName|BlobEndpoint|EndpointSuffix)=[^;]*/g) ?? [];
    return `${name}=${parts.join(";")}`;
  });
}
