/**
 * The cookies of one login: tough-cookie's jar, and what this API says of its cookies.
 */
import type { Cookie } from "tough-cookie";

/** `<instance_key>_service_cookie`; the key differs per installation (API page, POST rest/authenticate). */
const SESSION_COOKIE = /_service_cookie$/;

/** Loaded for the first session, before anything is noted: a run that sends nothing, as a preview, does without it. */
function toughCookie(): typeof import("tough-cookie") {
  return require("tough-cookie") as typeof import("tough-cookie");
}

export class SessionJar {
  #jar = new (toughCookie().CookieJar)();
  /** The last answer of {@link header}: thousands of requests go to one address with the same cookies. */
  #last: { readonly href: string; readonly cookies: readonly Cookie[]; readonly header: string } | undefined;

  /** Takes in an answer's cookies as a browser would: wrong domains and expired ones are ignored. */
  store(setCookies: readonly string[], url: URL): void {
    for (const header of setCookies.slice(0, MAX_COOKIES)) {
      this.#jar.setCookieSync(header, url.href, { ignoreError: true });
    }
    this.#last = undefined;
  }

  /** The Cookie header's value for `url`, or an empty string. */
  header(url: URL): string {
    const { href } = url;
    if (this.#last?.href !== href || this.#last.cookies.some((cookie) => cookie.TTL() <= 0)) {
      const cookies = this.#jar.getCookiesSync(href, { sort: true });
      this.#last = { href, cookies, header: cookies.map((cookie) => cookie.cookieString()).join("; ") };
    }
    return this.#last.header;
  }

  /** Every value for any address, for the scrubber. */
  async values(): Promise<string[]> {
    return (await this.#jar.serialize()).cookies.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  }

  /** Tells whether a session cookie would go with a request to `url`. */
  async hasSession(url: URL): Promise<boolean> {
    return (await this.#jar.getCookies(url.href)).some(isSession);
  }

  /**
   * When the session ends, in milliseconds since 1970: the latest end of its cookies for `url`; none where they do not say.
   * @param isLongLived another cookie, of whatever name, then says so too (API page, sessions).
   */
  async endsAtMs(url: URL, isLongLived: boolean): Promise<number | undefined> {
    const cookies = (await this.#jar.getCookies(url.href)).filter((cookie) => isLongLived || isSession(cookie));
    const ends = cookies.map((cookie) => cookie.expiryTime()).filter((end) => end !== undefined);
    const stated = ends.filter(Number.isFinite);
    return stated.length === 0 ? undefined : Math.max(...stated);
  }

  /** Becomes a copy of `other`. */
  replaceWith(other: SessionJar): void {
    this.#jar = other.#jar;
    this.#last = undefined;
  }

  /** The whole jar as plain data, for the cookie file. */
  async toJSON(): Promise<unknown> {
    return this.#jar.serialize();
  }

  /** @throws where `data` is no serialised jar. */
  static async fromJSON(data: unknown): Promise<SessionJar> {
    const jar = new SessionJar();
    jar.#jar = await toughCookie().CookieJar.deserialize(data as string);
    return jar;
  }
}

/** A cookie of that name without a value is how services take a session away. */
function isSession({ key, value }: Cookie): boolean {
  return SESSION_COOKIE.test(key) && value !== "";
}

/** A login sets one or two; a hostile answer may set thousands. */
const MAX_COOKIES = 20;

/** Says why no session came of these cookies, which a login set that said it succeeded. */
export function whyNoSession(setCookies: readonly string[], url: URL): string {
  if (setCookies.length === 0) return "the response set no cookie";
  const cookies = setCookies
    .slice(0, MAX_COOKIES)
    .flatMap((header) => toughCookie().Cookie.parse(header, { loose: true }) ?? []);
  const session = cookies.filter(({ key }) => SESSION_COOKIE.test(key));
  if (session.length === 0) {
    return "none of the cookies it set is named <instance_key>_service_cookie";
  }
  if (session.every(({ value }) => value === "")) return "the session cookie that it set is empty";
  if (session.some((cookie) => cookie.TTL() <= 0)) {
    return "the session cookie that it set has already expired";
  }
  if (session.some(({ domain }) => domain !== null)) {
    return `the session cookie that it set belongs to another domain than ${url.hostname}`;
  }
  return `the session cookie that it set does not fit ${url.origin} (path, Secure or expiry)`;
}
