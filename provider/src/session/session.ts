/**
 * Who is logged in. Attaches the session to each request, logs in once for all who need it, and once more where the
 * session turns out to have ended.
 */

import type { Clock } from "../clock.js";
import type { Settings } from "../config/settings.js";
import { LoginError } from "../errors.js";
import type { Patience, PatientSender } from "../http/patient.js";
import { type HttpAnswer, type HttpRequest, TransportFailure } from "../http/transport.js";
import type { Secrets } from "../secrets.js";
import { Gate } from "./gate.js";
import type { SessionJar } from "./jar.js";
import { logIn } from "./login.js";
import { type SessionSign, sessionSignOf } from "./refusal.js";
import type { OpenedSession, SessionStore } from "./store.js";

export interface SessionOptions {
  readonly settings: Settings;
  readonly sender: PatientSender;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly store: SessionStore;
}

export interface SessionAnswer {
  readonly answer: HttpAnswer;
  /**
   * Whether the session let it through. `refused`: the answer speaks of the session, but a new one would not help, or
   * there is none to be had (Basic). `refused-again`: also on a session that was opened for it.
   * Assumption: what was refused for its session was not acted upon.
   */
  readonly session: "accepted" | "refused" | "refused-again";
  /** Resolves once the answer's cookies are stored; never fails. */
  readonly kept: Promise<void>;
}

const DONE = Promise.resolve();

/** A session this young is not taken for ended on a sign that may have another meaning. */
const YOUNG_MS = 60_000;

/** One login and how it has fared. */
interface Login {
  readonly session: OpenedSession;
  readonly openedAtMs: number;
  readonly gate: Gate;
}

/** While a request waited for its turn, its login has ended or filled up; nothing was sent. */
class NotNow extends Error {}

export class Session {
  readonly #options: SessionOptions;
  #current: Login | undefined;
  #loggingIn: Promise<Login> | undefined;
  #failed: LoginError | undefined;
  /** The login before the current one; its pending requests are those still to be sent again, or just sent again. */
  #ended: Login | undefined;
  /** Refusals that a new login did not cure: operation, status and kind of sign. */
  readonly #refusedAgain = new Set<string>();
  /** For Basic credentials, which have no login. */
  readonly #basicGate: Gate;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#basicGate = new Gate(options.settings.maxConcurrentRequests);
    options.secrets.add(options.settings.password);
    if (options.settings.authMode === "basic") options.secrets.add(this.#basicCredentials());
  }

