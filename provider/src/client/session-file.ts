/**
 * The file that a session is kept in: its format, whose sessions it may hold, and how it is read and written.
 */
import { z } from "zod";
import { type Clock, LoginError } from "../base/index.js";
import { type Lock, readPrivate, removeLeftovers, replacePrivate, UntrustedFile, withLock } from "../files/index.js";
import type { Account } from "../store/index.js";
import { SessionJar } from "./jar.js";
import { PasswordCheck, verifierSchema } from "./password-check.js";

/** The format is a contract: later versions read what this one wrote. 1 did not say which password opened the session. */
const VERSION = 2;
const MAX_FILE_BYTES = 1024 * 1024;

const formatSchema = z.object({
  session: z.literal("pulumi-advertising"),
  version: z.literal(VERSION),
  baseUrl: z.string(),
  email: z.string(),
  keepLoggedIn: z.boolean(),
  /** Of the password that opened the session. */
  verifier: verifierSchema,
  /** The login's id. */
  stamp: z.string().min(1),
  /** When the answer with the newest cookies came, in milliseconds since 1970. */
  newestAtMs: z.number(),
  jar: z.unknown(),
});

type Format = z.infer<typeof formatSchema>;

interface StoredSession {
  readonly jar: SessionJar;
  readonly loginId: string;
  readonly newestAtMs: number;
}

export interface SessionFileOptions {
  readonly path: string;
  readonly account: Account;
  readonly password: string;
  readonly keepLoggedIn: boolean;
  readonly clock: Clock;
  readonly newId: () => string;
  /** How long another process's login may be waited for. */
  readonly maxLockWaitMs: number;
  readonly say: (message: string) => void;
}

export class SessionFile {
  readonly #options: SessionFileOptions;
  readonly #password: PasswordCheck;

  constructor(options: SessionFileOptions) {
    this.#options = options;
    this.#password = new PasswordCheck(options.password);
  }

  /**
   * @returns none where there is no file, and where its session is damaged or not of these settings.
   * @throws UntrustedFile; LoginError for a file of a later version.
   */
  async read(): Promise<(StoredSession & { hasSamePassword(): Promise<boolean> }) | undefined> {
    const { path, account, keepLoggedIn, say } = this.#options;
    const bytes = await readPrivate(path, MAX_FILE_BYTES);
    if (bytes === undefined) return undefined;
    const data = parsed(bytes.toString("utf8"));
    const version = (data as { version?: unknown } | null | undefined)?.version;
    if (version === 1) return undefined; // replaced at the login that follows
    if (typeof version === "number" && version > VERSION) {
      throw new LoginError(
        `Nothing was sent: the session file ${path} was written by a later version of this package (format ${version}), and is left ` +
          "as it is. Use that version, or remove the file: the next run then logs in anew",
      );
    }
    const { data: stored } = formatSchema.safeParse(data);
    const jar = stored && (await SessionJar.fromJSON(stored.jar).catch(() => undefined));
    if (stored === undefined || jar === undefined) {
      say(`The session file ${path} is damaged; it is written anew at the next login.`);
      return undefined;
    }
    if (stored.baseUrl !== account.baseUrl || stored.email !== account.email) {
      throw new UntrustedFile("it holds another account's session; give each account a file of its own");
    }
    if (stored.keepLoggedIn !== keepLoggedIn) return undefined;
    const { stamp: loginId, newestAtMs, verifier } = stored;
    return { jar, loginId, newestAtMs, hasSamePassword: () => this.#password.matches(verifier) };
  }

  /** @param lock under which it is written; throws where that was lost. */
  async write({ jar, loginId, newestAtMs }: StoredSession, lock: Lock): Promise<void> {
    const { path, account, keepLoggedIn, newId, clock } = this.#options;
    const stored: Format = {
      session: "pulumi-advertising",
      version: VERSION,
      baseUrl: account.baseUrl,
      email: account.email,
      keepLoggedIn,
      verifier: await this.#password.verifier(),
      stamp: loginId,
      newestAtMs,
      jar: await jar.toJSON(),
    };
    await replacePrivate(path, JSON.stringify(stored), newId(), lock.confirm);
    await removeLeftovers(path, clock.wallMs());
  }

  /** Computes what {@link write} needs of the password, while something else is awaited. */
  prepare(): void {
    this.#password.verifier().catch(() => undefined); // told by the write
  }

  /** Does `work` while no other process writes the file. */
  locked<T>(work: (lock: Lock) => Promise<T>): Promise<T> {
    const { path, clock, newId, maxLockWaitMs } = this.#options;
    return withLock(`${path}.lock`, { clock, unique: newId(), maxWaitMs: maxLockWaitMs }, work);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return undefined; // damaged, as any other text that is no session
  }
}
