/** Which module may import which, only through its index.ts, and which module may load which library. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { expect, it } from "vitest";

const source = resolve(import.meta.dirname, "../../provider/src");
const MODULES =
  "base files rules kinds settings state plan record journal client operations dynamic plugin catalog program".split(
    " ",
  );
/** What each module may import: those before it in the list, except what would load HTTP or decide by I/O. */
const beforeIn = (module: string) => MODULES.slice(0, MODULES.indexOf(module));
const without = (modules: readonly string[], ...others: string[]) =>
  modules.filter((module) => !others.includes(module));
/** What the program's process doesn't load. */
const PROVIDER_ONLY = ["client", "operations", "dynamic", "plugin", "record"];

const MAY_IMPORT: Record<string, readonly string[]> = {
  ...Object.fromEntries(MODULES.map((module) => [module, beforeIn(module)])),
  plan: without(beforeIn("plan"), "files"),
  catalog: without(beforeIn("catalog"), ...PROVIDER_ONLY, "journal", "state"),
  program: without(beforeIn("program"), ...PROVIDER_ONLY),
  cli: without(MODULES, "program", "dynamic", "plugin"),
  testing: without(MODULES, ...PROVIDER_ONLY, "journal"),
  sandbox: ["base"],
  "": [...MODULES, "testing", "sandbox"],
};
/** Public declarations import these directly: a module's index.ts leads to zod's types, which fail in old compilers. */
const PUBLIC_TYPES = ["kinds/vocabulary.ts", "rules/problem.ts"];
const NOWHERE_AT_START = ["undici", "tough-cookie", "yaml", "csv-parse"]; // loaded when something of them is used

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll(sep, "/"));
const imports = files.flatMap((file) => {
  const text = readFileSync(join(source, file), "utf8");
  const found = text.matchAll(
    /^(?:import|export)\s+(type\s)?(?:[^;"]*?from\s+)?"([^"]+)"/gm,
  );
  return [...found].map(([, type, name = ""]) => {
    const path = relative(source, resolve(source, file, "..", name))
      .replaceAll(sep, "/")
      .replace(/\.js$/, ".ts");
    const isOurs = name.startsWith(".");
    return { file, target: isOurs ? path : name, isOurs, isType: type !== undefined };
  });
});
const moduleOf = (file: string) =>
  file.includes("/") ? file.slice(0, file.indexOf("/")) : "";

it("a module imports only modules before it, through their index.ts", () => {
  expect(imports.length).toBeGreaterThan(200);
  const wrong = imports.filter(({ file, target, isOurs }) => {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (!isOurs || from === to || from === "") return false;
    const isByIndex = target === `${to}/index.ts` || PUBLIC_TYPES.includes(target);
    return !isByIndex || !MAY_IMPORT[from]?.includes(to);
  });
  expect(wrong).toEqual([]);
});

it("there are no import cycles, of types either", () => {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    if (way.includes(file))
      circles.push([...way.slice(way.indexOf(file)), file].join(" > "));
    if (way.includes(file) || done.has(file)) return;
    for (const each of imports)
      if (each.isOurs && each.file === file) visit(each.target, [...way, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

it("the program process reaches no HTTP and no cookies, and nobody loads what only some runs need", () => {
  const all = imports.filter(({ isType }) => !isType);
  const reached = new Set(["index.ts"]);
  for (const file of reached)
    for (const each of all) if (each.file === file && each.isOurs) reached.add(each.target);
  expect(
    [...reached].filter((file) => /^(client|operations|dynamic|sandbox|cli)\//.test(file)),
  ).toEqual([]);
  const libraries = all
    .filter(({ isOurs }) => !isOurs)
    .map(({ target }) => target.split("/")[0] ?? "");
  expect(libraries.filter((name) => NOWHERE_AT_START.includes(name))).toEqual([]);
});
