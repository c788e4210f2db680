/**
 * The settings of a stack: names, environment variables, defaults and rules. Raw texts in, checked values or everything
 * that is wrong with them out. No I/O: both processes call it with what they can read.
 */
import { z } from "zod";
import { ownerOf } from "../kinds/registry.js";
import { THIRTY_DAYS_IN_SECONDS } from "../kinds/vocabulary.js";
import { count, printable } from "../text.js";
import { nearest } from "../validation/nearest.js";
import { show } from "../validation/show.js";
import { isLoopback } from "./loopback.js";
import { type ProxySetting, readProxy } from "./proxy.js";

/** The configuration namespace, and the module part of the type tokens. */
export const NAMESPACE = "advertising";

/** The checked settings. Times in seconds; docs/settings.md has the table. */
export interface Settings {
  /** Ends without a slash; path prefix kept. */
  readonly baseUrl: string;
  readonly email: string;
  /** Absent only where a preview may do without. */
  readonly password: string | undefined;
  readonly authMode: "session" | "basic";
  readonly keepLoggedIn: boolean;
  /** Below `baseUrl`, without a slash in front. */
  readonly authenticatePath: string;
  /** A path, `none`, or absent for the default place. */
  readonly cookieFile: string | undefined;
  readonly maxWindowSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly maxWaitSeconds: number;
  readonly maxConcurrentRequests: number;
  readonly traceField: string | undefined;
}

/** One setting that has to be fixed, with the command that does it. */
export interface SettingProblem {
  /** `advertising:baseUrl`, or the environment variable where the value came from there. */
  readonly source: string;
  readonly reason: string;
  readonly command: string;
}

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
}

interface SettingRule {
  readonly schema: z.ZodType;
  readonly expected: string;
  readonly example: string;
  /** Why a value of the right form is refused all the same. */
  readonly objection?: (value: string) => string | undefined;
  readonly secret?: true;
  readonly required?: true;
}

const baseUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const scheme = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url === undefined || !scheme || url.username || url.password || /[?#]/.test(text)) {
    context.addIssue("not an address of the platform");
    return z.NEVER;
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
});

const authenticatePath = z
  .string()
  .trim()
  .regex(/^\/?[\w.~/-]+$/)
  .refine((path) => !path.startsWith("//") && !path.split("/").includes(".."))
  .transform((path) => path.replace(/^\/+/, ""));

const truth = z.stringbool({ truthy: ["true"], falsy: ["false"] });

function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^\s*\d{1,12}\s*$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));
}

/** A day: whatever is waited or allowed for longer is a mistake in the unit. */
const MAX_SECONDS = 86_400;

const RULES = {
  baseUrl: {
    schema: baseUrl,
    expected: "https://… without user info, query or fragment (http only to a loopback address)",
    example: "https://platform.example.com",
    required: true,
  },
  email: {
    schema: z
      .string()
      .trim()
      .regex(/^[^\s:\p{Cc}]+$/u),
    expected: "the login name, without spaces or colons",
    example: "you@example.com",
    required: true,
  },
  password: { schema: z.string().min(1), expected: "the password", example: "", secret: true, required: true },
  authMode: {
    schema: z.enum(["session", "basic"]).default("session"),
    expected: "session or basic",
    example: "session",
  },
  keepLoggedIn: { schema: truth.default(false), expected: "true or false", example: "false" },
  authenticatePath: {
    schema: authenticatePath.default("rest/authenticate"),
    expected: "a path below the base URL",
    example: "rest/authenticate",
  },
  cookieFile: {
    schema: z
      .string()
      .trim()
      .min(1)
      .regex(/^\P{Cc}+$/u)
      .optional(),
    expected: "a file's path, or none",
    example: "none",
  },
  maxWindowSeconds: {
    schema: wholeNumber(1, 2_147_483_647).default(THIRTY_DAYS_IN_SECONDS),
    expected: "whole seconds from 1 up",
    example: String(THIRTY_DAYS_IN_SECONDS),
  },
  requestTimeoutSeconds: {
    schema: wholeNumber(1, MAX_SECONDS).default(30),
    expected: `whole seconds from 1 to ${MAX_SECONDS}`,
    example: "30",
  },
  maxWaitSeconds: {
    schema: wholeNumber(0, MAX_SECONDS).default(120),
    expected: `whole seconds from 0 to ${MAX_SECONDS}`,
    example: "120",
  },
  maxConcurrentRequests: {
    schema: wholeNumber(1, 1000).default(16),
    expected: "a whole number from 1 to 1000",
    example: "16",
  },
  traceField: {
    schema: z
      .string()
      .trim()
      .regex(/^[A-Za-z_][\w.-]{0,99}$/)
      .refine((name) => name !== "__proto__")
      .optional(),
    expected: "the wire name of a request field that belongs to no argument",
    example: "alternative_id",
    objection: (name) => {
      const owner = ownerOf(name);
      return owner === undefined ? undefined : `each create's mark would overwrite the argument ${owner}`;
    },
  },
} satisfies Record<keyof Settings, SettingRule>;

/** The known keys of the namespace. */
export const SETTING_NAMES = Object.keys(RULES) as (keyof Settings)[];

