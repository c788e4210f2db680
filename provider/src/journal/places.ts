/** The paths of session and journal files, Pulumi's project file, and the stack that printed commands name. */
import { hash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { hasValue, own, setCommandTarget } from "../base/index.js";
import { cacheFolder, type Disk, systemDisk } from "../files/index.js";
import type { Settings } from "../settings/index.js";
import { DEFAULT_ORGANIZATION, stackOption } from "../state/index.js";

/**
 * @param folder the program's, where a relative `cookieFile` begins; `~/` is the home folder.
 * @returns undefined if the session stays in memory.
 */
export function cookieFileFor(settings: Settings, folder: string) {
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

/** Names a stack. The backend is a guess, and a wrong guess is harmless (`plan/open-creates.ts`). */
export interface StackPlace {
  /** `<project>/<stack>`: a plugin isn't told its organization. */
  stack: string;
  backend: string;
}

/** @param stack `<organization>/<project>/<stack>` @param folder the one in which Pulumi works. */
export function stackPlace(stack: string, environment: NodeJS.ProcessEnv, folder: string) {
  const [, ...names] = stack.split("/");
  return { stack: names.join("/"), backend: realBackend(backendIn(environment, folder)) };
}

/** One spelling for a folder: without links, and without Pulumi's options. */
function realBackend(url: string) {
  if (!url.startsWith(FILE)) return url;
  const path = url.slice(FILE.length).replace(/\?.*$/s, "");
  try {
    return FILE + realpathSync(path);
  } catch {
    return FILE + path;
  }
}

export function journalPath(
  { run, stack, backend }: StackPlace & { run: string },
  folder: string,
) {
  return join(folder, `${digestOf(stack, backend)}.${run}.jsonl`);
}

export interface FoundJournal {
  path: string;
  /** Whether it's of the stack's place, wherever the guess of the backend is right, or of a run that Pulumi's record names. */
  isOurs: boolean;
}

/** All journal files. @param place the stack's. @param runs the runs that Pulumi's record names. */
export function findJournals(
  { folder, disk = systemDisk }: { folder: string; disk?: Disk },
  { stack, backend }: StackPlace,
  runs: ReadonlySet<string>,
) {
  if (!disk.existsSync(folder)) return [];
  const place = digestOf(stack, backend);
  const names = disk.readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return names.sort().map((name) => {
    const [digest, run = ""] = name.split(".");
    return { path: join(folder, name), isOurs: digest === place || runs.has(run) };
  });
}

function digestOf(...parts: string[]) {
  return hash("sha256", JSON.stringify(parts)).slice(0, 16);
}

/**
 * The backend's address: from the environment, the project file, or the last `pulumi login`; empty if none of them
 * names one, or the files can't be read. @param folder the one in which Pulumi works. @param base where a path begins.
 */
export function backendIn(environment: NodeJS.ProcessEnv, folder: string, base = folder) {
  const ofProject = own(inProject(folder, "backend"), "url");
  const url = String(environment.PULUMI_BACKEND_URL || ofProject || lastLogin(environment));
  if (!url.startsWith(FILE)) return url;
  return `${FILE}${resolve(base, url.slice(FILE.length).replace(/^~(?=\/|$)/, homedir))}`;
}

const FILE = "file://";

/** In the order in which Pulumi looks for them. */
const PROJECT_FILES = ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"];

/** The project file of a folder: the nearest one upwards. */
export function projectFileOf(folder: string) {
  for (let each = resolve(folder); ; each = dirname(each)) {
    const found = PROJECT_FILES.map((name) => join(each, name)).find(existsSync);
    if (found !== undefined || dirname(each) === each) return found;
  }
}

/**
 * A value of the folder's project file, as Pulumi reads it: only the first document. Undefined also if the file can't be
 * read: Pulumi reports what is wrong with it.
 */
export function inProject(folder: string, key: string) {
  const path = projectFileOf(folder);
  try {
    const text = readFileSync(path ?? "", "utf8");
    // Most runs need no parser.
    if (!text.includes(key)) return undefined;
    const { parseAllDocuments } = require("yaml") as typeof import("yaml");
    const [document] = parseAllDocuments(text, { merge: true });
    if (document?.errors.length !== 0) return undefined;
    return own(document.toJS(), key);
  } catch {
    return undefined;
  }
}

/**
 * From now on, the commands in this process's messages name this stack: an inline program's by its full name, which
 * works without a project file. @param stackNow called for each: `<organization>/<project>/<stack>`, if that is known.
 * @param folder the project's, unless the program is an inline one.
 */
export function setPrintedStack(stackNow: () => string | undefined, folder?: string) {
  setCommandTarget(() => {
    const stack = stackNow();
    if (stack === undefined) return {};
    const inline = { options: ["--stack", stack], isInline: true };
    // This process may run in the temporary folder of its project file.
    if (folder === undefined) return inline;
    if (isProjectOf(stack, process.cwd()))
      return { options: ["--stack", stackOption(stack)] };
    if (!isProjectOf(stack, folder)) return inline;
    // The program (`main`) lies outside the project's folder.
    return { options: ["--stack", stackOption(stack), "--cwd", folder] };
  });
}

/**
 * @param typed a command's `--stack`, perhaps without organization and project. @param folder the one in which Pulumi works.
 * @returns `<organization>/<project>/<stack>`; undefined if the project isn't known.
 */
export function fullStackName(typed: string | undefined, folder: string) {
  const [name, ...before] = typed?.split("/").reverse() ?? [];
  if (name === undefined || before.length === 2) return typed;
  const project = inProject(folder, "name");
  const [organization = DEFAULT_ORGANIZATION] = before;
  if (hasValue(project)) return `${organization}/${project}/${name}`;
}

/** Whether a folder's project file is that of a stack. @param stack `<organization>/<project>/<stack>` */
export function isProjectOf(stack: string, folder: string) {
  const [, project] = stack.split("/");
  const name = inProject(folder, "name") ?? project;
  return projectFileOf(folder) !== undefined && name === project;
}

function lastLogin({ PULUMI_CREDENTIALS_PATH, PULUMI_HOME }: NodeJS.ProcessEnv) {
  const home = PULUMI_CREDENTIALS_PATH || PULUMI_HOME || join(homedir(), ".pulumi");
  try {
    const text = readFileSync(join(home, "credentials.json"), "utf8");
    return own(JSON.parse(text), "current") ?? "";
  } catch {
    return "";
  }
}
