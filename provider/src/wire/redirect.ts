/**
 * Where an answer leads elsewhere: to a login, or to what was just created. Pure. No redirect is ever followed.
 */
import type { HttpAnswer } from "../http/transport.js";

/** Statuses after which a client asks again with GET. (307 and 308 ask for the same POST elsewhere.) */
const SEE_ELSEWHERE = new Set([301, 302, 303]);
const LOGIN = /log[-_]?(in|on)|sign[-_]?(in|on)|auth|sso|session|account|password/i;

/**
 * @returns none where the answer does not lead elsewhere; `object` where it names one by a number, as services answer
 *   that carried a create out and want the browser to show it; otherwise `login`: an assumption (PLATFORM knows of
 *   redirects to a login page, whose address may have any name).
 */
export function redirectOf({ status, headers }: HttpAnswer): "login" | "object" | undefined {
  if (!SEE_ELSEWHERE.has(status)) return undefined;
  const location = headers.location ?? "";
  if (!URL.canParse(location, "https://platform.invalid")) return "login";
  const { pathname, search } = new URL(location, "https://platform.invalid");
  if (LOGIN.test(pathname)) return "login";
  return /\/\d+(\/|$)/.test(pathname) || /[?&]\w*id=\d+/i.test(search) ? "object" : "login";
}
