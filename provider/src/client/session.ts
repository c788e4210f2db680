/**
 * Sends each request on a login, logs in once for all requests, and once more if the login turns out to have ended.
 *
 * S1. A request that must not be repeated is sent again only if its last sending was certainly not carried out: no byte
 *     of it left, or it was answered with 429 or with a 503 that names a time (`retry.ts`), or it was refused for its
 *     session, after which it is sent once more, on another login.
 * S2. `beforeSend` is awaited before each sending, whatever the previous one's result, so that the note is always there
 *     before the object. Its moment goes with the request, which is not written much later (T7 of `transport.ts`).
 * S3. There is one login at a time for all requests. At most as many of them are in flight on a login as it has let
 *     through, and one if it has let none through: so a dead session or wrong credentials meet one create. Nothing new
 *     is sent while requests on an ended login are unanswered, or still to be sent again.
 * S4. After a failed login, or wrong credentials, the run sends nothing more: refused credentials are tried once.
 * S5. A refusal that a new login did not cure causes no further login for a minute: a missing permission must not cause
 *     one for each resource.
 * S6. Storing an answer's cookies neither delays nor changes it: a create is reported whatever happens to a file.
 */
import { LoginError } from "../base/index.js";
import { type ParsedResponse, parseResponse } from "./answer.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { credentialsOf } from "./login.js";
import {
  type AttemptOnce,
  RetryingSender,
  type SendOptions,
  type WaitBudget,
} from "./retry.js";
import type { Login } from "./session-file.js";
import {
  type SessionProblem,
  type SessionVerdict,
  sessionProblemIn,
} from "./session-problem.js";
import { type Attempt, type HttpRequest, TransportFailure } from "./transport.js";

interface SessionResponse {
  answer: ParsedResponse;
  session: SessionVerdict;
  /** Resolves once the answer's cookies are stored; never fails. */
  kept: Promise<void>;
}

/** Awaited before the first byte may leave, with that moment (ISO 8601); called again before each further sending. */
export type BeforeSend = (sentAt: string) => Promise<void>;

type SessionRequest = Pick<HttpRequest, "method" | "url" | "body"> &
  Pick<SendOptions, "idempotent">;

interface ActiveLogin {
  login: Login;
  openedAtMs: number;
  accepted: number;
  inFlight: number;
  /**
   * Whether the last attempt found no connection. Until one does, attempts don't wait for each other, or their
   * time-outs would add up.
   */
  lastConnectFailed: boolean;
}

/** A younger session does not count as ended after a sign that may have another meaning. */
const YOUNG_MS = 60_000;

export class Session {
  readonly #clock: ClientDependencies["clock"];
  readonly #sender: RetryingSender;
  readonly #openLogin: (url: URL) => Promise<Login>;
  #current: ActiveLogin | undefined;
  /** The number of requests in flight, and of refused ones that are to be sent again. */
  #unsettled = 0;
  /** Resolves when there are fewer. */
  #change: PromiseWithResolvers<void> | undefined;
  #loggingIn: Promise<void> | undefined;
  /** Whether the credentials are wrong, or the login failed: then nothing more is sent in this run. */
  #hasFailed = false;
  /** Refusals that a new login did not cure. */
  readonly #incurable = new Set<string>();

  constructor(dependencies: ClientDependencies) {
    this.#clock = dependencies.clock;
    this.#sender = new RetryingSender(dependencies);
    this.#openLogin = credentialsOf(dependencies, this.#sender);
  }

