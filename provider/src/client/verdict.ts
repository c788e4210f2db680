/**
 * What an answer says of itself, for whoever decides by it. Narrow on purpose: of all that stands in an answer, only fields
 * that are known to speak of the request count, or the name of an event could change what becomes of it. Pure.
 */
import { excerpt, own, printable } from "../base/index.js";
import type { Answer } from "./answer.js";
import { type Leaf, leavesOf, namesTo } from "./leaves.js";

/** Fields that hold a sentence. */
const SENTENCES = ["message", "detail", "error", "error_description", "description", "reason", "title"];
/** Below these each string is one, under whatever name. */
const LISTS = ["errors", "error", "messages", "warnings", "non_field_errors", "detail"];
const CODES = ["error_code", "code"];
/** In an object that holds a sentence: what the sentence is about. */
const SUBJECTS = ["field", "field_name", "param", "parameter", "property"];

const MAX_DEPTH = 4;
const MAX_STATED = 20;
const MAX_CHARACTERS = 500;

/** Whether an answer says itself that it refuses: by a flag, or by an entry of `errors` that begins with `ERROR:`. */
export function saysRefused({ kind, data }: Answer, noun: string | undefined): boolean {
  return kind === "json" && anyPart(data, noun, (part) => saysNo(part) || hasError(own(part, "errors")));
}

/** Whether an answer is JSON with a `success` flag that says no. */
export function isFlaggedFailure({ kind, data }: Answer): boolean {
  return kind === "json" && anyPart(data, undefined, saysNo);
}

/**
 * Whether `test` holds for a part of the answer that speaks of the create: the answer itself, what stands in its
 * `payload` or under the noun, and so on inward. For a list only where it holds for each entry: of several, nobody knows
 * which is meant.
 */
export function anyPart(value: unknown, noun: string | undefined, test: (part: unknown) => boolean): boolean {
  return anyPartBelow(value, noun === undefined ? ["payload"] : ["payload", noun, `${noun}s`], test, 0);
}

function anyPartBelow(
  value: unknown,
  inward: readonly string[],
  test: (part: unknown) => boolean,
  depth: number,
): boolean {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    return value.length > 0 && value.every((entry) => anyPartBelow(entry, inward, test, depth + 1));
  }
  return test(value) || inward.some((name) => anyPartBelow(own(value, name), inward, test, depth + 1));
}

/** A `success` flag, as a boolean or as a string. */
function saysNo(value: unknown): boolean {
  const flag = own(value, "success");
  return flag === false || (typeof flag === "string" && flag.trim().toLowerCase() === "false");
}

/** The entry as it came, without its field in front, and each one, however many there are. */
function hasError(errors: unknown): boolean {
  if (errors === undefined) return false; // as in nearly every answer
  for (const leaf of leavesOf(errors)) {
    if (!isBesideSentence(leaf) && /^\s*ERROR\s*:/i.test(printable(String(leaf.value)))) return true;
  }
  return false;
}

/**
 * The sentences of a whole answer, with the field that they are about in front; a code with its field's name. Looked at,
 * never shown. None of HTML.
 */
export function statedBy(answer: Answer): string[] {
  // Where it was cut, what it states may be half of a sentence.
  if (answer.broken !== undefined || answer.kind === "html") return [];
  if (answer.kind === "text") return [shortened(answer.body)];
  const stated = new Set<string>();
  for (const leaf of leavesOf(answer.data)) {
    const sentence = shortened(statementIn(leaf));
    if (sentence !== "") stated.add(sentence);
    if (stated.size === MAX_STATED) break;
  }
  return [...stated];
}

/** A sentence that stands where sentences stand, or an empty string. */
function statementIn(leaf: Leaf): string {
  const { place, value, holder } = leaf;
  const names = namesTo(place);
  while (names[0] === "payload") names.shift();
  const [first = "", ...below] = names;
  const isDirect = below.length === 0 && holder !== undefined; // not in a list
  if (isDirect && CODES.includes(first)) return `${first} ${value}`;
  if (typeof value !== "string") return "";
  if (first === "") return value;
  if (!LISTS.includes(first) && !(isDirect && SENTENCES.includes(first))) return "";
  if (below.length > 0 && isBesideSentence(leaf)) return "";
  const about = below.filter((name) => !SENTENCES.includes(name) && !CODES.includes(name) && !/^\d+$/.test(name));
  const label = [...about, subjectOf(holder) ?? ""].filter((name) => name !== "").join(".");
  return label === "" ? value : `${label}: ${value}`;
}

/** In an object that names its field, only the sentence counts, and its code. */
function isBesideSentence({ place, holder }: Leaf): boolean {
  const name = place?.name ?? "";
  return subjectOf(holder) !== undefined && !SENTENCES.includes(name) && !CODES.includes(name);
}

/** The field that an object with a sentence names; an object keyed by field may have one of that name, with words in it. */
function subjectOf(holder: object | undefined): string | undefined {
  if (!SENTENCES.some((name) => typeof own(holder, name) === "string")) return undefined;
  const subjects = SUBJECTS.map((name) => own(holder, name));
  return subjects.find(
    (subject): subject is string => typeof subject === "string" && /^[\w.[\]-]{1,60}$/.test(subject),
  );
}

function shortened(sentence: string): string {
  return excerpt(printable(sentence), MAX_CHARACTERS);
}
