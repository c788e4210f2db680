/**
 * `pulumi-advertising compare`: what one stack declares and another does not, such as staging and production. Resources are
 * compared by key, without ids, which always differ.
 */
import { count, printable, UsageError } from "../base/index.js";
import {
  type Contents,
  contentsOf,
  type Entry,
  jsonOf,
  nameOf,
  SECRET,
  type Shown,
  shown,
  warnOfSecretSets,
} from "./contents.js";
import { chosen, command, write } from "./harness.js";
import { stateOf } from "./pulumi.js";
import { stateIn } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising compare <stack> <stack> [options]
       pulumi-advertising compare --state FILE --state FILE [options]

Lists what only one of two stacks has, and which arguments differ. Compares resources by name, and ignores ids. Sends and
changes nothing.

  --format FORMAT        text (default) or json
  --state FILE           twice: what \`pulumi stack export\` printed (- for standard input)
  --cwd FOLDER           the program's folder
  --out FILE             writes to FILE

Exit codes: 0 nothing differs, 1 something differs, 2 failed.`;

export const compareCommand = command({
  help: HELP,
  options: {
    format: { type: "string" },
    state: { type: "string", multiple: true, default: [] as string[] },
    cwd: { type: "string" },
    out: { type: "string" },
  },
  takes: { amount: ({ state }) => (state.length === 0 ? 2 : 0), words: "two stacks, or --state FILE twice" },
  run: async ({ format = "text", state: files, cwd, out }, ...stacks) => {
    const inFormat = chosen(COMPARISON_FORMATS, format, "format");
    if (files.length === 1) throw new UsageError("--state is given twice, once for each of the two; got one");
    const [first = "", second = ""] = files.length > 0 ? files : stacks;
    // One after the other: Pulumi may ask for a passphrase.
    const read = async (name: string) => {
      const stack = await stateOf(files.length > 0 ? { state: name, cwd } : { stack: name, cwd });
      const contents = contentsOf(stateIn(stack).resources);
      warnOfSecretSets(contents, "so its events are not compared");
      return contents;
    };
    const comparison = compare(await read(first), await read(second));
    write(inFormat(comparison, [first, second]), out);
    return isSame(comparison) ? 0 : 1;
  },
});

interface Comparison {
  readonly onlyInFirst: readonly Entry[];
  readonly onlyInSecond: readonly Entry[];
  readonly differing: readonly { readonly entry: Entry; readonly differences: readonly Difference[] }[];
  readonly same: number;
  /** Of the same: with secret arguments on both sides, which can't be compared. */
  readonly withSecrets: number;
}

interface Difference {
  readonly argument: string;
  readonly first: string;
  readonly second: string;
}

export function compare(first: Contents, second: Contents): Comparison {
  const [ofFirst, ofSecond] = [comparable(first), comparable(second)];
  const both = [...ofFirst].flatMap(([identity, one]) => {
    const other = ofSecond.get(identity);
    return other === undefined ? [] : [{ entry: one.entry, one, other, differences: differencesOf(one, other) }];
  });
  const same = both.filter(({ differences }) => differences.length === 0);
  return {
    onlyInFirst: missingIn(ofSecond, ofFirst),
    onlyInSecond: missingIn(ofFirst, ofSecond),
    differing: both.filter(({ differences }) => differences.length > 0),
    same: same.length,
    withSecrets: same.filter(({ one }) => Object.values(one.values).includes(SECRET)).length,
  };
}

interface Comparable {
  readonly entry: Entry;
  readonly values: Readonly<Record<string, Shown>>;
}

/** By kind and key. Ids always differ: what an event belongs to is given by its advertiser's key, if the stack has that. */
function comparable({ advertisers, events, advertiserKeys }: Contents): Map<string, Comparable> {
  return new Map(
    [...advertisers, ...events].map((entry): [string, Comparable] => {
      const { [entry.kind.idProperty]: _, existingId: __, ...given } = entry.values;
      const { advertiserId: owner, ...values } = given;
      const advertiser: Record<string, Shown> =
        owner === undefined ? {} : { advertiser: advertiserKeys.get(shown(owner)) ?? owner };
      return [`${entry.kind.name} ${entry.key}`, { entry, values: { ...values, ...advertiser } }];
    }),
  );
}

function missingIn(those: ReadonlyMap<string, unknown>, all: ReadonlyMap<string, Comparable>): Entry[] {
  return [...all].filter(([identity]) => !those.has(identity)).map(([, { entry }]) => entry);
}

/** Two secrets can't be compared, and count as the same. */
function differencesOf({ values: one }: Comparable, { values: other }: Comparable): Difference[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted();
  return names.flatMap((argument) => {
    const [first, second] = [shown(one[argument]), shown(other[argument])];
    return first === second ? [] : [{ argument, first, second }];
  });
}

/** @param names of the two stacks. Each ends with a line break. */
export const COMPARISON_FORMATS: Readonly<
  Record<string, (comparison: Comparison, names: readonly string[]) => string>
> = { text: asText, json: asJson };

export function isSame({ onlyInFirst, onlyInSecond, differing }: Comparison): boolean {
  return onlyInFirst.length + onlyInSecond.length + differing.length === 0;
}

function asText(comparison: Comparison, [first = "", second = ""]: readonly string[]): string {
  const { onlyInFirst, onlyInSecond, differing, same, withSecrets } = comparison;
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [`${title}:`, ...lines]);
  const named = (entries: readonly Entry[]) => entries.map((entry) => `  ${labelOf(entry)}`);
  const lines = differing.flatMap(({ entry, differences }) => [
    `  ${labelOf(entry)}`,
    ...differences.map(
      ({ argument, first: one, second: other }) =>
        `    ${argument}: ${told(one)} in ${first}, ${told(other)} in ${second}`,
    ),
  ]);
  const secrets = withSecrets === 0 ? "" : ` (${withSecrets} with secret arguments, which can't be compared)`;
  return [
    ...section(`Only in ${first}`, named(onlyInFirst)),
    ...section(`Only in ${second}`, named(onlyInSecond)),
    ...section("In both, and different", lines),
    `${count(same, "object is", "objects are")} the same in both${secrets}; ${onlyInFirst.length} only in ${first}, ${onlyInSecond.length} only in ${second}, ${differing.length} different.`,
    "",
  ].join("\n");
}

function labelOf(entry: Entry): string {
  const { kind, key } = entry;
  const name = nameOf(entry);
  return printable(`${kind.name} ${key}${name === "" || name === key ? "" : ` "${name}"`}`);
}

function told(text: string): string {
  return text === "" ? "not set" : printable(text);
}

/** A contract: fields are only added. */
function asJson(comparison: Comparison, names: readonly string[]): string {
  const { onlyInFirst, onlyInSecond, differing, same } = comparison;
  const inShort = ({ kind: { name: kind }, key }: Entry) => ({ kind, key });
  const content = {
    stacks: names,
    same,
    onlyInFirst: onlyInFirst.map(inShort),
    onlyInSecond: onlyInSecond.map(inShort),
    differing: differing.map(({ entry, differences }) => ({ ...inShort(entry), differences })),
  };
  return jsonOf(content);
}
