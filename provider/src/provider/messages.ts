/**
 * What one run tells people, scrubbed: messages of the whole run, and messages at a resource. Nothing is said too often.
 */
import { setTimeout } from "node:timers";
import type { Secrets } from "../base/index.js";
import type { Severity, TellAt } from "./engine-log.js";

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
  /** Tells at once what is still collected: whoever knows which warning is the last one. */
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
