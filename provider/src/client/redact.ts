/**
 * Text of an answer on its way to people: without secrets, without what it just gives back of the request, without what
 * could make a terminal show something else, and no longer than is read. Pure.
 */
import { excerpt, printable, type Values } from "../base/index.js";
import { decoded } from "./answer-markup.js";
import { everyLeafOf } from "./leaves.js";

/** Removes secrets that an answer echoes; must come before anything is cut, or half of one would be left. */
export type Clean = (text: string) => string;

const MASK = "[secret]";
/** `password=…`, `"password": "…"`, `token: …`: the name, what stands between, the value. */
const NAMED =
  /((?:passw(?:or)?d|passphrase|pwd|secret|(?<!unexpected )token|cookie|session[-_ ]?id|sessid|credentials?|api[-_ ]?key|csrf|jwt)[\w-]{0,30}(?:\\{0,3}["'])?)(\s{0,3}[=:]\s{0,3})(\\{0,3}"[^"]*(?:"|$)|\\{0,3}'[^']*(?:'|$)|[^\s,;&<>"']+)([^\r\n]?)/gi;
const COOKIE_HEADER = /(cookie["']?\s{0,3}:\s{0,3})["']?[^\s=;,"']{1,200}=[^\r\n<]*/gi;
const CREDENTIALS = /\b(basic|bearer|digest)\s{1,3}([\w.~+/=-]{8,})/gi;
/** What a word of a sentence never holds. */
const ODD = /[\d=._~+/-](?!$)|\d$|[a-z][A-Z]/;
/** How a sentence goes on after the name of what it is about. */
const COMPLAINT =
  /^(is|was|are|has|must|may|can|cannot|can't|not|no|too|required|missing|invalid|expired|wrong|incorrect|empty|blank|unknown)\b/i;

/** @param most characters of it. */
export function told(text: string, clean: Clean, most: number): string {
  return excerpt(printable(withoutNamedSecrets(clean(text))), most);
}

/**
 * Secrets that nobody here knows: what is called a password, a token, a cookie in a text that is no data. A sentence about a
 * password ("password: is too short") stays.
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

/** Whether a text is a value that was sent. @param isField it stands under a name of the request. */
export type IsEcho = (text: string, isField?: boolean) => boolean;

/** Shorter beginnings of a value may be anything. */
const MIN_BEGINNING = 12;

/** By the values, not by the names alone: under the name of a field may stand what is wrong with it. */
export function echoOf(sent: Values): IsEcho {
  const values = new Set<string>();
  for (const { place, value } of everyLeafOf(sent)) {
    const text = folded(String(value));
    if (text === "") continue;
    values.add(text);
    // As a line of a text or a page that shows the request.
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
  return decoded(text).trim().replace(/\s+/g, " ").toLowerCase();
}
