/**
 * Where an answer leads elsewhere: to a login, or to what was just created. Pure. No redirect is ever followed.
 */
import type { HttpAnswer } from "../http/transport.js";

/** Statuses after which a client asks again with GET. (307 and 308 ask for the same POST elsewhere.) */
const SEE_ELSEWHERE = new Set([301, 302, 303]);
const LOGIN_SEGMENT = /^(log|sign)[-_]?(in|on)(\.\w+)?$/i;
const OBJECT_IN_QUERY = /[?&](\w+_)?id=\d+(&|$)/i;
/** For a location that is relative, as most are. */
const NOWHERE = "https://nowhere.invalid";

/**
 * @returns none where the answer does not lead elsewhere; `object` where it names one by a number, as services answer
 *   that carried a create out and want the browser to show it; otherwise `login`: an assumption (PLATFORM knows of
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

/** Where to, in words: without what may be secret (user info, query, parameters of the path). */
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
