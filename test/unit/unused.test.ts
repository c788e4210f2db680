/** Every export, file and dependency is used. */
import { readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

const repository = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(repository, path), "utf8");

/** Each file of ours that may import another one. */
const files = ts.sys
  .readDirectory(
    repository,
    [".ts", ".mts", ".mjs"],
    ["**/node_modules", "**/dist", "**/.pulumi-local"],
    ["provider/src", "test", "scripts", "bench", "tools", "examples", "*.ts"],
  )
  .map((file) => resolve(file));
const pathOf = (file: string) => relative(repository, file).split(sep).join("/");

/** Loaded by users, Pulumi, vitest or a shell: all that these files export counts as used. */
const ENTRIES =
  /^provider\/src\/(index|handlers|testing\/index|sandbox\/index)\.ts$|^examples\/|^test\/types\/|\.test\.ts$|^vitest\.config\.ts$|^(scripts\/lib\/count-reporter\.mjs|test\/support\/stack-init\.ts)$/;

it("each exported value is used by another file, and each exported type there or in a signature", {
  timeout: 300_000,
}, () => {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile).config,
    ts.sys,
    repository,
  );
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const sources = files.flatMap((file) => program.getSourceFile(file) ?? []);
  expect(sources.length).toBeGreaterThan(300);
  const exportsOf = (source: ts.SourceFile) => {
    const symbol = checker.getSymbolAtLocation(source);
    return symbol === undefined ? [] : checker.getExportsOfModule(symbol);
  };

  const users = new Map<ts.Symbol, Set<ts.SourceFile>>();
  const timesAtHome = new Map<ts.Symbol, number>();
  /** Other names need no look-up of their type. */
  const names = new Set(sources.flatMap((source) => exportsOf(source).map(({ name }) => name)));
  const originOf = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const note = (symbol: ts.Symbol | undefined, source: ts.SourceFile) => {
    if (symbol === undefined) return;
    const origin = originOf(symbol);
    users.set(origin, (users.get(origin) ?? new Set()).add(source));
    if (origin.declarations?.[0]?.getSourceFile() === source) {
      timesAtHome.set(origin, (timesAtHome.get(origin) ?? 0) + 1);
    }
  };
  for (const source of sources) {
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node) && names.has(node.text)) {
        note(checker.getSymbolAtLocation(node), source);
        if (ts.isShorthandPropertyAssignment(node.parent)) {
          note(checker.getShorthandAssignmentValueSymbol(node.parent), source);
        }
        // `const { name } = await import(…)`
        if (ts.isBindingElement(node.parent) && node.parent.propertyName === undefined) {
          note(checker.getTypeAtLocation(node.parent.parent).getProperty(node.text), source);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  const unused = sources.flatMap((source) => {
    if (ENTRIES.test(pathOf(source.fileName))) return [];
    return exportsOf(source).flatMap((exported) => {
      const origin = originOf(exported);
      if (origin.declarations?.[0]?.getSourceFile() !== source) return []; // re-exported from another file
      if ([...(users.get(origin) ?? [])].some((user) => user !== source)) return [];
      const isType = (origin.flags & ts.SymbolFlags.Value) === 0;
      return isType && (timesAtHome.get(origin) ?? 0) > 1 ? [] : [`${pathOf(source.fileName)}: ${exported.name}`];
    });
  });
  expect(unused).toEqual([]);
});

/** All texts that may name a file or a package, except this test: source, scripts, workflows, pages. */
function naming(): { readonly path: string; readonly text: string }[] {
  const others = ts.sys.readDirectory(
    repository,
    [".json", ".md", ".yml"],
    ["**/node_modules", "**/dist", "**/.pulumi-local", "**/package-lock.json"],
    ["*.json", "*.md", "docs", ".github", "provider", "examples"],
  );
  return [...files, ...others.map((file) => resolve(file))]
    .filter((path) => path !== import.meta.filename)
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

it("each file is imported or named by another one", () => {
  const all = naming();
  const imported = new Set(
    all.flatMap(({ path, text }) =>
      [...text.matchAll(/["'](\.{1,2}\/[^"'\n]+)["']/g)].map(([, target = ""]) =>
        pathOf(resolve(dirname(path), target))
          .replace("/dist/", "/src/")
          .replace(/\.js$/, ".ts"),
      ),
    ),
  );
  const unnamed = files.map(pathOf).filter((path) => {
    if (ENTRIES.test(path) || imported.has(path)) return false;
    if (path.startsWith("provider/")) return true;
    const name = basename(path); // files that are started with `node` or by a script
    return !all.some((each) => pathOf(each.path) !== path && each.text.includes(name));
  });
  expect(unnamed).toEqual([]);
});

/** Used without an import: the compiler and what it reads, the Node.js of the runs, Pulumi's types for examples. */
const NOT_IMPORTED: Record<string, string> = {
  "@types/node": '"types": ["node"]',
  "@arethetypeswrong/cli": "attw",
  "@biomejs/biome": "biome check",
  "gitlab-ci-local": "gitlab-ci-local/dist/index.js",
  mocha: "mocha",
  node: '"node_modules", "node"',
  publint: "publint",
  pulumi: '"pulumi"',
  typedoc: "typedoc --options",
};

it.each(["package.json", "provider/package.json"])("each dependency of %s is used", (manifest) => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(read(manifest));
  const home = manifest === "package.json" ? "" : "provider/src/";
  const own = files.filter((file) => pathOf(file).startsWith(home)).map((file) => readFileSync(file, "utf8"));
  const everything = naming();
  const unused = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => {
    const sign = NOT_IMPORTED[name];
    if (sign !== undefined) return !everything.some(({ text }) => text.includes(sign));
    return !own.some((text) => new RegExp(`(from|import|require\\w*)\\b[ (]*["']${name}(/[^"']*)?["']`).test(text));
  });
  expect(unused).toEqual([]);
});
