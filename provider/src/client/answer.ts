/**
 * An answer, its body read once: whoever judges or tells it reads this. Pure.
 */

import { parseExact } from "../base/index.js";
import { looksLikeXml, readXml } from "./answer-markup.js";
import type { HttpAnswer } from "./transport.js";

export interface Answer extends HttpAnswer {
  /** What the body is by its content, not by its Content-Type: services of this kind send JSON as text/html and the reverse. */
  readonly kind: "json" | "html" | "text" | "empty";
  /** The body as data. Of XML and of JSON that is nested too deep for exact integers as well: fit to be told, not to decide. */
  readonly data?: unknown;
}

export function readAnswer(answer: HttpAnswer): Answer {
  const text = answer.body.replace(/^\ufeff/, "").trim();
  if (text === "") return { ...answer, kind: "empty" };
  try {
    return { ...answer, kind: "json", data: parseExact(text) };
  } catch {
    const contentType = answer.headers["content-type"] ?? "";
    const isHtml = /^<(!doctype html|html|head|body|\?xml)|<\/html>/i.test(text) || /html/i.test(contentType);
    return { ...answer, kind: isHtml ? "html" : "text", data: dataIn(text) };
  }
}

function dataIn(text: string): unknown {
  if (!/^[[{]/.test(text)) return looksLikeXml(text) ? readXml(text) : undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // It only began like JSON, or broke off.
  }
}

/** Statuses after which a client asks again with GET. (307 and 308 ask for the same POST elsewhere.) */
const SEE_ELSEWHERE = new Set([301, 302, 303]);
const LOGIN_SEGMENT = /^(log|sign)[-_]?(in|on)(\.\w+)?$/i;
const OBJECT_IN_QUERY = /[?&](\w+_)?id=\d+(&|$)/i;
/** For a location that is relative, as most are. */
const NOWHERE = "https://nowhere.invalid";

/**
 * Where an answer leads. No redirect is ever followed.
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
