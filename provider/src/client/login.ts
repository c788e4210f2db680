/**
 * Two ways to authenticate: a session's cookies, which a login opens, or Basic credentials. A login uses no session and
 * never repeats refused credentials. A session logs in if need be, the command `login` always ({@link logInAnew}).
 */
import { LoginError } from "../base/index.js";
import type { Settings } from "../settings/index.js";
import { type Answer, readAnswer, saysRefused } from "./answer.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { describeFailure, NO_CLIENT_CERTIFICATE } from "./describe-failure.js";
import { RetryingSender, StopWaiting } from "./retry.js";
import { type Login, SessionStore } from "./session-file.js";
import { SessionJar, sessionBlocker } from "./session-jar.js";
import { TransportFailure } from "./transport.js";
import { NOTHING_CREATED } from "./trouble.js";
import { wordsOf } from "./words.js";

/** @returns what opens a new login, valid for an address. It throws LoginError. */
export function credentialsOf(
  settings: Settings,
  dependencies: ClientDependencies,
  sender: RetryingSender,
) {
  const { secrets } = dependencies;
  secrets.add(settings.password);
  if (settings.authMode === "basic") {
    const encoded = Buffer.from(`${settings.email}:${settings.password ?? ""}`).toString("base64");
    secrets.add(encoded);
    const headers = { authorization: `Basic ${encoded}` };
    const login = {
      isBasic: true,
      isRestored: false,
      headers: async () => headers,
      keep: async () => undefined,
    };
    return async (): Promise<Login> => login;
  }
  const store = new SessionStore(settings, dependencies, (url) =>
    logIn(settings, dependencies, sender, url),
  );
  return (url: URL): Promise<Login> => store.open(url);
}

/** @param usedAt an address where the cookies must be valid. @throws {LoginError} with the cause and the next step. */
async function logIn(
  settings: Settings,
  dependencies: ClientDependencies,
  sender: RetryingSender,
  usedAt: URL,
) {
  const { secrets, credentials } = dependencies;
  const { email, password, keepLoggedIn } = settings;
  const url = new URL(`${settings.baseUrl}/${settings.authenticatePath}`);
  const asked = `The login of ${email} at ${url.href} failed`;
  const sent = { email, password, ...(keepLoggedIn ? { keep_logged_in: true } : {}) };
  const request = { method: "POST" as const, url, headers: {}, body: JSON.stringify(sent) };

  let answer: Answer;
  try {
    // A login of unknown outcome may be repeated, because a second session does no harm.
    const how = { repeatable: true, waitBudget: sender.waitBudget(), needsNoSlot: true };
    answer = readAnswer(await sender.send((transmit) => transmit(request), how));
  } catch (error) {
    if (error instanceof StopWaiting)
      throw new LoginError(`${asked}: ${error.message}. ${NOTHING_CREATED} Run it again then.`);
    if (error instanceof TransportFailure)
      throw new LoginError(`${asked}: ${describeFailure(error, url)}. ${NOTHING_CREATED}`, {
        cause: error,
      });
    throw error;
  }

  const words = wordsOf({ answer, operation: { fields: [] }, fields: sent, secrets });
  const refusal = refusalOf(answer, words, credentials);
  if (refusal !== undefined) throw new LoginError(`${asked}: ${refusal} ${NOTHING_CREATED}`);
  const jar = new SessionJar();
  jar.store(answer.setCookies, url, answer.headers.date);
  if (!jar.hasSession(usedAt)) {
    const [why, next] = sessionBlocker(answer.setCookies, url, usedAt, answer.headers.date);
    const accepted = `the platform accepted it (status ${answer.status})`;
    throw new LoginError(`${asked}: ${accepted}, but ${why}. ${NOTHING_CREATED} ${next}`);
  }
  return jar;
}

function refusalOf(answer: Answer, words: readonly string[], from: string): string | undefined {
  const { status } = answer;
  const said = words.length === 0 ? `status ${status}` : `status ${status}: ${words.join("; ")}`;
  const isDone = status >= 200 && status < 300;
  const isRedirect = status >= 300 && status < 400;
  if ((isDone && answer.kind === "html") || isRedirect || status === 404 || status === 405) {
    const never = isRedirect ? "; redirects are never followed" : "";
    return `there is no login at this address (${said}). Check advertising:baseUrl and advertising:authenticatePath${never}.`;
  }
  // Only for the advice: with either reason, nothing was created.
  if (!isDone && /\b(ssl|tls|client) certificate/i.test(said))
    return `the server refused it (${said}): it asks for a client certificate, ${NO_CLIENT_CERTIFICATE.replace("{address}", "advertising:baseUrl")}.`;
  if (isDone ? saysRefused(answer, undefined) : status < 500)
    return `the platform refused it (${said}). Check ${from}; it was tried once, and is not tried again.`;
  return isDone ? undefined : `the platform returned ${said}. Wait a while and run it again.`;
}

/**
 * Checks the credentials, and stores a session of full length for later runs.
 * @returns its end in milliseconds since 1970; and what to do, as a clause, if it could not be stored for later runs.
 * @throws LoginError
 */
export async function logInAnew(settings: Settings, dependencies: ClientDependencies) {
  // All documented operations are below this address, so a cookie that is valid for one of them is valid here.
  const usedAt = new URL(`${settings.baseUrl}/rest/`);
  const sender = new RetryingSender(settings, dependencies);
  const store = new SessionStore(settings, dependencies, (url) =>
    logIn(settings, dependencies, sender, url),
  );
  const { jar } = await store.open(usedAt, true);
  // If its cookie does not say (API page, sessions).
  const lastsMs = settings.keepLoggedIn ? 30 * 24 * 3_600_000 : 15 * 60_000;
  return {
    endsAtMs: jar.endsAtMs(usedAt, settings.keepLoggedIn) ?? dependencies.clock.wallMs() + lastsMs,
    cure: store.cure,
  };
}
