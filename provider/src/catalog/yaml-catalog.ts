/**
 * The advertisers and events of a YAML or JSON file, and where in its text each part of it is. A wrong shape is
 * reported here, a wrong value by its rules.
 */
import type { Node, Pair, Scalar, YAMLError } from "yaml";
import { didYouMean, quoted, type Values } from "../base/index.js";
import { isContainer, show } from "../rules/index.js";
import { jsonFaults } from "./json-faults.js";
import { fieldNamed } from "./spelling.js";
import {
  type CatalogFinding,
  errorAt,
  normalizedKey,
  type Source,
  type Written,
  type WrittenAdvertiser,
  type WrittenEvent,
} from "./written.js";

/** `$schema` is for editors. */
const TOP = ["$schema", "defaults", "rules", "advertisers", "eventsFile"];

export class YamlReader {
  readonly #findings: CatalogFinding[];

  constructor(
    readonly yaml: YamlFile,
    readonly file: string,
  ) {
    this.#findings = [...yaml.findings];
  }

  read() {
    const top = this.#object([], "", this.yaml.data ?? {}, "advertisers, by key") ?? {};
    for (const name of Object.keys(top).filter((each) => !TOP.includes(each))) {
      const anchor = this.yaml.anchorAt([name]);
      const cure =
        anchor === undefined
          ? didYouMean(name, TOP)
          : `put the anchor &${anchor} where its values are first used, such as in defaults or in the first event`;
      this.#find([name], "", `${quoted(name)} is not known; ${cure}`);
    }
    const advertisers: WrittenAdvertiser[] = [];
    const events: WrittenEvent[] = [];
    const [asAdvertiser, asEvent] = ["an object with advertiserName and events", "an object with eventName and value"];
    for (const [path, key, given] of this.#members(["advertisers"], "", top.advertisers, asAdvertiser)) {
      const { defaults, events: own, ...fields } = given;
      const shared = this.#fields([...path, "defaults"], `${key} defaults`, defaults);
      advertisers.push({ ...this.#written(path, key, fields), defaults: shared });
      for (const [eventPath, subject, content] of this.#members([...path, "events"], key, own, asEvent))
        events.push({ ...this.#written(eventPath, subject, content), advertiser: key });
    }
    const { eventsFile } = top;
    if (eventsFile !== undefined && typeof eventsFile !== "string")
      this.#find(["eventsFile"], "", `eventsFile expected the path of a CSV file; got ${show(eventsFile)}`);
    return {
      file: this.file,
      defaults: this.#fields(["defaults"], "defaults", top.defaults),
      rules: this.#fields(["rules"], "rules", top.rules),
      advertisers: top.advertisers === undefined ? undefined : advertisers,
      events,
      /** A CSV file with events, relative to the catalog. */
      eventsFile: typeof eventsFile === "string" ? eventsFile : undefined,
      findings: this.#findings,
    };
  }

  /** The objects by key at `path`, which belong to `owner`, each with its own path and subject. */
  #members(path: Path, owner: string, value: unknown, expected: string): [Path, subject: string, given: Values][] {
    const [what = ""] = path.slice(-1);
    const members = this.#object(path, owner || what, value ?? {}, `${what} by key`) ?? {};
    return Object.entries(members).flatMap(([name, member]) => {
      const at = [...path, name];
      const subject = owner === "" ? normalizedKey(name) : `${owner}/${normalizedKey(name)}`;
      const given = this.#object(at, subject, member, expected);
      return given === undefined ? [] : [[at, subject, given]];
    });
  }

  #fields(path: Path, subject: string, value: unknown): Written {
    return this.#written(path, subject, this.#object(path, subject, value ?? {}, "an object") ?? {});
  }

  #written(path: Path, subject: string, given: Values): Written {
    const converted = Object.entries(given).map(([name, value]) => [name, fieldNamed(name)?.fromData(value) ?? value]);
    return {
      format: this.yaml.format,
      subject,
      key: normalizedKey(path.at(-1) ?? ""),
      given: Object.fromEntries(converted),
      sourceOf: (property) => this.yaml.sourceOf(property === "key" ? path : [...path, ...property.split(".")]),
    };
  }

  #object(path: Path, subject: string, value: unknown, expected: string): Values | undefined {
    if (isContainer(value) && !Array.isArray(value)) return value as Values;
    this.#find(path, subject, `expected ${expected}; got ${show(value)}`);
    return undefined;
  }

  #find(path: Path, subject: string, reason: string): void {
    this.#findings.push(errorAt(this.yaml.sourceOf(path), subject, reason));
  }
}

type Path = readonly string[];

interface YamlFile {
  readonly format: "yaml" | "json";
  readonly data: unknown;
  /** What is wrong, and yet leaves the rest readable. */
  readonly findings: readonly CatalogFinding[];
  /** The name of the anchor at the value at `path`, if it has one. */
  readonly anchorAt: (path: Path) => string | undefined;
  /** Finds where the name at the end of `path` stands; where it does not, that of what would hold it. */
  readonly sourceOf: (path: Path) => Source;
}

