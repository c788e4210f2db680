/**
 * The settings of a stack as a table: names, defaults and rules; and the environment's proxy, by the rules of undici's
 * own agent: `https_proxy`, or where that is not set or empty `http_proxy`, each before its name in capitals. No I/O.
 */
import { z } from "zod";
import { ownerOf, THIRTY_DAYS_IN_SECONDS } from "../kinds/index.js";
import { withUnit } from "../rules/index.js";
import { operationsSchema } from "./operations-setting.js";

/** The configuration namespace, and the module part of the type tokens. */
export const NAMESPACE = "advertising";

export interface SettingProblem {
  /** `advertising:baseUrl`, or the environment variable where the value came from there. */
  readonly source: string;
  readonly reason: string;
  readonly command: string;
  /** The environment variable that does as well. */
  readonly or?: string | undefined;
}

export interface SettingRule {
  /** Reads the text that was set, or a structured setting's data. One that is not set has its default, or is absent. */
  readonly schema: z.ZodType;
  readonly expected: string;
  readonly example: string;
  /** Of an object (structured configuration, or JSON in the environment), one entry with a value, in shell words. */
  readonly structured?: string;
  readonly secret?: true;
  readonly required?: true;
  /** Only what sends something needs it: for a preview it may be missing. */
  readonly onlyToSend?: true;
}

/** Whether this is the machine itself, by its names and addresses. @param hostname a URL's. */
function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

