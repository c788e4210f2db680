/**
 * A login for its own sake: nothing else is sent on it, and what is stored is replaced. So the credentials are checked, and
 * later runs find a session of full length.
 */
import type { Clock } from "../base/index.js";
import type { Settings } from "../settings/index.js";
import type { CredentialsOptions } from "./credentials.js";
import { logIn } from "./login.js";
import type { SessionStore } from "./session-store.js";

/** What the platform grants where a cookie does not say when it ends (API page, sessions). */
const BY_DEFAULT_MS = { short: 15 * 60_000, longLived: 30 * 24 * 3_600_000 } as const;

export interface RenewOptions extends CredentialsOptions {
  readonly clock: Clock;
  /** Where the session must be good for. */
  readonly url: URL;
  /** The same place, as another process would come to it. */
  readonly stored: SessionStore;
}

export interface NewSession {
  /** Milliseconds since 1970. */
  readonly endsAtMs: number;
  /** Whether the platform's answer says so; otherwise it is the platform's default. */
  readonly isEndStated: boolean;
  /** Whether other processes find it. */
  readonly isKept: boolean;
}

/** Logs in once. @throws LoginError */
export async function renewSession(options: RenewOptions): Promise<NewSession> {
  const { settings, sender, secrets, store, stored, clock, url } = options;
  const clean = (text: string) => secrets.scrub(text);
  const { jar } = await store.open(
    undefined,
    () => logIn({ settings, sender, usedAt: url, clean }),
    async () => false,
  );
  const stated = await jar.endsAtMs(url, settings.keepLoggedIn);
  return {
    endsAtMs: stated ?? clock.wallMs() + defaultMs(settings),
    isEndStated: stated !== undefined,
    isKept: await isFound(stored, url),
  };
}

function defaultMs({ keepLoggedIn }: Settings): number {
  return keepLoggedIn ? BY_DEFAULT_MS.longLived : BY_DEFAULT_MS.short;
}

/** Nothing is sent where it is not. */
async function isFound(store: SessionStore, url: URL): Promise<boolean> {
  const refuse = async () => {
    throw new Error("no session is stored");
  };
  return store
    .open(undefined, refuse, (jar) => jar.hasSession(url))
    .then(
      () => true,
      () => false,
    );
}
