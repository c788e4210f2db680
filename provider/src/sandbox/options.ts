/**
 * The options of a sandbox: types, nothing else.
 */

/** What can be asked of the platform: login, creates by their nouns; the others only with the option `operations`. */
export type Operation = "authenticate" | "advertiser" | "event" | "read" | "update" | "delete" | "search";

/** The five ways in which services of this kind refuse an ended session. */
export type SessionRefusal = "401" | "403" | "redirect" | "login-page" | "success-false";

/** Where a success carries the id, and in which shape (none is promised by the platform; each was seen). */
export type AnswerShape =
  | "payload"
  | "top-level-id"
  | "bare-201"
  | "own-name"
  | "nested-own-name"
  | "list"
  | "text-ids"
  | "warning"
  | "success-text";

/** How a refusal of the request's content looks. Each that is a JSON object carries `success`. */
export type RefusalShape =
  | "success-false-200"
  | "406-errors"
  | "406-payload-lists"
  | "400-by-field-nested"
  | "detail"
  | "plain-text"
  | "403-permission"
  | "401-body"
  | "inner-success-false";

/** Where an answer to a read holds the object. */
export type RecordShape = "object" | "payload" | "payload-list" | "list" | "own-name";

/**
 * How a read object's values look. `strings`: numbers as strings (`"100.00"`), booleans as `"1"` and `0`, `null` for
 * what was not given, the id under `<noun>_id`, and more fields than anybody knows.
 */
export type RecordDress = "plain" | "strings";

/** How a read, an update or a delete of an object that is not there is answered. */
export type GoneShape = "404" | "404-bare" | "410" | "empty-list" | "empty-payload";

/** How the login answers. */
export type LoginShape = "success-true" | "success-text-true" | "payload-text";

/**
 * What every answer does to the cookies of a long-lived session (`keep_logged_in`). `session`: a new session cookie,
 * earlier ones stay good. `strict`: a new one, earlier ones end; the long-lived cookie still opens a session for anyone
 * who comes with an old one. `single-use`: the long-lived cookie changes as well, and old ones are refused.
 */
export type Rotation = "session" | "strict" | "single-use";

/** Options of `startSandbox`; everything has a default. */
export interface SandboxOptions {
  /** TCP port on 127.0.0.1. @default 0: a free one */
  readonly port?: number;
  /** @default "ops@example.com" */
  readonly email?: string;
  /** @default "sandbox-password" */
  readonly password?: string;
  /** Milliseconds that each answer takes. @default 0 */
  readonly latencyMs?: number;
  /** A path in front of `/rest/…`, such as `/api`. @default none */
  readonly pathPrefix?: string;
  /**
   * Where logins are taken, below `pathPrefix`: whole paths, or `*` and how they end. The path of a 2.0 login is not
   * documented, so the default is the sandbox's own choice, with which clients of either version work unchanged.
   * @default any path that ends in /authenticate
   */
  readonly authenticatePaths?: readonly string[];
  /** The session cookie is named `<instanceKey>_service_cookie`. @default "sandbox" */
  readonly instanceKey?: string;
  /** Which credentials are taken. @default "session" */
  readonly authMode?: "session" | "basic" | "both";
  /** A session's life in seconds. @default 900 */
  readonly sessionSeconds?: number;
  /** A session ends after this many requests. @default unlimited */
  readonly sessionRequests?: number;
  /** @default "401" */
  readonly sessionRefusal?: SessionRefusal;
  /** @default "session" */
  readonly rotation?: Rotation;
  /** More logins than `count` within `windowSeconds` are answered 429. @default 30 in 60 seconds, with Retry-After */
  readonly loginLimit?: { readonly count: number; readonly windowSeconds: number };
  /** The system limit of both windows, in seconds. @default 2592000 */
  readonly maxWindowSeconds?: number;
  /** Whether an advertiser is active without `active: true` in its request; events need an active one. @default true */
  readonly advertisersStartActive?: boolean;
  /**
   * What happens to a field that is not known: kept silently, dropped with a warning, or refused. Creates that are sent
   * to `…/strict` refuse it in any case. @default "warn"
   */
  readonly unknownFields?: "ignore" | "warn" | "refuse";
  /** @default "payload" */
  readonly answerShape?: AnswerShape;
  /** @default "406-errors" */
  readonly refusalShape?: RefusalShape;
  /** @default "success-true" */
  readonly loginShape?: LoginShape;
  /**
   * Serves what only some installations have: `GET`, `PUT`, `PATCH` and `DELETE rest/<noun>/<id>`, and searches
   * `GET rest/<noun>?<field>=<text>`, whose filters are patterns. @default false: each of them is answered 404
   */
  readonly operations?: boolean;
  /** With `operations`: where a read object stands. @default "payload" */
  readonly recordShape?: RecordShape;
  /** With `operations`: how its values look. @default "plain" */
  readonly recordDress?: RecordDress;
  /** With `operations`: how what is not there is answered. @default "404" */
  readonly goneShape?: GoneShape;
  /** With `operations`: searches ignore their filters, and answer with the first page. @default false */
  readonly ignoreFilters?: boolean;
  /** With `operations`: so many seconds after a create, searches find it. @default 0 */
  readonly searchLagSeconds?: number;
  /** With `operations`: so many seconds after a create, reads, updates and deletes find it; not before. @default 0 */
  readonly readLagSeconds?: number;
  /** Answers packed with gzip. @default false */
  readonly gzip?: boolean;
  /** The id of the first object. @default 1 */
  readonly firstId?: number;
  /** What lives there at the start: a snapshot of another sandbox. @default nothing */
  readonly objects?: SandboxSnapshot;
  /**
   * Gets a line for each request, when it is answered: method, path, status, and what was created. Never a password, a
   * cookie or a body. @default nothing is logged
   */
  readonly log?: (line: string) => void;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: () => number;
}

