/** The documentation as data. */
import { readdirSync, readFileSync } from "node:fs";
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

export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

export function codeBlocksOf({ text }: Page): CodeBlock[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", code = ""]) => ({
      language,
      code,
    }),
  );
}

/** The page without code, which has no links or headings. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}
