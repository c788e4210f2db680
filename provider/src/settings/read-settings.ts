/**
 * Reads the settings: raw texts in, checked values or everything that is wrong with them out, each with a command that
 * sets an example. No I/O: both processes call it with what they can read.
 */
import { asTyped, count, didYouMean, plainShellWord, printable, shellWord, structureIn } from "../base/index.js";
import { show } from "../rules/index.js";
import {
  environmentNameOf,
  NAMESPACE,
  type ProxySetting,
  readProxy,
  SETTING_NAMES,
  SETTINGS,
  type SettingProblem,
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
  const readings = SETTING_NAMES.map((key) => ({ key, ...readSetting(key, source) }));
  // An unusable value must not keep the other checks from running: its default stands in.
  const values = readings.map(({ key, value }) => [key, value ?? SETTINGS[key].schema.safeParse(undefined).data]);
  const settings = Object.fromEntries(values) as unknown as Settings;
  const { proxy, problem } = readProxy(source.environment, settings.baseUrl as string | undefined);
  return {
    settings,
    proxy,
    problems: [
      ...readings.flatMap(({ problems = [] }) => problems),
      ...searchesWithoutField(settings),
      ...(problem === undefined ? [] : [problem]),
      ...unknownKeys(source.keys ?? []),
    ],
    warnings: [...unknownVariables(source.environment), ...plainSecrets(source), ...quotedPassword(source)],
    credentials: (["email", "password"] as const).map((key) => givenIn(source, key).label).join(" and "),
    notes: readings.flatMap(({ note }) => note ?? []),
  };
}

/** The configuration counts before the environment. What is empty is not set. */
function givenIn({ config, environment }: SettingsSource, key: keyof Settings) {
  const variable = environmentNameOf(key);
  const raw = config(key) ?? environment[variable];
  const isConfigured = raw === undefined || config(key) !== undefined;
  /** The key or the variable where it stands, or the key where it belongs. */
  const label = isConfigured ? `${NAMESPACE}:${key}` : variable;
  return { raw: raw?.trim() === "" ? undefined : raw, isConfigured, label };
}

/** It has no part where the setting is absent and may be. */
interface ReadSetting {
  readonly value?: unknown;
  readonly problems?: readonly SettingProblem[];
  readonly note?: string;
}

