/**
 * Sends a request, waits if waiting helps, and keeps the limits for requests at once and for the total wait. All
 * requests of a process share one instance, so that they wait for a rate limit together. Whether another attempt may
 * follow a failed one is a pure decision, with a reason for each branch ({@link decideRetry}).
 */
import type { Settings } from "../settings/index.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { type HttpAnswer, type HttpRequest, TransportFailure } from "./transport.js";

/** The platform asks for a longer wait than this request may spend; the message is a clause. Nothing was acted upon. */
export class StopWaiting extends Error {}

export interface WaitBudget {
  leftMs: number;
}

export type Attempt = HttpAnswer | TransportFailure;

/**
 * Makes one attempt: calls `transmit` once with the request, which so has the latest cookie.
 * @returns nothing if it had to wait first, so that the rate limit may be another one by now: then it is called again.
 */
export type Exchange = (
  transmit: (request: HttpRequest) => Promise<Attempt>,
) => Promise<Attempt | undefined>;

export interface SendOptions {
  /** Carrying it out twice does no harm: false for a create, which has no idempotency key; true for all others. */
  readonly repeatable: boolean;
  readonly waitBudget: WaitBudget;
  /** For a login, which is sent by a request that has a slot. */
  readonly needsNoSlot?: boolean;
}

export class RetryingSender {
  readonly #dependencies: ClientDependencies;
  readonly #maxWaitMs: number;
  readonly #slots: Slots;
  readonly #silence: Silence;
  #underWay = 0;
  /** On the monotonic clock: a changed wall clock neither prolongs nor ends a wait. */
  #quietUntilMs = 0;

  constructor(settings: Settings, dependencies: ClientDependencies) {
    this.#dependencies = dependencies;
    this.#maxWaitMs = settings.maxWaitSeconds * 1000;
    this.#slots = new Slots(settings.maxConcurrentRequests);
    this.#silence = new Silence(settings, dependencies);
  }

  /** The total time that one request may wait, however often it is passed to {@link send}. */
  waitBudget(): WaitBudget {
    return { leftMs: this.#maxWaitMs };
  }

  /** @throws {TransportFailure} if no status line came. @throws {StopWaiting} if the rate limit outlasts `patience`. */
  async send(exchange: Exchange, options: SendOptions): Promise<HttpAnswer> {
    this.#underWay++;
    try {
      return await this.#send(exchange, options);
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) this.#silence.end();
    }
  }

  async #send(exchange: Exchange, options: SendOptions): Promise<HttpAnswer> {
    const { waitBudget } = options;
    for (let attemptNumber = 1; ; attemptNumber++) {
      const { attempt, decision, durationMs } = await this.#attempt(
        exchange,
        options,
        attemptNumber,
      );
      if (decision.kind === "limited") continue; // the shared wait comes before the next attempt
      if (decision.kind === "again") {
        // A connection attempt that timed out has also used up patience.
        waitBudget.leftMs -= durationMs;
        if (decision.delayMs <= waitBudget.leftMs) {
          await this.#spend(waitBudget, decision.delayMs);
          continue;
        }
      }
      if (attempt instanceof TransportFailure) throw attempt;
      return attempt;
    }
  }

  async #attempt(
    exchange: Exchange,
    { repeatable, waitBudget, needsNoSlot }: SendOptions,
    attemptNumber: number,
  ) {
    const { clock, transport, onAttempt } = this.#dependencies;
    let durationMs = 0;
    const transmit = async (request: HttpRequest) => {
      const begin = clock.monotonicMs();
      const result = await this.#silence.during(request, waitBudget, (watched) =>
        transport.send(watched),
      );
      durationMs = clock.monotonicMs() - begin;
      onAttempt?.(
        `${request.method} ${request.url.pathname} attempt ${attemptNumber}: ${outcomeOf(result)} after ${Math.round(durationMs)} ms`,
      );
      return result;
    };
    for (;;) {
      // While it waits for the rate limit it has no slot.
      const quietMs = this.#quietMs();
      if (quietMs > 0) await this.#spend(waitBudget, Math.max(1, quietMs));
      if (needsNoSlot !== true) await this.#slots.enter();
      try {
        const attempt = this.#quietMs() > 0 ? undefined : await exchange(transmit);
        if (attempt === undefined) continue;
        const [wallClockMs, random] = [clock.wallMs(), Math.random()];
        const decision = decideRetry({ attempt, attemptNumber, repeatable, wallClockMs, random });
        // Still in its slot, so that no other request sends in it before all know about the wait.
        if (decision.kind === "limited") this.#keepQuiet(decision.delayMs, waitBudget.leftMs);
        return { attempt, decision, durationMs };
      } finally {
        if (needsNoSlot !== true) this.#slots.leave();
      }
    }
  }

  async #spend(waitBudget: WaitBudget, delayMs: number): Promise<void> {
    const { clock } = this.#dependencies;
    if (delayMs > waitBudget.leftMs) {
      const from = new Date(clock.wallMs() + delayMs).toISOString();
      throw new StopWaiting(
        `the platform limits the rate and takes requests again from ${from} on; that is longer than advertising:maxWaitSeconds ` +
          `(${this.#maxWaitMs / 1000} s) allows`,
      );
    }
    waitBudget.leftMs -= delayMs;
    await clock.sleep(delayMs);
  }

  #quietMs(): number {
    return this.#quietUntilMs - this.#dependencies.clock.monotonicMs();
  }

  #keepQuiet(delayMs: number, budgetMs: number): void {
    const until = this.#dependencies.clock.monotonicMs() + delayMs;
    if (until <= this.#quietUntilMs) return;
    const isNewWait = this.#quietMs() <= 0;
    this.#quietUntilMs = until;
    if (!isNewWait || delayMs > budgetMs) return;
    this.#dependencies.say(
      `The platform limits the rate: all requests wait for ${Math.ceil(delayMs / 1000)} s.`,
    );
  }
}

