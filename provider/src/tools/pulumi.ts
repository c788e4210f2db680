/** What the Pulumi CLI is asked for the commands: the stack that is meant, its state and its settings, and the import of a changed state. */
import { execFile } from "node:child_process";
import { readFileSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { asRecord, asTyped, enumerate, printable, UsageError } from "../base/index.js";
import { environmentNameOf, NAMESPACE, readSettings, type Settings, type SettingsReading } from "../settings/index.js";
import { type StackChoice, stackOptionsIn, textOf } from "./harness.js";
import { type ExportedStack, readExport } from "./stack-export.js";

export const STACK_OPTIONS = { stack: { type: "string" }, cwd: { type: "string" } } as const;

export const STACK_HELP = `  --stack NAME           default: the selected stack
  --cwd FOLDER           the program's folder`;

/** In the order in which Pulumi looks for them. */
const PROJECT_FILES = ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"];

/**
 * The folder that the chosen project's runs are in, where a relative `cookieFile` begins: that of `main` in the nearest project file upwards,
 * as Pulumi's engine finds it. Without a project, the chosen folder.
 */
export function programFolder({ cwd = "." }: StackChoice): string {
  const project = projectAbove(resolve(cwd));
  if (project === undefined) return resolve(cwd);
  const main = resolve(dirname(project), mainIn(project));
  return statusOf(main)?.isDirectory() ? main : dirname(main);
}

/** The nearest project file upwards from a folder. */
function projectAbove(folder: string): string | undefined {
  const project = PROJECT_FILES.map((name) => join(folder, name)).find((file) => statusOf(file)?.isFile());
  return project ?? (dirname(folder) === folder ? undefined : projectAbove(dirname(folder)));
}

/** None for what can't be looked at, as Pulumi takes it. */
function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Empty where it does not say, and where the file can't be read: Pulumi then says so, and runs nothing. */
function mainIn(project: string): string {
  try {
    // Loaded here: most commands need none.
    const { parse } = require("yaml") as typeof import("yaml");
    const { main } = asRecord(parse(readFileSync(project, "utf8")));
    return typeof main === "string" ? main : "";
  } catch {
    return "";
  }
}

/** Runs it. @param input for its standard input; none where it fails. @throws Error with what it said. */
async function pulumi(args: readonly string[], choice: StackChoice, input = Promise.resolve("")): Promise<string> {
  const options = stackOptionsIn(choice).flatMap(({ option, value }) => [option, value]);
  const running = promisify(execFile)("pulumi", [...args, ...options, "--non-interactive"], {
    maxBuffer: 1024 ** 3,
    encoding: "utf8",
  });
  // Where it ends without having read all of it, its exit code and what it said tell why.
  const stdin = running.child.stdin?.on("error", () => {});
  input.then(
    (text) => stdin?.end(text),
    () => stdin?.end(),
  );
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT")
      throw new Error("the `pulumi` command is not on the PATH; to install it: https://www.pulumi.com/docs/install/");
    const folder = resolve(choice.cwd ?? ".");
    const failed = `\`pulumi ${args.slice(0, 2).join(" ")}\` failed: ${printable(stderr ?? String(error)).trimEnd()}`;
    if (projectAbove(folder) !== undefined) throw new Error(failed);
    throw new Error(
      `${failed}\nNeither ${folder} nor a folder above it has a Pulumi.yaml: --cwd takes the program's folder.`,
    );
  }
}

/** What `pulumi stack export` prints. Secrets stay encrypted. */
export function exportOf(choice: StackChoice): Promise<string> {
  return pulumi(["stack", "export"], choice);
}

/**
 * Only Pulumi's words say why one is refused; so what a lock asks for is said with every refusal.
 * @param check called right before it: it waits for the state until then, so that its own start takes no time after the check.
 * @throws Error in words.
 */
export async function importInto(choice: StackChoice, stack: ExportedStack, check: () => Promise<void>): Promise<void> {
  const text = JSON.stringify(stack);
  const checked = check().then(() => text);
  const imported = pulumi(["stack", "import"], choice, checked).catch((error: Error) => {
    const ways = [
      "nothing was changed. If Pulumi says below that the stack is locked, or that another update is in progress, let that run end, and run this again.",
      "Only if you are sure that no run is under way (an interrupted run leaves its lock):",
      `  ${asTyped("pulumi cancel")}`,
      error.message,
    ];
    throw new Error(ways.join("\n"));
  });
  await Promise.all([checked, imported]);
}