  /**
   * POSTs a create. It is sent again only where its first sending was refused for its session, so not acted upon.
   * @param beforeSend awaited before the first byte may leave; called again before each further sending.
   * @throws LoginError, TransportFailure, StopWaiting, and what `beforeSend` throws
   */
  async post(url: URL, body: string, beforeSend: () => Promise<void>): Promise<SessionAnswer> {
    const headers = { "content-type": "application/json", accept: "application/json" };
    if (this.#options.settings.authMode === "basic") return this.#postWithBasic(url, headers, body, beforeSend);

    const { sender, settings } = this.#options;
    const ticket = Symbol("request");
    const patience = sender.patience();
    let refusedOn: Login | undefined;
    try {
      for (;;) {
        const isResend = refusedOn !== undefined;
        const login = await this.#loginWithRoom(isResend);
        let answer: HttpAnswer;
        try {
          answer = await this.#sendThrough(login.gate, ticket, patience, async () => {
            if (login !== this.#current || !this.#hasRoom(login, isResend)) throw new NotNow();
            login.gate.enter(ticket);
            await beforeSend();
            const cookie = await this.#cookieFor(login, url);
            if (login !== this.#current) throw new NotNow();
            return { url, headers: { ...headers, cookie }, body };
          });
        } catch (error) {
          if (error instanceof TransportFailure && error.sent) login.gate.letThrough();
          login.gate.settle(ticket);
          if (error instanceof NotNow) continue;
          throw error;
        }
        // Storing them may have to wait for another process; what the answer says must not.
        const kept = settings.keepLoggedIn ? this.#keepCookies(login, answer, url) : DONE;

        const sign = sessionSignOf(answer);
        if (sign === undefined) {
          login.gate.letThrough();
          void kept.then(() => login.gate.settle(ticket));
          return { answer, session: "accepted", kept };
        }
        await kept;
        const signature = `${url.pathname} ${answer.status} ${sign}`;
        if (refusedOn !== undefined) {
          this.#refusedAgain.add(signature);
          login.gate.settle(ticket);
          return { answer, session: "refused-again", kept };
        }
        if (!this.#mayHaveEnded(login, sign, signature)) {
          if (sign === "doubtful") login.gate.letThrough();
          login.gate.settle(ticket);
          return { answer, session: sign === "doubtful" ? "accepted" : "refused", kept };
        }
        this.#end(login);
        refusedOn = login; // pending on it until the second sending is answered
      }
    } finally {
      refusedOn?.gate.settle(ticket);
    }
  }

  /** Sends a create whose `prepare` has `ticket` enter `gate`; between two attempts it holds no place there. */
  #sendThrough(
    gate: Gate,
    ticket: symbol,
    patience: Patience,
    prepare: () => Promise<HttpRequest>,
  ): Promise<HttpAnswer> {
    return this.#options.sender.send(prepare, {
      repeatable: false,
      patience,
      onPause: (failure) => {
        // Whatever keeps a connection from being made is none of the session: nobody need wait for this one.
        if (failure !== undefined) gate.open();
        gate.settle(ticket);
      },
    });
  }

  /**
   * The current login, or a new one, as soon as it may take one more request: whoever was refused goes first, and the
   * others when those are answered. With the {@link Gate}'s rule that makes that a session which ends after a number of
   * requests refuses none of them twice.
   */
  async #loginWithRoom(isResend: boolean): Promise<Login> {
    for (;;) {
      if (this.#failed !== undefined) throw failedBefore();
      const login = this.#current;
      if (login === undefined) await this.#logInOnce();
      else if (this.#hasRoom(login, isResend)) return login;
      else await (this.#mustWait(isResend) ?? login).gate.decision();
    }
  }

  #hasRoom(login: Login, isResend: boolean): boolean {
    return this.#mustWait(isResend) === undefined && login.gate.hasRoom;
  }

  /** The ended login whose requests go first, where there are any. */
  #mustWait(isResend: boolean): Login | undefined {
    if (isResend || this.#ended?.gate.isIdle) return undefined;
    return this.#ended;
  }

  async #logInOnce(): Promise<void> {
    const isFirst = this.#loggingIn === undefined;
    this.#loggingIn ??= this.#open().finally(() => {
      this.#loggingIn = undefined;
    });
    try {
      await this.#loggingIn;
    } catch (error) {
      // One error for the whole run says why.
      throw isFirst || !(error instanceof LoginError) ? error : failedBefore();
    }
  }

  async #open(): Promise<Login> {
    const { settings, sender, secrets, clock, store } = this.#options;
    const usedAt = new URL(`${settings.baseUrl}/rest/event`);
    try {
      const session = await store.open(
        this.#ended?.session.stamp,
        () => logIn({ settings, sender, usedAt, clean: (text) => secrets.scrub(text) }),
        (jar) => jar.hasSession(usedAt),
      );
      await this.#registerSecrets(session.jar, usedAt);
      this.#current = {
        session,
        openedAtMs: clock.monotonicMs(),
        gate: new Gate(settings.maxConcurrentRequests),
      };
      return this.#current;
    } catch (error) {
      if (error instanceof LoginError) this.#failed = error;
      throw error;
    }
  }

  /** Whether a refusal may be the end of the session, rather than about the request. */
  #mayHaveEnded(login: Login, sign: SessionSign, signature: string): boolean {
    if (login !== this.#current) return true; // somebody found out already; a newer login is there to be used
    if (login.session.restored) return true; // of unknown age: its end is the likeliest reason
    if (this.#options.clock.monotonicMs() - login.openedAtMs >= YOUNG_MS) return true;
    if (sign === "doubtful" || (sign === "bare" && !login.gate.hasLetThrough)) return false;
    // A new login did not help the last time: a permission that is missing must not cost a login for each resource.
    return !this.#refusedAgain.has(signature);
  }

  #end(login: Login): void {
    if (this.#current !== login) return;
    this.#current = undefined;
    this.#ended = login;
    login.gate.wake();
  }

  /** The Cookie header for the next request; in long-lived mode another process may have stored a newer one. */
  async #cookieFor({ session }: Login, url: URL): Promise<string> {
    if (!this.#options.settings.keepLoggedIn) return session.jar.header(url);
    const jar = await this.#options.store.newest(session);
    await this.#registerSecrets(jar, url);
    return jar.header(url);
  }

  /** Long-lived sessions: every answer may bring a newer cookie. Never fails: what the answer says counts for more. */
  async #keepCookies({ session }: Login, answer: HttpAnswer, url: URL): Promise<void> {
    if (answer.setCookies.length === 0) return;
    try {
      await this.#options.store.keep(session, answer.setCookies, url);
      await this.#registerSecrets(session.jar, url);
    } catch {
      // The older cookie goes on being sent; where the platform takes it no more, there is one login.
    }
  }

  async #registerSecrets(jar: SessionJar, url: URL): Promise<void> {
    for (const value of await jar.values(url)) this.#options.secrets.addPassing(value);
  }

  #basicCredentials(): string {
    const { email, password } = this.#options.settings;
    return Buffer.from(`${email}:${password ?? ""}`).toString("base64");
  }

  async #postWithBasic(
    url: URL,
    headers: Record<string, string>,
    body: string,
    beforeSend: () => Promise<void>,
  ): Promise<SessionAnswer> {
    const authorization = `Basic ${this.#basicCredentials()}`;
    const gate = this.#basicGate;
    const ticket = Symbol("request");
    const patience = this.#options.sender.patience();
    try {
      for (;;) {
        if (this.#failed !== undefined) throw failedBefore();
        if (!gate.hasRoom) {
          await gate.decision();
          continue;
        }
        try {
          const answer = await this.#sendThrough(gate, ticket, patience, async () => {
            if (this.#failed !== undefined || !gate.hasRoom) throw new NotNow();
            gate.enter(ticket);
            await beforeSend();
            return { url, headers: { ...headers, authorization }, body };
          });
          const isRefused = sessionSignOf(answer) === "clear";
          if (!isRefused) gate.letThrough();
          // Refused credentials are final for the run, unless they were good before: then it is about the request.
          else if (!gate.hasLetThrough) this.#failed = failedBefore();
          return { answer, session: isRefused ? "refused" : "accepted", kept: DONE };
        } catch (error) {
          if (!(error instanceof NotNow)) throw error;
        }
      }
    } finally {
      gate.settle(ticket);
    }
  }
}

function failedBefore(): LoginError {
  return new LoginError("Not sent: the login failed before, and is not tried again in this run (its error says why).");
}
