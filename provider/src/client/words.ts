/**
 * The platform's own words, as people see them. A refusal with readable text is never reported without that text. Left out are the values
 * that were sent, values with names that sound secret, and flags. Of a body that is not data, people see the visible text. Every text is
 * scrubbed of secrets before it is cut. Pure.
 */
import { decodeHTMLStrict } from "entities/decode";
import { excerpt, printable, type Values } from "../base/index.js";
import { type Answer, aboutOf, isSecretName, leavesOf, type Statement, said } from "./answer.js";

/** Removes secrets that an answer echoes; must come before anything is cut, or half of one would be left. */
export type Clean = (text: string) => string;

export interface Reading {
  /** Names of the resource's fields on the wire; statements about them come first. */
  readonly fields: readonly string[];
  /** The request's fields by their names on the wire, to recognise echoes of their values. */
  readonly sent: Values;
  readonly clean: Clean;
}

/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_WORDS = 20;
const MAX_CHARACTERS = 500;
const MAX_LABEL_CHARACTERS = 150;

/** Names of a person's record, which is quoted only if there is nothing else. */
const PERSON = /^(users?|owner|customer|contact|person|profile|(created|updated|modified)_?by)$/i;
const FLAG = /^(success(ful)?|ok|status|result|state|outcome)$/i;
const FLAG_VALUE = /^(true|false|yes|no|0|1|n?ok|ko|success(ful)?|unsuccessful|err(or)?|fail(ed|ure)?)$/i;
const NAME = /^[\p{L}\p{N}_.$@[\]-]{1,60}$/u;

/**
 * @returns each sentence once, safe to show, after its field or path: first those in the platform's known places and about the request's
 *   fields; then codes; then texts elsewhere that read like sentences; single words only if there is nothing else.
 */
export function wordsOf(answer: Answer, reading: Reading): string[] {
  // At its cut there may be half of a secret, which could not be recognised.
  if (answer.broken !== undefined || answer.kind === "empty") return [];
  if (answer.data !== undefined) return wordsIn(said(answer), answer.status, reading);
  const isEcho = echoOf(reading.sent);
  const word = told(visibleText(answer.body, answer.kind === "html", reading.clean, isEcho), reading.clean);
  return word === "" ? [] : [word];
}

/** The warnings in `errors` beside a success. */
export function warningsOf(answer: Answer, reading: Reading): string[] {
  if (!answer.body.includes('"errors"')) return []; // as after nearly every create
  const warnings = said(answer).filter(({ path }) => path.includes("errors"));
  return warnings.length === 0 ? [] : wordsIn(warnings, answer.status, reading);
}

function wordsIn(statements: readonly Statement[], status: number, { fields, sent, clean }: Reading): string[] {
  const known = new Set([...fields, ...Object.keys(sent)]);
  const isEcho = echoOf(sent);
  const ranks: string[][] = [[], [], [], []];
  let withheld: Statement | undefined;
  for (const statement of statements) {
    if (statement.isSecret) {
      if (statement.text !== "") withheld ??= statement;
      continue;
    }
    const rank = rankOf(statement, known, status);
    const words = rank === undefined ? undefined : ranks[rank];
    if (words === undefined || words.length >= MAX_WORDS) continue;
    if (isEcho(statement.text, known.has(statement.path.at(-1) ?? ""))) continue;
    const word = told(inWords(statement, status, isEcho, clean), clean);
    if (word !== "" && !words.includes(word)) words.push(word);
  }
  const [spoken = [], codes = [], elsewhere = [], rest = []] = ranks;
  const words = [...spoken, ...codes, ...elsewhere, ...(spoken.length + elsewhere.length > 0 ? [] : rest)];
  if (words.length > 0 || withheld === undefined) return [...new Set(words)].slice(0, MAX_WORDS);
  // So that people know where to look in the answer themselves.
  const label = told(labelOf(withheld, isEcho), clean);
  const where = label === "" ? "a name that sounds" : `"${label}", a name that sounds`;
  return [`what it says is under ${where} secret, and is not shown`];
}

/** The rank of a statement from 0, the first, to 3; none if it is not quoted. */
function rankOf(statement: Statement, known: ReadonlySet<string>, status: number): 0 | 1 | 2 | 3 | undefined {
  const { path, text, code, where } = statement;
  const name = path.at(-1) ?? "";
  if (text === "") return code === undefined || code.value === String(status) ? undefined : 1;
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
  if (FLAG.test(name) ? FLAG_VALUE.test(text.trim()) : /^(true|false)$/i.test(text.trim())) return undefined;
  if (path.some((each) => PERSON.test(each))) return 3;
  if (where === "documented" && (isSentence(text) || known.has(name) || aboutOf(statement).length === 0)) return 0;
  return isSentence(text) ? (known.has(name) ? 0 : 2) : 3;
}

