/**
 * The settings of a stack as a table: names, defaults and rules. No I/O.
 */
import { z } from "zod";
import { KINDS, THIRTY_DAYS_IN_SECONDS } from "../kinds/index.js";
import { withUnit } from "../rules/index.js";
import { MAX_SECONDS, operationsSchema } from "./operations-setting.js";

/** The configuration namespace, and the module part of the type tokens. */
export const NAMESPACE = "advertising";

export interface SettingProblem {
  /** `advertising:baseUrl`, or the provider's argument or environment variable that the value came from. */
  source: string;
  reason: string;
  /** Undefined if no command can fix it, such as an argument. */
  command?: string | undefined;
}

interface SettingRule {
  /** Parses the text that was set, or a structured setting's data. An unset setting has the schema's default, if any. */
  schema: z.ZodType;
  expected: string;
  /** @default the schema's default */
  example?: string;
  /** For a setting that is an object: an example path and value for `pulumi config set --path`, as shell words. */
  structured?: string;
  /** Never shown. Only sending needs it, so it may be missing in a preview. */
  secret?: true;
  required?: true;
}

/** Whether a URL's host name is a loopback name or address of this machine. */
export function isLoopback(hostname: string) {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

function textLike(form: RegExp) {
  return z.string().trim().regex(form);
}

function isPlatformAddress(text: string) {
  const url = URL.parse(text);
  if (!url || /[?#]/.test(text)) return false;
  const { protocol, hostname, username, password } = url;
  const isSafe = protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
  return isSafe && username === "" && password === "";
}

/** Names that markField can't be: the arguments' fields, whose values a mark would overwrite, and `__proto__`. */
const ARGUMENT_FIELDS = [
  "__proto__",
  ...KINDS.flatMap(({ wireNames }) => Object.values(wireNames)),
];

function whole(what: string, min: number, max: number, byDefault: number) {
  const schema = z
    .string()
    .regex(/^\s*\d{1,12}\s*$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .default(byDefault);
  return { schema, expected: `${what} from ${min} to ${withUnit(max)}` };
}

const TABLE = {
  /** Stored without a slash at the end; a path prefix is kept. */
  baseUrl: {
    schema: z
      .string()
      .trim()
      .refine(isPlatformAddress)
      .transform((text) => {
        const { origin, pathname } = new URL(text);
        return `${origin}${pathname.replace(/\/+$/, "")}`;
      }),
    expected:
      "https://… without user info, query or fragment (http only to a loopback address)",
    example: "https://platform.example.com",
    required: true,
  },
  email: {
    schema: textLike(/^(?!(["']).*\1$)[^\s:\p{Cc}]+$/u),
    expected: "the login name, without spaces or colons, and not in quotes",
    example: "you@example.com",
    required: true,
  },
  password: {
    schema: z
      .string()
      .regex(/[^\r\n]$/)
      .optional(),
    expected: "the password of the login, without a line break at its end",
    secret: true,
    required: true,
  },
  authMode: {
    schema: z.enum(["session", "basic"]).default("session"),
    expected: "session or basic",
  },
  keepLoggedIn: {
    schema: z.stringbool({ truthy: ["true"], falsy: ["false"] }).default(false),
    expected: "true or false",
  },
  /** Stored without a slash at the beginning. */
  authenticatePath: {
    schema: textLike(/^\/?[\w.~/-]+$/)
      .refine((path) => !path.startsWith("//") && !path.split("/").includes(".."))
      .transform((path) => path.replace(/^\/+/, ""))
      .default("rest/authenticate"),
    expected: "a path below the base URL",
  },
  /** Undefined: the default place. */
  cookieFile: {
    schema: textLike(/^(?!~[^/\\])\P{Cc}+$/u).optional(),
    expected: "a file's path (~ only as ~/ at the beginning), or none",
    example: "none",
  },
  maxWindowSeconds: whole("whole seconds", 1, 2_147_483_647, THIRTY_DAYS_IN_SECONDS),
  requestTimeoutSeconds: whole("whole seconds", 1, MAX_SECONDS, 30),
  maxWaitSeconds: whole("whole seconds", 0, MAX_SECONDS, 120),
  maxConcurrentRequests: whole("a whole number", 1, 1000, 16),
  markField: {
    schema: textLike(/^[A-Za-z_][\w.-]{0,99}$/)
      .refine((name) => !ARGUMENT_FIELDS.includes(name))
      .optional(),
    expected: "the wire name of a request field that belongs to no argument",
    example: "alternative_id",
  },
  /** Former accounts, separated by commas, each as {@link accountOf} writes it. */
  formerAccount: {
    schema: textLike(/^[^\s,]+ [^\s,]+(\s*,\s*[^\s,]+ [^\s,]+)*$/)
      .transform((accounts) => accounts.split(",").map(asAccount))
      .optional(),
    expected: "'<host> <e-mail>', or several separated by commas",
    example: "platform.example.com you@example.com",
  },
  operations: {
    schema: operationsSchema,
    expected:
      'an object of operations by kind, such as {"event":{"read":"GET rest/event/{id}"}}',
    structured: "'advertising:operations.event.read' 'GET rest/event/{id}'",
  },
} satisfies Readonly<Record<string, SettingRule>>;

/** The checked settings. Times in seconds; docs/reference.md has the table. */
export type Settings = {
  readonly [Name in keyof typeof TABLE]: z.output<(typeof TABLE)[Name]["schema"]>;
};

export const SETTINGS: Readonly<Record<SettingName, SettingRule>> = TABLE;

export type SettingName = keyof Settings;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** `requestTimeoutSeconds` → `ADVERTISING_REQUEST_TIMEOUT_SECONDS`. */
export function environmentNameOf(key: string) {
  return `ADVERTISING_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/**
 * The installation and the account that a resource belongs to. It isn't a secret, and it is short, since every
 * resource's state contains it. Its form is a contract with that state.
 * @returns `<host>[:<port>][/<path prefix>] <e-mail>`; empty if the settings have no address or e-mail.
 */
export function accountOf({ baseUrl, email }: Pick<Settings, "baseUrl" | "email">) {
  const url = URL.parse(baseUrl);
  if (!url || email === undefined) return "";
  // In lower case: no known platform distinguishes the case of an e-mail, and people type it either way.
  return `${url.host}${url.pathname.replace(/\/$/, "")} ${email.toLowerCase()}`;
}

/** Host and e-mail in lower case, as {@link accountOf} has them. */
function asAccount(text: string) {
  return text.trim().replace(/^[^/ ]+| \S+$/g, (part) => part.toLowerCase());
}

/** Whether something was recorded for this account, perhaps under a former address or e-mail. */
export type IsSameAccount = (recorded: unknown) => boolean;

/** Whether two recorded accounts may be the same; an account that was not recorded may be any. */
export function mayBeSameAccount(one: unknown, other: unknown) {
  return !one || !other || one === other;
}

/** The matcher returns true for any record if the settings name no account, and for a record without an account. */
export function accountMatcher(settings: Settings): IsSameAccount {
  const accounts = [accountOf(settings), ...(settings.formerAccount ?? [])];
  return (recorded) => accounts.some((account) => mayBeSameAccount(account, recorded));
}
