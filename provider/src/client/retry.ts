/**
 * Sends a request, waits if waiting helps, and keeps the limits for requests at once and for the total wait. All
 * requests of a process share one instance, so that they wait for a rate limit together.
 */
import type { Settings } from "../settings/index.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { type Attempt, decideRetry } from "./decide-retry.js";
import { type HttpRequest, type HttpResponse, TransportFailure } from "./transport.js";

/** The platform asks for a longer wait than this request may spend; the message is a clause. Nothing was acted upon. */
export class WaitBudgetExceeded extends Error {}

export interface WaitBudget {
  leftMs: number;
}

/**
 * Makes one attempt: calls `transmit` once with the request, which so has the latest cookie.
 * @returns `undefined` if it had to wait first, so that the rate limit may be another one by now: it is called again.
 */
export type AttemptOnce = (
  transmit: (request: HttpRequest) => Promise<Attempt>,
) => Promise<Attempt | undefined>;

export interface SendOptions {
  /** Carrying it out twice does no harm: false for a create, which has no idempotency key; true for all others. */
  readonly idempotent: boolean;
  readonly waitBudget: WaitBudget;
  /** For a login, which is sent by a request that has a slot. */
  readonly needsNoSlot?: boolean;
}

export class RetryingSender {
  readonly #dependencies: ClientDependencies;
  readonly #maxWaitMs: number;
  readonly #slots: Semaphore;
  readonly #sender: StallReporter;
  #underWay = 0;
  /** On the monotonic clock: a changed wall clock neither prolongs nor ends a wait. */
  #pausedUntilMs = 0;

  constructor(settings: Settings, dependencies: ClientDependencies) {
    this.#dependencies = dependencies;
    this.#maxWaitMs = settings.maxWaitSeconds * 1000;
    this.#slots = new Semaphore(settings.maxConcurrentRequests);
    this.#sender = new StallReporter(settings, dependencies);
  }

  /** The total time that one request may wait, however often it is passed to {@link sendWithRetry}. */
  waitBudget(): WaitBudget {
    return { leftMs: this.#maxWaitMs };
  }

  /** @throws {TransportFailure} if no status line came. @throws {WaitBudgetExceeded} if the rate limit outlasts the budget. */
  async sendWithRetry(attemptOnce: AttemptOnce, options: SendOptions): Promise<HttpResponse> {
    this.#underWay++;
    try {
      return await this.#sendWithRetry(attemptOnce, options);
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) this.#sender.end();
    }
  }

