/**
 * Measures how plain the TypeScript of a folder is: `node scripts/plain.mjs [--json] FOLDER…`. Lines of code are neither
 * blank nor only comment, and their characters are counted without indentation. Generated files don't count.
 */
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { argumentsOf, runMain } from "./lib/base.mjs";

const LONG_LINE = 100;
const MANY_PARAMETERS = 5;

/** @returns the figures of all TypeScript files below a folder, and the characters of code by folder. */
export function measure(folder) {
  const files = sourceFiles(folder).map((path) => parse(folder, path));
  const lines = files.flatMap(codeLines);
  const nodes = files.flatMap((file) => [...nodesIn(file)]);
  const conditionals = nodes.filter(ts.isConditionalExpression);
  const longLines = lines.filter((line) => line.length > LONG_LINE);
  const characters = charactersOf(lines);
  return {
    files: files.length,
    lines: lines.length,
    characters,
    charactersPerLine: rounded(characters / lines.length),
    longLinesPercent: rounded((100 * longLines.length) / lines.length),
    conditionalsPerThousandLines: rounded((1000 * conditionals.length) / lines.length),
    nestedConditionals: conditionals.filter(isNested).length,
    namesDeclaredTwice: namesDeclaredTwice(files).length,
    functionsOfManyParameters: nodes.filter(hasManyParameters).length,
    arraysDestructured: nodes.filter(isArrayDestructured).length,
    returnTypes: nodes.filter(isReturnTypeOfFunction).length,
    charactersByFolder: charactersByFolder(files),
  };
}

/** The names that are declared at the top level of two files or more. */
function namesDeclaredTwice(files) {
  const names = files.flatMap((file) => [
    ...new Set(file.statements.flatMap(declaredNames)),
  ]);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function sourceFiles(folder) {
  const isSource = (path) => /\.[cm]?tsx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path);
  const isElsewhere = (path) =>
    path.split(sep).some((part) => ["node_modules", "dist"].includes(part));
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => isSource(path) && !isElsewhere(path)).toSorted();
}

/** The tree of a file, with its path below the folder; an empty one for a generated file. */
function parse(folder, path) {
  const text = readFileSync(join(folder, path), "utf8");
  const isGenerated = /generated (by|from)|@generated|do not edit/i.test(
    text.slice(0, 500),
  );
  return ts.createSourceFile(path, isGenerated ? "" : text, ts.ScriptTarget.Latest, true);
}

/** The lines that are neither blank nor only comment. */
function codeLines(file) {
  const lines = file.text.split("\n");
  const numbers = new Set();
  const lineAt = (position) => file.getLineAndCharacterOfPosition(position).line;
  for (const node of nodesIn(file)) {
    const isToken = node.getChildCount(file) === 0 && node.getWidth(file) > 0;
    if (!isToken) continue;
    for (let line = lineAt(node.getStart(file)); line <= lineAt(node.getEnd()); line++)
      numbers.add(line);
  }
  return [...numbers]
    .map((number) => lines[number].trimEnd())
    .filter((line) => line !== "");
}

/** All nodes of a tree, punctuation included, comments not. */
function* nodesIn(node, file = node) {
  if (ts.isJSDoc(node)) return;
  yield node;
  for (const child of node.getChildren(file)) yield* nodesIn(child, file);
}

function isNested(conditional) {
  let { parent } = conditional;
  while (ts.isParenthesizedExpression(parent)) parent = parent.parent;
  return ts.isConditionalExpression(parent);
}

function declaredNames(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(variableNames);
  const isOverload = ts.isFunctionDeclaration(statement) && statement.body === undefined;
  const isDeclaration =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  if (!isDeclaration || isOverload || statement.name === undefined) return [];
  return [statement.name.text];
}

function variableNames({ name }) {
  return ts.isIdentifier(name)
    ? [name.text]
    : name.elements.filter(ts.isBindingElement).flatMap(variableNames);
}

function hasManyParameters(node) {
  return (
    ts.isFunctionLike(node) &&
    node.body !== undefined &&
    node.parameters.length >= MANY_PARAMETERS
  );
}

/** `const [a, b] = [c, d]`: values that have nothing in common but their line. */
function isArrayDestructured(node) {
  if (!ts.isVariableDeclaration(node) || node.initializer === undefined) return false;
  return (
    ts.isArrayBindingPattern(node.name) && ts.isArrayLiteralExpression(node.initializer)
  );
}

function isReturnTypeOfFunction(node) {
  if (!ts.isTypeReferenceNode(node) || node.typeName.getText() !== "ReturnType")
    return false;
  return node.typeArguments?.some(ts.isTypeQueryNode) === true;
}

function charactersByFolder(files) {
  const characters = {};
  for (const file of files) {
    const folder = dirname(file.fileName);
    characters[folder] = (characters[folder] ?? 0) + charactersOf(codeLines(file));
  }
  return characters;
}

function charactersOf(lines) {
  return lines.reduce((sum, line) => sum + line.trim().length, 0);
}

function rounded(number) {
  return Math.round(number * 10) / 10;
}

const TITLES = {
  conditionalsPerThousandLines: "conditional expressions a thousand lines of code",
  nestedConditionals: "nested conditional expressions",
  longLinesPercent: `lines over ${LONG_LINE} characters, %`,
  charactersPerLine: "characters a line of code",
  namesDeclaredTwice: "top-level names declared in two files",
  functionsOfManyParameters: `functions of ${MANY_PARAMETERS} parameters or more`,
  arraysDestructured: "unrelated values destructured from an array literal",
  returnTypes: "`ReturnType<typeof f>` as a domain type",
  characters: "characters of code",
  lines: "lines of code",
  files: "files",
};

function asTable(folders, figures) {
  const rows = Object.entries(TITLES).map(([name, title]) => [
    title,
    ...figures.map((all) => all[name]),
  ]);
  const modules = [
    ...new Set(figures.flatMap((all) => Object.keys(all.charactersByFolder))),
  ].toSorted();
  const parts = modules.map((name) => [
    `characters in ${name}`,
    ...figures.map((all) => all.charactersByFolder[name]),
  ]);
  const row = (cells) =>
    `| ${cells.map((cell = "") => cell.toLocaleString("en")).join(" | ")} |`;
  const rule = `|---|${folders.map(() => "---:|").join("")}`;
  return [row(["", ...folders]), rule, ...[...rows, ...parts].map(row)].join("\n");
}

const USAGE = "Usage: node scripts/plain.mjs [--json] FOLDER…   (default: provider/src)";

function main() {
  const { values, positionals } = argumentsOf(USAGE, {
    allowPositionals: true,
    options: { json: { type: "boolean" } },
  });
  const folders = positionals.length > 0 ? positionals : ["provider/src"];
  const figures = folders.map(measure);
  if (!values.json) console.log(asTable(folders, figures));
  else
    console.log(
      JSON.stringify(
        Object.fromEntries(folders.map((folder, index) => [folder, figures[index]])),
        null,
        2,
      ),
    );
}

if (
  process.argv[1] !== undefined &&
  realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
)
  await runMain(main);
