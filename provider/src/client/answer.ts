/**
 * One answer of the platform, with its body read once, for all code that judges an answer or quotes it to people. {@link leavesOf} gives the
 * body as a flat list of values, {@link said} the statements made of them. Decisions use only the `documented` ones, because otherwise the
 * name of an event could change what becomes of it; `words.ts` shows people all of them. Pure.
 */
import { asRecord, own, parseExact, structureIn, type Values } from "../base/index.js";
import type { HttpAnswer } from "./http.js";

export interface Answer extends HttpAnswer {
  /** The body's kind by its content, not by its Content-Type: services of this kind send JSON as text/html and the reverse. */
  readonly kind: "json" | "html" | "text" | "empty";
  /** The body as data. JSON that is nested too deep for exact integers has the kind `text`: people see it, but it decides nothing. */
  readonly data?: unknown;
}

export function readAnswer(answer: HttpAnswer): Answer {
  const text = answer.body.replace(/^\ufeff/, "").trim();
  if (text === "") return { ...answer, kind: "empty" };
  try {
    return { ...answer, kind: "json", data: parseExact(text) };
  } catch {
    const contentType = answer.headers["content-type"] ?? "";
    const isHtml = /^<(!doctype html|html|head|body|\?xml)|<\/html>/i.test(text) || /html/i.test(contentType);
    return { ...answer, kind: isHtml ? "html" : "text", data: structureIn(text) };
  }
}

/** The place of a value in an answer, as names from the inside out. Positions in a list do not count as names. */
export interface Place {
  readonly name: string;
  readonly parent: Place | undefined;
  readonly depth: number;
  /** True if one of the names sounds secret. */
  readonly isSecret: boolean;
}

export interface Leaf {
  readonly place: Place | undefined;
  /** A string, number, boolean or null, or an empty list or object. */
  readonly value: unknown;
  /** The object that the value is a property of; absent for an entry of a list. */
  readonly holder: object | undefined;
  readonly isEntry: boolean;
}

/** @param strings how many more levels of JSON in strings are read as data within it. */
type ToVisit = Leaf & { readonly strings: number };

/**
 * Lists all values in their order. Without recursion, because an answer may be nested a hundred thousand times.
 * @param strings how many times JSON in a string is read as data: an echo of a request may be a string.
 */
export function* leavesOf(root: unknown, strings = 0): Generator<Leaf, undefined> {
  const stack: ToVisit[] = [{ place: undefined, value: root, holder: undefined, isEntry: false, strings }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { place } = next;
    const embedded = typeof next.value === "string" && next.strings > 0 ? structureIn(next.value) : undefined;
    const value = embedded ?? next.value;
    if (typeof value !== "object" || value === null || isEmpty(value)) {
      yield embedded === undefined ? next : { ...next, value };
      continue;
    }
    const left = embedded === undefined ? next.strings : next.strings - 1;
    if (Array.isArray(value)) {
      for (let at = value.length - 1; at >= 0; at--)
        stack.push({ place, value: value[at], holder: undefined, isEntry: true, strings: left });
    } else {
      for (const [name, part] of Object.entries(value).reverse())
        stack.push({ place: placeBelow(place, name), value: part, holder: value, isEntry: false, strings: left });
    }
  }
}

function placeBelow(parent: Place | undefined, name: string): Place {
  return { name, parent, depth: (parent?.depth ?? 0) + 1, isSecret: parent?.isSecret === true || isSecretName(name) };
}

const SECRET_PART =
  /passw|passphrase|passcode|pwd|secret|token|cookie|session|sess_?id|credential|authoriz|csrf|xsrf|jwt|bearer|(api|access|private|signing|encryption|account|client)[-_ ]?key/i;
/** These count only as whole words: an author is not secret. */
const SECRET_WORDS = /pass|auth|private|sid|pin|otp|sig/i;
const SECRET_WORD = /^(pass|auth|authentication|private|sid|pin|otp|sig|signature)$/i;

/** Whether a value with this name may be secret, even if it reads like a sentence. */
export function isSecretName(name: string): boolean {
  if (SECRET_PART.test(name)) return true;
  if (!SECRET_WORDS.test(name)) return false;
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return words.some((word) => SECRET_WORD.test(word));
}

