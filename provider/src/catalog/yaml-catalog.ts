/**
 * The advertisers and events of a YAML or JSON file, and where in its text each part of it is. A wrong shape is
 * reported here, a wrong value by its rules.
 */
import type { Node, Scalar } from "yaml";
import { didYouMean, joined, quoted, type Values, withEscapes } from "../base/index.js";
import { isContainer, show } from "../rules/index.js";
import {
  type CatalogFinding,
  errorAt,
  type Source,
  type Written,
  type WrittenAdvertiser,
  type WrittenCatalog,
  type WrittenEvent,
} from "./written.js";

/** The names that lead to a part of the file. */
type Path = readonly string[];

/** @returns what is declared, as far as the file could be read. */
export function readYamlCatalog(
  text: string,
  file: string,
  format: "yaml" | "json",
): WrittenCatalog {
  const { LineCounter, parseDocument } = yamlLibrary();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    schema: format === "json" ? "json" : "core",
    lineCounter,
    merge: true,
    prettyErrors: false,
    // A number above 2^53 would lose digits. A key is the text that was written, as in CSV: `007`, `1.10`, `true`.
    intAsBigInt: true,
    stringKeys: true,
  });
  const placeAt = (offset: number): Source => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const unread = (offset: number, reason: string, code = "") => {
    const own = `is not valid ${format.toUpperCase()}: ${reason}`;
    return errorAt(placeAt(offset), "", REASONS[code] ?? own);
  };
  const fault = format === "json" ? jsonFault(text) : undefined;
  if (fault) return { file, events: [], findings: [unread(fault.offset, fault.reason)] };
  const problems = [...document.errors, ...document.warnings];
  const findings = problems.map(({ code, pos: [offset], message }) =>
    unread(offset, message, code),
  );
  if (problems.some(({ code }) => code !== "DUPLICATE_KEY"))
    return { file, events: [], findings };
  try {
    const options = { maxAliasCount: MAX_ALIASES, reviver: smallIntegers };
    const data: unknown = document.toJS(options);
    const placeOf = (path: Path) => placeAt(offsetIn(document.contents, path));
    return new YamlReader(file, placeOf, findings).read(data ?? {});
  } catch (error) {
    return { file, events: [], findings: [unread(0, (error as Error).message)] };
  }
}

/** Plain reasons by the library's error code, where its own message is for programmers. */
const REASONS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "repeats a key: use each key once",
  MULTIPLE_DOCS: "has several documents: remove the lines with ---, or make a file of each",
};

/** Aliases that repeat what they stand for more often than this make the library take the file for a trap. */
const MAX_ALIASES = 100_000;

/** Why a text is no JSON, in the engine's words: the library above reads more than JSON. */
function jsonFault(text: string): { offset: number; reason: string } | undefined {
  const message = jsonError(text);
  if (message === undefined) return undefined;
  const [, fault = "", position] =
    /^(.*?)(?:, (?:\.\.\.)?".*|(?: in JSON)? at position (\d+).*)?$/s.exec(message) ?? [];
  const reason = `${withEscapes(fault)}; JSON needs names and texts in ", and allows no comment and no comma before } or ]`;
  if (position !== undefined) return { offset: Number(position), reason };
  // The engine doesn't say where an unexpected token is: at the end of the shortest text with that error.
  let before = 0;
  let offset = text.length;
  while (offset - before > 1) {
    const middle = Math.floor((before + offset) / 2);
    if (UNEXPECTED.test(jsonError(text.slice(0, middle)) ?? "")) offset = middle;
    else before = middle;
  }
  return { offset: before, reason };
}

const UNEXPECTED = /^Unexpected token/;

function jsonError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** An integer that a number can hold is one. */
function smallIntegers(_: unknown, value: unknown): unknown {
  if (typeof value !== "bigint" || !Number.isSafeInteger(Number(value))) return value;
  return Number(value);
}

/** The offset of the path's last written name: what an alias or `<<` brings in has that of what it is brought into. */
function offsetIn(contents: Node | null, path: Path) {
  const { isMap } = yamlLibrary();
  let node = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const name of path) {
    if (!isMap(node)) return offset;
    const pair = node.items.findLast(({ key }) => String((key as Scalar).value) === name);
    if (!pair) return offset;
    node = pair.value as Node | null;
    offset = (pair.key as Node).range?.[0] ?? offset;
  }
  return offset;
}

