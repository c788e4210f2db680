/**
 * The platform's own words in an answer: sentences in the fields that are known to hold them, never the echo of
 * anything else, which may be secret. Pure.
 */
import type { HttpAnswer } from "../http/transport.js";
import { excerpt, printable } from "../text.js";
import { asRecord, own, readBody, saysNo } from "./body.js";

const SENTENCE_FIELDS = ["message", "detail", "error", "error_description", "description", "reason", "title"];
const CODE_FIELDS = ["error_code", "code"];
const LIST_FIELDS = ["errors", "error", "messages", "warnings", "non_field_errors", "detail"];
/** In an object that holds one sentence: what the sentence is about. */
const SUBJECT_FIELDS = ["field", "field_name", "param", "parameter", "property"];
/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_SENTENCES = 20;
const MAX_SENTENCE_CHARACTERS = 500;
const MAX_DEPTH = 4;

/** Words of a refusal, to tell `is too long` from the value of a field that is echoed. */
const COMPLAINT =
  /\b(not|no|never|must|may|can|can'?t|cannot|should|needs?|please|required?|requires|(in)?valid|unknown|too|already|taken|exists?|missing|exceeds?|blank|empty|expected|unsupported|wrong|failed|is|are|has|have)\b/i;
/** What may hold secrets even where it looks like sentences. */
const SECRET_NAME = /pass(word|wd|phrase)?|secret|token|cookie|session|credential|auth|api_?key|private/i;

/** Removes secrets that an answer echoes; must come before anything is cut, or half of one would be left. */
export type Clean = (text: string) => string;

/** What is known of an answer before its words are read. */
export interface Reading {
  /** The resource's name on the wire: under it, a refusal may hold what it says of the fields. */
  readonly noun?: string;
  /** Names of further fields that were sent, whose values nobody but the sender knows. */
  readonly sent?: readonly string[];
  /** Only in a refusal do an object's own fields hold words; elsewhere they hold the object. */
  readonly isRefusal: boolean;
}

/** A {@link Reading} with the names as sets. */
interface Names {
  readonly fields: ReadonlySet<string>;
  readonly sent: ReadonlySet<string>;
  readonly nouns: readonly string[];
  readonly isRefusal: boolean;
}

/**
 * @param fields wire names of the resource: in a refusal keyed by field, what stands under these names are sentences.
 * @param reading without it: a refusal where the status or a flag says so.
 * @returns each sentence once, printable, in the order found; with the field's name in front where it stood under one.
 */
export function wordsOf(answer: HttpAnswer, fields: readonly string[], clean: Clean, reading?: Reading): string[] {
  // Where it was cut, half of a secret may be left, which nobody could recognise.
  if (answer.broken !== undefined) return [];
  const body = readBody(answer);
  if (body.kind === "empty") return [];
  if (body.kind === "html") return [htmlTitle(answer.body, clean)].filter((title) => title !== "");
  if (body.kind === "text") return [tidy(answer.body, clean)];
  const { status } = answer;
  const names: Names = {
    fields: new Set(fields),
    sent: new Set(reading?.sent),
    nouns: nounsOf(reading?.noun),
    isRefusal: reading?.isRefusal ?? ((status >= 400 && status < 500) || anyPart(body.value, undefined, saysNo)),
  };
  const found: string[] = [];
  collect(body.value, names, "", found, 0);
  return [...new Set(found.map((sentence) => tidy(sentence, clean)))]
    .filter((sentence) => sentence !== "")
    .slice(0, MAX_SENTENCES);
}

/** The entries of `errors`, wherever it stands: they accompany successes too. */
export function errorEntries(value: unknown, clean: Clean, noun?: string): string[] {
  const found: string[] = [];
  anyPart(value, noun, (part) => {
    add(own(part, "errors"), "", found, 0);
    return false; // on to the next part
  });
  return [...new Set(found.map((sentence) => tidy(sentence, clean)))].slice(0, MAX_SENTENCES);
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

/** @param label where `value` stands below the noun; only what is keyed by field needs it. */
function collect(value: unknown, names: Names, label: string, found: string[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === "string") {
    found.push(value);
  } else if (Array.isArray(value)) {
    for (const entry of value.slice(0, MAX_SENTENCES)) collect(entry, names, label, found, depth + 1);
  } else {
    const isEcho = !names.isRefusal || looksLikeEcho(value, names.fields);
    collectErrorFields(value, names, isEcho, found, depth);
    const payload = own(value, "payload");
    if (payload !== undefined) collect(payload, names, label, found, depth + 1);
    if (names.isRefusal) collectFields(value, names, isEcho, label, found, depth);
  }
}

/** What the fields say that are known to hold words; in an echo, not those that are called like a field of the request. */
function collectErrorFields(value: unknown, names: Names, isEcho: boolean, found: string[], depth: number): void {
  const read = (name: string) =>
    isEcho && (names.fields.has(name) || names.sent.has(name)) ? undefined : own(value, name);
  const subject = subjectOf(value) ?? "";
  for (const name of SENTENCE_FIELDS) {
    const sentence = read(name);
    if (typeof sentence === "string") found.push(labelled(subject, sentence));
  }
  for (const name of CODE_FIELDS) {
    const code = read(name);
    if (typeof code === "string" || typeof code === "number") found.push(`${name} ${code}`);
  }
  for (const name of LIST_FIELDS) {
    const list = read(name);
    if (typeof list !== "string" || !SENTENCE_FIELDS.includes(name)) add(list, "", found, depth + 1);
  }
}

/** What a refusal says that is keyed by field. */
function collectFields(
  value: unknown,
  names: Names,
  isEcho: boolean,
  label: string,
  found: string[],
  depth: number,
): void {
  for (const [name, entry] of Object.entries(asRecord(value))) {
    if (found.length >= MAX_SENTENCES) return;
    if (name === "payload" || LIST_FIELDS.includes(name)) continue; // read already
    const isText = typeof entry === "string";
    if (isText && (SENTENCE_FIELDS.includes(name) || CODE_FIELDS.includes(name))) continue; // read already
    const below = SENTENCE_FIELDS.includes(name) ? label : join(label, name);

    if (names.nouns.includes(name) && holdsObjects(entry)) {
      collect(entry, names, below, found, depth + 1);
    } else if (names.fields.has(name) && !isText) {
      add(entry, below, found, depth + 1);
    } else if (isEcho) {
      // The value of a field, whatever it reads like.
    } else if (isText) {
      const isKnown = names.fields.has(name) || names.sent.has(name) || names.nouns.includes(name);
      if (isKnown && COMPLAINT.test(entry)) found.push(labelled(below, entry));
    } else if (Array.isArray(entry) && (names.sent.has(name) || isHarmless(name))) {
      // The platform knows more fields than this page of it: its sentences about them, and no other values.
      for (const text of entry.slice(0, MAX_SENTENCES)) {
        if (typeof text === "string" && isSentence(text)) found.push(labelled(below, text));
      }
    }
  }
}

/** Whether the fields hold values, as in an object or a request that is echoed, rather than words about them. */
function looksLikeEcho(value: unknown, fields: ReadonlySet<string>): boolean {
  return Object.entries(asRecord(value)).some(
    ([name, entry]) =>
      fields.has(name) &&
      !SENTENCE_FIELDS.includes(name) &&
      (typeof entry === "string" ? !COMPLAINT.test(entry) : typeof entry !== "object" || entry === null),
  );
}

function holdsObjects(value: unknown): boolean {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === "object" && first !== null;
}

function isHarmless(name: string): boolean {
  return /^[\w.-]{1,60}$/.test(name) && !SECRET_NAME.test(name);
}

/** More than one word, or a word that a refusal is made of. */
function isSentence(text: string): boolean {
  return (/\s/.test(text.trim()) && /\p{L}/u.test(text)) || COMPLAINT.test(text);
}

function add(value: unknown, label: string, found: string[], depth: number): void {
  for (const entry of sentencesIn(value, label, depth)) {
    if (found.length >= MAX_SENTENCES) return;
    found.push(labelled(entry.label, entry.text));
  }
}

interface Sentence {
  /** The field that it is about, where it stood under one. */
  readonly label: string;
  readonly text: string;
}

/** Sentences in a list, or in an object keyed by field, however nested. */
function* sentencesIn(value: unknown, label: string, depth: number): Generator<Sentence> {
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
function subjectOf(value: unknown): string | undefined {
  if (!SENTENCE_FIELDS.some((name) => typeof own(value, name) === "string")) return undefined;
  for (const name of SUBJECT_FIELDS) {
    const subject = own(value, name);
    if (typeof subject === "string" && /^[\w.[\]-]{1,60}$/.test(subject)) return subject;
  }
  return undefined;
}

function labelled(label: string, text: string): string {
  return label === "" ? text : `${label}: ${text}`;
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
