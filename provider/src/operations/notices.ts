/** Messages, scrubbed and not too often; and work that ends once the engine is gone. */
import { setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Clock,
  NotSentError,
  natural,
  type Secrets,
  systemClock,
} from "../base/index.js";

export type Severity = "info" | "warn";

/** Shows a message at the resource with this URN. Resolves once the engine has it; never fails. */
export type TellAt = (severity: Severity, urn: string, message: string) => Promise<void>;

const ENGINE_GONE = "Not sent: Pulumi's engine has ended. Run this again.";

export class UnderWay {
  readonly #running = new Set<Promise<unknown>>();
  readonly #gone = new AbortController();

  /** A sleep on it fails with a `NotSentError` once the engine is gone. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: async (ms) => {
      await sleep(ms, undefined, { signal: this.#gone.signal }).catch(() => {
        throw new NotSentError(ENGINE_GONE);
      });
    },
  };

  /** @throws NotSentError once the engine is gone: it would not receive the result of what begins now. */
  assertEngine(): void {
    if (this.#gone.signal.aborted) throw new NotSentError(ENGINE_GONE);
  }

  async track<T>(work: () => Promise<T>): Promise<T> {
    this.assertEngine();
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** The engine is gone. Resolves when work in progress has ended. */
  async end(): Promise<void> {
    this.#gone.abort();
    await Promise.allSettled(this.#running);
  }
}

/** So many notices of a sort are shown one by one; later ones are collected for a moment and shown together. */
const MAX_NOTICES = 10;
const COLLECT_MS = 200;

export interface Notice {
  /** What such notices have in common, after "3 more, ". */
  readonly sort: string;
  readonly urn: string;
  readonly text: string;
  /** Names the object in a list. */
  readonly brief: string;
}

export function createMessages(secrets: Secrets, log: TellAt) {
  const shown = new Set<string>();
  /** With `--refresh` the engine asks about each resource twice in one run, and about a replaced one anyway. */
  const isNew = (...about: readonly string[]) => {
    const text = about.join(" ");
    if (shown.has(text)) return false;
    shown.add(text);
    return true;
  };
  const sorts = new Map<
    string,
    { severity: Severity; amount: number; collected: string[] }
  >();
  let timer: NodeJS.Timeout | undefined;
  const tellAt = (severity: Severity, urn: string, message: string | undefined): void => {
    if (message !== undefined && isNew(severity, urn, message))
      void log(severity, urn, secrets.scrub(message));
  };
  /** Shows collected notices at once, for callers that know which one is the last. */
  const tellCollected = (): void => {
    clearTimeout(timer);
    for (const [sort, { severity, collected }] of sorts) {
      if (collected.length === 0) continue;
      const briefs = collected.splice(0).toSorted(natural);
      tellAt(severity, "", `${briefs.length} more, ${sort}: ${briefs.join(", ")}`);
    }
  };
  /** A notice that thousands of resources may have. */
  const tellEach = (severity: Severity, { sort, urn, text, brief }: Notice): void => {
    if (!isNew(severity, urn, text)) return;
    const known = sorts.get(sort) ?? { severity, amount: 0, collected: [] };
    sorts.set(sort, known);
    known.amount++;
    if (known.amount <= MAX_NOTICES) {
      void log(severity, urn, secrets.scrub(text));
      return;
    }
    known.collected.push(brief);
    // Which resource is the last is not always known, so they are shown a moment after the last one so far.
    clearTimeout(timer);
    timer = setTimeout(tellCollected, COLLECT_MS);
  };
  return {
    tellAt,
    tellCollected,
    /** About the whole run; once for each `topic`. */
    say(message: string, topic = message): void {
      if (isNew(topic)) console.warn(secrets.scrub(message));
    },
    informEach: (notice: Notice) => tellEach("info", notice),
    warnEach: (notice: Notice) => tellEach("warn", notice),
  };
}
