/**
 * Sends each request on a login, logs in once for all requests, and once more if the login turns out to have ended.
 *
 * S1. A request that must not be repeated is sent again only if its last sending was certainly not carried out: no byte
 *     of it left, or it was answered with 429 or with a 503 that names a time (`retry.ts`), or it was refused for its
 *     session, after which it is sent once more, on another login.
 * S2. `beforeSend` is awaited before each sending, whatever the previous one's result, so that the note is always there
 *     before the object. The request carries the note's time, and isn't written much later (T7 of `transport.ts`).
 * S3. There is one login at a time for all requests. A login never has more requests in flight than it has already let
 *     through (at first: one), so a dead session or wrong credentials meet one create. Exception: after an attempt that
 *     found no connection, this limit doesn't apply until an attempt finds one. Nothing new is sent while requests on
 *     an ended login are unanswered, or wait to be resent.
 * S4. After a failed login, or wrong credentials, the run sends nothing more: refused credentials are tried once. By
 *     the exception in S3, up to `maxConcurrentRequests` requests may send wrong Basic credentials at once.
 * S5. A refusal that a new login did not cure causes no further login for a minute: a missing permission must not cause
 *     one for each resource.
 * S6. Storing a response's cookies neither delays nor changes it: a create is reported whatever happens to a file.
 */
import { LoginError } from "../base/index.js";
import { type ParsedResponse, parseResponse } from "./answer.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { loginOpener } from "./login.js";
import { RetryingSender, type SendOptions } from "./retry.js";
import type { OpenSession } from "./session-file.js";
import { type SessionVerdict, sessionProblemIn } from "./session-problem.js";
import { type AttemptResult, type HttpRequest, TransportFailure } from "./transport.js";

interface SessionResponse {
  answer: ParsedResponse;
  session: SessionVerdict;
  /** Resolves once the answer's cookies are stored; never fails. */
  cookiesStored: Promise<void>;
}

/** Awaited before the first byte of each sending may leave. @param sentAt that time, ISO 8601 */
export type BeforeSend = (sentAt: string) => Promise<void>;

type SessionRequest = Pick<HttpRequest, "method" | "url" | "body"> &
  Pick<SendOptions, "idempotent">;

type SessionAttempt = SessionRequest & SendOptions;

interface ActiveLogin {
  login: OpenSession;
  openedAtMs: number;
  letThrough: number;
  inFlight: number;
  /**
   * Whether the last attempt found no connection. Until an attempt finds one, attempts don't wait for each other, or
   * their time-outs would add up.
   */
  lastConnectFailed: boolean;
}

/** A session younger than this counts as ended only after a sign that can't mean anything else. */
const YOUNG_MS = 60_000;

export class Session {
  readonly #clock;
  readonly #sender;
  readonly #openLogin;
  #current: ActiveLogin | undefined;
  /** Requests in flight, plus requests that were refused for their session and wait to be resent. */
  #unsettled = 0;
  /** Resolves when `#unsettled` decreases. */
  #placeFreed: PromiseWithResolvers<void> | undefined;
  #loggingIn: Promise<void> | undefined;
  /** Whether the credentials are wrong, or the login failed. If so, this run sends nothing more. */
  #hasFailed = false;
  /** Refusals that a new login did not cure. */
  readonly #refusalsNoLoginCures = new Set<string>();

  constructor(dependencies: ClientDependencies) {
    this.#clock = dependencies.clock;
    this.#sender = new RetryingSender(dependencies);
    this.#openLogin = loginOpener(dependencies, this.#sender);
  }

  /** @throws LoginError, TransportFailure, WaitBudgetExceeded, and what `beforeSend` throws */
  async sendOnLogin(request: SessionRequest, beforeSend: BeforeSend) {
    const options = { ...request, waitBudget: this.#sender.waitBudget() };
    const first = await this.#sendOnce(options, beforeSend);
    if (first.session !== "ended") return first;
    // A resend takes no slot: requests that hold slots wait for it, so it could wait forever. It stays counted in
    // #unsettled, so no new request starts beside it.
    return this.#sendOnce({ ...options, bypassesSlots: true }, beforeSend).finally(() =>
      this.#leave(),
    );
  }

