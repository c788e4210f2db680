/**
 * Whether an answer says that the session is the trouble. Pure. What an expired session answers is not documented, so
 * every way that services of this kind use is recognised.
 */

import { type Answer, aboutOf, documented, type Statement } from "./answer.js";
import { isFlaggedFailure } from "./evidence.js";
import type { HttpAnswer } from "./transport.js";

/**
 * Whether the session let a request through. `refused`: its answer speaks of the session, but a new one would not help, or
 * there is none to be had (Basic). `refused-again`: also on a session that was opened for it.
 * Assumption: what was refused for its session was not acted upon.
 */
export type LetThrough = "accepted" | "refused" | "refused-again";

export type SessionSign =
  /** Speaks of the login itself: a redirect to one, a login page, words about a session, a 401 with hardly any. */
  | "clear"
  /** 403 with hardly any words. */
  | "bare"
  /** 401 or 403 with words about something else: a missing permission, a body that was not liked. */
  | "doubtful";

const ABOUT_A_LOGIN =
  /\b(log(ged)?[ -]?(in|out|on)|login|sign(ed)?[ -]?(in|on|out)|session|cookie|(un|re)?authenticat\w*|credentials?)\b/i;
const ABOUT_A_TOKEN = /\btoken\b/i;
/** Parsers call a piece of a body that they don't like a token too. */
const ABOUT_SYNTAX = /\b(json(?! +web)|unexpected|syntax|position|line|column|offset|character)\b/i;
/** As all that is said: the login; about something that is named: a permission. */
const UNAUTHORIZED = /^(\W|error\b|\d{3}\b)*(unauthori[sz]ed|not authori[sz]ed|authori[sz]ation required)\W*$/i;
/** A quoted part of a sentence is somebody else's: the name of an event may be "Login". */
const QUOTED = /(?<=.)("[^"]*"|\u201c[^\u201d]*\u201d|`[^`]*`|(?<!\w)'[^']*'(?!\w))/g;
/** Servers put this beside a bare status; it holds no information. */
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
    // Field errors under names that are not known here are words about something else as well.
    return statements.every(saysNothing) && !hasFieldErrors(answer) ? plain : "doubtful";
  }
  if (answer.kind === "html") return isLoginPage(answer) ? "clear" : undefined;
  if (!isFlaggedFailure(answer)) return undefined;
  const statements = documented(answer);
  return statements.some(isAboutALogin) || areUnauthorized(statements) ? "clear" : undefined;
}

/**
 * A whole page that asks for a password, or is called a login. Nothing less will do if the status means success: a page
 * with a link "Log in", or with the name of what was sent, may come after the create was carried out.
 */
function isLoginPage({ body, broken }: Answer): boolean {
  if (broken !== undefined || !/^\s*\ufeff?\s*<(!doctype html|html)\b/i.test(body)) return false;
  return LOGIN_FORM.test(body) || (LOGIN_TITLE.test(body) && /<form\b/i.test(body));
}

/** Whether a statement is about the login: in its text, in its code, or by the name of what it is about. */
function isAboutALogin(statement: Statement): boolean {
  const { text, code } = statement;
  const words = code === undefined ? [] : [codeAsWords(code.value)];
  return [text.replace(CAPITALS, (each) => each.replaceAll("_", " ")), ...words, ...namesOf(statement)].some((each) => {
    const unquoted = each.replaceAll(QUOTED, " ");
    return ABOUT_A_LOGIN.test(unquoted) || (ABOUT_A_TOKEN.test(unquoted) && !ABOUT_SYNTAX.test(unquoted));
  });
}

/** The field that a statement is about; at the top there is none. */
function namesOf(statement: Statement): string[] {
  return statement.path.length < 2 && statement.subject === undefined ? [] : aboutOf(statement);
}

/** Whether a statement says only what servers put beside a bare status, about nothing that is named. */
function saysNothing(statement: Statement): boolean {
  const { text, code } = statement;
  const isCodeOfWords = code?.name === "code" && !/^\d+$/.test(code.value);
  return STATUS_PHRASE.test(text) && !isCodeOfWords && (text === "" || namesOf(statement).length === 0);
}

/** `Unauthorized` and no word more; beside the name of a field or a permission, a new login would not help. */
function areUnauthorized(statements: readonly Statement[]): boolean {
  const isPlain = ({ text }: Statement) => UNAUTHORIZED.test(text);
  return (
    statements.some((each) => isPlain(each) || UNAUTHORIZED.test(codeAsWords(each.code?.value ?? ""))) &&
    statements.every((each) => namesOf(each).length === 0 && (isPlain(each) || STATUS_PHRASE.test(each.text)))
  );
}

/** Codes such as `NOT_LOGGED_IN` in a text; other names stay whole, for they may be those of fields. */
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

/** Statuses after which a client asks again with GET. (307 and 308 ask for the same POST elsewhere.) */
const SEE_ELSEWHERE = new Set([301, 302, 303]);
const LOGIN_SEGMENT = /^(log|sign)[-_]?(in|on)(\.\w+)?$/i;
const OBJECT_IN_QUERY = /[?&](\w+_)?id=\d+(&|$)/i;
/** For a location that is relative, as most are. */
const NOWHERE = "https://nowhere.invalid";

/**
 * Where an answer leads, for the session and for the judgement of a create. No redirect is ever followed.
 * @returns none if the answer does not lead elsewhere; `object` if it names one by a number, as services answer
 *   that carried a create out and want the browser to show it; otherwise `login`: an assumption (the platform is known to
 *   redirects to a login page, whose address may have any name).
 */
export function redirectOf(answer: HttpAnswer): "login" | "object" | undefined {
  if (!SEE_ELSEWHERE.has(answer.status)) return undefined;
  const target = targetOf(answer);
  if (target === undefined) return "login";
  const segments = target.pathname.split("/").filter((segment) => segment !== "");
  if (segments.some((segment) => LOGIN_SEGMENT.test(segment))) return "login";
  // `…/123` or `…/123/edit`. The request's own path ends with two words, whatever stands before it.
  const namesOne =
    segments.slice(-2).some((segment) => /^\d+(;|$)/.test(segment)) || OBJECT_IN_QUERY.test(target.search);
  return namesOne ? "object" : "login";
}

/** Describes where a redirect leads, without what may be secret (user info, query, parameters of the path). */
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
