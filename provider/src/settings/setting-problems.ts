/**
 * What is wrong with the settings, with the command that fixes it.
 */
import { count, didYouMean, printable } from "../base/index.js";
import { environmentNameOf, NAMESPACE, SETTING_NAMES, SETTINGS, type SettingRule } from "./settings.js";

/** One setting that has to be fixed, with the command that does it. */
export interface SettingProblem {
  /** `advertising:baseUrl`, or the environment variable where the value came from there. */
  readonly source: string;
  readonly reason: string;
  readonly command: string;
}

/** The command that sets `key`; a secret is asked for by the command instead of standing in the shell's history. */
export function commandFor(key: string, { secret, structured, example }: SettingRule): string {
  if (secret) return `pulumi config set --secret ${NAMESPACE}:${key}`;
  if (structured !== undefined) return `pulumi config set --path '${NAMESPACE}:${key}.${structured.path}' '${example}'`;
  return `pulumi config set ${NAMESPACE}:${key} ${example}`;
}

/** @param noun the kind's name on the wire. */
export function searchWithoutField(noun: string): SettingProblem {
  return {
    source: `${NAMESPACE}:operations.${noun}.search`,
    reason: `needs ${NAMESPACE}:traceField, the field that each create carries its mark in`,
    command: commandFor("traceField", SETTINGS.traceField),
  };
}

export function unknownKeys(keys: readonly string[]): SettingProblem[] {
  return keys
    .filter((key) => !(SETTING_NAMES as string[]).includes(key))
    .map((key) => ({
      source: `${NAMESPACE}:${key}`,
      reason: `is not a known setting; ${didYouMean(key, SETTING_NAMES, { suggest: (name) => `${NAMESPACE}:${name}` })}`,
      command: `pulumi config rm ${NAMESPACE}:${key}`,
    }));
}

const VARIABLE_PREFIX = environmentNameOf("");

/** What is read from the environment and is no setting: `ADVERTISING_LOG`, the debug log. */
const OTHER_VARIABLES = ["log"];

/** Unlike a key of the namespace, a variable may belong to another tool: it stops nothing. Its value is never shown. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const names = [...SETTING_NAMES, ...OTHER_VARIABLES];
  const known = names.map(environmentNameOf);
  return Object.keys(environment)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && environment[name] !== undefined && !known.includes(name))
    .sort()
    .map((name) => {
      const typed = name.slice(VARIABLE_PREFIX.length);
      const hint = didYouMean(typed, names, { suggest: environmentNameOf, list: known.join(", ") });
      return `${printable(name)} is not a known environment variable and is not used; ${hint}`;
    });
}

/** One problem, with the command that fixes it. */
export function describeSettingProblem({ source, reason, command }: SettingProblem, separator = "; "): string {
  return `${source} ${reason}${separator}fix it with: ${command}`;
}

/** The problems as lines of a message. */
export function describeSettingProblems(problems: readonly SettingProblem[]): string {
  const lines = problems.map((problem) => `    ${describeSettingProblem(problem, "\n      ")}`);
  return [`  ${count(problems.length, "problem")} in the settings:`, ...lines].join("\n");
}
