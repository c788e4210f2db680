/** The sandbox's types. */
import type { ServerResponse } from "node:http";

/** The kinds of objects that live on the platform, by their names on the wire. */
export const NOUNS = ["advertiser", "event"] as const;
export type Noun = (typeof NOUNS)[number];

/** A login, the create of a noun, and the operations that only some installations have. */
export const OPERATIONS = [
  "authenticate",
  ...NOUNS,
  "read",
  "update",
  "delete",
  "search",
] as const;
export type SandboxOperation = (typeof OPERATIONS)[number];

/**
 * What every answer does to the cookies of a long-lived session (`keep_logged_in`). `session`: sets a new session
 * cookie, earlier ones stay good. `strict`: earlier ones end; the long-lived cookie still opens a session for a request
 * with an old one. `single-use`: the long-lived cookie changes as well, and old ones are refused.
 */
export type Rotation = "session" | "strict" | "single-use";

/** The options of `startSandbox` with their defaults. */
export const DEFAULTS = {
  /** TCP port on 127.0.0.1. @default 0: a free one */
  port: 0,
  /** @default "ops@example.com" */
  email: "ops@example.com",
  /** @default "sandbox-password" */
  password: "sandbox-password",
  /** Milliseconds that each answer takes. @default 0 */
  latencyMs: 0,
  /** A path in front of `/rest/…`, such as `/api`. @default none */
  pathPrefix: "",
  /** The session cookie is named `<instanceKey>_service_cookie`. @default "sandbox" */
  instanceKey: "sandbox",
  /** Which credentials are accepted. @default "session" */
  authMode: "session" as "session" | "basic" | "both",
  /** A session's life in seconds. @default 900 */
  sessionSeconds: 900,
  /** A session ends after this many requests. @default unlimited */
  sessionRequests: Number.POSITIVE_INFINITY,
  /** @default "session" */
  rotation: "session" as Rotation,
  /** More logins within a minute are answered 429. @default 30 */
  loginsPerMinute: 30,
  /** Whether an advertiser is active without `active: true` in its request. @default true */
  advertisersStartActive: true,
  /**
   * Whether unknown fields are kept, rather than dropped with a warning. A create that is sent to `…/strict` refuses
   * them in any case. @default false
   */
  keepsUnknownFields: false,
  /**
   * Serves `GET`, `PUT`, `PATCH` and `DELETE rest/<noun>/<id>`, and the search `GET rest/<noun>?<field>=<text>`.
   * @default false: each of them is answered 404
   */
  operations: false,
  /** The id of the first object. @default 1 */
  firstId: 1,
  /** The objects at the start: a snapshot of another sandbox. @default none */
  objects: {} as Partial<SandboxSnapshot>,
  /**
   * Gets a line for each request: method, path, status, and what was created. Never a password, a cookie or a body.
   * @default nothing is logged
   */
  log: (_line: string): void => undefined,
  /** Milliseconds since 1970. @default Date.now */
  clock: (): number => Date.now(),
  /** Changes the answer to each request that was carried out, for an installation that words its answers otherwise. */
  answer: ((answer) => answer) as SandboxAnswerer,
};
export type AllOptions = Readonly<typeof DEFAULTS>;
/** Options of `startSandbox`; everything has a default. */
export type SandboxOptions = Partial<AllOptions>;

/** An advertiser or an event as it lives in the sandbox: its wire fields with defaults, and its id. */
export interface SandboxObject {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** All objects of a sandbox, as plain JSON. */
export interface SandboxSnapshot {
  readonly advertisers: readonly SandboxObject[];
  readonly events: readonly SandboxObject[];
}

/** One request as it was received. Contains cookies and credentials. */
export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `undefined` for a request of anything else. */
  readonly operation: SandboxOperation | undefined;
  /** The body as data; its text where it isn't JSON. */
  body: unknown;
  /** The status of the answer; 0 without one. */
  status: number;
  /** The object that the request has created. */
  created: SandboxObject | undefined;
}

export interface SandboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Buffer;
}

/**
 * Decides what a client gets instead of `answer`.
 * @returns `undefined` to send nothing more: it has written to `response` itself, or never answers.
 */
export type SandboxAnswerer = (
  answer: SandboxAnswer,
  request: SandboxRequest,
  response: ServerResponse,
) => SandboxAnswer | undefined;

/** `create`: creates of either noun. */
export type FaultTarget = SandboxOperation | "create" | "any";

/** What a client gets instead of the proper answer. */
export type Fault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string | string[]>>;
      /** Text and bytes as they are, anything else as JSON. */
      readonly body?: unknown;
    }
  | { readonly kind: "close-without-answer" | "reset" | "no-answer" | "session-refusal" };

/** Which requests a fault hits, and how often. */
export interface FaultRule {
  readonly on: FaultTarget;
  readonly with: Fault | SandboxAnswerer;
  /** How many requests it hits. @default 1 */
  readonly times?: number;
  /** How many matching requests pass before the first hit. @default 0 */
  readonly after?: number;
  /** Whether the request is carried out all the same, as when its response is lost. @default false */
  readonly act?: boolean;
}
