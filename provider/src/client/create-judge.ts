/**
 * What an answer to a create means: created, refused, or not known. Pure; the only place that judges it.
 */

import { asRecord, excerpt, printable, type Values } from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import { type Answer, describeTarget, redirectOf } from "./answer.js";
import { type Reading, warningsOf, wordsOf } from "./answer-words.js";
import { readId } from "./own-id.js";
import type { Clean } from "./redact.js";
import { saysRefused } from "./verdict.js";

export type Outcome =
  | { readonly kind: "created"; readonly id: string; readonly warnings: readonly string[] }
  /** Surely not acted upon. */
  | { readonly kind: "refused"; readonly words: readonly string[] }
  /** Created or perhaps created; its id is not known. */
  | { readonly kind: "unknown"; readonly reason: string; readonly words: readonly string[] };

/** Statuses below 500 that do not say whether the request was acted upon: the other side gave up waiting. */
const UNDECIDED_STATUS = new Set([408, 499]);

/**
 * @param sent the request's fields by their wire names: an answer that echoes their values says nothing by that.
 * @param clean removes secrets from the platform's words.
 */
export function readOutcome(answer: Answer, operation: Operation, sent: Values, clean: Clean): Outcome {
  const { status } = answer;
  const reading = { ...operation, sent, clean };
  // Only where they are told: cleaning is dear while cookies rotate.
  const words = () => wordsOf(answer, reading);
  const unknown = (reason: string): Outcome => ({ kind: "unknown", reason, words: words() });

  if (status >= 200 && status < 300) return readSuccess(answer, reading, words);
  if (status >= 300 && status < 400) {
    // 307 and 308 ask for the same POST elsewhere, and what the first address did with it is not known; nor is it where
    // the answer points to what may be the new object. Elsewhere nothing was created, since no redirect is followed.
    return redirectOf(answer) === "login"
      ? { kind: "refused", words: [...words(), "a redirect, which is never followed: check advertising:baseUrl"] }
      : unknown(`status ${status}, a redirect, which is never followed${target(answer, clean)}`);
  }
  if (status >= 400 && status < 500 && !UNDECIDED_STATUS.has(status)) return { kind: "refused", words: words() };
  return unknown(`status ${status}`);
}

function target(answer: Answer, clean: Clean): string {
  const described = describeTarget(answer);
  return described === undefined ? "" : `, to ${excerpt(printable(clean(described)), 200)}`;
}

function readSuccess(answer: Answer, reading: Reading & { noun: string }, words: () => string[]): Outcome {
  const unknown = (reason: string): Outcome => ({
    kind: "unknown",
    reason: `status ${answer.status}, ${reason}`,
    words: words(),
  });
  if (answer.broken !== undefined)
    return unknown(`but the answer's body is not whole or not readable (${answer.broken})`);

  if (answer.kind !== "json") {
    const type = excerpt(printable(reading.clean(answer.headers["content-type"] ?? "no content type")), 100);
    return unknown(answer.kind === "empty" ? "but the answer is empty" : `but the answer is no JSON (${type})`);
  }

  // The prefix and the inner flag decide, not the presence of errors, and not that of an id.
  if (saysRefused(answer, reading.noun)) return { kind: "refused", words: words() };

  const id = readId(answer.data, reading.noun);
  if (id === undefined) return unknown(`but without a readable id (${shapeOf(answer.data)})`);
  return { kind: "created", id, warnings: warningsOf(answer, reading) };
}

/** Names of keys, without values: enough to report a shape that is not known yet. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const keys = Object.keys(asRecord(value)).slice(0, 10);
  const names = keys.filter((key) => /^\w{1,40}$/.test(key));
  return names.length === 0 ? "no known fields" : `its fields: ${names.join(", ")}`;
}
