/** Calls the Pulumi CLI: for the chosen stack, its state and settings, and a refresh of a few resources. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { asRecord, jsonIn } from "../base/index.js";
import { backendIn, inProject, projectFileOf } from "../journal/index.js";
import { EXPORT, type PulumiOptions, readExport, runPulumi } from "../record/index.js";
import { NAMESPACE, readSettings, settingsIn } from "../settings/index.js";
import { isInline, type StackChoice, stackOptionsIn, TEXT, textOf } from "./harness.js";

export const STACK_OPTIONS = { stack: TEXT, cwd: TEXT };
export const STATE_OPTIONS = { state: TEXT, out: TEXT, ...STACK_OPTIONS };

/**
 * The folder of the chosen project's program, where a relative `cookieFile` begins: the one that `main` in the project
 * file names, as Pulumi's engine finds it. Without a project, the chosen folder.
 */
export function programFolder(choice: StackChoice) {
  const folder = projectFolder(choice);
  const project = projectFileOf(folder);
  if (project === undefined || isInline(choice)) return folder;
  const path = resolve(dirname(project), String(inProject(folder, "main") ?? ""));
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  return dirname(path);
}

/** The folder in which Pulumi works for the chosen stack, where its project file is looked for. */
export function projectFolder({ cwd = "." }: StackChoice) {
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
    main: projectFolder(choice),
  };
  const folder = mkdtempSync(join(tmpdir(), "pulumi-advertising-"));
  try {
    writeFileSync(join(folder, "Pulumi.json"), JSON.stringify(project));
    // The path of a file backend may begin in the program's folder.
    const PULUMI_BACKEND_URL = backendIn(process.env, folder, project.main);
    const environment = { ...options.environment, PULUMI_BACKEND_URL };
    return await runPulumi(words, { ...options, environment, cwd: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type StateChoice = StackChoice & { state?: string | undefined };

/** A file's state (`-`: standard input), or the chosen stack's, whose secrets stay encrypted. @throws Error */
export async function stateOf({ state, ...choice }: StateChoice) {
  if (state === undefined) return readExport(await pulumi(EXPORT, choice));
  return readExport(await textOf(state), state);
}

/**
 * Refreshes only these; `environment` has answers for the provider's `read`. @param creates what becomes of the pending
 * creates in Pulumi's record. @throws Error with Pulumi's message.
 */
export async function refresh(
  urns: readonly string[],
  environment: NodeJS.ProcessEnv,
  choice: StackChoice,
  creates: "skip" | "clear" = "skip",
) {
  const how = ["--yes", "--skip-preview", `--${creates}-pending-creates`];
  // An empty state has no root: then it is refreshed as a whole.
  const targets = urns.filter(Boolean).map((urn) => `--target=${urn}`);
  await pulumi(["refresh", ...how, "--color=never", ...targets], choice, {
    environment,
    timeoutMs: 0,
    isOutputShown: true,
  });
}

/** The chosen stack, `<organization>/<project>/<stack>`; undefined if none is selected, or Pulumi fails. */
export async function stackName(choice: StackChoice) {
  const args = ["stack", "--show-name", "--fully-qualify-stack-names"];
  const name = await pulumi(args, choice).catch(() => undefined);
  return name?.trim();
}

/** The settings that a command sends requests with. */
export async function readingOf(choice: StackChoice) {
  const stack = await stackName(choice);
  let printed = "";
  // `login` needs neither a stack nor Pulumi; but a stack that the options name must exist.
  const needsNone = stack === undefined && stackOptionsIn(choice).length === 0;
  if (needsNone)
    console.error("No stack is selected: the settings come from the environment.");
  else printed = await pulumi(["config", "--json", "--show-secrets"], choice);
  const configured = asRecord(jsonIn(printed));
  /** As `pulumi config --json` prints it. */
  const settingOf = (key: string): { value?: string; secret?: boolean } =>
    asRecord(configured[`${NAMESPACE}:${key}`]);
  return readSettings({
    config: (key) => settingOf(key).value,
    hasNoCommand: () => needsNone,
    environment: process.env,
    keys: settingsIn(configured),
    isSecret: (key) => settingOf(key).secret === true,
  });
}
