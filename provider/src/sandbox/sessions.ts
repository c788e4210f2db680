/** Who is logged in: sessions that end by time and by use, long-lived cookies that rotate, the login limit. */
import { randomBytes } from "node:crypto";
import type { AllOptions } from "./options.js";

const LONG_LIVED_SECONDS = 30 * 86_400;

interface SandboxSession {
  readonly endsAtMs: number;
  requestsLeft: number;
  /** The long-lived cookie that opened it. */
  readonly login: string | undefined;
}

export class Sessions {
  readonly #options: AllOptions;
  readonly #sessions = new Map<string, SandboxSession>();
  /** The long-lived cookies. They end only with {@link endAll}. */
  readonly #logins = new Set<string>();
  #loginTimesMs: number[] = [];

  constructor(options: AllOptions) {
    this.#options = options;
  }

  /** Counts a login. @returns whether it is one too many within a minute. */
  countLogin(): boolean {
    const now = this.#options.clock();
    this.#loginTimesMs = this.#loginTimesMs.filter((time) => time > now - 60_000);
    const isLimited = this.#loginTimesMs.length >= this.#options.loginsPerMinute;
    if (!isLimited) this.#loginTimesMs.push(now);
    return isLimited;
  }

  /** @returns the Set-Cookie headers of a new session. */
  open(isLongLived: boolean): string[] {
    return isLongLived ? this.#openLongLived() : [this.#newSession(undefined)];
  }

  /**
   * Counts a request with these cookies.
   * @returns the Set-Cookie headers of its answer; `undefined` if it needs a login first.
   */
  admit(cookieHeader = ""): string[] | undefined {
    const cookies = parseCookies(cookieHeader);
    const login = cookies.get(this.#name("keep_logged_in")) ?? "";
    if (this.#logins.has(login)) return this.#rotate(login);

    const session = this.#sessions.get(cookies.get(this.#name("service_cookie")) ?? "");
    if (session === undefined || session.endsAtMs <= this.#options.clock()) return undefined;
    if (session.requestsLeft <= 0) return undefined;
    session.requestsLeft--;
    return [];
  }

  /** Ends every session, long-lived ones too. */
  endAll(): void {
    this.#sessions.clear();
    this.#logins.clear();
  }

  #rotate(login: string): string[] {
    const { rotation } = this.#options;
    if (rotation === "session") return [this.#newSession(login)];
    for (const [cookie, session] of this.#sessions) {
      if (session.login === login) this.#sessions.delete(cookie);
    }
    if (rotation === "strict") return [this.#newSession(login)];
    this.#logins.delete(login);
    return this.#openLongLived();
  }

  #openLongLived(): string[] {
    const login = newToken();
    this.#logins.add(login);
    const cookie = `${this.#name("keep_logged_in")}=${login}; Path=/; HttpOnly`;
    return [this.#newSession(login), `${cookie}; Max-Age=${LONG_LIVED_SECONDS}`];
  }

  #newSession(login: string | undefined): string {
    const { clock, sessionSeconds, sessionRequests } = this.#options;
    const endsAtMs = clock() + sessionSeconds * 1000;
    const cookie = newToken();
    this.#sessions.set(cookie, { endsAtMs, requestsLeft: sessionRequests, login });
    return `${this.#name("service_cookie")}=${cookie}; Path=/; HttpOnly`;
  }

  #name(suffix: string): string {
    return `${this.#options.instanceKey}_${suffix}`;
  }
}

function newToken(): string {
  return randomBytes(24).toString("base64url");
}

function parseCookies(header: string): ReadonlyMap<string, string> {
  const pairs = header.split("; ").map((pair) => pair.split("=") as [string, string]);
  return new Map(pairs);
}
