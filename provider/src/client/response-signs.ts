/**
 * What an answer says: something went wrong, there is no object, the session is the trouble. `classify-response.ts` makes outcomes
 * of it. The answer to an expired session is undocumented: all ways of services of this kind are recognised. Pure.
 */
import type { Values } from "../base/index.js";
import {
  type Answer,
  anyPart,
  beginsWithError,
  isFilled,
  isFlaggedNo,
  isSpoken,
  type Leaf,
  leavesOf,
  ownIdOf,
  recordsIn,
  saysRefused,
  WRAPPERS,
} from "./answer.js";

/** Data with a status that says that it was done. 202 and 207 only say that something may have succeeded. */
export function isMade({ status, kind, broken }: Answer): boolean {
  return (status === 200 || status === 201) && kind === "json" && broken === undefined;
}

/** What was to be done, with the names under which an answer may say whether it was. */
const DONE = {
  created: /^(is_?)?(created|saved)$|^count$|^affected/i,
  changed: /^(is_?)?(updated|changed|modified|saved)$|^count$|^affected/i,
  deleted: /^(is_?)?(deleted|removed)$|^count$|^affected/i,
  none: /^$/,
} as const;

export const isYes = (value: unknown) => /^\s*(true|1)\s*$/i.test(String(value));
const isNothing = (value: unknown) => /^(false|0|none|null|)$/.test(String(value)) || isHollow(value);
const isHollow = (value: unknown) => typeof value === "object" && value !== null && !isFilled(value);
const FLAG = /^(is_?)?(success(ful)?|ok)$/i;
const STATE = /^(status|result|outcome)(_?code)?$/i;
const FAILED = /^(nok|ko|no|false|err(or)?|fail(ed|ure)?|denied|refused|rejected|unsuccessful|[45]\d\d)$/i;
const UNFINISHED = /^(0|queued|pending|accepted|scheduled|processing|in[ _]progress)$/i;
const ERROR = /^(errors?(_?(code|message|description))?|failed|failures?)$/i;

/** Whether a value says that something went wrong, by its name and those around it. */
function saysNo({ path, value, isWarned }: Leaf): boolean {
  const name = path.at(-1) ?? "";
  if (FLAG.test(name)) return !isYes(value);
  if (STATE.test(name)) return FAILED.test(String(value).trim());
  const isWarning = (isWarned && path.includes("errors")) || /^\s*WARNING/i.test(String(value));
  return path.some((each) => ERROR.test(each)) && !isNothing(value) && !isWarning;
}

/** Whether a value casts doubt on the act: a count of nothing, a wrapper with nothing, a state that is not the end. */
function isDoubtful({ path, value }: Leaf, act: keyof typeof DONE, isRecord: boolean): boolean {
  const name = path.at(-1) ?? "";
  if (DONE[act].test(name)) return /^(0|false)$/.test(String(value));
  if (path.length > 1) return false;
  if (name === "payload" && (act === "changed" || act === "deleted"))
    return value === null || (Array.isArray(value) && isHollow(value));
  // Of an object, the state is its own, such as "pending".
  return STATE.test(name) && !isRecord && UNFINISHED.test(String(value));
}

/**
 * Where an answer says no, or makes one doubt, at any depth, in words.
 * @param sent a request's values, because the name of an event may begin with "ERROR".
 */
export function objectionIn(
  { data }: Answer,
  act: keyof typeof DONE,
  noun: string,
  sent: Values = {},
): string | undefined {
  const isRecord = ownIdOf(data, noun) !== undefined;
  const isObjection = (leaf: Leaf) =>
    saysNo(leaf) ||
    isDoubtful(leaf, act, isRecord) ||
    (beginsWithError(leaf.value) && !leavesOf(sent).some(({ value }) => value === leaf.value));
  const found = leavesOf(data).find(isObjection);
  if (found === undefined) return undefined;
  const names = found.path.filter((name) => /^\w{1,40}$/.test(name)).join(".");
  return names === "" ? "its text says no" : `its ${names} says no`;
}

/** Whether a 200 has nothing (as `isIt` tests) in place of objects, and all else in it is harmless. */
export function holdsOnly(answer: Answer, noun: string, isIt: (nothing: unknown) => boolean): boolean {
  if (answer.status !== 200 || !isMade(answer) || objectionIn(answer, "none", noun) !== undefined) return false;
  const places = [...WRAPPERS, noun, `${noun}s`];
  const harmless = harmlessBeside(noun);
  const isInPlace = ({ path, value, isEntry }: Leaf) =>
    typeof value === "object" && !isEntry && path.length <= 3 && path.every((name) => places.includes(name));
  const isHarmless = ({ path, value }: Leaf) =>
    harmless.test(`${path.at(-1)?.replace(/[_-]/g, "")}=${isHollow(value) ? "" : String(value).trim()}`);
  const leaves = leavesOf(answer.data);
  const nothing = leaves.find((leaf) => isInPlace(leaf) && isIt(leaf.value));
  return nothing !== undefined && leaves.every((leaf) => isInPlace(leaf) || isHarmless(leaf));
}

