/**
 * Reads the settings: raw texts in, checked values or everything that is wrong with them out, each with the command that fixes it.
 * No I/O: both processes call it with what they can read.
 */
import {
  agree,
  asTyped,
  count,
  didYouMean,
  enumerate,
  nearest,
  plainShellWord,
  printable,
  shellWord,
  structureIn,
} from "../base/index.js";
import { show } from "../rules/index.js";
import { type Edit, edited, editsFor, searchedNouns } from "./operations-setting.js";
import {
  environmentNameOf,
  NAMESPACE,
  type ProxySetting,
  readProxy,
  SETTING_NAMES,
  SETTINGS,
  type SettingProblem,
  type SettingRule,
  type Settings,
} from "./settings.js";

export interface SettingsReading {
  /** The settings that could be read; where there are problems, theirs have the default or are absent. */
  readonly settings: Settings;
  /** The proxy of the environment; none where it names none, or where the platform is on this machine. */
  readonly proxy: ProxySetting | undefined;
  readonly problems: readonly SettingProblem[];
  readonly warnings: readonly string[];
  /** Where e-mail and password come from, in words. */
  readonly credentials: string;
  /** What nobody has to do anything about, such as a preview without a password. */
  readonly notes: readonly string[];
}

/** Both processes and the commands pass what they can read of the raw settings. Values are never printed. */
interface SettingsSource {
  /** The value of `advertising:<key>` in the stack's configuration. */
  readonly config: (key: string) => string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Every key of the namespace, where the process can list them. */
  readonly keys?: readonly string[];
  /** Whether a key's value is encrypted, if the process can know that. */
  readonly isSecret?: (key: string) => boolean;
  /** A preview needs no password, and a pipeline for pull requests should have none: a missing one is a note there. */
  readonly mayLackPassword: boolean;
  /** A user's unit test needs no settings at all. @default false */
  readonly mayLackAll?: boolean;
}

export function readSettings(source: SettingsSource): SettingsReading {
  const unknown = unknownKeys(source.keys ?? []);
  // A misspelt key is a problem of its own, and the only one.
  const isMisspelt = (key: keyof Settings) =>
    unknown.some(({ meant }) => meant === key) && givenIn(source, key).raw === undefined;
  const judged = SETTING_NAMES.map((key) => [key, isMisspelt(key) ? {} : judge(givenIn(source, key), source)] as const);
  const settings = Object.fromEntries(
    judged.map(([key, { value }]) => {
      // An unusable value must not keep the other checks from running: its default stands in.
      const { required, schema } = SETTINGS[key];
      return [key, value ?? (required ? undefined : schema.parse(undefined))];
    }),
  ) as unknown as Settings;
  const { proxy, problem } = readProxy(source.environment, settings.baseUrl as string | undefined);
  return {
    settings,
    proxy,
    problems: [
      ...judged.flatMap(([, { problems = [] }]) => problems),
      ...(isMisspelt("markField") ? [] : searchesWithoutField(source)),
      ...(problem === undefined ? [] : [problem]),
      ...unknown.map((each) => unknownKeyProblem(source, each)),
    ],
    warnings: [...unknownVariables(source.environment), ...plainSecrets(source)],
    credentials: credentialsIn(source),
    notes: judged.flatMap(([, { note }]) => note ?? []),
  };
}

/** One setting as it was given: the configuration counts before the environment. */
interface Given {
  readonly key: string;
  readonly rule: SettingRule;
  readonly raw: string | undefined;
  readonly isConfigured: boolean;
  /** The key or the variable where it stands, or the key where it belongs. */
  readonly label: string;
}

function givenIn({ config, environment }: SettingsSource, key: keyof Settings): Given {
  const variable = environmentNameOf(key);
  const configured = config(key);
  const raw = configured ?? environment[variable];
  const label = configured !== undefined || raw === undefined ? `${NAMESPACE}:${key}` : variable;
  return { key, rule: SETTINGS[key], raw, isConfigured: configured !== undefined, label };
}

/** A variable beside a key that is set is not used: one who has changed only that looks for the mistake elsewhere. */
function credentialsIn(source: SettingsSource): string {
  const given = (["email", "password"] as const).map((key) => givenIn(source, key));
  const unused = given.flatMap(({ key, raw, isConfigured }) => {
    const variable = environmentNameOf(key);
    return isConfigured && (source.environment[variable] ?? raw) !== raw ? [variable] : [];
  });
  const labels = given.map(({ label }) => label).join(" and ");
  if (unused.length === 0) return labels;
  const values = agree(unused.length, "has another value", "have other values");
  return `${labels} (not ${enumerate(unused)}, which ${values}: the configuration counts first)`;
}

