/** What an answer to a create means, and how that is worded. */
import { describe, expect, it } from "vitest";
import type { Answer } from "../../provider/src/client/answer.js";
import { judgeCreate } from "../../provider/src/client/judgement.js";
import { warningsOf, wordsOf } from "../../provider/src/client/words.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type { Operation } from "../../provider/src/kinds/kind.js";
import { answer } from "../support/answers.js";

const sent = {
  ...{ event_name: "purchase of shoes", advertiser_id: 3, value: 1, click_window: 60, colour: ["dark red"] },
  ...{ alternative_id: "correct horse battery", description: "is not shown", note: "is it so" },
};
/** The judgement, with the words that people read. */
function readOutcome(given: Answer, operation: Operation, sent: object, clean: (text: string) => string) {
  const judged = judgeCreate(given, operation, clean);
  const reading = { ...operation, sent: { ...sent }, clean };
  if (judged.kind === "created") return { ...judged, warnings: warningsOf(given, reading) };
  return { ...judged, words: wordsOf(given, reading) };
}
const read = (status: number, body: unknown, headers = {}) =>
  readOutcome(answer(status, body, headers), conversionEvent.create, sent, String);

describe("an id is found in every sensible place", () => {
  it.each<[string, number, unknown, string]>([
    ["payload.id", 200, { success: true, message: "event created with ID = 1", payload: { id: 1 } }, "1"],
    ["payload.event_id", 200, { success: true, payload: { event_id: 7 } }, "7"],
    ["id at the top, a text in payload", 200, { success: true, payload: "created", id: 9 }, "9"],
    ["a bare object with 201", 201, { id: 4, event_name: "x", advertiser_id: 3 }, "4"],
    ["under the resource's own name", 200, { success: true, event: { id: 5 } }, "5"],
    ["under its own name in payload", 200, { payload: { event: { event_id: "6" } } }, "6"],
    ["a list with one object", 200, [{ id: 8 }], "8"],
    ["a payload with a list of one", 200, { success: "true", payload: [{ id: "8" }] }, "8"],
    ["a list of one with a payload", 200, [{ success: true, payload: { id: 8 } }], "8"],
    ["as text", 200, { payload: { id: " 12 " } }, "12"],
    ["0", 200, { payload: { id: 0 } }, "0"],
    ["an event's own id beside its advertiser's", 200, { payload: { advertiser_id: 3, event_id: 11 } }, "11"],
  ])("%s", (_, status, body, id) => {
    expect(read(status, body)).toEqual({ kind: "created", id, warnings: [] });
  });

  it("beyond 2^53, to the last digit", () => {
    expect(read(200, '{"payload":{"id":9007199254740993}}')).toMatchObject({ kind: "created", id: "9007199254740993" });
  });

  it("of an advertiser under advertiser_id", () => {
    const outcome = readOutcome(answer(200, { payload: { advertiser_id: 3 } }), advertiser.create, {}, String);
    expect(outcome).toMatchObject({ kind: "created", id: "3" });
  });

  it("keeps warnings beside a success", () => {
    const body = { success: true, errors: ["WARNING: unknown field colour"], payload: { id: 1 } };
    expect(read(200, body)).toEqual({ kind: "created", id: "1", warnings: ["WARNING: unknown field colour"] });
  });

  it.each<[string, unknown, string[]]>([
    ["an entry that names its field", [{ field: "foo", message: "WARNING: dropped" }], ["foo: WARNING: dropped"]],
    [
      "with a code beside it",
      [{ code: "W1", field: "foo", message: "WARNING: dropped" }],
      ["foo: WARNING: dropped (code W1)"],
    ],
    ["keyed by field", { foo: ["WARNING: dropped"] }, ["foo: WARNING: dropped"]],
    [
      "a field called message",
      { field: "WARNING: not used", message: "WARNING: x" },
      ["WARNING: x", "field: WARNING: not used"],
    ],
  ])("one warning for each entry beside a success: %s", (_, errors, warnings) => {
    expect(read(200, { success: true, errors, payload: { id: 1 } })).toEqual({ kind: "created", id: "1", warnings });
    const inner = read(200, [{ success: true, payload: { event: { id: 1, errors } } }]);
    expect(inner).toMatchObject({ warnings: expect.arrayContaining([expect.stringContaining(warnings[0] ?? "?")]) });
  });

  it("a warning that contains a secret or only repeats what was sent is dropped", () => {
    const errors = ["WARNING: token=canary-1 is not used", "correct horse battery", { password: "WARNING: canary" }];
    expect(read(200, { success: true, errors, payload: { id: 1 } })).toEqual({
      kind: "created",
      id: "1",
      warnings: ["WARNING: token=[secret] is not used"],
    });
  });

  it("is not misled by __proto__ keys", () => {
    expect(read(200, '{"__proto__":{"id":5},"payload":{"__proto__":{"id":6}}}')).toMatchObject({ kind: "unknown" });
    expect(({} as { id?: number }).id).toBeUndefined();
  });
});

