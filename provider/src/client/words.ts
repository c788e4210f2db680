/**
 * The platform's own words, as people see them. Words in the places where a refusal may have them are always shown; left out are values that
 * were sent, and all below names that sound secret. Of other JSON only names are shown, of a page its visible text. Every text is scrubbed
 * of secrets before it is cut. Pure.
 */
import { excerpt, printable, type Values } from "../base/index.js";
import { type Answer, type Leaf, leavesOf, shapeOf } from "./answer.js";

/** Removes secrets that an answer echoes; must come before anything is cut, or half of one would be left. */
export type Clean = (text: string) => string;

export interface Reading {
  /** Names of the resource's fields on the wire, under which a refusal may have words about them. */
  readonly fields: readonly string[];
  /** The request's fields by their names on the wire, to recognise echoes of their values. */
  readonly sent: Values;
  readonly clean: Clean;
}

/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_WORDS = 20;
const MAX_CHARACTERS = 500;

/** A string with one of these names, or below it, is the platform's word on the request. */
const SPOKEN =
  /^(messages?|msg|errors?|(error_?)?code|error_?(message|description)|detail|description|reasons?|title|warnings?|non_field_errors|faultstring)$/i;
/** Names that say nothing of what a sentence is about. */
const PLAIN =
  /^(messages?|msg|errors?|warnings?|detail|description|reason|title|non_field_errors|payload|data|result|\d+)$/i;

/** Of a name that may be shown before a sentence. */
const NAME = /^[\p{L}\p{N}_.$@[\]-]{1,60}$/u;

/** Whether a string is in a place where answers speak: there, under a field's name, in place of data, or a sentence in any list. */
export function isSpoken({ path, value, isEntry }: Leaf, fields: readonly string[] = []): boolean {
  const name = path.at(-1);
  if (name === undefined || name === "payload" || fields.includes(name) || path.some((each) => SPOKEN.test(each)))
    return true;
  return isEntry && /\s/.test(String(value));
}

/** @returns each sentence once, safe to show, after the field or path that it is about. */
export function wordsOf(answer: Answer, reading: Reading): string[] {
  // At its cut there may be half of a secret, which could not be recognised.
  if (answer.broken !== undefined || answer.kind === "empty") return [];
  if (answer.data !== undefined) return wordsIn(answer.data, reading);
  const word = told(visibleText(answer.body, reading, answer.kind === "html"), reading.clean);
  return word === "" ? [] : [word];
}

/** The warnings beside a success. */
export function warningsOf({ body, data }: Answer, reading: Reading): string[] {
  if (!body.includes("WARNING")) return []; // as after nearly every create
  return wordsIn(data, reading).filter((word) => word.includes("WARNING"));
}

function wordsIn(data: unknown, { fields, sent, clean }: Reading): string[] {
  const known = [...fields, ...Object.keys(sent)];
  const echoes = echoesOf(sent);
  const words = new Set<string>();
  for (const leaf of leavesOf(data)) {
    const { path, value, isSecret } = leaf;
    if (words.size >= MAX_WORDS) break;
    if (typeof value !== "string" || isSecret || !/\p{L}/u.test(value)) continue;
    if (!isSpoken(leaf, known) || echoes.has(folded(value)) || /^\s*(true|false)\s*$/i.test(value)) continue;
    const about = path.filter((name) => !PLAIN.test(name) && NAME.test(name)).join(".");
    const text = MARKUP.test(value) ? visibleText(value, { sent: {}, clean }, true) : value;
    if (text !== "") words.add(told(`${about === "" ? "" : `${about}: `}${text}`, clean));
  }
  return [...words];
}

/** The values that were sent, in a form in which an echo of them is recognised. */
function echoesOf(sent: Values): ReadonlySet<string> {
  return new Set(leavesOf(sent).map(({ value }) => folded(String(value))));
}

/** A text without what pages and services change in it. */
export function folded(text: string): string {
  return decoded(text).trim().replace(/\s+/g, " ").toLowerCase();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function decoded(text: string): string {
  return text.replace(/&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,6}|x[\da-f]{1,5}));/gi, (all, name?: string, code = "") =>
    name === undefined ? String.fromCodePoint(Number(`0${code}`)) : (ENTITIES[name.toLowerCase()] ?? all),
  );
}

/** `password=…`, `token: "…"` in a text: a secret that is not known. A sentence about a password ("password: is too short") stays. */
const NAMED =
  /((?:passw(?:or)?d|pwd|secret|(?<!unexpected )token|cookie|session[-_ ]?id|api[-_ ]?key|authorization)[\w-]{0,30}["']?\s{0,3}(?:=|:(?=\s{0,3}(?:["']|(?:basic|bearer) |[^\s,;]{0,99}[\d=])))\s{0,3})(?:"[^"]*"?|'[^']*'?|(?:basic |bearer )?[^\s,&<>"']+)/gi;

function told(text: string, clean: Clean): string {
  return excerpt(printable(clean(text).replace(NAMED, "$1[secret]")), MAX_CHARACTERS);
}

const MARKUP = /<\/[a-z]|^\s*<[a-z!?]/i;
const HIDDEN = /<(script|style|template|svg|textarea|select)\b[\s\S]*?(<\/\1\s*>|$)|<!--[\s\S]*?(-->|$)/gi;
/** A tag; an attribute's quoted value may contain `>`. */
const TAG = /<[a-z!?/](?:[^<>"']|"[^"<]*"|'[^'<]*'|["'])*>?/gi;

/** The text of a page, of XML or of plain lines. Secrets are masked first, because one may contain a line's end, or something like a tag. */
function visibleText(body: string, { sent, clean }: Pick<Reading, "sent" | "clean">, isMarkup: boolean): string {
  const echoes = echoesOf(sent);
  const visible = clean(body.replace(/^\ufeff/, "")).replace(HIDDEN, " ");
  const parts = visible.split(isMarkup || MARKUP.test(visible) ? TAG : /\r?\n/).map((part) => decoded(part).trim());
  const text = [...new Set(parts.filter((part) => !echoes.has(folded(part))))].filter(Boolean).join(" ");
  return /<(html|head|body|title)\b|<!doctype/i.test(visible) ? `an HTML page${text && `: ${text}`}` : text;
}

/** Enough room for a problem of each field. */
const MAX_REFUSAL_CHARACTERS = 4000;

/** @param data what is described by its names if there are no words. */
export function refusalIn(words: readonly string[], data: unknown): string {
  if (words.length > 0) return asSentence(words, MAX_REFUSAL_CHARACTERS);
  return `the response does not say why${data === undefined ? "" : ` (${shapeOf(data)})`}.`;
}

/** The words of an unclear answer, which may be any server's, after a space; empty if there are none. */
export function saidIn(words: readonly string[]): string {
  return words.length === 0 ? "" : ` The platform said: ${asSentence(words, MAX_CHARACTERS)}`;
}

function asSentence(words: readonly string[], maxCharacters: number): string {
  return `${excerpt(words.join("; "), maxCharacters)}.`.replace(/([.!?])\.$/, "$1").replace(/([.!?:;,]); /g, "$1 ");
}
