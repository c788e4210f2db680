/**
 * Whether a response says that the session is the trouble. The response to an expired session is undocumented: all ways
 * of services of this kind are recognised. Pure.
 */
import { anyPart, isFlaggedNo, isSpoken, leavesOf, type ParsedResponse } from "./answer.js";

/**
 * Whether the session let a request through. `ended`: it is to be sent again, on another login; `refused`: that did not
 * or would not help, or is impossible (Basic). Assumption: a request refused for its session was not carried out.
 */
export type SessionVerdict = "accepted" | "refused" | "ended";

export type SessionProblem =
  /** Clearly about the login: a redirect to one, a login page, words about a session, a 401 with hardly any words. */
  | "clear"
  /** 403 with hardly any words. */
  | "bare"
  /** 401 or 403 with words about something else: a missing permission, a body that was not liked. */
  | "doubtful";

const ABOUT_A_LOGIN =
  /\b(log(ged)?[ -]?(in|out|on)|sign(ed)?[ -]?(in|on|out)|session|cookie|(un|re)?authenticat\w*|credentials?)\b/i;
/** Parsers use "token" for an unexpected part of a body. */
const ABOUT_SYNTAX =
  /\b(json(?! +web)|unexpected|syntax|position|line|column|offset|character)\b/i;
/** Uninformative words beside a bare status. `Unauthorized` alone means the login; with more words, a permission. */
const STATUS_PHRASE =
  /^(\W|error|\d{3}|unauthori[sz]ed|not authori[sz]ed|forbidden|(access )?denied)*$/i;
/** Quoted parts of a sentence are left out: the name of an event may be "Login". */
const QUOTED_WORDS =
  /(?<=.)("[^"]{0,200}"|\u201c[^\u201d]{0,200}\u201d|`[^`]{0,200}`|(?<!\w)'[^']{0,200}'(?!\w))/g;
const HTML_PAGE = /^\s*\ufeff?\s*<(!doctype html|html)\b/i;
const PASSWORD_FIELD = /<input\b[^<>]*\btype\s*=\s*["']?password/i;

export function sessionProblemIn(answer: ParsedResponse): SessionProblem | undefined {
  const { status, kind, body, broken } = answer;
  const redirect = redirectOf(answer);
  if (redirect === "login") return "clear";
  if (redirect !== undefined || ![200, 401, 403].includes(status)) return undefined;
  const isPage = kind === "html" && broken === undefined && HTML_PAGE.test(body);
  if (isPage && PASSWORD_FIELD.test(body)) return "clear";
  // An `ERROR:` entry does not count: what it stands beside may have been carried out, and would be sent again.
  const isRefused = kind === "json" && anyPart(answer.data, undefined, isFlaggedNo);
  if (status === 200 && !isRefused) return undefined;
  const words = spokenIn(answer);
  if (words.some(isAboutALogin)) return "clear";
  const isBare = words.every((text) => STATUS_PHRASE.test(text));
  if (status === 200)
    return isBare && /authori[sz]ed/i.test(words.join()) ? "clear" : undefined;
  if (!isBare) return "doubtful";
  return status === 401 ? "clear" : "bare";
}

/** The words of an answer without what it quotes; codes such as `session_expired` and `NotLoggedIn` as words. */
function spokenIn({ kind, data, body, broken }: ParsedResponse): string[] {
  if (broken !== undefined || kind === "html") return [];
  const root = kind === "json" ? data : body;
  const spoken = leavesOf(root).filter(
    (leaf) => typeof leaf.value === "string" && isSpoken(leaf),
  );
  return spoken.map(({ value }) => {
    const text = String(value).replaceAll(QUOTED_WORDS, " ");
    if (/\s/.test(text)) return text.replace(CAPITALS, asWords);
    return asWords(text);
  });
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
 * @returns `undefined` if the answer is no redirect; `object` if its address has a number, as from services that carried out a
 *   create and want the browser to show it; otherwise `login`, an assumption: a login page may have any name.
 */
export function redirectOf({
  status,
  headers,
}: ParsedResponse): "login" | "object" | undefined {
  if (!SEE_ELSEWHERE.includes(status)) return undefined;
  const { location = "" } = headers;
  const target = URL.canParse(location, NOWHERE) ? new URL(location, NOWHERE) : undefined;
  const segments = target?.pathname.split("/").filter((segment) => segment !== "") ?? [];
  if (segments.some((segment) => /^(log|sign)[-_]?(in|on)(\.\w+)?$/i.test(segment)))
    return "login";
  // `…/123` or `…/123/edit`. The request's own path always ends with two words.
  const isNumbered = segments.slice(-2).some((segment) => /^\d+(;|$)/.test(segment));
  return isNumbered || /[?&](\w+_)?id=\d+(&|$)/i.test(target?.search ?? "")
    ? "object"
    : "login";
}
