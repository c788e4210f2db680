/**
 * What is under way, and what becomes of it when the engine is gone: nothing begins any more, and nobody sleeps. An engine that was
 * killed leaves this process behind, which must send nothing more, since nobody saves what it creates.
 */
import { connect } from "node:net";
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

const CHECK_EVERY_MS = 1000;

/**
 * Calls `onGone` once nothing listens at the engine's address any more. Does not keep the process alive.
 * @param address `host:port`, as Pulumi passes it to its dynamic-provider process; anything else is not watched.
 */
export function watchEngine(address: string | undefined, onGone: () => void): void {
  const [, host, port] = /^([\w.[\]:-]+):(\d+)$/.exec(address ?? "") ?? [];
  if (host === undefined || port === undefined) return;
  const timer = setInterval(() => {
    const socket = connect({ host, port: Number(port) });
    socket.unref();
    socket.once("connect", () => socket.destroy());
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.destroy();
      // Any other error may pass; a closed port on the own machine means that the engine's process has ended.
      if (error.code !== "ECONNREFUSED") return;
      clearInterval(timer);
      onGone();
    });
  }, CHECK_EVERY_MS);
  timer.unref();
}