const SILENT_MS = 5000;

/** Says once that nothing has come back for a while, what is waited for, and for how long still. */
class Silence {
  /** None while something comes back. */
  #cancel: (() => void) | undefined;
  /** When it is given up, about. */
  #endsMs = 0;
  #attemptEndsMs = 0;
  #setting = "";
  #isConnected = false;
  /** Why the last attempt found no connection. */
  #code = "";

  constructor(
    private readonly settings: Settings,
    private readonly dependencies: ClientDependencies,
  ) {}

  async during(
    request: HttpRequest,
    waitBudget: WaitBudget,
    transmit: (request: HttpRequest) => Promise<Attempt>,
  ): Promise<Attempt> {
    const { clock } = this.dependencies;
    const nowMs = clock.monotonicMs();
    const timeoutMs = this.settings.requestTimeoutSeconds * 1000;
    const triedUntilMs = nowMs + waitBudget.leftMs;
    this.#attemptEndsMs = nowMs + timeoutMs;
    if (this.#cancel === undefined) {
      const attempts = Math.max(1, Math.ceil(waitBudget.leftMs / timeoutMs));
      this.#endsMs = nowMs + attempts * timeoutMs;
      this.#setting = attempts > 1 ? "maxWaitSeconds" : "requestTimeoutSeconds";
      this.#cancel = clock.alarm(SILENT_MS, () => this.#say(request.url.host));
    }
    const onStart = () => {
      this.#isConnected = true;
    };
    const attempt = await transmit({ ...request, onStart });
    if (!(attempt instanceof TransportFailure)) {
      this.end();
      return attempt;
    }
    this.#code = attempt.code;
    // An attempt that fails at once is followed by others until the patience is spent.
    if (attempt.code !== "UND_ERR_CONNECT_TIMEOUT") {
      this.#endsMs = triedUntilMs;
      this.#setting = "maxWaitSeconds";
    }
    return attempt;
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#isConnected = false;
    this.#code = "";
  }

  #say(host: string): void {
    const { clock, say } = this.dependencies;
    const nowMs = clock.monotonicMs();
    const secondsTo = (ms: number) => Math.max(0, Math.ceil((ms - nowMs) / 1000));
    const after = `after ${SILENT_MS / 1000} s`;
    if (this.#isConnected) {
      const ends = `This attempt ends in ${secondsTo(this.#attemptEndsMs)} s (advertising:requestTimeoutSeconds)`;
      say(`No response from ${host} ${after}. ${ends}.`);
      return;
    }
    const why = this.#code === "" ? "" : ` (${this.#code})`;
    const tried = `It is tried for about another ${secondsTo(this.#endsMs)} s (advertising:${this.#setting})`;
    say(
      `No connection to ${host} ${after}${why}. ${tried}. Check advertising:baseUrl, the network and the proxy.`,
    );
  }
}

/** Limits how many are in it at once, in the order of their calls. */
class Slots {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async enter(): Promise<void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.free++;
    else next();
  }
}

