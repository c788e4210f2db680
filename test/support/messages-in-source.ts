/**
 * The texts in a folder's source that somebody may read: strings and templates of several words. What a type lists, such
 * as the name of an action, is data.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const WORDS = 3;
/** A text with fewer of its own, beside placeholders, says nothing by itself: `key ${owner}/${key}`. */
const OWN_WORDS = 2;

export interface SourceText {
  readonly file: string;
  readonly line: number;
  /** The text's longest part without a placeholder. */
  readonly part: string;
}

/** @param folder holds `.ts` files, at any depth. */
export function textsIn(folder: string): SourceText[] {
  const files = globSync("**/*.ts", { cwd: folder }).toSorted();
  const sources = files.map((file) => {
    const code = readFileSync(join(folder, file), "utf8");
    return ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  });
  const data = new Set(sources.flatMap(literalTypesIn));
  return sources.flatMap(textsOf).filter(({ part }) => !data.has(part));
}

function literalTypesIn(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal))
      found.push(node.literal.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function textsOf(source: ts.SourceFile): SourceText[] {
  const file = source.fileName;
  const found: SourceText[] = [];
  const visit = (node: ts.Node) => {
    const parts = partsOf(node);
    // A placeholder is a word, or a part of the one that it stands in: `set-x` is one.
    const words = singleSpaced(parts.join("x")).split(" ");
    const ownWords = parts.join(" ").match(/[a-z]{2,}/gi) ?? [];
    const [longest = ""] = parts.map(singleSpaced).toSorted((a, b) => b.length - a.length);
    if (words.length >= WORDS && ownWords.length >= OWN_WORDS && /[a-z]{3}/.test(longest)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ file, line: line + 1, part: longest });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function partsOf(node: ts.Node): string[] {
  if (ts.isImportDeclaration(node.parent ?? node)) return [];
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node))
    return [node.text];
  if (ts.isTemplateExpression(node))
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  return [];
}

/** A message without its line ends and indents, for comparison. */
export function singleSpaced(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
