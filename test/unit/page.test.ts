/** What is told of a page of HTML. */
import { describe, expect, it } from "vitest";
import { HTML, read } from "../support/words.js";

describe("of a page", () => {
  const page = `<!DOCTYPE html><html lang="en"><head><title>406 Not&nbsp;Acceptable</title>
    <style>p > b { content: "no text" }</style><script>if (a < b) alert("</p> no text")</script></head>
    <body data-x="a > b"><!-- no <p>text</p> --><h1>406 Not Acceptable</h1>
    <p>The name <b>&#8220;shoes&#x201d;</b>
    is taken.</p><form><input type="hidden" name="csrf" value="canary"></form></body></html>`;

  it("the title and the paragraph are told", () => {
    expect(read(406, page, HTML)).toEqual([
      'an HTML page titled "406 Not Acceptable": The name \u201cshoes\u201d is taken.',
    ]);
  });

  it("a long menu hides nothing", () => {
    const menu = Array.from({ length: 300 }, (_, index) => `<li><a href="/${index}">Menu ${index}</a></li>`).join("");
    const words = read(503, `<html><ul>${menu}</ul><p>We are down for maintenance.</p></html>`, HTML);
    expect(words).toEqual(["an HTML page: We are down for maintenance."]);
  });

  it.each<[string, string, string[]]>([
    ["without a title", "<html><body>Out of order</body></html>", ["an HTML page: Out of order"]],
    ["with a title alone", "<html><title>Maintenance</title></html>", ['an HTML page titled "Maintenance"']],
    ["a part of one", "The name<br>is taken.", ["The name; is taken."]],
    ["what is no tag", "Unexpected token < in JSON", ["Unexpected token < in JSON"]],
    ["without any text", "<html><body><img src=x></body></html>", []],
    ["what breaks off in a tag", "<p>The name is taken.</p><p class=", ["The name is taken."]],
    ["with a quote that is never closed", '<p title="x>The name is taken.</p>', ["The name is taken."]],
    ["with cells of settings", "<table><td>SESSION_KEY<td>canary<td>Why<td>busy</table>", ["SESSION_KEY; Why; busy"]],
    ["with what was sent", "<p>purchase of shoes</p><p>is taken</p>", ["is taken"]],
  ])("%s", (_, body, words) => {
    expect(read(500, body, HTML)).toEqual(words);
  });

  it("in a field, it is told as text", () => {
    expect(read(400, { message: "<p>The name is <i>taken</i>.</p>" })).toEqual(["The name is taken."]);
  });
});