function outcomeOf(attempt: Attempt): string {
  if (attempt instanceof TransportFailure)
    return `${attempt.code}, ${attempt.sent ? "sent" : "not sent"}`;
  return `status ${attempt.status}`;
}

interface RetryQuestion extends Pick<SendOptions, "repeatable"> {
  readonly attempt: Attempt;
  /** 1 for the first. */
  readonly attemptNumber: number;
  readonly wallClockMs: number;
  /** From 0 to 1, for the jitter. */
  readonly random: number;
}

type RetryDecision =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly delayMs: number }
  /** The platform asks for quiet: all requests wait. */
  | { readonly kind: "limited"; readonly delayMs: number };

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 20_000;
/** For a rate limit without a usable Retry-After, whose window is unknown. */
const FIRST_LIMIT_BACKOFF_MS = 1000;
/** How often a repeatable request is tried while its outcome is unknown. Few times, because logins are rate limited. */
const MAX_REPEATED_ATTEMPTS = 3;

const CERTIFICATE_CODE =
  /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH)/;

/** In TLS 1.3 it comes after the request was written. */
const WANTS_CERTIFICATE = /CERTIFICATE_REQUIRED$/;

/** Whether a failure is about a certificate or TLS, so that another attempt would fail too. */
function isCertificateFailure(failure: TransportFailure): boolean {
  return CERTIFICATE_CODE.test(failure.code) || /certificate|SSL routines/i.test(failure.message);
}

const NO_RETRY: RetryDecision = { kind: "done" };

export function decideRetry(question: RetryQuestion): RetryDecision {
  const { attempt, attemptNumber, repeatable, random, wallClockMs } = question;
  const mayRepeat = repeatable && attemptNumber < MAX_REPEATED_ATTEMPTS;
  const again = (firstMs: number): RetryDecision => {
    return { kind: "again", delayMs: backoffMs(firstMs, attemptNumber, random) };
  };

  if (attempt instanceof TransportFailure) {
    // It may have been carried out.
    if (attempt.sent && WANTS_CERTIFICATE.test(attempt.code)) return NO_RETRY;
    if (attempt.sent) return mayRepeat ? again(FIRST_BACKOFF_MS) : NO_RETRY;
    // A proxy's refusal is final, because of credentials or rules, unless it reports a failure.
    const isRefused = attempt.tunnel?.status !== undefined && attempt.tunnel.status < 500;
    if (isRefused || isCertificateFailure(attempt)) return NO_RETRY;
    // It was certainly not carried out: undici had not begun to write (there was no onRequestStart).
    return again(FIRST_BACKOFF_MS);
  }

  const { status, headers } = attempt;
  const asked = retryAfterMs(headers, wallClockMs);
  // Assumption: a request with a 429, or a 503 that names a time, was refused before anything was done.
  if (status === 429 || (status === 503 && asked !== undefined)) {
    // 0 seconds must not cause a busy loop.
    const least = backoffMs(FIRST_LIMIT_BACKOFF_MS, attemptNumber, random);
    const delayMs =
      asked !== undefined && asked >= FIRST_LIMIT_BACKOFF_MS ? asked : Math.max(asked ?? 0, least);
    return { kind: "limited", delayMs };
  }
  return status >= 500 && mayRepeat ? again(FIRST_LIMIT_BACKOFF_MS) : NO_RETRY;
}

/** Doubles with each attempt up to a limit, less a random part up to a half, so that many don't come back at once. */
function backoffMs(firstMs: number, attemptNumber: number, random: number): number {
  const full = Math.min(MAX_BACKOFF_MS, firstMs * 2 ** Math.min(attemptNumber - 1, 20));
  return Math.round(full * (1 - random / 2));
}

/** The longest Retry-After: longer than any wait, and short enough to add to a date. */
const MAX_RETRY_AFTER_MS = 366 * 24 * 3600 * 1000;

/**
 * Reads a Retry-After header (RFC 9110, section 10.2.3): seconds or a date. @returns milliseconds, at most a year; none
 * if it is absent or unreadable. A date is compared with the answer's own `Date`, if any: a wrong clock does no harm.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  wallClockMs: number,
): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(MAX_RETRY_AFTER_MS, Number(value) * 1000);
  const until = Date.parse(value);
  if (!/[a-z]{3}/i.test(value) || Number.isNaN(until)) return undefined;
  const answered = Date.parse(headers.date ?? "");
  return Math.min(
    MAX_RETRY_AFTER_MS,
    Math.max(0, until - (Number.isNaN(answered) ? wallClockMs : answered)),
  );
}
