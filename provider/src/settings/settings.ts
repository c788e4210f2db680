/**
 * The settings of a stack as a table: names, defaults and rules.
 */
import { z } from "zod";
import { ownerOf, THIRTY_DAYS_IN_SECONDS } from "../kinds/index.js";
import { operationsSchema } from "./operations-setting.js";

/** The configuration namespace, and the module part of the type tokens. */
export const NAMESPACE = "advertising";

/** One setting that has to be fixed, with the command that does it. */
export interface SettingProblem {
  /** `advertising:baseUrl`, or the environment variable where the value came from there. */
  readonly source: string;
  readonly reason: string;
  readonly command: string;
  /** The environment variable that does as well. */
  readonly or?: string | undefined;
}

export interface SettingRule {
  /** Reads the text that was set, or the data of a structured setting. A setting that is not set has its default, or is absent. */
  readonly schema: z.ZodType;
  readonly expected: string;
  /** A value for the command that sets it. */
  readonly example: string;
  /**
   * An object instead of a text: structured configuration, or JSON in the environment variable. The example is of its entry
   * at this path, such as `event.read`; the schema's own messages tell what is wrong with an entry.
   */
  readonly structured?: { readonly path: string };
  /** Why a value of the right form is refused all the same. */
  readonly objection?: (value: string) => string | undefined;
  readonly secret?: true;
  readonly required?: true;
  /** Only what sends something needs it: for a preview it may be missing. */
  readonly onlyToSend?: true;
}

/** Tells this machine itself by its names and addresses. @param hostname a URL's. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
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

/** The table, by the setting's name. */
const TABLE = {
  /** Read without a slash at its end; a path prefix is kept. */
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
  keepLoggedIn: { schema: truth.default(false), expected: "true or false", example: "false" },
  /** Read without a slash in front. */
  authenticatePath: {
    schema: authenticatePath.default("rest/authenticate"),
    expected: "a path below the base URL",
    example: "rest/authenticate",
  },
  /** Absent for the default place. */
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
  markField: {
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
  operations: {
    schema: operationsSchema,
    expected: 'an object of operations by kind, such as {"event":{"read":"GET rest/event/{id}"}}',
    example: "GET rest/event/{id}",
    structured: { path: "event.read" },
  },
} satisfies Readonly<Record<string, SettingRule>>;

/** The checked settings. Times in seconds; docs/settings.md has the table. */
export type Settings = { readonly [Name in keyof typeof TABLE]: z.output<(typeof TABLE)[Name]["schema"]> };

export const SETTINGS: Readonly<Record<keyof Settings, SettingRule>> = TABLE;

/** The known keys of the namespace. */
export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof Settings)[];

/** `requestTimeoutSeconds` → `ADVERTISING_REQUEST_TIMEOUT_SECONDS`. */
export function environmentNameOf(key: string): string {
  return `ADVERTISING_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/**
 * The installation and the account that a resource belongs to. Short, since every resource's state holds it, and not a secret.
 * Its form is a contract with that state.
 * @returns `<host>[:<port>][/<path prefix>] <e-mail>`; empty where the settings name none.
 */
export function accountOf({ baseUrl, email }: Pick<Settings, "baseUrl" | "email">): string {
  if (!URL.canParse(baseUrl) || email === undefined) return "";
  const { host, pathname } = new URL(baseUrl);
  // An e-mail's case is not told apart by any known platform, and is typed either way.
  return `${host}${pathname.replace(/\/$/, "")} ${email.toLowerCase()}`;
}
