/**
 * The platform's own words in an answer. The promise is: a refusal that holds readable text is never told without it. So
 * every sentence is quoted, wherever it stands, but for the values that were sent and what stands under a name that sounds
 * secret; where nothing reads like a sentence, what can be read at all. Pure.
 */
import { excerpt, own, type Values } from "../base/index.js";
import type { Answer } from "./answer.js";
import { visibleSentence, visibleText } from "./answer-page.js";
import { isToldBehind, labelled, labelOf, mainNameOf, type Naming } from "./label.js";
import { everyLeafOf, type Leaf, type Place } from "./leaves.js";
import { isNamed, isStatusFlag } from "./names.js";
import { type Clean, echoOf, told } from "./redact.js";
import { anyPart } from "./verdict.js";

export interface Reading {
  /** The resource's name on the wire. */
  readonly noun?: string | undefined;
  /** Names of the resource's fields on the wire: what is said of them comes first. */
  readonly fields: readonly string[];
  /** What was sent, by its names on the wire: what comes back of its values is an echo. */
  readonly sent: Values;
  /** Removes secrets. */
  readonly clean: Clean;
}

interface Context extends Naming {
  readonly clean: Clean;
  readonly status: number;
}

/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_WORDS = 20;
const MAX_CHARACTERS = 500;
/** Of each rank; more than are told, since several may say the same. */
const MAX_CANDIDATES = 200;

/** Words of a refusal: a single one of them says enough. */
const COMPLAINT =
  /^(no|never|required?|(in)?valid|unknown|taken|exists?|missing|exceeded|blank|empty|unsupported|wrong|failed|inactive|duplicated?|forbidden|denied|expired|conflict|disabled|unavailable|overloaded)[.!]*$/i;
