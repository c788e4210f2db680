/** The sandbox's types. */
import type { ServerResponse } from "node:http";

/** The kinds of objects that live on the platform, by their names on the wire. */
export const NOUNS = ["advertiser", "event"] as const;
export type Noun = (typeof NOUNS)[number];

/** Each operation (the login, a create of each noun, and others), with the name of the sandbox's counter for it. */
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
  /** More accounts, each as `EMAIL:PASSWORD`. All accounts see all objects. @default none */
  accounts: [] as readonly string[],
  /** Delay of each answer, in milliseconds. @default 0 */
  latencyMs: 0,
  /** `basic` also accepts Basic credentials instead of a session's cookie. @default "session" */
  authMode: "session" as "session" | "basic",
  /** How long a session lasts, in seconds. @default 900 */
  sessionSeconds: 900,
  /** Further logins within a minute get status 429. @default 30 */
  loginsPerMinute: 30,
  /**
   * Serves `GET`, `PUT`, `PATCH` and `DELETE rest/<noun>/<id>`, and the search `GET rest/<noun>?<field>=<text>`.
   * @default false: each of them gets status 404
   */
  operations: false,
  /** The objects at the start: a snapshot of another sandbox. New objects get other ids. @default none */
  objects: {} as Partial<SandboxSnapshot>,
  /**
   * Called with a line for each request: method, path, status, and the created object, but no password, cookie or body.
   * @default nothing is logged
   */
  log: (_line: string): void => undefined,
  /** Changes the answer to each request that was carried out, to imitate other installations. */
  answer: ((answer) => answer) as SandboxAnswerer,
};
export type AllOptions = Readonly<typeof DEFAULTS>;
/** Options of `startSandbox`; everything has a default. */
export type SandboxOptions = { [K in keyof AllOptions]?: AllOptions[K] | undefined };

/** An advertiser or an event in the sandbox: its wire fields with defaults, and its id. */
export interface SandboxObject {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** All objects of a sandbox, as plain JSON. */
export interface SandboxSnapshot {
  readonly advertisers: readonly SandboxObject[];
  readonly events: readonly SandboxObject[];
}

/** One received request. Contains cookies and credentials. */
export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `undefined` for any other request. */
  readonly operation: SandboxOperation | undefined;
  /** The parsed body, or its text if it isn't JSON. */
  body: unknown;
  /** The status of the answer; 0 if there was none. */
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
 * Returns what a client gets instead of `answer`, or `undefined` to send nothing: because it has written to `response`
 * itself, or because the client should get no answer.
 */
export type SandboxAnswerer = (
  answer: SandboxAnswer,
  request: SandboxRequest,
  response: ServerResponse,
) => SandboxAnswer | undefined;

/** The outcome that a client gets instead of the normal answer. */
export type Fault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: SandboxAnswer["headers"];
      /** Text and bytes are sent unchanged, anything else as JSON. */
      readonly body?: unknown;
    }
  | { readonly kind: "close-without-answer" | "reset" | "no-answer" };

/** Which requests a fault hits, and how often. */
export interface FaultRule {
  /** `create` means a create of any noun. */
  readonly on: SandboxOperation | "create" | "any";
  readonly with: Fault | SandboxAnswerer;
  /** How many requests it hits. @default 1 */
  readonly times?: number;
  /** How many matching requests pass before the first hit. @default 0 */
  readonly after?: number;
  /** Whether the request is carried out in spite of the fault, as when its response is lost. @default false */
  readonly act?: boolean;
}
