/**
 * The advertisers and events of a YAML or JSON file, and where in its text each part of it is. A wrong shape is
 * reported here, a wrong value by its rules.
 */
import type { Document, Node, Scalar } from "yaml";
import { didYouMean, joined, quoted, type Values } from "../base/index.js";
import { isContainer, show } from "../rules/index.js";
import { fieldNamed } from "./field-values.js";
import { jsonFaults } from "./json-faults.js";
import {
  type CatalogFinding,
  errorAt,
  normalizedKey,
  type Source,
  type Written,
  type WrittenAdvertiser,
  type WrittenCatalog,
  type WrittenEvent,
} from "./written.js";

type TextFormat = "yaml" | "json";

/** The names that lead to a part of the file. */
type Path = readonly string[];

/** A CSV file with events, by its path from the catalog, and where it is named. */
export interface EventsFile {
  readonly path: string;
  readonly source: Source;
}

interface YamlCatalog extends WrittenCatalog {
  readonly eventsFile?: EventsFile;
}

/** @returns what is declared, as far as the file could be read. */
export function readYamlCatalog(text: string, file: string, format: TextFormat): YamlCatalog {
  const { LineCounter, parseDocument } = yamlLibrary();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    schema: format === "json" ? "json" : "core",
    // A number above 2^53 would lose digits. A key is the text that was written, as in CSV: `007`, `1.10`, `true`.
    ...{ lineCounter, merge: true, prettyErrors: false, intAsBigInt: true, stringKeys: true },
  });
  const placeOf = (offset: number): Source => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const unread = (offset: number, reason: string) =>
    errorAt(placeOf(offset), "", `is not read as ${format.toUpperCase()}: ${reason}`);
  const faults = format === "json" ? jsonFaults(text) : [];
  if (faults.length > 0)
    return {
      file,
      events: [],
      findings: faults.map((each) => unread(each.offset, each.reason)),
    };

  const problems = [...document.errors, ...document.warnings];
  const findings = problems.map(({ code, pos: [offset], message }) => {
    const reason = REASONS[code]?.(text.slice(offset));
    if (reason === undefined) return unread(offset, message);
    return errorAt(placeOf(offset), "", reason);
  });
  if (problems.some(({ code }) => code !== "DUPLICATE_KEY"))
    return { file, events: [], findings };
  keepIdsAsWritten(document);
  try {
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES, reviver: smallIntegers });
    const sourceOf = (path: Path) => placeOf(offsetIn(document.contents, path));
    const anchorAt = (name: string) => (document.get(name, true) as Node | undefined)?.anchor;
    return new YamlReader({ file, format, sourceOf, anchorAt }, findings).read(data ?? {});
  } catch (error) {
    return { file, events: [], findings: [unread(0, (error as Error).message)] };
  }
}

/** What is wrong, by the library's code, for people who write catalogs. @param rest the text from there on. */
const REASONS: Readonly<Record<string, (rest: string) => string>> = {
  DUPLICATE_KEY: (rest) =>
    `has the key ${quoted(/^(["']?)(.+?)\1\s*:/.exec(rest)?.[2] ?? "")} twice: keys must differ`,
  MULTIPLE_DOCS: () =>
    "has several documents: remove the lines with ---, or make a file of each",
};

/** Aliases that repeat what they stand for more often than this make the library take the file for a trap. */
const MAX_ALIASES = 100_000;

/** An id is what was written: `0017` and `0x1F` are none. */
function keepIdsAsWritten(document: Document): void {
  const { isScalar, visit } = yamlLibrary();
  visit(document, {
    Pair: (_, { key, value }) => {
      const name = String((key as Scalar).value);
      if (name === "additionalFields") return visit.SKIP;
      const isNumber = isScalar(value) && typeof value.value !== "string";
      if (isNumber && fieldNamed(name)?.isId && String(value.value) !== value.source)
        value.value = value.source;
      return undefined;
    },
  });
}

/** An integer that a number can hold is one. */
function smallIntegers(_: unknown, value: unknown): unknown {
  if (typeof value !== "bigint" || !Number.isSafeInteger(Number(value))) return value;
  return Number(value);
}

/** The offset of the path's last written name: what an alias or `<<` brings in has that of what it is brought into. */
function offsetIn(contents: Node | null, path: Path): number {
  const { isMap } = yamlLibrary();
  let node = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const name of path) {
    if (!isMap(node)) return offset;
    const pair = node.items.findLast(({ key }) => String((key as Scalar).value) === name);
    if (pair === undefined) return offset;
    node = pair.value as Node | null;
    offset = (pair.key as Node).range?.[0] ?? offset;
  }
  return offset;
}