/** The result for one setting; it has no part where the setting is absent and may be. */
interface Judged {
  readonly value?: unknown;
  readonly problems?: readonly SettingProblem[];
  readonly note?: string;
}

function judge(given: Given, { mayLackPassword, mayLackAll = false }: SettingsSource): Judged {
  const { key, rule, raw, isConfigured, label } = given;
  const command = commandFor(key, rule, raw === undefined ? undefined : rule.meant?.(raw));
  const or = rule.required ? environmentNameOf(key) : undefined;
  const problem = (reason: string) => ({ problems: [{ source: label, reason, command, or }] });
  const isEmpty = raw !== undefined && raw.trim() === "";
  if (rule.onlyToSend && (raw === undefined || isEmpty) && mayLackPassword) {
    const how = isEmpty ? `${label} is set but empty` : `${label} is not set`;
    return { note: `${how}. This preview needs none. To set it for \`pulumi up\` (or set ${or}):\n  ${command}` };
  }
  if (raw === undefined) return rule.required && !mayLackAll ? problem(`is required: ${rule.expected}`) : {};
  if (isEmpty) return problem(`is set but empty; expected ${rule.expected}`);
  const { value, refusals = [] } = readValue(rule, raw, isConfigured);
  const problems = refusals.map(({ path, reason, fix }) => ({
    source: `${label}${printable(path)}`,
    reason,
    ...(fix === undefined ? { command, or } : { command: commandForEdits(given, fix) }),
  }));
  return { value, problems };
}

interface Refusal {
  /** The path of an entry in a structured value, such as `.event.read`; empty for the whole value. */
  readonly path: string;
  readonly reason: string;
  readonly fix?: readonly Edit[];
}

/** @param isConfigured it stands in the stack's configuration, not in an environment variable. */
export function readValue(
  rule: SettingRule,
  raw: string,
  isConfigured: boolean,
): { readonly value?: unknown; readonly refusals?: readonly Refusal[] } {
  const refused = (got: string, why?: string) => ({
    refusals: [{ path: "", reason: `expected ${rule.expected}; got ${got}${why === undefined ? "" : `: ${why}`}` }],
  });
  // Pulumi hands programs what `pulumi config set --path` made as JSON text (measured with engine 3.259.0), which would pass for a
  // path or a password.
  const structure = structureIn(raw);
  if (rule.structured !== undefined) {
    if (structure === undefined) return refused(shown(rule, raw));
    const { data: value, error } = rule.schema.safeParse(structure);
    if (error === undefined) return { value };
    return {
      refusals: error.issues.map((issue) => {
        const fix = issue.code === "custom" ? (issue.params?.fix as readonly Edit[] | undefined) : undefined;
        return { path: textOf(issue.path), reason: issue.message, ...(fix === undefined ? {} : { fix }) };
      }),
    };
  }
  // Environment variables are texts and nothing else.
  if (structure !== undefined && isConfigured) return refused(`a structured value, ${show(structure)}`);
  const { data: value, error } = rule.schema.safeParse(raw);
  const objection = error === undefined ? rule.objection?.(value as string) : undefined;
  return error === undefined && objection === undefined ? { value } : refused(shown(rule, raw), objection);
}

const textOf = (path: readonly PropertyKey[]) => path.map((name) => `.${String(name)}`).join("");

