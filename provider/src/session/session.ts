/**
 * Who is logged in. Attaches the session to each request, logs in once for all who need it, and once more where the
 * session turns out to have ended.
 */

import type { Clock } from "../clock.js";
import type { Settings } from "../config/settings.js";
import { LoginError } from "../errors.js";
import type { PatientSender } from "../http/patient.js";
import type { HttpAnswer } from "../http/transport.js";
import type { Secrets } from "../secrets.js";
import { readBody, saysNo } from "../wire/body.js";
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
  /** A session opened just for this request was refused as well: the answer is to be read as a refusal. */
  readonly refusedTwice: boolean;
}

/** A session this young is not taken for ended on a doubtful sign. */
const YOUNG_MS = 60_000;

/** One login and how it has fared. */
interface Login {
  readonly session: OpenedSession;
  readonly openedAtMs: number;
  /** Requests that it served. */
  accepted: number;
  /** Requests that were sent again on it and refused again. */
  refusedAgain: number;
  /** Sent on it, and neither answered for good nor sent again on a later one. */
  readonly pending: Set<symbol>;
  /** Told whenever a request on it is decided. */
  readonly watchers: Set<() => void>;
}

/** The login that a request was prepared for has ended meanwhile; nothing was sent. */
class LoginEnded extends Error {}

export class Session {
  readonly #options: SessionOptions;
  #current: Login | undefined;
  #loggingIn: Promise<Login> | undefined;
  #failed: LoginError | undefined;
  /** The login before the current one, until all its requests are settled or sent again. */
  #ended: Login | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
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

    const ticket = Symbol("request");
    let refusedOn: Login | undefined;
    try {
      for (;;) {
        let login = await this.#loginFor(refusedOn !== undefined);
        let answer: HttpAnswer;
        try {
          answer = await this.#options.sender.send(async () => {
            if (this.#current === undefined) throw new LoginEnded();
            await beforeSend();
            if (this.#current === undefined) throw new LoginEnded();
            if (login !== this.#current) settle(login, ticket); // waited across a login
            login = this.#current;
            login.pending.add(ticket);
            if (refusedOn !== undefined) settle(refusedOn, ticket);
            return { url, headers: { ...headers, cookie: await this.#cookieFor(login, url) }, body };
          }, false);
        } catch (error) {
          settle(login, ticket);
          if (error instanceof LoginEnded) continue;
          throw error;
        }
        if (this.#options.settings.keepLoggedIn) await this.#keepCookies(login, answer, url);

        const sign = sessionSignOf(answer);
        if (sign === undefined) {
          if (isServed(answer)) login.accepted++;
          settle(login, ticket);
          return { answer, refusedTwice: false };
        }
        if (refusedOn !== undefined) {
          login.refusedAgain++;
          settle(login, ticket);
          return { answer, refusedTwice: true };
        }
        if (!(await this.#mayHaveEnded(login, sign, ticket))) {
          settle(login, ticket);
          return { answer, refusedTwice: false };
        }
        this.#end(login);
        refusedOn = login;
      }
    } finally {
      if (refusedOn !== undefined) settle(refusedOn, ticket);
    }
  }

  /** The current login, or a new one; all who ask meanwhile share it. */
  async #loginFor(isResend: boolean): Promise<Login> {
    for (;;) {
      if (this.#failed !== undefined) {
        throw new LoginError(
          "Not sent: the login failed before, and is not tried again in this run (its error says why).",
        );
      }
      // Whoever was refused goes first: a session may end after a number of requests, and each gets one more sending.
      if (this.#current !== undefined && !isResend && this.#ended !== undefined && this.#ended.pending.size > 0) {
        await decisionOn(this.#ended);
      } else {
        return this.#current ?? (await this.#logInOnce());
      }
    }
  }

  #logInOnce(): Promise<Login> {
    this.#loggingIn ??= this.#open().finally(() => {
      this.#loggingIn = undefined;
    });
    return this.#loggingIn;
  }

  async #open(): Promise<Login> {
    const { settings, sender, clock, store } = this.#options;
    const usedAt = new URL(`${settings.baseUrl}/rest/event`);
    try {
      const session = await store.open(
        this.#ended?.session.stamp,
        () => logIn({ settings, sender, usedAt }),
        (jar) => jar.hasSession(usedAt),
      );
      await this.#registerSecrets(session.jar, usedAt);
      this.#current = {
        session,
        openedAtMs: clock.monotonicMs(),
        accepted: 0,
        refusedAgain: 0,
        pending: new Set(),
        watchers: new Set(),
      };
      return this.#current;
    } catch (error) {
      if (error instanceof LoginError) this.#failed = error;
      throw error;
    }
  }

  /** Whether a refusal may be the end of the session, rather than about the request. */
  async #mayHaveEnded(login: Login, sign: SessionSign, ticket: symbol): Promise<boolean> {
    if (login !== this.#current) return true; // somebody found out already; a newer login is there to be used
    if (login.session.restored) return true; // of unknown age: its end is the likeliest reason
    if (sign === "doubtful" && this.#options.clock.monotonicMs() - login.openedAtMs < YOUNG_MS) return false;
    // Refusals may overtake the answers that prove the session good: wait for those before judging it.
    settle(login, ticket);
    while (login.accepted === 0 && login.pending.size > 0 && login === this.#current) await decisionOn(login);
    login.pending.add(ticket);
    if (login !== this.#current || login.accepted > 0) return true;
    // It never served anything. Only clear words make a second login worth it, and only once.
    return sign === "clear" && login.refusedAgain === 0;
  }

  #end(login: Login): void {
    if (this.#current !== login) return;
    this.#current = undefined;
    this.#ended = login;
    for (const watcher of login.watchers) watcher();
  }

  /** The Cookie header for the next request; in long-lived mode another process may have stored a newer one. */
  async #cookieFor({ session }: Login, url: URL): Promise<string> {
    if (!this.#options.settings.keepLoggedIn) return session.jar.header(url);
    const jar = await this.#options.store.newest(session);
    await this.#registerSecrets(jar, url);
    return jar.header(url);
  }

  /** Long-lived sessions: every answer may bring a newer cookie. */
  async #keepCookies({ session }: Login, answer: HttpAnswer, url: URL): Promise<void> {
    if (answer.setCookies.length === 0) return;
    await this.#options.store.keep(session, answer.setCookies, url);
    await this.#registerSecrets(session.jar, url);
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
    const answer = await this.#options.sender.send(async () => {
      await beforeSend();
      return { url, headers: { ...headers, authorization }, body };
    }, false);
    return { answer, refusedTwice: sessionSignOf(answer) === "clear" };
  }
}

/** Whether the answer shows that the session was good. */
function isServed(answer: HttpAnswer): boolean {
  if (answer.status < 200 || answer.status >= 300) return false;
  const body = readBody(answer);
  return body.kind === "json" && !saysNo(body.value);
}

function settle(login: Login, ticket: symbol): void {
  if (!login.pending.delete(ticket)) return;
  for (const watcher of login.watchers) watcher();
}

/** Resolves when the next request on `login` is decided, or the login ends. */
function decisionOn(login: Login): Promise<void> {
  return new Promise((resolve) => {
    const watcher = () => {
      login.watchers.delete(watcher);
      resolve();
    };
    login.watchers.add(watcher);
  });
}
