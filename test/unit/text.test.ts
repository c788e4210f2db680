/** Which known name is suggested for a mistyped or shortened one, and numbers in sentences. */
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { agree, count, nearest } from "../../provider/src/base/text.js";
import { SETTING_NAMES } from "../../provider/src/settings/settings.js";
import { filesIn, textIn } from "../support/pages.js";

it.each([
  // A piece of a name counts as the name, the shortest one first.
  ["maxwait", "maxWaitSeconds"],
  ["MAX_WAIT", "maxWaitSeconds"],
  ["maxWindow", "maxWindowSeconds"],
  ["requestTimeout", "requestTimeoutSeconds"],
  ["auth", "authMode"],
  ["timeoutSeconds", "requestTimeoutSeconds"],
  ["wait", "maxWaitSeconds"],
  ["url", "baseUrl"],
  ["emailAddress", "email"],
  // Typing errors.
  ["maxWiatSeconds", "maxWaitSeconds"],
  ["pasword", "password"],
  ["mail", "email"],
  ["BASE_URI", "baseUrl"],
  ["cookiefiel", "cookieFile"],
  ...["proxy", "token", "x", "", "_", "id", "verbose"].map((typed) => [typed, undefined]),
])("%j, which is no setting, suggests %s", (typed = "", meant) => {
  expect(nearest(typed, SETTING_NAMES)).toBe(meant);
});

it("the nearest of several names is suggested, whatever their order", () => {
  expect(nearest("click_window", ["viewWindow", "clickWindow"])).toBe("clickWindow");
  expect(nearest("vlaue", ["eventName", "value"])).toBe("value");
  for (const known of [
    ["created", "not-created"],
    ["not-created", "created"],
  ]) {
    expect(nearest("not-create", known)).toBe("not-created");
    expect(nearest("creatd", known)).toBe("created");
  }
});

describe("numbers agree with their nouns", () => {
  it.each([
    [0, "0 events", "0 objects are", "them"],
    [1, "1 event", "1 object is", "it"],
    [2, "2 events", "2 objects are", "them"],
  ])("%i", (amount, noun, withVerb, word) => {
    expect(count(amount, "event")).toBe(noun);
    expect(count(amount, "object is", "objects are")).toBe(withVerb);
    expect(agree(amount, "it", "them")).toBe(word);
  });

  /** Each sentence in the source with a number in it, with `amount` as that number. */
  const sentences = (amount: number) =>
    sources().flatMap(({ path, tree }) => sentencesIn(tree).map((each) => `${path}: ${rendered(each, amount)}`));

  it("in every sentence of the package with a number in it", () => {
    expect(sentences(1).length).toBeGreaterThan(40);
    const plural = /\b1 (?:more )?(?:[a-z-]+ ){0,4}(?:are|were|have|leave|stay|them|their)\b/;
    expect(sentences(1).filter((text) => plural.test(text))).toEqual([]);
    expect(
      sentences(1).filter((text) => /\b1 (?:more |live )?(?:advertiser|create|event|object|problem)s\b/.test(text)),
    ).toEqual([]);
    for (const amount of [0, 2]) {
      const singular = new RegExp(
        `\\\b${amount} (?:more )?(?:[a-z-]+ ){0,4}(?:is|was|has|leaves|stays) (?!.*\\\bof\\\b)`,
      );
      expect(sentences(amount).filter((text) => singular.test(text))).toEqual([]);
    }
  });

  it("no number is put before a fixed word", () => {
    const amount = /(?:\.length|\.size|\b(?:amount|rest|total|seconds|live|deleted|errors|moved|looks|waiting))$/;
    const isUnbent = /^ (?:s\b|more|of|only in|still to|not to|unchanged|different|unresolved)/;
    const bare = sources().flatMap(({ path, tree }) =>
      templatesIn(tree).flatMap(({ templateSpans }) =>
        templateSpans
          .filter(({ expression, literal }) => amount.test(expression.getText(tree)) && /^ [a-z]/.test(literal.text))
          .filter(({ literal }) => !isUnbent.test(literal.text))
          .map(({ expression, literal }) => `${path}: ${expression.getText(tree)}${literal.text.slice(0, 16)}`),
      ),
    );
    // Always more than one, or followed by an infinitive.
    expect(bare).toEqual(["program/copies.ts: folders.length copies of pulum", "tools/comment.ts: amount to "]);
  });
});

/** The sandbox imports nothing of the rest, and has a function of its own. */
function sources() {
  return filesIn("provider/src/**/*.ts").map((path) => ({
    path: path.slice("provider/src/".length),
    tree: ts.createSourceFile(path, textIn(path), ts.ScriptTarget.ES2023, true),
  }));
}

function templatesIn(tree: ts.SourceFile): ts.TemplateExpression[] {
  const found: ts.TemplateExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const isText = (node: ts.Node): node is ts.TemplateExpression | ts.BinaryExpression =>
  ts.isTemplateExpression(node) || (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken);

const isAgreed = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) && ["count", "agree"].includes(node.expression.getText());

/** The longest texts around calls of `count` and `agree`. */
function sentencesIn(tree: ts.SourceFile): ts.Node[] {
  const found = new Set<ts.Node>();
  const visit = (node: ts.Node, text: ts.Node | undefined): void => {
    if (isAgreed(node)) found.add(text ?? node);
    ts.forEachChild(node, (child) => visit(child, isText(node) ? (text ?? node) : isAgreed(node) ? text : undefined));
  };
  visit(tree, undefined);
  return [...found];
}

function rendered(node: ts.Node, amount: number): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ expression, literal }) => rendered(expression, amount) + literal.text);
    return node.head.text + spans.join("");
  }
  if (isText(node) && ts.isBinaryExpression(node)) return rendered(node.left, amount) + rendered(node.right, amount);
  if (!isAgreed(node)) return "X";
  const [, one = "X", many] = node.arguments.map((argument) => rendered(argument, amount));
  return node.expression.getText() === "count" ? count(amount, one, many) : agree(amount, one, many ?? "X");
}
