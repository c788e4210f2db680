/** Calls the Pulumi CLI: for the chosen stack, its state and settings, and a refresh of a few resources. */
import { type ExecFileException, execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { asRecord, joined, jsonIn, listIn, printable, UsageError } from "../base/index.js";
import { parseProject, projectFileOf } from "../journal/index.js";
import {
  accountMatcher,
  mayBeSameAccount,
  NAMESPACE,
  readSettings,
} from "../settings/index.js";
import { type ExportedStack, readExport } from "./contents.js";
import { isInline, type StackChoice, stackOptionsIn, TEXT, textOf } from "./harness.js";

export const STACK_OPTIONS = { stack: TEXT, cwd: TEXT };

export const STACK_HELP = `  --stack NAME           default: the selected stack
  --cwd FOLDER           the program's folder`;

export const STATE_OPTIONS = { state: TEXT, out: TEXT, ...STACK_OPTIONS };

export const STATE_HELP = `  --state FILE           what \`pulumi stack export\` printed (- for standard input)
${STACK_HELP}`;

/**
 * The folder of the chosen project's program, where a relative `cookieFile` begins: the one that `main` in the project
 * file names, as Pulumi's engine finds it. Without a project, the chosen folder.
 */
export function programFolder(choice: StackChoice): string {
  const { cwd = "." } = choice;
  const project = isInline(choice) ? undefined : projectFileOf(cwd);
  if (project === undefined) return resolve(cwd);
  let main: unknown;
  try {
    ({ main } = parseProject(readFileSync(project, "utf8")));
  } catch {
    // Pulumi reports what is wrong with the file, and runs nothing.
  }
  const path = resolve(dirname(project), String(main ?? ""));
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : dirname(path);
}

/** Most commands need a project file. An inline program has none, so a temporary one is written. */
async function pulumi(args: readonly string[], choice: StackChoice, environment = {}) {
  if (!isInline(choice)) return run(args, choice, environment);
  const { stack = "", cwd = "." } = choice;
  const project = { name: stack.split("/")[1], runtime: "nodejs", main: resolve(cwd) };
  const folder = mkdtempSync(join(tmpdir(), "pulumi-advertising-"));
  try {
    writeFileSync(join(folder, "Pulumi.json"), JSON.stringify(project));
    return await run(args, { stack, cwd: folder }, environment);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(args: readonly string[], choice: StackChoice, environment: object) {
  const words = [...args, ...stackOptionsIn(choice), "--non-interactive"];
  const env = { ...process.env, ...environment };
  const running = promisify(execFile)("pulumi", words, { maxBuffer: 1024 ** 3, env });
  running.child.stdin?.end();
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as ExecFileException;
    if (code === "ENOENT")
      throw new Error(
        "the `pulumi` command is not on the PATH; to install it: https://www.pulumi.com/docs/install/",
      );
    // A refresh prints its errors on standard output.
    const output = args[0] === "refresh" ? `${stderr}\n${stdout}` : stderr;
    const reason = joined("\n", ...output.split("\n").map(printable)) || String(error);
    throw new Error(`\`pulumi ${args.slice(0, 2).join(" ")}\` failed: ${reason}`);
  }
}

export type StateChoice = StackChoice & { state?: string | undefined };

/** A file's state (`-`: standard input), or the chosen stack's, whose secrets stay encrypted. @throws Error */
export async function stateOf({ state, ...choice }: StateChoice): Promise<ExportedStack> {
  if (state === undefined) return readExport(await pulumi(["stack", "export"], choice));
  if (stackOptionsIn(choice).length > 0)
    throw new UsageError("--state already names the state: leave out --stack and --cwd");
  return readExport(await textOf(state), state);
}

/** Refreshes only these; `environment` has answers for the provider's `read`. @throws Error with Pulumi's message. */
export async function refresh(
  urns: readonly string[],
  environment: object,
  choice: StackChoice,
): Promise<void> {
  const targets = urns.flatMap((urn) => ["--target", urn]);
  const how = ["--yes", "--skip-preview", "--skip-pending-creates", "--color", "never"];
  await pulumi(["refresh", ...how, ...targets], choice, environment);
}

/** The chosen stack, `<organization>/<project>/<stack>`; undefined if none is selected, or Pulumi fails. */
export async function stackName(choice: StackChoice): Promise<string | undefined> {
  const options = ["--show-name", "--fully-qualify-stack-names"];
  const name = await pulumi(["stack", ...options], choice).catch(() => undefined);
  return name?.trim();
}

/**
 * The project's stacks, `<organization>/<project>/<stack>`. @param stack one of them.
 * @throws Error with Pulumi's message.
 */
export async function existingStacks(
  choice: StackChoice,
  stack: string,
): Promise<string[]> {
  const [organization = "", project = ""] = stack.split("/");
  const stacks = jsonIn(await pulumi(["stack", "ls", "--json"], choice));
  // Pulumi leaves out a default organization and project.
  return listIn<{ name: string }>(stacks).map(({ name }) => {
    const [last, owner = organization] = name.split("/").toReversed();
    return `${owner}/${project}/${last}`;
  });
}

/** A function that compares two recorded accounts by the stack's settings. */
export async function accountComparer(
  choice: StackChoice,
): Promise<typeof mayBeSameAccount> {
  const printed = await pulumi(["config", "--json"], choice).catch(() => "");
  const isOurs = accountMatcher(readingIn(printed).settings);
  return (one, other) => mayBeSameAccount(one, other) || (isOurs(one) && isOurs(other));
}

/** The settings that a command sends requests with. */
export async function readingOf(choice: StackChoice) {
  const stack = await stackName(choice);
  // `login` needs neither a stack nor Pulumi; but a stack that the options name must exist.
  if (stack === undefined && stackOptionsIn(choice).length === 0) {
    console.error("No stack is selected: the settings come from the environment.");
    return readingIn("");
  }
  return readingIn(await pulumi(["config", "--json", "--show-secrets"], choice));
}

/** @param printed by `pulumi config --json`; empty without a stack. */
function readingIn(printed: string) {
  const configured = asRecord(jsonIn(printed)) as Readonly<
    Record<string, { value?: string; secret?: boolean }>
  >;
  const prefix = `${NAMESPACE}:`;
  const ours = Object.keys(configured).filter((key) => key.startsWith(prefix));
  return readSettings({
    config: (key) => configured[prefix + key]?.value,
    environment: process.env,
    keys: ours.map((key) => key.slice(prefix.length)),
    isSecret: (key) => configured[prefix + key]?.secret ?? false,
    mayLackPassword: false,
  });
}
