/**
 * The session: sends each request on a login, logs in once for all requests, and once more if the login turns out to have ended.
 * `client.ts` passes it each request; `lease.ts` says which requests may be in flight on a login.
 *
 * S1. A request that must not be repeated is sent again only if its last sending was certainly not carried out: no byte of it left, or it
 *     was answered with 429 or with a 503 that names a time (`patient.ts`), or it was refused for its session, after which it is sent
 *     once more, on another login. Otherwise there could be a second live object.
 * S2. `beforeSend` is awaited before each sending, whatever the previous one's result, so that the note is always there before the
 *     object. Its moment goes with the request, which is not written much later (T7 of `transport.ts`).
 * S3. There is one login at a time, and all requests that need one wait for it: twenty resources cause one login.
 * S4. After a failed login, or wrong credentials, the run sends nothing more: refused credentials are tried once.
 * S5. A refusal that a new login did not cure causes no further login for a minute: a missing permission must not cause one for
 *     each resource.
 * S6. Storing an answer's cookies neither delays nor changes the answer: a create is reported whatever happens to a file. Only
 *     requests that the answer makes possible wait for its cookies.
 */

import { LoginError } from "../base/index.js";
import type { Settings } from "../settings/index.js";
import { type Answer, readAnswer } from "./answer.js";
import { type HttpRequest, TransportFailure } from "./http.js";
import { type Lease, Leases } from "./lease.js";
import { credentialsOf, type Login, type OpenLogin } from "./login.js";
import { type Later, type Patience, PatientSender } from "./patient.js";
import { type LetThrough, type SessionSign, sessionSignOf } from "./session-refusal.js";
import { SessionStore } from "./session-store.js";
import type { Surroundings } from "./surroundings.js";

interface SessionAnswer {
  readonly answer: Answer;
  readonly session: LetThrough;
  /** Resolves once the answer's cookies are stored; never fails. */
  readonly kept: Promise<void>;
}

/** Awaited before the first byte may leave, with that moment (ISO 8601); called again before each further sending. */
export type BeforeSend = (sentAt: string) => Promise<void>;

interface SessionRequest extends Pick<HttpRequest, "method" | "url" | "body"> {
  readonly repeatable: boolean;
  /** As {@link PatientSender} calls it. */
  readonly onUnsure?: (() => void) | undefined;
}

interface Sending extends SessionRequest {
  readonly beforeSend: BeforeSend;
  /** For both sendings together. */
  readonly patience: Patience;
}

interface Leased {
  readonly answer: Answer;
  readonly sign: SessionSign | undefined;
  readonly kept: Promise<void>;
  readonly lease: Lease<Login>;
}

export class Session {
  readonly #clock: Surroundings["clock"];
  readonly #sender: PatientSender;
  readonly #openLogin: OpenLogin;
  readonly #leases = new Leases<Login>();
  #loggingIn: Promise<void> | undefined;
  /** Whether the credentials are wrong, or the login failed: then nothing more is sent in this run. */
  #hasFailed = false;
  /** Refusals that a new login did not cure: operation, status and kind of sign. */
  readonly #incurable = new Set<string>();

  constructor(settings: Settings, surroundings: Surroundings, store = new SessionStore(settings, surroundings)) {
    this.#clock = surroundings.clock;
    this.#sender = new PatientSender(settings, surroundings);
    this.#openLogin = credentialsOf(settings, surroundings, this.#sender, store);
  }

  /** @throws LoginError, TransportFailure, StopWaiting, and what `beforeSend` throws */
  async send(request: SessionRequest, beforeSend: BeforeSend): Promise<SessionAnswer> {
    const { url } = request;
    const sending: Sending = { ...request, beforeSend, patience: this.#sender.patience() };
    const first = await this.#send(sending, false);
    const verdict = this.#judge(first, url);
    if (verdict === "wrong") this.#hasFailed = true;
    if (verdict !== "ended") return conclude(first, verdict === "accepted" ? "accepted" : "refused");

    first.lease.refuse();
    try {
      const second = await this.#send(sending, true);
      if (second.sign === undefined) return conclude(second, "accepted");
      this.#incurable.add(kindOf(second, url));
      return conclude(second, "refused-again");
    } finally {
      first.lease.release();
    }
  }

  async #send(sending: Sending, isResend: boolean): Promise<Leased> {
    const { method, url, body, repeatable, onUnsure, beforeSend, patience } = sending;
    const held: { lease?: Lease<Login> | undefined } = {};
    const prepare = async (): Promise<HttpRequest | Later> => {
      if (this.#hasFailed) throw failedBefore();
      if (!this.#leases.hasLogin) return { until: this.#logIn(url) };
      const lease = this.#leases.take(isResend);
      if (lease === undefined) return { until: this.#leases.change() };
      held.lease = lease;
      const notedAtMs = this.#clock.wallMs();
      await beforeSend(new Date(notedAtMs).toISOString());
      const headers = await lease.login.headers(url);
      if (!lease.hasEnded) return { method, url, headers, body, notedAtMs };
      lease.release();
      return { until: DONE };
    };
    try {
      const received = await this.#sender.send(prepare, {
        repeatable,
        patience,
        onUnsure,
        // Between two attempts a request has no lease.
        onPause: (failure) => (failure === undefined ? held.lease?.release() : held.lease?.unreachable()),
      });
      const answer = readAnswer(received);
      const lease = held.lease as Lease<Login>; // without one nothing was sent
      // Storing cookies may have to wait for another process, for which the answer must not wait.
      return { answer, sign: sessionSignOf(answer), kept: lease.login.keep(answer, url), lease };
    } catch (error) {
      // The login let the request through, whatever happened to its answer.
      if (error instanceof TransportFailure && error.sent) held.lease?.accept();
      else held.lease?.release();
      throw error;
    }
  }

  #judge(leased: Leased, url: URL) {
    const { sign, lease } = leased;
    if (sign === undefined) return "accepted";
    return lease.login.judge(sign, {
      hasAccepted: lease.hasAccepted,
      hasEnded: lease.hasEnded,
      ageMs: this.#clock.monotonicMs() - lease.openedAtMs,
      isIncurable: this.#incurable.has(kindOf(leased, url)),
    });
  }

  /** One login for all requests that need one at the same time. */
  #logIn(url: URL): Promise<void> {
    // One error for the whole run says why.
    const others = (error: unknown) => Promise.reject(error instanceof LoginError ? failedBefore() : error);
    if (this.#loggingIn !== undefined) return this.#loggingIn.catch(others);
    this.#loggingIn = this.#openLogin(url)
      .then((login) => this.#leases.begin(login, this.#clock.monotonicMs()))
      .catch((error: unknown) => {
        this.#hasFailed ||= error instanceof LoginError;
        throw error;
      })
      .finally(() => {
        this.#loggingIn = undefined;
      });
    return this.#loggingIn;
  }
}

const DONE = Promise.resolve();

function conclude({ answer, lease, kept }: Leased, session: LetThrough): SessionAnswer {
  // The next request that waits for the lease is sent with the cookies of this answer.
  void kept.then(() => (session === "accepted" ? lease.accept() : lease.release()));
  return { answer, session, kept };
}

function kindOf({ answer, sign }: Leased, url: URL): string {
  return `${url.pathname} ${answer.status} ${sign}`;
}

function failedBefore(): LoginError {
  return new LoginError(
    "Nothing was created: the login of this run failed (its error says why), and is not tried again.",
  );
}