/** A tag of the stack: beside its state, so that no import overwrites it. */
const TAG = "pulumi-advertising-command";

/** @returns whether it is set: not every backend has tags, and not everyone may set them. */
export function setTag(choice: StackChoice, value: string): Promise<boolean> {
  const set = pulumi(["stack", "tag", "set", TAG, value], choice);
  return set.then(
    () => true,
    () => false,
  );
}

/** None where it can't be read. */
export function tagOf(choice: StackChoice): Promise<string | undefined> {
  const read = pulumi(["stack", "tag", "get", TAG], choice);
  return read.then(
    (text) => text.trim(),
    () => undefined,
  );
}

/** @param file or `-` for standard input. @throws Error in words. */
export async function exportIn(file: string): Promise<ExportedStack> {
  return readExport(await textOf(file), file === "-" ? undefined : file);
}

/** The state that a report reads; of the selected stack where nothing else is said. Secrets stay encrypted. @throws Error in words. */
export async function stateOf({
  state,
  ...choice
}: StackChoice & { readonly state?: string | undefined }): Promise<ExportedStack> {
  if (state === undefined) return readExport(await exportOf(choice));
  const options = stackOptionsIn(choice).map(({ option }) => option);
  if (options.length > 0) throw new UsageError(`--state already says which state: leave out ${enumerate(options)}`);
  return exportIn(state);
}

/** Some settings as runs would read them, unchecked, each from the stack or from the environment. */
export async function settingsOf<K extends keyof Settings>(
  keys: readonly K[],
  choice: StackChoice,
): Promise<Readonly<Record<string, string | undefined>>> {
  const printed = await pulumi(["config", "--json"], choice).catch(() => "{}");
  const configured = JSON.parse(printed) as Record<string, { readonly value?: string; readonly secret?: boolean }>;
  const read = async (key: K): Promise<[K, string | undefined]> => {
    const name = `${NAMESPACE}:${key}`;
    const { value, secret } = configured[name] ?? {};
    // A secret is printed where just this one is asked for: the others may need no passphrase.
    const known = secret === true ? await pulumi(["config", "get", name], choice).catch(() => undefined) : value;
    return [key, known?.trim() ?? settingInEnvironment(key)];
  };
  return Object.fromEntries(await Promise.all(keys.map(read)));
}

/** A setting as the environment has it, unchecked. */
export function settingInEnvironment(key: keyof Settings): string | undefined {
  return process.env[environmentNameOf(key)];
}

/** `<organization>/<project>/<stack>`; none where the backend does not tell. */
export async function stackName(choice: StackChoice): Promise<string | undefined> {
  const name = await pulumi(["stack", "--show-name", "--fully-qualify-stack-names"], choice).catch(() => undefined);
  return name?.trim();
}

/**
 * The settings that a command sends requests with: those of the stack, as its programs read them, or of the environment.
 * @returns the settings, and in words where they come from.
 */
export async function readingOf(choice: StackChoice): Promise<{ reading: SettingsReading; origin: string }> {
  const environment = process.env;
  const stack = await stackName(choice);
  // A machine that just logs in needs neither a stack nor Pulumi; a stack that was named must be there.
  if (stack === undefined && stackOptionsIn(choice).length === 0) {
    const reading = readSettings({ config: () => undefined, environment, mayLackPassword: false });
    return { reading, origin: "of the environment, because `pulumi stack` found no selected stack here" };
  }
  const settings = await stackSettings(choice);
  const reading = readSettings({
    config: (key) => settings.get(key)?.value,
    environment,
    keys: [...settings.keys()],
    isSecret: (key) => settings.get(key)?.secret ?? false,
    mayLackPassword: false,
  });
  return { reading, origin: `of the stack ${stack}` };
}

/** The stack's settings of our namespace, by key, as its programs read them; secrets in plain. */
async function stackSettings(
  choice: StackChoice,
): Promise<ReadonlyMap<string, { readonly value: string; readonly secret: boolean }>> {
  const printed = await pulumi(["config", "--json", "--show-secrets"], choice);
  const entries = Object.entries(JSON.parse(printed) as Record<string, { value: string; secret: boolean }>);
  const prefix = `${NAMESPACE}:`;
  return new Map(
    entries.filter(([key]) => key.startsWith(prefix)).map(([key, entry]) => [key.slice(prefix.length), entry]),
  );
}
