/**
 * Two ways to authenticate: the cookies of a session, which a login opens, or Basic credentials. A login never repeats
 * refused credentials. A run logs in only if it needs to; the command `login` always does ({@link logInAnew}).
 */
import { excerpt, joined, LoginError, printable } from "../base/index.js";
import { findingsIn, parseResponse } from "./answer.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { NOTHING_CREATED, whyNoResponse } from "./request-errors.js";
import { RetryingSender } from "./retry.js";
import { sessionStore } from "./session-file.js";
import { SessionJar } from "./session-jar.js";
import { wordsOf } from "./words.js";

/** @returns a function that opens a new login, valid for an address, or throws a LoginError. */
export function loginOpener(dependencies: ClientDependencies, sender: RetryingSender) {
  const { secrets, settings } = dependencies;
  const { email, password = "" } = settings;
  secrets.add(password);
  if (settings.authMode === "session")
    return sessionStore(dependencies, (url) => logIn(dependencies, sender, url)).open;
  const encoded = Buffer.from(`${email}:${password}`).toString("base64");
  secrets.add(encoded);
  return async () => ({
    isBasic: true,
    isRestored: false,
    headers: async () => ({ authorization: `Basic ${encoded}` }),
    storeCookies: async () => undefined,
  });
}

/** @param usedAt an address where the cookies must be valid. @throws {LoginError} with the cause and the next step. */
async function logIn(
  { secrets, credentialsSource, settings }: ClientDependencies,
  sender: RetryingSender,
  usedAt: URL,
) {
  const { email, password, keepLoggedIn } = settings;
  const url = new URL(`${settings.baseUrl}/${settings.authenticatePath}`);
  const failure = (why: string, advice?: string) =>
    new LoginError(
      joined(
        " ",
        `The login of ${email} at ${url.href} failed: ${why}.`,
        NOTHING_CREATED,
        advice,
      ),
    );
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
      const why = whyNoResponse(error, url);
      throw why === undefined ? error : failure(why);
    });
  const answer = parseResponse(response);
  const words = wordsOf({ answer, kind: { wireNames: {} }, fields, secrets });
  const report = joined(": ", `status ${answer.status}`, words.join("; "));
  const { status, kind } = answer;
  const isDone = status >= 200 && status < 300;
  if ([301, 302, 303, 307, 308, 404, 405].includes(status) || (isDone && kind === "html"))
    throw failure(`there is no login at this address (${report})`, CHECK_ADDRESS);
  const isRefused = isDone ? findingsIn(answer.data).isRefused : status < 500;
  if (isRefused)
    throw failure(
      `the platform refused it (${report}), and this run doesn't try it again`,
      `Check ${credentialsSource}.`,
    );
  if (!isDone)
    throw failure(`the platform returned ${report}`, "Wait a while and run this again.");
  const jar = new SessionJar();
  jar.store(answer, url);
  if (jar.hasSession(usedAt)) return jar;
  const cookies = answer.setCookies.map((cookie) =>
    printable(cookie.replace(/(?<==)[^;]+|^[^=;]+(?=;|$)/, "…")),
  );
  const shown = excerpt(cookies.join(", ") || "no cookie", 500);
  throw failure(
    `the platform accepted it (status ${status}), but set no session cookie (it set ${shown}). ` +
      "A session needs a cookie named <instance_key>_service_cookie that has a value, is valid for " +
      `${usedAt.hostname}${usedAt.pathname}, and hasn't expired`,
    CHECK_ADDRESS,
  );
}

const CHECK_ADDRESS = "Check advertising:baseUrl and advertising:authenticatePath.";

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
  return {
    endsAtMs: jar.endsAtMs(usedAt, keepLoggedIn) ?? dependencies.clock.wallMs() + lastsMs,
    cure: store.cure(),
  };
}
