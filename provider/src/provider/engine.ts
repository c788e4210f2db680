/**
 * What connects this process with Pulumi's engine apart from its calls: messages in the engine's own list, each at its resource, scrubbed, and
 * not too often; the debug log, and the progress of long work; when the engine was started, because it has read the stack no earlier; and the
 * end of the work once the engine is gone. An engine that was killed leaves this process behind, which must send nothing more, because what it
 * creates would not be saved.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import { type Clock, count, NotSentError, type Secrets, systemClock } from "../base/index.js";
import type { AttemptReport } from "../client/index.js";
import { readStatus } from "../files/index.js";

/** Exported by Pulumi's runtime, but not in its types. */
const { getStore } = state as unknown as { getStore(): { settings: { options: { engineAddr?: string } } } };

export type Severity = "info" | "warn";

/** Shows a message at the resource with this URN. Resolves once the engine has it; never fails. */
export type TellAt = (severity: Severity, urn: string, message: string) => Promise<void>;

/** @param address the engine's, `host:port`; without it (tests without an engine) messages go to standard error. */
export function engineLog(address: string | undefined): TellAt {
  if (address !== undefined) getStore().settings.options.engineAddr ??= address;
  return async (severity, urn, message) => {
    // The only part of a resource that Pulumi's log reads.
    const resource = { urn: { promise: async () => urn } } as unknown as pulumi.Resource;
    await pulumi.log[severity](message, resource);
  };
}

/**
 * The debug log: one line for each attempt of a request, never a body, a cookie or a credential. Off unless `ADVERTISING_LOG` is
 * `debug` (standard error) or `debug:<file>`.
 * @param setting the value of `ADVERTISING_LOG`.
 * @param scrub removes secrets: an installation's path may hold one.
 * @returns what to call with each attempt; nothing if the log is off.
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
      say(`The debug log ${file} can't be written: ${(error as Error).message}`); // printed once, as equal messages are
    }
  };
}

function describe({ method, path, attempt, durationMs, status, failure, sent }: AttemptReport): string {
  const outcome = status === undefined ? `${failure}, ${sent ? "sent" : "not sent"}` : `status ${status}`;
  return `${method} ${path} attempt ${attempt}: ${outcome} after ${Math.round(durationMs)} ms`;
}

/** The unit of start times in /proc, on every architecture that Node.js runs on (proc_pid_stat(5), USER_HZ). */
const TICKS_PER_SECOND = 100;
/** Between them there are a shell and the language host, perhaps a wrapper. */
const MAX_GENERATIONS = 8;

/**
 * @param nowMs the wall clock.
 * @returns milliseconds since 1970; none if it can't be found out: outside of Linux, and with `pulumi watch`, which runs the engine
 *   repeatedly in one process.
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
      await sleep(ms, undefined, { signal: this.#gone.signal }).catch(() => {
        throw new NotSentError(ENGINE_GONE);
      });
    },
  };

  /** Runs one create; `expectMayBegin` throws a `NotSentError` once the engine is gone. */
  async track<T>(create: (expectMayBegin: () => void) => Promise<T>): Promise<T> {
    const expectMayBegin = () => {
      if (this.#gone.signal.aborted) throw new NotSentError(ENGINE_GONE);
    };
    // The engine would not receive the result of anything that begins now.
    expectMayBegin();
    const running = create(expectMayBegin);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Called once the engine is gone. Resolves when work in progress has ended. */
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
      // Any other error may be temporary; a closed port on this machine means that the engine's process has ended.
      if (error.code !== "ECONNREFUSED") return;
      clearInterval(timer);
      onGone();
    });
  }, CHECK_EVERY_MS);
  timer.unref();
}

/** So many warnings of a sort are shown one by one; later ones are collected for a moment and shown together. */
const MAX_WARNINGS = 10;
const COLLECT_MS = 200;

