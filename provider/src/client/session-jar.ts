/** The cookies of a session: tough-cookie's jar with this API's rules. */
import type { Cookie, CookieJar } from "tough-cookie";
import { printable } from "../base/index.js";

/** `<instance_key>_service_cookie`; the key differs per installation (API page, POST rest/authenticate). */
const SESSION_COOKIE = /_service_cookie$/;

/** A login sets one or two; a hostile answer may set thousands. */
const MAX_COOKIES = 20;

/** Loaded for the first session, before anything is noted. A run that sends nothing, like a preview, never needs it. */
function toughCookie(): typeof import("tough-cookie") {
  return require("tough-cookie") as typeof import("tough-cookie");
}

/** An expired cookie may be sent for so long, which does no harm. */
const FRESH_MS = 1000;

export class SessionJar {
  #jar: CookieJar = new (toughCookie().CookieJar)();
  #last: { readonly href: string; readonly value: string; readonly atMs: number } | undefined;

  /** @returns none if `data` is not a jar as {@link toJSON} gives it. */
  static from(data: unknown): SessionJar | undefined {
    try {
      const jar = new SessionJar();
      jar.#jar = toughCookie().CookieJar.deserializeSync(data as string);
      return jar;
    } catch {
      return undefined;
    }
  }

  toJSON(): unknown {
    return this.#jar.serializeSync();
  }

  /**
   * Stores an answer's cookies as a browser would: those of other domains and expired ones are ignored.
   * @param date the answer's `Date`.
   */
  store(setCookies: readonly string[], url: URL, date?: string): void {
    this.#last = undefined;
    for (const cookie of cookiesIn(setCookies)) {
      const { expires } = cookie;
      // An end is a date of the platform's clock: this machine's may be hours off.
      if (expires instanceof Date)
        cookie.expires = new Date(expires.getTime() + Date.now() - nowAt(date));
      this.#jar.setCookieSync(cookie, url.href, { ignoreError: true });
    }
  }

  /** The Cookie header, or an empty string. Kept for a moment: creates go to one address, and looking it up is slow. */
  header({ href }: URL): string {
    const [last, atMs] = [this.#last, Date.now()];
    if (last?.href === href && Math.abs(atMs - last.atMs) < FRESH_MS) return last.value;
    const value = this.#jar.getCookieStringSync(href);
    this.#last = { href, value, atMs };
    return value;
  }

  /** Every value for any address, for the scrubber. */
  values(): string[] {
    return (
      this.#jar
        .serializeSync()
        ?.cookies.flatMap(({ value }) => (typeof value === "string" ? [value] : [])) ?? []
    );
  }

  hasSession(url: URL): boolean {
    return this.#jar.getCookiesSync(url.href).some(isSession);
  }

  /**
   * When the session ends, in milliseconds since 1970: the latest end of its cookies for `url`; none if they don't say.
   * @param isLongLived then another cookie, with any name, may say so too (API page, sessions).
   */
  endsAtMs(url: URL, isLongLived: boolean): number | undefined {
    const cookies = this.#jar
      .getCookiesSync(url.href)
      .filter((cookie) => isLongLived || isSession(cookie));
    const stated = cookies.flatMap((cookie) => cookie.expiryTime() ?? []).filter(Number.isFinite);
    return stated.length === 0 ? undefined : Math.max(...stated);
  }

  replaceWith(other: SessionJar): void {
    this.#jar = other.#jar;
    this.#last = undefined;
  }
}

/** A cookie of that name without a value is how services end a session. */
function isSession({ key, value }: Cookie): boolean {
  return SESSION_COOKIE.test(key) && value !== "";
}

function cookiesIn(setCookies: readonly string[]): Cookie[] {
  return setCookies
    .slice(0, MAX_COOKIES)
    .flatMap((header) => toughCookie().Cookie.parse(header) ?? []);
}

/** In milliseconds since 1970; now where there is no date. */
function nowAt(date = ""): number {
  return Date.parse(date) || Date.now();
}

const ASK = "Ask the administrator of the installation.";

/**
 * Why these cookies, from a login that reported success, contain no session, and what to do next: the first cause.
 * (That a cookie is `Secure` is none: plain HTTP is for loopback addresses, which may have such ones.)
 * @param from the login's address. @param to a request's. @param date the answer's `Date`.
 */
export function sessionBlocker(
  setCookies: readonly string[],
  from: URL,
  to: URL,
  date?: string,
): [string, string] {
  const { defaultPath, pathMatch } = toughCookie();
  const atLogin = "Check advertising:authenticatePath.";
  if (setCookies.length === 0) return ["the response set no cookie", atLogin];
  const cookie = cookiesIn(setCookies).find(({ key }) => SESSION_COOKIE.test(key));
  if (cookie === undefined)
    return ["none of the cookies it set is named <instance_key>_service_cookie", atLogin];
  const it = "the session cookie that it set";
  if (cookie.value === "") return [`${it} is empty`, ASK];
  const { maxAge, expires } = cookie;
  const now = new Date(nowAt(date));
  if (maxAge === null ? expires instanceof Date && expires <= now : Number(maxAge) <= 0) {
    const end = maxAge === null ? (expires as Date).toISOString() : `after ${maxAge} s`;
    return [
      `${it} has already expired: it ends ${end}, and now is ${now.toISOString()} there`,
      ASK,
    ];
  }
  const path = cookie.path ?? defaultPath(from.pathname);
  if (!pathMatch(to.pathname, path)) {
    const cure = "Check advertising:authenticatePath, and the path in advertising:baseUrl.";
    return [`${it} is for the path ${printable(path)}, and not for ${to.pathname}`, cure];
  }
  const { domain } = cookie;
  const fits =
    domain === null
      ? `does not fit ${to.origin}`
      : `is for the domain ${printable(domain)}, and not for ${to.hostname}`;
  return [`${it} ${fits}`, "Check the host in advertising:baseUrl."];
}
