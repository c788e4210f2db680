import { expect, it } from "vitest";
import { Secrets } from "../../provider/src/secrets.js";

const secret = 'p@ss/w"örd+1 &<x>';

it.each<[string, string]>([
  ["as it is", secret],
  ["percent-encoded", encodeURIComponent(secret)],
  ["percent-encoded in lower case", encodeURIComponent(secret).toLowerCase()],
  ["form-encoded", encodeURIComponent(secret).replaceAll("%20", "+")],
  ["JSON-escaped", JSON.stringify(secret)],
  ["Base64", Buffer.from(secret).toString("base64")],
  ["Base64 in a URL", Buffer.from(secret).toString("base64url")],
  ["Base64 behind a user name", Buffer.from(`user:${secret}`).toString("base64")],
  ["Base64 behind another one", Buffer.from(`ab:${secret}`).toString("base64")],
  ["Base64 between other text", Buffer.from(`x${secret}yz`).toString("base64")],
  ["hexadecimal", Buffer.from(secret).toString("hex")],
  [
    "HTML-escaped",
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ],
])("a secret is removed %s", (_, spelling) => {
  const secrets = new Secrets();
  secrets.add(secret);
  const scrubbed = secrets.scrub(`before ${spelling} after`);
  expect(scrubbed).toContain("[secret]");
  for (const piece of ["w%22", "ö", "cEBzcy93", "Bzcy93I"]) expect(scrubbed).not.toContain(piece);
});

it("leaves other text alone, with none or an empty secret", () => {
  const secrets = new Secrets();
  expect(secrets.scrub("abc")).toBe("abc");
  secrets.add("");
  secrets.add(undefined);
  expect(secrets.scrub("abc")).toBe("abc");
});

it("keeps the newest of many that replace each other, and what was registered for good", () => {
  const secrets = new Secrets();
  secrets.add("the-password");
  for (let n = 0; n < 3000; n++) secrets.addPassing(`cookie-number-${n}-`);
  expect(secrets.scrub("the-password cookie-number-2999- cookie-number-2500-")).toBe("[secret] [secret] [secret]");
});

const JSON_ASCII = (text: string) =>
  JSON.stringify(text).replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

it.each<[string, string, (json: string) => string]>([
  ["a quote", 'long"pass-word-1', (json) => json],
  ["a backslash", "long\\pass-word-1", (json) => json],
  ["an umlaut, as \\uXXXX", "longöpass-word-1", JSON_ASCII],
  ["an umlaut, as \\uXXXX in capitals", "longöpass-word-1", (json) => JSON_ASCII(json).replace("00f6", "00F6")],
  ["a slash, escaped", 'long/pass"word-1', (json) => json.replaceAll("/", "\\/")],
])("row 36: Base64 and hex of the login body, where the password has %s", (_, password, spell) => {
  const secrets = new Secrets();
  secrets.add(password);
  for (const email of ["a@b.c", "ab@b.c", "abc@b.c"]) {
    const inner = spell === JSON_ASCII ? JSON_ASCII(password) : JSON.stringify(password);
    const body = `{"email":"${email}","password":${spell === JSON_ASCII ? inner : spell(inner)},"keep":false}`;
    for (const encoding of ["base64", "base64url", "hex"] as const) {
      const scrubbed = secrets.scrub(Buffer.from(body).toString(encoding));
      expect(scrubbed).toContain("[secret]");
      const left = scrubbed.split("[secret]").map((piece) => Buffer.from(piece, encoding).toString());
      expect(left.join(" ")).not.toMatch(/long|pass-|word-1/);
    }
  }
});

it.each([
  "it&#39;s &quot;x&quot;&amp;y",
  "it&#039;s &#34;x&#x22;&amp;y",
  "it&#x27;s &#X22;x&quot;&#38;y",
  "it&apos;s &#34;x&quot;&y",
  'it&apos;s%20"x%22&amp;y',
  "it's+\\u0022x\\\"\\u0026y",
  'it&amp;#39;s \\\\\\"x\\\\\\"&amp;amp;y',
  "it%2527s%2520%2522x%2522%2526y",
])("row 36: entities, and several spellings in one: %s", (spelling) => {
  const secrets = new Secrets();
  secrets.add(`it's "x"&y`);
  expect(secrets.scrub(`<p>${spelling}</p>`)).toBe("<p>[secret]</p>");
});

it("masks the longest of several that begin at one place, and nothing between two", () => {
  const secrets = new Secrets();
  for (const secret of ["abc", 'abc"d', 'abc"def']) secrets.add(secret);
  expect(secrets.scrub('abc&quot;def abc"d ABC abd')).toBe("[secret] [secret] [secret] abd");
});

it("is quick with many long cookies that rotate, and with secrets and texts made to be slow", () => {
  const secrets = new Secrets();
  const started = performance.now();
  for (let n = 0; n < 2000; n++) {
    secrets.addPassing(`{"session":"${"a+/=".repeat(60)}${n}"}`);
    expect(secrets.scrub("an answer")).toBe("an answer");
  }
  expect(secrets.scrub(`{"session":"${"a+/=".repeat(60)}1999"}`)).toBe("[secret]");
  for (const character of ['"', "\\", '\\"', "%25", "&amp;", "\u00f6"]) {
    const own = new Secrets();
    own.add(`${character.repeat(200)}Z`);
    own.scrub(`${character.repeat(5000)}${"\\".repeat(5000)}`);
    expect(own.scrub(`${character.repeat(200)}Z`)).toBe("[secret]");
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
