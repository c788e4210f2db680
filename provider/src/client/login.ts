/**
 * One login: what is sent, and what its answers mean. It bypasses the session, and never repeats refused credentials. The
 * session logs in where it has none; the command `login` does so for its own sake ({@link renewSession}).
 */
import { type Clock, enumerate, LoginError, type Values } from "../base/index.js";
import type { Settings } from "../settings/index.js";
import { type Answer, readAnswer } from "./answer.js";
import { saysRefused } from "./evidence.js";
import { SessionJar, whyNoSession } from "./jar.js";
import { type PatientSender, StopWaiting } from "./patient.js";
import { describeFailure } from "./retry.js";
import type { SessionStore } from "./session-store.js";
import { TransportFailure } from "./transport.js";
import { type Clean, wordsOf } from "./words.js";

export interface LoginRequest {
  readonly settings: Settings;
  readonly sender: PatientSender;
  /** The cookies must be good for this address. */
  readonly usedAt: URL;
  /** Removes secrets from the platform's words. */
  readonly clean: Clean;
}

/** @returns the cookies of a new session. @throws {LoginError} with the cause and the next step. */
export async function logIn({ settings, sender, usedAt, clean }: LoginRequest): Promise<SessionJar> {
  const url = new URL(`${settings.baseUrl}/${settings.authenticatePath}`);
  const asked = `The login of ${settings.email} at ${url.href} failed`;
  const nothingSent = "No create was sent.";
  const sent = {
    email: settings.email,
    password: settings.password,
    ...(settings.keepLoggedIn ? { keep_logged_in: true } : {}),
  };
  const request = {
    method: "POST" as const,
    url,
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(sent),
  };

  let answer: Answer;
  try {
    // A login may be repeated where its outcome is unknown: a second session does no harm.
    answer = readAnswer(await sender.send(() => request, { repeatable: true, patience: sender.patience() }));
  } catch (error) {
    if (error instanceof StopWaiting) {
      const from = error.allowedFrom;
      throw new LoginError(
        `${asked}: the platform limits logins, and takes them again from ${from} on; that is longer than ` +
          `advertising:maxWaitSeconds (${settings.maxWaitSeconds} s) allows. ${nothingSent} Run it again then.`,
      );
    }
    if (error instanceof TransportFailure) {
      throw new LoginError(`${asked}: ${describeFailure(error, url)}. ${nothingSent}`, { cause: error });
    }
    throw error;
  }

  const refusal = refusalOf(answer, sent, clean);
  if (refusal !== undefined) throw new LoginError(`${asked}: ${refusal} ${nothingSent}`);
  const jar = new SessionJar();
  jar.store(answer.setCookies, url);
  if (!(await jar.hasSession(usedAt))) {
    throw new LoginError(
      `${asked}: the platform accepted it (status ${answer.status}), but ${whyNoSession(answer.setCookies, usedAt)}. ` +
        `${nothingSent} Check advertising:baseUrl and advertising:authenticatePath.`,
    );
  }
  return jar;
}

/** Says in sentences why the answer is no success; none if it is one. */
function refusalOf(answer: Answer, sent: Values, clean: Clean): string | undefined {
  const { status } = answer;
  const words = wordsOf(answer, { fields: [], sent, clean });
  const said = words.length === 0 ? `status ${status}` : `status ${status}: ${words.join("; ")}`;
  const credentials =
    "Check advertising:email and advertising:password; it was tried once and is not tried again in this run.";

  if (status >= 200 && status < 300) {
    if (answer.kind === "html")
      return `the answer is an HTML page (${said}). Check advertising:baseUrl and advertising:authenticatePath.`;
    return saysRefused(answer, undefined) ? `the platform refused it (${said}). ${credentials}` : undefined;
  }
  if (status === 404 || status === 405) {
    return `there is no login at this address (${said}). Check advertising:baseUrl and advertising:authenticatePath.`;
  }
  if (status >= 300 && status < 400) {
    return `the platform answered with a redirect, which is never followed (${said}). Check advertising:baseUrl.`;
  }
  if (status >= 400 && status < 500) return `the platform refused it (${said}). ${credentials}`;
  return `the platform answered ${said}. ${enumerate(["Wait a while", "run it again"])}.`;
}

/** The platform grants this long if a cookie does not say when it ends (API page, sessions). */
const BY_DEFAULT_MS = { short: 15 * 60_000, longLived: 30 * 24 * 3_600_000 } as const;

export interface RenewRequest extends LoginRequest {
  readonly clock: Clock;
  readonly store: SessionStore;
  /** The same place, as another process would come to it. */
  readonly stored: SessionStore;
}

export interface NewSession {
  /** Milliseconds since 1970. */
  readonly endsAtMs: number;
  /** True if the platform's answer says so; otherwise it is the platform's default. */
  readonly isEndStated: boolean;
  /** True if other processes find it. */
  readonly isKept: boolean;
}

/**
 * Logs in once for its own sake: nothing else is sent on the login, and what is stored is replaced. So the credentials are
 * checked, and later runs find a session of full length.
 * @throws LoginError
 */
export async function renewSession({ store, stored, clock, ...request }: RenewRequest): Promise<NewSession> {
  const { settings, usedAt } = request;
  const { jar } = await store.open(
    undefined,
    () => logIn(request),
    async () => false,
  );
  const stated = await jar.endsAtMs(usedAt, settings.keepLoggedIn);
  return {
    endsAtMs: stated ?? clock.wallMs() + defaultMs(settings),
    isEndStated: stated !== undefined,
    isKept: await isFound(stored, usedAt),
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
