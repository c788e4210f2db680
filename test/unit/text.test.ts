/** Text on its way to people, and which known name is suggested for a mistyped or shortened one. */
import { expect, it } from "vitest";
import {
  agree,
  asTyped,
  commandsTake,
  count,
  editsBetween,
  idRanges,
  nearest,
  printable,
} from "../../provider/src/base/text.js";
import { SETTING_NAMES } from "../../provider/src/settings/settings.js";

it.each([
  // A piece of a name counts as the name, the shortest one first.
  ["maxwait", "maxWaitSeconds"],
  ["MAX_WAIT", "maxWaitSeconds"],
  ["maxWindow", "maxWindowSeconds"],
  ["requestTimeout", "requestTimeoutSeconds"],
  ["auth", "authMode"],
  ["timeoutSeconds", "requestTimeoutSeconds"],
  ["wait", "maxWaitSeconds"],
  ["url", "baseUrl"],
  ["emailAddress", "email"],
  // Typing errors.
  ["maxWiatSeconds", "maxWaitSeconds"],
  ["pasword", "password"],
  ["mail", "email"],
  ["BASE_URI", "baseUrl"],
  ["cookiefiel", "cookieFile"],
  ...["proxy", "token", "x", "", "_", "id", "verbose"].map((typed) => [typed, undefined]),
])("%j, which is no setting, suggests %s", (typed = "", meant) => {
  expect(nearest(typed, SETTING_NAMES)).toBe(meant);
});

it("the nearest of several names is suggested, whatever their order", () => {
  expect(nearest("click_window", ["viewWindow", "clickWindow"])).toBe("clickWindow");
  expect(nearest("vlaue", ["eventName", "value"])).toBe("value");
  for (const known of [
    ["created", "not-created"],
    ["not-created", "created"],
  ]) {
    expect(nearest("not-create", known)).toBe("not-created");
    expect(nearest("creatd", known)).toBe("created");
  }
});

it.each([
  [0, "0 events", "0 objects are", "them"],
  [1, "1 event", "1 object is", "it"],
  [2, "2 events", "2 objects are", "them"],
])("%i agrees with its noun", (amount, noun, withVerb, word) => {
  expect(count(amount, "event")).toBe(noun);
  expect(count(amount, "object is", "objects are")).toBe(withVerb);
  expect(agree(amount, "it", "them")).toBe(word);
});

it.each([
  ["abc", "acb", 2],
  ["", "xy", 2],
  ["event", "events", 1],
  ["same", "same", 0],
])("from %j to %j it is %i edits", (one, other, edits) => {
  expect(editsBetween(one, other)).toBe(edits);
  expect(editsBetween(other, one)).toBe(edits);
});

it.each([
  [["12", "7", "8", "9", "7"], "7–9, 12"],
  [["99999999999999999999", "100000000000000000000"], "99999999999999999999–100000000000000000000"],
  [[], ""],
])("the ids %j are %j", (ids, told) => {
  expect(idRanges(ids)).toBe(told);
});

it("what could make a terminal show something else is a space", () => {
  expect(printable(" a\u001b[31m\r\nb\u202ec\u0085d\ud800e ")).toBe("a [31m b c d e");
});

it("a printed command takes the stack that it is about", () => {
  commandsTake([{ option: "--stack", value: "my dev" }]);
  expect(asTyped("pulumi up")).toBe("pulumi up --stack 'my dev'");
  commandsTake([]);
  expect(asTyped("pulumi up")).toBe("pulumi up");
});
