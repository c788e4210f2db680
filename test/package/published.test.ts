/** What a package in the registry is held to: what is in its tarball, its form, its public names. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import ts from "typescript";
import { beforeAll, expect, it } from "vitest";
import { fetchTool } from "../../scripts/lib/tools.mjs";
import {
  extract,
  manifestIn,
  packProvider,
  projectEnvironment,
  providerFolder,
  useTemporaryFolder,
} from "../support/packed.js";
import { runProcess } from "../support/stack.js";

const repository = resolve(providerFolder, "..");
const temporary = useTemporaryFolder();
let tarball: string;
let files: Map<string, string>;

beforeAll(async () => {
  tarball = await packProvider(temporary());
  const folder = await extract(tarball, temporary());
  files = new Map(
    filesBelow(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")]),
  );
});

/** Relative, with slashes, sorted. */
const filesBelow = (top: string) =>
  readdirSync(top, { recursive: true, encoding: "utf8" })
    .filter((file) => statSync(join(top, file)).isFile())
    .map((file) => file.replaceAll(sep, "/"))
    .sort();

it("holds package.json, what is compiled, the page's template, style and script, the plugin's starter, the schemas, README, LICENSE and the pages that errors name, and nothing else", () => {
  const compiled = filesBelow(join(providerFolder, "src")).flatMap((file) =>
    [".js", ".d.ts"].map((ending) => `dist/${file.replace(/\.ts$/, ending)}`),
  );
  const docs = filesBelow(join(repository, "docs")).map((file) => `docs/${file}`);
  const assets = ["assets/page.css", "assets/page.html", "assets/page.js"];
  expect(docs).toContain("docs/messages.md");
  expect(
    [...files.keys()],
    "if files of former sources stay in provider/dist, remove it and build again",
  ).toEqual(
    [
      "catalog.schema.json",
      "package.json",
      "pulumi-resource-",
      "pulumi-resource-advertising",
      "schema.json",
      "README.md",
      "LICENSE",
      ...assets,
      ...docs,
      ...compiled,
    ].sort(),
  );
});

it("has no page with a link that leaves their folder", () => {
  const pages = [...files].filter(([file]) => file.startsWith("docs/"));
  const wrong = pages.filter(([, text]) => text.includes("](../"));
  expect(wrong.map(([file]) => file)).toEqual([]);
});

it("names no source map, no test and no place of this machine", () => {
  const telling = [repository, `${homedir()}${sep}`, "sourceMappingURL", "vitest"];
  const wrong = [...files].filter(
    ([file, text]) =>
      !file.startsWith("docs/") && telling.some((each) => text.includes(each)),
  );
  expect(wrong.map(([file]) => file)).toEqual([]);
});

it("needs only what it declares, in ranges, of which the repository tests the lowest", () => {
  const { dependencies, peerDependencies } = manifestIn(providerFolder);
  for (const [name, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
    const { version } = manifestIn(join(repository, "node_modules", name));
    expect([name, range]).toEqual([name, `^${version}`]);
  }
  const needed = [...files]
    .filter(([file]) => /\.(js|d\.ts)$/.test(file))
    .flatMap(([, text]) => [
      ...text.matchAll(/^[^*]*?\b(?:require\(|from |import\()"([^."][^"]*)"/gm),
    ])
    .map(([, name = ""]) => name)
    .filter((name) => !name.startsWith("node:"))
    .map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
  // It names itself in the reference that stands in the state.
  const declared = [
    ...Object.keys({ ...dependencies, ...peerDependencies }),
    "pulumi-advertising",
  ];
  expect([...new Set(needed)].toSorted()).toEqual(declared.toSorted());
});

const tool = async (name: string, file: string, ...args: string[]) =>
  runProcess(
    "node",
    [join(await fetchTool(name), file), ...args],
    repository,
    projectEnvironment(),
  );

it("publint has nothing to say", async () => {
  const { code, output } = await tool("publint", "src/cli.js", "provider", "--strict");
  expect(output).toContain("All good!");
  expect(code).toBe(0);
});

it("its types are found and right for each way of resolving modules (attw)", async () => {
  const { code, output } = await tool(
    "@arethetypeswrong/cli",
    "dist/index.js",
    tarball,
    "--format",
    "ascii",
  );
  expect(output).toContain("No problems found");
  expect(code).toBe(0);
});

it("its public names are those of public-names.txt; `vitest -u` writes it again, to be reviewed", async () => {
  const entries = Object.entries(manifestIn(providerFolder).exports).flatMap(
    ([path, entry]) =>
      typeof entry === "string"
        ? []
        : [[path, join(providerFolder, entry.types as string)] as const],
  );
  const options = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
  };
  const program = ts.createProgram(
    entries.map(([, file]) => file),
    options,
  );
  const checker = program.getTypeChecker();
  const lines = entries.flatMap(([path, file]) => {
    const module = checker.getSymbolAtLocation(
      program.getSourceFile(file) as ts.SourceFile,
    );
    if (module === undefined) throw new Error(`${relative(repository, file)} is no module`);
    const names = checker.getExportsOfModule(module).map((symbol) => {
      const { flags } =
        symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return `${symbol.name}${flags & ts.SymbolFlags.Value ? "" : " (type)"}`;
    });
    return [
      `pulumi-advertising${path.slice(1)}`,
      ...names.sort().map((name) => `  ${name}`),
    ];
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("public-names.txt");
});
