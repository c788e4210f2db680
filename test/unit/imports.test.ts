/** Holds the direction of imports between folders, and which folder may load which library. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { expect, it } from "vitest";

const source = resolve(import.meta.dirname, "../../provider/src");

/** A folder (or a file at the top) and what it may import of the others. */
const LEAVES = ["errors", "secrets", "decode", "text", "clock", "record", "node-version"];
const MAY_IMPORT: Record<string, string[]> = {
  index: ["resources", "kinds", "validation"],
  testing: ["resources", "kinds", "state", "validation", "config"],
  resources: ["catalog", "kinds", "state", "validation", "config", "journal", "files"],
  catalog: ["kinds", "validation"],
  handlers: ["lifecycle/set", "lifecycle", "process", "kinds", "config"],
  "lifecycle/set": ["lifecycle", "kinds", "state", "validation", "config", "journal", "api", "process"],
  lifecycle: [
    "process",
    "kinds",
    "state",
    "validation",
    "config",
    "journal",
    "api",
    "session",
    "http",
    "wire",
    "files",
  ],
  process: ["kinds", "config", "api", "session", "http", "files"],
  cli: [
    "report",
    "catalog",
    "kinds",
    "state",
    "validation",
    "config",
    "journal",
    "files",
    "api",
    "lifecycle",
    "lifecycle/set",
    "process",
    "session",
  ],
  report: ["kinds", "state", "validation", "config"],
  api: ["kinds", "session", "http", "wire", "config"],
  session: ["http", "wire", "config", "files"],
  wire: ["http"],
  journal: ["files", "state"],
  http: ["config"],
  config: ["kinds", "validation"],
  state: ["kinds"],
  kinds: ["validation"],
  validation: [],
  sandbox: [],
  errors: [],
  files: ["clock"],
  secrets: ["decode"],
  decode: [],
  text: [],
  record: [],
  clock: [],
  "node-version": [],
};
const MAY_LOAD: Record<string, RegExp> = {
  undici: /^http\/(transport|connect|tunnel)\.ts$/,
  "tough-cookie": /^session\/jar\.ts$/,
  zod: /^(kinds|validation|config|sandbox|cli|catalog|report)\/|^journal\/(notes|inventory)\.ts$|^session\/(session-file|password-check)\.ts$/,
  "fastest-levenshtein": /^validation\/|^sandbox\/nearest\.ts$/,
  // Required when a catalog is read; others import their types.
  yaml: /^$/,
  "csv-parse": /^$/,
  entities: /^(decode|wire\/markup)\.ts$/,
  "@pulumi/pulumi": /^(resources\/|testing\/|handlers\.ts$|lifecycle\/|process\/)/,
};
/** Decisions and readings: no I/O, not even Node's. */
const PURE =
  /^(decode\.ts|kinds\/|state\/|validation\/|config\/|report\/|catalog\/(?!read\.ts)|http\/(retry|retry-after|describe)\.ts|wire\/|api\/(outcome|own-id|record|request|hints|witness)\.ts|session\/refusal\.ts|lifecycle\/(account|outcome)\.ts|journal\/(ledger|notes)\.ts|node-version\.ts|cli\/(leftovers-done|relocate|stack-export|pending\/resource-order)\.ts)/;

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

function imports(): Import[] {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return files.flatMap((file) => {
    const text = readFileSync(join(source, file), "utf8");
    const matches = text.matchAll(/^(import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|^import\s+()()"([^"]+)"/gm);
    return [...matches].map((match) => ({
      file: file.replaceAll(sep, "/"),
      target: match[3] ?? match[6] ?? "",
      typeOnly: match[2] !== undefined,
    }));
  });
}

function placeOf(file: string): string {
  if (!file.includes("/")) return file.replace(/\.ts$/, "");
  const folder = file.slice(0, file.lastIndexOf("/"));
  return folder in MAY_IMPORT ? folder : file.slice(0, file.indexOf("/"));
}

function resolved({ file, target }: Import): string {
  return relative(source, resolve(source, file, "..", target))
    .replaceAll(sep, "/")
    .replace(/\.js$/, ".ts");
}

it("finds imports at all", () => {
  expect(imports().length).toBeGreaterThan(50);
});

it("folders import only what lies downstream", () => {
  const wrong = imports()
    .filter(({ target }) => target.startsWith("."))
    .filter((entry) => {
      const [from, to] = [placeOf(entry.file), placeOf(resolved(entry))];
      return from !== to && !(LEAVES.includes(to) && !LEAVES.includes(from)) && !(MAY_IMPORT[from] ?? []).includes(to);
    });
  expect(wrong).toEqual([]);
});

it("each library is loaded by one folder", () => {
  const wrong = imports().filter(({ file, target, typeOnly }) => {
    const library = Object.keys(MAY_LOAD).find((name) => target === name || target.startsWith(`${name}/`));
    return library !== undefined && !typeOnly && !MAY_LOAD[library]?.test(file);
  });
  expect(wrong).toEqual([]);
});

it("whatever only decides does no I/O", () => {
  const wrong = imports().filter(
    ({ file, target, typeOnly }) => PURE.test(file) && target.startsWith("node:") && !typeOnly,
  );
  expect(wrong).toEqual([]);
});

it("the program's half reaches no HTTP and no cookies", () => {
  const all = imports().filter(({ typeOnly }) => !typeOnly);
  const reached = new Set(["index.ts"]);
  for (const file of reached) {
    for (const entry of all.filter((candidate) => candidate.file === file && candidate.target.startsWith(".")))
      reached.add(resolved(entry));
  }
  const libraries = all
    .filter(({ file, target }) => reached.has(file) && !target.startsWith("."))
    .map(({ target }) => target);
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
