/**
 * Two ways to authenticate: the cookies of a session, which a login opens, or Basic credentials. A login never repeats
 * refused credentials. A run logs in only if it needs to; the command `login` always does ({@link logInAnew}).
 */
import { joined, LoginError } from "../base/index.js";
import { findingsIn, type ParsedResponse, parseResponse } from "./answer.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { describeFailure, NOTHING_CREATED, nextStep } from "./request-errors.js";
import { RetryingSender, WaitBudgetExceeded } from "./retry.js";
import { type OpenSession, sessionStore } from "./session-file.js";
import { SessionJar, shownCookies } from "./session-jar.js";
import { TransportFailure } from "./transport.js";
import { wordsOf } from "./words.js";

/** @returns a function that opens a new login, valid for an address, or throws a LoginError. */
export function loginOpener(
  dependencies: ClientDependencies,
  sender: RetryingSender,
): (url: URL) => Promise<OpenSession> {
  const { secrets, settings } = dependencies;
  const { email, password = "" } = settings;
  secrets.add(password);
  if (settings.authMode === "session") {
    const { open } = sessionStore(dependencies, (url) => logIn(dependencies, sender, url));
    return (url) => open(url);
  }
  const encoded = Buffer.from(`${email}:${password}`).toString("base64");
  secrets.add(encoded);
  const login: OpenSession = {
    isBasic: true,
    isRestored: false,
    headers: async () => ({ authorization: `Basic ${encoded}` }),
    storeCookies: async () => undefined,
  };
  return async () => login;
}

/** @param usedAt an address where the cookies must be valid. @throws {LoginError} with the cause and the next step. */
async function logIn(
  { secrets, credentialsSource, settings }: ClientDependencies,
  sender: RetryingSender,
  usedAt: URL,
) {
  const { email, password, keepLoggedIn } = settings;
  const url = new URL(`${settings.baseUrl}/${settings.authenticatePath}`);
  const failure = (why: string, cause?: unknown) =>
    new LoginError(`The login of ${email} at ${url.href} failed: ${why}`, { cause });
  const fields = { email, password, ...(keepLoggedIn && { keep_logged_in: true }) };
  const body = JSON.stringify(fields);
  const response = await sender
    .sendWithRetry((transmit) => transmit({ method: "POST", url, headers: {}, body }), {
      // A login of unknown outcome may be repeated, because a second session does no harm.
      idempotent: true,
      waitBudget: sender.waitBudget(),
      bypassesSlots: true,
    })
    .catch((error: unknown) => {
      if (error instanceof TransportFailure)
        throw failure(`${describeFailure(error, url)}. ${NOTHING_CREATED}`, error);
      if (error instanceof WaitBudgetExceeded)
        throw failure(`${error.message}. ${NOTHING_CREATED}`, error);
      throw error;
    });
  const answer = parseResponse(response);
  const words = wordsOf({ answer, operation: { fields: [] }, fields, secrets });
  const refusal = loginProblemIn(answer, words, credentialsSource);
  if (refusal !== undefined) throw failure(`${refusal} ${NOTHING_CREATED}`);
  const jar = new SessionJar();
  jar.store(answer, url);
  if (jar.hasSession(usedAt)) return jar;
  const at = `${usedAt.hostname}${usedAt.pathname}`;
  throw failure(
    `the platform accepted it (status ${answer.status}), but set no session cookie (it set ` +
      `${shownCookies(answer)}). A session needs a cookie named <instance_key>_service_cookie that has ` +
      `a value, is valid for ${at}, and hasn't expired. ` +
      `${NOTHING_CREATED} Check advertising:authenticatePath and advertising:baseUrl.`,
  );
}

/** Why a login was refused, and the next step; undefined if it was accepted. */
function loginProblemIn(
  answer: ParsedResponse,
  words: readonly string[],
  credentialsSource: string,
) {
  const { status, kind } = answer;
  const report = joined(": ", `status ${status}`, words.join("; "));
  const isDone = status >= 200 && status < 300;
  const isRedirect = status >= 300 && status < 400;
  const isPage = isDone && kind === "html";
  if (isRedirect || isPage || status === 404 || status === 405)
    return `there is no login at this address (${report}). Check advertising:baseUrl and advertising:authenticatePath.`;
  // This only changes the advice: either way nothing was created.
  if (!isDone && /certificate/i.test(report))
    return `the server refused it (${report}); ${nextStep(report)}.`;
  const isRefused = isDone ? findingsIn(answer.data).isRefused : status < 500;
  if (isRefused)
    return `the platform refused it (${report}), and this run doesn't try it again. Check ${credentialsSource}.`;
  if (isDone) return undefined;
  return `the platform returned ${report}. Wait a while and run this again.`;
}

/**
 * Checks the credentials, and stores a session of full length for later runs.
 * @returns its end in milliseconds since 1970; and what to do, as a clause, if it could not be stored.
 * @throws LoginError
 */
export async function logInAnew(dependencies: ClientDependencies) {
  const { baseUrl, keepLoggedIn } = dependencies.settings;
  // All documented operations are below this address, so a cookie that is valid for one of them is valid here.
  const usedAt = new URL(`${baseUrl}/rest/`);
  const sender = new RetryingSender(dependencies);
  const store = sessionStore(dependencies, (url) => logIn(dependencies, sender, url));
  const { jar } = await store.open(usedAt, true);
  // How long a session lasts if its cookie doesn't say (the platform's API documentation).
  const lastsMs = keepLoggedIn ? 30 * 24 * 3_600_000 : 15 * 60_000;
  const endsAtMs =
    jar.endsAtMs(usedAt, keepLoggedIn) ?? dependencies.clock.wallMs() + lastsMs;
  return { endsAtMs, cure: store.cure() };
}
