/**
 * Two ways to authenticate: a session's cookies, which a login opens, or Basic credentials. A login uses no session and
 * never repeats refused credentials. A session logs in if need be, the command `login` always ({@link logInAnew}).
 */
import { LoginError } from "../base/index.js";
import type { Settings } from "../settings/index.js";
import { type ParsedResponse, parseResponse, saysRefused } from "./answer.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { describeFailure, NO_CLIENT_CERTIFICATE } from "./describe-failure.js";
import { NOTHING_CREATED } from "./request-errors.js";
import { RetryingSender, WaitBudgetExceeded } from "./retry.js";
import { type Login, SessionStore } from "./session-file.js";
import { SessionJar, sessionBlocker } from "./session-jar.js";
import { TransportFailure } from "./transport.js";
import { wordsOf } from "./words.js";

/** Opens a new login, valid for an address. @throws LoginError */
export type Authenticate = (url: URL) => Promise<Login>;

export function credentialsOf(
  settings: Settings,
  dependencies: ClientDependencies,
  sender: RetryingSender,
): Authenticate {
  const { email, password = "", authMode } = settings;
  const { secrets } = dependencies;
  secrets.add(password);
  if (authMode === "session") {
    const store = sessionStoreOf(settings, dependencies, sender);
    return (url) => store.open(url);
  }
  const encoded = Buffer.from(`${email}:${password}`).toString("base64");
  secrets.add(encoded);
  const login: Login = {
    isBasic: true,
    isRestored: false,
    headers: async () => ({ authorization: `Basic ${encoded}` }),
    keep: async () => undefined,
  };
  return async () => login;
}

function sessionStoreOf(
  settings: Settings,
  dependencies: ClientDependencies,
  sender: RetryingSender,
): SessionStore {
  const logInFor = (url: URL) => logIn(settings, dependencies, sender, url);
  return new SessionStore(settings, dependencies, logInFor);
}

/** @param usedAt an address where the cookies must be valid. @throws {LoginError} with the cause and the next step. */
async function logIn(
  settings: Settings,
  { secrets, credentials }: ClientDependencies,
  sender: RetryingSender,
  usedAt: URL,
): Promise<SessionJar> {
  const { email, password, keepLoggedIn } = settings;
  const url = new URL(`${settings.baseUrl}/${settings.authenticatePath}`);
  const failed = `The login of ${email} at ${url.href} failed`;
  const fields = { email, password, ...(keepLoggedIn && { keep_logged_in: true }) };
  const answer = await sendLogin(sender, url, fields).catch((error: unknown) => {
    if (error instanceof WaitBudgetExceeded)
      throw new LoginError(
        `${failed}: ${error.message}. ${NOTHING_CREATED} Run it again then.`,
      );
    if (!(error instanceof TransportFailure)) throw error;
    const why = describeFailure(error, url);
    throw new LoginError(`${failed}: ${why}. ${NOTHING_CREATED}`, { cause: error });
  });
  const words = wordsOf({ answer, operation: { fields: [] }, fields, secrets });
  const refusal = refusalOf(answer, words, credentials);
  if (refusal !== undefined) throw new LoginError(`${failed}: ${refusal} ${NOTHING_CREATED}`);
  const jar = new SessionJar();
  jar.store(answer, url);
  if (jar.hasSession(usedAt)) return jar;
  const { why, next } = sessionBlocker(answer, url, usedAt);
  const accepted = `the platform accepted it (status ${answer.status})`;
  throw new LoginError(`${failed}: ${accepted}, but ${why}. ${NOTHING_CREATED} ${next}`);
}

/** A login of unknown outcome may be repeated, because a second session does no harm. */
async function sendLogin(
  sender: RetryingSender,
  url: URL,
  fields: object,
): Promise<ParsedResponse> {
  const request = { method: "POST" as const, url, headers: {}, body: JSON.stringify(fields) };
  const options = { idempotent: true, waitBudget: sender.waitBudget(), needsNoSlot: true };
  return parseResponse(await sender.sendWithRetry((transmit) => transmit(request), options));
}

/** Why a login was refused, and the next step. */
function refusalOf(
  answer: ParsedResponse,
  words: readonly string[],
  from: string,
): string | undefined {
  const { status, kind } = answer;
  const report = [`status ${status}`, words.join("; ")].filter(Boolean).join(": ");
  const isDone = status >= 200 && status < 300;
  const elsewhere = `there is no login at this address (${report}). Check advertising:baseUrl and advertising:authenticatePath`;
  if (status >= 300 && status < 400) return `${elsewhere}; redirects are never followed.`;
  if ((isDone && kind === "html") || status === 404 || status === 405) return `${elsewhere}.`;
  // Only for the advice: with either reason, nothing was created.
  if (!isDone && /\b(ssl|tls|client) certificate/i.test(report)) {
    const cure = NO_CLIENT_CERTIFICATE.replace("{address}", "advertising:baseUrl");
    return `the server refused it (${report}): it asks for a client certificate, ${cure}.`;
  }
  const isRefused = isDone ? saysRefused(answer, undefined) : status < 500;
  if (isRefused)
    return `the platform refused it (${report}), and this run doesn't try it again. Check ${from}.`;
  if (isDone) return undefined;
  return `the platform returned ${report}. Wait a while and run it again.`;
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
  const store = sessionStoreOf(settings, dependencies, sender);
  const { jar } = await store.open(usedAt, true);
  // If its cookie does not say (API page, sessions).
  const lastsMs = settings.keepLoggedIn ? 30 * 24 * 3_600_000 : 15 * 60_000;
  return {
    endsAtMs:
      jar.endsAtMs(usedAt, settings.keepLoggedIn) ?? dependencies.clock.wallMs() + lastsMs,
    cure: store.cure,
  };
}
