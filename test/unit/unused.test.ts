/** Every export, file and dependency is used, as far as the texts say. */
import { globSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { expect, it } from "vitest";

const repository = resolve(import.meta.dirname, "../..");
const isOurs = (path: string) =>
  !/node_modules|\/dist\/|\.pulumi-local|package-lock/.test(path);
const textsOf = (...patterns: string[]) =>
  new Map(
    globSync(patterns, { cwd: repository, exclude: ["**/node_modules", "**/dist"] })
      .map((path) => path.replaceAll("\\", "/"))
      .filter((path) => isOurs(path) && path !== "test/unit/unused.test.ts")
      .map((path) => [path, readFileSync(join(repository, path), "utf8")] as const),
  );
const code = textsOf("{provider/src,test,scripts,examples}/**/*.{ts,mts,mjs,cjs}", "*.ts");
const everything = new Map([
  ...code,
  ...textsOf("*.json", ".github/**/*.yml", "{provider,examples/*}/*.json"),
]);

/** Loaded by users, Pulumi, vitest or a shell: all that these files export counts as used. */
const ENTRIES =
  /^provider\/src\/(index|handlers|testing\/index|sandbox\/index)\.ts$|^examples\/|^test\/types\/|\.test\.ts$|^vitest\.config\.ts$|^test\/support\/stack-init\.ts$/;

const wordsOf = new Map(
  [...code].map(([path, text]) => [path, text.match(/[\w$]+/g) ?? []] as const),
);
const usersOf = new Map<string, Set<string>>();
for (const [path, words] of wordsOf)
  for (const word of words) usersOf.set(word, (usersOf.get(word) ?? new Set()).add(path));

it("each exported value is used by another file, and each exported type there or in a signature", () => {
  expect(code.size).toBeGreaterThan(150);
  const exported =
    /^export (?:declare )?(?:abstract )?(async function\*?|function\*?|const|let|class|interface|type|enum) (\w+)/gm;
  const unused = [...code].flatMap(([path, text]) =>
    ENTRIES.test(path)
      ? []
      : [...text.matchAll(exported)].flatMap(([, what = "", name = ""]) => {
          if ((usersOf.get(name)?.size ?? 0) > 1) return [];
          const timesAtHome =
            wordsOf.get(path)?.filter((word) => word === name).length ?? 0;
          return /interface|type/.test(what) && timesAtHome > 1 ? [] : [`${path}: ${name}`];
        }),
  );
  expect(unused).toEqual([]);
});

it("each file is imported or named by another one", () => {
  const unnamed = [...code.keys()].filter((path) => {
    const name = basename(path).replace(/\.ts$/, ".js");
    return (
      !ENTRIES.test(path) &&
      ![...everything].some(([other, text]) => other !== path && text.includes(name))
    );
  });
  expect(unnamed).toEqual([]);
});

/** Used without an import: the compiler and what it reads, the Node.js of the runs, Pulumi's types for examples. */
const NOT_IMPORTED: Record<string, string> = {
  "@types/google-protobuf": "google-protobuf/google/",
  "@types/node": '"types": ["node"]',
  "@arethetypeswrong/cli": "attw",
  "@biomejs/biome": "@biomejs/biome/bin/biome",
  node: '"node_modules", "node"',
  publint: "publint",
  pulumi: '"pulumi"',
};

it.each(["package.json", "provider/package.json"])(
  "each dependency of %s is used",
  (manifest) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(
      everything.get(manifest) ?? "{}",
    );
    const own = [...code].filter(
      ([path]) => manifest === "package.json" || path.startsWith("provider/src/"),
    );
    const unused = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => {
      const sign = NOT_IMPORTED[name];
      if (sign !== undefined)
        return ![...everything].some(
          ([path, text]) => path !== manifest && text.includes(sign),
        );
      return !own.some(([, text]) =>
        new RegExp(`(from|import|require\\w*)\\b[ (]*["']${name}(/[^"']*)?["']`).test(text),
      );
    });
    expect(unused).toEqual([]);
  },
);
