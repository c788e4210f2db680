/**
 * Answers in every shape that was seen at services of this kind. Pure.
 */
import type { OutgoingHttpHeaders } from "node:http";
import type { AnswerShape, LoginShape, RefusalShape, SandboxObject, SessionRefusal } from "./options.js";
import type { FieldFault } from "./rules.js";

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer;
}

export function json(status: number, body: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

/** A refusal in a sentence. Each body that refuses carries `success`: there are clients that look at nothing else. */
export function failure(status: number, message: string, headers: OutgoingHttpHeaders = {}): Answer {
  return json(status, { success: false, message }, headers);
}

/** @param noun `advertiser` or `event`. @param warnings sentences about fields that were dropped. */
export function success(shape: AnswerShape, noun: string, object: SandboxObject, warnings: readonly string[]): Answer {
  const { id } = object;
  const dropped = shape === "warning" ? ["a field was dropped", ...warnings] : warnings;
  const errors = dropped.length === 0 ? {} : { errors: dropped.map((text) => `WARNING: ${text}`) };
  const message = `${noun} created with ID = ${id}`;
  const head = { success: true, message, ...errors };
  switch (shape) {
    case "payload":
    case "warning":
      return json(200, { ...head, payload: { id } });
    case "top-level-id":
      return json(200, { success: true, payload: message, id, ...errors });
    case "bare-201":
      return json(201, object);
    case "own-name":
      return json(200, { ...head, payload: { [`${noun}_id`]: id } });
    case "nested-own-name":
      return json(200, { ...head, [noun]: { id } });
    case "list":
      return json(200, [{ id }]);
    case "text-ids":
      return json(200, { ...head, payload: { id: String(id) } });
    case "success-text":
      return json(200, { ...head, success: "true", payload: { id } });
  }
}

export function refusal(shape: RefusalShape, noun: string, faults: readonly FieldFault[]): Answer {
  const sentences = faults.map(({ field, sentence }) => `${field} ${sentence}`);
  const message = sentences.join("; ");
  switch (shape) {
    case "success-false-200":
      return failure(200, message);
    case "403-permission":
      return failure(403, `you may not do this: ${message}`);
    case "406-errors":
      return json(406, { success: false, errors: sentences });
    case "401-body":
      return json(401, { success: false, errors: sentences });
    case "406-payload-lists":
      return json(406, { success: false, payload: { errors: sentences } });
    case "400-by-field-nested": {
      const byField = Object.fromEntries(faults.map(({ field, sentence }) => [field, [sentence]]));
      return json(400, { success: false, errors: { [noun]: byField } });
    }
    case "detail":
      return json(422, { success: false, detail: message });
    case "plain-text":
      return { status: 400, headers: { "content-type": "text/plain" }, body: message };
    case "inner-success-false":
      return json(200, { success: true, payload: { success: false, error_code: "E_FIELD", message } });
  }
}

export function loginSuccess(shape: LoginShape, setCookies: string[]): Answer {
  const message = "Authentication successful: the session cookie was set";
  const body = shape === "payload-text" ? { payload: message } : { success: true, message };
  return json(200, shape === "success-text-true" ? { ...body, success: "true" } : body, { "set-cookie": setCookies });
}

const LOGIN_PAGE =
  '<!doctype html><html><title>Log in</title><form><input name="email"><input type="password"></form></html>';

export function sessionRefused(way: SessionRefusal): Answer {
  switch (way) {
    case "401":
      return failure(401, "Your session has expired. Please log in.");
    case "403":
      return failure(403, "Forbidden");
    case "redirect":
      return { status: 302, headers: { location: "/login" }, body: "" };
    case "login-page":
      return { status: 200, headers: { "content-type": "text/html" }, body: LOGIN_PAGE };
    case "success-false":
      return failure(200, "You are not logged in");
  }
}
