/**
 * YAML and JSON as data, and where in the text each part of it stands.
 */
import type { Alias, Document, Node, Pair, Scalar, YAMLMap } from "yaml";
import type { Source } from "../rules/index.js";
import { yamlLibrary } from "./libraries.js";
import { errorAt, type Finding } from "./written.js";

export type Path = readonly (string | number)[];

export interface YamlFile {
  readonly data: unknown;
  /** Where the value at `path` stands, or its name; where there is none, the name of what would hold it. */
  readonly sourceOf: (path: Path, part?: "value" | "name") => Source;
}

/** @returns what is wrong with the text as YAML or JSON instead. */
export function readYaml(text: string, file: string, format: "yaml" | "json"): YamlFile | readonly Finding[] {
  const { LineCounter, parseDocument, visit } = yamlLibrary();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    // A number above 2^53 would lose digits.
    ...{ lineCounter, merge: true, prettyErrors: false, intAsBigInt: true },
    ...(format === "json" ? { schema: "json" } : {}),
  });
  const at = (offset: number): Source => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const unread = (offset: number, message: string) =>
    errorAt(at(offset), "", `is not read as ${format.toUpperCase()}: ${message}`);
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => unread(pos[0], message));
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) === undefined)
        faults.push(unread(startOf(alias) ?? 0, `there is no &${alias.source} before *${alias.source}`));
    },
  });
  if (faults.length > 0) return faults;
  if (format === "json" && !isJson(text))
    return [
      errorAt(
        at(0),
        "",
        "is not JSON: comments, trailing commas and names without quotes are YAML; name the file .yaml",
      ),
    ];
  try {
    const data = withoutBigints(document.toJS({ maxAliasCount: MAX_ALIASES }));
    return { data, sourceOf: (path, part = "value") => at(offsetOf(document, path, part)) };
  } catch (error) {
    return [unread(0, (error as Error).message)];
  }
}

/** How often aliases may repeat what they stand for, before the library takes the file for a trap. */
const MAX_ALIASES = 100_000;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Each integer that a number can hold as a number. */
function withoutBigints(value: unknown, holders: readonly object[] = []): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value !== "object" || value === null || holders.includes(value)) return value;
  const inside = [...holders, value];
  if (Array.isArray(value)) return value.map((entry) => withoutBigints(entry, inside));
  // As own properties: `__proto__` would become the object's prototype otherwise.
  const copy: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) {
    const content = withoutBigints(entry, inside);
    Object.defineProperty(copy, name, { value: content, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

function offsetOf(document: Document.Parsed, path: Path, part: "value" | "name"): number {
  let node = resolved(document, document.contents);
  /** Of the last part that there is. */
  let [name, value] = [startOf(document.contents) ?? 0, startOf(document.contents) ?? 0];
  for (const segment of path) {
    const pair = typeof segment === "string" ? pairIn(document, node, segment) : undefined;
    const next = pair === undefined ? itemIn(node, segment) : (pair.value as Node | null);
    if (pair === undefined && next === undefined) return name;
    name = startOf(pair?.key as Node | undefined) ?? startOf(next) ?? name;
    value = (isEmpty(next) ? undefined : startOf(next)) ?? name;
    node = resolved(document, next);
  }
  return part === "name" ? name : value;
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}

/** `value:` and nothing behind it. */
function isEmpty(node: Node | null | undefined): boolean {
  return node === null || node === undefined || (yamlLibrary().isScalar(node) && node.source === "");
}

function resolved(document: Document.Parsed, node: Node | null | undefined): Node | undefined {
  const seen = yamlLibrary().isAlias(node) ? (node as Alias).resolve(document) : node;
  return seen ?? undefined;
}

function itemIn(node: Node | undefined, segment: string | number): Node | undefined {
  return yamlLibrary().isSeq(node) ? (node.items[Number(segment)] as Node | undefined) : undefined;
}

/** Its own, or one that `<<` brings in. */
function pairIn(document: Document.Parsed, node: Node | undefined, name: string): Pair | undefined {
  if (!yamlLibrary().isMap(node)) return undefined;
  const { items } = node as YAMLMap;
  const keyIn = ({ key }: Pair) => (key as Scalar | null)?.value;
  const own = items.find((pair) => String(keyIn(pair) ?? "") === name);
  if (own !== undefined) return own;
  for (const { value } of items.filter((pair) => typeof keyIn(pair) === "symbol")) {
    const merged = resolved(document, value as Node | null);
    const sources = yamlLibrary().isSeq(merged) ? (merged.items as Node[]) : [merged];
    for (const source of sources) {
      const found = pairIn(document, resolved(document, source), name);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
