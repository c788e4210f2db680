/**
 * Two ways to authenticate: the cookies of a session, which a login opens, or Basic credentials. A login never repeats
 * refused credentials. A run logs in only if it needs to; the command `login` always does ({@link logInAnew}).
 */
import { joined, LoginError } from "../base/index.js";
import { type ParsedResponse, parseResponse, saysRefused } from "./answer.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { describeFailure, NOTHING_CREATED, nextStep } from "./request-errors.js";
import { RetryingSender, WaitBudgetExceeded } from "./retry.js";
import { type OpenSession, SessionStore } from "./session-file.js";
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
    const store = new SessionStore(dependencies, (url) => logIn(dependencies, sender, url));
    return (url) => store.open(url);
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
): Promise<SessionJar> {
  const { email, password, keepLoggedIn } = settings;
  const url = new URL(`${settings.baseUrl}/${settings.authenticatePath}`);
  const failed = `The login of ${email} at ${url.href} failed`;
  const fields = { email, password, ...(keepLoggedIn && { keep_logged_in: true }) };
  const request = {
    method: "POST",
    url,
    headers: {},
    body: JSON.stringify(fields),
  } as const;
  // A login of unknown outcome may be repeated, because a second session does no harm.
  const options = {
    idempotent: true,
    waitBudget: sender.waitBudget(),
    bypassesSlots: true,
  };
  const response = await sender
    .sendWithRetry((transmit) => transmit(request), options)
    .catch((error: unknown) => {
      let why = "";
      if (error instanceof TransportFailure) why = describeFailure(error, url);
      else if (error instanceof WaitBudgetExceeded) why = error.message;
      else throw error;
      throw new LoginError(`${failed}: ${why}. ${NOTHING_CREATED}`, { cause: error });
    });
  const answer = parseResponse(response);
  const words = wordsOf({ answer, operation: { fields: [] }, fields, secrets });
  const refusal = loginProblemIn(answer, words, credentialsSource);
  if (refusal !== undefined)
    throw new LoginError(`${failed}: ${refusal} ${NOTHING_CREATED}`);
  const jar = new SessionJar();
  jar.store(answer, url);
  if (jar.hasSession(usedAt)) return jar;
  const at = `${usedAt.hostname}${usedAt.pathname}`;
  const accepted = `the platform accepted it (status ${answer.status})`;
  throw new LoginError(
    `${failed}: ${accepted}, but set no session cookie (it set ${shownCookies(answer)}). A session needs a cookie named ` +
      `<instance_key>_service_cookie that has a value, is valid for ${at}, and hasn't expired. ` +
      `${NOTHING_CREATED} Check advertising:authenticatePath and advertising:baseUrl.`,
  );
}

/** Why a login was refused, and the next step; undefined if it was accepted. */
function loginProblemIn(
  answer: ParsedResponse,
  words: readonly string[],
  credentialsSource: string,
): string | undefined {
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
  const isRefused = isDone ? saysRefused(answer) : status < 500;
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
  const store = new SessionStore(dependencies, (url) => logIn(dependencies, sender, url));
  const { jar } = await store.open(usedAt, true);
  // How long a session lasts if its cookie doesn't say (the platform's API documentation).
  const lastsMs = keepLoggedIn ? 30 * 24 * 3_600_000 : 15 * 60_000;
  const endsAtMs =
    jar.endsAtMs(usedAt, keepLoggedIn) ?? dependencies.clock.wallMs() + lastsMs;
  return { endsAtMs, cure: store.cure };
}