/** What may be beside an empty list, as `name=value`. */
function harmlessBeside(noun: string): RegExp {
  const objects = `(${noun}s?|objects?|records?|results?)`;
  return new RegExp(
    `^((is)?(success(ful)?|ok)=(true|1)|(status(code)?|code|result)=(ok|success|200)` +
      `|(errors?|warnings?|errorcode|errormessage|messages?|(has)?more|next|prev(ious)?|meta|links)=(false|0|none|null)?` +
      `|(total|count|found|results|records)(count|results|records)?=0|offset=0|((current|last|total)?pages?)=[01]|limit=[1-9]\\d*` +
      `|(messages?|msg|detail|payload)=(ok|success|nothing found|(0|no) ${objects} found|${objects} retrieved successfully)[.!]?)$`,
    "i",
  );
}

/** Statuses that may say if the object is there; others are about login, permission, method, conflict, lock or time. */
const OF_THE_OBJECT = [400, 404, 406, 410, 422];
/** Phrases without a meaning of their own: those that repeat the status, accompany an absence, or are flags. */
const HOLLOW =
  /^((error:? )?((404|410)[ :-]*)?(((resource|object|record|entity|page) )?(not found|gone))?|(error:? )?there (was a|were) problems?|with your request|true|false|error|fail(ed|ure)?)[.:!]?$/i;

/** What a refusal with no object says, if that is all: this exact object does not exist, or no more than its status. */
export function absenceIn(answer: Answer, noun: string, id: string): "this object" | "bare" | undefined {
  const { status, kind, data, body, broken } = answer;
  const isRefusal = status === 200 ? saysRefused(answer, noun) : OF_THE_OBJECT.includes(status);
  const isReadable = broken === undefined && kind !== "html";
  if (!isRefusal || !isReadable || recordsIn(data, noun).length > 0) return undefined;
  const absence = absenceOf(noun, id);
  const code = new RegExp(`^(${status}|((resource|object|record|entity|${noun})_)?(not_?found|gone))$`, "i");
  const leaves = leavesOf(kind === "text" ? body : data).map((leaf) => ({ ...leaf, text: String(leaf.value).trim() }));
  const isCode = ({ path }: Leaf) => /code$/i.test(path.at(-1) ?? "");
  const codes = leaves.filter((leaf) => isCode(leaf) && !code.test(leaf.text));
  // What is said anywhere: words in their places, and sentences.
  const texts = leaves
    .filter((leaf) => !isCode(leaf) && typeof leaf.value === "string")
    .filter((leaf) => isSpoken(leaf) || (/\s/.test(leaf.text) && /\p{L}{2}/u.test(leaf.text)))
    .map(({ text }) => text.replaceAll("_", " "));
  const isHollowText = (text: string) => HOLLOW.test(text) || text.toLowerCase() === `${noun} not found`;
  if (texts.some((text) => !absence.test(text) && !isHollowText(text))) return undefined;
  if (!codes.every(({ text }) => /^\d+$/.test(text))) return undefined;
  if (texts.some((text) => absence.test(text))) return "this object";
  return (status === 404 || status === 410) && codes.length === 0 ? "bare" : undefined;
}

/** The sentences that say that an object does not exist: with its kind and its id, and nothing after them. */
function absenceOf(noun: string, id: string): RegExp {
  const literally = id.replace(/[^\w-]/g, "\\$&");
  const it = `(the )?(object|record|entity|${noun}):?( with)?( the)?( id)?( ?[:=#])? ?["'(]?${literally}["')]?`;
  return new RegExp(
    `^(error:? )?(` +
      `(could not|can ?not|unable to|failed to) (load|find) ${it}( to (delete|update|load|read))?` +
      `|${it} ((was |is )?not|could not be|can ?not be) (found|loaded)|${it} (does not exist|no longer exists|is gone)` +
      `|${it} (has|is|was) (already )?(been )?(deleted|removed)|(there is )?no (such )?${it}( found)?)\\.?$`,
    "i",
  );
}

/**
 * Whether the session let a request through. `ended`: it is to be sent again, on another login; `refused`: that did not
 * or would not help, or is impossible (Basic). Assumption: a request refused for its session was not carried out.
 */
export type LetThrough = "accepted" | "refused" | "ended";

export type SessionSign =
  /** Clearly about the login: a redirect to one, a login page, words about a session, a 401 with hardly any words. */
  | "clear"
  /** 403 with hardly any words. */
  | "bare"
  /** 401 or 403 with words about something else: a missing permission, a body that was not liked. */
  | "doubtful";

