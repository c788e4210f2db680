/**
 * Whether a response says that the session is the trouble. The response to an expired session is undocumented: what
 * services of this kind usually send is recognised. Pure.
 */
import { findingsIn, messagesIn, type ParsedResponse, VALUE } from "./answer.js";

/**
 * Whether the session let a request through. `ended`: the request must be resent on another login. `refused`: another
 * login didn't help, wouldn't help, or is impossible (Basic). Assumption: a request that was refused because of its
 * session was not carried out. `unsure`: a create may have been carried out, or its session has ended.
 */
export type SessionVerdict = "accepted" | "refused" | "ended" | "unsure";

/** Quoted parts of a sentence are left out: the name of an event may be "Login". */
const QUOTED = /"[^"]*"|(?<!\w)'[^']*'(?!\w)/g;
const LOGIN_PAGE =
  /^\s*<(!doctype html|html)\b.*<input\b[^<>]*\btype\s*=\s*["']?password/is;
/** By the last part of the path. */
const LOGIN_ADDRESS =
  /^[^?]*\/((log|sign)[-_]?(in|on)(\.\w+)?|auth|authenticate|authorize|sso|sessions?\/new)\/?($|\?)/i;
const OBJECT_ADDRESS = /^[^?]*\/\d+(?![\w.:-])|[?&](\w+_)?id=\d/i;

/**
 * @returns `clear` for what is clearly about the login: a redirect to one, a login page, words about a session, a 401 with
 * hardly any words; `bare` for a 403 with hardly any words; `doubtful` for a 401 or 403 with words about something else: a
 * missing permission, or an invalid body; `redirected` for another redirect without an id, which may be a success or lead to a
 * login page of any name. Undefined if the session isn't the trouble.
 */
export function sessionProblemIn(answer: ParsedResponse) {
  const { status, body, data, kind } = answer;
  if (leadsToLogin(answer)) return "clear";
  if (isRedirect(status)) return isToObject(answer) ? undefined : "redirected";
  if (![200, 401, 403].includes(status)) return undefined;
  if (kind === "html" && LOGIN_PAGE.test(body)) return "clear";
  // An `ERROR:` entry without `success: false` is a refusal, but never a reason to resend: a wrong guess creates twice.
  if (status === 200 && !findingsIn(data).isFailure) return undefined;
  const words = messagesIn(answer.leaves).map(({ text }) => withoutNames(text));
  const isAboutLogin = words.some((text) => {
    return VALUE.login.test(text) || (/\btoken\b/i.test(text) && !VALUE.syntax.test(text));
  });
  if (isAboutLogin) return "clear";
  const isBare = words.every((text) => VALUE.bare.test(text));
  if (status === 200)
    return isBare && /authori[sz]ed/i.test(words.join()) ? "clear" : undefined;
  if (!isBare) return "doubtful";
  return status === 401 ? "clear" : "bare";
}

/** A message without quoted parts; a code such as `session_expired` is split into words. */
function withoutNames(message: string) {
  const text = message.replaceAll(QUOTED, " ");
  // In a sentence, names with `_` may be those of fields.
  if (/\s/.test(text)) return text;
  return text.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ");
}

/**
 * Whether a response redirects to an address that looks like a login's. Another one, such as a list or an object, may
 * follow a success. 307 and 308 ask for the same POST at another address. No redirect is ever followed.
 */
export function leadsToLogin(answer: ParsedResponse) {
  const { location = "" } = answer.headers;
  return isRedirect(answer.status) && LOGIN_ADDRESS.test(location) && !isToObject(answer);
}

function isToObject({ headers }: ParsedResponse) {
  return OBJECT_ADDRESS.test(headers.location ?? "");
}

function isRedirect(status: number) {
  return [301, 302, 303].includes(status);
}
