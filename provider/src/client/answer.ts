/**
 * One answer of the platform, its body read once, and where in it something may stand: values at any depth, a refusal
 * in the documented places, and the records and ids of a kind. Pure.
 */
import { asRecord, own, parseExact, printable, type Values } from "../base/index.js";
import type { HttpResponse } from "./transport.js";

export interface ParsedResponse extends HttpResponse {
  /** The body's kind by content, not Content-Type: services of this kind send JSON as text/html and the reverse. */
  readonly kind: "json" | "html" | "text" | "empty";
  /** The body as data, where it is JSON. Such as is nested too deep for exact integers counts as broken. */
  readonly data?: unknown;
}

export function parseResponse(answer: HttpResponse): ParsedResponse {
  const text = answer.body.replace(/^\ufeff/, "").trim();
  if (text === "") return { ...answer, kind: "empty" };
  try {
    return { ...answer, kind: "json", data: parseExact(text) };
  } catch (error) {
    if (error instanceof RangeError)
      return { ...answer, kind: "text", broken: "it is nested too deep" };
    const contentType = answer.headers["content-type"] ?? "";
    const isHtml =
      /^<(!doctype html|html|head|body|\?xml)|<\/html>/i.test(text) ||
      /html/i.test(contentType);
    return { ...answer, kind: isHtml ? "html" : "text" };
  }
}

export interface Leaf {
  /** The names that lead to it, the outermost first: the innermost few of them. Positions in a list are no names. */
  readonly path: readonly string[];
  /** A string, number, boolean or null, or an empty list or object. */
  readonly value: unknown;
  readonly isEntry: boolean;
  /** True if one of the names sounds secret: it may be examined, but is never shown. */
  readonly isSecret: boolean;
  /** True beside, or below, a `message` that begins with WARNING. */
  readonly isWarned: boolean;
}

const MAX_NAMES = 8;
const SECRET_NAME =
  /passw|pwd|secret|token|cookie|session|credential|authoriz|csrf|jwt|api[-_ ]?key|^(auth|sid|pin|otp)$/i;

/** All values in their order. Without recursion, because an answer may be nested a hundred thousand times. */
export function leavesOf(root: unknown): Leaf[] {
  const leaves: Leaf[] = [];
  const stack: Leaf[] = [
    { path: [], value: root, isEntry: false, isSecret: false, isWarned: false },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { path, value, isSecret, isWarned } = next;
    if (!isFilled(value)) {
      leaves.push(next);
    } else if (Array.isArray(value)) {
      for (let at = value.length - 1; at >= 0; at--)
        stack.push({ path, value: value[at], isEntry: true, isSecret, isWarned });
    } else {
      const warns = isWarned || /^\s*WARNING/i.test(String(own(value, "message") ?? ""));
      for (const [name, part] of Object.entries(value).reverse()) {
        const names = [...path, name].slice(-MAX_NAMES);
        const isHidden = isSecret || SECRET_NAME.test(name);
        stack.push({
          path: names,
          value: part,
          isEntry: false,
          isSecret: isHidden,
          isWarned: warns,
        });
      }
    }
  }
  return leaves;
}

export function isFilled(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** A string with one of these names, or below it, is the platform's word on the request. */
const SPOKEN =
  /^(messages?|msg|errors?|(error_?)?code|error_?(message|description)|detail|description|reasons?|title|warnings?|non_field_errors|faultstring)$/i;

/** Whether a string is where answers speak: SPOKEN or a field's name, in place of data, or a sentence in any list. */
export function isSpoken(
  { path, value, isEntry }: Leaf,
  fields: readonly string[] = [],
): boolean {
  const name = path.at(-1);
  if (name === undefined || name === "payload" || fields.includes(name)) return true;
  if (path.some((part) => SPOKEN.test(part))) return true;
  return isEntry && /\s/.test(String(value));
}

/** Names of keys without values, to describe an answer whose values are not to be shown. */
export function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const names = Object.keys(asRecord(value)).filter((key) => /^\w{1,40}$/.test(key));
  if (names.length === 0) return "no known fields";
  return `its fields: ${names.slice(0, 10).join(", ")}`;
}

/** Whether a text reports an error, also beside a success. One that begins with `WARNING` accompanies real success. */
export function beginsWithError(value: unknown): boolean {
  return typeof value === "string" && /^\W*(ERROR\b|[Ee]rror\s*:)/.test(printable(value));
}

