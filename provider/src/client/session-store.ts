/**
 * Where a session is kept: between the requests of a run in memory, for other processes and runs in a file that they share.
 * The file is a convenience: whatever is wrong with it, a run goes on without it, and says so once; only a file of a later
 * version of this package stops it.
 *
 * The file is written only when logging in, and just read otherwise; for long-lived sessions it is read before and written
 * after every request (API page, sessions). The moment at which an answer came tells what is newer: the file holds the newest
 * cookies of all processes, but for those that came after them and are still to be written by this one.
 */
import { LockHeld, LockLost, UntrustedFile } from "../files/index.js";
import type { SessionJar } from "./jar.js";
import { NoVerifier, SessionFile, type SessionFileOptions } from "./session-file.js";

/** A session as it was found or opened. */
export interface OpenedSession {
  readonly jar: SessionJar;
  /** Identifies the login. */
  readonly loginId: string;
  /** Opened by an earlier run or another process: its age and fate are not known. */
  readonly restored: boolean;
}

export interface SessionStore {
  /**
   * A session of another login than `ended`: a stored one, or a new one from `logIn`. Processes that ask for one at
   * the same time share one login.
   * @param isUsable whether a stored jar holds a session for the platform.
   */
  open(
    ended: string | undefined,
    logIn: () => Promise<SessionJar>,
    isUsable: (jar: SessionJar) => Promise<boolean>,
  ): Promise<OpenedSession>;
  /** Long-lived sessions: the newest cookies, where another process has stored newer ones. */
  newest(session: OpenedSession): Promise<SessionJar>;
  /** Long-lived sessions: takes in the cookies of an answer. Never fails: a create must still be reported. */
  keep(session: OpenedSession, setCookies: readonly string[], url: URL): Promise<void>;
}

/** For this process only. */
export function memoryStore(newId: () => string): SessionStore {
  return {
    async open(_ended, logIn) {
      return { jar: await logIn(), loginId: newId(), restored: false };
    },
    async newest({ jar }) {
      return jar;
    },
    async keep({ jar }, setCookies, url) {
      jar.store(setCookies, url);
    },
  };
}

/** Cookies that an answer brought. */
interface Arrival {
  readonly setCookies: readonly string[];
  readonly url: URL;
  readonly atMs: number;
}

export class SharedStore implements SessionStore {
  readonly #options: SessionFileOptions;
  readonly #file: SessionFile;
  readonly #memory: SessionStore;
  /** Set once the file turned out not to be usable. */
  #isAbandoned = false;
  /** The login that the file is kept for. */
  #current: OpenedSession | undefined;
  /** The cookies of that login that are not in the file yet, in the order of their coming. */
  #unsaved: Arrival[] = [];
  #saving: Promise<void> | undefined;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(options: SessionFileOptions) {
    this.#options = options;
    this.#file = new SessionFile(options);
    this.#memory = memoryStore(options.newId);
  }

  async open(
    ended: string | undefined,
    logIn: () => Promise<SessionJar>,
    isUsable: (jar: SessionJar) => Promise<boolean>,
  ): Promise<OpenedSession> {
    const restore = async (): Promise<OpenedSession | undefined> => {
      const stored = await this.#file.read();
      if (stored === undefined || stored.loginId === ended || !(await isUsable(stored.jar))) return undefined;
      // The platform decides about a changed password. Until it takes it, the file stays for those that have the other one.
      if (!(await stored.hasSamePassword())) return undefined;
      return { jar: stored.jar, loginId: stored.loginId, restored: true };
    };
    let session = await this.#attempt(restore);
    if (session === undefined) {
      await this.#attempt(() =>
        this.#file.locked(async (lock) => {
          session = await restore(); // another process may have logged in while this one waited for the lock
          if (session !== undefined) return;
          this.#file.prepare();
          session = await this.#memory.open(ended, logIn, isUsable);
          await this.#file.write({ ...session, newestAtMs: this.#options.clock.wallMs() }, lock);
        }),
      );
    }
    this.#current = session ?? (await this.#memory.open(ended, logIn, isUsable));
    this.#unsaved = [];
    return this.#current;
  }

  async newest(session: OpenedSession): Promise<SessionJar> {
    await this.#attempt(() => this.#inTurn(() => this.#merge(session)));
    return session.jar;
  }

  async keep(session: OpenedSession, setCookies: readonly string[], url: URL): Promise<void> {
    // Of a login that has ended it comes late.
    const isShared = session === this.#current && !this.#isAbandoned;
    if (isShared) this.#unsaved.push({ setCookies, url, atMs: this.#options.clock.wallMs() });
    session.jar.store(setCookies, url); // at once for this process, whatever becomes of the file
    if (!isShared) return;
    // Answers that come while one write is under way share the next one.
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
    await this.#saving;
  }

  async #saveAll(): Promise<void> {
    while (this.#unsaved.length > 0 && this.#current !== undefined && !this.#isAbandoned) {
      const session = this.#current;
      // What comes up here comes up after an answer: the create must still be reported.
      const saved = this.#attempt(() =>
        this.#file.locked((lock) =>
          this.#inTurn(async () => {
            const count = this.#unsaved.length; // later ones may be merged too: they are written once more
            const newestAtMs = await this.#merge(session);
            if (newestAtMs !== undefined) await this.#file.write({ ...session, newestAtMs }, lock);
            if (session === this.#current) this.#unsaved.splice(0, count);
          }),
        ),
      );
      await saved.catch(() => {
        this.#isAbandoned = true;
        this.#options.say(
          `The session file ${this.#options.path} was changed meanwhile and is left as it is. This run keeps its session in memory.`,
        );
      });
    }
  }

  /**
   * Makes the session's jar what the file holds, and what came after that.
   * @returns when the newest cookies that are to be written came; none where there are none.
   */
  async #merge(session: OpenedSession): Promise<number | undefined> {
    const stored = await this.#file.read();
    // Meanwhile this process has logged in again, or another one has: theirs must stay.
    if (session !== this.#current || (stored !== undefined && stored.loginId !== session.loginId)) return undefined;
    const jar = stored?.jar ?? session.jar;
    let newestAtMs: number | undefined;
    for (const { setCookies, url, atMs } of this.#unsaved) {
      if (stored !== undefined && this.#isOlder(atMs, stored.newestAtMs)) continue;
      jar.store(setCookies, url);
      newestAtMs = atMs;
    }
    session.jar.replaceWith(jar);
    return newestAtMs;
  }

  /** A moment in the future is that of a clock that was set. */
  #isOlder(atMs: number, storedAtMs: number): boolean {
    return atMs < storedAtMs && storedAtMs <= this.#options.clock.wallMs();
  }

  /** One after the other, so that what was read is still true when it is used. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }

  /** Runs what needs the file; where the file is the trouble, the run goes on without it. */
  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#isAbandoned) return undefined;
    try {
      return await work();
    } catch (error) {
      const reason = fileTrouble(error);
      if (reason === undefined) throw error;
      this.#isAbandoned = true;
      this.#options.say(
        `The session file ${this.#options.path} is not used: ${reason}. This run keeps its session in memory.`,
      );
      return undefined;
    }
  }
}

/** Says why the file can't be used; none if the error is not about the file. */
function fileTrouble(error: unknown): string | undefined {
  if ([UntrustedFile, LockHeld, LockLost, NoVerifier].some((kind) => error instanceof kind)) {
    return (error as Error).message;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined || code === undefined ? undefined : `${code} (${syscall})`;
}