describe("a refusal is recognised by flag, prefix and status, and quotes the platform's words", () => {
  it.each<[string, number, unknown, string[]]>([
    ["200 with success false", 200, { success: false, message: "no such segment" }, ["no such segment"]],
    ["200 with success as text", 200, { success: "false", message: "no" }, ["no"]],
    [
      "an inner flag",
      200,
      { success: true, payload: { success: false, error_code: "E7", message: "no" } },
      ["no (code E7)"],
    ],
    ["an inner flag in a list", 200, { success: true, payload: [{ success: false, message: "no" }] }, ["no"]],
    ["an ERROR: entry", 200, { success: true, errors: ["ERROR: name taken"] }, ["ERROR: name taken"]],
    [
      "an ERROR: entry under its field, beside an id",
      200,
      { success: true, errors: { event_name: ["ERROR: bad"] }, payload: { id: 555 } },
      ["event_name: ERROR: bad"],
    ],
    [
      "an ERROR: entry that names its field",
      200,
      { success: true, errors: [{ field: "event_name", message: "ERROR: bad" }], payload: { id: 555 } },
      ["event_name: ERROR: bad"],
    ],
    ["an ERROR: entry in a list in payload", 200, { payload: [{ id: 5, errors: ["ERROR: no"] }] }, ["ERROR: no"]],
    ["an ERROR: entry in a list of one", 200, [{ id: 5, errors: ["ERROR: no"] }], ["ERROR: no"]],
    ["an inner flag under the noun, beside an id", 200, { payload: { event: { success: false, id: 4 } } }, []],
    ["a flag in a list of one", 200, [{ success: false, message: "name taken" }], ["name taken"]],
    [
      "every one of several says no",
      200,
      [
        { success: false, message: "a" },
        { success: "false", message: "b" },
      ],
      ["a", "b"],
    ],
    [
      "an inner flag under the noun",
      200,
      { success: true, payload: { event: { success: false, errors: ["no"] } } },
      ["event: no"],
    ],
    ["an inner flag under the noun, in a list", 200, { events: [{ success: false, message: "no" }] }, ["events: no"]],
    [
      "406 with lists under unknown names",
      406,
      { success: false, payload: { campaign: ["You must pick one."] } },
      ["campaign: You must pick one."],
    ],
    [
      "200 with lists under unknown names",
      200,
      { success: false, payload: { campaign: ["You must pick one."] } },
      ["campaign: You must pick one."],
    ],
    [
      "400 keyed by a field that was not sent",
      400,
      { event_type_id: ["This field is required."], segment_id: ["Required"] },
      ["event_type_id: This field is required.", "segment_id: Required"],
    ],
    [
      "400 keyed by an additional field",
      400,
      { colour: ["Unknown"], alternative_id: "must be a text" },
      ["colour: Unknown", "alternative_id: must be a text"],
    ],
    [
      "400 keyed by field, under the noun",
      400,
      { event: { event_name: ["too long"], colour: ["is not known"] } },
      ["event.event_name: too long", "event.colour: is not known"],
    ],
    ["400 with a list under the noun", 400, { event: ["too many"] }, ["event: too many"]],
    ["400 with a text under a field", 400, { event_name: "is too long" }, ["event_name: is too long"]],
    ["400 with a text of one word", 400, { event_name: "required" }, ["event_name: required"]],
    ["400 with a list in message", 400, { message: ["not valid"] }, ["not valid"]],
    ["400 that names its field", 400, { field: "event_name", message: "too long" }, ["event_name: too long"]],
    ["406 with errors", 406, { errors: ["the name is taken"] }, ["the name is taken"]],
    ["406 with lists in payload", 406, { success: false, payload: { errors: ["a", "b"] } }, ["a", "b"]],
    ["406 with a payload that is a list", 406, { payload: ["a", "b"] }, ["a", "b"]],
    ["409", 409, { message: "exists" }, ["exists"]],
    ["400 keyed by field", 400, { event_name: ["too long"] }, ["event_name: too long"]],
    [
      "400 keyed by field, nested",
      400,
      { errors: { event: { click_window: ["too big"] } } },
      ["event.click_window: too big"],
    ],
    ["detail", 422, { detail: "not valid" }, ["not valid"]],
    ["detail as a list", 422, { detail: [{ msg: "x", message: "not valid" }] }, ["not valid"]],
    ["plain text", 400, "advertiser unknown", ["advertiser unknown"]],
    ["hardly any body", 404, "", []],
  ])("%s", (_, status, body, words) => {
    expect(read(status, body)).toEqual({ kind: "refused", words });
  });

  it("never quotes values under names that sound secret, nor single words outside of messages", () => {
    const outcome = read(400, {
      message: "bad",
      user: { password: "hunter22", roles: ["admin"] },
      payload: { api_token: ["t"] },
    });
    expect(outcome).toEqual({ kind: "refused", words: ["bad"] });
  });

  it.each<[string, unknown]>([
    ["the request", { message: "bad", event_name: "purchase", advertiser_id: 3, colour: ["dark red"] }],
    [
      "the request, under the noun",
      { message: "bad", event: { event_name: "Purchase of  shoes", value: 1, colour: ["dark red"] } },
    ],
    ["the request, in payload", { message: "bad", payload: { event_name: "purchase of shoes", note: "is it so" } }],
    ["an additional field alone", { message: "bad", alternative_id: "correct horse battery" }],
    ["the name of an additional field", { message: "bad", event_name: "purchase", description: "is not shown" }],
    [
      "the beginning of a value",
      { message: "bad", event: { alternative_id: "correct horse", colour: ["correct horse b…"] } },
    ],
    ["the request, as a string of JSON", { message: "bad", request: JSON.stringify({ note: "is it so" }) }],
    [
      "secrets in lists",
      { message: "bad", payload: { api_token: ["correct horse battery"], password: ["is a secret"] } },
    ],
    ["lists without sentences", { message: "bad", payload: { roles: ["admin"], ids: [1, { kind: "text" }] } }],
    ["a person's record, if there is anything else", { message: "bad", user: { notes: ["is a good customer"] } }],
  ])("never quotes an echo of %s", (_, body) => {
    expect(read(400, body)).toEqual({ kind: "refused", words: ["bad"] });
  });

  it("every entry is judged, and a bounded number is quoted", () => {
    const errors = [...Array.from({ length: 40 }, (_, index) => `WARNING: ${index}`), "ERROR: the last"];
    expect(read(200, { success: true, errors, payload: { id: 1 } })).toMatchObject({ kind: "refused" });
    const lists = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`f${index}`, ["is not known"]]));
    const outcome = read(400, lists);
    expect(outcome.kind === "refused" && outcome.words.length).toBe(20);
  });

  it("control characters are removed", () => {
    expect(read(400, { message: "a\u001b[31mb\r\nc" })).toEqual({ kind: "refused", words: ["a [31mb c"] });
  });

  it.each([301, 302, 303])("a redirect with %i is never followed", (status) => {
    expect(read(status, "", { location: "https://elsewhere.example" })).toMatchObject({ kind: "refused" });
  });
});

