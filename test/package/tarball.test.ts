/** What is in the tarball that users install. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { beforeAll, expect, it } from "vitest";
import {
  extract,
  type Manifest,
  manifestIn,
  packProvider,
  providerFolder,
  useTemporaryFolder,
} from "../support/packed.js";

const repository = resolve(providerFolder, "..");
const temporary = useTemporaryFolder();
let folder: string;
let files: string[];
let manifest: Manifest;

beforeAll(async () => {
  folder = await extract(await packProvider(temporary()), temporary());
  files = filesBelow(folder);
  manifest = manifestIn(folder);
});

const read = (file: string) => readFileSync(join(folder, file), "utf8");

it("holds package.json, what is compiled, README and LICENSE, and nothing else", () => {
  const documents = ["README.md", "LICENSE"].filter((name) => existsSync(join(providerFolder, name)));
  const compiled = filesBelow(join(providerFolder, "src"))
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [".js", ".d.ts"].map((ending) => `dist/${file.replace(/\.ts$/, ending)}`));
  expect(files, "if files of former sources stay in provider/dist, remove it and build again").toEqual(
    ["catalog.schema.json", "package.json", ...documents, ...compiled].sort(),
  );
});

it("names no source map, no test and no place of this machine", () => {
  const telling = new RegExp(
    [repository, `${homedir()}${sep}`].map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"),
  );
  const wrong = files.filter((file) => {
    const text = read(file);
    return telling.test(text) || text.includes("sourceMappingURL") || /\bvitest\b/.test(text);
  });
  // The manifest's scripts and devDependencies are the repository's.
  expect(wrong.filter((file) => file !== "package.json" || telling.test(read(file)))).toEqual([]);
});

it("has every file that its package.json names, and commands that start Node", () => {
  const targets = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  );
  const commands = Object.values(manifest.bin);
  const named = [manifest.main, manifest.types, ...targets, ...commands];
  expect(named.filter((file) => !files.includes(file.replace(/^\.\//, "")))).toEqual([]);
  expect(commands).not.toEqual([]);
  for (const command of commands) expect(read(command)).toMatch(/^#!\/usr\/bin\/env node\n/);
  for (const name of ["LICENSE", "README.md"]) expect(manifest.files).toContain(name);
});

it("says how its files are loaded, and names the same declarations to resolvers that know no `exports`", () => {
  expect(manifest.type).toBe("commonjs");
  const declarations = Object.entries(manifest.exports).flatMap(([path, entry]) =>
    typeof entry === "string" ? [] : [[path, entry.types]],
  );
  const paths = Object.entries(manifest.typesVersions["*"] ?? {}).map(([path, [file]]) => [`./${path}`, file]);
  expect([[".", manifest.types], ...paths].sort()).toEqual(declarations.sort());
});

it("needs only what it declares", () => {
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const needed = files
    .filter((file) => /\.(js|d\.ts)$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/^[^*]*?\b(?:require\(|from |import\()"([^."][^"]*)"/gm)].map(([, name]) => name ?? ""),
    )
    .filter((name) => !name.startsWith("node:"))
    .map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
  expect(needed).toContain("@pulumi/pulumi");
  // It names itself in the reference that stands in the state.
  expect(needed.filter((name) => ![...declared, "pulumi-advertising"].includes(name))).toEqual([]);
});

/** Relative, with slashes, sorted. */
function filesBelow(top: string): string[] {
  return readdirSync(top, { recursive: true, encoding: "utf8" })
    .filter((file) => statSync(join(top, file)).isFile())
    .map((file) => relative(top, join(top, file)).replaceAll(sep, "/"))
    .sort();
}