/** An advertiser or an event as it lives in the sandbox: its wire fields with defaults, and its id. */
export interface SandboxObject {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** All that lives in a sandbox, as plain JSON. */
export interface SandboxSnapshot {
  readonly advertisers: readonly SandboxObject[];
  readonly events: readonly SandboxObject[];
}

/** One request as it was received. Holds cookies and credentials: it is a tool for tests. */
export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as data; the text where it is no JSON. */
  readonly body: unknown;
  /** The status that was answered; 0 where none was. */
  status: number;
  /** Whether it has created something. */
  accepted: boolean;
}

/** Requests a fault is for. `advertiser`, `event`: creates of one; `create`: of either. The rest needs `operations`. */
export type FaultTarget = Operation | "create" | "any";

/**
 * What a client sees instead of the proper answer.
 * `answer`: these very bytes of status, headers and body. The others break the exchange as their names say; those that
 * send part of an answer send it of the proper one.
 */
export type Fault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
      /** Text as it is, anything else as JSON; a function gets the object that was created, if any. */
      readonly body?: unknown | ((created: SandboxObject | undefined, request: SandboxRequest) => unknown);
    }
  | { readonly kind: "session-refusal"; readonly way?: SessionRefusal }
  | { readonly kind: "reset-before-read" }
  | { readonly kind: "close-without-answer" }
  | { readonly kind: "reset" }
  | { readonly kind: "no-answer" }
  | { readonly kind: "half-body" }
  | { readonly kind: "stalled-body" }
  | { readonly kind: "bad-length" }
  | { readonly kind: "bad-chunk" }
  | { readonly kind: "garbage" }
  | { readonly kind: "slow-body"; readonly msPerByte: number }
  | { readonly kind: "huge-body"; readonly bytes: number }
  | { readonly kind: "gzip-bomb"; readonly bytes: number }
  | { readonly kind: "huge-header"; readonly bytes: number }
  | { readonly kind: "many-headers"; readonly count: number }
  | { readonly kind: "close-after" }
  | { readonly kind: "early-hints" }
  | { readonly kind: "continue" };

/** A fault, for whom, and how often. */
export interface FaultRule {
  readonly on: FaultTarget;
  readonly with: Fault;
  /** How many requests it hits. @default 1 */
  readonly times?: number;
  /** How many fitting requests pass before it begins. @default 0 */
  readonly after?: number;
  /** Whether the request is carried out all the same: a lost answer. @default false */
  readonly act?: boolean;
}
