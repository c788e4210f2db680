/** The cookies of a session: tough-cookie's jar with this API's rules. */
import type { Cookie } from "tough-cookie";
import type { HttpResponse } from "./transport.js";

/** The parts of a response that concern cookies. */
export type CookieResponse = Pick<HttpResponse, "setCookies" | "headers">;

/** `<instance_key>_service_cookie`; the key differs per installation (the platform's API documentation). */
const SESSION_COOKIE = /_service_cookie$/;

/** A login sets one or two cookies; a hostile response may set thousands. */
const MAX_COOKIES = 20;

/** Loads tough-cookie for the first session, before anything is noted. A run that sends nothing never needs it. */
function toughCookie() {
  return require("tough-cookie") as typeof import("tough-cookie");
}

export class SessionJar {
  constructor(private readonly jar = new (toughCookie().CookieJar)()) {}

  /** @returns `undefined` if `data` is not a jar as {@link toJSON} gives it. */
  static from(data: unknown) {
    try {
      return new SessionJar(toughCookie().CookieJar.deserializeSync(data as string));
    } catch {
      return undefined;
    }
  }

  toJSON() {
    return this.jar.serializeSync();
  }

  /** Stores a response's cookies as a browser would: cookies of other domains and expired cookies are ignored. */
  store({ setCookies, headers }: CookieResponse, url: URL) {
    // A cookie expires by the platform's clock; this machine's may be hours off.
    const now = Date.now();
    const aheadMs = now - (Date.parse(headers.date ?? "") || now);
    for (const header of setCookies.slice(0, MAX_COOKIES)) {
      const cookie = toughCookie().Cookie.parse(header);
      if (!cookie) continue;
      const { expires } = cookie;
      if (expires instanceof Date) cookie.expires = new Date(expires.getTime() + aheadMs);
      this.jar.setCookieSync(cookie, url.href, { ignoreError: true });
    }
  }

  /** The Cookie header, or an empty string. */
  header({ href }: URL) {
    return this.jar.getCookieStringSync(href);
  }

  /** All cookie values, for any address, so that they can be scrubbed from texts. */
  values() {
    const { cookies = [] } = this.toJSON() ?? {};
    return cookies.flatMap(({ value }) => (typeof value === "string" ? value : []));
  }

  hasSession(url: URL) {
    return this.jar.getCookiesSync(url.href).some(isSession);
  }

  /**
   * When the session ends, in milliseconds since 1970: the latest end of its cookies for `url`; `undefined` if they
   * don't say.
   * @param isLongLived whether cookies with other names count too (the platform's API documentation).
   */
  endsAtMs({ href }: URL, isLongLived: boolean) {
    const ends = this.jar
      .getCookiesSync(href)
      .filter((cookie) => isLongLived || isSession(cookie))
      .flatMap((cookie) => cookie.expiryTime() ?? [])
      .filter(Number.isFinite);
    if (ends.length > 0) return Math.max(...ends);
  }
}

/** A cookie without a value doesn't count: services end a session that way. */
function isSession({ key, value }: Cookie) {
  return SESSION_COOKIE.test(key) && value !== "";
}
