/** A refusal's readable text is always quoted; what was sent, and secrets, never are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecretName } from "../../provider/src/client/answer.js";
import { HTML, read, SENT } from "../support/words.js";

describe("the sentence is quoted in every shape of answer", () => {
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
      [
        "Your request is not valid.",
        "Two parameters did not fit.",
        "invalid-params: must be a number",
        "invalid-params: must be green",
      ],
      { "content-type": "application/problem+json" },
    ],
    [
      "a fault",
      429,
      { fault: { faultstring: fault, detail: { errorcode: "policies.ratelimit.QuotaViolation" } } },
      ["errorcode policies.ratelimit.QuotaViolation", `fault.faultstring: ${fault}`],
    ],
    [
      "GraphQL",
      400,
      {
        errors: [{ message: "No such advertiser.", path: ["createEvent"], extensions: { code: "NOT_FOUND" } }],
        data: null,
      },
      ["No such advertiser.", "code NOT_FOUND"],
    ],
    [
      "an error as an object",
      400,
      { error: { code: 400, message: "The value is missing.", status: "INVALID_ARGUMENT" } },
      ["The value is missing."],
    ],
    ["reasons by field", 400, { result: "error", reasons: { event_name: "taken" } }, ["reasons.event_name: taken"]],
    ["reasons by field, as codes", 400, { errors: { event_name: "too_long" } }, ["event_name: too_long"]],
    ["a list of problems with codes", 400, { errors: [{ code: "E1", message: "a b" }] }, ["a b (code E1)"]],
    ["a message in a language", 404, { odata: { error: { message: { lang: "en", text: "No." } } } }, ["odata: No."]],
    ["numbers among words", 400, { x: "100 events 99 may" }, ["x: 100 events 99 may"]],
    ["a bare string", 400, '"Not today."', ["Not today."]],
    ["a list of strings", 400, ["Too long.", "Too loud."], ["Too long.", "Too loud."]],
    ["FastAPI", 422, { detail: [{ loc: ["body", "value"], msg: "field required", type: "m" }] }, ["field required"]],
    [
      "JSON:API",
      422,
      { errors: [{ status: "422", source: { pointer: "/data/attributes/value" }, detail: "Must be a number." }] },
      ["Must be a number."],
    ],
    [
      "Spring",
      404,
      { timestamp: "2026-01-01T00:00", status: 404, error: "Not Found", path: "/rest/event" },
      ["Not Found"],
    ],
    [
      "XML, as its text",
      400,
      '<?xml version="1.0"?>\n<error><code>17</code><message>The name &quot;a&quot; is taken.</message></error>',
      ['17; The name "a" is taken.'],
      { "content-type": "application/xml" },
    ],
    [
      "SOAP, as its text",
      500,
      '<s:Envelope xmlns:s="x"><s:Body><s:Fault><faultstring>No such operation.</faultstring></s:Fault></s:Body></s:Envelope>',
      ["No such operation."],
    ],
    ["a string of JSON within JSON", 400, { body: '{"message":"No way."}' }, ["body: No way."]],
    ["a text with half a JSON", 400, '{"message": "No way.", "x": NaN}', ['{"message": "No way.", "x": NaN}']],
    ["a byte order mark", 400, '\ufeff{"message":"No way."}', ["No way."]],
    [
      "a language without spaces",
      400,
      { x: "\u540d\u524d\u306f\u65e2\u306b\u4f7f\u308f\u308c\u3066\u3044\u307e\u3059" },
      ["x: \u540d\u524d\u306f\u65e2\u306b\u4f7f\u308f\u308c\u3066\u3044\u307e\u3059"],
    ],
    ["no sentence at all", 400, { kind: "E_BUSY", n: 4 }, ["kind: E_BUSY"]],
    [
      "a sentence that contains what was sent",
      400,
      { x: "purchase of shoes is taken" },
      ["x: purchase of shoes is taken"],
    ],
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

  it("nesting too deep to parse as usual", () => {
    const depth = 100_000;
    const body = `${"[".repeat(depth)}"The name is taken."${"]".repeat(depth)}`;
    expect(read(400, body)).toEqual(["The name is taken."]);
    expect(read(400, `${'{"a":'.repeat(depth)}"The name is taken."${"}".repeat(depth)}`)[0]).toMatch(
      /The name is taken\.$/,
    );
  });
});

describe("what is not quoted", () => {
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
  ])("%s", (_, body) => {
    expect(read(400, body)).toEqual([]);
  });

  it("a sentence under a name that sounds secret: the message says only where it is", () => {
    expect(read(400, { errors: { password: ["is the canary"] } })).toEqual([
      'what it says is under "password", a name that sounds secret, and is not shown',
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
  ])("a value under %s, however deep", (name) => {
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

  it("half of a secret at the cut of a long text", () => {
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

describe("of a page", () => {
  const page = `<!DOCTYPE html><html lang="en"><head><title>406 Not&nbsp;Acceptable</title>
    <style>p > b { content: "no text" }</style><script>if (a < b) alert("</p> no text")</script></head>
    <body data-x="a > b"><!-- no <p>text</p> --><h1>406 Not Acceptable</h1>
    <p>The name <b>&#8220;shoes&#x201d;</b>
    is taken.</p><form><input type="hidden" name="csrf" value="canary"></form></body></html>`;

  it("the title and the paragraph are quoted", () => {
    expect(read(406, page, HTML)).toEqual([
      'an HTML page titled "406 Not Acceptable": The name \u201cshoes\u201d is taken.',
    ]);
  });

  it("a long menu does not hide them", () => {
    const menu = Array.from({ length: 300 }, (_, index) => `<li><a href="/${index}">Menu ${index}</a></li>`).join("");
    const words = read(503, `<html><ul>${menu}</ul><p>We are down for maintenance.</p></html>`, HTML);
    expect(words).toEqual(["an HTML page: We are down for maintenance."]);
  });

  it.each<[string, string, string[]]>([
    ["without a title", "<html><body>Out of order</body></html>", ["an HTML page: Out of order"]],
    ["with only a title", "<html><title>Maintenance</title></html>", ['an HTML page titled "Maintenance"']],
    ["a part of one", "The name<br>is taken.", ["The name; is taken."]],
    ["text with < that is not a tag", "Unexpected token < in JSON", ["Unexpected token < in JSON"]],
    ["without any text", "<html><body><img src=x></body></html>", []],
    ["cut off in a tag", "<p>The name is taken.</p><p class=", ["The name is taken."]],
    ["with a quote that is never closed", '<p title="x>The name is taken.</p>', ["The name is taken."]],
    ["without the text of an element that sounds secret", "<e><token>canary</token><m>busy</m></e>", ["busy"]],
    ["with what was sent", "<p>purchase of shoes</p><p>is taken</p>", ["is taken"]],
  ])("%s", (_, body, words) => {
    expect(read(500, body, HTML)).toEqual(words);
  });

  it("in a field, it is quoted as text", () => {
    expect(read(400, { message: "<p>The name is <i>taken</i>.</p>" })).toEqual(["The name is taken."]);
  });
});

describe("hostile answers", () => {
  // An answer of this many bytes is read, so reading that is not linear would take minutes.
  const many = 2 ** 20;
  it.each<[string, () => string]>([
    ["a million keys", () => `{${Array.from({ length: many / 16 }, (_, i) => `"k${i}":"is bad"`).join()}}`],
    ["a long name", () => `{"${"aB-".repeat(many / 4)}":"x y"}`],
    ["a long text", () => JSON.stringify({ message: "token ".repeat(many / 6) })],
    ["a long word", () => JSON.stringify({ message: "a".repeat(many) })],
    ["unclosed tags", () => "<p ".repeat(many / 3)],
    ["open tags", () => "<a><svg>".repeat(many / 8)],
    ["odd quotes", () => `${'<a ="> "'.repeat(many / 8)}="`],
    ["unclosed comments", () => "<p>x</p><!-- ".repeat(many / 12)],
    ["deep XML", () => `<x>${"<a>".repeat(many / 3)}x y</x>`],
    ["entities", () => `<p>${"&#0".repeat(many / 3)}</p>`],
    ["passwords", () => `password${'="'.repeat(many / 2)}`],
    [
      "JSON in JSON in JSON",
      () => JSON.stringify(JSON.stringify(JSON.stringify(JSON.stringify({ a: "b".repeat(many) })))),
    ],
  ])(
    "%s: takes little time",
    (_, make) => {
      const body = make();
      const words = read(500, body, HTML);
      expect(words.length).toBeLessThanOrEqual(20);
      expect(words.every((word) => word.length <= 500)).toBe(true);
    },
    120_000,
  );
});

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = 500;

describe(`a random answer (SEED=${seed})`, () => {
  console.log(`words: SEED=${seed}`);
  const word = fc.constantFrom(
    ...'the name event advertiser segment value window is must was not be taken known valid account limit exceeded 3 "foo" (E7) it\'s, zu gro\u00df'.split(
      " ",
    ),
  );
  const sentence = fc.array(word, { minLength: 4, maxLength: 12 }).map((words) => `Sorry: ${words.join(" ")}.`);
  const name = fc
    .oneof(
      fc.constantFrom("errors", "data", "modules", "event_name", "detail", "payload", "x-y", "0", "status", "type"),
      fc.string({ maxLength: 12 }),
    )
    .filter(
      (text) =>
        !isSecretName(text) &&
        text !== "__proto__" &&
        !/^(users?|owner|customer|contact|person|profile|(created|updated|modified).?by)$/i.test(text),
    );
  const noise = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom("error", "E_1", "", "x", "https://x.example/is/not", SENT.event_name),
    fc.array(fc.constantFrom(1, "a", null), { maxLength: 3 }),
  );
  /** One level of nesting: the part is put into a list or under a name, among others. */
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("list"),
      before: fc.array(noise, { maxLength: 3 }),
      after: fc.array(noise, { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("object"), name, others: fc.dictionary(name, noise, { maxKeys: 4 }) }),
  );
  type Step = { kind: string; before?: unknown[]; after?: unknown[]; name?: string; others?: Record<string, unknown> };
  const wrap = (inner: unknown, steps: readonly Step[]) =>
    steps.reduce<unknown>(
      (part, { kind, before = [], after = [], name: key = "", others }) =>
        kind === "list" ? [...before, part, ...after] : { ...others, [key]: part },
      inner,
    );
  const place = fc.array(step, { maxLength: 8 }) as fc.Arbitrary<Step[]>;
  const status = fc.constantFrom(200, 400, 401, 406, 409, 422, 500, 503);
  const type = fc.constantFrom("application/json", "text/html", "text/plain", "application/xml", "");

  it("with a sentence at a random place is quoted with it", () => {
    fc.assert(
      fc.property(sentence, place, status, type, (text, steps, code, contentType) => {
        const words = read(code, JSON.stringify(wrap(text, steps)), { "content-type": contentType });
        expect(words.join("\n")).toContain(text);
      }),
      { seed, numRuns: RUNS },
    );
  });

  it("that is a sentence, or a page with one, is quoted with it", () => {
    fc.assert(
      fc.property(sentence, status, type, fc.boolean(), (text, code, contentType, isPage) => {
        const html = text.replaceAll('"', "&quot;");
        const body = isPage ? `<html><title>Oh no</title><div><p>${html}</p></div></html>` : text;
        const words = read(code, body, { "content-type": contentType });
        expect(words.join("\n")).toContain(text);
        if (isPage) expect(words.join("\n")).toContain("Oh no");
      }),
      { seed, numRuns: RUNS },
    );
  });

  it("never has what was sent, a value under a name that sounds secret, or a secret quoted", () => {
    const canary = fc.stringMatching(/^canary( [a-z]{2,8}){1,4}$/);
    const secretName = fc.constantFrom("password", "api_token", "sessionId", "Cookie", "x-auth-token", "credentials");
    fc.assert(
      fc.property(canary, place, place, secretName, status, type, (text, inner, outer, secret, code, contentType) => {
        const headers = { "content-type": contentType };
        const echo = JSON.stringify(wrap(text, outer));
        expect(read(code, echo, headers, { event_name: "x", more: { a: [text] } }).join()).not.toContain("canary");
        const hidden = JSON.stringify(wrap({ [secret]: wrap(text, inner) }, outer));
        expect(read(code, hidden, headers).join()).not.toContain("canary");
        const clean = (said: string) => said.replaceAll(text, "[secret]");
        const cookie = JSON.stringify(wrap(`with ${text} in it`, outer));
        expect(read(code, cookie, headers, {}, clean).join()).not.toContain("canary");
      }),
      { seed, numRuns: RUNS },
    );
  });
});
