/** Sessions, which end; long-lived cookies, which open a new session with each request; and the limit of logins. */
import { randomBytes } from "node:crypto";
import type { AllOptions } from "./options.js";

const SESSION = "sandbox_service_cookie";
const LOGIN = "sandbox_keep_logged_in";
const LONG_LIVED_SECONDS = 30 * 86_400;

export class Sessions {
  /** The end of each session, by its cookie. */
  protected readonly endsAtMs = new Map<string, number>();
  /** The long-lived cookies. They end only with {@link endAll}. */
  protected readonly logins = new Set<string>();
  protected now = Date.now;
  #loginTimesMs: number[] = [];

  constructor(private readonly options: AllOptions) {}

  /** Counts a login. @returns whether it exceeds the limit of logins in a minute. */
  countLogin() {
    const now = this.now();
    this.#loginTimesMs = this.#loginTimesMs.filter((time) => time > now - 60_000);
    const isLimited = this.#loginTimesMs.length >= this.options.loginsPerMinute;
    if (!isLimited) this.#loginTimesMs.push(now);
    return isLimited;
  }

  /** @returns the Set-Cookie headers of a new session. */
  open(isLongLived: boolean) {
    const cookie = newToken();
    this.endsAtMs.set(cookie, this.now() + this.options.sessionSeconds * 1000);
    const cookies = [`${SESSION}=${cookie}; Path=/; HttpOnly`];
    if (!isLongLived) return cookies;
    const login = newToken();
    this.logins.add(login);
    cookies.push(`${LOGIN}=${login}; Path=/; HttpOnly; Max-Age=${LONG_LIVED_SECONDS}`);
    return cookies;
  }

  /** @returns the Set-Cookie headers for a request with these cookies; `undefined` if it needs a login first. */
  admit(cookieHeader = "") {
    const cookies = new URLSearchParams(cookieHeader.replaceAll("; ", "&"));
    const login = cookies.get(LOGIN) ?? "";
    if (this.logins.has(login)) return this.rotate(login);
    const endsAtMs = this.endsAtMs.get(cookies.get(SESSION) ?? "") ?? 0;
    if (endsAtMs > this.now()) return [];
  }

  /** @returns the Set-Cookie headers for a request with a long-lived cookie. Earlier cookies stay valid. */
  protected rotate(_login: string) {
    return this.open(false);
  }

  /** Ends every session, long-lived ones too. */
  endAll() {
    this.endsAtMs.clear();
    this.logins.clear();
  }
}

function newToken() {
  return randomBytes(24).toString("base64url");
}
