import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Secrets } from "../../provider/src/base/secrets.js";

const secret = 'p@ss/w"örd+1 &<x>';
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const code = (c: string) => c.charCodeAt(0).toString(16).padStart(4, "0");
const ascii = (text: string) => json(text).replace(/[^\x20-\x7e]/g, (c) => `\\u${code(c)}`);
const html = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const bytes = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const percent = (text: string) => encodeURIComponent(text.toWellFormed());
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** The ways in which a single program may write a text. */
const SPELLINGS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "percent-encoded": percent,
  "percent-encoded in lower case": (text) => percent(text).replace(/%../g, (each) => each.toLowerCase()),
  "percent-encoded as RFC 3986 has it": (text) =>
    percent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
  "form-encoded": (text) => percent(text).replaceAll("%20", "+"),
  "every byte percent-encoded": bytes,
  "JSON-escaped": json,
  "JSON-escaped, with slashes": (text) => json(text).replaceAll("/", "\\/"),
  "JSON-escaped in ASCII": ascii,
  "JSON-escaped in ASCII and capitals": (text) =>
    json(text).replace(/[^\x20-\x7e]/g, (c) => `\\u${code(c).toUpperCase()}`),
  "HTML-escaped": html,
  "HTML-escaped with apostrophes": (text) => html(text).replaceAll("'", "&#39;"),
  "HTML-escaped as numbers": (text) =>
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&#34;")
      .replaceAll("'", "&#39;"),
  hexadecimal: (text) => Buffer.from(text).toString("hex"),
  "hexadecimal in capitals": (text) => Buffer.from(text).toString("hex").toUpperCase(),
};

it.each(Object.entries(SPELLINGS))("a secret is removed %s", (_, spell) => {
  const secrets = new Secrets();
  secrets.add(secret);
  expect(secrets.scrub(`before ${spell(secret)} after`)).toBe("before [secret] after");
});

it.each<[string, string]>([
  ["Base64", base64(secret)],
  ["Base64 in a URL", Buffer.from(secret).toString("base64url")],
  ["Base64 after a user name", base64(`user:${secret}`)],
  ["Base64 after another user name", base64(`ab:${secret}`)],
  ["Base64 between other text", base64(`x${secret}yz`)],
])("row 36: a secret is removed as %s", (_, spelling) => {
  const secrets = new Secrets();
  secrets.add(secret);
  const scrubbed = secrets.scrub(`before ${spelling} after`);
  expect(scrubbed).toMatch(/^before \S*\[secret\]\S{0,2} after$|^before \S*\[secret\]\S* after$/);
  const left = scrubbed.split("[secret]").map((piece) => Buffer.from(piece, "base64").toString());
  expect(left.join(" ")).not.toMatch(/ss\/w|örd/);
});

it.each([
  ["value 12345 is too high", "value [secret] is too high"],
  ['{"value":12345}, 12345.0, 12345.', '{"value":[secret]}, [secret], [secret].'],
  ["12,345 or 12,345.00, of 7,12345 and 8,123,12345", "[secret] or [secret], of 7,[secret] and 8,123,[secret]"],
  [
    "-12345 value%3D12345 is%2012345 &#39;12345&#39; \\u002012345",
    "-[secret] value%3D[secret] is%20[secret] &#39;[secret]&#39; \\u0020[secret]",
  ],
  ["other ids stay: 612345, 123456, 12345.5, 0.12345, 2345", "other ids stay: 612345, 123456, 12345.5, 0.12345, 2345"],
  ["0.50, 1e+21 and 1000000000000000000000", "[secret], [secret] and [secret]"],
])(
  "a secret number is removed as a platform writes it, and never from the middle of another one: %s",
  (text, scrubbed) => {
    const secrets = new Secrets();
    for (const number of [-12345, 0.5, 1e21]) secrets.addNumber(number);
    expect(secrets.scrub(text)).toBe(scrubbed);
  },
);

