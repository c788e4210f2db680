/**
 * Whether an answer says that the session is the trouble. How the platform answers an expired session is not documented, so all ways of
 * services of this kind are recognised. Pure.
 */

import { type Answer, aboutOf, documented, type Statement } from "./answer.js";
import { isFlaggedFailure } from "./evidence.js";
import type { HttpAnswer } from "./http.js";

/**
 * Whether the session let a request through. `refused`: the answer is about the session, but a new one would not help, or is impossible
 * (Basic). `refused-again`: also on a session that was opened for it.
 * Assumption: a request that was refused for its session was not carried out.
 */
export type LetThrough = "accepted" | "refused" | "refused-again";

export type SessionSign =
  /** Clearly about the login: a redirect to one, a login page, words about a session, a 401 with hardly any words. */
  | "clear"
  /** 403 with hardly any words. */
  | "bare"
  /** 401 or 403 with words about something else: a missing permission, a body that was not liked. */
  | "doubtful";

const ABOUT_A_LOGIN =
  /\b(log(ged)?[ -]?(in|out|on)|login|sign(ed)?[ -]?(in|on|out)|session|cookie|(un|re)?authenticat\w*|credentials?)\b/i;
const ABOUT_A_TOKEN = /\btoken\b/i;
/** Parsers use "token" for an unexpected part of a body. */
const ABOUT_SYNTAX = /\b(json(?! +web)|unexpected|syntax|position|line|column|offset|character)\b/i;
/** As the only statement it means the login; about a named thing, a permission. */
const UNAUTHORIZED = /^(\W|error\b|\d{3}\b)*(unauthori[sz]ed|not authori[sz]ed|authori[sz]ation required)\W*$/i;
/** Quoted parts of a sentence are left out: the name of an event may be "Login". */
const QUOTED = /(?<=.)("[^"]*"|\u201c[^\u201d]*\u201d|`[^`]*`|(?<!\w)'[^']*'(?!\w))/g;
/** Servers add this to a bare status, without information. */
const STATUS_PHRASE =
  /^(\W|error|\d{3}|unauthori[sz]ed|forbidden|access denied|denied|not authori[sz]ed|authori[sz]ation required)*$/i;
