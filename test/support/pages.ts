/** The documentation as data. */
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const repository = resolve(import.meta.dirname, "../..");

export interface Page {
  /** The path below the repository's root. */
  readonly path: string;
  readonly text: string;
}

export function page(path: string): Page {
  return { path, text: readFileSync(join(repository, path), "utf8") };
}

/** Every page that people read. */
export function allPages(): Page[] {
  const folders = [".", "provider", "docs", "examples", "examples/starter"];
  return folders.flatMap((folder) =>
    readdirSync(join(repository, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => page(relative(repository, join(repository, folder, name)))),
  );
}

/** Files below the repository's root. */
export const filesIn = (pattern: string) =>
  globSync(pattern, { cwd: repository })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted();

export const textIn = (path: string) => page(path).text;

export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

export function codeBlocksOf({ text }: Page): CodeBlock[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({ language, code }));
}

/** The page without code, which has no links or headings. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** By error code: the examples of its section in docs/messages.md, without what the engine prints around them. */
export function errorExamples(): Map<string, string[]> {
  const { text } = page("docs/messages.md");
  const sections = text.split(/^## /m).slice(1);
  return new Map(
    sections.flatMap((section) => {
      const code = /^`(ADVERTISING_\w+)`/.exec(section)?.[1];
      if (code === undefined) return [];
      const blocks = codeBlocksOf({ path: "", text: `## ${section}` });
      return [[code, blocks.filter(({ language }) => language === "text").map((block) => bare(block.code))] as const];
    }),
  );
}

/** A message with its lines unindented, to compare it with what the engine prints. */
export function bare(message: string): string {
  const lines = message.split("\n").map((line) => line.trim().replace(/^error: /, ""));
  return lines.filter((line) => line !== "").join("\n");
}
