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
  ["a page with a link to the login", 200, "<html><title>Created</title><a href='/login'>Log in</a></html>", undefined],
  ["a page that holds a name like a login", 200, "<html><h1>Sign in was created</h1></html>", undefined],
  ["a page that is called a login, with a form", 200, "<!doctype html><title>Log in</title><form></form>", "clear"],
  ["half an answer that is called HTML", 200, '{"payload":{"id":1,"event_name":"Login"', undefined],
  ["another page", 200, "<html><title>Maintenance</title></html>", undefined],
  ["success false about a login", 200, { success: false, message: "You are not logged in" }, "clear"],
  ["success false as text, in payload", 200, { success: "false", payload: "not authenticated" }, "clear"],
  ["success false about something else", 200, { success: false, message: "the name is taken" }, undefined],
  ["success that speaks of a session", 200, { success: true, message: "session ok", payload: { id: 1 } }, undefined],
  ["success false with a code about a login", 200, { success: false, error_code: "LOGIN_REQUIRED" }, "clear"],
  ["success false with a code: not logged in", 200, { success: false, error_code: "NOT_LOGGED_IN" }, "clear"],
  ["success false with a code in lower case", 200, { success: false, code: "session_expired" }, "clear"],
  ["success false with a code in one word", 200, { success: false, error_code: "NotLoggedIn" }, "clear"],
  ["success false with a code as message", 200, { success: false, message: "NOT_LOGGED_IN" }, "clear"],
  ["success false with a code in a sentence", 200, { success: false, message: "E7: LOGIN_REQUIRED" }, "clear"],
  ["success false with a code: unauthorized", 200, { success: false, error_code: "UNAUTHORIZED" }, "clear"],
  ["success false: Unauthorized", 200, { success: false, message: "Unauthorized" }, "clear"],
  ["success false: Not authorized", 200, { success: "false", message: "Not authorized." }, "clear"],
  [
    "success false: 401 Unauthorised, with a code",
    200,
    { success: false, message: "401 Unauthorised", code: 7 },
    "clear",
  ],
  [
    "an inner success false: Unauthorized",
    200,
    { success: true, payload: { success: false, message: "Unauthorized" } },
    "clear",
  ],
  ["success false in a list", 200, [{ success: false, message: "You are not logged in" }], "clear"],
  ["success false for a permission", 200, { success: false, message: "Not authorized to create events" }, undefined],
  [
    "success false: Unauthorized for a field",
    200,
    { success: false, message: "Not authorized", errors: ["segment_id is another account's"] },
    undefined,
  ],
  ["success false: Forbidden", 200, { success: false, message: "Forbidden" }, undefined],
  [
    "success false about a field named like a session",
    200,
    { success: false, message: "session_count is bad" },
    undefined,
  ],
  ["success false with another code", 200, { success: false, error_code: "NAME_TAKEN" }, undefined],
  ["success false about JSON", 200, { success: false, message: "Unexpected token < in JSON" }, undefined],
  ["success true: Unauthorized", 200, { success: true, message: "Unauthorized", payload: { id: 1 } }, undefined],
  [
    "success true beside an ERROR: entry",
    200,
    { success: true, message: "session ok", errors: ["ERROR: no"] },
    undefined,
  ],
  ["401 about JSON", 401, { message: "Invalid token in JSON at position 3" }, "doubtful"],
  ["401 about JSON as text", 401, "Unexpected token < in JSON at position 0", "doubtful"],
  ["401 about a token", 401, { message: "Invalid token" }, "clear"],
  ["401 about a JSON Web Token", 401, { message: "JSON Web Token expired" }, "clear"],
  ["401 with a code about a login", 401, { error_code: "LOGIN_REQUIRED", message: "no" }, "clear"],
  ["401 with its own phrase and number", 401, { code: 401, message: "Unauthorized" }, "clear"],
  ["406", 406, { message: "login name not valid" }, undefined],
  ["307", 307, "", undefined],
  ["a refusal that quotes a name", 200, { success: false, message: 'The name "Login" is taken' }, undefined],
  ["a refusal that quotes a name, singly", 200, { success: false, message: "name 'Sign in' isn't free" }, undefined],
  ["all of it in quotes", 200, { success: false, message: '"You are not logged in"' }, "clear"],
  ["words with apostrophes", 200, { success: false, message: "You aren't logged in, so it can't be done" }, "clear"],
])("%s", (_, status, body, sign) => {
  expect(sessionSignOf(answer(status, body))).toBe(sign);
});

it.each<[string, string | undefined]>([
  ["/login", "clear"],
  ["https://sso.example.com/?back=/rest/event", "clear"],
  ["/login/42?id=7", "clear"],
  ["/", "clear"],
  ["/rest/event/123", undefined],
  ["/events/123/edit", undefined],
  ["/event?id=123", undefined],
  ["/account/12/event/345", undefined],
  ["/processor/12", undefined],
  ["/accounts/7/sign-in", "clear"],
  ["/signin/12", "clear"],
  ["/v/2/rest/event", "clear"],
  ["/oauth?client_id=12&back=/", undefined],
  ["https://[", "clear"],
])("a redirect to %s", (location, sign) => {
  for (const status of [301, 302, 303])
    expect(sessionSignOf({ ...answer(status, ""), headers: { location } })).toBe(sign);
});
