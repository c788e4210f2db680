/**
 * Sends a request, waits where waiting helps, and keeps to the limits: so many at once, so long in all. All requests
 * of a process share one instance, so that a rate limit is waited out together.
 */
import type { Clock } from "../base/index.js";
import { decideRetry } from "./retry.js";
import { type HttpAnswer, type HttpRequest, type Transport, TransportFailure } from "./transport.js";

/** The platform asks for a longer wait than this request may spend. Nothing was acted upon. */
export class StopWaiting extends Error {
  constructor(
    /** The answer that asked for it; none where another request's did. */
    readonly answer: HttpAnswer | undefined,
    /** From when on the platform would take requests again, ISO 8601. */
    readonly allowedFrom: string,
    readonly waitedMs: number,
  ) {
    super("the rate limit lasts longer than may be waited");
  }
}

export interface Patience {
  leftMs: number;
}

/** Nothing to send yet: what to wait for, without holding a place. */
export interface Later {
  readonly until: Promise<unknown>;
}

export interface SendOptions {
  /** True if being acted upon twice does no harm; see {@link decideRetry}. */
  readonly repeatable: boolean;
  readonly patience: Patience;
  /** Told when an attempt is over and another may follow, with what kept it from being answered. */
  readonly onPause?: (failure: TransportFailure | undefined) => void;
}

export interface PatientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxWaitSeconds: number;
  readonly maxConcurrentRequests: number;
  /** Told once a wait that all share, with its length. */
  readonly onWait: (seconds: number, reason: string) => void;
  /** Told once a request when several attempts found no connection, with the seconds that are left for more. */
  readonly onRetry: (secondsLeft: number, reason: string) => void;
  /** Told each attempt's end, for the debug log. */
  readonly onAttempt?: (report: AttemptReport) => void;
}

/** One attempt, without anything that may be secret. */
export interface AttemptReport {
  readonly method: string;
  readonly path: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly status?: number;
  readonly failure?: string;
  readonly sent?: boolean;
}

/** So many attempts without a connection are no blip any more: the user hears why nothing moves. */
const NOTABLE_ATTEMPTS = 5;

export class PatientSender {
  readonly #options: PatientOptions;
  readonly #slots: Slots;
  /** On the monotonic clock: a changed wall clock neither prolongs nor ends a wait. */
  #quietUntilMs = 0;

  constructor(options: PatientOptions) {
    this.#options = options;
    this.#slots = new Slots(options.maxConcurrentRequests);
  }

  /** Grants one request the time that it may wait in all, however often it is handed to {@link send}. */
  patience(): Patience {
    return { leftMs: this.#options.maxWaitSeconds * 1000 };
  }

  /**
   * @param prepare makes the request for each attempt, so that it carries the cookie of that moment; or says what to wait
   *   for before it is asked again. It must not wait for another request of this sender itself: it holds one of the places.
   * @throws {TransportFailure} no status line came back. @throws {StopWaiting} the rate limit outlasts the patience.
   */
  async send(
    prepare: () => HttpRequest | Promise<HttpRequest | Later>,
    { repeatable, patience, onPause }: SendOptions,
  ): Promise<HttpAnswer> {
    const { clock, maxWaitSeconds } = this.#options;
    const spend = async (delayMs: number, answer?: HttpAnswer) => {
      if (delayMs > patience.leftMs) {
        const allowedFrom = new Date(clock.wallMs() + delayMs).toISOString();
        throw new StopWaiting(answer, allowedFrom, maxWaitSeconds * 1000 - patience.leftMs);
      }
      patience.leftMs -= delayMs;
      await clock.sleep(delayMs);
    };

    for (let attemptNumber = 1; ; attemptNumber++) {
      const { attempt, decision } = await this.#slots.use(async () => {
        const quietMs = this.#quietMs();
        if (quietMs > 0) return { until: spend(Math.max(1, quietMs)) };
        const prepared = await prepare();
        if ("until" in prepared) return prepared;
        const attempt = await this.#attempt(prepared, attemptNumber);
        const decision = decideRetry({
          attempt,
          attemptNumber,
          repeatable,
          wallClockMs: clock.wallMs(),
          random: this.#options.random(),
        });
        // Still in its place, so that nobody takes it and sends before all know of the wait.
        if (decision.kind === "limited") this.#keepQuiet(decision.delayMs, patience.leftMs, decision.reason);
        return { attempt, decision };
      });
      const failure = "failure" in attempt ? attempt.failure : undefined;
      if (decision.kind !== "done") onPause?.(failure);
      if (decision.kind === "limited" && "answer" in attempt) {
        if (decision.delayMs > patience.leftMs) await spend(decision.delayMs, attempt.answer);
        continue; // the shared wait is spent above, before the next attempt
      }
      if (decision.kind === "again") {
        // A connection attempt that timed out has used up its share of the patience too.
        patience.leftMs -= attempt.durationMs;
        if (decision.delayMs <= patience.leftMs) {
          if (attemptNumber === NOTABLE_ATTEMPTS) {
            this.#options.onRetry(Math.ceil(patience.leftMs / 1000), decision.reason);
          }
          await spend(decision.delayMs);
          continue;
        }
      }
      if ("failure" in attempt) throw attempt.failure;
      return attempt.answer;
    }
  }

  async #attempt(request: HttpRequest, attempt: number) {
    const { clock, transport, onAttempt } = this.#options;
    const begin = clock.monotonicMs();
    const report = { method: request.method, path: request.url.pathname, attempt };
    try {
      const answer = await transport.send(request);
      onAttempt?.({ ...report, durationMs: clock.monotonicMs() - begin, status: answer.status });
      return { answer, durationMs: clock.monotonicMs() - begin };
    } catch (failure) {
      if (!(failure instanceof TransportFailure)) throw failure;
      onAttempt?.({ ...report, durationMs: clock.monotonicMs() - begin, failure: failure.code, sent: failure.sent });
      return { failure, durationMs: clock.monotonicMs() - begin };
    }
  }

  #quietMs(): number {
    return this.#quietUntilMs - this.#options.clock.monotonicMs();
  }

  #keepQuiet(delayMs: number, budgetMs: number, reason: string): void {
    const until = this.#options.clock.monotonicMs() + delayMs;
    if (until <= this.#quietUntilMs) return;
    const isNewWait = this.#quietMs() <= 0;
    this.#quietUntilMs = until;
    if (isNewWait && delayMs <= budgetMs) this.#options.onWait(Math.ceil(delayMs / 1000), reason);
  }
}

/** Lets so many work at once, in the order of asking; one that has to wait for something else holds no slot meanwhile. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Does `work` in a slot, again and again until it has something else to answer than what to wait for. */
  async use<T extends object>(work: () => Promise<T | Later>): Promise<T> {
    for (;;) {
      if (this.#free > 0) this.#free--;
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
      let result: T | Later;
      try {
        result = await work();
      } finally {
        const next = this.#waiting.shift();
        if (next === undefined) this.#free++;
        else next();
      }
      if (!("until" in result)) return result;
      await result.until;
    }
  }
}
