/**
 * What an answer says of itself: whether it refuses, and what accompanies a success. Narrow on purpose, since it decides:
 * of all that stands in an answer, only fields that are known to speak of the request count. Pure.
 */

import { asRecord, own } from "../record.js";
import { excerpt, printable } from "../text.js";
import { saysNo } from "./body.js";
import type { Clean } from "./tell.js";

/** Fields that hold a sentence. */
export const SENTENCE_FIELDS: readonly string[] = [
  "message",
  "detail",
  "error",
  "error_description",
  "description",
  "reason",
  "title",
];
export const CODE_FIELDS: readonly string[] = ["error_code", "code"];
/** In an object that holds one sentence: what the sentence is about. */
const SUBJECT_FIELDS = ["field", "field_name", "param", "parameter", "property"];
/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_SENTENCES = 20;
const MAX_SENTENCE_CHARACTERS = 500;
const MAX_DEPTH = 4;

/** The entries of `errors`, wherever it stands: they accompany successes too. */
export function errorEntries(value: unknown, clean: Clean, noun?: string): string[] {
  const found: string[] = [];
  anyPart(value, noun, (part) => {
    for (const { label, text } of sentencesIn(own(part, "errors"), "", 0)) {
      if (found.length >= MAX_SENTENCES) break;
      found.push(labelled(label, text));
    }
    return false; // on to the next part
  });
  return [...new Set(found.map((sentence) => excerpt(printable(clean(sentence)), MAX_SENTENCE_CHARACTERS)))].slice(
    0,
    MAX_SENTENCES,
  );
}

/**
 * Whether an answer says itself that it refuses: by a flag, or by an entry that begins with `ERROR:`. The entry as it
 * came, without its field in front, and each one, however many there are.
 */
export function saysRefused(value: unknown, noun: string | undefined): boolean {
  return anyPart(value, noun, (part) => saysNo(part) || hasError(own(part, "errors")));
}

/**
 * Whether `test` holds for a part of the answer that speaks of the create: the answer itself, what stands in its
 * `payload` or under the noun, and so on inward. For a list only where it holds for each entry: of several, nobody knows
 * which is meant.
 */
export function anyPart(
  value: unknown,
  noun: string | undefined,
  test: (part: unknown) => boolean,
  depth = 0,
): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    return value.length > 0 && value.every((entry) => anyPart(entry, noun, test, depth + 1));
  }
  if (test(value)) return true;
  return ["payload", ...nounsOf(noun)].some((name) => anyPart(own(value, name), noun, test, depth + 1));
}

function nounsOf(noun: string | undefined): string[] {
  return noun === undefined ? [] : [noun, `${noun}s`];
}

function hasError(errors: unknown): boolean {
  for (const { text } of sentencesIn(errors, "", 0)) {
    if (/^\s*ERROR\s*:/i.test(printable(text))) return true;
  }
  return false;
}

export interface Sentence {
  /** The field that it is about, where it stood under one. */
  readonly label: string;
  readonly text: string;
}

/** Sentences in a list, or in an object keyed by field, however nested. */
export function* sentencesIn(value: unknown, label: string, depth: number): Generator<Sentence> {
  if (depth > MAX_DEPTH + 2) return;
  if (typeof value === "string") {
    yield { label, text: value };
  } else if (Array.isArray(value)) {
    for (const entry of value) yield* sentencesIn(entry, label, depth + 1);
  } else {
    const subject = subjectOf(value);
    if (subject !== undefined) {
      yield* sentencesAbout(value, join(label, subject));
      return;
    }
    for (const [name, entry] of Object.entries(asRecord(value))) {
      const isPlain = SENTENCE_FIELDS.includes(name) || CODE_FIELDS.includes(name) || /^\d+$/.test(name);
      yield* sentencesIn(entry, isPlain ? label : join(label, name), depth + 1);
    }
  }
}

/** One problem as an object that names its field: a sentence, with the code in it, and nothing else that stands there. */
function* sentencesAbout(value: unknown, label: string): Generator<Sentence> {
  const code = CODE_FIELDS.map((name) => own(value, name)).find((entry) => ["string", "number"].includes(typeof entry));
  let suffix = code === undefined ? "" : ` (code ${code})`;
  for (const name of SENTENCE_FIELDS) {
    const sentence = own(value, name);
    if (typeof sentence !== "string") continue;
    yield { label, text: `${sentence}${suffix}` };
    suffix = "";
  }
}

/** The field that an object with a sentence names; an object keyed by field may have one of that name, with words in it. */
export function subjectOf(value: unknown): string | undefined {
  if (!SENTENCE_FIELDS.some((name) => typeof own(value, name) === "string")) return undefined;
  for (const name of SUBJECT_FIELDS) {
    const subject = own(value, name);
    if (typeof subject === "string" && /^[\w.[\]-]{1,60}$/.test(subject)) return subject;
  }
  return undefined;
}

export function labelled(label: string, text: string): string {
  return label === "" ? text : `${label}: ${text}`;
}

function join(label: string, name: string): string {
  return label === "" ? name : `${label}.${name}`;
}
