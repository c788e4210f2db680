/**
 * Where a session is kept: between the requests of a run, and for other runs.
 */
import type { SessionJar } from "./jar.js";

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
