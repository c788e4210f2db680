/** Text on its way to people, and which known name is suggested for a mistyped or shortened one. */
import { expect, it } from "vitest";
import { withPage } from "../../provider/src/base/errors.js";
import {
  idRanges,
  inStack,
  nearest,
  printable,
  setCommandTarget,
} from "../../provider/src/base/index.js";
import { SETTING_NAMES } from "../../provider/src/settings/settings.js";

it.each([
  // A piece of a name counts as the name, the shortest one first.
  ["maxWiatSeconds", "maxWaitSeconds"],
  ["pasword", "password"],
  ["BASE_URI", "baseUrl"],
  ...["proxy", "x", "", "_"].map((typed) => [typed, undefined]),
])("%j, which is no setting, suggests %s", (typed = "", meant) => {
  expect(nearest(typed, SETTING_NAMES)).toBe(meant);
});

it("the nearest of several names is suggested, whatever their order", () => {
  expect(nearest("click_window", ["viewWindow", "clickWindow"])).toBe("clickWindow");
  expect(nearest("vlaue", ["eventName", "value"])).toBe("value");
  const known = ["created", "not-created"];
  for (const each of [known, known.toReversed()])
    expect([nearest("not-create", each), nearest("creatd", each)]).toEqual([
      "not-created",
      "created",
    ]);
});

it.each([
  [["12", "7", "8", "9", "7"], "7–9, 12"],
  [
    ["99999999999999999999", "100000000000000000000"],
    "99999999999999999999–100000000000000000000",
  ],
  [[], ""],
])("the ids %j are %j", (ids, told) => {
  expect(idRanges(ids)).toBe(told);
});

it("what could make a terminal show something else is a space", () => {
  expect(printable(" a\u001b[31m\r\nb\u202ec\u0085d\ud800e ")).toBe("a [31m b c d e");
});

it("a printed command takes the stack that it is about", () => {
  setCommandTarget(() => ({
    options: ["--stack", "my dev"],
    isInline: false,
  }));
  expect(inStack("pulumi up")).toBe("pulumi up --stack 'my dev'");
  // Pulumi's command line can't run an inline program.
  setCommandTarget(() => ({
    options: ["--stack", "o/p/dev"],
    isInline: true,
  }));
  expect(["pulumi up", "pulumi cancel"].map(inStack)).toEqual([
    "pulumi up",
    "pulumi cancel --stack o/p/dev",
  ]);
  setCommandTarget(() => ({ options: [], isInline: false }));
  expect(inStack("pulumi up")).toBe("pulumi up");
});

it("an error names the page about its code", () => {
  expect(withPage("No.", { code: "ADVERTISING_USAGE" })).toBe(
    "No. (node_modules/pulumi-advertising/docs/messages.md#advertising_usage) [ADVERTISING_USAGE]",
  );
});
