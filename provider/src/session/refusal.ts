/**
 * Whether an answer says that the session is the trouble. Pure. What an expired session answers is not documented, so
 * every way that PLATFORM-like services use is recognised.
 */

import type { HttpAnswer } from "../http/transport.js";
import { own, readBody, saysNo } from "../wire/body.js";
import { wordsOf } from "../wire/words.js";

export type SessionSign =
  /** Speaks of the login itself: a redirect, a login page, words about a session, a 401 with hardly any. */
  | "clear"
  /** 403 with hardly any words. */
  | "bare"
  /** 401 or 403 with words about something else: a missing permission, a body that was not liked. */
  | "doubtful";

const ABOUT_A_LOGIN =
  /\b(log(ged)?[ -]?(in|out|on)|login|sign(ed)?[ -]?(in|on|out)|session|cookie|(un|re)?authenticat\w*|credentials?|token)\b/i;
/** What servers put beside a bare status: no information. */
const STATUS_PHRASE =
  /^(\W|error|\d{3}|unauthori[sz]ed|forbidden|access denied|denied|not authori[sz]ed|authori[sz]ation required)*$/i;
const LOGIN_FORM = /type\s*=\s*["']?password|\b(log|sign)[ -]?in\b/i;

export function sessionSignOf(answer: HttpAnswer): SessionSign | undefined {
  const { status } = answer;
  if (status === 301 || status === 302 || status === 303) return "clear";
  const body = readBody(answer);
  const words = wordsOf(answer, [], (text) => text); // looked at, never shown
  if (status === 401 || status === 403) {
    const plain = status === 401 ? "clear" : "bare";
    if (body.kind === "html") return LOGIN_FORM.test(answer.body) ? "clear" : plain;
    if (words.some((sentence) => ABOUT_A_LOGIN.test(sentence))) return "clear";
    const said = words.join(" ").replace(/\berror_code \S+/g, "");
    // Field errors under names that are not known here are words about something else as well.
    const isBare = STATUS_PHRASE.test(said) && !hasFieldErrors(body);
    return isBare ? plain : "doubtful";
  }
  if (status !== 200) return undefined;
  if (body.kind === "html") return LOGIN_FORM.test(answer.body) ? "clear" : undefined;
  if (body.kind !== "json") return undefined;
  const payload = own(body.value, "payload");
  const isRefusal = saysNo(body.value) || saysNo(payload);
  return isRefusal && words.some((sentence) => ABOUT_A_LOGIN.test(sentence)) ? "clear" : undefined;
}

function hasFieldErrors(body: ReturnType<typeof readBody>): boolean {
  if (body.kind !== "json" || typeof body.value !== "object" || body.value === null) return false;
  return Object.values(body.value).some(
    (value) => typeof value === "object" && value !== null && Object.keys(value).length > 0,
  );
}
