/**
 * Reads the advertisers and events of a YAML or JSON file, with the place of each part. A wrong shape is reported here,
 * a wrong value by its rule.
 */
import type { Node, Scalar } from "yaml";
import { didYouMean, joined, quoted, type Values, withEscapes } from "../base/index.js";
import { isContainer, show } from "../rules/index.js";
import {
  type CatalogEntry,
  type CatalogFinding,
  errorAt,
  type Source,
  type WrittenCatalog,
  type WrittenEvent,
} from "./written.js";

/** The names that lead to a part of the file. */
type Path = readonly string[];

/** @returns the declared objects, as far as the file could be read. @param findings gets the problems. */
export function readYamlCatalog(
  text: string,
  file: string,
  format: "yaml" | "json",
  findings: CatalogFinding[],
): WrittenCatalog {
  const { LineCounter, parseDocument } = yamlLibrary();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    schema: format === "json" ? "json" : "core",
    lineCounter,
    merge: true,
    prettyErrors: false,
    // A number above 2^53 would lose digits. Keys stay as they are written, as in CSV: `007`, `1.10`, `true`.
    intAsBigInt: true,
    stringKeys: true,
  });
  const placeAt = (offset: number): Source => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const unread = (offset: number, reason: string, code = "") => {
    const own = `is not valid ${format.toUpperCase()}: ${reason}`;
    findings.push(errorAt(placeAt(offset), "", REASONS[code] ?? own));
    return { events: [] };
  };
  const fault = format === "json" ? jsonFault(text) : undefined;
  if (fault) return unread(fault.offset, fault.reason);
  const problems = [...document.errors, ...document.warnings];
  for (const { code, pos, message } of problems) unread(pos[0], message, code);
  if (problems.some(({ code }) => code !== "DUPLICATE_KEY")) return { events: [] };
  try {
    const options = { maxAliasCount: MAX_ALIASES, reviver: smallIntegers };
    const data: unknown = document.toJS(options);
    const placeOf = (path: Path) => placeAt(offsetIn(document.contents, path));
    return partsIn(data ?? {}, placeOf, findings);
  } catch (error) {
    return unread(0, (error as Error).message);
  }
}

/** Plain reasons by the library's error code, if the library's own message is for programmers. */
const REASONS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "repeats a key: use each key once",
  MULTIPLE_DOCS: "has several documents: remove the lines with ---, or make a file of each",
};

/** With more alias expansions than this, the library rejects the file as an attack. */
const MAX_ALIASES = 100_000;

/** Why a text isn't JSON, from JSON.parse, because the YAML library accepts more than JSON. */
function jsonFault(text: string): { offset: number; reason: string } | undefined {
  const message = jsonError(text);
  if (message === undefined) return undefined;
  const [, fault = "", position] =
    /^(.*?)(?:, (?:\.\.\.)?".*|(?: in JSON)? at position (\d+).*)?$/s.exec(message) ?? [];
  const reason = `${withEscapes(fault)}; JSON needs names and texts in ", and allows no comment and no comma before } or ]`;
  if (position !== undefined) return { offset: Number(position), reason };
  // Without a position, this bisects for the shortest prefix with the same error: the token is at its end.
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

function jsonError(text: string) {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Turns a BigInt into a number if that is exact. */
function smallIntegers(_: unknown, value: unknown): unknown {
  if (typeof value !== "bigint" || !Number.isSafeInteger(Number(value))) return value;
  return Number(value);
}

/** The offset of the last name on the path that the file has there. For a value from an alias or `<<`: of its use. */
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

/** @param placeOf finds the place of the name at the end of a path, or of the part that would contain it. */
function partsIn(
  data: unknown,
  placeOf: (path: Path) => Source,
  findings: CatalogFinding[],
): WrittenCatalog {
  const report = (path: Path, subject: string, reason: string) => {
    findings.push(errorAt(placeOf(path), subject, reason));
  };
  const objectIn = (path: Path, subject: string, value: unknown, expected: string) => {
    if (isContainer(value) && !Array.isArray(value)) return value as Values;
    report(path, subject, `expected ${expected}; got ${show(value)}`);
    return undefined;
  };
  const written = (path: Path, subject: string, given: Values): CatalogEntry => {
    const sourceOf = (property: string) =>
      placeOf(property === "key" ? path : [...path, ...property.split(".")]);
    return { subject, key: (path.at(-1) ?? "").normalize("NFC"), given, sourceOf };
  };
  /** The objects by key below `name`. @param owner the subject of the object that contains them; empty at the top. */
  const members = (
    above: Path,
    owner: string,
    name: keyof typeof SHAPES,
    value: unknown,
  ) => {
    const place = [...above, name];
    const all = objectIn(place, owner || name, value ?? {}, `${name} by key`);
    return Object.entries(all ?? {}).flatMap(([key, member]) => {
      const path = [...place, key];
      const subject = joined("/", owner, key.normalize("NFC"));
      const given = objectIn(path, subject, member, SHAPES[name]);
      return given ? [{ ...written(path, subject, given), path }] : [];
    });
  };
  const defaultsIn = (above: Path, subject: string, value: unknown) => {
    const path = [...above, "defaults"];
    return written(path, subject, objectIn(path, subject, value ?? {}, "an object") ?? {});
  };

  const top = objectIn([], "", data, "advertisers, by key") ?? {};
  for (const name of Object.keys(top).filter((each) => !TOP.includes(each)))
    report([name], "", `${quoted(name)} is not known; ${didYouMean(name, TOP)}`);
  const events: WrittenEvent[] = [];
  const advertisers = members([], "", "advertisers", top.advertisers).map((member) => {
    const { path, subject: advertiser } = member;
    const { defaults, events: own, ...given } = member.given;
    for (const event of members(path, advertiser, "events", own))
      events.push({ ...event, advertiser });
    return {
      ...member,
      given,
      defaults: defaultsIn(path, `${advertiser} defaults`, defaults),
    };
  });
  const { eventsFile } = top;
  if (eventsFile !== undefined && typeof eventsFile !== "string") {
    const reason = `eventsFile expected the path of a CSV file; got ${show(eventsFile)}`;
    report(["eventsFile"], "", reason);
  }
  return {
    defaults: defaultsIn([], "defaults", top.defaults),
    ...(top.advertisers !== undefined && { advertisers }),
    events,
    ...(typeof eventsFile === "string" && { eventsFile }),
  };
}

function yamlLibrary() {
  return require("yaml") as typeof import("yaml");
}
