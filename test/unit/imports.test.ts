/** Which room may import which, only through its index.ts, and which room may load which library. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { expect, it } from "vitest";

const source = resolve(import.meta.dirname, "../../provider/src");

/** A room imports only rooms before it in this list. */
const ROOMS = [
  "base",
  "files",
  "rules",
  "kinds",
  "settings",
  "state",
  "store",
  "client",
  "decision",
  "provider",
  "catalog",
  "program",
];
/** Nothing imports these rooms. The patterns say what each of them must not reach. */
const TOPS: Record<string, string[]> = {
  tools: ["program"],
  testing: ["client", "provider", "store"],
  sandbox: [...ROOMS],
};
/** The program's process loads neither HTTP nor cookies, and the provider's process none of the program's half. */
const APART: Record<string, string[]> = {
  decision: ["files", "store", "client"],
  program: ["client", "provider"],
  catalog: ["client", "provider", "store", "state"],
};

/** Public declarations import these files directly: the rooms' index.ts would lead old compilers to zod's types, which they can't read. */
const PUBLIC_TYPES = ["kinds/vocabulary.ts", "rules/problem.ts"];

const LIBRARIES: Record<string, RegExp> = {
  undici: /^$/, // required when the first client is made
  "tough-cookie": /^$/, // required for the first session
  zod: /^(rules|kinds|settings|catalog|store|client|tools|sandbox)\//,
  "fastest-levenshtein": /^base\/text\.ts$|^sandbox\/text\.ts$/,
  yaml: /^$/, // required when a catalog is read; so is csv-parse
  "csv-parse": /^$/,
  "@pulumi/pulumi": /^(program\/|testing\/|handlers\.ts$|provider\/(dynamic|engine)\.ts$)/,
};

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll(sep, "/"));

const imports = files.flatMap((file) => {
  const text = readFileSync(join(source, file), "utf8");
  const found = text.matchAll(
    /^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|^import\s+()"([^"]+)"|await import\(()"([^"]+)"/gm,
  );
  return [...found].map((match) => {
    const target = match[2] ?? match[4] ?? match[6] ?? "";
    const path = relative(source, resolve(source, file, "..", target))
      .replaceAll(sep, "/")
      .replace(/\.js$/, ".ts");
    return {
      file,
      target: target.startsWith(".") ? path : target,
      isOurs: target.startsWith("."),
      isType: match[1] !== undefined,
    };
  });
});
const roomOf = (file: string) => (file.includes("/") ? file.slice(0, file.indexOf("/")) : "");

it("finds imports at all", () => {
  expect(imports.length).toBeGreaterThan(50);
});

it("a room imports only rooms before it, through their index.ts", () => {
  const wrong = imports.filter(({ file, target, isOurs }) => {
    const [from, to] = [roomOf(file), roomOf(target)];
    if (!isOurs || from === to || from === "") return false;
    const before =
      from in TOPS ? ROOMS.filter((room) => !TOPS[from]?.includes(room)) : ROOMS.slice(0, ROOMS.indexOf(from));
    return (
      !before.includes(to) ||
      APART[from]?.includes(to) ||
      (target !== `${to}/index.ts` && !PUBLIC_TYPES.includes(target))
    );
  });
  expect(wrong).toEqual([]);
});

it("each room has an index.ts", () => {
  const rooms = [...ROOMS, ...Object.keys(TOPS)];
  expect(rooms.filter((room) => !existsSync(join(source, room, room === "tools" ? "command.ts" : "index.ts")))).toEqual(
    [],
  );
});

it("there are no import cycles, of types either", () => {
  const next = new Map(
    files.map((file) => [
      file,
      imports.filter((each) => each.isOurs && each.file === file).map(({ target }) => target),
    ]),
  );
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" > "));
    if (way.includes(file) || done.has(file)) return;
    for (const target of next.get(file) ?? []) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

it("each library is loaded by one room", () => {
  const wrong = imports.filter(({ file, target, isOurs, isType }) => {
    const library = Object.keys(LIBRARIES).find((name) => target === name || target.startsWith(`${name}/`));
    return !isOurs && library !== undefined && !isType && !LIBRARIES[library]?.test(file);
  });
  expect(wrong).toEqual([]);
});

it("modules that only decide do no I/O", () => {
  const PURE = /^(base\/(?!secrets|clock)|rules\/|kinds\/|state\/|settings\/|decision\/|catalog\/(?!read-catalog))/;
  const wrong = imports.filter(({ file, target, isType }) => PURE.test(file) && target.startsWith("node:") && !isType);
  expect(wrong.filter(({ target }) => target !== "node:crypto" && target !== "node:util")).toEqual([]);
});

it("the program's half reaches no HTTP and no cookies", () => {
  const all = imports.filter(({ isType }) => !isType);
  const reached = new Set(["index.ts"]);
  for (const file of reached) for (const each of all) if (each.file === file && each.isOurs) reached.add(each.target);
  const libraries = all.filter(({ file, isOurs }) => reached.has(file) && !isOurs).map(({ target }) => target);
  const others = [...new Set(libraries)].filter((library) => !library.startsWith("node:")).sort();
  expect(others).toEqual([
    "@pulumi/pulumi",
    "@pulumi/pulumi/runtime/state.js",
    "env-paths",
    "fastest-levenshtein",
    "zod",
  ]);
  expect(reached.size).toBeGreaterThan(8);
});

/** These tests cover the whole repository. */
const OF_ALL = ["complexity", "docs", "imports", "mutations", "retired-words", "unused", "workflows"];

it("a unit test has the name of the file, or of the room, that it tests", () => {
  const scripts = readdirSync(resolve(source, "../../scripts/lib"));
  const bases = [...files, ...scripts].map((file) => file.replace(/^.*\//, "").replace(/\.m?[jt]s$/, ""));
  const known = new Set([...bases, ...Object.keys(TOPS), ...OF_ALL]);
  const tests = readdirSync(import.meta.dirname).map((file) => file.replace(/\.test\.ts$/, ""));
  expect(tests.filter((name) => !known.has(name))).toEqual([]);
});
