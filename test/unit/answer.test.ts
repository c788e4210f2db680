/** What kind of body an answer has, judged by its content. */
import { expect, it } from "vitest";
import { answer } from "../support/answers.js";

const HTML = { "content-type": "text/html" };
const deep = `${"[".repeat(100_000)}1${"]".repeat(100_000)}`;

it.each<[string, string, Record<string, string>, object]>([
  ["JSON", '{"id":1}', {}, { kind: "json", data: { id: 1 } }],
  ["JSON with HTML's content type", "[1]", HTML, { kind: "json", data: [1] }],
  ["JSON behind a byte order mark", "\ufeff{}", {}, { kind: "json", data: {} }],
  ["an integer beyond 2^53", '{"id":9007199254740993}', {}, { kind: "json", data: { id: "9007199254740993" } }],
  [
    "an integer beyond 2^53 with the fewest digits",
    '{"id":-9007199254740992}',
    {},
    { data: { id: "-9007199254740992" } },
  ],
  ["an integer up to 2^53", '{"id":9007199254740991}', {}, { data: { id: 9007199254740991 } }],
  ["no integer", '{"value":12345678901234567.5,"other":1e20}', {}, { data: { value: 12345678901234568, other: 1e20 } }],
  ["digits in a text", '{"name":"12345678901234567"}', {}, { data: { name: "12345678901234567" } }],
  ["a page", "<!doctype html><p>No.</p>", {}, { kind: "html", data: undefined }],
  ["a text with HTML's content type", "No.", HTML, { kind: "html", data: undefined }],
  ["XML", '<?xml version="1.0"?><e><m>No.</m></e>', {}, { kind: "html", data: undefined }],
  ["XML without a prolog", "<e><m>No.</m></e>", {}, { kind: "text", data: undefined }],
  ["a sentence", "No.", {}, { kind: "text", data: undefined }],
  ["JSON that breaks off", '{"id":', {}, { kind: "text", data: undefined }],
  ["nothing", " \ufeff\n", {}, { kind: "empty" }],
])("%s", (_, body, headers, expected) => {
  expect(answer(200, body, headers)).toMatchObject(expected);
});

it("data that is nested too deep for exact integers counts as text", () => {
  const { kind, data } = answer(200, deep);
  expect(kind).toBe("text");
  expect(Array.isArray(data)).toBe(true);
});