describe("an outcome is unknown if the answer does not settle it", () => {
  it.each<[string, number, unknown]>([
    ["500", 500, { message: "oops" }],
    ["503 without Retry-After", 503, ""],
    ["408", 408, ""],
    ["499", 499, ""],
    ["307", 307, ""],
    ["308", 308, ""],
    ["202 with an id: a job's", 202, { success: true, payload: { id: 4 } }],
    ["a success of 0", 200, { success: 0, message: "denied", payload: { id: 1 } }],
    ["an empty 200", 200, ""],
    ["204", 204, ""],
    ["{}", 200, {}],
    ["an id that is null", 200, { payload: { id: null } }],
    ["an empty id", 200, { payload: { id: "" } }],
    ["an id that is a list", 200, { payload: { id: [] } }],
    ["a negative id", 200, { payload: { id: -5 } }],
    ["a fraction", 200, { payload: { id: 1.5 } }],
    ["two objects", 200, [{ id: 1 }, { id: 2 }]],
    ["another object's id only", 200, { payload: { advertiser_id: 3 } }],
    ["HTML", 200, "<!doctype html><title>Maintenance</title>"],
    ["broken JSON", 200, '{"payload":{"id":'],
    ["deep nesting", 200, "[".repeat(200_000)],
  ])("%s", (_, status, body) => {
    expect(read(status, body)).toMatchObject({ kind: "unknown" });
  });

  it("some entries of several say no", () => {
    const body = [{ success: false, message: "a" }, { success: true }];
    expect(read(200, body)).toMatchObject({ kind: "unknown" });
    expect(read(200, { payload: body })).toMatchObject({ kind: "unknown" });
  });

  it.each<[string, number]>([
    ["200", 200],
    ["408", 408],
    ["500", 500],
  ])("without an echo of the request being quoted: %s", (_, status) => {
    const echo = { event_name: "is it so", colour: ["is not shown"], description: "is not shown" };
    for (const body of [echo, { payload: echo }, { event: echo }, { payload: { event: echo } }, [echo]]) {
      expect(read(status, body)).toMatchObject({ kind: "unknown", words: [] });
    }
  });

  it("a 2xx whose body broke off", () => {
    const outcome = readOutcome(
      { ...answer(200, '{"payload":{"id":1}}'), broken: "ended early" },
      conversionEvent.create,
      {},
      String,
    );
    expect(outcome).toMatchObject({ kind: "unknown", reason: expect.stringContaining("ended early") });
  });

  it("for an answer without an id the message names fields, not values", () => {
    expect(read(200, { token: "geheim" })).toMatchObject({ reason: expect.stringMatching(/^(?!.*geheim).*token/) });
  });
});

