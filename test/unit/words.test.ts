/** The platform's words of a refusalError are always quoted, with their field or path; what was sent, and secrets, never. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusalError } from "../../provider/src/client/request-errors.js";
import { warningsOf, wordsOf } from "../../provider/src/client/words.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { answer } from "../support/answers.js";

const SENT = { event_name: "purchase of shoes", advertiser_id: 3, colour: ["dark red"] };
const plain = { kind: conversionEvent, secrets: { scrub: String } };
const HTML = { "content-type": "text/html" };

const read = (
  status: number,
  body: unknown,
  headers = {},
  sent: object = SENT,
  clean: (text: string) => string = String,
) =>
  wordsOf({
    ...plain,
    answer: answer(status, body, headers),
    fields: { ...sent },
    secrets: { scrub: clean },
  });

const wrong = '"foo" is not a valid choice.';
it.each<[string, unknown, string[], Record<string, string>?]>([
  ["a message", { success: false, message: "no such segment" }, ["no such segment"]],
  ["one word", { message: "exists" }, ["exists"]],
  ["a text in payload", { payload: "created not" }, ["created not"]],
  [
    "lists in payload",
    { payload: { campaign: ["You must pick one."] } },
    ["campaign: You must pick one."],
  ],
  ["a payload that is a list", { payload: ["a", "b"] }, ["a", "b"]],
  [
    "errors, nested by field",
    { errors: { event: { click_window: ["too big"] } } },
    ["event.click_window: too big"],
  ],
  ["errors as codes", { errors: { event_name: "too_long" } }, ["event_name: too_long"]],
  [
    "entries that name their field",
    { errors: [{ field: "value", message: "bad" }] },
    ["field: value", "bad"],
  ],
  ["keyed by a known field", { event_name: "required" }, ["event_name: required"]],
  ["keyed by a field that was sent", { colour: "is odd" }, ["colour: is odd"]],
  [
    "keyed by a field that nobody knows",
    { zone: ["This field is required."] },
    ["zone: This field is required."],
  ],
  [
    "nested by module",
    { modules: { geo: { advertiser_id: [wrong] } } },
    [`modules.geo.advertiser_id: ${wrong}`],
  ],
  ["detail", { detail: "not valid" }, ["not valid"]],
  [
    "problem+json",
    { type: "https://x/y", title: "Not valid.", detail: "Two did not fit.", status: 400 },
    ["Not valid.", "Two did not fit."],
  ],
  [
    "reasons",
    { "invalid-params": [{ name: "value", reason: "must be a number" }] },
    ["invalid-params: must be a number"],
  ],
  [
    "an error's description",
    { error: "invalid_grant", error_description: "No." },
    ["invalid_grant", "error_description: No."],
  ],
  ["a code", { payload: { error_code: "E7", message: "no" } }, ["error_code: E7", "no"]],
  ["no field's errors", { non_field_errors: ["Too many."] }, ["Too many."]],
  [
    "a fault",
    { fault: { faultstring: "Quota violation." } },
    ["fault.faultstring: Quota violation."],
  ],
  ["a bare string", '"Not today."', ["Not today."]],
  ["a list of strings", ["Too long.", "Too loud."], ["Too long.", "Too loud."]],
  ["behind a byte order mark", '\ufeff{"message":"No way."}', ["No way."]],
  ["the same twice", { message: "no", errors: ["no"] }, ["no"]],
  [
    "a sentence that contains what was sent",
    { message: "purchase of shoes is taken" },
    ["purchase of shoes is taken"],
  ],
  ["plain text", "advertiser unknown", ["advertiser unknown"]],
  ["a plain sentence as text/html", "The name is taken.", ["The name is taken."], HTML],
  ["half a JSON", '{"message": "No way.", "x": NaN}', ['{"message": "No way.", "x": NaN}']],
  ["XML", "<e><code>17</code><m>The name is taken.</m></e>", ["17 The name is taken."]],
  [
    "a page",
    "<html><title>Not now</title><style>p > b {}</style><!-- <p>x --><h1>Sorry</h1><p>The name is taken.</p>",
    ["Not now Sorry The name is taken."],
  ],
  [
    "a page whose title is its heading",
    "<html><title>Not now</title><h1>Not now</h1><p>The name is taken.</p></html>",
    ["Not now The name is taken."],
  ],
  [
    "a page with entities, known and not",
    "<html><p>The name &quot;Buy&#39;s &#x3c;b&#X3E;&quot; of &Eacute;t&eacute;&nbsp;&amp;amp; Co&#xfffff0;&#27; is taken.</p>",
    [`The name "Buy's <b>" of &Eacute;t&eacute; &amp; Co&#xfffff0;  is taken.`],
  ],
  [
    "a page without a title",
    "<html><body>Out of order<br>until noon",
    ["Out of order until noon"],
  ],
  ["control characters", { message: "a\u001b[31mb\r\nc" }, ["a [31mb c"]],
  ["nested too deep", `${"[".repeat(1e5)}"The name is taken."${"]".repeat(1e5)}`, []],
  ["hardly any body", "", []],
  ["names that say nothing", { kind: "E_BUSY", x: "a sentence", n: 4 }, []],
  [
    "the request",
    { message: "bad", ...SENT, event: SENT, request: { body: SENT } },
    ["bad"],
  ],
  ["a value in a message's place", { message: " Purchase of  shoes" }, []],
  ["a value as a page", "<p>purchase of\n shoes</p>", []],
  [
    "flags and numbers",
    { success: "false", error: "true", message: 7, errors: [null, "", " - "] },
    [],
  ],
])("%s", (_, body, words, headers) => {
  expect(read(400, body, headers)).toEqual(words);
});

it("of a body that broke off nothing is quoted: there could be half of a secret", () => {
  const broken = answer(400, '{"message":"the password hunter', {}, "ended early");
  expect(wordsOf({ ...plain, answer: broken, fields: {} })).toEqual([]);
});

it.each<[unknown, string[]]>([
  [["WARNING: unknown field colour"], ["WARNING: unknown field colour"]],
  [{ foo: ["WARNING: dropped"] }, ["foo: WARNING: dropped"]],
  [
    ["WARNING: token=canary-1 is not used", "dark red"],
    ["WARNING: token=[secret] is not used"],
  ],
])("warnings beside a success, once by field: %j", (errors, warnings) => {
  const made = answer(200, {
    success: true,
    message: "created",
    errors,
    payload: { id: 1 },
  });
  expect(warningsOf({ ...plain, answer: made, fields: SENT })).toEqual(warnings);
});

describe("secrets", () => {
  it("written with entities in a page are masked after these are decoded", () => {
    const scrub = (text: string) => text.replaceAll("hunter", "[secret]");
    const words = read(422, "<p>&#104;unter is wrong.</p>", {}, {}, scrub);
    expect(words).toEqual(["[secret] is wrong."]);
  });

  it.each([
    "password",
    "accessToken",
    "Set-Cookie",
    "sessionId",
    "auth",
    "Authorization",
    "x-api-key",
    "clientSecret",
  ])("nothing under %s is quoted, however deep", (name) => {
    const canary = "the canary is alive";
    for (const value of [
      canary,
      [canary],
      { message: canary },
      [{ errors: [{ message: canary }] }],
    ]) {
      expect(read(400, { message: "bad", errors: { [name]: value } })).toEqual(["bad"]);
    }
  });

  it.each(
    [
      [
        "Failed: password=canary&x=1",
        'half {"password":"canary", "message',
        'half {"password":"canary one two',
      ],
      [
        "Authorization: Bearer canary-1234",
        "authorization: Basic canary==",
        "api_key = 'canary'",
        "Cookie: a=canary",
      ],
    ].flat(),
  )("one that is named in a text is masked: %s", (text) => {
    for (const body of [text, { message: text }, `<p>${text}</p>`]) {
      expect(read(400, body).join()).toMatch(/^(?!.*canary).*\[secret\]/);
    }
  });

  it.each([
    "password: is too short",
    "token: required",
    "Bearer authentication needed",
    'Unexpected token: "x"',
  ])("a sentence about one stays: %s", (text) => expect(read(400, text)).toEqual([text]));

  it("are masked before a text is cut", () => {
    const secret = "correct horse battery staple";
    const clean = (text: string) => text.replaceAll(secret, "[secret]");
    for (let before = 460; before < 510; before++) {
      const text = `${"x ".repeat(before / 2)}${secret} and more ${"y".repeat(600)}`;
      for (const body of [text, { message: text }, `<p>${text}</p>`]) {
        const words = read(500, body, {}, {}, clean).join();
        expect(words).toMatch(/^x x(?!.*corr)/);
        expect(words.length).toBeLessThanOrEqual(500);
      }
    }
  });

  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  it(`a random answer has no secret and no value that was sent quoted (SEED=${seed})`, () => {
    const canary = fc.stringMatching(/^canary( [a-z]{2,8}){1,4}$/);
    const name = fc.constantFrom(
      "errors",
      "data",
      "modules",
      "event_name",
      "detail",
      "payload",
      "x-y",
      "0",
      "message",
    );
    const path = fc.array(fc.option(name), { maxLength: 8 });
    const wrap = (inner: unknown, names: readonly (string | null)[]) =>
      names.reduce<unknown>(
        (part, each) => (each === null ? ["a", part] : { x: "b c", [each]: part }),
        inner,
      );
    fc.assert(
      fc.property(canary, path, path, (text, inner, outer) => {
        const told = JSON.stringify(wrap(text, outer));
        expect(
          read(400, told, {}, { event_name: "x", more: { a: [text] } }).join(),
        ).not.toContain("canary");
        expect(
          read(400, wrap({ api_token: wrap(text, inner) }, outer)).join(),
        ).not.toContain("canary");
        const clean = (said: string) => said.replaceAll(text, "[secret]");
        expect(
          read(400, wrap(`with ${text} in it`, outer), {}, {}, clean).join(),
        ).not.toContain("canary");
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe("a hostile answer", () => {
  // So many bytes are read of an answer, and reading that is not linear would take minutes.
  const many = 2 ** 20;
  it.each<[string, () => string]>([
    [
      "a million keys",
      () => `{${Array.from({ length: many / 20 }, (_, i) => `"k${i}":["is bad"]`).join()}}`,
    ],
    ["a long name", () => `{"${"aB-".repeat(many / 4)}":["x y"]}`],
    ["a long text", () => JSON.stringify({ message: "token ".repeat(many / 6) })],
    ["unclosed tags", () => "<p ".repeat(many / 3)],
    ["unclosed titles", () => "<title ".repeat(many / 7)],
    ["open tags", () => "<a><svg>".repeat(many / 8)],
    ["odd quotes", () => `${'<a ="> "'.repeat(many / 8)}="`],
    ["unclosed comments", () => "<p>x</p><!-- ".repeat(many / 12)],
    ["entities", () => `<p>${"&#0".repeat(many / 3)}</p>`],
    ["passwords", () => `password${'="'.repeat(many / 2)}`],
    ["objects in objects", () => `${'{"a":'.repeat(many / 8)}"x y"${"}".repeat(many / 8)}`],
  ])("of %s is read in time, and little of it is quoted", (_, make) => {
    const words = read(500, make(), HTML);
    expect(words.length).toBeLessThanOrEqual(20);
    expect(words.every((word) => word.length <= 500)).toBe(true);
  });
});

describe("the advice after a refusalError", () => {
  const refused = (body: unknown, status = 400) => {
    const asked = {
      what: "X",
      operation: conversionEvent.create,
      fields: SENT,
      credentialsSource: "",
    };
    return refusalError({
      ...plain,
      ...asked,
      answer: answer(status, body),
      session: "accepted",
    }).message;
  };

  it.each<[boolean, unknown[]]>([
    [
      true,
      [
        "advertiser_id advertiser 1 is not active",
        { message: "no; The advertiser is inactive." },
      ],
    ],
    [
      true,
      [
        { errors: ["ERROR: advertiser 1 is not active"] },
        { errors: { advertiser_id: ["advertiser 1 is not active"] } },
      ],
    ],
    [
      false,
      [
        "the event is not active",
        "segment 9 is not active for advertiser 3",
        { errors: { segment_id: ["is not active"] } },
      ],
    ],
    [
      false,
      [
        "advertiser 3's segment is not active",
        "advertiser 3 is active, but the segment is not known",
        "",
      ],
    ],
  ])("is to activate the advertiser: %s", (isGiven, bodies) => {
    for (const body of bodies) {
      expect(
        refused(body).includes("Activate that advertiser on the platform by hand"),
        String(body),
      ).toBe(isGiven);
    }
  });

  it("of 404 is about the address", () => {
    expect(refused("", 404)).toMatch(
      /404: the response doesn't say why\. Nothing.*Check the address: advertising:baseUrl/,
    );
  });
});
