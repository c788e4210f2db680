/** Responses, parsed as the client parses them. */
import { type ParsedResponse, parseResponse } from "../../provider/src/client/answer.js";

/** @param body a text is used as it is, anything else as JSON. @param broken why the body is incomplete, if it is. */
export function answer(
  status: number,
  body: unknown = "",
  headers: Record<string, string> = {},
  broken?: string,
): ParsedResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return parseResponse({
    status,
    headers,
    setCookies: [],
    body: text,
    ...(broken && { broken }),
  });
}
