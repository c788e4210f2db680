/** Which known name a mistyped or shortened one leads to. */
import { describe, expect, it } from "vitest";
import { nearest } from "../../provider/src/base/text.js";
import { SETTING_NAMES } from "../../provider/src/settings/settings.js";

describe("a setting", () => {
  it.each([
    // The beginning of a name, also a mistyped one, counts more than a few edits towards another name.
    ["maxWait", "maxWaitSeconds"],
    ["maxwait", "maxWaitSeconds"],
    ["MAX_WAIT", "maxWaitSeconds"],
    ["max-wait", "maxWaitSeconds"],
    ["maxWiat", "maxWaitSeconds"],
    ["maxWindow", "maxWindowSeconds"],
    ["maxConcurrent", "maxConcurrentRequests"],
    ["maxConcurrency", "maxConcurrentRequests"],
    ["requestTimeout", "requestTimeoutSeconds"],
    ["auth", "authMode"],
    ["mark", "markField"],
    // A part of a name, or a name with more behind it.
    ["timeout", "requestTimeoutSeconds"],
    ["timeoutSeconds", "requestTimeoutSeconds"],
    ["window", "maxWindowSeconds"],
    ["wait", "maxWaitSeconds"],
    ["url", "baseUrl"],
    ["emailAddress", "email"],
    // Slips.
    ["maxWaitSecond", "maxWaitSeconds"],
    ["maxWaitMs", "maxWaitSeconds"],
    ["pasword", "password"],
    ["mail", "email"],
    ["baseurl", "baseUrl"],
    ["BASE_URI", "baseUrl"],
    ["cookiefiel", "cookieFile"],
  ])("%s is taken for %s", (typed, meant) => {
    expect(nearest(typed, SETTING_NAMES)).toBe(meant);
  });

  it.each(["proxy", "token", "x", "", "_", "id", "verbose"])("%j is taken for none", (typed) => {
    expect(nearest(typed, SETTING_NAMES)).toBeUndefined();
  });
});

it("an argument, a command and an option likewise", () => {
  expect(nearest("click_window", ["viewWindow", "clickWindow"])).toBe("clickWindow");
  expect(nearest("clickWindowSeconds", ["viewWindow", "clickWindow"])).toBe("clickWindow");
  expect(nearest("vlaue", ["eventName", "value"])).toBe("value");
  expect(nearest("pendign", ["pending", "help"])).toBe("pending");
  expect(nearest("not-create", ["created", "not-created"])).toBe("not-created");
  expect(nearest("creatd", ["not-created", "created"])).toBe("created");
});