const LOGIN_FORM = /<input\b[^>]*\btype\s*=\s*["']?password/i;
const LOGIN_TITLE = /<title[^>]*>[^<]*\b(log|sign)[ -]?(in|on)\b/i;
const LOGIN_LINK = /\b(log|sign)[ -]?in\b/i;

export function sessionSignOf(answer: Answer): SessionSign | undefined {
  const { status } = answer;
  const redirect = redirectOf(answer);
  if (redirect !== undefined) return redirect === "login" ? "clear" : undefined;
  if (status !== 200 && status !== 401 && status !== 403) return undefined;
  if (status !== 200) {
    const plain = status === 401 ? "clear" : "bare";
    if (answer.kind === "html") return isLoginPage(answer) || LOGIN_LINK.test(answer.body) ? "clear" : plain;
    const statements = documented(answer);
    if (statements.some(isAboutALogin)) return "clear";
    // Field errors under unknown names are about something else too.
    return statements.every(saysNothing) && !hasFieldErrors(answer) ? plain : "doubtful";
  }
  if (answer.kind === "html") return isLoginPage(answer) ? "clear" : undefined;
  if (!isFlaggedFailure(answer)) return undefined;
  const statements = documented(answer);
  return statements.some(isAboutALogin) || areUnauthorized(statements) ? "clear" : undefined;
}

/**
 * A whole page with a password field, or titled as a login. If the status means success, nothing less counts: a page with a link "Log in",
 * or with the name of the object, may follow a create that was carried out.
 */
function isLoginPage({ body, broken }: Answer): boolean {
  if (broken !== undefined || !/^\s*\ufeff?\s*<(!doctype html|html)\b/i.test(body)) return false;
  return LOGIN_FORM.test(body) || (LOGIN_TITLE.test(body) && /<form\b/i.test(body));
}

/** Whether a statement is about the login, by its text, its code, or the name of its field. */
function isAboutALogin(statement: Statement): boolean {
  const { text, code } = statement;
  const words = code === undefined ? [] : [codeAsWords(code.value)];
  return [text.replace(CAPITALS, (each) => each.replaceAll("_", " ")), ...words, ...namesOf(statement)].some((each) => {
    const unquoted = each.replaceAll(QUOTED, " ");
    return ABOUT_A_LOGIN.test(unquoted) || (ABOUT_A_TOKEN.test(unquoted) && !ABOUT_SYNTAX.test(unquoted));
  });
}

/** The field that a statement is about; none at the top level. */
function namesOf(statement: Statement): string[] {
  return statement.path.length < 2 && statement.subject === undefined ? [] : aboutOf(statement);
}

/** Whether a statement only has the words that servers add to a bare status, and names no field. */
function saysNothing(statement: Statement): boolean {
  const { text, code } = statement;
  const isCodeOfWords = code?.name === "code" && !/^\d+$/.test(code.value);
  return STATUS_PHRASE.test(text) && !isCodeOfWords && (text === "" || namesOf(statement).length === 0);
}

/** Only `Unauthorized`. If a field or a permission is named beside it, a new login would not help. */
function areUnauthorized(statements: readonly Statement[]): boolean {
  const isPlain = ({ text }: Statement) => UNAUTHORIZED.test(text);
  return (
    statements.some((each) => isPlain(each) || UNAUTHORIZED.test(codeAsWords(each.code?.value ?? ""))) &&
    statements.every((each) => namesOf(each).length === 0 && (isPlain(each) || STATUS_PHRASE.test(each.text)))
  );
}

/** Codes such as `NOT_LOGGED_IN` in a text. Other names stay whole, because they may be those of fields. */
const CAPITALS = /\b[A-Z]+_[A-Z\d_]+\b/g;

/** `NotLoggedIn` and `session_expired` as words. */
function codeAsWords(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ");
}

function hasFieldErrors({ kind, data }: Answer): boolean {
  if (kind !== "json" || typeof data !== "object" || data === null) return false;
  return Object.values(data).some(
    (value) => typeof value === "object" && value !== null && Object.keys(value).length > 0,
  );
}

/** Statuses after which a client sends a GET. (307 and 308 ask for the same POST elsewhere.) */
const SEE_ELSEWHERE = new Set([301, 302, 303]);
const LOGIN_SEGMENT = /^(log|sign)[-_]?(in|on)(\.\w+)?$/i;
const OBJECT_IN_QUERY = /[?&](\w+_)?id=\d+(&|$)/i;
/** The base for relative locations, which most are. */
const NOWHERE = "https://nowhere.invalid";

/**
 * Where an answer leads, for the session and for the judgement of a create. No redirect is ever followed.
 * @returns none if the answer is not a redirect; `object` if its address has a number, as from services that carried out a create and want
 *   the browser to show it; otherwise `login`, which is an assumption: the platform is known to redirect to a login page, whose
 *   address may have any name.
 */
export function redirectOf(answer: HttpAnswer): "login" | "object" | undefined {
  if (!SEE_ELSEWHERE.has(answer.status)) return undefined;
  const target = targetOf(answer);
  if (target === undefined) return "login";
  const segments = target.pathname.split("/").filter((segment) => segment !== "");
  if (segments.some((segment) => LOGIN_SEGMENT.test(segment))) return "login";
  // `…/123` or `…/123/edit`. The request's own path always ends with two words.
  const namesOne =
    segments.slice(-2).some((segment) => /^\d+(;|$)/.test(segment)) || OBJECT_IN_QUERY.test(target.search);
  return namesOne ? "object" : "login";
}

/** Describes where a redirect leads, without parts that may be secret (user info, query, parameters of the path). */
export function describeTarget(answer: HttpAnswer): string | undefined {
  const target = targetOf(answer);
  if (target === undefined) return undefined;
  const path = target.pathname.split(";", 1)[0] ?? "";
  return target.origin === NOWHERE ? path : `${target.host}${path}`;
}

function targetOf({ headers }: HttpAnswer): URL | undefined {
  const { location } = headers;
  return location !== undefined && URL.canParse(location, NOWHERE) ? new URL(location, NOWHERE) : undefined;
}
