/** A refusal that holds readable text is never told without it; what was sent, and secrets, never come with it. */
import { describe, expect, it } from "vitest";
import { isSecretName } from "../../provider/src/client/names.js";
import { HTML, read, SENT } from "../support/words.js";

describe("every shape is told with its sentence", () => {
  const wrong = '"foo" is not a valid choice.';
  const fault = "Rate limit quota violation.";
  it.each<[string, number, unknown, string[], Record<string, string>?]>([
    [
      "nested by module",
      400,
      { modules: { geo: { advertiser_id: [wrong] } } },
      [`modules.geo.advertiser_id: ${wrong}`],
    ],
    ["a plain sentence as text/html", 406, "The name is taken.", ["The name is taken."], HTML],
    [
      "problem+json",
      400,
      {
        type: "https://example.com/probs/is-not-valid",
        title: "Your request is not valid.",
        status: 400,
        detail: "Two parameters did not fit.",
        instance: "/rest/event/7",
        "invalid-params": [
          { name: "value", reason: "must be a number" },
          { name: "colour", reason: "must be green" },
        ],
      },
      ["Your request is not valid.", "Two parameters did not fit.", "value: must be a number", "colour: must be green"],
      { "content-type": "application/problem+json" },
    ],
    [
      "a fault",
      429,
      { fault: { faultstring: fault, detail: { errorcode: "policies.ratelimit.QuotaViolation" } } },
      [fault, "errorcode policies.ratelimit.QuotaViolation"],
    ],
    [
      "GraphQL",
      400,
      {
        errors: [{ message: "No such advertiser.", path: ["createEvent"], extensions: { code: "NOT_FOUND" } }],
        data: null,
      },
      ["createEvent: No such advertiser.", "code NOT_FOUND"],
    ],
    [
      "an error as an object",
      400,
      { error: { code: 400, message: "The value is missing.", status: "INVALID_ARGUMENT" } },
      ["The value is missing."],
    ],
    ["reasons by field", 400, { result: "error", reasons: { event_name: "taken" } }, ["event_name: taken"]],
    ["reasons by field, as codes", 400, { errors: { event_name: "too_long" } }, ["event_name: too_long"]],
    ["a list of problems with codes", 400, { errors: [{ code: "E1", message: "a b" }] }, ["a b (code E1)"]],
    ["a message in a language", 404, { odata: { error: { message: { lang: "en", text: "No." } } } }, ["odata: No."]],
    ["numbers among words", 400, { x: "100 events 99 may" }, ["x: 100 events 99 may"]],
    ["a bare string", 400, '"Not today."', ["Not today."]],
    ["a list of strings", 400, ["Too long.", "Too loud."], ["Too long.", "Too loud."]],
    [
      "FastAPI",
      422,
      { detail: [{ loc: ["body", "value"], msg: "field required", type: "m" }] },
      ["body.value: field required"],
    ],
    [
      "JSON:API",
      422,
      { errors: [{ status: "422", source: { pointer: "/data/attributes/value" }, detail: "Must be a number." }] },
      ["data.attributes.value: Must be a number."],
    ],
    [
      "Spring",
      404,
      { timestamp: "2026-01-01T00:00", status: 404, error: "Not Found", path: "/rest/event" },
      ["Not Found"],
    ],
    [
      "XML",
      400,
      '<?xml version="1.0"?>\n<error><code>17</code><message>The name &quot;a&quot; is taken.</message></error>',
      ['The name "a" is taken.', "code 17"],
      { "content-type": "application/xml" },
    ],
    [
      "XML without a prolog, by field",
      400,
      "<response><errors><event_name>is too long</event_name></errors></response>",
      ["event_name: is too long"],
    ],
    ["XML in attributes", 400, '<error code="E7" text="The name is taken"/>', ["The name is taken", "code E7"]],
    [
      "SOAP",
      500,
      '<s:Envelope xmlns:s="x"><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>No such operation.</faultstring></s:Fault></s:Body></s:Envelope>',
      ["No such operation.", "faultcode s:Client"],
    ],
    ["a string of JSON within JSON", 400, { body: '{"message":"No way."}' }, ["No way."]],
    ["a text with half a JSON", 400, '{"message": "No way.", "x": NaN}', ['{"message": "No way.", "x": NaN}']],
    ["a byte order mark", 400, '\ufeff{"message":"No way."}', ["No way."]],
    [
      "a language without spaces",
      400,
      { x: "\u540d\u524d\u306f\u65e2\u306b\u4f7f\u308f\u308c\u3066\u3044\u307e\u3059" },
      ["x: \u540d\u524d\u306f\u65e2\u306b\u4f7f\u308f\u308c\u3066\u3044\u307e\u3059"],
    ],
    ["no sentence at all", 400, { kind: "E_BUSY", n: 4 }, ["kind: E_BUSY"]],
    ["a name that is the sentence", 400, { "The name is taken": true }, ["The name is taken"]],
    ["one that contains what was sent", 400, { x: "purchase of shoes is taken" }, ["x: purchase of shoes is taken"]],
    ["a person's record and nothing else", 400, { user: { note: "may not create" } }, ["user.note: may not create"]],
  ])("%s", (_, status, body, words, headers) => {
    expect(read(status, body, headers)).toEqual(words);
  });

  it("deep nesting", () => {
    let body: unknown = "The name is taken.";
    for (let depth = 0; depth < 60; depth++) body = depth % 2 ? [body] : { [`n${depth}`]: body };
    const words = read(400, body);
    expect(words).toHaveLength(1);
    expect(words[0]).toMatch(/^n10\..*n0: The name is taken\.$/);
  });

  it("so deep that it is not parsed as usual", () => {
    const depth = 100_000;
    const body = `${"[".repeat(depth)}"The name is taken."${"]".repeat(depth)}`;
    expect(read(400, body)).toEqual(["The name is taken."]);
    expect(read(400, `${'{"a":'.repeat(depth)}"The name is taken."${"}".repeat(depth)}`)[0]).toMatch(
      /The name is taken\.$/,
    );
  });
});