/** Words of a refusal that are quoted even alone. */
const SINGLE =
  /^(no|required|(in)?valid|unknown|taken|exists?|missing|blank|empty|unsupported|wrong|inactive|duplicate|forbidden|denied|expired)[.!]*$/i;

/** Whether a text has several words, or one that is quoted even alone. */
export function isSentence(text: string): boolean {
  return SINGLE.test(text.trim()) || (/\S\s+\S/.test(text) && /\p{L}{2}/u.test(text));
}

function inWords(statement: Statement, status: number, isEcho: IsEcho, clean: Clean): string {
  const { text } = statement;
  const code = statement.code?.value === String(status) ? undefined : statement.code;
  if (text === "") return code === undefined ? "" : `${code.name} ${code.value}`;
  const visible = looksLikeHtml(text) ? pageText(clean(text), () => false) : text;
  const label = labelOf(statement, isEcho);
  return visible === ""
    ? ""
    : `${label === "" ? "" : `${label}: `}${visible}${code === undefined ? "" : ` (code ${code.value})`}`;
}

function labelOf(statement: Statement, isEcho: IsEcho): string {
  const names = aboutOf(statement).filter((name) => NAME.test(name) && !isEcho(name));
  return excerpt(names.join("."), MAX_LABEL_CHARACTERS);
}

