/**
 * Reads a response's body once into what all others ask of it: its values at any depth, its messages, a documented
 * refusal, and the records and ids of a kind. Pure.
 */
import { hasValue, own, parseExact, printable, type Values } from "../base/index.js";
import type { HttpResponse } from "./transport.js";

export interface ParsedResponse extends HttpResponse {
  /**
   * Found from the content rather than Content-Type: some services send JSON as text/html, or the reverse. `broken`: the
   * body is incomplete or unreadable, whatever of it could be parsed.
   */
  kind: "json" | "html" | "text" | "empty" | "broken";
  /** The parsed body, if it is JSON. */
  data?: unknown;
  /** Those of the JSON, or the text as one. */
  leaves: readonly Leaf[];
}

/** Names that wrap the object, or the list of objects, of an answer. */
export const WRAPPERS = ["payload", "result", "data"];

const PLAIN =
  "messages?|msg|errors?|warnings?|detail|description|reasons?|title|non_field_errors";

const named = (pattern: string) => new RegExp(`^(${pattern})$`, "i");
const outcome = (verb: string) => named(`(is_?)?(${verb})|count|affected.*`);

/** Meanings of field names, at any depth: one table for every reader of a body. */
export const FIELD = {
  /** A string here is a message about the request, not data. */
  message: named(`${PLAIN}|(error_?)?code|error_?(message|description)|faultstring`),
  /** Says nothing about the subject of a message. */
  plain: named(`${PLAIN}|${WRAPPERS.join("|")}|\\d+`),
  /** May stand in a message: a name, rather than data. */
  shown: /^[\p{L}\p{N}_.$@[\]-]{1,60}$/u,
  secret:
    /passw|pwd|secret|token|cookie|session|credential|authoriz|csrf|jwt|api[-_ ]?key|^(auth|sid|pin|otp)$/i,
  flag: named("(is_?)?(success(ful)?|ok)"),
  state: named("(status|result|outcome)(_?code)?"),
  error: named("errors?(_?(code|message|description))?|failed|failures?"),
  /** The response may say here whether it did what was asked, such as `"created": false` or `"count": 0`. */
  created: outcome("created|saved"),
  changed: outcome("updated|changed|modified|saved"),
  deleted: outcome("deleted|removed"),
};

/** Meanings of texts and plain values. */
export const VALUE = {
  yes: /^(true|1)$/i,
  failed:
    /^(nok|ko|no|false|err(or)?|fail(ed|ure)?|denied|refused|rejected|unsuccessful|[45]\d\d)$/i,
  unfinished: /^(0|queued|pending|accepted|scheduled|processing|in[ _]progress)$/i,
  warning: /^\s*WARNING/i,
  login:
    /\b(log(ged)?[ -]?(in|out|on)|sign(ed)?[ -]?(in|on|out)|session|cookie|(un|re)?authenticat\w*|credentials?)\b/i,
  /** Parsers use "token" for an unexpected part of a body. */
  syntax: /\b(json(?! +web)|unexpected|syntax|position|line|column|offset|character)\b/i,
  /** Uninformative beside a bare status. `Unauthorized` alone means the login; with more words, a permission. */
  bare: /^(\W|error|\d{3}|unauthori[sz]ed|not authori[sz]ed|forbidden|(access )?denied)*$/i,
};

/** Values that may stand beside an empty list: `name=value`, the name in lower case and without separators. */
export const HARMLESS = [
  /^(is)?(success(ful)?|ok)=(true|1)$/,
  /^(status(code)?|code|result|messages?|msg|detail)=(ok|success|200)$/,
  /^(errors?|warnings?|error(code|message)|messages?)=(false|0|none)?$/,
  /^((has)?more|next|prev(ious)?|meta|links)=(false|0)?$/,
  /^(total|count|found|results|records|offset)+=0$/,
  /^(current|last|total)?pages?=[01]$/,
  /^limit=[1-9]\d*$/,
];

/** Deeper JSON counts as broken, so that functions on it can be recursive. */
const MAX_DEPTH = 40;

export function parseResponse(response: HttpResponse): ParsedResponse {
  const answer = { ...response, leaves: [] };
  const text = response.body.trim();
  if (response.broken !== undefined) return { ...answer, kind: "broken" };
  if (text === "") return { ...answer, kind: "empty" };
  try {
    const data = parseExact(text);
    return { ...answer, kind: "json", data, leaves: leavesOf(data) };
  } catch (error) {
    if (error instanceof RangeError)
      return { ...answer, kind: "broken", broken: error.message };
  }
  const type = response.headers["content-type"] ?? "";
  if (/^<(!doctype html|html|head|body|\?xml)|<\/html>/i.test(text) || /html/i.test(type))
    return { ...answer, kind: "html" };
  return { ...answer, kind: "text", leaves: leavesOf(text) };
}

export interface Leaf {
  /** The names that lead to the value, outermost first, without positions in lists. */
  path: readonly string[];
  /** A string, number, boolean or null, or an empty list or object. */
  value: unknown;
  /** The object or list that contains the value. */
  parent: unknown;
}

