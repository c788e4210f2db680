/**
 * What this process has to do with Pulumi's engine beside its calls: messages in the engine's own list, each at its resource; when the
 * engine was started, since it has read the stack no earlier; and the end of what is under way once the engine is gone. An engine that was
 * killed leaves this process behind, which must send nothing more, since nobody saves what it creates.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import { type Clock, NotSentError, systemClock } from "../base/index.js";
import type { AttemptReport } from "../client/index.js";
import { readStatus } from "../files/index.js";

/** Exported by Pulumi's runtime, but not in its types. */
const { getStore } = state as unknown as { getStore(): { settings: { options: { engineAddr?: string } } } };

export type Severity = "info" | "warn";

/** Tells something about the resource with this URN. Resolves once the engine has it; never fails. */
export type TellAt = (severity: Severity, urn: string, message: string) => Promise<void>;

/** @param address the engine's, `host:port`; without it (tests without an engine) messages go to standard error. */
export function engineLog(address: string | undefined): TellAt {
  if (address !== undefined) getStore().settings.options.engineAddr ??= address;
  return async (severity, urn, message) => {
    // All that Pulumi's log asks of a resource.
    const resource = { urn: { promise: async () => urn } } as unknown as pulumi.Resource;
    await pulumi.log[severity](message, resource);
  };
}

/**
 * The debug log: one line for each attempt of a request, never a body, a cookie or a credential. Off unless `ADVERTISING_LOG` is
 * `debug` (standard error) or `debug:<file>`.
 * @param setting the value of `ADVERTISING_LOG`.
 * @param scrub removes secrets: an installation's path may hold one.
 * @returns what is told of each attempt; nothing where the log is off.
 */
export function debugLog(
  setting: string | undefined,
  now: () => string,
  scrub: (text: string) => string,
  say: (message: string) => void,
): ((report: AttemptReport) => void) | undefined {
  if (setting === undefined || setting === "") return undefined;
  const file = /^debug:(.+)$/.exec(setting)?.[1];
  if (setting !== "debug" && file === undefined) {
    say(`ADVERTISING_LOG is not understood: it takes debug or debug:<file>.`);
    return undefined;
  }
  return (report) => {
    const line = `${now()} ${scrub(describe(report))}\n`;
    if (file === undefined) {
      process.stderr.write(line);
      return;
    }
    try {
      appendFileSync(file, line, { mode: 0o600 });
    } catch (error) {
      say(`The debug log ${file} can't be written: ${(error as Error).message}`); // once: equal messages are said once
    }
  };
}

function describe({ method, path, attempt, durationMs, status, failure, sent }: AttemptReport): string {
  const outcome = status === undefined ? `${failure}, ${sent ? "sent" : "not sent"}` : `status ${status}`;
  return `${method} ${path} attempt ${attempt}: ${outcome} after ${Math.round(durationMs)} ms`;
}

/** The unit of start times in /proc, on every architecture that Node.js runs on (proc_pid_stat(5), USER_HZ). */
const TICKS_PER_SECOND = 100;
/** A shell and the language host stand in between, perhaps a wrapper. */
const MAX_GENERATIONS = 8;

/**
 * @param nowMs the wall clock.
 * @returns milliseconds since 1970; none where it can't be told: elsewhere than on Linux, and under `pulumi watch`, whose
 *   one process runs the engine again and again.
 */
export function engineStartedMs(nowMs: number): number | undefined {
  const read = (path: string) => readFileSync(path, "utf8");
  try {
    let pid = process.ppid;
    for (let generation = 0; generation < MAX_GENERATIONS && pid > 1; generation++) {
      const status = readStatus(pid);
      if (status === undefined) return undefined;
      if (status.name === "pulumi") {
        if (read(`/proc/${pid}/cmdline`).split("\0").includes("watch")) return undefined;
        const upMs = Number(read("/proc/uptime").split(" ")[0]) * 1000;
        const startedMs = (Number(status.started) / TICKS_PER_SECOND) * 1000;
        const ageMs = upMs - startedMs;
        return Number.isFinite(ageMs) && ageMs >= 0 ? nowMs - ageMs : undefined;
      }
      pid = status.parent;
    }
  } catch {
    // A process that has ended meanwhile.
  }
  return undefined;
}

const ENGINE_GONE = "Not sent: the engine that asked for it has ended.";

export class UnderWay {
  readonly #running = new Set<Promise<unknown>>();
  readonly #gone = new AbortController();

  /** The system's clock; a sleep on it fails with a `NotSentError` once the engine is gone. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: async (ms) => {
      await setTimeout(ms, undefined, { signal: this.#gone.signal }).catch(() => {
        throw new NotSentError(ENGINE_GONE);
      });
    },
  };

  /** Runs one create; `expectMayBegin` throws a `NotSentError` once the engine is gone. */
  async track<T>(create: (expectMayBegin: () => void) => Promise<T>): Promise<T> {
    const expectMayBegin = () => {
      if (this.#gone.signal.aborted) throw new NotSentError(ENGINE_GONE);
    };
    // Nobody waits any more for what begins now.
    expectMayBegin();
    const running = create(expectMayBegin);
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
