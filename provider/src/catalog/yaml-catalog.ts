/**
 * Reads the advertisers and events of a YAML or JSON file, with the place of each part. A wrong shape is reported here,
 * a wrong value by its rule.
 */
import type { Node, Scalar, YAMLMap } from "yaml";
import { didYouMean, joined, quoted, type Values } from "../base/index.js";
import { isContainer, show } from "../rules/index.js";
import { type AddFinding, type CatalogEntry, placeOf, type Source } from "./written.js";

/** The names that lead to a part of the file. */
type Path = readonly string[];

/** @returns the declared objects; undefined if the file can't be parsed. */
export function readYamlCatalog(text: string, file: string, report: AddFinding) {
  const { LineCounter, parseDocument, visit } = require("yaml") as typeof import("yaml");
  let isBroken = false;
  const refuse = (offset: number, message: string) => {
    isBroken = true;
    // Advice for programmers follows a semicolon.
    let [reason] = message.split(";", 1);
    if (/stack/i.test(message)) reason = "it is nested too deeply";
    report(placeAt(offset), `can't be read: ${reason}`);
  };
  const lineCounter = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parseDocument(text, {
    lineCounter,
    merge: true,
    prettyErrors: false,
    // A number above 2^53 would lose digits. Keys stay as they are written, as in CSV: `007`, `1.10`, `true`.
    intAsBigInt: true,
    stringKeys: true,
    uniqueKeys: (first, key) => {
      if (nameIn(first) !== nameIn(key)) return false;
      const place = placeOf(placeAt(first.range?.[0] ?? 0));
      report(
        placeAt(key.range?.[0] ?? 0),
        `${quoted(nameIn(key))} is already used at ${place}`,
      );
      return true;
    },
  });
  for (const { code, pos, message } of [...document.errors, ...document.warnings]) {
    // Reported already, and what is below it is checked too.
    if (code === "DUPLICATE_KEY") continue;
    const [, quote] = /^Missing closing (["'])/.exec(message) ?? [];
    if (quote !== undefined) {
      refuse(text.lastIndexOf(quote), "the quote that begins here isn't closed");
      // Whatever else is wrong follows from that.
      break;
    }
    const [line = ""] = text.slice(text.lastIndexOf("\n", pos[0]) + 1).split("\n", 1);
    if (/\$\{|\{\{/.test(line)) {
      refuse(pos[0], "a placeholder in this line isn't in quotes");
      break;
    }
    refuse(pos[0], message);
  }
  const anchors = new Map<string | undefined, unknown>();
  visit(document, {
    Value: (_, node) => void anchors.set(node.anchor, node),
    Alias: (_, { source, range }, parents) => {
      const node = anchors.get(source);
      const isInside = parents.includes(node as Node);
      if (node && !isInside) return;
      const fault = isInside ? "is inside its own anchor" : "has no anchor before it";
      refuse(range?.[0] ?? 0, `*${source} ${fault}`);
    },
  });
  if (/^%YAML 1\.1/m.test(text))
    report(placeAt(0), "is YAML 1.1, in which 010 is 8 and 7:00 is 420: write %YAML 1.2");
  if (isBroken) return undefined;
  try {
    const data: unknown = document.toJS({
      // With more alias expansions than this, the library rejects the file as an attack.
      maxAliasCount: 100_000,
      reviver: (_, value) => {
        const isExact = typeof value === "bigint" && Number.isSafeInteger(Number(value));
        return isExact ? Number(value) : value;
      },
    });
    return partsIn(data, (path) => placeAt(offsetIn(document.contents, path)), report);
  } catch (error) {
    // It doesn't say where.
    refuse(Math.max(text.indexOf("<<"), 0), (error as Error).message);
    return undefined;
  }
}

/** All keys are scalars. */
function nameIn(key: unknown) {
  return String((key as Scalar).value);
}

/** The offset of the last name on the path that the file has there. For a value from an alias or `<<`: of its use. */
function offsetIn(contents: Node | null, path: Path) {
  let node = contents as Partial<YAMLMap<Node, Node>> | null;
  let offset = contents?.range?.[0] ?? 0;
  for (const name of path) {
    const pair = node?.items?.findLast(({ key }) => key && nameIn(key) === name);
    if (!pair) return offset;
    node = pair.value as typeof node;
    offset = pair.key.range?.[0] ?? offset;
  }
  return offset;
}

/** `$schema` is for editors. */
const TOP = ["$schema", "defaults", "advertisers", "eventsFile"];

/** @param sourceAt finds the place of the name at the end of a path, or of the part that would contain it. */
function partsIn(data: unknown, sourceAt: (path: Path) => Source, report: AddFinding) {
  const objectAt = (path: Path, subject: string, value: unknown) => {
    if (isContainer(value) && !Array.isArray(value)) return value as Values;
    report(
      sourceAt(path),
      `expected an object, ${path.at(-1) ?? "advertisers"}: { key: value }; got ${show(value)}`,
      { subject },
    );
  };
  /** @returns a list with one entry, or an empty list if the value isn't an object. */
  const entryAt = (
    path: Path,
    names: Pick<CatalogEntry, "owner" | "key" | "subject">,
    value: unknown,
  ) => {
    const given = objectAt(path, names.subject, value);
    if (!given) return [];
    const sourceOf = (property: string) =>
      sourceAt(property === "key" ? path : [...path, ...property.split(".")]);
    return [{ ...names, given, sourceOf, path }];
  };
  /** The objects by key at a path. */
  const entriesAt = (path: Path, owner: string, value: unknown) =>
    Object.entries(objectAt(path, owner, value ?? {}) ?? {}).flatMap(([name, member]) => {
      const key = name.normalize("NFC");
      return entryAt(
        [...path, name],
        { owner, key, subject: joined("/", owner, key) },
        member,
      );
    });
  const defaultsAt = (path: Path, key: string, value: unknown) =>
    entryAt(path, { owner: "", key, subject: joined(" ", key, "defaults") }, value ?? {});

  const top = objectAt([], "", data ?? {}) ?? {};
  for (const name of Object.keys(top).filter((each) => !TOP.includes(each)))
    report(sourceAt([name]), `${quoted(name)} is not known; ${didYouMean(name, TOP)}`);
  const { eventsFile: path } = top;
  const source = sourceAt(["eventsFile"]);
  const eventsFile = typeof path === "string" && path !== "" && { path, source };
  if (path !== undefined && !eventsFile)
    report(source, `eventsFile expected the path of a CSV file; got ${show(path)}`);
  const all = defaultsAt(["defaults"], "", top.defaults);
  const events: CatalogEntry[] = [];
  const advertisers = entriesAt(["advertisers"], "", top.advertisers).map((entry) => {
    const { key, path } = entry;
    const { defaults, events: members, ...given } = entry.given;
    all.push(...defaultsAt([...path, "defaults"], key, defaults));
    events.push(...entriesAt([...path, "events"], key, members));
    return { ...entry, given };
  });
  return {
    defaults: all,
    ...(top.advertisers !== undefined && { advertisers }),
    events,
    ...(eventsFile && { eventsFile }),
  };
}
