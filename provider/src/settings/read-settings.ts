/**
 * Reads the settings: raw texts in, checked values or everything that is wrong with them out. No I/O: both processes call it
 * with what they can read.
 */
import { show } from "../rules/index.js";
import { searchedNouns } from "./operations-setting.js";
import { type ProxySetting, readProxy } from "./proxy.js";
import {
  commandFor,
  type SettingProblem,
  searchWithoutField,
  unknownKeys,
  unknownVariables,
} from "./setting-problems.js";
import { environmentNameOf, NAMESPACE, SETTING_NAMES, SETTINGS, type SettingRule, type Settings } from "./settings.js";

export interface SettingsReading {
  /** What could be read; where there are problems, their settings have the default or are empty. */
  readonly settings: Settings;
  /** The proxy of the environment; none where it names none, or where the platform is on this machine. */
  readonly proxy: ProxySetting | undefined;
  readonly problems: readonly SettingProblem[];
  readonly warnings: readonly string[];
}

/** Where raw settings come from. Values are never printed. */
export interface SettingsSource {
  /** The value of `advertising:<key>` in the stack's configuration. */
  readonly config: (key: string) => string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Every key of the namespace, where the process can list them. */
  readonly keys?: readonly string[];
  /** Whether a key's value is encrypted, where the process can tell. */
  readonly isSecret?: (key: string) => boolean;
  /** A preview needs no password: a missing one is a warning there. */
  readonly mayLackPassword: boolean;
  /** A user's unit test needs no settings at all. @default false */
  readonly mayLackAll?: boolean;
}

/** Reads and checks all settings at once. */
export function readSettings(source: SettingsSource): SettingsReading {
  const values: Record<string, unknown> = {};
  const problems: SettingProblem[] = [];
  const warnings: string[] = [];

  const isUnset = (key: string) =>
    source.config(key) === undefined && source.environment[environmentNameOf(key)] === undefined;

  for (const key of SETTING_NAMES) {
    const rule = SETTINGS[key];
    const configured = source.config(key);
    const variable = environmentNameOf(key);
    const raw = configured ?? source.environment[variable];
    const label = configured !== undefined || raw === undefined ? `${NAMESPACE}:${key}` : variable;
    const isEmpty = raw !== undefined && raw.trim() === "";
    const command = `${commandFor(key, rule)}${rule.required ? ` (or set ${variable})` : ""}`;

    if (key === "password" && (raw === undefined || isEmpty) && source.mayLackPassword) {
      const how = isEmpty ? `${label} is set but empty` : `${label} is not set`;
      warnings.push(`${how}: this preview goes on without a password, \`pulumi up\` will need one: ${command}`);
    } else if (raw === undefined) {
      if (rule.required && source.mayLackAll !== true)
        problems.push({ source: label, reason: `is required: ${rule.expected}`, command });
    } else if (isEmpty) {
      problems.push({ source: label, reason: `is set but empty; expected ${rule.expected}`, command });
    } else {
      const { value, refusals } = readValue(rule, raw, configured !== undefined);
      if (refusals === undefined) values[key] = value;
      else problems.push(...refusals.map(({ path, reason }) => ({ source: `${label}${path}`, reason, command })));
    }
    // An unusable value must not keep the other checks from running.
    if (!(key in values)) values[key] = rule.required ? undefined : rule.schema.parse(undefined);
  }

  if (isUnset("traceField")) {
    const raw = source.config("operations") ?? source.environment[environmentNameOf("operations")] ?? "";
    for (const noun of searchedNouns(structureIn(raw))) problems.push(searchWithoutField(noun));
  }
  const { proxy, problem } = readProxy(source.environment, values.baseUrl as string | undefined);
  if (problem !== undefined) problems.push(problem);
  problems.push(...unknownKeys(source.keys ?? []));
  warnings.push(...unknownVariables(source.environment));
  if (source.config("password") !== undefined && source.isSecret !== undefined && !source.isSecret("password")) {
    warnings.push(`${NAMESPACE}:password is stored in plain text: ${commandFor("password", SETTINGS.password)}`);
  }
  return { settings: values as unknown as Settings, proxy, problems, warnings };
}

interface Refusal {
  /** Of the entry of a structured value, such as `.event.read`; empty for the whole value. */
  readonly path: string;
  readonly reason: string;
}

/** @param isConfigured whether it stands in the stack's configuration; otherwise in an environment variable. */
export function readValue(
  rule: SettingRule,
  raw: string,
  isConfigured: boolean,
): { readonly value?: unknown; readonly refusals?: readonly Refusal[] } {
  const refused = (got: string, why?: string) => ({
    refusals: [{ path: "", reason: `expected ${rule.expected}; got ${got}${why === undefined ? "" : `: ${why}`}` }],
  });
  const structure = structureIn(raw);
  if (rule.structured !== undefined) {
    if (structure === undefined) return refused(shown(rule, raw));
    const { data: value, error } = rule.schema.safeParse(structure);
    if (error === undefined) return { value };
    return { refusals: error.issues.map(({ path, message }) => ({ path: textOf(path), reason: message })) };
  }
  // Environment variables are texts and nothing else.
  if (structure !== undefined && isConfigured) return refused(`a structured value, ${show(structure)}`);
  const { data: value, error } = rule.schema.safeParse(raw);
  const objection = error === undefined ? rule.objection?.(value as string) : undefined;
  return error === undefined && objection === undefined ? { value } : refused(shown(rule, raw), objection);
}

/**
 * The object or list that a text holds, if any: Pulumi hands programs what `pulumi config set --path` made as JSON text
 * (measured with engine 3.259.0), which would pass for a path or a password.
 */
function structureIn(raw: string): object | undefined {
  if (!/^\s*[{[]/.test(raw)) return undefined;
  try {
    // What begins with a bracket and is JSON is an object or a list.
    return JSON.parse(raw) as object;
  } catch {
    return undefined; // a text that just begins like one
  }
}

const textOf = (path: readonly PropertyKey[]) => path.map((name) => `.${String(name)}`).join("");

/** A secret is never shown, nor is whatever an address may hold in front of its host or behind its path. */
function shown(rule: SettingRule, raw: string): string {
  return rule.secret || /[@?#]/.test(raw) ? "another value" : show(raw);
}
