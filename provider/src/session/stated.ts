/**
 * What an answer states in the few fields that are known to hold words, for the judgement whether a session has ended.
 * Narrower than what is told to people: a new login must not come of what stands anywhere in an answer, such as the name of
 * an event. Looked at, never shown. Pure.
 */
import type { HttpAnswer } from "../http/transport.js";
import { own } from "../record.js";
import { excerpt, printable } from "../text.js";
import { readBody } from "../wire/body.js";
import { CODE_FIELDS, labelled, SENTENCE_FIELDS, sentencesIn, subjectOf } from "../wire/verdict.js";

const LIST_FIELDS = ["errors", "error", "messages", "warnings", "non_field_errors", "detail"];
const MAX_STATED = 20;
const MAX_CHARACTERS = 500;
const MAX_DEPTH = 4;

/** @returns each sentence once, in the order found; a code with its field's name in front. None of HTML. */
export function statedBy(answer: HttpAnswer): string[] {
  // Where it was cut, what it states may be half of a sentence.
  if (answer.broken !== undefined) return [];
  const body = readBody(answer);
  if (body.kind === "text") return [shortened(answer.body)];
  if (body.kind !== "json") return [];
  const stated: string[] = [];
  collect(body.value, stated, 0);
  return [...new Set(stated.map(shortened))].filter((sentence) => sentence !== "").slice(0, MAX_STATED);
}

function collect(value: unknown, stated: string[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === "string") {
    stated.push(value);
  } else if (Array.isArray(value)) {
    for (const entry of value.slice(0, MAX_STATED)) collect(entry, stated, depth + 1);
  } else {
    collectFields(value, stated, depth);
    const payload = own(value, "payload");
    if (payload !== undefined) collect(payload, stated, depth + 1);
  }
}

function collectFields(value: unknown, stated: string[], depth: number): void {
  const subject = subjectOf(value) ?? "";
  for (const name of SENTENCE_FIELDS) {
    const sentence = own(value, name);
    if (typeof sentence === "string") stated.push(labelled(subject, sentence));
  }
  for (const name of CODE_FIELDS) {
    const code = own(value, name);
    if (typeof code === "string" || typeof code === "number") stated.push(`${name} ${code}`);
  }
  for (const name of LIST_FIELDS) {
    const list = own(value, name);
    if (typeof list === "string" && SENTENCE_FIELDS.includes(name)) continue; // read already
    for (const { label, text } of sentencesIn(list, "", depth + 1)) {
      if (stated.length >= MAX_STATED) break;
      stated.push(labelled(label, text));
    }
  }
}

function shortened(sentence: string): string {
  return excerpt(printable(sentence), MAX_CHARACTERS);
}
