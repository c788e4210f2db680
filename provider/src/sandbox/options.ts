/** The sandbox's types. */
import type { ServerResponse } from "node:http";

/** The kinds of objects that live on the platform, by their names on the wire. */
export const NOUNS = ["advertiser", "event"] as const;
export type Noun = (typeof NOUNS)[number];

/**
 * A login, the create of a noun, and the operations that only some installations have: each with the sandbox's count of
 * the requests that arrived.
 */
export const COUNTERS = {
  authenticate: "logins",
  advertiser: "advertiserPosts",
  event: "eventPosts",
  read: "reads",
  update: "updates",
  delete: "deletes",
  search: "searches",
} as const;
export type SandboxOperation = keyof typeof COUNTERS;

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
  /** `basic`: a request may have Basic credentials instead of a session's cookie. @default "session" */
  authMode: "session" as "session" | "basic",
  /** A session's life in seconds. @default 900 */
  sessionSeconds: 900,
  /** More logins within a minute are answered 429. @default 30 */
  loginsPerMinute: 30,
  /**
   * Serves `GET`, `PUT`, `PATCH` and `DELETE rest/<noun>/<id>`, and the search `GET rest/<noun>?<field>=<text>`.
   * @default false: each of them is answered 404
   */
  operations: false,
  /** The objects at the start: a snapshot of another sandbox. Their ids are never given again. @default none */
  objects: {} as Partial<SandboxSnapshot>,
  /**
   * Gets a line for each request: method, path, status, and what was created. Never a password, a cookie or a body.
   * @default nothing is logged
   */
  log: (_line: string): void => undefined,
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

/** What a client gets instead of the proper answer. */
export type Fault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: SandboxAnswer["headers"];
      /** Text and bytes as they are, anything else as JSON. */
      readonly body?: unknown;
    }
  | { readonly kind: "close-without-answer" | "reset" | "no-answer" };

/** Which requests a fault hits, and how often. */
export interface FaultRule {
  /** `create`: of either noun. */
  readonly on: SandboxOperation | "create" | "any";
  readonly with: Fault | SandboxAnswerer;
  /** How many requests it hits. @default 1 */
  readonly times?: number;
  /** How many matching requests pass before the first hit. @default 0 */
  readonly after?: number;
  /** Whether the request is carried out all the same, as when its response is lost. @default false */
  readonly act?: boolean;
}
