/**
 * Keeps a session in memory between a run's requests, and in the cookie file between runs and processes. The file is a
 * convenience: if it can't be used, a run says so once and goes on without it. Only a later version's file stops a run.
 *
 * Each login writes the file. With `keepLoggedIn`, each request also reads it before and writes it after, because the
 * platform may renew the cookies (the platform's API documentation); the last writer wins. A session is bound to the
 * password that opened it, so that a changed password is tried. For that the file has a salted verifier that is costly
 * to guess (scrypt, RFC 7914), never the password or a fast digest.
 */
import { randomBytes, randomUUID, scryptSync } from "node:crypto";
import { z } from "zod";
import { jsonIn, LoginError, NotSentError, own } from "../base/index.js";
import {
  acquireLock,
  cureFor,
  type Lock,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  systemDisk,
  UnusableFile,
} from "../files/index.js";
import { accountOf } from "../settings/index.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { type CookieResponse, SessionJar } from "./session-jar.js";

/** 32 MiB of memory and about 80 ms on one core per guess. Other values need a new version of the file's format. */
const COST = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const BYTES = 32;

/** The format is a contract: later versions read what this one wrote. */
const FORMAT = { session: "pulumi-advertising", version: 2 } as const;

const formatSchema = z.object({
  session: z.literal(FORMAT.session),
  version: z.literal(FORMAT.version),
  baseUrl: z.string(),
  email: z.string(),
  keepLoggedIn: z.boolean(),
  verifier: z.object({ salt: z.base64(), hash: z.base64() }),
  stamp: z.string().min(1),
  jar: z.unknown().transform(SessionJar.from).pipe(z.instanceof(SessionJar)),
});

type Stored = z.infer<typeof formatSchema>;

export interface OpenSession {
  /** Whether this login uses Basic credentials: then there is no other one. */
  isBasic: boolean;
  /** Whether an earlier run or another process opened it, so that its age and history are unknown. */
  isRestored: boolean;
  headers(url: URL): Promise<Readonly<Record<string, string>>>;
  /** Stores a response's cookies. Never fails, because the response itself is more important. */
  storeCookies(response: CookieResponse, url: URL): Promise<void>;
}

type Opened = Pick<Stored, "jar" | "stamp"> & Pick<OpenSession, "isRestored">;

