/** What people read: links lead somewhere, and programs compile. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { allPages, codeBlocksOf, page, proseOf } from "../support/pages.js";

const repository = resolve(import.meta.dirname, "../..");
const pages = allPages();

/** As GitHub makes them from headings. */
function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  });
}

it.each(pages.map(({ path }) => path))("%s: each relative link leads somewhere", (path) => {
  const links = proseOf(page(path)).matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g);
  const targets = [...links].map(([, target, picture]) => target ?? picture ?? "");
  const wrong = targets.filter((target) => {
    if (/^(https?|mailto):/.test(target)) return false;
    const [file = "", anchor] = target.split("#");
    const found =
      file === "" ? join(repository, path) : resolve(repository, dirname(path), file);
    if (!existsSync(found) || relative(repository, found).startsWith("..")) return true;
    return (
      anchor !== undefined &&
      !anchorsOf(proseOf({ path, text: readFileSync(found, "utf8") })).includes(anchor)
    );
  });
  expect(wrong).toEqual([]);
});

it("the page on npm has no link that leaves the package", () => {
  expect(proseOf(page("provider/README.md"))).not.toMatch(/\]\((?!https:)/);
});

it("each line that names the package's version has that of provider/package.json", () => {
  const { version } = JSON.parse(page("provider/package.json").text);
  const manifests = ["starter", "policy"].map((name) =>
    page(`examples/${name}/package.json`),
  );
  const lines = [...pages, ...manifests].flatMap(({ path, text }) =>
    text.split("\n").map((line, index) => ({ place: `${path}:${index + 1}`, line })),
  );
  const named = lines.flatMap(({ place, line }) => {
    const versions = line.matchAll(
      /advertising(?:[ @]|-v|": "\^)(\d+\.\d+\.\d+(?:-\w+\.\d+)?)/g,
    );
    return [...versions].map(([, found]) => ({ place, found }));
  });
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ found }) => found !== version)).toEqual([]);
});

it("each TypeScript block compiles", { timeout: 60_000 }, () => {
  const files = new Map<string, string>();
  const nameOf = (path: string, index: number) =>
    path === "README.md" && index === 0
      ? "index.ts"
      : `${path.replaceAll("/", "-")}-${index}.ts`; // another one imports index.ts
  for (const each of pages) {
    // What imports the plugin's SDK is compiled with it (test/package/examples.test.ts).
    const blocks = codeBlocksOf(each).filter(
      ({ language, code }) => language === "ts" && !code.includes("pulumi-advertising-sdk"),
    );
    for (const [index, { code }] of blocks.entries())
      files.set(join(repository, "test", nameOf(each.path, index)), code);
  }
  expect(files.size).toBeGreaterThan(2);
  const config = ts.readConfigFile(
    join(repository, "tsconfig.json"),
    ts.sys.readFile,
  ).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  const kind = {
    languageVersion: ts.ScriptTarget.ES2023,
    impliedNodeFormat: ts.ModuleKind.ESNext,
  } as const;
  host.fileExists = (name) => files.has(resolve(name)) || fileExists(name);
  host.readFile = (name) => files.get(resolve(name)) ?? readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const text = files.get(resolve(name));
    return text === undefined
      ? getSourceFile(name, ...rest)
      : ts.createSourceFile(name, text, kind);
  };
  const problems = ts
    .getPreEmitDiagnostics(ts.createProgram([...files.keys()], options, host))
    .map(
      ({ file, messageText }) =>
        `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  expect(problems).toEqual([]);
});
