/** What is told of random answers and of hostile ones. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecretName } from "../../provider/src/client/answer.js";
import { HTML, read, SENT } from "../support/words.js";

describe("hostile answers", () => {
  // An answer of this many bytes is read; whatever is not linear would take minutes.
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
    "%s: bounded",
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
  /** One step outward: the part stands in a list or under a name, among others. */
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

  it("with a sentence at a random place is told with it", () => {
    fc.assert(
      fc.property(sentence, place, status, type, (text, steps, code, contentType) => {
        const words = read(code, JSON.stringify(wrap(text, steps)), { "content-type": contentType });
        expect(words.join("\n")).toContain(text);
      }),
      { seed, numRuns: RUNS },
    );
  });

  it("that is a sentence, or a page with one, is told with it", () => {
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

  it("never tells what was sent, or stands under a name that sounds secret, or is a secret", () => {
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
