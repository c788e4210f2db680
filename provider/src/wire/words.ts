/**
 * The platform's own words in an answer: sentences in the fields that are known to hold them, never the echo of
 * anything else, which may be secret. Pure.
 */
import type { HttpAnswer } from "../http/transport.js";
import { excerpt, printable } from "../text.js";
import { asRecord, own, readBody } from "./body.js";

const SENTENCE_FIELDS = ["message", "detail", "error", "error_description", "description", "reason", "title"];
const CODE_FIELDS = ["error_code", "code"];
const LIST_FIELDS = ["errors", "error", "messages", "warnings", "non_field_errors", "detail"];
/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_SENTENCES = 20;
const MAX_SENTENCE_CHARACTERS = 500;
const MAX_DEPTH = 4;

/** Removes secrets that an answer echoes; must come before anything is cut, or half of one would be left. */
export type Clean = (text: string) => string;

/**
 * @param fields wire names of the resource: in an answer keyed by field, lists under these names hold sentences.
 * @returns each sentence once, printable, in the order found; with the field's name in front where it stood under one.
 */
export function wordsOf(answer: HttpAnswer, fields: readonly string[], clean: Clean): string[] {
  const body = readBody(answer);
  if (body.kind === "empty") return [];
  if (body.kind === "html") return [htmlTitle(answer.body, clean)].filter((title) => title !== "");
  if (body.kind === "text") return [tidy(answer.body, clean)];
  const found: string[] = [];
  collect(body.value, new Set(fields), found, 0);
  return [...new Set(found.map((sentence) => tidy(sentence, clean)))]
    .filter((sentence) => sentence !== "")
    .slice(0, MAX_SENTENCES);
}

/** The entries of `errors`, wherever it stands: they accompany successes too. */
export function errorEntries(value: unknown, clean: Clean): string[] {
  const found: string[] = [];
  for (const holder of [value, own(value, "payload")]) sentencesIn(own(holder, "errors"), "", found, 0);
  return [...new Set(found.map((sentence) => tidy(sentence, clean)))].slice(0, MAX_SENTENCES);
}

function collect(value: unknown, fields: ReadonlySet<string>, found: string[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === "string") {
    found.push(value);
  } else if (Array.isArray(value)) {
    for (const entry of value.slice(0, MAX_SENTENCES)) collect(entry, fields, found, depth + 1);
  } else {
    for (const name of SENTENCE_FIELDS) {
      const sentence = own(value, name);
      if (typeof sentence === "string") found.push(sentence);
    }
    for (const name of CODE_FIELDS) {
      const code = own(value, name);
      if (typeof code === "string" || typeof code === "number") found.push(`${name} ${code}`);
    }
    for (const name of LIST_FIELDS) {
      const list = own(value, name);
      if (typeof list !== "string" || name === "errors") sentencesIn(list, "", found, depth + 1);
    }
    const payload = own(value, "payload");
    if (payload !== undefined) collect(payload, fields, found, depth + 1);
    for (const [name, entry] of Object.entries(asRecord(value))) {
      if (fields.has(name) && (Array.isArray(entry) || typeof entry === "object"))
        sentencesIn(entry, name, found, depth + 1);
    }
  }
}

/** Sentences in a list, or in an object keyed by field, however nested; each with its field in front. */
function sentencesIn(value: unknown, label: string, found: string[], depth: number): void {
  if (depth > MAX_DEPTH + 2 || found.length >= MAX_SENTENCES) return;
  if (typeof value === "string") {
    found.push(label === "" ? value : `${label}: ${value}`);
  } else if (Array.isArray(value)) {
    for (const entry of value.slice(0, MAX_SENTENCES)) sentencesIn(entry, label, found, depth + 1);
  } else {
    for (const [name, entry] of Object.entries(asRecord(value)).slice(0, MAX_SENTENCES)) {
      const isPlain = SENTENCE_FIELDS.includes(name) || CODE_FIELDS.includes(name) || /^\d+$/.test(name);
      sentencesIn(entry, isPlain ? label : join(label, name), found, depth + 1);
    }
  }
}

function join(label: string, name: string): string {
  return label === "" ? name : `${label}.${name}`;
}

function tidy(sentence: string, clean: Clean): string {
  return excerpt(printable(clean(sentence)), MAX_SENTENCE_CHARACTERS);
}

function htmlTitle(html: string, clean: Clean): string {
  const title = /<title[^>]*>([^<]+)/i.exec(html)?.[1];
  return title === undefined ? "" : `an HTML page titled "${tidy(title, clean)}"`;
}
