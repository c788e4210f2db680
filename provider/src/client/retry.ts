/**
 * Sends a request, waits if waiting helps, and keeps the limits for requests at once and for the total wait. All
 * requests of a process share one instance, so that they wait for a rate limit together.
 */
import type { ClientDependencies } from "./client-dependencies.js";
import { decideRetry } from "./decide-retry.js";
import {
  type AttemptResult,
  type HttpRequest,
  type Transport,
  TransportFailure,
} from "./transport.js";

/** The platform asks for a longer wait than the request's budget. Nothing was carried out. The message is a clause. */
export class WaitBudgetExceeded extends Error {}

interface WaitBudget {
  leftMs: number;
}

/**
 * Makes one attempt: builds the request with the latest cookie, and calls `transmit` with it once.
 * @returns `undefined` if the request had to wait instead. The rate limit may have changed meanwhile, so the caller
 * checks it and calls again.
 */
type AttemptOnce = (transmit: Transport["send"]) => Promise<AttemptResult | undefined>;

export interface SendOptions {
  /** Carrying it out twice does no harm: false for a create, which has no idempotency key; true for all others. */
  idempotent: boolean;
  waitBudget: WaitBudget;
  /** For a login and a resend (`session.ts`): requests that hold slots wait for these, so a slot may never free. */
  bypassesSlots?: boolean;
}

const STALL_REPORT_MS = 5000;

export class RetryingSender {
  readonly #slots;
  /** On the monotonic clock: a changed wall clock neither prolongs nor ends a wait. */
  #pausedUntilMs = 0;
  #hasReportedStall = false;

  constructor(private readonly dependencies: ClientDependencies) {
    this.#slots = new Semaphore(dependencies.settings.maxConcurrentRequests);
  }

  /** The total time that one request may wait, however often it is passed to {@link sendWithRetry}. */
  waitBudget() {
    return { leftMs: this.dependencies.settings.maxWaitSeconds * 1000 };
  }

  /**
   * @throws {TransportFailure} if no status line came. @throws {WaitBudgetExceeded} if the rate limit outlasts the
   * budget.
   */
  async sendWithRetry(
    attemptOnce: AttemptOnce,
    { idempotent, waitBudget, bypassesSlots = false }: SendOptions,
  ) {
    const { clock, onAttempt, transport } = this.dependencies;
    let attemptNumber = 1;
    let durationMs = 0;
    let cancelReport: (() => void) | undefined;
    const transmit = async (request: HttpRequest) => {
      const begin = clock.monotonicMs();
      cancelReport ??= clock.alarm(STALL_REPORT_MS, () => this.#reportStall(request.url));
      const attempt = await transport.send(request);
      durationMs = clock.monotonicMs() - begin;
      const { method, url } = request;
      let outcome: string;
      if ("status" in attempt) {
        cancelReport();
        outcome = `status ${attempt.status}`;
      } else outcome = `${attempt.code}, ${attempt.sent ? "sent" : "not sent"}`;
      onAttempt?.(
        `${method} ${url.pathname} attempt ${attemptNumber}: ${outcome} after ${Math.round(durationMs)} ms`,
      );
      return attempt;
    };
    try {
      for (;;) {
        // A request that waits for the rate limit holds no slot.
        const pauseLeftMs = this.#pauseLeftMs();
        if (pauseLeftMs > 0)
          await this.#waitWithinBudget(waitBudget, Math.max(1, pauseLeftMs));
        if (!bypassesSlots) await this.#slots.acquire();
        let delayMs: number;
        try {
          if (this.#pauseLeftMs() > 0) continue;
          const attempt = await attemptOnce(transmit);
          if (!attempt) continue;
          const decision = decideRetry({
            attempt,
            attemptNumber,
            idempotent,
            wallClockMs: clock.wallMs(),
            random: Math.random(),
          });
          attemptNumber++;
          delayMs = decision.delayMs;
          // Before the slot is released, so that no other request is sent before all know about the wait.
          if (decision.kind === "limited") {
            this.#pauseAll(delayMs, waitBudget.leftMs);
            continue;
          }
          // The time that the failed attempt took counts against the budget too.
          if (decision.kind === "again") waitBudget.leftMs -= durationMs;
          if (decision.kind === "done" || delayMs > waitBudget.leftMs) {
            if (attempt instanceof TransportFailure) throw attempt;
            return attempt;
          }
        } finally {
          if (!bypassesSlots) this.#slots.release();
        }
        await this.#waitWithinBudget(waitBudget, delayMs);
      }
    } finally {
      cancelReport?.();
    }
  }

  /** Says once, and early, if requests get no response, because they are tried for minutes. */
  #reportStall({ host }: URL) {
    if (this.#hasReportedStall) return;
    this.#hasReportedStall = true;
    const { say, settings } = this.dependencies;
    const { maxWaitSeconds, requestTimeoutSeconds } = settings;
    say(
      `No response from ${host} after ${STALL_REPORT_MS / 1000} s. This run keeps trying for at most ` +
        `${maxWaitSeconds + requestTimeoutSeconds} s (advertising:maxWaitSeconds and requestTimeoutSeconds). ` +
        "Check advertising:baseUrl, the network and the proxy.",
    );
  }

  async #waitWithinBudget(waitBudget: WaitBudget, delayMs: number) {
    const { clock, settings } = this.dependencies;
    if (delayMs > waitBudget.leftMs) {
      const from = new Date(clock.wallMs() + delayMs).toISOString();
      throw new WaitBudgetExceeded(
        `the platform limits the rate until ${from}, longer ` +
          `than advertising:maxWaitSeconds (${settings.maxWaitSeconds} s) allows`,
      );
    }
    waitBudget.leftMs -= delayMs;
    await clock.sleep(delayMs);
  }

  #pauseLeftMs() {
    return this.#pausedUntilMs - this.dependencies.clock.monotonicMs();
  }

  #pauseAll(delayMs: number, budgetMs: number) {
    const { clock, say } = this.dependencies;
    const until = clock.monotonicMs() + delayMs;
    if (until <= this.#pausedUntilMs) return;
    const isNewWait = this.#pauseLeftMs() <= 0;
    this.#pausedUntilMs = until;
    if (isNewWait && delayMs <= budgetMs)
      say(
        `The platform limits the rate: all requests wait for ${Math.ceil(delayMs / 1000)} s.`,
      );
  }
}

/** Hands out a limited number of slots, in the order of the calls. */
class Semaphore {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async acquire() {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release() {
    const next = this.#waiting.shift();
    if (!next) this.free++;
    else next();
  }
}
