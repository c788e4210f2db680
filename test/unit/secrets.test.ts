/** A registered secret is masked in the spellings that a program gives it, in either Unicode form and in any case. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Secrets } from "../../provider/src/base/secrets.js";
import { secretsIn } from "../../provider/src/client/index.js";
import { settingsOf } from "../support/settings.js";

const secret = "p@ss/w\"örd+1 '&<x>";
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const ascii = (text: string) =>
  json(text).replace(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
const html = (text: string, apostrophe: string) =>
  Object.entries({
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": apostrophe,
  }).reduce((escaped, [character, entity]) => escaped.replaceAll(character, entity), text);
const percent = (text: string) => encodeURIComponent(text.toWellFormed());
const strict = (text: string) =>
  percent(text).replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);

const SPELLINGS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "percent-encoded": percent,
  "percent-encoded in lower case": (text) =>
    percent(text).replace(/%../g, (each) => each.toLowerCase()),
  "percent-encoded as RFC 3986 has it": strict,
  "as a form has it": (text) => strict(text).replaceAll("%20", "+"),
  "JSON-escaped": json,
  "JSON-escaped, with slashes": (text) => json(text).replaceAll("/", "\\/"),
  "JSON-escaped in ASCII, with slashes": (text) => ascii(text).replaceAll("/", "\\/"),
  "JSON-escaped in ASCII": ascii,
  "HTML-escaped": (text) => html(text, "&#39;"),
  "HTML-escaped as PHP does it": (text) => html(text, "&#039;"),
  "HTML-escaped, but for apostrophes": (text) => html(text, "'"),
  "in hexadecimal digits": (text) => Buffer.from(text).toString("hex"),
  "in Base64": (text) => Buffer.from(text).toString("base64").replace(/=+$/, ""),
  "in Base64 for addresses": (text) => Buffer.from(text).toString("base64url"),
};

const maskedWith = (registered: string, text: string) => {
  const secrets = new Secrets();
  secrets.add(registered);
  return secrets.scrub(text);
};

it.each(Object.entries(SPELLINGS))("a secret is removed %s", (_, spell) => {
  for (const form of ["NFC", "NFD"] as const) {
    const written = spell(secret.normalize(form));
    for (const registered of [secret.normalize("NFC"), secret.normalize("NFD")])
      for (const text of [written, written.toUpperCase(), written.toLowerCase()])
        expect(maskedWith(registered, `before ${text} after`), text).toBe(
          "before [secret] after",
        );
  }
});

it.each([
  ["Straße", "STRASSE"],
  ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
  ["PASSWORD", "pAssWord"],
  ["İstanbul", "İSTANBUL"],
  ["x", "X"],
  ["a\ud800b", "a\ud800b"],
  ["a\ud800b", "a\ufffdb"],
  ["%", "%"],
  ["&amp;", "&amp;"],
  [" ", " "],
])("the secret %j is removed as %j, and the rest stays as it was", (registered, text) => {
  expect(maskedWith(registered, `É-${text}-É`)).toBe("É-[secret]-É");
});

it.each([
  ['{"value":12345}, 12345.0, 12345.', '{"value":[secret]}, [secret], [secret].'],
  ["12,345 or 12,345.00, of 7,12345", "[secret] or [secret], of 7,[secret]"],
  [
    "-12345 value%3D12345 is%2012345 &#39;12345",
    "-[secret] value%3D[secret] is%20[secret] &#39;[secret]",
  ],
  [
    "ids stay: 612345, 123456, 12345.5, 0.12345, 2345",
    "ids stay: 612345, 123456, 12345.5, 0.12345, 2345",
  ],
  ["0.250 and 1e+21", "[secret] and [secret]"],
])(
  "a secret number is removed, and never from the middle of another one: %s",
  (text, scrubbed) => {
    const secrets = new Secrets();
    for (const number of [-12345, 0.25, 1e21]) secrets.addWithin(number);
    expect(secrets.scrub(text)).toBe(scrubbed);
  },
);

it.each(["a", "on", "and", "12", "ör"])(
  "a secret as short as %j is removed where it stands alone, and never from the middle of a word",
  (short) => {
    const words = `x${short}x ${short}x x${short} 7${short} é${short}`;
    expect(maskedWith(short, `${words} "${short}" ${short}`)).toBe(
      `${words} "[secret]" [secret]`,
    );
  },
);

it("other text stays as it is, with no secret or an empty one", () => {
  const secrets = new Secrets();
  expect(secrets.scrub("abc")).toBe("abc");
  for (const nothing of ["", undefined]) secrets.add(nothing);
  expect(secrets.scrub("Abc")).toBe("Abc");
});

it("the name of a setting or its variable stays, but for a secret that is more than a part of it", () => {
  const [setting, variable] = ["advertising:password", "ADVERTISING_PASSWORD"];
  const named = `with ${variable}, or ${setting}:`;
  const masked = (password: string, text: string) =>
    secretsIn({ settings: settingsOf({ password }), proxy: undefined }).scrub(text);
  expect(masked("password", `${named} password Password1 user:password`)).toBe(
    `${named} [secret] [secret]1 user:[secret]`,
  );
  expect(masked("email", "ADVERTISING_EMAIL email")).toBe("ADVERTISING_EMAIL [secret]");
  expect(masked(setting, named)).toBe(`with ${variable}, or [secret]:`);
  expect(masked(`${variable}1`, `${variable}1`)).toBe("[secret]");
  expect(masked(`x${variable}`, `x${variable}`)).toBe("[secret]");
});

it("of many that replace each other the newest are masked, and those registered for good always", () => {
  const secrets = new Secrets();
  secrets.add("the-password");
  for (let n = 0; n < 3000; n++) secrets.addPassing(`cookie-number-${n}-`);
  expect(secrets.scrub("the-password cookie-number-2999- cookie-number-2500-")).toBe(
    "[secret] [secret] [secret]",
  );
  expect(secrets.scrub("cookie-number-1-")).toBe("cookie-number-1-");
});

it("of several at one place the longest is masked, overlapping ones as one, and nothing between two", () => {
  const secrets = new Secrets();
  for (const each of ["abc", 'abc"d', 'abc"def', "efgh"]) secrets.add(each);
  expect(secrets.scrub('abc&quot;def abc"d abc abd abc"defgh')).toBe(
    "[secret] [secret] [secret] abd [secret]",
  );
});

it("a random secret is removed in one spelling, whatever is around it", () => {
  const nasty = fc
    .string({
      unit: fc.constantFrom(..."abnux0245CF%&#;\\\"'/<>+ =öÖ€😀\n"),
      minLength: 4,
      maxLength: 20,
    })
    .filter((text) => /\S{4}/.test(text));
  const around = fc.constantFrom(
    "",
    "C:\\",
    "100%",
    "R&",
    '"',
    "\\",
    "lt;",
    "41",
    "u0041",
    "n",
  );
  fc.assert(
    fc.property(
      nasty,
      fc.constantFrom(...Object.values(SPELLINGS)),
      around,
      around,
      (any, spell, before, after) => {
        expect(maskedWith(any, before + spell(any) + after)).not.toContain(spell(any));
      },
    ),
    { numRuns: 1000 },
  );
});

it("a random secret is removed in Base64, whatever is encoded with it", () => {
  const long = fc
    .string({ minLength: 6, maxLength: 20 })
    .filter((text) => /\S{4}/.test(text));
  const around = fc.string({ maxLength: 9 });
  fc.assert(
    fc.property(
      long,
      around,
      around,
      fc.constantFrom("base64", "base64url"),
      (any, before, after, encoding) => {
        const left = maskedWith(
          any,
          Buffer.from(before + any + after).toString(encoding as BufferEncoding),
        );
        expect(left).toContain("[secret]");
        expect(
          left.split("[secret]").map((piece) => Buffer.from(piece, "base64").toString()),
        ).not.toContain(any);
      },
    ),
    { numRuns: 1000 },
  );
});
