/**
 * What lets requests in, in one of two ways: the cookies of a session, or Basic credentials. Both say what goes with a
 * request, and what it means for the login where a request is refused.
 */

import type { Secrets } from "../base/index.js";
import type { Settings } from "../settings/index.js";
import type { SessionJar } from "./jar.js";
import { logIn } from "./login.js";
import type { PatientSender } from "./patient.js";
import type { SessionSign } from "./session-refusal.js";
import type { OpenedSession, SessionStore } from "./session-store.js";
import type { HttpAnswer } from "./transport.js";

type Verdict =
  /** It is none of the login: the answer speaks of something else. */
  | "accepted"
  /** It is about the login, but a new one would not help. */
  | "refused"
  /** The login has ended: a new one may help. */
  | "ended"
  /** The credentials are wrong, and there are no others: final for the run. */
  | "wrong";

/** The history of a login until it refused a request. */
interface Standing {
  readonly hasAccepted: boolean;
  /** As other requests have found out meanwhile. */
  readonly hasEnded: boolean;
  readonly ageMs: number;
  /** A refusal of the same kind came again on a new login. */
  readonly isIncurable: boolean;
}

/** A login, or what stands in its place. */
export interface Login {
  /** Makes the headers that go with the next request to `url`. */
  headers(url: URL): Promise<Readonly<Record<string, string>>>;
  /** Takes in what an answer brings. Never fails: what the answer says counts for more. */
  keep(answer: HttpAnswer, url: URL): Promise<void>;
  judge(sign: SessionSign, standing: Standing): Verdict;
}

interface Credentials {
  /**
   * A login other than the one before.
   * @param url where it must be good for.
   * @throws LoginError
   */
  open(url: URL): Promise<Login>;
}

export interface CredentialsOptions {
  readonly settings: Settings;
  readonly sender: PatientSender;
  readonly secrets: Secrets;
  readonly store: SessionStore;
}

/** As the settings say. */
export function credentialsOf(options: CredentialsOptions): Credentials {
  options.secrets.add(options.settings.password);
  return options.settings.authMode === "basic" ? new BasicCredentials(options) : new CookieCredentials(options);
}

/** A session this young is not taken for ended on a sign that may have another meaning. */
const YOUNG_MS = 60_000;

class CookieCredentials implements Credentials {
  readonly #options: CredentialsOptions;
  #last: OpenedSession | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  async open(url: URL): Promise<Login> {
    const { settings, sender, secrets, store } = this.#options;
    const session = await store.open(
      this.#last?.loginId,
      () => logIn({ settings, sender, usedAt: url, clean: (text) => secrets.scrub(text) }),
      (jar) => jar.hasSession(url),
    );
    this.#last = session;
    await this.#register(session.jar);
    return {
      headers: async (url) => ({
        cookie: (settings.keepLoggedIn ? await this.#newest(session) : session.jar).header(url),
      }),
      keep: (answer, url) => this.#keep(session, answer, url),
      judge: (sign, { hasAccepted, hasEnded, ageMs, isIncurable }) => {
        // A restored one is of unknown age: its end is the likeliest reason.
        if (hasEnded || session.restored || ageMs >= YOUNG_MS) return "ended";
        if (sign === "doubtful") return "accepted";
        if (sign === "bare" && !hasAccepted) return "refused";
        // A permission that is missing must not cost a login for each resource.
        return isIncurable ? "refused" : "ended";
      },
    };
  }

  /** In long-lived mode another process may have stored newer cookies. */
  async #newest(session: OpenedSession): Promise<SessionJar> {
    const jar = await this.#options.store.newest(session);
    await this.#register(jar);
    return jar;
  }

  /** In long-lived mode every answer may bring newer cookies. */
  async #keep(session: OpenedSession, { setCookies }: HttpAnswer, url: URL): Promise<void> {
    if (!this.#options.settings.keepLoggedIn || setCookies.length === 0) return;
    try {
      await this.#options.store.keep(session, setCookies, url);
      await this.#register(session.jar);
    } catch {
      // The older cookie goes on being sent; where the platform takes it no more, there is one login.
    }
  }

  async #register(jar: SessionJar): Promise<void> {
    for (const value of await jar.values()) this.#options.secrets.addPassing(value);
  }
}

/** No login: the credentials go with every request. */
class BasicCredentials implements Credentials {
  readonly #authorization: string;

  constructor({ settings: { email, password }, secrets }: CredentialsOptions) {
    const encoded = Buffer.from(`${email}:${password ?? ""}`).toString("base64");
    secrets.add(encoded);
    this.#authorization = `Basic ${encoded}`;
  }

  async open(): Promise<Login> {
    return {
      headers: async () => ({ authorization: this.#authorization }),
      keep: async () => undefined,
      judge: (sign, { hasAccepted }) => {
        if (sign !== "clear") return "accepted";
        return hasAccepted ? "refused" : "wrong"; // once good, they stay so: then it is about the request
      },
    };
  }
}