describe("a redirect, which is never followed", () => {
  it.each([301, 302, 303])("%i to a login: refused; to an object: unknown", (status) => {
    expect(read(status, "", { location: "/login" })).toMatchObject({ kind: "refused" });
    for (const location of [
      "/rest/event/123;s=hidden?key=hidden",
      "https://a:hidden@x.example/rest/event/123#hidden",
    ]) {
      const outcome = read(status, "", { location });
      expect(outcome).toMatchObject({
        kind: "unknown",
        reason: expect.stringMatching(/redirect.*to \S*\/rest\/event\/123$/),
      });
      expect(JSON.stringify(outcome)).not.toContain("hidden");
    }
  });

  it.each([307, 308])("%i: unknown", (status) => {
    expect(read(status, "", { location: "/login" })).toMatchObject({ kind: "unknown" });
  });
});

describe("what is quoted of an answer that is not understood", () => {
  it("has no control characters of its content type, and only the beginning of it", () => {
    const outcome = read(200, "?", { "content-type": `text/\u009b31m${"x".repeat(1000)}` });
    expect(outcome).toMatchObject({ kind: "unknown" });
    const { reason } = outcome as { reason: string };
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is for their absence
    expect(reason).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(reason.length).toBeLessThan(200);
  });

  it("has no words of a body that broke off, which could include half a secret", () => {
    const broken = { ...answer(400, '{"message":"the password hunter'), broken: "ended early" };
    expect(readOutcome(broken, conversionEvent.create, {}, String)).toEqual({ kind: "refused", words: [] });
    expect(readOutcome({ ...broken, status: 500 }, conversionEvent.create, {}, String)).toMatchObject({ words: [] });
  });
});