/** `requestTimeoutSeconds` → `ADVERTISING_REQUEST_TIMEOUT_SECONDS`. */
export function environmentNameOf(key: string): string {
  return `ADVERTISING_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** The command that sets `key`; a secret is asked for by the command instead of standing in the shell's history. */
function commandFor(key: keyof Settings): string {
  const rule: SettingRule = RULES[key];
  return rule.secret
    ? `pulumi config set --secret ${NAMESPACE}:${key}`
    : `pulumi config set ${NAMESPACE}:${key} ${rule.example}`;
}

/** Reads and checks all settings at once. */
export function readSettings(source: SettingsSource): SettingsReading {
  const values: Record<string, unknown> = {};
  const problems: SettingProblem[] = [];
  const warnings: string[] = [];

  for (const key of SETTING_NAMES) {
    const rule: SettingRule = RULES[key];
    const variable = environmentNameOf(key);
    const configured = source.config(key);
    const raw = configured ?? source.environment[variable];
    const label = configured !== undefined || raw === undefined ? `${NAMESPACE}:${key}` : variable;
    const empty = raw !== undefined && raw.trim() === "";
    const command = `${commandFor(key)}${rule.required ? ` (or set ${variable})` : ""}`;

    if (key === "password" && (raw === undefined || empty) && source.mayLackPassword) {
      const how = empty ? `${label} is set but empty` : `${label} is not set`;
      warnings.push(`${how}: this preview goes on without a password, \`pulumi up\` will need one: ${command}`);
    } else if (raw === undefined && rule.required) {
      problems.push({ source: label, reason: `is required: ${rule.expected}`, command });
    } else if (empty) {
      problems.push({ source: label, reason: `is set but empty; expected ${rule.expected}`, command });
    } else {
      const structure = structureOf(configured);
      const parsed = rule.schema.safeParse(raw);
      const objection = parsed.success ? rule.objection?.(parsed.data as string) : undefined;
      const fits = structure === undefined && parsed.success && objection === undefined;
      if (fits) values[key] = parsed.data;
      else {
        const got = structure === undefined ? shown(rule, raw) : `a structured value, ${structure}`;
        const why = objection === undefined ? "" : `: ${objection}`;
        problems.push({ source: label, reason: `expected ${rule.expected}; got ${got}${why}`, command });
      }
    }
    // An unusable value must not keep the other checks from running.
    if (!(key in values)) values[key] = rule.required ? undefined : rule.schema.parse(undefined);
  }

  const { proxy, problem } = readProxy(source.environment, values.baseUrl as string | undefined);
  if (problem !== undefined) problems.push(problem);
  problems.push(...unknownKeys(source.keys ?? []));
  warnings.push(...unknownVariables(source.environment));
  if (source.config("password") !== undefined && source.isSecret !== undefined && !source.isSecret("password")) {
    warnings.push(`${NAMESPACE}:password is stored in plain text: ${commandFor("password")}`);
  }
  return { settings: values as unknown as Settings, proxy, problems, warnings };
}

/**
 * Which structure `pulumi config set --path` gave a setting, if any: Pulumi hands it to programs as JSON text (measured
 * with engine 3.259.0), which would pass for a path or a password. Environment variables are texts and nothing else.
 */
function structureOf(configured: string | undefined): string | undefined {
  if (configured === undefined || !/^\s*[{[]/.test(configured)) return undefined;
  try {
    // What begins with a bracket and is JSON is an object or a list.
    return show(JSON.parse(configured));
  } catch {
    return undefined; // a text that just begins like one
  }
}

/** A secret is never shown, nor is whatever an address may hold in front of its host or behind its path. */
function shown(rule: SettingRule, raw: string | undefined): string {
  return rule.secret || (raw !== undefined && /[@?#]/.test(raw)) ? "another value" : show(raw);
}

function unknownKeys(keys: readonly string[]): SettingProblem[] {
  return keys
    .filter((key) => !(SETTING_NAMES as string[]).includes(key))
    .map((key) => {
      const meant = nearest(key, SETTING_NAMES);
      const hint =
        meant === undefined ? `known are ${SETTING_NAMES.join(", ")}` : `did you mean ${NAMESPACE}:${meant}?`;
      return {
        source: `${NAMESPACE}:${key}`,
        reason: `is not a known setting; ${hint}`,
        command: `pulumi config rm ${NAMESPACE}:${key}`,
      };
    });
}

const VARIABLE_PREFIX = environmentNameOf("");

/** What is read from the environment and is no setting: `ADVERTISING_LOG`, the debug log. */
const OTHER_VARIABLES = ["log"];

/** Unlike a key of the namespace, a variable may belong to another tool: it stops nothing. Its value is never shown. */
function unknownVariables(environment: SettingsSource["environment"]): string[] {
  const names = [...SETTING_NAMES, ...OTHER_VARIABLES];
  const known = names.map(environmentNameOf);
  return Object.keys(environment)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && environment[name] !== undefined && !known.includes(name))
    .sort()
    .map((name) => {
      const meant = nearest(name.slice(VARIABLE_PREFIX.length), names);
      const hint = meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${environmentNameOf(meant)}?`;
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