/** All leaves of a value, in their order. @throws RangeError if it is nested too deep */
export function leavesOf(
  value: unknown,
  path: readonly string[] = [],
  parent?: unknown,
  depth = 0,
): Leaf[] {
  if (!isFilled(value)) return [{ path, value, parent }];
  if (depth > MAX_DEPTH) throw new RangeError("nested too deep");
  return Object.entries(value).flatMap(([name, part]) =>
    leavesOf(part, Array.isArray(value) ? path : [...path, name], value, depth + 1),
  );
}

function isFilled(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/**
 * The strings that are messages: those under a message's name or with a field's name, in place of the body or its
 * payload, and sentences in a list.
 */
export function messagesIn(leaves: readonly Leaf[], fields: readonly string[] = []) {
  return leaves.flatMap(({ path, value, parent }) => {
    if (typeof value !== "string") return [];
    const name = path.at(-1) ?? "payload";
    const isMessage =
      ["payload", ...fields].includes(name) ||
      path.some((part) => FIELD.message.test(part)) ||
      (Array.isArray(parent) && /\s/.test(value));
    return isMessage ? [{ path, text: value.trim() }] : [];
  });
}

/** Whether a text begins with ERROR. Such a text may stand beside a success; WARNING always accompanies a success. */
export function beginsWithError(value: unknown) {
  return typeof value === "string" && /^\W*(ERROR\b|[Ee]rror\s*:)/.test(printable(value));
}

/** A response's statements about its request, and about the objects of one kind. */
export interface Findings {
  /** Whether `success` says yes: in the body itself, in its `payload` or under the noun. */
  isSuccess: boolean;
  /** Whether `success` says no there. */
  isFailure: boolean;
  /** Whether there is a documented refusal: `success: false`, or a text that begins with ERROR in `errors`. */
  isRefused: boolean;
  /** The records with exactly one exact id, in all places where a response may have its objects. */
  records: readonly Values[];
  /** All ids of objects; `?` if digits were lost. Not another kind's, such as an event's advertiser_id. */
  ids: readonly string[];
  /**
   * The id of the one object that the response is about. `undefined` if there are several ids, or if the only id is
   * beside a wrapper that has none: it may be the id of a request or a job.
   */
  id: string | undefined;
}

export function findingsIn(data: unknown, noun = "payload") {
  const flagged = candidatesIn(data, noun, ["payload"]);
  const flags = flagged.map((part) => folded(String(own(part, "success"))));
  const isFailure = flags.includes("false");
  const errors = flagged.map((part) => own(part, "errors"));
  const candidates = candidatesIn(data, noun);
  const parts = [...new Set(candidates.flat() as Values[])];
  const [outer = [], ...inner] = candidates.map((part) => namedIds(part, noun));
  const innerIds = inner.flat();
  return {
    isSuccess: flags.some((flag) => VALUE.yes.test(flag)),
    isFailure,
    isRefused: isFailure || leavesOf(errors).some(({ value }) => beginsWithError(value)),
    records: parts.filter((part) => ownIdOf(part, noun) !== undefined),
    ids: [...new Set(parts.flatMap((part) => namedIds(part, noun)))],
    id:
      innerIds.length === 0 && inner.length > 0
        ? undefined
        : soleId([...innerIds, ...outer]),
  };
}

/**
 * Every object or list, if it isn't empty, that may be the requested one: the body itself first, then those under a
 * wrapper's name, then those under the noun. A list of one counts as its entry.
 */
function candidatesIn(data: unknown, noun: string, wrappers = WRAPPERS) {
  const partsOf = (part: unknown, names: readonly string[]) =>
    names.map((name) => unwrapSingle(own(part, name))).filter(isFilled);
  const root = unwrapSingle(data);
  const outer = [root].filter(isFilled).concat(partsOf(root, wrappers));
  return [...outer, ...outer.flatMap((part) => partsOf(part, [noun, `${noun}s`]))];
}

function unwrapSingle(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

/** A record's own id, if it names exactly one positive number. */
export function ownIdOf(record: unknown, noun: string) {
  return soleId(namedIds(record, noun));
}

/** A record's ids as texts; `?` for a number that may have lost digits. */
function namedIds(record: unknown, noun: string) {
  const ids = [own(record, "id"), own(record, `${noun}_id`)].filter(hasValue);
  const isExact = (id: unknown) => typeof id === "string" || Number.isSafeInteger(id);
  return ids.map((id) => (isExact(id) ? String(id).trim() : "?"));
}

function soleId(ids: readonly string[]) {
  const [id = "", ...others] = new Set(ids);
  if (others.length === 0 && /^[1-9]\d{0,29}$/.test(id)) return id;
}

/** Normalises a text for comparison: services may change its spaces and case. */
export function folded(text: string) {
  return text.trim().replace(/\s+/g, " ").toLowerCase();
}
