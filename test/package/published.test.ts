/** What a package in the registry is held to: its form, its public names, its licences, nothing dead. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import {
  type Manifest,
  manifestIn,
  packProvider,
  projectEnvironment,
  providerFolder,
  useTemporaryFolder,
} from "../support/packed.js";
import { runProcess } from "../support/stack.js";

const repository = resolve(providerFolder, "..");
const temporary = useTemporaryFolder();
const tool = (path: string, ...args: string[]) =>
  runProcess("node", [join(repository, "node_modules", path), ...args], repository, projectEnvironment());

it("publint has nothing to say", async () => {
  const { code, output } = await tool("publint/src/cli.js", "provider", "--strict");
  expect(output).toContain("All good!");
  expect(code).toBe(0);
});

it("its types are found and right for each way of resolving modules (attw)", async () => {
  const { code, output } = await tool(
    "@arethetypeswrong/cli/dist/index.js",
    await packProvider(temporary()),
    "--format",
    "ascii",
  );
  expect(output).toContain("No problems found");
  expect(code).toBe(0);
});

it("its public names are those of public-names.txt; `vitest -u` writes it again, to be reviewed", async () => {
  const entries = Object.entries(manifestIn(providerFolder).exports).flatMap(([path, entry]) =>
    typeof entry === "string" ? [] : [[path, join(providerFolder, entry.types as string)] as const],
  );
  const program = ts.createProgram(
    entries.map(([, file]) => file),
    { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, skipLibCheck: true },
  );
  const checker = program.getTypeChecker();
  const lines = entries.flatMap(([path, file]) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${relative(repository, file)} is no module`);
    const names = checker.getExportsOfModule(module).map((symbol) => {
      const { flags } = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return `${symbol.name}${flags & ts.SymbolFlags.Value ? "" : " (type)"}`;
    });
    return [`pulumi-advertising${path.slice(1)}`, ...names.sort().map((name) => `  ${name}`)];
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("public-names.txt");
});

interface Locked extends Partial<Manifest> {
  readonly license?: string;
}

/** Everything that installing the package brings, by its place in package-lock.json. Pulumi is the user's own. */
function installed(): Map<string, Locked> {
  const { packages } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const found = new Map<string, Locked>();
  const add = (place: string) => {
    const each = packages[place] as Locked;
    if (found.has(place)) return;
    found.set(place, each);
    for (const name of Object.keys(each.dependencies ?? {})) add(placeOf(name, place));
  };
  const placeOf = (name: string, from: string): string => {
    for (let at = from; ; at = at.includes("/") ? dirname(at) : "") {
      const place = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
      if (packages[place] !== undefined) return place;
      if (at === "") throw new Error(`${name}, which ${from} needs, is not in package-lock.json`);
    }
  };
  add("provider");
  found.delete("provider");
  return found;
}

it("docs/licences.md lists the licence of everything that is installed with it; `vitest -u` writes it again", async () => {
  const rows = [...installed()].map(([place, { version, license }]) => {
    const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    const files = ["LICENSE", "LICENSE.md", "LICENCE", "license", "LICENSE.txt"];
    const hasText = files.some((file) => existsSync(join(repository, place, file)));
    expect(hasText, `${name} has the text of its licence`).toBe(true);
    return `| \`${name}\` | ${version} | ${license ?? "not told"} |`;
  });
  const text = `# Licences

This package is under Apache-2.0. It bundles nothing; installing it brings these packages, each with the text of its own licence.
\`@pulumi/pulumi\` is your program's own dependency.

| package | version | licence |
|---|---|---|
${rows.sort().join("\n")}
`;
  for (const row of rows) expect(row).toMatch(/\| (MIT|MIT-0|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD) \|/);
  await expect(text).toMatchFileSnapshot("../../docs/licences.md");
});
