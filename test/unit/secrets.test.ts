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
