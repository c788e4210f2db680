/**
 * Reads the settings: raw texts in, checked values or everything that is wrong with them out, each with a command that
 * sets an example. No I/O: both processes call it with what they can read.
 */
import {
  asTyped,
  count,
  didYouMean,
  type Environment,
  jsonIn,
  plainShellWord,
  printable,
  shellWord,
} from "../base/index.js";
import { defaultOf, show } from "../rules/index.js";
import { type ProxySetting, readProxy } from "./proxy.js";
import {
  environmentNameOf,
  NAMESPACE,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingProblem,
  type Settings,
} from "./settings.js";

export interface SettingsReading {
  /** The settings that could be read; where there are problems, theirs have the default or are absent. */
  settings: Settings;
  /** The proxy of the environment; `undefined` if it names none, or if the platform is on this machine. */
  proxy: ProxySetting | undefined;
  problems: readonly SettingProblem[];
  warnings: readonly string[];
  /** Where e-mail and password come from, for messages. */
  credentialsSource: string;
  /** What nobody has to do anything about, such as a preview without a password. */
  notes: readonly string[];
}

/** What a process can read of the raw settings. Values are never printed. */
interface SettingsSource {
  /** The value of `advertising:<key>` in the stack's configuration. */
  config: (key: string) => string | undefined;
  environment: Environment;
  /** Every key of the namespace, where the process can list them. */
  keys?: readonly string[];
  /** Whether a key's value is encrypted, if the process can know that. */
  isSecret?: (key: string) => boolean;
  /** A preview needs no password, and a pipeline for pull requests should have none: a missing one is a note there. */
  mayLackPassword: boolean;
  /** A user's unit test needs no settings at all. @default false */
  mayLackAll?: boolean;
}

export function readSettings(source: SettingsSource): SettingsReading {
  const { environment, keys = [] } = source;
  const problems: SettingProblem[] = [];
  const notes: string[] = [];
  // An unusable value must not keep the other checks from running: its default stands in.
  const values = SETTING_NAMES.map((key) => {
    const value = readSetting(key, source, problems, notes);
    return [key, value ?? defaultOf(SETTINGS[key].schema)];
  });
  const settings: Settings = Object.fromEntries(values);
  problems.push(...searchesWithoutField(settings));
  const proxy = readProxy(environment, settings.baseUrl, problems);
  problems.push(...unknownKeys(keys));
  return {
    settings,
    proxy,
    problems,
    warnings: [...unknownVariables(environment), ...passwordWarnings(source)],
    credentialsSource: `${givenIn(source, "email").label} and ${givenIn(source, "password").label}`,
    notes,
  };
}

/** The configuration counts before the environment. What is empty is not set. */
function givenIn({ config, environment }: SettingsSource, key: SettingName) {
  const variable = environmentNameOf(key);
  const configured = config(key);
  const raw = configured ?? environment[variable];
  const belongsInConfig = configured !== undefined || raw === undefined;
  /** The key or the variable where it stands, or the key where it belongs. */
  const label = belongsInConfig ? `${NAMESPACE}:${key}` : variable;
  return { raw: raw?.trim() === "" ? undefined : raw, belongsInConfig, label };
}