/** `$schema` is for editors. */
const TOP = ["$schema", "defaults", "advertisers", "eventsFile"];

const SHAPES = {
  advertisers: "an object with advertiserName and events",
  events: "an object with eventName and value",
};

class YamlReader {
  constructor(
    private readonly file: string,
    /** Finds where the name at the end of a path stands; where it does not, that of what would hold it. */
    private readonly placeOf: (path: Path) => Source,
    private readonly findings: CatalogFinding[],
  ) {}

  read(data: unknown): WrittenCatalog {
    const { file, findings } = this;
    const top = this.#object([], "", data, "advertisers, by key") ?? {};
    for (const name of Object.keys(top).filter((each) => !TOP.includes(each))) {
      this.#report([name], "", `${quoted(name)} is not known; ${didYouMean(name, TOP)}`);
    }
    const advertisers: WrittenAdvertiser[] = [];
    const events: WrittenEvent[] = [];
    for (const member of this.#members([], "", "advertisers", top.advertisers)) {
      const { path, subject: advertiser } = member;
      const { defaults: shared, events: own, ...given } = member.given;
      const defaults = this.#fields(path, `${advertiser} defaults`, shared);
      advertisers.push({ ...member, given, defaults });
      for (const event of this.#members(path, advertiser, "events", own))
        events.push({ ...event, advertiser });
    }
    const defaults = this.#fields([], "defaults", top.defaults);
    const { eventsFile } = top;
    const declared = top.advertisers !== undefined && { advertisers };
    const catalog = { file, defaults, ...declared, events, findings };
    if (typeof eventsFile === "string") return { ...catalog, eventsFile };
    const reason = `eventsFile expected the path of a CSV file; got ${show(eventsFile)}`;
    if (eventsFile !== undefined) this.#report(["eventsFile"], "", reason);
    return catalog;
  }

  /** The objects by key below `name`. @param owner the subject that they belong to; empty at the top. */
  #members(above: Path, owner: string, name: keyof typeof SHAPES, value: unknown) {
    const place = [...above, name];
    const all = this.#object(place, owner || name, value ?? {}, `${name} by key`);
    return Object.entries(all ?? {}).flatMap(([key, member]) => {
      const path = [...place, key];
      const subject = joined("/", owner, key.normalize("NFC"));
      const given = this.#object(path, subject, member, SHAPES[name]);
      return given ? [{ ...this.#written(path, subject, given), path }] : [];
    });
  }

  /** The `defaults` below a path. */
  #fields(above: Path, subject: string, value: unknown) {
    const path = [...above, "defaults"];
    const given = this.#object(path, subject, value ?? {}, "an object") ?? {};
    return this.#written(path, subject, given);
  }

  #written(path: Path, subject: string, given: Values): Written {
    const sourceOf = (property: string) =>
      this.placeOf(property === "key" ? path : [...path, ...property.split(".")]);
    return { subject, key: (path.at(-1) ?? "").normalize("NFC"), given, sourceOf };
  }

  #object(path: Path, subject: string, value: unknown, expected: string) {
    if (isContainer(value) && !Array.isArray(value)) return value as Values;
    this.#report(path, subject, `expected ${expected}; got ${show(value)}`);
    return undefined;
  }

  #report(path: Path, subject: string, reason: string) {
    this.findings.push(errorAt(this.placeOf(path), subject, reason));
  }
}

function yamlLibrary(): typeof import("yaml") {
  return require("yaml") as typeof import("yaml");
}
