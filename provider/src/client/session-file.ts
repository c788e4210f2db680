/**
 * A session between a run's requests, in memory, and between runs and processes, in the cookie file, a convenience: if
 * anything is wrong with it, a run goes on without it and says so once. Only a later version's file stops it.
 *
 * A login writes it, else it is only read; for long-lived sessions each request reads it before and writes it after
 * (API page, sessions); the last writer wins. A session is bound to the password that opened it, so that a changed one
 * is tried: the file has a salted verifier, costly to guess (scrypt, RFC 7914), never the password or a fast digest.
 */
import { randomBytes, randomUUID, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { z } from "zod";
import { jsonIn, LoginError, own } from "../base/index.js";
import {
  cureFor,
  type Lock,
  readPrivate,
  removeLeftovers,
  replacePrivate,
  systemDisk,
  UntrustedFile,
  withLock,
} from "../files/index.js";
import { accountOf } from "../settings/index.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { type CookieResponse, SessionJar } from "./session-jar.js";

/** 32 MiB of memory and about 80 ms on one core per guess. Other values need a new version of the file's format. */
const COST = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;
const BYTES = 32;

/** The format is a contract: later versions read what this one wrote. */
const SESSION_FILE_VERSION = 2;

const formatSchema = z.object({
  session: z.literal("pulumi-advertising"),
  version: z.literal(SESSION_FILE_VERSION),
  baseUrl: z.string(),
  email: z.string(),
  keepLoggedIn: z.boolean(),
  verifier: z.object({ salt: z.base64(), hash: z.base64() }),
  stamp: z.string().min(1),
  jar: z.unknown().transform(SessionJar.from).pipe(z.instanceof(SessionJar)),
});

type Stored = z.infer<typeof formatSchema>;

export interface Login {
  /** With Basic credentials there is no other login. */
  isBasic: boolean;
  /** Opened by an earlier run or another process, so that its age and history are not known. */
  isRestored: boolean;
  headers(url: URL): Promise<Readonly<Record<string, string>>>;
  /** Stores an answer's cookies. Never fails, because the answer itself is more important. */
  keep(response: CookieResponse, url: URL): Promise<void>;
}

type Opened = Pick<Stored, "jar" | "stamp"> & Pick<Login, "isRestored">;

export class SessionStore {
  /** What would make the file usable again, as a clause, once it turned out not to be. */
  cure: string | undefined;
  /** Absent if there is none, and once it turned out not to be usable. */
  #path: string | undefined;
  #current: Opened | undefined;
  /** The cookies of that login that are not in the file yet, in the order of their arrival, and from where. */
  #unsaved: (readonly [CookieResponse, from: URL])[] = [];
  #saving = Promise.resolve();

  constructor(
    private readonly dependencies: ClientDependencies,
    private readonly logIn: (url: URL) => Promise<SessionJar>,
  ) {
    this.#path = dependencies.cookieFile;
  }

  /**
   * A session for `url`, of another login than the last one: stored, or new. Processes that need one at once share it.
   * @param mustBeNew whether it must be a new one.
   */
  async open(url: URL, mustBeNew = false): Promise<Opened & Login> {
    const { baseUrl, email, keepLoggedIn } = this.dependencies.settings;
    const restore = async () => (mustBeNew ? undefined : this.#restore(url));
    const logInNow = async (): Promise<Opened> => ({
      jar: await this.logIn(url),
      stamp: randomUUID(),
      isRestored: false,
    });
    let opened = await this.#withFile(restore);
    if (!opened) {
      await this.#locked(async (lock) => {
        // Another process may have logged in while this one waited for the lock.
        opened = await restore();
        if (opened) return;
        const salt = randomBytes(BYTES).toString("base64");
        // Computed before the login, which must not be lost.
        const hash = await this.#hash(salt);
        opened = await logInNow();
        const stored: Stored = {
          session: "pulumi-advertising",
          version: SESSION_FILE_VERSION,
          baseUrl,
          email,
          keepLoggedIn,
          verifier: { salt, hash },
          stamp: opened.stamp,
          jar: opened.jar,
        };
        this.#write(stored, lock);
      });
    }
    const session = opened ?? (await logInNow());
    this.#unsaved = [];
    this.#current = session;
    this.#addToSecrets(session.jar);
    return {
      ...session,
      isBasic: false,
      headers: async (to) => {
        // Another process may have stored newer cookies of a long-lived session, and every answer may bring newer ones.
        if (keepLoggedIn) await this.#withFile(() => this.#merge(session));
        return { cookie: session.jar.header(to) };
      },
      keep: async (response, from) => {
        if (keepLoggedIn && response.setCookies.length > 0)
          await this.#keep(session, response, from);
      },
    };
  }

  /** The stored session, if it is of another login than the last one. */
  async #restore(url: URL): Promise<Opened | undefined> {
    const stored = this.#read();
    if (!stored) return undefined;
    const { jar, stamp, verifier } = stored;
    if (stamp === this.#current?.stamp || !jar.hasSession(url)) return undefined;
    // The platform decides on a changed password. Until it accepts that, the file stays for runs with the other one.
    if ((await this.#hash(verifier.salt)) !== verifier.hash) return undefined;
    return { jar, stamp, isRestored: true };
  }

  async #keep(session: Opened, response: CookieResponse, from: URL) {
    // At once for this process, whatever happens to the file.
    session.jar.store(response, from);
    this.#addToSecrets(session.jar);
    // An answer of an ended login comes too late.
    if (session !== this.#current || this.#path === undefined) return;
    this.#unsaved.push([response, from]);
    const save = (lock: Lock) => {
      const stored = this.#current && this.#merge(this.#current);
      if (stored) this.#write(stored, lock);
      this.#unsaved = [];
    };
    // Answers that come while one write is under way share the next. Whatever fails, the create must be reported.
    this.#saving = this.#saving
      .then(() => (this.#unsaved.length === 0 ? undefined : this.#locked(save)))
      .catch(() => this.#abandon("was changed meanwhile and is left as it is"));
    await this.#saving;
  }

  /** Fills the jar from the file, then with unsaved cookies. @returns what to write, if the file is of this login. */
  #merge(session: Opened): Stored | undefined {
    const stored = this.#read();
    if (stored?.stamp !== session.stamp) return undefined;
    for (const [response, from] of this.#unsaved) stored.jar.store(response, from);
    session.jar.replaceWith(stored.jar);
    this.#addToSecrets(session.jar);
    return stored;
  }

  /**
   * @returns `undefined` if absent, damaged or with another keepLoggedIn. @throws UntrustedFile; LoginError for a
   * later version.
   */
  #read(): Stored | undefined {
    const { settings, say } = this.dependencies;
    const path = this.#path ?? "";
    const text = readPrivate(path);
    if (text === undefined) return undefined;
    // Without a byte order mark.
    const data = jsonIn(text.trim());
    const version = own(data, "version");
    if (typeof version === "number" && version > SESSION_FILE_VERSION) {
      throw new LoginError(
        `Nothing was sent: the cookie file ${path} was written by a later version of this ` +
          `package (format ${version}). Use that version, or remove the file.`,
      );
    }
    const { data: stored } = formatSchema.safeParse(data);
    if (!stored) {
      say(`The cookie file ${path} is damaged; the next login replaces it.`);
      return undefined;
    }
    if (accountOf(stored) !== accountOf(settings))
      throw new UntrustedFile(
        "it has another account's session",
        "Give each account a file of its own",
      );
    return stored.keepLoggedIn === settings.keepLoggedIn ? stored : undefined;
  }

  #write(stored: Stored, lock: Lock) {
    const path = this.#path ?? "";
    replacePrivate(path, JSON.stringify(stored), systemDisk, lock.assertHeld);
    removeLeftovers(path, this.dependencies.clock.wallMs(), systemDisk);
  }

  /** Runs in a separate thread, so that requests go on meanwhile. */
  async #hash(salt: string) {
    const { password = "" } = this.dependencies.settings;
    const derive = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt);
    const hash = await derive(password, Buffer.from(salt, "base64"), BYTES, COST).catch(
      // For example because scrypt is not allowed on this machine.
      ({ message }: Error) => {
        throw new UntrustedFile(
          `the password of its session can't be checked (${message})`,
        );
      },
    );
    return hash.toString("base64");
  }

  #addToSecrets(jar: SessionJar) {
    for (const value of jar.values()) this.dependencies.secrets.addPassing(value);
  }

  #locked(work: (lock: Lock) => void | Promise<void>) {
    const { settings, clock } = this.dependencies;
    // Another process's login may have to wait for the rate limit, as long as this one would.
    const maxWaitMs = (settings.maxWaitSeconds + settings.requestTimeoutSeconds) * 1000;
    return this.#withFile(() => withLock(`${this.#path}.lock`, { clock, maxWaitMs }, work));
  }

  /** Runs `work` with the file. If the file is the trouble, the run goes on without it. */
  async #withFile<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    if (this.#path === undefined) return undefined;
    try {
      return await work();
    } catch (error) {
      const { code, syscall, message } = error as NodeJS.ErrnoException;
      const isOfFiles = error instanceof UntrustedFile;
      if (!isOfFiles && (code === undefined || syscall === undefined)) throw error;
      this.cure = cureFor(error, this.#path) ?? "Fix that";
      this.#abandon(
        `is not used: ${isOfFiles ? message : `${code} (${syscall})`}. ${this.cure}`,
      );
      return undefined;
    }
  }

  #abandon(why: string) {
    this.dependencies.say(
      `The cookie file ${this.#path} ${why}. This run keeps its session in memory.`,
    );
    this.#path = undefined;
  }
}
