/**
 * Who is logged in here: sessions that end by time and by use, long-lived cookies that rotate, the login limit.
 */
import { randomBytes } from "node:crypto";
import type { SandboxOptions } from "./options.js";

const LONG_LIVED_SECONDS = 30 * 86_400;

interface Session {
  readonly endsAt: number;
  requestsLeft: number;
  readonly login: Login | undefined;
}

/** A long-lived login: its newest long-lived cookie. */
interface Login {
  longLived: string;
  readonly endsAt: number;
}

export class Sessions {
  readonly #options: SandboxOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #logins = new Map<string, Login>();
  #loginTimes: number[] = [];

  readonly #now: () => number;
  readonly #cookieName: string;
  readonly #longLivedName: string;

  constructor(options: SandboxOptions) {
    this.#options = options;
    const { clock = Date.now, instanceKey = "sandbox" } = options;
    this.#now = clock;
    this.#cookieName = `${instanceKey}_service_cookie`;
    this.#longLivedName = `${instanceKey}_keep_logged_in`;
  }

  /** Counts a call of the login. @returns the seconds to wait where it is one too many. */
  limited(): number | undefined {
    const { count, windowSeconds } = this.#options.loginLimit ?? { count: 30, windowSeconds: 60 };
    const now = this.#now();
    this.#loginTimes = this.#loginTimes.filter((time) => now - time < windowSeconds * 1000);
    const first = this.#loginTimes[0];
    if (first !== undefined && this.#loginTimes.length >= count) {
      return Math.max(1, Math.ceil((first + windowSeconds * 1000 - now) / 1000));
    }
    this.#loginTimes.push(now);
    return undefined;
  }

  /** @returns the Set-Cookie headers of a new session. */
  open(keepLoggedIn: boolean): string[] {
    if (!keepLoggedIn) return [this.#newSession(undefined)];
    const login: Login = { longLived: token(), endsAt: this.#now() + LONG_LIVED_SECONDS * 1000 };
    this.#logins.set(login.longLived, login);
    return [this.#newSession(login), this.#longLivedCookie(login)];
  }

  /**
   * Whether a request with these cookies is let in; counts it.
   * @returns the Set-Cookie headers of the answer, or none where it is refused.
   */
  admit(cookieHeader: string | undefined): string[] | undefined {
    const cookies = parseCookies(cookieHeader);
    const value = cookies.get(this.#cookieName);
    const longLived = cookies.get(this.#longLivedName);
    const login = longLived === undefined ? undefined : this.#logins.get(longLived);
    const now = this.#now();

    if (login !== undefined && login.endsAt > now) {
      const { rotation = "session" } = this.#options;
      if (rotation === "session") return [this.#newSession(login)];
      if (rotation === "single-use") {
        this.#logins.delete(login.longLived);
        login.longLived = token();
        this.#logins.set(login.longLived, login);
      }
      for (const [old, session] of this.#sessions) if (session.login === login) this.#sessions.delete(old);
      const session = this.#newSession(login);
      return rotation === "single-use" ? [session, this.#longLivedCookie(login)] : [session];
    }

    const session = value === undefined ? undefined : this.#sessions.get(value);
    if (session === undefined || session.endsAt <= now || session.requestsLeft <= 0) return undefined;
    session.requestsLeft--;
    return [];
  }

  /** Ends every session, long-lived ones too. */
  endAll(): void {
    this.#sessions.clear();
    this.#logins.clear();
  }

  #newSession(login: Login | undefined): string {
    const { sessionSeconds = 900, sessionRequests = Number.POSITIVE_INFINITY } = this.#options;
    const value = token();
    this.#sessions.set(value, { endsAt: this.#now() + sessionSeconds * 1000, requestsLeft: sessionRequests, login });
    return `${this.#cookieName}=${value}; Path=/; HttpOnly`;
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