const ABOUT_A_LOGIN =
  /\b(log(ged)?[ -]?(in|out|on)|sign(ed)?[ -]?(in|on|out)|session|cookie|(un|re)?authenticat\w*|credentials?)\b/i;
/** Parsers use "token" for an unexpected part of a body. */
const ABOUT_SYNTAX = /\b(json(?! +web)|unexpected|syntax|position|line|column|offset|character)\b/i;
/** Uninformative words beside a bare status. `Unauthorized` alone means the login; with more words, a permission. */
const STATUS_PHRASE = /^(\W|error|\d{3}|unauthori[sz]ed|not authori[sz]ed|forbidden|(access )?denied)*$/i;
/** Quoted parts of a sentence are left out: the name of an event may be "Login". */
const QUOTED = /(?<=.)("[^"]{0,200}"|\u201c[^\u201d]{0,200}\u201d|`[^`]{0,200}`|(?<!\w)'[^']{0,200}'(?!\w))/g;
const PAGE = /^\s*\ufeff?\s*<(!doctype html|html)\b/i;
const PASSWORD_FIELD = /<input\b[^<>]*\btype\s*=\s*["']?password/i;

export function sessionSignOf(answer: Answer): SessionSign | undefined {
  const { status, kind, body, broken } = answer;
  const redirect = redirectOf(answer);
  if (redirect !== undefined) return redirect === "login" ? "clear" : undefined;
  if (status !== 200 && status !== 401 && status !== 403) return undefined;
  if (kind === "html" && broken === undefined && PAGE.test(body) && PASSWORD_FIELD.test(body)) return "clear";
  // An `ERROR:` entry does not count: what it stands beside may have been carried out, and would be sent again.
  if (status === 200 && (kind !== "json" || !anyPart(answer.data, undefined, isFlaggedNo))) return undefined;
  const words = broken === undefined ? spokenIn(answer) : [];
  if (status === 200) {
    const isUnauthorized = words.every((each) => STATUS_PHRASE.test(each)) && /authori[sz]ed/i.test(words.join());
    return isUnauthorized || words.some(isAboutALogin) ? "clear" : undefined;
  }
  if (words.some(isAboutALogin)) return "clear";
  if (!words.every((each) => STATUS_PHRASE.test(each))) return "doubtful";
  return status === 401 ? "clear" : "bare";
}

/** The words of an answer without what it quotes; codes such as `session_expired` and `NotLoggedIn` as words. */
function spokenIn({ kind, data, body }: Answer): string[] {
  const spoken = leavesOf(kind === "json" ? data : body).filter(
    (leaf) => typeof leaf.value === "string" && isSpoken(leaf),
  );
  const texts = kind === "html" ? [] : spoken.map(({ value }) => String(value).replaceAll(QUOTED, " "));
  return texts.map((text) => (/\s/.test(text) ? text.replace(CAPITALS, asWords) : asWords(text)));
}

/** In a sentence other names with `_` stay whole, because they may be those of fields. */
const CAPITALS = /\b[A-Z]+_[A-Z\d_]+\b/g;
const asWords = (code: string) => code.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ");

function isAboutALogin(text: string): boolean {
  return ABOUT_A_LOGIN.test(text) || (/\btoken\b/i.test(text) && !ABOUT_SYNTAX.test(text));
}

/** Statuses after which a client sends a GET. (307 and 308 ask for the same POST elsewhere.) */
const SEE_ELSEWHERE = [301, 302, 303];
/** The base for relative locations, which most are. */
const NOWHERE = "https://nowhere.invalid";

/**
 * Where an answer leads, for the session and for the judgement of a create. No redirect is ever followed.
 * @returns none if the answer is no redirect; `object` if its address has a number, as from services that carried out a
 *   create and want the browser to show it; otherwise `login`, an assumption: a login page may have any name.
 */
export function redirectOf({ status, headers }: Answer): "login" | "object" | undefined {
  if (!SEE_ELSEWHERE.includes(status)) return undefined;
  const { location = "" } = headers;
  const target = URL.canParse(location, NOWHERE) ? new URL(location, NOWHERE) : undefined;
  const segments = target?.pathname.split("/").filter((segment) => segment !== "") ?? [];
  if (segments.some((segment) => /^(log|sign)[-_]?(in|on)(\.\w+)?$/i.test(segment))) return "login";
  // `…/123` or `…/123/edit`. The request's own path always ends with two words.
  const isNumbered = segments.slice(-2).some((segment) => /^\d+(;|$)/.test(segment));
  return isNumbered || /[?&](\w+_)?id=\d+(&|$)/i.test(target?.search ?? "") ? "object" : "login";
}
