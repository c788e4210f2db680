/**
 * The platform's own words in a response. Where a refusal may have words they are always shown, except values that were
 * sent and all below names that sound secret. Of other JSON only names are shown, of a page the visible text. Texts are
 * scrubbed of secrets before they are cut. Pure.
 */
import { excerpt, printable, type Secrets, type Values } from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import { folded, isSpoken, leavesOf, type ParsedResponse } from "./answer.js";

export interface Quotable {
  readonly answer: ParsedResponse;
  /** Its fields are names under which a refusal may have words about them. */
  readonly operation: Pick<Operation, "fields">;
  /** The request's fields by their names on the wire, to recognise echoes of their values. */
  readonly fields: Values;
  /** Also those that an answer echoes: they are removed before anything is cut, or half of one would be left. */
  readonly secrets: Pick<Secrets, "scrub">;
}

/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_WORDS = 20;
const MAX_WORDS_CHARACTERS = 500;

/** Names that say nothing of what a sentence is about. */
const PLAIN_NAME =
  /^(messages?|msg|errors?|warnings?|detail|description|reason|title|non_field_errors|payload|data|result|\d+)$/i;
const SHOWN_NAME = /^[\p{L}\p{N}_.$@[\]-]{1,60}$/u;

/** @returns each sentence once, safe to show, after the field or path that it is about. */
export function wordsOf(quotable: Quotable): string[] {
  const { answer, secrets } = quotable;
  // At its cut there may be half of a secret, which could not be recognised.
  if (answer.broken !== undefined || answer.kind === "empty") return [];
  if (answer.data !== undefined) return wordsIn(quotable);
  return [safe(visibleText(quotable), secrets)].filter(Boolean);
}

export function warningsOf(quotable: Quotable): string[] {
  if (!quotable.answer.body.includes("WARNING")) return []; // as after nearly every create
  return wordsIn(quotable).filter((word) => word.includes("WARNING"));
}

/** The words of an unclear answer, which may be any server's, after a space; empty if there are none. */
export function saidIn(quotable: Quotable): string {
  const words = wordsOf(quotable);
  if (words.length === 0) return "";
  return ` The platform said: ${asSentence(words, MAX_WORDS_CHARACTERS)}`;
}

export function asSentence(words: readonly string[], maxCharacters: number): string {
  const sentence = `${excerpt(words.join("; "), maxCharacters)}.`;
  return sentence.replace(/([.!?])\.$/, "$1").replace(/([.!?:;,]); /g, "$1 ");
}

function wordsIn({ answer, operation, fields, secrets }: Quotable): string[] {
  const known = [...operation.fields, ...Object.keys(fields)];
  const echoes = echoesOf(fields);
  const words = new Set<string>();
  for (const leaf of leavesOf(answer.data)) {
    const { path, value, isSecret } = leaf;
    if (words.size >= MAX_WORDS) break;
    if (typeof value !== "string" || isSecret || !/\p{L}/u.test(value)) continue;
    if (
      !isSpoken(leaf, known) ||
      echoes.has(folded(value)) ||
      /^\s*(true|false)\s*$/i.test(value)
    )
      continue;
    const names = path.filter((name) => !PLAIN_NAME.test(name) && SHOWN_NAME.test(name));
    words.add(safe([names.join("."), value].filter(Boolean).join(": "), secrets));
  }
  return [...words];
}

function echoesOf(sent: Values): ReadonlySet<string> {
  return new Set(leavesOf(sent).map(({ value }) => folded(String(value))));
}

/** `password=…`, `token: "…"` in a text: an unknown secret. A sentence ("password: is too short") stays. */
const NAMED_SECRET =
  /((?:passw(?:or)?d|pwd|secret|(?<!unexpected )token|cookie|session[-_ ]?id|api[-_ ]?key|authorization)[\w-]{0,30}["']?\s{0,3}(?:=|:(?=\s{0,3}(?:["']|(?:basic|bearer) |[^\s,;]{0,99}[\d=])))\s{0,3})(?:"[^"]*"?|'[^']*'?|(?:basic |bearer )?[^\s,&<>"']+)/gi;

function safe(text: string, secrets: Quotable["secrets"]): string {
  const masked = secrets.scrub(text).replace(NAMED_SECRET, "$1[secret]");
  return excerpt(printable(masked), MAX_WORDS_CHARACTERS);
}

const MARKUP = /<\/[a-z]|^\s*<[a-z!?]/i;
const HIDDEN =
  /<(script|style|template|svg|textarea|select)\b[\s\S]*?(<\/\1\s*>|$)|<!--[\s\S]*?(-->|$)/gi;
/** A tag; an attribute's quoted value may contain `>`. */
const TAG = /<[a-z!?/](?:[^<>"']|"[^"<]*"|'[^'<]*'|["'])*>?/gi;

/** The text of a page, XML or plain lines. Secrets are masked first: one may hold a line's end, or look like a tag. */
function visibleText({ answer, fields, secrets }: Quotable): string {
  const echoes = echoesOf(fields);
  const visible = secrets.scrub(answer.body.replace(/^\ufeff/, "")).replace(HIDDEN, " ");
  const isMarkup = answer.kind === "html" || MARKUP.test(visible);
  const parts = visible.split(isMarkup ? TAG : /\r?\n/).map((part) => part.trim());
  const shown = new Set(parts.filter((part) => part !== "" && !echoes.has(folded(part))));
  const text = [...shown].join(" ");
  if (!/<(html|head|body|title)\b|<!doctype/i.test(visible)) return text;
  return ["an HTML page", text].filter(Boolean).join(": ");
}