const MASK = "[secret]";
/** `password=…`, `"password": "…"`, `token: …`: the name, the separator, the value. */
const NAMED =
  /((?:passw(?:or)?d|passphrase|pwd|secret|(?<!unexpected )token|cookie|session[-_ ]?id|sessid|credentials?|api[-_ ]?key|csrf|jwt)[\w-]{0,30}(?:\\{0,3}["'])?)(\s{0,3}[=:]\s{0,3})(\\{0,3}"[^"]*(?:"|$)|\\{0,3}'[^']*(?:'|$)|[^\s,;&<>"']+)([^\r\n]?)/gi;
const COOKIE_HEADER = /(cookie["']?\s{0,3}:\s{0,3})["']?[^\s=;,"']{1,200}=[^\r\n<]*/gi;
const CREDENTIALS = /\b(basic|bearer|digest)\s{1,3}([\w.~+/=-]{8,})/gi;
/** Characters that no word of a sentence has. */
const ODD = /[\d=._~+/-](?!$)|\d$|[a-z][A-Z]/;
/** How a sentence continues after the name of its subject. */
const COMPLAINT =
  /^(is|was|are|has|must|may|can|cannot|can't|not|no|too|required|missing|invalid|expired|wrong|incorrect|empty|blank|unknown)\b/i;

function told(text: string, clean: Clean): string {
  return excerpt(printable(withoutNamedSecrets(clean(text))), MAX_CHARACTERS);
}

/**
 * Masks unknown secrets: values named as a password, a token or a cookie in a text that is not data. A sentence about a password
 * ("password: is too short") stays.
 */
function withoutNamedSecrets(text: string): string {
  return text
    .replace(COOKIE_HEADER, `$1${MASK}`)
    .replace(CREDENTIALS, (all, scheme, value) => (ODD.test(value) ? `${scheme} ${MASK}` : all))
    .replace(NAMED, (all, name: string, between: string, value: string, after: string) => {
      const isComplaint = COMPLAINT.test(value) && !between.includes("=");
      const isValue = between.includes("=") || /^\\{0,3}["']/.test(value) || ODD.test(value) || after === "";
      return isValue && !isComplaint ? `${name}${between}${MASK}${after}` : all;
    });
}

/** Whether a text is a value that was sent. @param isField it has the name of a field of the request. */
type IsEcho = (text: string, isField?: boolean) => boolean;

/** Shorter beginnings of a value may be anything. */
const MIN_BEGINNING = 12;

/** Recognises an echo by its values, not only by names: under a field's name there may be a sentence about it. */
function echoOf(sent: Values): IsEcho {
  const values = new Set<string>();
  for (const { place, value } of leavesOf(sent, 1)) {
    const text = folded(String(value));
    if (text === "" || typeof value === "object") continue;
    values.add(text);
    // It may be a line of a text or a page that shows the request.
    const name = folded(place?.name ?? "");
    for (const line of [`${name}: ${text}`, `${name}=${text}`, `${name} = ${text}`, `"${name}": "${text}"`])
      values.add(line);
  }
  const all = [...values];
  return (text, isField = false) => {
    const whole = folded(text);
    if (values.has(whole) || values.has(whole.replace(/,$/, ""))) return true;
    const beginning = whole.replace(/(\.{3}|\u2026)$/, "");
    if (beginning.length < MIN_BEGINNING || (beginning === whole && !isField)) return false;
    return all.some((value) => value.startsWith(beginning));
  };
}

function folded(text: string): string {
  return decodeHTMLStrict(text).trim().replace(/\s+/g, " ").toLowerCase();
}

/** @param clean runs before the text is taken apart, because a secret may contain a line's end, or something like a tag. */
function visibleText(body: string, isHtml: boolean, clean: Clean, isEcho: IsEcho): string {
  if (isHtml || looksLikeHtml(body)) return pageText(clean(body), isEcho);
  return clean(body.replace(/^\ufeff/, ""))
    .split(/(?<=[\r\n])/)
    .filter((line) => !isEcho(line))
    .join("");
}

function looksLikeHtml(text: string): boolean {
  return /^\s*<[a-z!?]/i.test(text) || /<\/[a-z]/i.test(text);
}

function pageText(html: string, isEcho: IsEcho): string {
  const blocks = visibleBlocks(html).filter(({ text }) => !isEcho(text));
  const title = blocks.find(({ isTitle }) => isTitle)?.text ?? "";
  const texts = blocks.filter((block) => !block.isTitle && block.text !== title).map(({ text }) => text);
  const isLong = texts.reduce((sum, each) => sum + each.length, 0) > MAX_CHARACTERS;
  const sentences = texts.filter((each) => each.split(" ").length > 3); // before them there are menus and the like
  const text = joined(isLong && sentences.length > 0 ? sentences : texts);
  if (!/<(html|head|body|title)\b|<!doctype/i.test(html)) return text;
  if (title === "") return text === "" ? "" : `an HTML page: ${text}`;
  return `an HTML page titled "${title}"${text === "" ? "" : `: ${text}`}`;
}

/** A comment, a section, a declaration, or a tag with its slash and name; an attribute's quoted value may contain `>`. */
const MARKUP =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[|\]\]>|<[!?][^>]*>?|<(\/?)([a-z_][^\s<>/]*)(?:[^<>"']|"[^"<]*"|'[^'<]*'|["'])*>?/gi;
/** Inline elements; every other one begins a new block. */
const INLINE = /^(a|abbr|b|big|cite|code|em|font|i|kbd|label|mark|q|s|samp|small|span|strong|sub|sup|u|var)$/;
/** Elements whose content is not shown, or is not text. */
const HIDDEN = /^(script|style|template|svg|math|iframe|object|select|textarea)$/;

interface Block {
  text: string;
  readonly isTitle: boolean;
}

/** The visible paragraphs, headings, cells and the like of a page; of XML the text of each element. */
function visibleBlocks(html: string): Block[] {
  const blocks: Block[] = [{ text: "", isTitle: false }];
  let at = 0;
  let hiddenBy: string | undefined;
  const take = (end: number) => {
    const block = blocks.at(-1);
    if (hiddenBy === undefined && block !== undefined) block.text += html.slice(at, end);
  };
  for (const { 0: markup, 1: slash, 2: written, index } of html.matchAll(MARKUP)) {
    take(index);
    at = index + markup.length;
    const name = written?.toLowerCase();
    if (name === undefined) continue;
    if (hiddenBy !== undefined) {
      if (slash === "/" && name === hiddenBy) hiddenBy = undefined;
    } else if (slash === "" && !markup.endsWith("/>") && (HIDDEN.test(name) || isSecretName(name))) {
      hiddenBy = name;
    } else if (!INLINE.test(name)) {
      blocks.push({ text: "", isTitle: slash === "" && name === "title" });
    }
  }
  take(html.length);
  return blocks
    .map(({ text, isTitle }) => ({ text: decodeHTMLStrict(text).replace(/\s+/g, " ").trim(), isTitle }))
    .filter(({ text }) => text !== "");
}

/** Enough room for a problem of each field. */
const MAX_REFUSAL_CHARACTERS = 4000;

export function refusalIn(words: readonly string[]): string {
  if (words.length === 0) return "the response does not say why.";
  return asSentence(excerpt(joined(words), MAX_REFUSAL_CHARACTERS));
}

/** The words of an unclear answer, which may be any server's, after a space; empty if there are none. */
export function saidIn(words: readonly string[]): string {
  const text = excerpt(joined(words), MAX_CHARACTERS);
  return text === "" ? "" : ` The platform said: ${asSentence(text)}`;
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function joined(words: readonly string[]): string {
  return words.map((word, at) => (at === words.length - 1 || /[.!?:;,]$/.test(word) ? word : `${word};`)).join(" ");
}