export interface Messages {
  /** A message about the whole run, which Pulumi shows at once. Shown once for each `topic`, which is the message by default. */
  readonly say: (message: string, topic?: string) => void;
  readonly tellAt: (severity: Severity, urn: string, message: string) => void;
  /**
   * A warning at a resource, of a sort that thousands may have: the first ones are shown one by one, the others counted.
   * @param brief names the object in a list. @param summary says that there are so many more; their list follows.
   */
  readonly warnEach: (
    sort: string,
    urn: string,
    message: string,
    brief: string,
    summary: (amount: number) => string,
  ) => void;
  /** Shows collected warnings at once, for callers that know which warning is the last one. */
  readonly tellCollected: () => void;
}

export function createMessages(secrets: Secrets, log: TellAt): Messages {
  const said = new Set<string>();
  const warned = new Map<string, number>();
  const collected = new Map<string, string[]>();
  // With `--refresh` the engine asks about each resource twice in one run.
  const toldAt = new Set<string>();
  const tellAt: Messages["tellAt"] = (severity, urn, message) => {
    const text = `${severity} ${urn} ${message}`;
    if (toldAt.has(text)) return;
    toldAt.add(text);
    void log(severity, urn, secrets.scrub(message));
  };
  const summaries = new Map<string, (amount: number) => string>();
  const tellCollected = () => {
    for (const [sort, more] of collected) {
      tellAt("warn", "", `${summaries.get(sort)?.(more.length)}: ${more.join(", ")}`);
    }
    collected.clear();
  };
  return {
    tellCollected,
    say(message, topic = message) {
      if (said.has(topic)) return;
      said.add(topic);
      console.warn(secrets.scrub(message));
    },
    tellAt,
    warnEach(sort, urn, message, brief, summary) {
      const amount = (warned.get(sort) ?? 0) + 1;
      warned.set(sort, amount);
      if (amount <= MAX_WARNINGS) return tellAt("warn", urn, message);
      const more = collected.get(sort) ?? [];
      collected.set(sort, more);
      summaries.set(sort, summary);
      // Which single resource is the last is not known, so they are shown a moment after the first one.
      if (more.push(brief) === 1) setTimeout(tellCollected, COLLECT_MS);
    },
  };
}

const FIRST_AFTER_MS = 60_000;
/** Progress is reported at least this often. */
const LONGEST_SILENCE_MS = 20 * 60_000;

export class Progress {
  readonly #beganMs: number;
  #nextMs: number;
  #done = 0;

  /**
   * @param total none if it is not known.
   * @param tell is given `400 of 3000 done, 8.2 a second, about 6 minutes left`, or `400 done, 8.2 a second`.
   */
  constructor(
    private readonly total: number | undefined,
    private readonly clock: Pick<Clock, "monotonicMs">,
    private readonly tell: (message: string) => void,
  ) {
    this.#beganMs = clock.monotonicMs();
    this.#nextMs = this.#beganMs + FIRST_AFTER_MS;
  }

  done(): void {
    this.#done++;
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.#nextMs || this.#done === this.total) return;
    const elapsedMs = nowMs - this.#beganMs;
    this.#nextMs = nowMs + Math.min(elapsedMs, LONGEST_SILENCE_MS);
    const aSecond = (this.#done / elapsedMs) * 1000;
    const total = this.total;
    const left = total === undefined ? "" : `, about ${durationIn((total - this.#done) / aSecond)} left`;
    this.tell(`${this.#done}${total === undefined ? "" : ` of ${total}`} done, ${paceIn(aSecond)}${left}`);
  }
}

function paceIn(aSecond: number): string {
  return aSecond >= 1 ? `${aSecond.toFixed(1)} a second` : `${(aSecond * 60).toFixed(1)} a minute`;
}

function durationIn(seconds: number): string {
  if (seconds < 90) return count(Math.ceil(seconds), "second");
  if (seconds < 90 * 60) return count(Math.round(seconds / 60), "minute");
  return count(Math.round(seconds / 3600), "hour");
}
