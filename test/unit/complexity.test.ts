/** No function of the package has a cyclomatic complexity above 20. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

const BOUND = 20;
const source = resolve(import.meta.dirname, "../../provider/src");

const BRANCHES = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.CaseClause,
  ts.SyntaxKind.CatchClause,
]);
const OPERATORS = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
]);

/** A function's own branches. A named function inside it counts on its own, an unnamed one is part of it. */
function complexitiesIn(file: string): { name: string; complexity: number }[] {
  const text = readFileSync(join(source, file), "utf8");
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: { name: string; complexity: number }[] = [];
  const visit = (node: ts.Node, current: { name: string; complexity: number } | undefined): void => {
    const name = nameOf(node);
    const counted = name === undefined ? current : { name: `${file}: ${name}`, complexity: 1 };
    if (counted !== undefined && counted !== current) found.push(counted);
    const isOperator = ts.isBinaryExpression(node) && OPERATORS.has(node.operatorToken.kind);
    if (counted !== undefined && (BRANCHES.has(node.kind) || isOperator)) counted.complexity++;
    ts.forEachChild(node, (child) => visit(child, counted));
  };
  visit(tree, undefined);
  return found;
}

/** The name of a function, a method, or a constant that holds a function; nothing for any other node. */
function nameOf(node: ts.Node): string | undefined {
  if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return undefined;
  if (ts.isConstructorDeclaration(node)) return `${node.parent.name?.text ?? ""}.constructor`;
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  const isHeld =
    ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent);
  return isHeld ? parent.name.getText() : undefined;
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll(sep, "/"))
  .filter((file) => file.endsWith(".ts") && !file.startsWith("sandbox/"));
const all = files.flatMap(complexitiesIn);

it("finds functions at all", () => {
  expect(all.length).toBeGreaterThan(500);
});

it("no function is above the bound", () => {
  const above = all.filter(({ complexity }) => complexity > BOUND);
  expect(above).toEqual([]);
});