it("other text stays as it is, with no secret or an empty one", () => {
  const secrets = new Secrets();
  expect(secrets.scrub("abc")).toBe("abc");
  secrets.add("");
  secrets.add(undefined);
  expect(secrets.scrub("abc")).toBe("abc");
});

it("of many that replace each other the newest are masked, and those registered for good always", () => {
  const secrets = new Secrets();
  secrets.add("the-password");
  for (let n = 0; n < 3000; n++) secrets.addPassing(`cookie-number-${n}-`);
  expect(secrets.scrub("the-password cookie-number-2999- cookie-number-2500-")).toBe("[secret] [secret] [secret]");
});

it("of several at one place the longest is masked, overlapping ones as one, and nothing between two", () => {
  const secrets = new Secrets();
  for (const secret of ["abc", 'abc"d', 'abc"def', "efgh"]) secrets.add(secret);
  expect(secrets.scrub('abc&quot;def abc"d abc abd abc"defgh')).toBe("[secret] [secret] [secret] abd [secret]");
});

it.each(["x", "ab", "a\ud800b", "\u0000\u0001\u0002", " ", "%", "&amp;"])("an odd secret is masked too: %j", (odd) => {
  const secrets = new Secrets();
  secrets.add(odd);
  expect(secrets.scrub(`-${odd}-`)).toBe("-[secret]-");
});

describe("row 36: a random secret (fast-check prints the seed of a failure)", () => {
  /** Texts with all characters that mean something to a decoder. */
  const nasty = fc
    .string({ unit: fc.constantFrom(..."abnux0245CF%&#;\\\"'/<>+ =ö€😀\n"), minLength: 6, maxLength: 20 })
    .filter((text) => /[^\s]{4}/.test(text));
  const around = fc.constantFrom("", "C:\\", "100%", "R&", '"', "\\", "lt;", "41", "u0041", "n");

  it("is removed in one spelling, whatever is around it", () => {
    fc.assert(
      fc.property(nasty, fc.constantFrom(...Object.values(SPELLINGS)), around, around, (any, spell, before, after) => {
        const secrets = new Secrets();
        secrets.add(any);
        expect(secrets.scrub(before + spell(any) + after)).not.toContain(spell(any));
      }),
      { numRuns: 1000 },
    );
  });

  it("is removed in Base64, whatever is encoded with it", () => {
    fc.assert(
      fc.property(nasty, fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (any, before, after) => {
        const secrets = new Secrets();
        secrets.add(any);
        for (const encoding of ["base64", "base64url"] as const) {
          const scrubbed = secrets.scrub(Buffer.from(before + any + after).toString(encoding));
          expect(scrubbed).toContain("[secret]");
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("cost, in steps", () => {
  const alike = (n: number) => `{"session":"${"a+/=".repeat(60)}${1000 + n}"}`;
  const texts: [string, string][] = [
    ["plain words", "the request was refused "],
    ["what begins like every cookie", `{"session":"${"a+/=".repeat(60)}?"}`],
    ["Base64", base64("the request was refused ")],
    ["hexadecimal digits", Buffer.from("the request was refused ").toString("hex")],
    ["escapes within escapes", "%25252522&amp;amp;quot;"],
    ["the beginning of the password", '\\"'],
  ];
  const stepsOf = (cookies: number, text: string) => {
    const secrets = new Secrets();
    secrets.add(`${'\\"'.repeat(100)}Z`);
    for (let n = 0; n < cookies; n++) secrets.addPassing(alike(n));
    secrets.scrub(text);
    expect(secrets.scrub(alike(cookies - 1))).toBe("[secret]");
    return secrets.steps;
  };

  it.each(texts)("grows with the text, not with the number of cookies: %s", (_, part) => {
    const text = part.repeat(20_000 / part.length);
    const steps = stepsOf(10, text);
    expect(stepsOf(1000, text)).toBe(steps);
    expect(steps).toBeLessThan(40 * text.length);
    expect(stepsOf(10, text + text)).toBeLessThan(2.1 * steps);
  });
});
