/**
 * Where a session is kept: in memory between the requests of a run, and in a file for other processes and runs. The file is a
 * convenience: if anything is wrong with it, a run goes on without it, and says so once. Only a file of a later version of this
 * package stops the run.
 *
 * The file is written at a login, and only read otherwise; for long-lived sessions it is read before and written after every request
 * (API page, sessions). The cookies of the latest answer are the newest. The file has the newest cookies of all processes, except
 * those that this process still has to write.
 */
import { LockHeld, LockLost, UntrustedFile } from "../files/index.js";
import type { Settings } from "../settings/index.js";
import { NoVerifier, SessionFile, type SessionJar } from "./session-file.js";
import type { Surroundings } from "./surroundings.js";

export interface OpenedSession {
  readonly jar: SessionJar;
  readonly loginId: string;
  /** Opened by an earlier run or another process, so that its age and history are not known. */
  readonly restored: boolean;
}

interface Arrival {
  readonly setCookies: readonly string[];
  readonly url: URL;
  readonly atMs: number;
}

export class SessionStore {
  readonly #surroundings: Surroundings;
  /** Absent if there is none, and once it turned out not to be usable. */
  #file: SessionFile | undefined;
  /** The login that the file is kept for. */
  #current: OpenedSession | undefined;
  /** The cookies of that login that are not in the file yet, in the order of their arrival. */
  #unsaved: Arrival[] = [];
  #saving: Promise<void> | undefined;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(settings: Settings, surroundings: Surroundings) {
    const { cookieFile } = surroundings;
    this.#surroundings = surroundings;
    if (cookieFile !== undefined && settings.authMode !== "basic")
      this.#file = new SessionFile(cookieFile, settings, surroundings);
  }

  /**
   * A session of a different login from `ended`: a stored one, or a new one from `logIn`. Processes that need one at the same time share
   * one login.
   * @param isUsable whether a stored jar has a session for the platform.
   */
  async open(
    ended: string | undefined,
    logIn: () => Promise<SessionJar>,
    isUsable: (jar: SessionJar) => Promise<boolean>,
  ): Promise<OpenedSession> {
    const { clock, newId } = this.#surroundings;
    const logInNow = async () => ({ jar: await logIn(), loginId: newId(), restored: false });
    const restore = async (file: SessionFile): Promise<OpenedSession | undefined> => {
      const stored = await file.read();
      if (stored === undefined || stored.loginId === ended || !(await isUsable(stored.jar))) return undefined;
      // The platform decides about a changed password. Until it accepts that, the file stays for runs with the other one.
      if (!(await stored.hasSamePassword())) return undefined;
      return { jar: stored.jar, loginId: stored.loginId, restored: true };
    };
    let session = await this.#attempt(restore);
    if (session === undefined) {
      await this.#attempt((file) =>
        file.locked(async (lock) => {
          session = await restore(file); // another process may have logged in while this one waited for the lock
          if (session !== undefined) return;
          file.prepare();
          session = await logInNow();
          await file.write({ ...session, newestAtMs: clock.wallMs() }, lock);
        }),
      );
    }
    this.#current = session ?? (await logInNow());
    this.#unsaved = [];
    return this.#current;
  }

  /** Long-lived sessions: the newest cookies, also if another process has stored them. */
  async newest(session: OpenedSession): Promise<SessionJar> {
    await this.#attempt((file) => this.#inTurn(() => this.#merge(session, file)));
    return session.jar;
  }

  /** Long-lived sessions: stores the cookies of an answer. Never fails, because a create must still be reported. */
  async keep(session: OpenedSession, setCookies: readonly string[], url: URL): Promise<void> {
    // An answer of an ended login comes too late.
    const isShared = session === this.#current && this.#file !== undefined;
    if (isShared) this.#unsaved.push({ setCookies, url, atMs: this.#surroundings.clock.wallMs() });
    session.jar.store(setCookies, url); // at once for this process, whatever happens to the file
    if (!isShared) return;
    // Answers that come while one write is under way share the next one.
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
    await this.#saving;
  }

  async #saveAll(): Promise<void> {
    while (this.#unsaved.length > 0 && this.#current !== undefined && this.#file !== undefined) {
      const session = this.#current;
      // This runs after an answer, so in spite of any failure the create must still be reported.
      const saved = this.#attempt((file) =>
        file.locked((lock) =>
          this.#inTurn(async () => {
            const count = this.#unsaved.length; // later ones may be merged too, and are then written a second time
            const newestAtMs = await this.#merge(session, file);
            if (newestAtMs !== undefined) await file.write({ ...session, newestAtMs }, lock);
            if (session === this.#current) this.#unsaved.splice(0, count);
          }),
        ),
      );
      await saved.catch(() => this.#abandon("was changed meanwhile and is left as it is"));
    }
  }

  /**
   * Fills the session's jar with the file's cookies and those that came later.
   * @returns when the newest cookies to write arrived; none if there are none.
   */
  async #merge(session: OpenedSession, file: SessionFile): Promise<number | undefined> {
    const stored = await file.read();
    // If this or another process has logged in again meanwhile, those cookies must stay.
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

  /** A time in the future is from a wrong clock. */
  #isOlder(atMs: number, storedAtMs: number): boolean {
    return atMs < storedAtMs && storedAtMs <= this.#surroundings.clock.wallMs();
  }

  /** Runs one after the other, so that what was read is still true when it is used. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }

  /** Runs `work` with the file. If the file is the trouble, the run goes on without it. */
  async #attempt<T>(work: (file: SessionFile) => Promise<T>): Promise<T | undefined> {
    if (this.#file === undefined) return undefined;
    try {
      return await work(this.#file);
    } catch (error) {
      const reason = fileTrouble(error);
      if (reason === undefined) throw error;
      this.#abandon(`is not used: ${reason}`);
      return undefined;
    }
  }

  #abandon(why: string): void {
    this.#file = undefined;
    const { say, cookieFile } = this.#surroundings;
    say(`The cookie file ${cookieFile} ${why}. This run keeps its session in memory.`);
  }
}

/** Why the file can't be used; none if the error is not about the file. */
function fileTrouble(error: unknown): string | undefined {
  if ([UntrustedFile, LockHeld, LockLost, NoVerifier].some((kind) => error instanceof kind)) {
    return (error as Error).message;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined || code === undefined ? undefined : `${code} (${syscall})`;
}
