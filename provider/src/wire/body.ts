/**
 * An answer's body as data, and what kind of text it is where it is no JSON. Pure.
 */
import type { HttpAnswer } from "../http/transport.js";
import { own } from "../record.js";
import { parseExact } from "./exact-json.js";

export type Body =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "html" }
  | { readonly kind: "text" }
  | { readonly kind: "empty" };

/** Several judge an answer, one after the other; each body is parsed once, and kept as long as its answer is. */
const known = new WeakMap<HttpAnswer, Body>();

/** Reads by content, not by Content-Type: services of this kind send JSON as text/html and the reverse. */
export function readBody(answer: HttpAnswer): Body {
  const body = known.get(answer) ?? parse(answer);
  known.set(answer, body);
  return body;
}

function parse(answer: HttpAnswer): Body {
  const text = answer.body.replace(/^\ufeff/, "").trim();
  if (text === "") return { kind: "empty" };
  try {
    return { kind: "json", value: parseExact(text) };
  } catch {
    // Not JSON (or nested too deep to read): what it looks like decides.
    const contentType = answer.headers["content-type"] ?? "";
    return {
      kind:
        /^<(!doctype html|html|head|body|\?xml)|<\/html>/i.test(text) || /html/i.test(contentType) ? "html" : "text",
    };
  }
}

/** Whether a `success` flag says no, as a boolean or as text. */
export function saysNo(value: unknown): boolean {
  const flag = own(value, "success");
  return flag === false || (typeof flag === "string" && flag.trim().toLowerCase() === "false");
}
