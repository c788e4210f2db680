import { expect, it } from "vitest";
import { sessionSignOf } from "../../provider/src/session/refusal.js";
import { answer } from "../support/answers.js";

const loginPage = '<html><title>Sign in</title><input type="password"></html>';

it.each<[string, number, unknown, string | undefined]>([
  ["401 with words about the session", 401, { message: "Your session has expired" }, "clear"],
  ["401 about a login", 401, { detail: "Please log in" }, "clear"],
  ["401 without a body", 401, "", "clear"],
  ["401 with its own phrase", 401, "Unauthorized", "clear"],
  ["401 with a success flag only", 401, { success: false }, "clear"],
  ["403 with its own phrase", 403, { message: "403 Forbidden" }, "bare"],
  ["403 with an HTML page", 403, "<html>no</html>", "bare"],
  ["403 for a missing permission", 403, { message: "You may not create events for this advertiser" }, "doubtful"],
  ["401 for a body that was not liked", 401, { errors: ["event_name is not valid"] }, "doubtful"],
  ["401 keyed by unknown fields", 401, { colour: ["not known"] }, "doubtful"],
  ["a redirect", 302, "", "clear"],
  ["a login page", 200, loginPage, "clear"],
  ["another page", 200, "<html><title>Maintenance</title></html>", undefined],
  ["success false about a login", 200, { success: false, message: "You are not logged in" }, "clear"],
  ["success false as text, in payload", 200, { success: "false", payload: "not authenticated" }, "clear"],
  ["success false about something else", 200, { success: false, message: "the name is taken" }, undefined],
  ["success that speaks of a session", 200, { success: true, message: "session ok", payload: { id: 1 } }, undefined],
  ["406", 406, { message: "login name not valid" }, undefined],
  ["307", 307, "", undefined],
])("%s", (_, status, body, sign) => {
  expect(sessionSignOf(answer(status, body))).toBe(sign);
});
