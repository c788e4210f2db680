/**
 * The paths of session and journal files, and the list of deleted objects. A journal's path depends only on backend,
 * stack and provider: no change of address, e-mail, password or cookie file hides what an interrupted run has sent.
 *
 * The backend is found as Pulumi finds it (3.259: `pkg/workspace/creds.go`, `pkg/backend/diy`), and becomes a text that
 * differs for any two backends. Two spellings of one backend may differ too: then a run may ask a needless question.
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

/**
 * @param folder the program's, where a relative `cookieFile` begins; `~/` is the home folder.
 * @returns undefined if the session stays in memory.
 */
export function cookieFileFor(settings: Settings, folder: string): string | undefined {
  const { baseUrl, email, keepLoggedIn, authenticatePath, cookieFile } = settings;
  if (cookieFile === "none") return undefined;
  if (cookieFile !== undefined)
    return resolve(folder, cookieFile.replace(/^~(?=[/\\]|$)/, homedir));
  // HTTP and HTTPS share a session. Plain HTTP is possible for a loopback address only.
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
  /** As {@link backendIn} returns it. */
  backend: string;
  stack: string;
  /** The provider's name: each provider has a journal of its own. @default "default", the dynamic provider */
  provider?: string | undefined;
}

/**
 * The {@link StackPlace.provider} of a plugin's provider. @param name the provider resource's; a default provider's has
 * the package's version in it, which must not count.
 */
export function pluginProvider(name: string): string {
  return `plugin-${name.replace(/^default_.*/, "default")}`;
}

/** The plugin's provider if the program declares none. */
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

/**
 * The file that the program process writes once the program has ended without an error: only then is it sure that
 * undeclared resources leave the state.
 */
export function endedPath(journal: string): string {
  return `${journal}.ended`;
}

/**
 * The objects that runs on this machine have deleted, or found to be gone, so that no later run takes one of them over.
 * One file serves all stacks, since a `destroy` does not name its stack; any run may append lines. Nothing fails
 * without the file. @param account this run's. @param isSameAccount also true for the account's former names.
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
      // Begins with a newline, since a kill may have left half a line.
      appendHints(path, `\n${line}\n`, disk);
    },
  };
}

function digestOf(...parts: string[]) {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

/**
 * The stack's backend: from the environment, the project file, or the last `pulumi login`; empty if none of them names
 * one. @param folder the program's. @throws JournalError if the project file or Pulumi's credentials can't be read.
 */
export function backendIn(environment: Environment, folder: string): string {
  const { PULUMI_BACKEND_URL } = environment;
  const url = PULUMI_BACKEND_URL || backendOfProject(folder) || lastLogin(environment);
  return [normalized(url, folder), ...storeVariables(url, environment)].join(" ");
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

/** A project file as Pulumi reads it: only the first document. Pulumi checks the form. @throws the parser's Error. */
export function parseProject(text: string): Values {
  // Loaded here, since most runs need no parser.
  const { parseAllDocuments } = require("yaml") as typeof import("yaml");
  const [document] = parseAllDocuments(text, { merge: true });
  const [error] = document?.errors ?? [];
  if (error) throw error;
  return asRecord(document?.toJS());
}

/**
 * From now on, the commands in this process's messages name this stack: an inline program's by its full name, which
 * works without a project file. @param stack `<organization>/<project>/<stack>`
 */
export function setPrintedStack(stack: string): void {
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
    // Pulumi reports what is wrong with the file.
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
    // Only the first line: the parser adds an excerpt of the file.
    const [reason] = (error as Error).message.split(/:?\n/);
    throw unknownBackend(`${path} can't be read: ${reason}`, "Correct the file");
  }
}

function unknownBackend(why: string, cure: string) {
  return new JournalError(
    `Nothing was sent: ${why}. The file may name the backend, which determines this run's journal. ${cure}, and run this again.`,
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

/** Normalises an address, so that spellings of one backend are equal. Drops user names and passwords. */
function normalized(url: string, folder: string) {
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

/** By a backend's scheme, the environment variables that decide which store an address means. */
const STORE_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  s3: [
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    // A profile may name an endpoint.
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

function storeVariables(url: string, environment: Environment) {
  const [scheme = ""] = url.trim().split("://", 1);
  return (STORE_VARIABLES[scheme] ?? []).flatMap((name) => {
    const value = environment[name];
    if (!value) return [];
    if (!name.includes("CONNECTION")) return `${name}=${value}`;
    // `AccountName=a;AccountKey=…;…`: other parts may be secret keys.
    const parts = value.match(/\b(AccountName|BlobEndpoint|EndpointSuffix)=[^;]*/g) ?? [];
    return `${name}=${parts.join(";")}`;
  });
}
