/** Faults as they are typed. */
import { describe, expect, it } from "vitest";
import { parseFaults } from "../../provider/src/sandbox/fault-language.js";
import type { FaultRule } from "../../provider/src/sandbox/index.js";

describe("what is understood", () => {
  it.each<[string, FaultRule]>([
    ["event:reset", { on: "event", with: { kind: "reset" }, act: false, times: 1 }],
    ["event:close-after-act:1", { on: "event", with: { kind: "close-without-answer" }, act: true, times: 1 }],
    ["event:close", { on: "event", with: { kind: "close-without-answer" }, act: false, times: 1 }],
    ["create:half-body-after-act:3", { on: "create", with: { kind: "half-body" }, act: true, times: 3 }],
    ["authenticate:no-answer", { on: "authenticate", with: { kind: "no-answer" }, act: false, times: 1 }],
    ["any:close-after", { on: "any", with: { kind: "close-after" }, act: false, times: 1 }],
    ["advertiser:session-refusal:2", { on: "advertiser", with: { kind: "session-refusal" }, act: false, times: 2 }],
    ["event:reset:always", { on: "event", with: { kind: "reset" }, act: false, times: Number.POSITIVE_INFINITY }],
  ])("%s", (text, rule) => {
    expect(parseFaults([text])).toEqual([rule]);
  });

  it("each kind without parameters, before and after the request is carried out", () => {
    for (const kind of [
      "close-without-answer",
      "reset",
      "no-answer",
      "half-body",
      "stalled-body",
      "bad-length",
      "bad-chunk",
      "garbage",
      "slow-body",
      "huge-body",
      "gzip-bomb",
      "huge-header",
      "many-headers",
      "close-after",
      "early-hints",
      "continue",
    ] as const)
      expect(parseFaults([`event:${kind}`, `event:${kind}-after-act`])).toMatchObject([
        { with: { kind }, act: false },
        { with: { kind }, act: true },
      ]);
    expect(parseFaults(["event:reset-before-read"])).toMatchObject([{ with: { kind: "reset-before-read" } }]);
    for (const on of ["read", "update", "delete", "search"])
      expect(parseFaults([`${on}:reset`])).toMatchObject([{ on }]);
  });

  it.each([200, 302, 404, 429, 500, 599])("status-%i, with a body that fits it", (status) => {
    const [rule, afterAct] = parseFaults([`event:status-${status}`, `event:status-${status}-after-act`]);
    expect(rule).toMatchObject({ act: false, with: { kind: "answer", status, body: { success: status < 400 } } });
    expect(afterAct).toMatchObject({ act: true, with: { kind: "answer", status } });
  });
});

describe("what is not understood", () => {
  const complaint = (...texts: string[]): string => {
    try {
      parseFaults(texts);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error("it was understood");
  };

  it.each<[string, RegExp]>([
    ["evnet:reset", /"evnet:reset": there is no target "evnet"; did you mean "event"\?/],
    ["event:close-after-atc:1", /there is no fault "close-after-atc"; did you mean "close-after-act"\?/],
    ["event:closewithoutanswer", /did you mean "close-without-answer"\?/],
    ["event:HALF-BODY", /did you mean "half-body"\?/],
    ["event:staus-500", /did you mean "status-500"\?/],
    ["event:status-5000", /there is no fault "status-5000"/],
    ["event:status-100", /there is no fault "status-100"/],
    ["event:toString", /there is no fault "toString"/],
    ["event:answer", /there is no fault "answer"/],
    ["event:xyzzyxyzzyxyzzy", /there is no fault "xyzzyxyzzyxyzzy"$/m],
    ["event:reset:0", /times is a whole number from 1 up, or "always"; got "0"/],
    ["event:reset:-1", /got "-1"/],
    ["event:reset:1.5", /got "1.5"/],
    ["event:reset:", /got ""/],
    ["event:reset:1:2", /expected <target>:<fault>\[:<times>\]/],
    ["event", /expected <target>:<fault>\[:<times>\]/],
    ["", /expected <target>:<fault>\[:<times>\]/],
    ["event:session-refusal-after-act", /"session-refusal" comes before a request is carried out/],
    ["event:reset-before-read-after-act", /"reset-before-read" comes before a request is carried out/],
  ])("%s", (text, reason) => {
    expect(complaint(text)).toMatch(reason);
  });

  it("all problems at once, with the known names", () => {
    const said = complaint("evnet:rest:0", "event:reset", "any:garbge", "\u001b[2J:reset");
    expect(said).toMatch(/"evnet:rest:0": there is no target "evnet".*"event".*"rest".*"reset".*got "0"/);
    expect(said).toMatch(/"any:garbge": .*"garbage"/);
    expect(said).not.toContain('"event:reset":');
    expect(said).not.toContain("\u001b");
    expect(said).toMatch(/^ *targets: authenticate, advertiser, event, create, read, update, delete, search, any$/m);
    expect(said).toMatch(/^ *faults: .*close-without-answer[^;]*status-<200 to 599>/m);
  });
});