/** @param logIn opens a new session, valid for an address. */
export function sessionStore(
  { settings, clock, cookieFile, secrets, say }: ClientDependencies,
  logIn: (url: URL) => Promise<SessionJar>,
) {
  const { baseUrl, email, password = "", keepLoggedIn } = settings;
  /** The cookie file; empty if there is none, or it can't be used. */
  let path = cookieFile ?? "";
  let cure: string | undefined;
  /** The login of the last session that was opened. */
  let lastStamp = "";
  let saving = Promise.resolve();

  /**
   * Returns a session for `url` from another login than the last one, stored or new. Processes that need a session at
   * once share one.
   * @param mustBeNew whether a stored session must not be used.
   */
  async function open(url: URL, mustBeNew = false): Promise<Opened & OpenSession> {
    const restore = () => (mustBeNew ? undefined : restored(url));
    const logInNow = async () => ({
      jar: await logIn(url),
      stamp: randomUUID(),
      isRestored: false,
    });
    let opened = await ifFileUsable(restore);
    if (!opened) {
      await locked(async (lock) => {
        // Another process may have logged in while this one waited for the lock.
        opened = restore();
        if (opened) return;
        const salt = randomBytes(BYTES).toString("base64");
        // Computed before the login: if this fails, no login is lost.
        const verifier = { salt, hash: hashed(salt) };
        opened = await logInNow();
        const { jar, stamp } = opened;
        write({ ...FORMAT, baseUrl, email, keepLoggedIn, verifier, stamp, jar }, lock);
      });
    }
    const session = opened ?? (await logInNow());
    lastStamp = session.stamp;
    addToSecrets(session.jar);
    return {
      ...session,
      isBasic: false,
      headers: async (to) => {
        await saving;
        // Another process may have stored newer cookies of this session.
        if (keepLoggedIn) await ifFileUsable(() => refresh(session));
        return { cookie: session.jar.header(to) };
      },
      storeCookies: async (response, from) => {
        if (keepLoggedIn && response.setCookies.length > 0)
          await keep(session, response, from);
      },
    };
  }

  /** The stored session, if it comes from another login than the last one, and from this password. */
  function restored(url: URL) {
    const stored = read();
    if (!stored) return undefined;
    const { jar, stamp, verifier } = stored;
    if (stamp === lastStamp || !jar.hasSession(url)) return undefined;
    // Only the platform can judge a changed password. Until it accepts that, the file stays for runs with the other one.
    if (hashed(verifier.salt) !== verifier.hash) return undefined;
    return { jar, stamp, isRestored: true };
  }

  /** This process uses a response's cookies at once, whatever happens to the file. */
  async function keep(session: Opened, response: CookieResponse, from: URL) {
    session.jar.store(response, from);
    addToSecrets(session.jar);
    const save = (lock: Lock) => {
      const stored = refresh(session);
      if (!stored) return;
      session.jar.store(response, from);
      write(stored, lock);
    };
    // A failure must not stop a create from being reported.
    saving = saving
      .then(() => locked(save))
      .catch(() => abandon("was changed meanwhile and is left as it is"));
    await saving;
  }

  /** Takes over the file's cookies. @returns undefined for another login's file, which must not change */
  function refresh(session: Opened) {
    const stored = read();
    if (stored?.stamp !== session.stamp) return undefined;
    session.jar = stored.jar;
    addToSecrets(session.jar);
    return stored;
  }

  /**
   * @returns `undefined` if the file is absent, damaged or has another keepLoggedIn. @throws UnusableFile; LoginError
   * if a later version wrote it.
   */
  function read() {
    const text = readPrivate(path);
    if (text === undefined) return undefined;
    // trim() also removes a byte order mark.
    const data = jsonIn(text.trim());
    const version = own(data, "version");
    if (typeof version === "number" && version > FORMAT.version)
      throw new LoginError(
        `Nothing was sent: the cookie file ${path} was written by a later version of this ` +
          `package (format ${version}). Use that version, or remove the file.`,
      );
    const { data: stored } = formatSchema.safeParse(data);
    if (!stored) {
      say(`The cookie file ${path} is damaged; the next login replaces it.`);
      return undefined;
    }
    if (accountOf(stored) !== accountOf(settings))
      throw new UnusableFile(
        "it has another account's session",
        "Give each account a file of its own",
      );
    if (stored.keepLoggedIn === keepLoggedIn) return stored;
  }

  function write(stored: Stored, lock: Lock) {
    replacePrivate(path, JSON.stringify(stored), systemDisk, lock.assertHeld);
    removeLeftovers(path, clock.wallMs());
  }

  /** The password's verifier. */
  function hashed(salt: string) {
    return scryptSync(password, Buffer.from(salt, "base64"), BYTES, COST).toString(
      "base64",
    );
  }

  function addToSecrets(jar: SessionJar) {
    for (const value of jar.values()) secrets.addPassing(value);
  }

  function locked(work: (lock: Lock) => void | Promise<void>) {
    // The process that holds the lock may be waiting for the rate limit, as long as this one would.
    const maxWaitMs = (settings.maxWaitSeconds + settings.requestTimeoutSeconds) * 1000;
    return ifFileUsable(async () => {
      const lock = await acquireLock(`${path}.lock`, { clock, maxWaitMs });
      try {
        await work(lock);
      } finally {
        lock.release();
      }
    });
  }

  /**
   * Runs `work`, which uses the file. If it fails, returns undefined, and the run goes on without the file.
   * @throws LoginError
   */
  async function ifFileUsable<T>(work: () => T | Promise<T>) {
    if (path === "") return undefined;
    try {
      return await work();
    } catch (error) {
      // The second one ends a cancelled run.
      if (error instanceof LoginError || error instanceof NotSentError) throw error;
      cure = cureFor(error, path) ?? "Fix that";
      abandon(`is not used: ${(error as Error).message}. ${cure}`);
    }
  }

  function abandon(why: string) {
    say(`The cookie file ${path} ${why}. This run keeps its session in memory.`);
    path = "";
  }

  return {
    open,
    /** If the file can't be used: what to do about it, as a clause. */
    cure: () => cure,
  };
}
