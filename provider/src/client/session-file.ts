/**
 * The cookies of a session, and their file. {@link SessionJar} is tough-cookie's jar with this API's rules for cookies. {@link SessionFile}
 * has the format, and says which sessions it may contain and how it is read and written. A stored session is bound to the password that
 * opened it, so that a changed password is tried and not hidden by an earlier session: the file has a salted verifier that is costly to
 * guess (scrypt, RFC 7914), never the password or a fast digest of it.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import type { Cookie } from "tough-cookie";
import { z } from "zod";
import { jsonIn, LoginError, own } from "../base/index.js";
import {
  type Lock,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  systemDisk,
  UntrustedFile,
  withLock,
} from "../files/index.js";
import { accountOf, type Settings } from "../settings/index.js";
import type { Surroundings } from "./surroundings.js";

/** 32 MiB of memory and about 80 ms on one core for each guess. Other values need a new version of the file's format. */
const COST = { N: 32_768, r: 8, p: 1 } as const;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const BYTES = 32;

const verifierSchema = z.object({
  algorithm: z.literal("scrypt"),
  N: z.literal(COST.N),
  r: z.literal(COST.r),
  p: z.literal(COST.p),
  salt: z.base64(),
  hash: z.base64(),
});

type Verifier = z.infer<typeof verifierSchema>;

/** This machine can't compute a verifier, for example because scrypt is not allowed. */
export class NoVerifier extends Error {}

/** The format is a contract: later versions read what this one wrote. Version 1 had no verifier of the password. */
const VERSION = 2;

const formatSchema = z.object({
  session: z.literal("pulumi-advertising"),
  version: z.literal(VERSION),
  baseUrl: z.string(),
  email: z.string(),
  keepLoggedIn: z.boolean(),
  verifier: verifierSchema,
  /** The login's id. */
  stamp: z.string().min(1),
  /** When the answer with the newest cookies arrived, in milliseconds since 1970. */
  newestAtMs: z.number(),
  jar: z.unknown(),
});

type Format = z.infer<typeof formatSchema>;

interface StoredSession {
  readonly jar: SessionJar;
  readonly loginId: string;
  readonly newestAtMs: number;
}

export class SessionFile {
  readonly #password: PasswordCheck;

  constructor(
    readonly path: string,
    readonly settings: Settings,
    readonly surroundings: Surroundings,
  ) {
    this.#password = new PasswordCheck(settings.password ?? "");
  }

  /**
   * @returns none if there is no file, or if its session is damaged or not of these settings.
   * @throws UntrustedFile; LoginError for a file of a later version.
   */
  async read(): Promise<(StoredSession & { hasSamePassword(): Promise<boolean> }) | undefined> {
    const { path, settings, surroundings } = this;
    const text = readPrivate(path, surroundings.disk);
    if (text === undefined) return undefined;
    const data = jsonIn(text.replace(/^\ufeff/, ""));
    const version = own(data, "version");
    if (version === 1) return undefined; // replaced at the login that follows
    if (typeof version === "number" && version > VERSION) {
      throw new LoginError(
        `Nothing was sent: the cookie file ${path} was written by a later version of this package (format ${version}), and is left ` +
          "as it is. Use that version, or remove the file: the next run then logs in again",
      );
    }
    const { data: stored } = formatSchema.safeParse(data);
    const jar = stored && (await SessionJar.fromJSON(stored.jar).catch(() => undefined));
    if (stored === undefined || jar === undefined) {
      surroundings.say(`The cookie file ${path} is damaged; the next login replaces it.`);
      return undefined;
    }
    if (accountOf(stored) !== accountOf(settings)) {
      throw new UntrustedFile("it has another account's session; give each account a file of its own");
    }
    if (stored.keepLoggedIn !== settings.keepLoggedIn) return undefined;
    const { stamp: loginId, newestAtMs, verifier } = stored;
    return { jar, loginId, newestAtMs, hasSamePassword: () => this.#password.matches(verifier) };
  }

  /** @param lock under which it is written; throws if that was lost. */
  async write({ jar, loginId, newestAtMs }: StoredSession, lock: Lock): Promise<void> {
    const { baseUrl, email, keepLoggedIn } = this.settings;
    const { clock, disk = systemDisk } = this.surroundings;
    const stored: Format = {
      session: "pulumi-advertising",
      version: VERSION,
      baseUrl,
      email,
      keepLoggedIn,
      verifier: await this.#password.verifier(),
      stamp: loginId,
      newestAtMs,
      jar: await jar.toJSON(),
    };
    replacePrivate(this.path, JSON.stringify(stored), disk, lock.confirm);
    removeLeftovers(this.path, clock.wallMs(), disk);
  }

  /** Starts to compute the verifier that {@link write} needs, while something else is awaited. */
  prepare(): void {
    this.#password.verifier().catch(() => undefined); // the write reports it
  }

  locked<T>(work: (lock: Lock) => Promise<T>): Promise<T> {
    const { maxWaitSeconds, requestTimeoutSeconds } = this.settings;
    const { clock, disk } = this.surroundings;
    // Another process's login may have to wait for the rate limit, as long as this one would.
    const maxWaitMs = (maxWaitSeconds + requestTimeoutSeconds) * 1000;
    return withLock(`${this.path}.lock`, { clock, maxWaitMs, disk }, work);
  }
}

/** Checks one password. Each salt is computed once. */
class PasswordCheck {
  readonly #hashes = new Map<string, Promise<Buffer>>();
  #verifier: Promise<Verifier> | undefined;

