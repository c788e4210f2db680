/**
 * How far a long piece of work has come, told in a few lines: after a minute, and then each time that as much time has passed
 * again as before.
 */
import { type Clock, count } from "../base/index.js";

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