/** Written without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]{4}/u;
/** A word of a date: `Fri`, `12`, `Mar`, `2026-01-01`, `10:00:00`, `GMT`. */
const OF_A_DATE =
  /^(\d[\d:.tz/+-]*|[+-]\d+|(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?|(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}|utc|gmt|am|pm)$/i;
/** A word of so many mixed letters and digits that it may be a key or the id of a session. */
const OPAQUE = /^((?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w+/=.~-]{20,}|(?=.*\d)([\da-f]{24,}|[\dA-F]{24,}))$/;

/** What a leaf is, in the order in which it is told; the last two only where nothing but codes was found before. */
type Rank = "message" | "code" | "sentence" | "person" | "word";

/**
 * @returns each sentence once, fit to be shown, with the path in front where it helps: first what stands under names that
 *   messages stand under and under those of the request's fields, then codes, then what stands elsewhere.
 */
export function wordsOf(answer: Answer, reading: Reading): string[] {
  // Where it was cut, half of a secret may be left, which nobody could recognise.
  if (answer.broken !== undefined || answer.kind === "empty") return [];
  const context = contextOf(answer, reading);
  if (answer.data !== undefined) return wordsIn(answer.data, context);
  const { clean, isEcho } = context;
  const word = told(visibleText(answer.body, answer.kind === "html", clean, isEcho), clean, MAX_CHARACTERS);
  return word === "" ? [] : [word];
}

/** What stands in `errors` beside a success, wherever that is. */
export function warningsOf(answer: Answer, reading: Reading): string[] {
  const warnings: object[] = [];
  anyPart(answer.data, reading.noun, (part) => {
    const errors = own(part, "errors");
    if (errors !== undefined) warnings.push({ errors });
    return false; // on to the next part
  });
  if (warnings.length === 0) return []; // as after nearly every create
  const context = contextOf(answer, reading);
  return [...new Set(warnings.flatMap((each) => wordsIn(each, context)))].slice(0, MAX_WORDS);
}

function contextOf({ status }: Answer, { noun, fields, sent, clean }: Reading): Context {
  return { noun, known: new Set([...fields, ...Object.keys(sent)]), isEcho: echoOf(sent), clean, status };
}

function wordsIn(data: unknown, context: Context): string[] {
  const found: Record<Rank, Leaf[]> = { message: [], code: [], sentence: [], person: [], word: [] };
  let withheld: Place | undefined;
  for (const leaf of everyLeafOf(data)) {
    if (leaf.place?.isSecret === true) {
      if (typeof leaf.value === "string" && leaf.value !== "") withheld ??= leaf.place;
      continue;
    }
    const rank = rankOf(leaf, context);
    if (rank === undefined || found[rank].length >= MAX_CANDIDATES) continue;
    if (!context.isEcho(String(leaf.value), context.known.has(leaf.place?.name ?? ""))) found[rank].push(leaf);
  }
  const tell = (rank: Rank) => tellAll(found[rank], context);
  const [messages, codes, sentences] = [tell("message"), tell("code"), tell("sentence")];
  const rest = messages.length + sentences.length > 0 ? [] : [...tell("person"), ...tell("word")];
  const words = [...new Set([...messages, ...codes, ...sentences, ...rest])].slice(0, MAX_WORDS);
  return words.length > 0 || withheld === undefined ? words : [tellWithheld(withheld, context)];
}

function rankOf(leaf: Leaf, context: Context): Rank | undefined {
  const { place, value, holder, isName } = leaf;
  const name = place?.name ?? "";
  const text = String(value).trim();
  if (isName) return isSentence(text) ? "word" : undefined;
  if (isCode(name, text)) {
    // In a list of problems it is told with its sentence.
    return text === "" || text === String(context.status) || isToldBehind(leaf) ? undefined : "code";
  }
  if (typeof value === "number" || !/[\p{L}\p{N}]/u.test(text) || isStatusFlag(name, text)) return undefined;
  if (OPAQUE.test(text) || isDate(text)) return undefined;
  const isMessage = place === undefined || isNamed(name, "message");
  if (place?.isPersonal === true && !isMessage) return isSentence(text) ? "person" : undefined;
  if (isMessage) return "message";
  if (isSentence(text)) return context.known.has(name) || place.isAmongErrors ? "message" : "sentence";
  // `errors: { event_name: "too_long" }`; but beside a message it is what that is about, its type, its class.
  return place.isAmongErrors && mainNameOf(holder) === undefined && !isNamed(name, "aside") ? "message" : "word";
}

function isCode(name: string, text: string): boolean {
  return isNamed(name, "code") && !/\s/.test(text);
}

function isSentence(text: string): boolean {
  if (UNSPACED.test(text)) return true;
  if (!/\s/.test(text)) return COMPLAINT.test(text);
  return /\p{L}{2}/u.test(text);
}

function isDate(text: string): boolean {
  return text.length < 60 && text.split(/[\s,]+/).every((word) => OF_A_DATE.test(word));
}

function tellAll(leaves: readonly Leaf[], context: Context): string[] {
  const words = new Set<string>();
  for (const leaf of leaves) {
    if (words.size >= MAX_WORDS) break;
    const word = tell(leaf, context);
    if (word !== "") words.add(word);
  }
  return [...words];
}

function tell(leaf: Leaf, context: Context): string {
  const { place, value } = leaf;
  const { clean } = context;
  const name = place?.name ?? "";
  if (isCode(name, String(value).trim())) return told(`${name} ${value}`, clean, MAX_CHARACTERS);
  const text = visibleSentence(String(value), clean);
  return text === "" ? "" : told(labelled(leaf, text, context), clean, MAX_CHARACTERS);
}

/** So that people know where to look, with means of their own. */
function tellWithheld(place: Place, context: Context): string {
  const label = told(labelOf(place, context), context.clean, MAX_CHARACTERS);
  const where = label === "" ? "a name that sounds" : `"${label}", a name that sounds`;
  return `what it says stands under ${where} secret, and is not shown`;
}

/** Room for what is wrong with each field. */
const MAX_REFUSAL_CHARACTERS = 4000;
/** Of an answer in doubt, which may be any server's. */
const MAX_SAID_CHARACTERS = 500;

/** The platform's words of a refusal, as sentences. */
export function refusalIn(words: readonly string[]): string {
  if (words.length === 0) return "the answer holds no words that say why.";
  return asSentence(excerpt(joined(words), MAX_REFUSAL_CHARACTERS));
}

/** The platform's words of an answer in doubt, with a space in front; empty without any. */
export function saidIn(words: readonly string[]): string {
  const text = excerpt(joined(words), MAX_SAID_CHARACTERS);
  return text === "" ? "" : ` The platform said: ${asSentence(text)}`;
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function joined(words: readonly string[]): string {
  return words.map((word, at) => (at === words.length - 1 || /[.!?:;]$/.test(word) ? word : `${word};`)).join(" ");
}
