/**
 * Turns raw settings into checked values and a list of all problems, each with a command that sets an example. No I/O:
 * each process passes in what it can read.
 */
import {
  didYouMean,
  inStack,
  jsonIn,
  mapValues,
  plainShellWord,
  printable,
  SettingsError,
  shellWord,
  withPage,
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
  /** The settings; one with a problem has its default, or is undefined. */
  settings: Settings;
  /** The proxy of the environment; `undefined` if it names none, or if the platform is on this machine. */
  proxy: ProxySetting | undefined;
  problems: readonly SettingProblem[];
  warnings: readonly string[];
  /** The settings that come from environment variables. */
  inherited: readonly SettingName[];
  /** Where e-mail and password come from, for messages. */
  credentialsSource: string;
}

/** The raw settings that a process can read. Values are never printed. */
interface SettingsSource {
  /** The value of a provider's argument, or of `advertising:<key>` in the stack's configuration. */
  config: (key: string) => string | undefined;
  /** Whether a command can't change the value: a provider's argument has it, or there is no stack. @default false */
  hasNoCommand?: ((key: string) => boolean) | undefined;
  environment: NodeJS.ProcessEnv;
  /** Every key of the namespace, if the process can list them. */
  keys?: readonly string[];
  /** Whether a key's value is encrypted; undefined if the process can't know that: then it may be. */
  isSecret?: (key: string) => boolean | undefined;
  /** True in a preview, where a missing password is only a warning: pipelines for pull requests should have none. */
  mayLackPassword?: boolean;
  /** True in a user's unit test, which needs no settings at all. @default false */
  mayLackAll?: boolean;
}

export function readSettings(source: SettingsSource): SettingsReading {
  const { environment, keys = [], hasNoCommand } = source;
  const problems: SettingProblem[] = [];
  const warnings: string[] = [];
  // The default replaces an unusable value, so that the other checks still run.
  const settings = mapValues(
    SETTINGS,
    ({ schema }, key) => readSetting(key, source, problems, warnings) ?? defaultOf(schema),
  ) as Settings;
  const { operations, markField } = settings;
  const hasSearch = Object.values(operations?.of ?? {}).some(({ search }) => search);
  // A search looks for the mark that each create carries in that field.
  if (hasSearch && markField === undefined)
    problems.push({
      source: labelOf(source, "operations"),
      reason: "has a search, which needs markField, where each create carries its mark",
      command: commandFor("markField"),
    });
  const proxy = readProxy(environment, settings.baseUrl, problems);
  for (const key of keys.filter((each) => !Object.hasOwn(SETTINGS, each)))
    problems.push({
      source: labelOf(source, key),
      reason: key.startsWith("operations.")
        ? "was set without --path"
        : `is not a known setting (${didYouMean(key, SETTING_NAMES)})`,
      command: `pulumi config rm ${NAMESPACE}:${key}`,
    });
  return {
    settings,
    proxy,
    problems: problems.map(({ command, ...problem }) => {
      // The command would set the stack's setting, which an argument overrides.
      const [name = ""] = problem.source.split(".", 1);
      return hasNoCommand?.(name) ? problem : { ...problem, command };
    }),
    warnings,
    inherited: SETTING_NAMES.filter((key) => !givenIn(source, key).belongsInConfig),
    credentialsSource: `${givenIn(source, "email").label} and ${givenIn(source, "password").label}`,
  };
}

/** The keys of this package's settings in a stack's configuration. */
export function settingsIn(configuration: object) {
  const prefix = `${NAMESPACE}:`;
  return Object.keys(configuration).flatMap((key) =>
    key.startsWith(prefix) ? key.slice(prefix.length) : [],
  );
}

/** The name of the stack's setting, or of the provider's argument that overrides it. */
function labelOf({ hasNoCommand }: SettingsSource, key: string) {
  return hasNoCommand?.(key) ? key : `${NAMESPACE}:${key}`;
}

/** The comment on a pull request leaves this out. */
export const NEEDS_NO_PASSWORD = "This preview needs none.";

/**
 * A setting's raw value: the configuration's, or else the environment's; an empty one counts as not set. `label` is the
 * key or variable that has the value; for a missing value, the key.
 */
function givenIn(source: SettingsSource, key: SettingName) {
  const { config, environment } = source;
  const variable = environmentNameOf(key);
  const configured = {
    raw: config(key),
    belongsInConfig: true,
    label: labelOf(source, key),
  };
  const inherited = { raw: environment[variable], belongsInConfig: false, label: variable };
  return (
    [configured, inherited].find(({ raw }) => raw?.trim()) ?? {
      ...configured,
      raw: undefined,
    }
  );
}

