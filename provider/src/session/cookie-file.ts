/**
 * Keeps the session in a file, for other processes and later runs. The file is a convenience: whatever is wrong with it,
 * a run goes on without it, and says so once; only a file of a later version of this package stops it.
 *
 * Written only when logging in, and just read otherwise; for long-lived sessions read before and written after every
 * request (API page, sessions).
 */
import { stat } from "node:fs/promises";
import { z } from "zod";
import type { Clock } from "../clock.js";
import { LoginError } from "../errors.js";
import { type Lock, LockHeld, LockLost, withLock } from "../files/lock.js";
import type { Account } from "../files/places.js";
import { readPrivate, removeLeftovers, replacePrivate, UntrustedFile } from "../files/private-file.js";
import { SessionJar } from "./jar.js";
import { NoVerifier, PasswordCheck, type Verifier, verifierSchema } from "./password-check.js";
import { memoryStore, type OpenedSession, type SessionStore } from "./store.js";

/** The format is a contract: later versions read what this one wrote. 1 did not say which password opened the session. */
const VERSION = 2;
const MAX_FILE_BYTES = 1024 * 1024;

const storedSchema = z.object({
  session: z.literal("pulumi-advertising"),
  version: z.literal(VERSION),
  baseUrl: z.string(),
  email: z.string(),
  keepLoggedIn: z.boolean(),
  /** Of the password that opened the session. */
  verifier: verifierSchema,
  /** Unlike that of every other login. */
  stamp: z.string().min(1),
  /** How often the cookies were replaced since that login. */
  revision: z.int().min(0),
  /** When the answer with the newest cookies came, in milliseconds since 1970. */
  newestAtMs: z.number(),
  jar: z.unknown(),
});

interface Stored {
  readonly verifier: Verifier;
  readonly stamp: string;
  readonly revision: number;
  readonly newestAtMs: number;
  readonly jar: SessionJar;
}

/** Cookies that an answer brought. */
interface Arrival {
  readonly setCookies: readonly string[];
  readonly url: URL;
  readonly atMs: number;
}

export interface CookieFileOptions {
  readonly path: string;
  readonly account: Account;
  readonly password: string;
  readonly keepLoggedIn: boolean;
  readonly clock: Clock;
  readonly newStamp: () => string;
  /** How long another process's login may be waited for. */
  readonly maxLockWaitMs: number;
  readonly say: (message: string) => void;
  /** Told each jar that was read, so that its values are scrubbed from then on. */
  readonly onRead: (jar: SessionJar) => Promise<void>;
}

export class CookieFile implements SessionStore {
  readonly #options: CookieFileOptions;
  readonly #memory: SessionStore;
  readonly #password: PasswordCheck;
  /** Set once the file turned out not to be usable. */
  #abandoned = false;
  #revision = 0;
  #seenChange = "";
  /** Of the cookies in the file, as far as they are known here. */
  #newestAtMs = 0;
  /** The login that the file is kept for. */
  #current: OpenedSession | undefined;
  /** Of that login; not in the file yet, in the order of their coming. */
  #unsaved: Arrival[] = [];
  #keeping: Promise<void> | undefined;

  constructor(options: CookieFileOptions) {
    this.#options = options;
    this.#memory = memoryStore(options.newStamp);
    this.#password = new PasswordCheck(options.password);
  }