/** @returns what is wrong with the text as YAML or JSON instead. */
export function readYaml(text: string, file: string, format: "yaml" | "json"): YamlFile | readonly CatalogFinding[] {
  const { isScalar, LineCounter, parseDocument, visit } = yamlLibrary();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    // A number above 2^53 would lose digits. A key is the text that was written, as in CSV: `007`, `1.10`, `true`.
    ...{ lineCounter, merge: true, prettyErrors: false, intAsBigInt: true, stringKeys: true },
    ...(format === "json" ? { schema: "json" } : {}),
  });
  const at = (offset: number): Source => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const unread = (offset: number, message: string) =>
    errorAt(at(offset), "", `is not read as ${format.toUpperCase()}: ${message}`);
  const faultsOfJson = format === "json" ? jsonFaults(text) : [];
  if (faultsOfJson.length > 0) return faultsOfJson.map(({ offset, reason }) => unread(offset, reason));
  const findingOf = ({ code, pos: [from], message }: YAMLError) => {
    const reason = REASONS[code]?.(text.slice(from));
    return reason === undefined ? unread(from, message) : errorAt(at(from), "", reason);
  };
  const isRepeated = ({ code }: YAMLError) => code === "DUPLICATE_KEY";
  const problems = [...document.errors, ...document.warnings];
  const repeated = problems.filter(isRepeated).map(findingOf);
  const faults = problems.filter((problem) => !isRepeated(problem)).map(findingOf);
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2")
    faults.push(errorAt(at(0), "", "is YAML 1.1, which reads some numbers and ids as others: remove the line %YAML"));
  if (faults.length > 0) return [...faults, ...repeated];
  if (repeated.length > 0) withDistinctKeys(document.contents, []);
  visit(document, {
    Pair: (_, { key, value }) => {
      const name = isScalar(key) ? key.value : undefined;
      // An id is what was written too: `0017` and `0x1F` are none.
      const isId = typeof name === "string" && fieldNamed(name)?.isId && isScalar(value);
      if (isId && typeof value.value !== "string" && String(value.value) !== value.source) value.value = value.source;
      return name === "additionalFields" ? visit.SKIP : undefined;
    },
  });
  try {
    // An integer that a number can hold is one.
    const reviver = (_: unknown, value: unknown) =>
      typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES, reviver });
    const placeOf = (path: Path) => placeIn(document.contents, path);
    return {
      format,
      data,
      findings: repeated,
      sourceOf: (path) => at(placeOf(path).offset),
      anchorAt: (path) => placeOf(path).node?.anchor,
    };
  } catch (error) {
    return [unread(0, (error as Error).message)];
  }
}

/**
 * Makes the keys of a map differ, so that what is wrong below each of them is found: of advertisers and events, the
 * second one has a key of its own; of anything else, what both hold counts.
 */
function withDistinctKeys(node: Node | null, path: Path): void {
  const { isMap, isScalar } = yamlLibrary();
  if (!isMap(node) || path.length > 4) return;
  const hasMembers = path.join() === "advertisers" || (path.length === 3 && path[2] === "events");
  const known = new Map<unknown, Pair>();
  for (const pair of [...node.items]) {
    if (!isScalar(pair.key) || pair.key.value === "<<") continue;
    const name = pair.key.value;
    const before = known.get(name);
    if (before !== undefined && hasMembers) {
      for (let at = 2; known.has(pair.key.value); at++) pair.key.value = `${name} (${at})`;
    } else if (before !== undefined) {
      node.items = node.items.filter((each) => each !== before);
      if (isMap(before.value) && isMap(pair.value)) pair.value.items.unshift(...before.value.items);
    }
    known.set(pair.key.value, pair);
  }
  for (const [name, { value }] of known) withDistinctKeys(value as Node | null, [...path, String(name)]);
}

/** What is wrong, by the library's code, for people who write catalogs. @param rest the text from there on. */
const REASONS: Readonly<Record<string, (rest: string) => string>> = {
  DUPLICATE_KEY: (rest) => `has the key ${quoted(/^(["']?)(.+?)\1\s*:/.exec(rest)?.[2] ?? "")} twice: keys must differ`,
  NON_STRING_KEY: () => "has a key that is no plain text: write it out, without an alias or a type",
  MULTIPLE_DOCS: () => "has several documents: remove the lines with ---, or make a file of each",
};

/** Aliases that repeat what they stand for more often than this make the library take the file for a trap. */
const MAX_ALIASES = 100_000;

/** The place of the path's last written name: what an alias or `<<` brings in has that of what it is brought into. */
function placeIn(contents: Node | null, path: Path) {
  const { isMap } = yamlLibrary();
  let [node, offset] = [contents, contents?.range?.[0] ?? 0];
  for (const segment of path) {
    const pairs = isMap(node) ? node.items : [];
    const pair = pairs.find(({ key }) => String((key as Scalar | null)?.value) === segment);
    if (pair === undefined) return { offset, node: undefined };
    node = pair.value as Node | null;
    offset = (pair.key as Node).range?.[0] ?? offset;
  }
  return { offset, node: (node ?? undefined) as { readonly anchor?: string | undefined } | undefined };
}

function yamlLibrary(): typeof import("yaml") {
  return require("yaml") as typeof import("yaml");
}