  constructor(private readonly password: string) {}

  async matches(stored: Verifier): Promise<boolean> {
    const [expected, found] = [await this.#hash(stored.salt), Buffer.from(stored.hash, "base64")];
    if (found.length !== expected.length || !timingSafeEqual(found, expected)) return false;
    this.#verifier ??= Promise.resolve(stored);
    return true;
  }

  /** A verifier for a session that this password opened; one that matched is used again. */
  verifier(): Promise<Verifier> {
    this.#verifier ??= this.#newVerifier();
    return this.#verifier;
  }

  async #newVerifier(): Promise<Verifier> {
    const salt = randomBytes(BYTES).toString("base64");
    return { algorithm: "scrypt", ...COST, salt, hash: (await this.#hash(salt)).toString("base64") };
  }

  #hash(salt: string): Promise<Buffer> {
    const hash = this.#hashes.get(salt) ?? derive(this.password, Buffer.from(salt, "base64"));
    this.#hashes.set(salt, hash);
    return hash;
  }
}

/** Runs in a separate thread, so that requests go on meanwhile. */
function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, BYTES, { ...COST, maxmem: MAX_MEMORY_BYTES }, (error, hash) =>
      error === null ? resolve(hash) : reject(new NoVerifier(`its password can't be checked (${error.message})`)),
    );
  });
}

/** `<instance_key>_service_cookie`; the key differs per installation (API page, POST rest/authenticate). */
const SESSION_COOKIE = /_service_cookie$/;

/** Loaded for the first session, before anything is noted. A run that sends nothing, such as a preview, does not need it. */
function toughCookie(): typeof import("tough-cookie") {
  return require("tough-cookie") as typeof import("tough-cookie");
}

export class SessionJar {
  #jar = new (toughCookie().CookieJar)();
  /** The last result of {@link header}, for thousands of requests to one address with the same cookies. */
  #last: { readonly href: string; readonly cookies: readonly Cookie[]; readonly header: string } | undefined;

  /** Stores an answer's cookies as a browser would: those of other domains and expired ones are ignored. */
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

  async hasSession(url: URL): Promise<boolean> {
    return (await this.#jar.getCookies(url.href)).some(isSession);
  }

  /**
   * When the session ends, in milliseconds since 1970: the latest end of its cookies for `url`; none if they do not say.
   * @param isLongLived then another cookie, with any name, may say so too (API page, sessions).
   */
  async endsAtMs(url: URL, isLongLived: boolean): Promise<number | undefined> {
    const cookies = (await this.#jar.getCookies(url.href)).filter((cookie) => isLongLived || isSession(cookie));
    const ends = cookies.map((cookie) => cookie.expiryTime()).filter((end) => end !== undefined);
    const stated = ends.filter(Number.isFinite);
    return stated.length === 0 ? undefined : Math.max(...stated);
  }

  replaceWith(other: SessionJar): void {
    this.#jar = other.#jar;
    this.#last = undefined;
  }

  /** The whole jar as plain data, for the cookie file. */
  async toJSON(): Promise<unknown> {
    return this.#jar.serialize();
  }

  /** @throws if `data` is not a serialised jar. */
  static async fromJSON(data: unknown): Promise<SessionJar> {
    const jar = new SessionJar();
    jar.#jar = await toughCookie().CookieJar.deserialize(data as string);
    return jar;
  }
}

/** A cookie of that name without a value is how services end a session. */
function isSession({ key, value }: Cookie): boolean {
  return SESSION_COOKIE.test(key) && value !== "";
}

/** A login sets one or two; a hostile answer may set thousands. */
const MAX_COOKIES = 20;

/** Why these cookies, from a login that reported success, contain no session. */
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
    return `the session cookie that it set is for another domain, not for ${url.hostname}`;
  }
  return `the session cookie that it set does not fit ${url.origin} (path, Secure or expiry)`;
}