/** A secret is never shown, nor is whatever an address may hold in front of its host or behind its path. */
function shown(rule: SettingRule, raw: string): string {
  return rule.secret || /[@?#]/.test(raw) ? "another value" : show(raw);
}

/** The command that sets `key`; a secret is asked for by the command instead of standing in the shell's history. */
export function commandFor(key: string, { secret, structured, example }: SettingRule, value = example): string {
  if (secret) return configCommand(`set --secret ${NAMESPACE}:${key}`);
  if (structured !== undefined)
    return configCommand(`set --path '${NAMESPACE}:${key}.${structured.path}' '${example}'`);
  return configCommand(`set ${NAMESPACE}:${key} ${plainShellWord(value)}`);
}

function configCommand(words: string): string {
  return asTyped(`pulumi config ${words}`);
}

/** The command that makes a structured setting right where it stands: in the configuration step by step, in a variable as a whole. */
function commandForEdits({ key, raw = "", isConfigured, label }: Given, edits: readonly Edit[]): string {
  if (!isConfigured)
    return printable(`export ${label}=${shellWord(JSON.stringify(edited(structureIn(raw) ?? {}, edits)))}`);
  return commandForSteps(key, edits);
}

function commandForSteps(key: string, edits: readonly Edit[]): string {
  const at = (path: readonly string[]) => {
    const names = path.map((name) => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`));
    return shellWord(`${NAMESPACE}:${key}${names.join("")}`);
  };
  const steps = edits.map(({ path, value }) =>
    value === undefined
      ? configCommand(`rm --path ${at(path)}`)
      : configCommand(`set --path ${at(path)} ${shellWord(String(value))}`),
  );
  return printable(steps.join(" && "));
}

/** A search looks for the mark that `markField` puts into each create. */
function searchesWithoutField(source: SettingsSource): SettingProblem[] {
  if (givenIn(source, "markField").raw !== undefined) return [];
  return searchedNouns(structureIn(givenIn(source, "operations").raw ?? "")).map((noun) => ({
    source: `${NAMESPACE}:operations.${noun}.search`,
    reason: `needs ${NAMESPACE}:markField, the field that each create carries its mark in`,
    command: commandFor("markField", SETTINGS.markField),
  }));
}

function isSetting(key: string): boolean {
  return (SETTING_NAMES as string[]).includes(key);
}

interface UnknownKey {
  readonly key: string;
  /** The setting that it likely is, misspelt. */
  readonly meant: keyof Settings | undefined;
}

function unknownKeys(keys: readonly string[]): UnknownKey[] {
  return keys
    .filter((key) => !isSetting(key))
    .map((key) => ({ key, meant: nearest(key, SETTING_NAMES) as keyof Settings | undefined }));
}

function unknownKeyProblem(source: SettingsSource, { key, meant }: UnknownKey): SettingProblem {
  const hint = didYouMean(key, SETTING_NAMES, { suggest: (known) => `${NAMESPACE}:${known}` });
  const there = meant === undefined || givenIn(source, meant).isConfigured ? [] : [commandToMove(source, key, meant)];
  const command = [...there, configCommand(`rm ${NAMESPACE}:${key}`)].join(" && ");
  return { source: `${NAMESPACE}:${key}`, reason: `is not a known setting; ${hint}`, command };
}

/** Sets what a misspelt key has. What is or may be a secret is asked for, and so is not printed. */
function commandToMove({ config, isSecret }: SettingsSource, key: string, meant: keyof Settings): string {
  const [rule, raw] = [SETTINGS[meant], config(key) ?? ""];
  if (rule.secret || isSecret?.(key) !== false) return commandFor(meant, { ...rule, secret: true });
  const structure = rule.structured && structureIn(raw);
  if (structure !== undefined) return commandForSteps(meant, editsFor([], structure));
  const isAccepted = readValue(rule, raw, true).refusals === undefined;
  return commandFor(meant, rule, isAccepted ? raw : rule.meant?.(raw));
}

const VARIABLE_PREFIX = environmentNameOf("");

/** `ADVERTISING_LOG`, the debug log, is read from the environment and is no setting. */
const OTHER_VARIABLES = ["log"];

/** Unlike a key of the namespace, a variable may belong to another tool: it stops nothing. Its value is never shown. */
function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
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

function plainSecrets({ config, isSecret }: SettingsSource): string[] {
  const secrets = SETTING_NAMES.filter((key) => SETTINGS[key].secret && config(key) !== undefined);
  return secrets
    .filter((key) => isSecret?.(key) === false)
    .map((key) => `${NAMESPACE}:${key} is stored in plain text. To encrypt it:\n  ${commandFor(key, SETTINGS[key])}`);
}

/** One problem, with the command that fixes it on a line of its own. */
export function describeSettingProblem({ source, reason, command, or }: SettingProblem, indent = ""): string {
  return `${source} ${reason}; to fix it${or === undefined ? "" : ` (or set ${or})`}:\n${indent}  ${command}`;
}

export function describeSettingProblems(problems: readonly SettingProblem[]): string {
  const lines = problems.map((problem) => `    ${describeSettingProblem(problem, "    ")}`);
  return [`  ${count(problems.length, "problem")} in the settings:`, ...lines].join("\n");
}
