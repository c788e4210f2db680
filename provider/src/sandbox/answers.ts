/** Answers in the platform's form. Each refusal has `success`: some clients look at nothing else. */
import type { SandboxAnswer } from "./options.js";

type Headers = SandboxAnswer["headers"];

export function json(status: number, body: unknown, headers: Headers = {}): SandboxAnswer {
  const allHeaders = { "content-type": "application/json", ...headers };
  return { status, headers: allHeaders, body: JSON.stringify(body) };
}

/** @param more members beside `success`. */
export function success(more: object, headers?: Headers): SandboxAnswer {
  return json(200, { success: true, ...more }, headers);
}

export function failure(status: number, message: string, headers?: Headers): SandboxAnswer {
  return json(status, { success: false, message }, headers);
}

export function sessionRefused(): SandboxAnswer {
  return failure(401, "Your session has expired. Please log in.");
}