  /** @throws LoginError, TransportFailure, WaitBudgetExceeded, and what `beforeSend` throws */
  async sendOnLogin(
    request: SessionRequest,
    beforeSend: BeforeSend,
  ): Promise<SessionResponse> {
    const waitBudget = this.#sender.waitBudget();
    const first = await this.#sendOnLogin(request, beforeSend, waitBudget, false);
    if (first.session !== "ended") return first;
    return this.#sendOnLogin(request, beforeSend, waitBudget, true).finally(() =>
      this.#leave(),
    );
  }

  async #sendOnLogin(
    request: SessionRequest,
    beforeSend: BeforeSend,
    waitBudget: WaitBudget,
    isResend: boolean,
  ): Promise<SessionResponse> {
    let response: SessionResponse | undefined;
    const attemptOnce: AttemptOnce = async (transmit) => {
      const current = await this.#admit(request.url, isResend);
      if (!current) return undefined;
      try {
        const notedAtMs = this.#clock.wallMs();
        await beforeSend(new Date(notedAtMs).toISOString());
        const headers = await current.login.headers(request.url);
        if (this.#current !== current) return undefined;
        const attempt = await transmit({ ...request, headers, notedAtMs });
        response = this.#noteAttempt(attempt, current, request.url, isResend);
        return attempt;
      } finally {
        current.inFlight--;
        // One whose login has ended leaves once it was sent again.
        if (response?.session !== "ended") this.#leave();
      }
    };
    // A resend needs no slot: it still counts in #unsettled, which keeps new requests out.
    await this.#sender.sendWithRetry(attemptOnce, {
      ...request,
      waitBudget,
      needsNoSlot: isResend,
    });
    // There is one, or `send` throws.
    return response as SessionResponse;
  }

  /** @returns the login to send on, with a place on it; `undefined` if it had to wait. */
  async #admit(url: URL, isResend: boolean): Promise<ActiveLogin | undefined> {
    const current = this.#current;
    // One error for the whole run says why.
    if (this.#hasFailed)
      throw new LoginError(
        "The login of this run failed and isn't tried again. Nothing was created. Follow the login's error.",
      );
    if (!current) {
      await this.#logIn(url);
      return undefined;
    }
    const isItsTurn = isResend || this.#unsettled === current.inFlight;
    const isFull =
      !current.lastConnectFailed && current.inFlight >= Math.max(1, current.accepted);
    if (!isItsTurn || isFull) {
      this.#change ??= Promise.withResolvers();
      await this.#change.promise;
      return undefined;
    }
    current.inFlight++;
    this.#unsettled++;
    return current;
  }

  #leave() {
    this.#unsettled--;
    this.#change?.resolve();
    this.#change = undefined;
  }

  /** What an attempt says about its login. @returns `undefined` if there is no response. */
  #noteAttempt(
    attempt: Attempt,
    current: ActiveLogin,
    url: URL,
    isResend: boolean,
  ): SessionResponse | undefined {
    if (attempt instanceof TransportFailure) {
      // What was sent was let through, whatever happened to its answer.
      if (attempt.sent) current.accepted++;
      current.lastConnectFailed = !attempt.sent;
      return undefined;
    }
    const answer = parseResponse(attempt);
    const kept = current.login.keep(answer, url);
    const problem = sessionProblemIn(answer);
    const refusalKey = `${url.pathname} ${answer.status} ${problem}`;
    let session: SessionVerdict = "accepted";
    if (problem !== undefined)
      session = this.#verdictOf(problem, refusalKey, current, isResend);
    // These may come before anybody looks at the session.
    const isLimited = answer.status === 429 || answer.status === 503;
    if (session === "accepted" && !isLimited) current.accepted++;
    current.lastConnectFailed = false;
    if (session === "ended" && this.#current === current) this.#current = undefined;
    return { answer, kept, session };
  }

  #verdictOf(
    problem: SessionProblem,
    refusalKey: string,
    current: ActiveLogin,
    isResend: boolean,
  ): SessionVerdict {
    const { login, openedAtMs, accepted } = current;
    if (login.isBasic) {
      if (problem !== "clear") return "accepted";
      // Accepted credentials stay valid, so the refusal is about the request.
      this.#hasFailed ||= accepted === 0;
      return "refused";
    }
    if (isResend) {
      this.#incurable.add(refusalKey);
      return "refused";
    }
    // The age of a restored session is unknown, so it has probably ended.
    const isOld = login.isRestored || this.#clock.monotonicMs() - openedAtMs >= YOUNG_MS;
    if (isOld || this.#current !== current) return "ended";
    if (problem === "doubtful") return "accepted";
    if ((problem === "bare" && accepted === 0) || this.#incurable.has(refusalKey))
      return "refused";
    return "ended";
  }

  /** One login for all requests that need one at once: the others look again, and find it, or that it failed. */
  #logIn(url: URL) {
    if (this.#loggingIn) return this.#loggingIn.catch(() => undefined);
    const logIn = async () => {
      this.#current = {
        login: await this.#openLogin(url),
        openedAtMs: this.#clock.monotonicMs(),
        accepted: 0,
        inFlight: 0,
        lastConnectFailed: false,
      };
      this.#loggingIn = undefined;
    };
    // Stays if it fails: then #hasFailed stops every request first.
    this.#loggingIn = logIn();
    return this.#loggingIn.catch((error) => {
      this.#hasFailed = true;
      throw error;
    });
  }
}
