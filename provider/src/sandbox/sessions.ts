/**
 * Who is logged in at the sandbox: sessions that end by time and by use, long-lived cookies that rotate, the login limit.
 */
import { randomBytes } from "node:crypto";
import type { Rotation } from "./options.js";

const LONG_LIVED_SECONDS = 30 * 86_400;

interface SessionRules {
  readonly instanceKey: string;
  readonly sessionSeconds: number;
  readonly sessionRequests: number;
  readonly rotation: Rotation;
  readonly maxCookieAge: number;
  readonly loginLimit: { readonly count: number; readonly windowSeconds: number };
  readonly clock: () => number;
}

interface Session {
  readonly endsAt: number;
  requestsLeft: number;
  readonly login: Login | undefined;
}

/** A long-lived login: its newest long-lived cookie. */
interface Login {
  longLived: string;
  readonly endsAt: number;
  /** The session cookies that are not too old, the newest one last; kept only where their age is limited. */
  readonly young: string[];
}

export class Sessions {
  readonly #rules: SessionRules;
  readonly #sessions = new Map<string, Session>();
  readonly #logins = new Map<string, Login>();
  #loginTimes: number[] = [];

  constructor(rules: SessionRules) {
    this.#rules = rules;
  }

  get cookieName(): string {
    return `${this.#rules.instanceKey}_service_cookie`;
  }

  get #longLivedName(): string {
    return `${this.#rules.instanceKey}_keep_logged_in`;
  }

  /** Counts a call of the login. @returns the seconds to wait where it is one too many. */
  limited(): number | undefined {
    const { clock, loginLimit } = this.#rules;
    const now = clock();
    this.#loginTimes = this.#loginTimes.filter((time) => now - time < loginLimit.windowSeconds * 1000);
    const first = this.#loginTimes[0];
    if (first !== undefined && this.#loginTimes.length >= loginLimit.count) {
      return Math.max(1, Math.ceil((first + loginLimit.windowSeconds * 1000 - now) / 1000));
    }
    this.#loginTimes.push(now);
    return undefined;
  }

  /** @returns the Set-Cookie headers of a new session. */
  open(keepLoggedIn: boolean): string[] {
    if (!keepLoggedIn) return [this.#newSession(undefined)];
    const login: Login = { longLived: token(), endsAt: this.#rules.clock() + LONG_LIVED_SECONDS * 1000, young: [] };
    this.#logins.set(login.longLived, login);
    return [this.#newSession(login), this.#longLivedCookie(login)];
  }

  /**
   * Whether a request with these cookies is let in; counts it.
   * @returns the Set-Cookie headers of the answer, or none where it is refused.
   */
  admit(cookieHeader: string | undefined): string[] | undefined {
    const cookies = parseCookies(cookieHeader);
    const value = cookies.get(this.cookieName);
    const longLived = cookies.get(this.#longLivedName);
    const login = longLived === undefined ? undefined : this.#logins.get(longLived);
    const now = this.#rules.clock();

    if (login !== undefined && login.endsAt > now) {
      if (Number.isFinite(this.#rules.maxCookieAge) && !login.young.includes(value ?? "")) return undefined;
      if (this.#rules.rotation === "session") return [this.#newSession(login)];
      if (this.#rules.rotation === "single-use") {
        this.#logins.delete(login.longLived);
        login.longLived = token();
        this.#logins.set(login.longLived, login);
      }
      for (const [old, session] of this.#sessions) if (session.login === login) this.#sessions.delete(old);
      const session = this.#newSession(login);
      return this.#rules.rotation === "single-use" ? [session, this.#longLivedCookie(login)] : [session];
    }

    const session = value === undefined ? undefined : this.#sessions.get(value);
    if (session === undefined || session.endsAt <= now || session.requestsLeft <= 0) return undefined;
    session.requestsLeft--;
    return [];
  }

  /** The values of long-lived sessions' cookies that are young enough, where their age is limited; the newest first. */
  get young(): string[] {
    return [...this.#logins.values()].flatMap(({ young }) => young).reverse();
  }

  /** Ends every session, long-lived ones too. */
  endAll(): void {
    this.#sessions.clear();
    this.#logins.clear();
  }

  #newSession(login: Login | undefined): string {
    const { clock, sessionSeconds, sessionRequests, maxCookieAge } = this.#rules;
    const value = token();
    if (login !== undefined && Number.isFinite(maxCookieAge)) {
      login.young.push(value);
      if (login.young.length > maxCookieAge + 1) login.young.shift();
    }
    this.#sessions.set(value, { endsAt: clock() + sessionSeconds * 1000, requestsLeft: sessionRequests, login });
    return `${this.cookieName}=${value}; Path=/; HttpOnly`;
  }

  #longLivedCookie(login: Login): string {
    return `${this.#longLivedName}=${login.longLived}; Path=/; HttpOnly; Max-Age=${LONG_LIVED_SECONDS}`;
  }
}

function token(): string {
  return randomBytes(24).toString("base64url");
}

function parseCookies(header: string | undefined): Map<string, string> {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim().split("="));
  return new Map(pairs.flatMap(([name, ...value]) => (name ? [[name, value.join("=")] as const] : [])));
}