/** @returns `undefined` if the setting is absent or can't be used. */
function readSetting(
  key: SettingName,
  source: SettingsSource,
  problems: SettingProblem[],
  notes: string[],
) {
  const { raw, belongsInConfig, label } = givenIn(source, key);
  const { schema, expected, secret, structured, required } = SETTINGS[key];
  const command = commandFor(key);
  const refuse = (reason: string) => {
    problems.push({ source: label, reason, command });
  };
  if (raw === undefined) {
    const variable = environmentNameOf(key);
    const note = `${label} is not set. This preview needs none. To set it for \`pulumi up\``;
    if (secret && source.mayLackPassword)
      notes.push(`${note} (or set ${variable}):\n  ${asTyped(command)}`);
    else if (required && !source.mayLackAll)
      refuse(`is required (or ${variable}): ${expected}`);
    return undefined;
  }
  // A login with it would be spent in vain.
  if (secret && /[\r\n]$/.test(raw))
    return refuse("ends with a line break, which no login accepts");
  // Pulumi hands programs what `pulumi config set --path` made as JSON text.
  const data = structured === undefined ? raw : (jsonIn(raw) ?? raw);
  const { data: value, error } = schema.safeParse(data);
  if (!error) return value;
  const inside = error.issues.filter(({ path }) => path.length > 0);
  for (const { message: reason, path } of inside) {
    const entry = printable(`${label}.${path.join(".")}`);
    const removal = `pulumi config rm --path ${shellWord(entry)}`;
    problems.push({ source: entry, reason, command: belongsInConfig ? removal : command });
  }
  if (inside.length > 0) return undefined;
  // A secret is never shown, nor is whatever an address may hold in front of its host or behind its path.
  const isHidden = secret || /[@?#[{]/.test(raw);
  return refuse(`expected ${expected}; got ${isHidden ? "another value" : show(raw)}`);
}

/** The command that sets `key`; a secret is asked for by the command instead of standing in the shell's history. */
function commandFor(key: SettingName) {
  const { secret, structured, schema } = SETTINGS[key];
  const { example = String(defaultOf(schema)) } = SETTINGS[key];
  if (secret) return `pulumi config set --secret ${NAMESPACE}:${key}`;
  if (structured !== undefined) return `pulumi config set --path ${structured}`;
  return `pulumi config set ${NAMESPACE}:${key} ${plainShellWord(example)}`;
}

/** A search looks for the mark that `markField` puts into each create. */
function searchesWithoutField({ operations, markField }: Settings) {
  const known = Object.values(operations?.of ?? {});
  if (markField !== undefined || known.every(({ search }) => search === undefined))
    return [];
  const reason = `has a search, which needs ${NAMESPACE}:markField, where each create carries its mark`;
  return [{ source: `${NAMESPACE}:operations`, reason, command: commandFor("markField") }];
}

function unknownKeys(keys: readonly string[]) {
  const unknown = keys.filter((key) => !(SETTING_NAMES as string[]).includes(key));
  return unknown.map((key) => ({
    source: `${NAMESPACE}:${key}`,
    reason: `is not a known setting (${didYouMean(key, SETTING_NAMES, (known) => `${NAMESPACE}:${known}`)})`,
    command: `pulumi config rm ${NAMESPACE}:${key}`,
  }));
}

/** Unlike a key of the namespace, a variable may belong to another tool: it stops nothing. Its value is never shown. */
function unknownVariables(environment: Environment) {
  const prefix = environmentNameOf("");
  // The debug log, and what `pending` hands to a refresh, are no settings.
  const known = [...SETTING_NAMES, "log", "answers"].map(environmentNameOf);
  const ours = Object.keys(environment).filter((name) => name.startsWith(prefix));
  const unknown = ours.filter((name) => !known.includes(name));
  return unknown.map((name) => {
    const hint = didYouMean(name.slice(prefix.length), SETTING_NAMES, environmentNameOf);
    return `${printable(name)} is not a known environment variable and is not used; ${hint}`;
  });
}

const QUOTED = /^(?:(["'`]).+\1|“.+”|‘.+’)$/;

/** A real password may be in quotes, so they stop nothing. Tools that read files of variables often leave them there. */
function passwordWarnings(source: SettingsSource) {
  const { raw = "", belongsInConfig, label } = givenIn(source, "password");
  const isInClear =
    belongsInConfig && raw !== "" && source.isSecret?.("password") === false;
  const reasons: string[] = [];
  if (isInClear) reasons.push("is stored in plain text. To encrypt it");
  if (QUOTED.test(raw))
    reasons.push("is in quotes, which are sent as part of it. To set it without them");
  return reasons.map(
    (reason) => `${label} ${reason}:\n  ${asTyped(commandFor("password"))}`,
  );
}

/** One problem, with the command that fixes it on a line of its own. */
export function describeSettingProblem(
  { source, reason, command }: SettingProblem,
  indent = "",
): string {
  // Which stack it is about is known only now.
  const typed = command.startsWith("pulumi ") ? asTyped(command) : command;
  return `${source} ${reason}; to fix it:\n${indent}  ${typed}`;
}

export function describeSettingProblems(problems: readonly SettingProblem[]): string {
  const lines = problems.map((problem) => `    ${describeSettingProblem(problem, "    ")}`);
  return [`  ${count(problems.length, "problem")} in the settings:`, ...lines].join("\n");
}
