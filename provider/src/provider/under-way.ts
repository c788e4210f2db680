/**
 * The creates that are under way, and what becomes of them when the engine is gone: nothing begins any more, and nobody sleeps.
 */
import { setTimeout } from "node:timers/promises";
import { type Clock, NotSentError, systemClock } from "../base/index.js";

const ENGINE_GONE = "Not sent: the engine that asked for it has ended.";

export class UnderWay {
  readonly #running = new Set<Promise<unknown>>();
  readonly #gone = new AbortController();

  /** The system's; whoever sleeps on it when the engine is gone fails with a `NotSentError`. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: async (ms) => {
      await setTimeout(ms, undefined, { signal: this.#gone.signal }).catch(() => {
        throw new NotSentError(ENGINE_GONE);
      });
    },
  };

  /** Runs one create; `mayBegin` throws a `NotSentError` once the engine is gone. */
  async track<T>(create: (mayBegin: () => void) => Promise<T>): Promise<T> {
    const mayBegin = () => {
      if (this.#gone.signal.aborted) throw new NotSentError(ENGINE_GONE);
    };
    // Nobody waits any more for what begins now.
    mayBegin();
    const running = create(mayBegin);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** The engine is gone. Resolves when what is under way has ended. */
  async end(): Promise<void> {
    this.#gone.abort();
    await Promise.allSettled(this.#running);
  }
}