/** @returns `undefined` if the setting is absent or can't be used. */
function readSetting(
  key: SettingName,
  source: SettingsSource,
  problems: SettingProblem[],
  warnings: string[],
) {
  const { raw, belongsInConfig, label } = givenIn(source, key);
  const { schema, expected, secret, structured, required } = SETTINGS[key];
  const command = commandFor(key);
  const refuse = (reason: string) => {
    problems.push({ source: label, reason, command });
  };
  if (raw === undefined) {
    const variable = environmentNameOf(key);
    if (secret && source.mayLackPassword)
      warnings.push(
        `${label} is not set. ${NEEDS_NO_PASSWORD} ` +
          `For \`pulumi up\`, set ${variable}, or:\n  ${inStack(command)}`,
      );
    else if (required && !source.mayLackAll)
      refuse(`is required (or ${variable}): ${expected}`);
    return undefined;
  }
  // A value that was set with `pulumi config set --path` arrives as JSON text.
  const json = jsonIn(raw) ?? raw;
  const isParsed = structured || (belongsInConfig && typeof json === "object");
  const given = isParsed ? json : raw;
  const { data: value, error } = schema.safeParse(given);
  const isEncrypted = belongsInConfig ? source.isSecret?.(key) : undefined;
  // Only a warning: such a password works.
  if (secret && isEncrypted === false)
    warnings.push(
      `${label} is stored in plain text. To encrypt it:\n  ${inStack(command)}`,
    );
  if (!error) return value;
  const mayBeSecret = secret || (belongsInConfig && isEncrypted !== false);
  const inside = error.issues.filter(({ path }) => path.length > 0);
  // Another text may contain user info, a query, a fragment or JSON.
  const hidden = mayBeSecret ? /; got .*/s : /; got .*[@?#[{].*/s;
  for (const { message, path } of inside) {
    const [, hint] = /^is not a known argument(.*)/s.exec(message) ?? [];
    // An unknown name may be a secret in the wrong place.
    if (mayBeSecret && hint !== undefined) {
      const place = [label, ...path.slice(0, -1)].join(".");
      problems.push({ source: place, reason: `has an unknown name${hint}` });
      continue;
    }
    const entry = printable([label, ...path].join("."));
    const removal = `pulumi config rm --path ${shellWord(entry)}`;
    problems.push({
      source: entry,
      reason: message.replace(hidden, ""),
      command: belongsInConfig ? removal : command,
    });
  }
  if (inside.length > 0) return undefined;
  return refuse(
    `expected ${expected}; got ${show(given)}`.replace(hidden, "; got another value"),
  );
}

/** The command that sets `key`. For a secret it has no value: Pulumi asks for it, so it isn't in the shell's history. */
function commandFor(key: SettingName) {
  const { secret, structured, schema, example = String(defaultOf(schema)) } = SETTINGS[key];
  if (secret) return `pulumi config set --secret ${NAMESPACE}:${key}`;
  if (structured !== undefined) return `pulumi config set --path ${structured}`;
  return `pulumi config set ${NAMESPACE}:${key} ${plainShellWord(example)}`;
}

/** The problems in a provider process. @param ofProgram the settings that the program's process has from variables. */
export function problemsBeside(
  { problems, inherited }: SettingsReading,
  ofProgram: readonly string[] = [],
) {
  const unreached = SETTING_NAMES.filter(
    (key) => ofProgram.includes(key) && !inherited.includes(key),
  ).map((key) => ({
    source: `${NAMESPACE}:${key}`,
    reason:
      `is set by the program, as ${environmentNameOf(key)}, but its provider is another process. Set the variable ` +
      "before Pulumi starts, or the stack's setting",
    command: commandFor(key),
  }));
  const all = [...problems, ...unreached];
  return [...new Map(all.map((problem) => [problem.source, problem])).values()];
}

/** Describes a problem, with the command that fixes it on a line of its own. */
export function describeSettingProblem(
  { source, reason, command }: SettingProblem,
  indent = "",
) {
  if (command === undefined) return `${source} ${reason}`;
  // Completed only now, when the stack is known.
  const typed = command.startsWith("pulumi ") ? inStack(command) : command;
  return `${source} ${reason}; to fix it:\n${indent}  ${typed}`;
}

/** Each problem, with its page. */
export function settingFailures(problems: readonly SettingProblem[]) {
  return problems.map((each) => withPage(describeSettingProblem(each), SettingsError));
}

export function describeSettingProblems(problems: readonly SettingProblem[]) {
  const lines = problems.map((problem) => `    ${describeSettingProblem(problem, "    ")}`);
  return ["  settings:", ...lines].join("\n");
}
