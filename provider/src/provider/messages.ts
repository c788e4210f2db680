/**
 * What one run tells people, scrubbed: messages of the whole run, messages at a resource, and how far a long piece of work has come.
 * Nothing is said too often.
 */
import { setTimeout } from "node:timers";
import { type Clock, count, type Secrets } from "../base/index.js";
import type { Severity, TellAt } from "./engine.js";

/** So many warnings of a sort are told one by one; what comes within this time after them, together. */
const MAX_WARNINGS = 20;
const COLLECT_MS = 200;

export interface Messages {
  /** A message of the whole run; Pulumi shows it while the run goes on. Said once for each `topic`, by default itself. */
  readonly say: (message: string, topic?: string) => void;
  /** A message at the resource with this URN. */
  readonly tellAt: (severity: Severity, urn: string, message: string) => void;
  /**
   * A warning at a resource, of a sort that may come for thousands: the first ones one by one, the others counted.
   * @param brief names the object in a list. @param summary tells of so many more, whose list follows.
   */
  readonly warnEach: (
    sort: string,
    urn: string,
    message: string,
    brief: string,
    summary: (amount: number) => string,
  ) => void;
  /** Tells at once what is still collected: for callers that know which warning is the last one. */
  readonly tellCollected: () => void;
}

export function createMessages(secrets: Secrets, log: TellAt): Messages {
  const said = new Set<string>();
  const warned = new Map<string, number>();
  const collected = new Map<string, string[]>();
  const tellAt: Messages["tellAt"] = (severity, urn, message) => void log(severity, urn, secrets.scrub(message));
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
      // Of single resources nobody knows which one is the last: they are told a moment after the first.
      if (more.push(brief) === 1) setTimeout(tellCollected, COLLECT_MS);
    },
  };
}

const FIRST_AFTER_MS = 60_000;
/** At least so often, so that people see that it goes on. */
const LONGEST_SILENCE_MS = 20 * 60_000;

export class Progress {
  readonly #total: number | undefined;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #tell: (message: string) => void;
  readonly #beganMs: number;
  #nextMs: number;
  #done = 0;

  /**
   * @param total none where nobody knows it.
   * @param tell is given `400 of 3000 done, 8.2 a second, about 6 minutes left`, or `400 done, 8.2 a second`.
   */
  constructor(total: number | undefined, clock: Pick<Clock, "monotonicMs">, tell: (message: string) => void) {
    this.#total = total;
    this.#clock = clock;
    this.#tell = tell;
    this.#beganMs = clock.monotonicMs();
    this.#nextMs = this.#beganMs + FIRST_AFTER_MS;
  }

  /** One more is done. */
  done(): void {
    this.#done++;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextMs || this.#done === this.#total) return;
    const elapsedMs = nowMs - this.#beganMs;
    this.#nextMs = nowMs + Math.min(elapsedMs, LONGEST_SILENCE_MS);
    const aSecond = (this.#done / elapsedMs) * 1000;
    const total = this.#total;
    const left = total === undefined ? "" : `, about ${durationIn((total - this.#done) / aSecond)} left`;
    this.#tell(`${this.#done}${total === undefined ? "" : ` of ${total}`} done, ${paceIn(aSecond)}${left}`);
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
