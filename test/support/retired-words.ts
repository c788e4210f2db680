/** Retired words with their replacements, and the texts that are checked for them. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";

const repository = resolve(import.meta.dirname, "../..");

/** One name for one thing, and plain English. A space matches any white space. */
const RETIRED: readonly (readonly [retired: string, instead: string])[] = [
  // names
  ["fast[- ]mode", "checkpoints off"],
  ["session(?:'s)? files?", "cookie file"],
  ["trace ?fields?", "mark field, markField"],
  ["open creates?", "unresolved creates"],
  ["left open", "left unresolved"],
  ["killed runs?", "interrupted run"],
  ["in doubt", "unresolved"],
  ["unsettled", "unresolved"],
  ["report leftovers", "leftovers"],
  ["pulumi-advertising check", "pulumi-advertising validate"],
  ["ADVERTISING_COMMAND", "ADVERTISING_USAGE"],
  ["ADVERTISING_DEFECT", "ADVERTISING_INTERNAL"],
  ["ADVERTISING_ACCOUNT(?!_)", "ADVERTISING_ACCOUNT_MISMATCH"],
  ["ADVERTISING_NO_ANSWER", "ADVERTISING_BAD_ANSWER"],
  // English
  ["anew", "again; replaced"],
  ["(?:let|lets|letting) go", "remove; leaves the state"],
  ["whoever", "anyone who"],
  ["likewise", "also"],
  ["besides", "also; except"],
  ["told|tells", "says, lists, prints"],
  ["look(?:s|ed|ing)? into", "look in the account"],
  ["(?:hold|holds|held) (?:\\S+ ){0,3}against", "checks against"],
  ["of whom|by whomever", "name the noun"],
  ["(?:declared|read|used) no longer", "no longer declared"],
];

const PATTERNS = RETIRED.map(
  ([retired, instead]) => [new RegExp(`\\b(?:${retired.replaceAll(" ", "\\s+")})\\b`, "gi"), instead] as const,
);

/** The name of an action in the code. */
const NAMES_IN_CODE = /`let go`/g;

/** @returns each retired word with its line and what to say instead. */
export function retiredIn(whole: string): string[] {
  const text = whole.replaceAll(NAMES_IN_CODE, "``");
  return PATTERNS.flatMap(([pattern, instead]) =>
    [...text.matchAll(pattern)].map(
      ({ 0: found, index }) => `line ${lineAt(text, index)}: "${found.replaceAll(/\s+/g, " ")}"; say ${instead}`,
    ),
  );
}

const lineAt = (text: string, index: number) => text.slice(0, index).split("\n").length;

/** The program's text with white space in place of all that `keep` does not return, so that line numbers stay. */
function only(text: string, keep: (kind: ts.SyntaxKind, text: string) => string): string {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, text);
  const depths: number[] = [];
  let result = "";
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === ts.SyntaxKind.TemplateHead) depths.push(0);
    if (kind === ts.SyntaxKind.OpenBraceToken && depths.length > 0) depths.push((depths.pop() ?? 0) + 1);
    if (kind === ts.SyntaxKind.CloseBraceToken && depths.length > 0) {
      if (depths.at(-1) === 0) {
        kind = scanner.reScanTemplateToken(false);
        if (kind === ts.SyntaxKind.TemplateTail) depths.pop();
      } else depths.push((depths.pop() ?? 0) - 1);
    }
    const token = scanner.getTokenText();
    result += keep(kind, token) || token.replaceAll(/[^\n]/g, " ");
  }
  return result;
}

const TEXTS = [
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateHead,
  ts.SyntaxKind.TemplateMiddle,
  ts.SyntaxKind.TemplateTail,
];

/** @param names literals that are names in the code, not words for people. */
export const textsOf = (program: string, names: readonly string[] = []) =>
  only(program, (kind, text) => (TEXTS.includes(kind) && !names.includes(text.slice(1, -1)) ? text : ""));

/** Files below the repository's root. */
export const filesIn = (...patterns: string[]) =>
  globSync(patterns, { cwd: repository, exclude: (name) => name === "node_modules" || name.endsWith("/node_modules") })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted();

export const textIn = (path: string) => readFileSync(join(repository, path), "utf8");
