/** Calls the Pulumi CLI: for the chosen stack, its state and settings, and a refresh of a few resources. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { asRecord, type Environment, jsonIn, UsageError } from "../base/index.js";
import { parseProject, projectFileOf } from "../journal/index.js";
import {
  EXPORT,
  type ExportedStack,
  type PulumiOptions,
  readExport,
  runPulumi,
} from "../record/index.js";
import { NAMESPACE, readSettings } from "../settings/index.js";
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

/** The folder in which Pulumi works for the chosen stack, where its project file is looked for. */
export function projectFolder({ cwd = "." }: StackChoice): string {
  return resolve(cwd);
}

/** Most commands need a project file. An inline program has none, so a temporary one is written. */
async function pulumi(
  args: readonly string[],
  choice: StackChoice,
  options: PulumiOptions = {},
) {
  const { stack = "", cwd } = choice;
  const words = [...args, ...stackOptionsIn({ stack: choice.stack })];
  if (!isInline(choice)) return runPulumi(words, { ...options, cwd });
  const project = {
    name: stack.split("/")[1],
    runtime: "nodejs",
    main: resolve(cwd ?? "."),
  };
  const folder = mkdtempSync(join(tmpdir(), "pulumi-advertising-"));
  try {
    writeFileSync(join(folder, "Pulumi.json"), JSON.stringify(project));
    return await runPulumi(words, { ...options, cwd: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type StateChoice = StackChoice & { state?: string | undefined };

/** A file's state (`-`: standard input), or the chosen stack's, whose secrets stay encrypted. @throws Error */
export async function stateOf({ state, ...choice }: StateChoice): Promise<ExportedStack> {
  if (state === undefined) return readExport(await pulumi(EXPORT, choice));
  if (stackOptionsIn(choice).length > 0)
    throw new UsageError("--state already names the state: leave out --stack and --cwd");
  return readExport(await textOf(state), state);
}

/** Refreshes only these; `environment` has answers for the provider's `read`. @throws Error with Pulumi's message. */
export async function refresh(
  urns: readonly string[],
  environment: Environment,
  choice: StackChoice,
): Promise<void> {
  const targets = urns.flatMap((urn) => ["--target", urn]);
  const how = ["--yes", "--skip-preview", "--skip-pending-creates", "--color", "never"];
  await pulumi(["refresh", ...how, ...targets], choice, {
    environment,
    timeoutMs: 0,
    isOutputShown: true,
  });
}

/** Takes all pending creates out of Pulumi's record. @param urn what is refreshed meanwhile. @throws Error */
export async function clearPendingCreates(urn: string, choice: StackChoice): Promise<void> {
  const how = ["--yes", "--skip-preview", "--clear-pending-creates", "--color", "never"];
  const options = { timeoutMs: 0, isOutputShown: true };
  await pulumi(["refresh", ...how, "--target", urn], choice, options);
}

/** The chosen stack, `<organization>/<project>/<stack>`; undefined if none is selected, or Pulumi fails. */
export async function stackName(choice: StackChoice): Promise<string | undefined> {
  const options = ["--show-name", "--fully-qualify-stack-names"];
  const name = await pulumi(["stack", ...options], choice).catch(() => undefined);
  return name?.trim();
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