  async #sendOnce(request: SessionAttempt, beforeSend: BeforeSend) {
    let response: SessionResponse | undefined;
    await this.#sender.sendWithRetry(async (transmit) => {
      const current = await this.#admit(request);
      if (!current) return undefined;
      try {
        const notedAtMs = this.#clock.wallMs();
        await beforeSend(new Date(notedAtMs).toISOString());
        const headers = await current.login.headers(request.url);
        if (this.#current !== current) return undefined;
        const attempt = await transmit({ ...request, headers, notedAtMs });
        response = this.#noteAttempt(attempt, current, request);
        return attempt;
      } finally {
        current.inFlight--;
        // If the login has ended, the request stays counted until its resend is over (see `#sendOnce`).
        if (response?.session !== "ended") this.#leave();
      }
    }, request);
    // Set, because `sendWithRetry` returns only after an attempt with a response.
    return response as SessionResponse;
  }

  /** @returns the login to send on, with a place on it; `undefined` if it had to wait. */
  async #admit({ url, bypassesSlots: isResend }: SessionAttempt) {
    // The error of the login itself, which says why, is reported once.
    if (this.#hasFailed)
      throw new LoginError(
        "The login of this run failed, as its own error says. Nothing was changed.",
      );
    const current = this.#current;
    if (!current) {
      await this.#logIn(url);
      return undefined;
    }
    const isItsTurn = isResend || this.#unsettled === current.inFlight;
    const isFull =
      !current.lastConnectFailed && current.inFlight >= Math.max(1, current.letThrough);
    if (!isItsTurn || isFull) {
      this.#placeFreed ??= Promise.withResolvers();
      await this.#placeFreed.promise;
      return undefined;
    }
    current.inFlight++;
    this.#unsettled++;
    return current;
  }

  #leave() {
    this.#unsettled--;
    this.#placeFreed?.resolve();
    this.#placeFreed = undefined;
  }

  /** Notes what an attempt shows about its login. @returns `undefined` if there is no response. */
  #noteAttempt(attempt: AttemptResult, current: ActiveLogin, request: SessionAttempt) {
    if (attempt instanceof TransportFailure) {
      // A request that was sent counts as let through: no response has refused its login.
      if (attempt.sent) current.letThrough++;
      current.lastConnectFailed = !attempt.sent;
      return undefined;
    }
    const answer = parseResponse(attempt);
    const cookiesStored = current.login.storeCookies(answer, request.url);
    const session = this.#verdictOf(answer, current, request);
    // A rate limiter may answer before the session is checked, so 429 and 503 say nothing about the session.
    const isLimited = answer.status === 429 || answer.status === 503;
    if (session === "accepted" && !isLimited) current.letThrough++;
    current.lastConnectFailed = false;
    const { login, letThrough } = current;
    // A login that has let nothing through isn't replaced: then each create would cause a login.
    const hasWorked = login.isRestored || letThrough > 0;
    const mayHaveEnded = session === "unsure" && !login.isBasic && hasWorked;
    if ((session === "ended" || mayHaveEnded) && this.#current === current)
      this.#current = undefined;
    return { answer, cookiesStored, session };
  }

  #verdictOf(
    answer: ParsedResponse,
    current: ActiveLogin,
    { url, bypassesSlots: isResend, idempotent }: SessionAttempt,
  ): SessionVerdict {
    const { login, openedAtMs, letThrough } = current;
    const problem = sessionProblemIn(answer);
    const refusalKey = `${url.pathname} ${answer.status} ${problem}`;
    if (problem === undefined) return "accepted";
    if (problem === "redirected" && !idempotent) return "unsure";
    if (login.isBasic) {
      if (problem !== "clear") return "accepted";
      // If they were accepted before, the credentials are right, and the refusal is about this request.
      this.#hasFailed ||= letThrough === 0;
      return "refused";
    }
    if (isResend) {
      this.#refusalsNoLoginCures.add(refusalKey);
      return "refused";
    }
    // The age of a restored session is unknown, so it has probably ended.
    const isOld = login.isRestored || this.#clock.monotonicMs() - openedAtMs >= YOUNG_MS;
    if (isOld || this.#current !== current) return "ended";
    if (problem === "doubtful") return "accepted";
    const isFirst = problem === "bare" && letThrough === 0;
    return isFirst || this.#refusalsNoLoginCures.has(refusalKey) ? "refused" : "ended";
  }

  /** Logs in once for all requests that need a login at once: the others wait, then find the login or its failure. */
  #logIn(url: URL) {
    if (this.#loggingIn) return this.#loggingIn.catch(() => undefined);
    // Not reset after a failure: `#hasFailed` stops every request before it gets here.
    this.#loggingIn = this.#openLogin(url).then((login) => {
      this.#current = {
        login,
        openedAtMs: this.#clock.monotonicMs(),
        letThrough: 0,
        inFlight: 0,
        lastConnectFailed: false,
      };
      this.#loggingIn = undefined;
    });
    return this.#loggingIn.catch((error) => {
      this.#hasFailed = true;
      throw error;
    });
  }
}