export function isEmpty(value: object): boolean {
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** The names that lead to a place, the outermost first; at most the innermost `most` of them. */
export function namesTo(place: Place | undefined, most: number): string[] {
  const names: string[] = [];
  for (let at = place; at !== undefined && names.length < most; at = at.parent) names.push(at.name);
  return names.reverse();
}

export interface Statement {
  /** The names that lead to it, the outermost first: the innermost {@link MAX_NAMES} of them. */
  readonly path: readonly string[];
  /** The field that is named beside it in the same object. */
  readonly subject?: string;
  /** A code, alone or beside the text, with its name. */
  readonly code?: { readonly name: string; readonly value: string };
  /** Empty for a code alone. */
  readonly text: string;
  /** `documented` if it is in a place where the platform is known to report about a request. */
  readonly where: "documented" | "elsewhere";
  /** True if its name sounds secret: it may be examined, but is never shown. */
  readonly isSecret: boolean;
}

const MAX_NAMES = 6;
/** How many levels of JSON in strings are read. */
const STRINGS = 2;

/** Fields with an answer's sentence, or a list of sentences. */
const SENTENCES = ["message", "detail", "error", "error_description", "description", "reason", "title"];
/** Below these every string is a statement, under any name. */
const LISTS = ["errors", "error", "messages", "warnings", "non_field_errors", "detail"];
const CODES = ["error_code", "code", "errorCode", "errorcode"];
/** In an object with a sentence these name the field that the sentence is about. */
const SUBJECTS = ["field", "field_name", "param", "parameter", "property"];

const read = new WeakMap<Answer, readonly Statement[]>();

/** All statements of an answer, in their order; none of a page, or of a body that is not whole. */
export function said(answer: Answer): readonly Statement[] {
  const known = read.get(answer);
  if (known !== undefined) return known;
  const statements = statementsOf(answer);
  read.set(answer, statements);
  return statements;
}

/** The statements that may decide something. */
export function documented(answer: Answer): readonly Statement[] {
  return said(answer).filter(({ where }) => where === "documented");
}

/** The names that say what a statement is about, without those under which any statement may be. */
export function aboutOf({ path, subject }: Statement): string[] {
  const names = path.filter((name) => !PLAIN.has(name) && !/^\d+$/.test(name));
  return subject === undefined ? names : [...names, subject];
}

const PLAIN: ReadonlySet<string> = new Set([
  ...SENTENCES,
  ...LISTS,
  ...CODES,
  "msg",
  "text",
  "payload",
  "data",
  "result",
]);

function statementsOf({ broken, kind, body, data }: Answer): Statement[] {
  if (broken !== undefined) return []; // half of a sentence may say the opposite
  if (kind === "text" && data === undefined) return [{ path: [], text: body, where: "documented", isSecret: false }];
  const statements: Statement[] = [];
  for (const leaf of leavesOf(data, STRINGS)) {
    const statement = statementIn(leaf);
    if (statement === undefined) continue;
    statements.push(kind === "json" ? statement : { ...statement, where: "elsewhere" });
  }
  return statements;
}

function statementIn({ place, value, holder }: Leaf): Statement | undefined {
  const name = place?.name ?? "";
  const isCode = CODES.includes(name) && /^[\w.:-]{1,60}$/.test(String(value));
  if (typeof value !== "string" && !(isCode && typeof value === "number")) return undefined;
  const text = String(value);
  const path = namesTo(place, MAX_NAMES);
  const isDocumented = (place?.depth ?? 0) <= MAX_NAMES && isWhereAnswersSpeak(path);
  const common = {
    path,
    isSecret: place?.isSecret === true,
    where: isDocumented ? ("documented" as const) : ("elsewhere" as const),
  };
  const main = SENTENCES.find((each) => typeof own(holder, each) === "string");
  if (isCode) return main === undefined ? { ...common, text: "", code: { name, value: text } } : undefined;
  const subject = subjectIn(holder);
  if (name === main) {
    const code = codeIn(holder);
    return { ...common, text, ...(subject === undefined ? {} : { subject }), ...(code === undefined ? {} : { code }) };
  }
  // Values beside an object's sentence say where, of what sort or in which language.
  const isBeside = main !== undefined && !SENTENCES.includes(name) && !LISTS.includes(name);
  return isBeside ? { ...common, text, where: "elsewhere" } : { ...common, text };
}

/** `message`, `payload.message`, everything below `errors`; directly in the payload, only texts. */
function isWhereAnswersSpeak(path: readonly string[]): boolean {
  const [first, ...below] = path.slice(path.findIndex((name) => name !== "payload"));
  if (first === undefined || first === "payload") return true;
  return LISTS.includes(first) || (below.length === 0 && (SENTENCES.includes(first) || CODES.includes(first)));
}

function subjectIn(holder: object | undefined): string | undefined {
  const subjects = SUBJECTS.map((name) => own(holder, name));
  return subjects.find((each): each is string => typeof each === "string" && /^[\w.[\]-]{1,60}$/.test(each));
}

function codeIn(holder: object | undefined): Statement["code"] {
  const name = CODES.find((each) => /^[\w.:-]{1,60}$/.test(String(own(holder, each) ?? "")));
  return name === undefined ? undefined : { name, value: String(own(holder, name)) };
}

/** Names that wrap the object, or the list of objects, of an answer. */
export const WRAPPERS = ["payload", "result", "data"];

/**
 * The id of the object that an answer is about, exact to the last digit; never another object's, such as an event's advertiser_id. None if
 * there are several, or if it stands beside a wrapper with other data, as the id of a request or a job does.
 */
export function idIn(value: unknown, noun: string): string | undefined {
  const root = soleOf(value);
  const parts = [...partsIn(root, noun)].filter((part) => part !== root || !isWrapping(root, noun));
  const [id, ...others] = idsOf(parts, noun);
  return others.length > 0 ? undefined : id;
}

/** All ids in the places where an answer may have that of its object. */
export function idsIn(value: unknown, noun: string): string[] {
  return idsOf([...partsIn(soleOf(value), noun)], noun);
}

function idsOf(parts: readonly unknown[], noun: string): string[] {
  return [...new Set(parts.flatMap((part) => ownIdOf(soleOf(part), noun) ?? []))];
}

/** Whether something is in a wrapper, or under the noun; a text there is a message. */
function isWrapping(value: unknown, noun: string): boolean {
  return [...WRAPPERS, noun, `${noun}s`].some((name) => {
    const part = own(value, name);
    return typeof part === "object" && part !== null && !isEmpty(part);
  });
}

/** An object's own id; none if it has two different ones. */
export function ownIdOf(record: unknown, noun: string): string | undefined {
  const [id, named] = [asId(own(record, "id")), asId(own(record, `${noun}_id`))];
  return id !== undefined && named !== undefined && id !== named ? undefined : (id ?? named);
}

/** The parts of an answer that may be the object, or a list of objects: the inner ones first. */
export function* partsIn(value: unknown, noun: string): Generator<unknown, undefined> {
  for (const name of WRAPPERS) {
    const part = own(value, name);
    yield part;
    yield* namedIn(soleOf(part), noun);
  }
  yield value;
  yield* namedIn(value, noun);
}

const namedIn = (value: unknown, noun: string) => [own(value, noun), own(value, `${noun}s`)];

/** Every object in an answer that may be one of the requested ones. */
export function recordsIn(value: unknown, noun: string): Values[] {
  const parts = Array.isArray(value) ? [value] : [...partsIn(value, noun)];
  const records = parts.flatMap((part) => (Array.isArray(part) ? part : [part])).map(asRecord);
  return [...new Set(records)].filter((record) => ownIdOf(record, noun) !== undefined);
}

/** The only object of a list with one. */
function soleOf(value: unknown): unknown {
  return Array.isArray(value) ? (value.length === 1 ? value[0] : undefined) : value;
}

function asId(value: unknown): string | undefined {
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  return typeof text === "string" && /^\d{1,30}$/.test(text.trim()) ? text.trim() : undefined;
}