  async #sendWithRetry(attemptOnce: AttemptOnce, options: SendOptions): Promise<HttpResponse> {
    const { waitBudget } = options;
    for (let attemptNumber = 1; ; attemptNumber++) {
      const result = await this.#attempt(attemptOnce, options, attemptNumber);
      const { attempt, decision } = result;
      if (decision.kind === "limited") continue; // the shared wait comes before the next attempt
      if (decision.kind === "again") {
        // A connection attempt that timed out has also used up the budget.
        waitBudget.leftMs -= result.durationMs;
        if (decision.delayMs <= waitBudget.leftMs) {
          await this.#waitWithinBudget(waitBudget, decision.delayMs);
          continue;
        }
      }
      if (attempt instanceof TransportFailure) throw attempt;
      return attempt;
    }
  }

  async #attempt(attemptOnce: AttemptOnce, options: SendOptions, attemptNumber: number) {
    const { clock } = this.#dependencies;
    const { idempotent, waitBudget, needsNoSlot } = options;
    let durationMs = 0;
    const transmit = async (request: HttpRequest) => {
      const begin = clock.monotonicMs();
      const attempt = await this.#sender.sendReporting(request);
      durationMs = clock.monotonicMs() - begin;
      this.#log(request, attempt, attemptNumber, durationMs);
      return attempt;
    };
    for (;;) {
      // While it waits for the rate limit it has no slot.
      const quietMs = this.#quietMs();
      if (quietMs > 0) await this.#waitWithinBudget(waitBudget, Math.max(1, quietMs));
      if (needsNoSlot !== true) await this.#slots.acquire();
      try {
        if (this.#quietMs() > 0) continue;
        const attempt = await attemptOnce(transmit);
        if (attempt === undefined) continue;
        const wallClockMs = clock.wallMs();
        const random = Math.random();
        const decision = decideRetry({
          attempt,
          attemptNumber,
          idempotent,
          wallClockMs,
          random,
        });
        // Still in its slot, so that no other request sends in it before all know about the wait.
        if (decision.kind === "limited") this.#pauseAll(decision.delayMs, waitBudget.leftMs);
        return { attempt, decision, durationMs };
      } finally {
        if (needsNoSlot !== true) this.#slots.release();
      }
    }
  }

  #log(
    { method, url }: HttpRequest,
    attempt: Attempt,
    attemptNumber: number,
    durationMs: number,
  ) {
    const { onAttempt } = this.#dependencies;
    if (onAttempt === undefined) return;
    const took = `after ${Math.round(durationMs)} ms`;
    onAttempt(
      `${method} ${url.pathname} attempt ${attemptNumber}: ${outcomeOf(attempt)} ${took}`,
    );
  }

  async #waitWithinBudget(waitBudget: WaitBudget, delayMs: number): Promise<void> {
    const { clock } = this.#dependencies;
    if (delayMs > waitBudget.leftMs) {
      const from = new Date(clock.wallMs() + delayMs).toISOString();
      throw new WaitBudgetExceeded(
        `the platform limits the rate until ${from}, which is longer ` +
          `than advertising:maxWaitSeconds (${this.#maxWaitMs / 1000} s) allows`,
      );
    }
    waitBudget.leftMs -= delayMs;
    await clock.sleep(delayMs);
  }

  #quietMs(): number {
    return this.#pausedUntilMs - this.#dependencies.clock.monotonicMs();
  }

  #pauseAll(delayMs: number, budgetMs: number): void {
    const { clock, say } = this.#dependencies;
    const until = clock.monotonicMs() + delayMs;
    if (until <= this.#pausedUntilMs) return;
    const isNewWait = this.#quietMs() <= 0;
    this.#pausedUntilMs = until;
    if (!isNewWait || delayMs > budgetMs) return;
    say(`The platform limits the rate: all requests wait for ${Math.ceil(delayMs / 1000)} s.`);
  }
}

const STALL_REPORT_MS = 5000;

/** Says once that nothing has come back for a while, and for how long it is tried. */
class StallReporter {
  /** Absent while something comes back. */
  #cancel: (() => void) | undefined;
  #isConnected = false;
  /** Why the last attempt found no connection. */
  #code = "";

  constructor(
    private readonly settings: Settings,
    private readonly dependencies: ClientDependencies,
  ) {}

  async sendReporting(request: HttpRequest): Promise<Attempt> {
    const { clock, say, transport } = this.dependencies;
    this.#cancel ??= clock.alarm(STALL_REPORT_MS, () => say(this.#message(request.url.host)));
    const onStart = () => {
      this.#isConnected = true;
    };
    const attempt = await transport.send({ ...request, onStart });
    if (attempt instanceof TransportFailure) this.#code = attempt.code;
    else this.end();
    return attempt;
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#isConnected = false;
    this.#code = "";
  }

  #message(host: string): string {
    const { requestTimeoutSeconds, maxWaitSeconds } = this.settings;
    const after = `after ${STALL_REPORT_MS / 1000} s`;
    if (this.#isConnected) {
      const end = `This attempt ends in at most ${requestTimeoutSeconds} s (advertising:requestTimeoutSeconds)`;
      return `No response from ${host} ${after}. ${end}.`;
    }
    const cause = this.#code === "" ? "" : ` (${this.#code})`;
    return (
      `No connection to ${host} ${after}${cause}. Retries end in at most ${maxWaitSeconds} s ` +
      "(advertising:maxWaitSeconds). Check advertising:baseUrl, the network and the proxy."
    );
  }
}

/** Limits how many are in it at once, in the order of their calls. */
class Semaphore {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async acquire(): Promise<void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.free++;
    else next();
  }
}

function outcomeOf(attempt: Attempt): string {
  if (!(attempt instanceof TransportFailure)) return `status ${attempt.status}`;
  return `${attempt.code}, ${attempt.sent ? "sent" : "not sent"}`;
}