/**
 * Whether an answer says that the request was refused, in the ways that the platform is known to use: `success: false`,
 * or an entry of `errors` that begins with `ERROR`, in the answer itself, in its `payload` or under the noun.
 */
export function saysRefused({ kind, data }: ParsedResponse, noun: string | undefined): boolean {
  if (kind !== "json") return false;
  return anyPart(data, noun, (part) => {
    if (isFlaggedNo(part)) return true;
    const errors = own(part, "errors");
    return errors !== undefined && leavesOf(errors).some(({ value }) => beginsWithError(value));
  });
}

export function isFlaggedNo(part: unknown): boolean {
  return /^\s*false\s*$/i.test(String(own(part, "success")));
}

const MAX_DEPTH = 4;

/**
 * Whether `test` is true for a part of an answer that is about the request: the answer itself, its `payload`, the value
 * under the noun, and so on inward. For a list it has to be true for every entry, as it is not known which is meant.
 */
export function anyPart(
  value: unknown,
  noun: string | undefined,
  test: (part: unknown) => boolean,
  depth = 0,
): boolean {
  if (depth > MAX_DEPTH || !isFilled(value)) return false;
  if (Array.isArray(value))
    return value.every((entry) => anyPart(entry, noun, test, depth + 1));
  if (test(value)) return true;
  const inward = noun === undefined ? ["payload"] : ["payload", noun, `${noun}s`];
  return inward.some((name) => anyPart(own(value, name), noun, test, depth + 1));
}

/** Names that wrap the object, or the list of objects, of an answer. */
export const WRAPPERS = ["payload", "result", "data"];

/** What stands inside of an answer where its object, or a list of objects, may be. */
function placesIn(data: unknown, noun: string): unknown[] {
  const root = soleOf(data);
  const wrapped = WRAPPERS.map((name) => own(root, name));
  const named = [...wrapped.map(soleOf), root].flatMap((part) => [
    own(part, noun),
    own(part, `${noun}s`),
  ]);
  return [...wrapped, ...named].filter((part) => part !== undefined && part !== null);
}

/** Every record with one exact id of its own in the places where an answer may have its objects. */
export function recordsIn(data: unknown, noun: string): Values[] {
  const records = new Set([...placesIn(data, noun), data].flat().map(asRecord));
  return [...records].filter((record) => ownIdOf(record, noun) !== undefined);
}

/** All ids in these places, exact to the last digit or not. Not another object's, such as an event's advertiser_id. */
export function idsIn(data: unknown, noun: string): string[] {
  const parts = [...placesIn(data, noun), data].map(soleOf);
  const ids = [...parts, ...recordsIn(data, noun)].flatMap((part) => namedIds(part, noun));
  return [...new Set(ids)];
}

/**
 * The id of the one object that an answer is about. `undefined` if it names several, or if the id stands beside a wrapper with
 * other data, as that of a request or a job does.
 */
export function idIn(data: unknown, noun: string): string | undefined {
  const inner = placesIn(data, noun);
  const ids = inner.flatMap((part) => namedIds(soleOf(part), noun));
  if (ids.length === 0 && inner.some(isFilled)) return undefined;
  return soleId([...ids, ...namedIds(soleOf(data), noun)]);
}

/** A record's own id, if it names exactly one positive number. */
export function ownIdOf(record: unknown, noun: string): string | undefined {
  return soleId(namedIds(record, noun));
}

/** One that is not exact is `?`. */
function namedIds(record: unknown, noun: string): string[] {
  const ids = [own(record, "id"), own(record, `${noun}_id`)];
  const isInexact = (id: unknown) => typeof id === "number" && !Number.isSafeInteger(id);
  const present = ids.filter((id) => id !== undefined && id !== null);
  return present.map((id) => (isInexact(id) ? "?" : String(id).trim()));
}

function soleId(ids: readonly string[]): string | undefined {
  const [id = ""] = new Set(ids);
  if (new Set(ids).size !== 1 || !/^[1-9]\d{0,29}$/.test(id)) return undefined;
  return id;
}

function soleOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.length === 1 ? value[0] : undefined;
}

/** A text without what services change in it. */
export function folded(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase();
}