function textLike(form: RegExp) {
  return z.string().trim().regex(form);
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

const authenticatePath = textLike(/^\/?[\w.~/-]+$/)
  .refine((path) => !path.startsWith("//") && !path.split("/").includes(".."))
  .transform((path) => path.replace(/^\/+/, ""));

const digits = z.string().regex(/^\s*\d{1,12}\s*$/);

/** @param byDefault also stands in the example. */
function numeric(min: number, max: number, byDefault: number) {
  const schema = digits.transform(Number).pipe(z.int().min(min).max(max)).default(byDefault);
  return { schema, expected: `a whole number from ${min} to ${max}`, example: String(byDefault) };
}

function wholeSeconds(min: number, max: number, byDefault: number) {
  return { ...numeric(min, max, byDefault), expected: `whole seconds from ${min} to ${withUnit(max)}` };
}

/** A day: whatever is waited or allowed for longer is a mistake in the unit. */
const MAX_SECONDS = 86_400;

const TABLE = {
  /** Read without a slash at its end; a path prefix is kept. */
  baseUrl: {
    schema: baseUrl,
    expected: "https://… without user info, query or fragment (http only to a loopback address)",
    example: "https://platform.example.com",
    required: true,
  },
  email: {
    schema: textLike(/^(?!(["']).*\1$)[^\s:\p{Cc}]+$/u),
    expected: "the login name, without spaces, colons or quotes around it",
    example: "you@example.com",
    required: true,
  },
  password: {
    schema: z.string().min(1).optional(),
    expected: "the password of the login",
    example: "",
    secret: true,
    required: true,
    onlyToSend: true,
  },
  authMode: {
    schema: z.enum(["session", "basic"]).default("session"),
    expected: "session or basic",
    example: "session",
  },
  keepLoggedIn: {
    schema: z.stringbool({ truthy: ["true"], falsy: ["false"] }).default(false),
    expected: "true or false",
    example: "false",
  },
  /** Read without a slash in front. */
  authenticatePath: {
    schema: authenticatePath.default("rest/authenticate"),
    expected: "a path below the base URL",
    example: "rest/authenticate",
  },
  /** Absent for the default place. */
  cookieFile: {
    schema: textLike(/^(?!~[^/\\])\P{Cc}+$/u).optional(),
    expected: "a file's path (of all ~, only ~/ is understood), or none",
    example: "none",
  },
  maxWindowSeconds: wholeSeconds(1, 2_147_483_647, THIRTY_DAYS_IN_SECONDS),
  requestTimeoutSeconds: wholeSeconds(1, MAX_SECONDS, 30),
  maxWaitSeconds: wholeSeconds(0, MAX_SECONDS, 120),
  maxConcurrentRequests: numeric(1, 1000, 16),
  markField: {
    schema: textLike(/^[A-Za-z_][\w.-]{0,99}$/)
      // Each create's mark would overwrite the argument.
      .refine((name) => name !== "__proto__" && ownerOf(name) === undefined)
      .optional(),
    expected: "the wire name of a request field that belongs to no argument",
    example: "alternative_id",
  },
  /** Each as {@link accountOf} writes it. Several are separated by commas. */
  formerAccount: {
    schema: textLike(/^[^\s,]+ [^\s,]+(\s*,\s*[^\s,]+ [^\s,]+)*$/)
      .transform((accounts) => accounts.split(",").map(asAccount))
      .optional(),
    expected: "'<host> <e-mail>', as an error about another account shows it; several are separated by commas",
    example: "platform.example.com you@example.com",
  },
  operations: {
    schema: operationsSchema,
    expected: 'an object of operations by kind, such as {"event":{"read":"GET rest/event/{id}"}}',
    example: '{"event":{"read":"GET rest/event/{id}"}}',
    structured: "'advertising:operations.event.read' 'GET rest/event/{id}'",
  },
} satisfies Readonly<Record<string, SettingRule>>;

/** The checked settings. Times in seconds; docs/reference.md has the table. */
export type Settings = { readonly [Name in keyof typeof TABLE]: z.output<(typeof TABLE)[Name]["schema"]> };

export const SETTINGS: Readonly<Record<keyof Settings, SettingRule>> = TABLE;

export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof Settings)[];

/** `requestTimeoutSeconds` → `ADVERTISING_REQUEST_TIMEOUT_SECONDS`. */
export function environmentNameOf(key: string): string {
  return `ADVERTISING_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/**
 * The installation and the account that a resource belongs to. Short, since every resource's state holds it, and not a
 * secret. Its form is a contract with that state.
 * @returns `<host>[:<port>][/<path prefix>] <e-mail>`; empty where the settings name none.
 */
export function accountOf({ baseUrl, email }: Pick<Settings, "baseUrl" | "email">): string {
  if (!URL.canParse(baseUrl) || email === undefined) return "";
  const { host, pathname } = new URL(baseUrl);
  // No known platform distinguishes the case of an e-mail, and people type it either way.
  return `${host}${pathname.replace(/\/$/, "")} ${email.toLowerCase()}`;
}

/** Host and e-mail in lower case, as {@link accountOf} has them. */
function asAccount(text: string): string {
  return text.trim().replace(/^[^/ ]+| \S+$/g, (part) => part.toLowerCase());
}

/** Whether something was recorded for this account, perhaps under a former address or e-mail. */
export type IsSameAccount = (recorded: unknown) => boolean;

/** Whether two recorded accounts are one, as far as they tell: one that was not recorded may be any. */
export function isEqualAccount(one: unknown, other: unknown): boolean {
  return [one, other].some((each) => each === undefined || each === "") || one === other;
}

/** @returns true for anything if the settings name no account, and for a record that names none. */
export function sameAccountAs(settings: Pick<Settings, "baseUrl" | "email" | "formerAccount">): IsSameAccount {
  const account = accountOf(settings);
  const known = new Set<unknown>([undefined, "", account, ...(settings.formerAccount ?? [])]);
  return (recorded) => account === "" || known.has(recorded);
}

export interface ProxySetting {
  /** With the credentials: never printed. */
  readonly url: string;
  readonly host: string;
  /** The variable that it came from, such as `HTTPS_PROXY`. */
  readonly variable: string;
  /** The list of `NO_PROXY`, which undici reads. */
  readonly noProxy: string;
  /** The credentials in the spellings that were given or are sent. */
  readonly secrets: readonly string[];
}

/** @param baseUrl if it could be read. No proxy is asked for a loopback address: there it would be the proxy's own. */
export function readProxy(
  environment: Readonly<Record<string, string | undefined>>,
  baseUrl: string | undefined,
): { readonly proxy?: ProxySetting; readonly problem?: SettingProblem } {
  /** A name in small letters that is set counts before the one in capitals, also where it is empty. */
  const named = (name: string) => {
    const variable = environment[name] === undefined ? name.toUpperCase() : name;
    return { variable, value: environment[variable]?.trim() ?? "" };
  };
  const given = [named("https_proxy"), named("http_proxy")].find(({ value }) => value !== "");
  if (given === undefined || (baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname))) return {};
  const { variable, value } = given;
  try {
    // `host:port` without a scheme is what curl, Go and so the Pulumi CLI take as http://.
    const url = /^[^/?#\\]+:\d+\/?$/.test(value) ? `http://${value}` : value;
    // A password with an unencoded character ends up in a path, and a part of it in what would be taken for the host.
    if (!/^https?:\/\/[^/?#\\]+\/?$/i.test(url)) throw new URIError("a path, or another scheme");
    const { href, host, username, password } = new URL(url);
    const spellings = [[username, password], [username, password].map(decodeURIComponent)] as [string, string][];
    // Without a password the user name is what lets one in; with one it may be any short word, and is left readable.
    const given = spellings.flatMap(([user, secret]) => [secret || user, `${user}:${secret}`]);
    const secrets = username + password === "" ? [] : given;
    return { proxy: { url: href, host, variable, noProxy: named("no_proxy").value, secrets } };
  } catch {
    const reason =
      "expected [http://][user:password@]host:port, percent-encoded; got another value, which is not shown";
    return { problem: { source: variable, reason, command: `export ${variable}=http://proxy.example.com:3128` } };
  }
}