function readSetting(key: keyof Settings, source: SettingsSource): ReadSetting {
  const { raw, isConfigured, label } = givenIn(source, key);
  const { schema, expected, example, secret, structured, required, onlyToSend } = SETTINGS[key];
  const refused = (reason: string): ReadSetting => {
    const or = required ? environmentNameOf(key) : undefined;
    return { problems: [{ source: label, reason, command: commandFor(key), or }] };
  };
  if (raw === undefined && onlyToSend && source.mayLackPassword) {
    const how = `${label} is not set. This preview needs none. To set it for \`pulumi up\``;
    return { note: `${how} (or set ${environmentNameOf(key)}):\n  ${commandFor(key)}` };
  }
  if (raw === undefined) return required && !source.mayLackAll ? refused(`is required: ${expected}`) : {};

  // A login with it would be spent in vain.
  if (secret && /[\r\n]$/.test(raw)) {
    const command = isConfigured ? commandFor(key) : filtered(label, "tr -d '\\r\\n'");
    return { problems: [{ source: label, reason: "ends in a line end, which no login takes", command }] };
  }

  // Pulumi hands programs what `pulumi config set --path` made as JSON text (measured with engine 3.259.0), which would
  // pass for a path or a password. Environment variables are texts and nothing else.
  const structure = structureIn(raw);
  if (!structured && structure !== undefined && isConfigured)
    return refused(`expected ${expected}; got a structured value, ${show(structure)}`);
  const { data: value, error } = schema.safeParse(structured ? structure : raw);
  if (structured && error !== undefined) {
    // Each wrong entry: in the configuration it is removed, a variable is set as a whole.
    const problems = error.issues.map(({ message, path }) => {
      const entry = printable(`${label}${path.join("")}`);
      const whole = `export ${label}=${shellWord(example)}`;
      return { source: entry, reason: message, command: isConfigured ? remove(`--path ${shellWord(entry)}`) : whole };
    });
    return { problems };
  }
  // A secret is never shown, nor is whatever an address may hold in front of its host or behind its path.
  const got = secret || /[@?#]/.test(raw) ? "another value" : show(raw);
  const isText = structured !== undefined && structure === undefined;
  return error !== undefined || isText ? refused(`expected ${expected}; got ${got}`) : { value };
}

/** The command that sets `key`; a secret is asked for by the command instead of standing in the shell's history. */
function commandFor(key: keyof Settings): string {
  const { secret, example, structured } = SETTINGS[key];
  const words = structured ? `--path ${structured}` : `${NAMESPACE}:${key} ${plainShellWord(example)}`;
  return asTyped(`pulumi config set ${secret ? `--secret ${NAMESPACE}:${key}` : words}`);
}

/** The command that sets a variable to what a filter leaves of it, so that its value is not typed again. */
function filtered(variable: string, filter: string): string {
  return `export ${variable}="$(printf %s "$${variable}" | ${filter})"`;
}

function remove(words: string): string {
  return asTyped(`pulumi config rm ${words}`);
}

/** A search looks for the mark that `markField` puts into each create. */
function searchesWithoutField({ operations, markField }: Settings): SettingProblem[] {
  if (markField !== undefined) return [];
  const searched = Object.entries(operations?.of ?? {}).filter(([, { search }]) => search !== undefined);
  return searched.map(([noun]) => ({
    source: `${NAMESPACE}:operations.${noun}.search`,
    reason: `needs ${NAMESPACE}:markField, the field that each create carries its mark in`,
    command: commandFor("markField"),
  }));
}

function unknownKeys(keys: readonly string[]): SettingProblem[] {
  const unknown = keys.filter((key) => !(SETTING_NAMES as string[]).includes(key));
  return unknown.map((key) => ({
    source: `${NAMESPACE}:${key}`,
    reason: `is not a known setting; ${didYouMean(key, SETTING_NAMES, (known) => `${NAMESPACE}:${known}`)}`,
    command: remove(`${NAMESPACE}:${key}`),
  }));
}

/** Unlike a key of the namespace, a variable may belong to another tool: it stops nothing. Its value is never shown. */
function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const prefix = environmentNameOf("");
  // The debug log, and what `pending` hands to a refresh, are no settings.
  const known = [...SETTING_NAMES, "log", "answers"].map(environmentNameOf);
  const given = Object.keys(environment).filter((name) => environment[name] !== undefined && name.startsWith(prefix));
  const unknown = given.filter((name) => !known.includes(name)).sort();
  return unknown.map((name) => {
    const hint = didYouMean(name.slice(prefix.length), SETTING_NAMES, environmentNameOf);
    return `${printable(name)} is not a known environment variable and is not used; ${hint}`;
  });
}

function plainSecrets({ config, isSecret }: SettingsSource): string[] {
  const isPlain = (key: keyof Settings) => config(key) !== undefined && isSecret?.(key) === false;
  const plain = SETTING_NAMES.filter((key) => SETTINGS[key].secret && isPlain(key));
  return plain.map((key) => `${NAMESPACE}:${key} is stored in plain text. To encrypt it:\n  ${commandFor(key)}`);
}

/** A real password may be in quotes, so this stops nothing. Tools that read files of variables often leave them there. */
function quotedPassword(source: SettingsSource): string[] {
  const { raw = "", isConfigured, label } = givenIn(source, "password");
  if (!/^(?:(["'`]).+\1|“.+”|‘.+’)$/.test(raw)) return [];
  const isCurly = /^[“‘]/.test(raw);
  // Curly ones as they are: for some shells each of them is three characters.
  const unquote = isCurly ? `s/^${raw[0]}//;s/${raw.at(-1)}$//` : "s/^.//;s/.$//";
  const command = isConfigured ? commandFor("password") : filtered(label, `sed '${unquote}'`);
  const doubt = "is in quotes, which are sent as part of it. If they do not belong to it, set it without them";
  return [`${label} ${doubt}:\n  ${command}`];
}

/** One problem, with the command that fixes it on a line of its own. */
export function describeSettingProblem({ source, reason, command, or }: SettingProblem, indent = ""): string {
  return `${source} ${reason}; to fix it${or === undefined ? "" : ` (or set ${or})`}:\n${indent}  ${command}`;
}

export function describeSettingProblems(problems: readonly SettingProblem[]): string {
  const lines = problems.map((problem) => `    ${describeSettingProblem(problem, "    ")}`);
  return [`  ${count(problems.length, "problem")} in the settings:`, ...lines].join("\n");
}