describe("what is not told", () => {
  it.each<[string, unknown]>([
    ["the request", SENT],
    ["the request in an object", { request: { body: SENT } }],
    ["the request as a string", { request: JSON.stringify(SENT) }],
    ["a value in a message's place", { message: "Purchase of shoes" }],
    ["a value with entities", { x: "purchase &#111;f shoes" }],
    ["the request as XML", "<e><event_name>purchase of shoes</event_name><x>dark red</x></e>"],
    ["the request as lines", "purchase of shoes\ndark red\n"],
    ["the request as lines with names", 'event_name: purchase of shoes\n"colour": "dark red",\nvalue=1\n'],
    ["flags", { success: "false", ok: "no", status: "error", result: "failed", error: "true" }],
    ["numbers and nothing", { a: 1, b: null, c: true, d: [], e: {}, f: "", g: " - " }],
    ["dates", { a: "Fri, 06 Mar 2026 10:00:00 GMT", b: "2026-03-06 10:00 UTC", c: "March 6, 2026", d: "6 Mar 26" }],
    ["what looks like a key", { ticket: "aB3dE5fG7hI9kL1mN3oP5", message: "0123456789abcdef0123456789abcdef" }],
  ])("%s", (_, body) => {
    expect(read(400, body)).toEqual([]);
  });

  it("says where it is, when all that is said stands under a name that sounds secret", () => {
    expect(read(400, { errors: { password: ["is the canary"] } })).toEqual([
      'what it says stands under "password", a name that sounds secret, and is not shown',
    ]);
  });

  it.each([
    "password",
    "Password2",
    "user_pwd",
    "passphrase",
    "token",
    "accessToken",
    "refresh_token",
    "cookie",
    "Set-Cookie",
    "sessionId",
    "session",
    "PHPSESSID",
    "sid",
    "auth",
    "Authorization",
    "x-api-key",
    "apiKey",
    "private_key",
    "clientSecret",
    "credentials",
    "csrf",
  ])("what stands under %s, however deep", (name) => {
    const canary = "the canary is alive";
    for (const value of [canary, [canary], { message: canary }, [{ errors: [{ message: canary }] }]]) {
      expect(read(400, { message: "bad", x: { [name]: value } })).toEqual(["bad"]);
      expect(read(500, { [name]: value }).join()).not.toContain("canary");
    }
    expect(read(400, `<e><${name}>${canary}</${name}><m>all bad</m></e>`).join()).not.toContain("canary");
  });

  it.each(["author", "passenger", "compass", "message", "pinned", "site"])("but %s sounds like no secret", (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it.each([
    "Failed: password=canary&x=1",
    'half {"password":"canary", "message',
    'half {\\"password\\":\\"canary\\"',
    'half {"password":"canary one two',
    "Cookie: a=canary; b=canary",
    "Authorization: Bearer canary-1234",
    "authorization: Basic Y2FuYXJ5OmNhbmFyeQ==",
    "token: canary",
    "api_key = 'canary'",
  ])("a secret that is named in a text: %s", (text) => {
    for (const body of [text, { message: text }, `<p>${text}</p>`]) {
      const words = read(400, body, {}, {}).join();
      expect(words).toContain("[secret]");
      expect(words).not.toMatch(/canary|Y2FuYXJ5/);
    }
  });

  it.each([
    "Invalid password: must be longer",
    "password: is too short",
    "token: required",
    "Bearer authentication needed",
    'Unexpected token: "x"',
  ])("but a sentence about one is: %s", (text) => {
    expect(read(400, text)).toEqual([text]);
  });

  it("half of a secret, where a long text is cut", () => {
    const secret = "correct horse battery staple";
    const clean = (text: string) => text.replaceAll(secret, "[secret]");
    for (let before = 460; before < 510; before++) {
      const text = `${"x ".repeat(before / 2)}${secret} and more ${"y".repeat(600)}`;
      for (const body of [text, { message: text }, `<p>${text}</p>`, `<e><m>${text}</m></e>`]) {
        const words = read(500, body, {}, {}, clean).join();
        expect(words).toMatch(/^(e\.m: )?x x/);
        expect(words.length).toBeLessThanOrEqual(500);
        expect(words).not.toContain("corr");
      }
    }
  });
});
