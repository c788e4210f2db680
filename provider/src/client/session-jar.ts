/** The cookies of a session: tough-cookie's jar with this API's rules. */
import type { Cookie, CookieJar } from "tough-cookie";
import { printable } from "../base/index.js";
import type { HttpResponse } from "./transport.js";

/** What a response says about cookies. */
export type CookieResponse = Pick<HttpResponse, "setCookies" | "headers">;

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

  /** @returns `undefined` if `data` is not a jar as {@link toJSON} gives it. */
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

  /** Stores a response's cookies as a browser would: those of other domains and expired ones are ignored. */
  store({ setCookies, headers }: CookieResponse, url: URL): void {
    this.#last = undefined;
    for (const cookie of cookiesIn(setCookies)) {
      const { expires } = cookie;
      // An end is a date of the platform's clock: this machine's may be hours off.
      if (expires instanceof Date)
        cookie.expires = new Date(expires.getTime() + Date.now() - nowAt(headers.date));
      this.#jar.setCookieSync(cookie, url.href, { ignoreError: true });
    }
  }

  /** The Cookie header, or an empty string. Kept for a moment: creates go to one address, and looking it up is slow. */
  header({ href }: URL): string {
    const last = this.#last;
    const atMs = Date.now();
    if (last?.href === href && Math.abs(atMs - last.atMs) < FRESH_MS) return last.value;
    const value = this.#jar.getCookieStringSync(href);
    this.#last = { href, value, atMs };
    return value;
  }

  /** Every value for any address, for the scrubber. */
  values(): string[] {
    const cookies = this.#jar.serializeSync()?.cookies ?? [];
    return cookies.map(({ value }) => value).filter((value) => typeof value === "string");
  }

  hasSession(url: URL): boolean {
    return this.#jar.getCookiesSync(url.href).some(isSession);
  }

  /**
   * When the session ends, in milliseconds since 1970: the latest end of its cookies for `url`; `undefined` if they don't say.
   * @param isLongLived then another cookie, with any name, may say so too (API page, sessions).
   */
  endsAtMs(url: URL, isLongLived: boolean): number | undefined {
    const cookies = this.#jar
      .getCookiesSync(url.href)
      .filter((cookie) => isLongLived || isSession(cookie));
    const stated = cookies
      .flatMap((cookie) => cookie.expiryTime() ?? [])
      .filter(Number.isFinite);
    if (stated.length === 0) return undefined;
    return Math.max(...stated);
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

/**
 * Why these cookies, from a login that reported success, contain no session, and what to do next: the first cause.
 * (That a cookie is `Secure` is none: plain HTTP is for loopback addresses, which may have such ones.)
 * @param from the login's address. @param to a request's.
 */
export function sessionBlocker(
  { setCookies, headers }: CookieResponse,
  from: URL,
  to: URL,
): { readonly why: string; readonly next: string } {
  const atLogin = "Check advertising:authenticatePath.";
  const ask = "Ask the administrator of the installation.";
  if (setCookies.length === 0) return { why: "the response set no cookie", next: atLogin };
  const cookie = cookiesIn(setCookies).find(({ key }) => SESSION_COOKIE.test(key));
  if (cookie === undefined) {
    const why = "none of the cookies it set is named <instance_key>_service_cookie";
    return { why, next: atLogin };
  }
  const it = "the session cookie that it set";
  if (cookie.value === "") return { why: `${it} is empty`, next: ask };
  const ended = endOf(cookie, headers.date);
  if (ended !== undefined)
    return { why: `${it} has already expired: it ends ${ended}`, next: ask };
  const domain = printable(cookie.domain ?? from.hostname);
  const path = printable(cookie.path ?? toughCookie().defaultPath(from.pathname));
  const next = "Check advertising:authenticatePath, and host and path in advertising:baseUrl.";
  return {
    why: `${it} is for ${domain}${path}, and not for ${to.hostname}${to.pathname}`,
    next,
  };
}

/** When a cookie has ended, and what time it is; `undefined` if it has not. */
function endOf({ maxAge, expires }: Cookie, date?: string): string | undefined {
  const now = new Date(nowAt(date));
  const is = `and now is ${now.toISOString()} there`;
  if (maxAge !== null) return Number(maxAge) <= 0 ? `after ${maxAge} s, ${is}` : undefined;
  if (!(expires instanceof Date) || expires > now) return undefined;
  return `${expires.toISOString()}, ${is}`;
}
