/**
 * Parses a response's body once, and finds things in it: values at any depth, a documented refusal, and the records and
 * ids of a kind. Pure.
 */
import { hasValue, own, parseExact, printable, type Values } from "../base/index.js";
import type { HttpResponse } from "./transport.js";

export interface ParsedResponse extends HttpResponse {
  /** Found from the content rather than Content-Type: some services send JSON as text/html, or the reverse. */
  kind: "json" | "html" | "text" | "empty";
  /** The parsed body, if it is JSON. */
  data?: unknown;
}

/** Deeper JSON counts as broken, so that functions on it can be recursive. */
const MAX_DEPTH = 40;

export function parseResponse(response: HttpResponse): ParsedResponse {
  const text = response.body.trim();
  if (text === "") return { ...response, kind: "empty" };
  try {
    const data = parseExact(text);
    if (!isTooDeep(data)) return { ...response, kind: "json", data };
  } catch (error) {
    const contentType = response.headers["content-type"] ?? "";
    const isHtml =
      /^<(!doctype html|html|head|body|\?xml)|<\/html>/i.test(text) ||
      /html/i.test(contentType);
    if (!(error instanceof RangeError))
      return { ...response, kind: isHtml ? "html" : "text" };
  }
  return { ...response, kind: "text", broken: "nested too deep" };
}

function isTooDeep(value: unknown, depth = 0): boolean {
  if (!isFilled(value)) return false;
  return (
    depth > MAX_DEPTH || Object.values(value).some((part) => isTooDeep(part, depth + 1))
  );
}

export interface Leaf {
  /** The names that lead to the value, outermost first, without positions in lists. */
  path: readonly string[];
  /** A string, number, boolean or null, or an empty list or object. */
  value: unknown;
  /** The object or list that contains the value. */
  parent: unknown;
}

/** All leaves of a value, in their order. */
export function leavesOf(
  value: unknown,
  path: readonly string[] = [],
  parent?: unknown,
  leaves: Leaf[] = [],
): Leaf[] {
  if (!isFilled(value)) leaves.push({ path, value, parent });
  else {
    for (const [name, part] of Object.entries(value))
      leavesOf(part, Array.isArray(value) ? path : [...path, name], value, leaves);
  }
  return leaves;
}

function isFilled(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** A string under one of these names, at any depth, is a message about the request, not data. */
const MESSAGE_NAME =
  /^(messages?|msg|errors?|(error_?)?code|error_?(message|description)|detail|description|reasons?|title|warnings?|non_field_errors|faultstring)$/i;

/**
 * Whether a string is a message: it is under a name in MESSAGE_NAME, has a field's name, stands in place of the payload,
 * or is a sentence in a list.
 */
export function isMessage(
  { path, value, parent }: Leaf,
  fields: readonly string[] = [],
): boolean {
  const name = path.at(-1);
  if (name === undefined || name === "payload" || fields.includes(name)) return true;
  if (path.some((part) => MESSAGE_NAME.test(part))) return true;
  return Array.isArray(parent) && /\s/.test(String(value));
}

/** Whether a text begins with ERROR. Such a text may stand beside a success; WARNING always accompanies a success. */
export function beginsWithError(value: unknown): boolean {
  return typeof value === "string" && /^\W*(ERROR\b|[Ee]rror\s*:)/.test(printable(value));
}

/** Names that wrap the object, or the list of objects, of an answer. */
export const WRAPPERS = ["payload", "result", "data"];

/**
 * Every object or list, if it isn't empty, that may be the requested one: the body itself first, then those under a
 * wrapper's name, then those under the noun. A list of one counts as its entry.
 */
function candidatesIn(data: unknown, noun: string, wrappers = WRAPPERS) {
  const root = unwrapSingle(data);
  const outer = [root, ...wrappers.map((name) => unwrapSingle(own(root, name)))].filter(
    isFilled,
  );
  const parts = [...outer];
  for (const part of outer) {
    for (const name of [noun, `${noun}s`]) {
      const named = unwrapSingle(own(part, name));
      if (isFilled(named)) parts.push(named);
    }
  }
  return parts;
}

function unwrapSingle(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

/** Whether `success` has one of these values, in the body itself, in its `payload` or under the noun. */
export function hasSuccess(data: unknown, values: RegExp, noun = "payload"): boolean {
  const parts = candidatesIn(data, noun, ["payload"]);
  return parts.some((part) => values.test(String(own(part, "success")).trim()));
}

export const YES = /^(true|1)$/i;
export const NO = /^false$/i;

/** Whether a response has a documented refusal: `success: false`, or a text that begins with ERROR in `errors`. */
export function saysRefused({ data }: ParsedResponse, noun = "payload"): boolean {
  if (hasSuccess(data, NO, noun)) return true;
  const parts = candidatesIn(data, noun, ["payload"]);
  const errors = parts.map((part) => own(part, "errors")).filter(hasValue);
  return leavesOf(errors).some(({ value }) => beginsWithError(value));
}

/** The records with exactly one exact id, in all places where a response may have its objects. */
export function recordsIn(data: unknown, noun: string): Values[] {
  const records = new Set(candidatesIn(data, noun).flat() as Values[]);
  return [...records].filter((record) => ownIdOf(record, noun) !== undefined);
}

/** All ids of objects in a response; `?` if digits were lost. Not another kind's, such as an event's advertiser_id. */
export function idsIn(data: unknown, noun: string): string[] {
  return [
    ...new Set(
      candidatesIn(data, noun)
        .flat()
        .flatMap((part) => namedIds(part, noun)),
    ),
  ];
}

/**
 * The id of the one object that a response is about. `undefined` if there are several ids, or if the only id is beside
 * a wrapper that has none: it may be the id of a request or a job.
 */
export function idIn(data: unknown, noun: string): string | undefined {
  const [root, ...inner] = candidatesIn(data, noun);
  const ids = inner.flatMap((part) => namedIds(part, noun));
  if (ids.length === 0 && inner.length > 0) return undefined;
  return soleId([...ids, ...namedIds(root, noun)]);
}

/** A record's own id, if it names exactly one positive number. */
export function ownIdOf(record: unknown, noun: string): string | undefined {
  return soleId(namedIds(record, noun));
}

/** A record's ids as texts; `?` for a number that may have lost digits. */
function namedIds(record: unknown, noun: string) {
  const ids = [own(record, "id"), own(record, `${noun}_id`)].filter(hasValue);
  const isExact = (id: unknown) => typeof id === "string" || Number.isSafeInteger(id);
  return ids.map((id) => (isExact(id) ? String(id).trim() : "?"));
}

function soleId(ids: readonly string[]): string | undefined {
  const [id = "", ...others] = new Set(ids);
  return others.length === 0 && /^[1-9]\d{0,29}$/.test(id) ? id : undefined;
}

/** Normalises a text for comparison: services may change its spaces and case. */
export function folded(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase();
}
