/** The texts in a folder's source that somebody may read: strings and templates of several words. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const WORDS = 3;

export interface SourceText {
  readonly file: string;
  readonly line: number;
  /** The text's longest part without a placeholder. */
  readonly part: string;
}

/** @param folder holds `.ts` files, at any depth. */
export function textsIn(folder: string): SourceText[] {
  return globSync("**/*.ts", { cwd: folder })
    .toSorted()
    .flatMap((file) => textsOf(file, readFileSync(join(folder, file), "utf8")));
}

function textsOf(file: string, code: string): SourceText[] {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  const found: SourceText[] = [];
  const visit = (node: ts.Node) => {
    const parts = partsOf(node).map(singleSpaced);
    const longest = parts.toSorted((a, b) => b.length - a.length)[0] ?? "";
    const isProse =
      parts.join(" x ").split(" ").length >= WORDS && /[a-z]{3}/.test(longest);
    if (isProse) {
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