/** `$schema` is for editors. */
const TOP = ["$schema", "defaults", "rules", "advertisers", "eventsFile"];

const SHAPES = {
  advertisers: "an object with advertiserName and events",
  events: "an object with eventName and value",
};

/** One of the objects that stand below each other by their keys. */
interface Member {
  readonly path: Path;
  readonly subject: string;
  readonly given: Values;
}

interface YamlFile {
  readonly file: string;
  readonly format: TextFormat;
  /** Finds where the name at the end of a path stands; where it does not, that of what would hold it. */
  readonly sourceOf: (path: Path) => Source;
  /** The anchor of a value at the top of the file, if it has one. */
  readonly anchorAt: (name: string) => string | undefined;
}

class YamlReader {
  constructor(
    private readonly document: YamlFile,
    readonly findings: CatalogFinding[],
  ) {}

  read(data: unknown): YamlCatalog {
    const { findings } = this;
    const { file } = this.document;
    const top = this.#object([], "", data, "advertisers, by key") ?? {};
    for (const name of Object.keys(top).filter((each) => !TOP.includes(each)))
      this.#report([name], "", `${quoted(name)} is not known; ${this.#adviceOn(name)}`);
    const advertisers: WrittenAdvertiser[] = [];
    const events: WrittenEvent[] = [];
    for (const { path, subject: advertiser, given } of this.#members(
      [],
      "",
      "advertisers",
      top.advertisers,
    )) {
      const { defaults, events: own, ...fields } = given;
      const shared = this.#fields([...path, "defaults"], `${advertiser} defaults`, defaults);
      advertisers.push({ ...this.#written(path, advertiser, fields), defaults: shared });
      for (const event of this.#members(path, advertiser, "events", own))
        events.push({ ...this.#written(event.path, event.subject, event.given), advertiser });
    }
    const defaults = this.#fields(["defaults"], "defaults", top.defaults);
    const rules = this.#fields(["rules"], "rules", top.rules);
    const declared = top.advertisers !== undefined && { advertisers };
    return {
      file,
      defaults,
      rules,
      ...declared,
      events,
      findings,
      ...this.#eventsFile(top.eventsFile),
    };
  }

  #adviceOn(name: string): string {
    const anchor = this.document.anchorAt(name);
    if (anchor === undefined) return didYouMean(name, TOP);
    return `put the anchor &${anchor} where its values are first used, such as in defaults or in the first event`;
  }

  #eventsFile(path: unknown): Pick<YamlCatalog, "eventsFile"> {
    if (path === undefined) return {};
    if (typeof path === "string")
      return { eventsFile: { path, source: this.document.sourceOf(["eventsFile"]) } };
    this.#report(
      ["eventsFile"],
      "",
      `eventsFile expected the path of a CSV file; got ${show(path)}`,
    );
    return {};
  }

  /** The objects by key below `name`. @param owner the subject that they belong to; empty at the top. */
  #members(above: Path, owner: string, name: keyof typeof SHAPES, value: unknown): Member[] {
    const content =
      this.#object([...above, name], owner || name, value ?? {}, `${name} by key`) ?? {};
    const members: Member[] = [];
    for (const [key, member] of Object.entries(content)) {
      const path = [...above, name, key];
      const subject = joined("/", owner, normalizedKey(key));
      const given = this.#object(path, subject, member, SHAPES[name]);
      if (given !== undefined) members.push({ path, subject, given });
    }
    return members;
  }

  #fields(path: Path, subject: string, value: unknown): Written {
    return this.#written(
      path,
      subject,
      this.#object(path, subject, value ?? {}, "an object") ?? {},
    );
  }

  #written(path: Path, subject: string, values: Values): Written {
    const given: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(values))
      given[name] = fieldNamed(name)?.fromData(value) ?? value;
    const { format } = this.document;
    const sourceOf = (property: string) =>
      this.document.sourceOf(property === "key" ? path : [...path, ...property.split(".")]);
    return { format, subject, key: normalizedKey(path.at(-1) ?? ""), given, sourceOf };
  }

  #object(path: Path, subject: string, value: unknown, expected: string): Values | undefined {
    if (isContainer(value) && !Array.isArray(value)) return value as Values;
    this.#report(path, subject, `expected ${expected}; got ${show(value)}`);
    return undefined;
  }

  #report(path: Path, subject: string, reason: string): void {
    this.findings.push(errorAt(this.document.sourceOf(path), subject, reason));
  }
}

function yamlLibrary(): typeof import("yaml") {
  return require("yaml") as typeof import("yaml");
}
