/** Answers as the transport hands them on. */
import type { HttpAnswer } from "../../provider/src/http/transport.js";

/** @param body a text as it is, anything else as JSON. */
export function answer(status: number, body: unknown = "", headers: Record<string, string> = {}): HttpAnswer {
  return { status, headers, setCookies: [], body: typeof body === "string" ? body : JSON.stringify(body) };
}
