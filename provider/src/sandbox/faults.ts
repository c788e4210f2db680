/**
 * Which requests fail: the rules that are armed, and whom the next one hits.
 */
import type { FaultRule, FaultTarget } from "./options.js";
import type { Operation } from "./routes.js";

/** A fault rule at work. */
export interface ArmedFault {
  /** Requests that it hit. */
  readonly hits: number;
  /** Requests that it will still hit. */
  readonly remaining: number;
  /** Takes it away. */
  cancel(): void;
}

export class Faults {
  readonly #armed: { rule: FaultRule; toSkip: number; hits: number; remaining: number }[] = [];

  arm(rule: FaultRule): ArmedFault {
    const entry = { rule, toSkip: rule.after ?? 0, hits: 0, remaining: rule.times ?? 1 };
    this.#armed.push(entry);
    return {
      get hits() {
        return entry.hits;
      },
      get remaining() {
        return entry.remaining;
      },
      cancel() {
        entry.remaining = 0;
      },
    };
  }

  clear(): void {
    this.#armed.length = 0;
  }

  /** The fault for a request to `operation`, if any; counts it. */
  take(operation: Operation): FaultRule | undefined {
    for (const entry of this.#armed) {
      if (entry.remaining <= 0 || !isFor(entry.rule.on, operation)) continue;
      if (entry.toSkip > 0) {
        entry.toSkip--;
        continue;
      }
      entry.remaining--;
      entry.hits++;
      return entry.rule;
    }
    return undefined;
  }
}

function isFor(target: FaultTarget, operation: Operation): boolean {
  const isCreate = operation === "advertiser" || operation === "event";
  return target === "any" || target === operation || (target === "create" && isCreate);
}