  async open(
    ended: string | undefined,
    logIn: () => Promise<SessionJar>,
    isUsable: (jar: SessionJar) => Promise<boolean>,
  ): Promise<OpenedSession> {
    const fromFile = async (): Promise<OpenedSession | undefined> => {
      const stored = await this.#read();
      if (stored === undefined || stored.stamp === ended || !(await isUsable(stored.jar))) return undefined;
      // The platform decides about a changed password. Until it takes it, the file stays for whoever has the other one.
      if (!(await this.#password.matches(stored.verifier))) return undefined;
      this.#revision = stored.revision;
      this.#newestAtMs = stored.newestAtMs;
      return { jar: stored.jar, stamp: stored.stamp, restored: true };
    };
    const found = await this.#attempt(fromFile);
    if (found !== undefined) return this.#begin(found);

    let opened: OpenedSession | undefined;
    await this.#attempt(() =>
      this.#locked(async (lock) => {
        // Another process may have logged in while this one waited for the lock.
        opened = await fromFile();
        if (opened !== undefined) return;
        this.#password.verifier().catch(() => undefined); // computed meanwhile; awaited when it is written
        opened = await this.#memory.open(ended, logIn, isUsable);
        this.#revision = 0;
        this.#newestAtMs = this.#options.clock.wallMs();
        await this.#write(opened, lock);
      }),
    );
    return this.#begin(opened ?? (await this.#memory.open(ended, logIn, isUsable)));
  }

  #begin(session: OpenedSession): OpenedSession {
    this.#current = session;
    this.#unsaved = [];
    return session;
  }

  async newest(session: OpenedSession): Promise<SessionJar> {
    await this.#attempt(async () => {
      const { mtimeMs, ino, size } = await stat(this.#options.path);
      const change = `${mtimeMs} ${ino} ${size}`;
      if (change === this.#seenChange) return;
      await this.#takeOver(session);
      this.#seenChange = change;
    });
    return session.jar;
  }

  async keep(session: OpenedSession, setCookies: readonly string[], url: URL): Promise<void> {
    const atMs = this.#options.clock.wallMs();
    await session.jar.store(setCookies, url); // at once for this process, whatever becomes of the file
    if (session.stamp !== this.#current?.stamp) return; // late, of a login that has ended
    this.#unsaved.push({ setCookies, url, atMs });
    // Answers that come while one write is under way share the next one.
    this.#keeping ??= this.#saveAll().finally(() => {
      this.#keeping = undefined;
    });
    await this.#keeping;
  }

  async #saveAll(): Promise<void> {
    while (this.#unsaved.length > 0 && this.#current !== undefined) {
      const session = this.#current;
      let count = this.#unsaved.length;
      // What comes up here comes up after an answer: the create must still be reported.
      const file = this.#attempt(() =>
        this.#locked(async (lock) => {
          const stored = await this.#takeOver(session);
          // Meanwhile this process has logged in anew, or another one has: theirs must stay.
          if (session !== this.#current || (stored !== undefined && stored.stamp !== session.stamp)) return;
          count = this.#unsaved.length;
          const newer = this.#unsaved.filter((arrival) => this.#isNewer(arrival));
          if (newer.length === 0) return; // while this one waited for the lock, later ones were written
          this.#newestAtMs = newer.at(-1)?.atMs ?? 0;
          this.#revision++;
          await this.#write(session, lock);
        }),
      );
      await file.catch(() => {
        this.#abandoned = true;
        this.#options.say(
          `The session file ${this.#options.path} was changed meanwhile and is left as it is. This run keeps its session in memory.`,
        );
      });
      if (session === this.#current) this.#unsaved.splice(0, count);
    }
  }

  /**
   * Puts the stored cookies into the session's jar where they are of the same login and newer.
   * @returns what is stored.
   */
  async #takeOver(session: OpenedSession): Promise<Stored | undefined> {
    const stored = await this.#read();
    if (stored === undefined || stored.stamp !== session.stamp || stored.revision <= this.#revision) return stored;
    this.#revision = stored.revision;
    this.#newestAtMs = stored.newestAtMs;
    session.jar.replaceWith(stored.jar);
    for (const arrival of this.#unsaved) {
      if (this.#isNewer(arrival)) await session.jar.store(arrival.setCookies, arrival.url);
    }
    return stored;
  }

  /** Whether it came after what the file holds; a moment in the future is that of a clock that was set. */
  #isNewer({ atMs }: Arrival): boolean {
    return atMs >= this.#newestAtMs || this.#newestAtMs > this.#options.clock.wallMs();
  }

  async #read(): Promise<Stored | undefined> {
    const { path, account, keepLoggedIn, say, onRead } = this.#options;
    const bytes = await readPrivate(path, MAX_FILE_BYTES);
    if (bytes === undefined) return undefined;
    let data: unknown;
    try {
      data = JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
    } catch {
      data = undefined;
    }
    const version = (data as { version?: unknown } | null | undefined)?.version;
    if (version === 1) return undefined; // replaced at the login that follows
    if (typeof version === "number" && version > VERSION) {
      throw new LoginError(
        `Nothing was sent: the session file ${path} was written by a later version of this package (format ${version}), and is left ` +
          "as it is. Use that version, or remove the file: the next run then logs in anew",
      );
    }
    const stored = storedSchema.safeParse(data);
    const jar = stored.success ? await SessionJar.fromJSON(stored.data.jar).catch(() => undefined) : undefined;
    if (!stored.success || jar === undefined) {
      say(`The session file ${path} is damaged; it is written anew at the next login.`);
      return undefined;
    }
    const { baseUrl, email, keepLoggedIn: storedMode, verifier, stamp, revision, newestAtMs } = stored.data;
    if (baseUrl !== account.baseUrl || email !== account.email) {
      throw new UntrustedFile("it holds another account's session; give each account a file of its own");
    }
    await onRead(jar);
    return storedMode === keepLoggedIn ? { verifier, stamp, revision, newestAtMs, jar } : undefined;
  }

  async #write({ jar, stamp }: OpenedSession, lock: Lock): Promise<void> {
    const { path, account, keepLoggedIn, newStamp, clock } = this.#options;
    const stored: z.infer<typeof storedSchema> = {
      session: "pulumi-advertising",
      version: VERSION,
      baseUrl: account.baseUrl,
      email: account.email,
      keepLoggedIn,
      verifier: await this.#password.verifier(),
      stamp,
      revision: this.#revision,
      newestAtMs: this.#newestAtMs,
      jar: await jar.toJSON(),
    };
    await replacePrivate(path, JSON.stringify(stored), newStamp(), lock.confirm);
    await removeLeftovers(path, clock.wallMs());
  }

  #locked<T>(work: (lock: Lock) => Promise<T>): Promise<T> {
    const { path, clock, newStamp, maxLockWaitMs } = this.#options;
    return withLock(`${path}.lock`, { clock, unique: newStamp(), maxWaitMs: maxLockWaitMs }, work);
  }

  /** Runs what needs the file; where the file is the trouble, the run goes on without it. */
  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#abandoned) return undefined;
    try {
      return await work();
    } catch (error) {
      const reason = fileTrouble(error);
      if (reason === undefined) throw error;
      if (reason === MISSING) return undefined;
      this.#abandoned = true;
      this.#options.say(
        `The session file ${this.#options.path} is not used: ${reason}. This run keeps its session in memory.`,
      );
      return undefined;
    }
  }
}

const MISSING = "";

/** Why the file can't be used; none where the error is not about the file. */
function fileTrouble(error: unknown): string | undefined {
  if ([UntrustedFile, LockHeld, LockLost, NoVerifier].some((kind) => error instanceof kind)) {
    return (error as Error).message;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined || code === undefined) return undefined;
  return code === "ENOENT" && syscall === "stat" ? MISSING : `${code} (${syscall})`;
}
