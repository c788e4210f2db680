/**
 * Text on its way to people: fit for a terminal, in a sentence, and with what a mistyped name was meant to be. Pure, but for what
 * {@link commandsTake} notes.
 */
import { distance } from "fastest-levenshtein";

// C0 and C1 controls (escape sequences start with one), line and paragraph separators, and the marks that turn the
// reading direction of what follows: each could make a terminal show something else than was written.
// biome-ignore lint/suspicious/noControlCharactersInRegex: naming the control characters is the purpose
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g;

/** Replaces each run of control and direction characters, and each lone surrogate, by one space. */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll("\ufffd", " ").replace(UNPRINTABLE, " ").trim();
}

/** The first `most` characters of `text`, with an ellipsis where something was left out. */
export function excerpt(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** One word of a POSIX shell's command. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes if it needs none. */
export function plainShellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : shellWord(text);
}

let stackOptions = "";

/** From now on, each command that this process prints takes these: so that it is about the same stack as the command that prints it. */
export function commandsTake(options: readonly { readonly option: string; readonly value: string }[]): void {
  stackOptions = options.map(({ option, value }) => ` ${option} ${plainShellWord(value)}`).join("");
}

/** A command of Pulumi or of this package about a stack, as it is to be typed. */
export function asTyped(command: string): string {
  return `${command}${stackOptions}`;
}

/**
 * The first `most` of `items`, and one more entry that counts the others where there are any.
 * @param inWords what is said of the others. @default `and 3 more`
 */
export function cut(
  items: readonly string[],
  most: number,
  inWords: (others: number) => string = (others) => `and ${others} more`,
): string[] {
  const others = items.length - most;
  return others <= 0 ? [...items] : [...items.slice(0, most), inWords(others)];
}

/** Joins names for a sentence: `a`, `a and b`, `a, b and c`. @param most more than these are counted: `a, b and 3 more`. @default all */
export function enumerate(items: readonly string[], most = Number.POSITIVE_INFINITY): string {
  const told = cut(items, most, (others) => `${others} more`);
  return told.length < 2 ? told.join("") : `${told.slice(0, -1).join(", ")} and ${told.at(-1)}`;
}

/** More of those that share a sentence are counted. */
const MAX_SHARING = 3;

/**
 * What is wrong with many for one reason is said once: the first in full, then the names of the next with the same value, then other
 * values with a name for each, and how many more there are.
 * @param nameOf names one that is not said in full. @param reasonOf the text without the name. Equal but for its values where the
 *   rule is the same.
 */
export function saidOnce<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  nameOf: (item: T) => string,
  reasonOf: (item: T) => string,
): string[] {
  return [...Map.groupBy(items, (item) => withoutValues(reasonOf(item))).values()].map((alike) => {
    const [[first, ...same] = [], ...rest] = [...Map.groupBy(alike, reasonOf).values()];
    if (first === undefined) return "";
    const told = rest.flatMap(([each]) =>
      each === undefined ? [] : [`${valueIn(reasonOf(each), reasonOf(first))} in ${nameOf(each)}`],
    );
    const clauses = [
      ...(same.length === 0 ? [] : [`the same in ${listed(same.map(nameOf), same.length)}`]),
      ...(told.length === 0 ? [] : [`also ${listed(told, rest.flat().length)}`]),
    ];
    return `${textOf(first)}${clauses.length === 0 ? "" : ` (${clauses.join("; ")})`}`;
  });
}

/** The first few of `names`, and how many more of `amount` there are. */
function listed(names: readonly string[], amount: number): string {
  const shown = names.slice(0, MAX_SHARING);
  return enumerate(shown.length === amount ? shown : [...shown, `${amount - shown.length} more`]);
}

/**
 * What a sentence has that another one of the same rule has not: the words from the first that differs to the last, of the first clause
 * with any. What is advised behind it follows from that.
 */
function valueIn(sentence: string, other: string): string {
  const others = clausesIn(other);
  for (const [index, words] of clausesIn(sentence).entries()) {
    const differing = words.flatMap((word, place) => (word === others[index]?.[place] ? [] : [place]));
    const [first, last = first] = [differing[0], differing.at(-1)];
    if (first !== undefined && last !== undefined)
      return words
        .slice(first, last + 1)
        .join(" ")
        .replace(/[.,:]$/, "");
  }
  return "";
}

/** The words of each clause. What stands in quotes is one word, with all that is in it. */
function clausesIn(sentence: string): string[][] {
  const clauses: string[][] = [[]];
  for (const [word] of sentence.matchAll(/(?:"(?:[^"\\]|\\.)*"|[^\s;"])+|;/g)) {
    if (word === ";") clauses.push([]);
    else clauses.at(-1)?.push(word);
  }
  return clauses;
}

/** A sentence without the values in it: equal for two of one reason. */
export function withoutValues(sentence: string): string {
  return sentence.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/-?\d+(?:[.,]\d+)*/g, "0");
}

/** Ids in their order, neighbours together: `3, 7–12`. Those of a number's size; others as they are. */
export function idRanges(ids: readonly string[]): string {
  const ranges: { readonly first: string; last: string }[] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    const current = ranges.at(-1);
    if (current !== undefined && BigInt(current.last) + 1n === BigInt(id)) current.last = id;
    else ranges.push({ first: id, last: id });
  }
  return ranges.map(({ first, last }) => (first === last ? first : `${first}–${last}`)).join(", ");
}

/** The order in which people count: `event-2` before `event-10`. For `toSorted`. */
export function natural(a: string, b: string): number {
  return COUNTING.compare(a, b);
}

/** Made once: lists may have thousands. */
const COUNTING = new Intl.Collator("en", { numeric: true });

/** `1 problem`, `2 problems`; with a verb: `1 object leaves`, `2 objects leave`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${agree(amount, one, many)}`;
}

/** A word that goes with an amount which stands elsewhere in the sentence: `is` or `are`, `it` or `them`. */
export function agree(amount: number, one: string, many: string): string {
  return amount === 1 ? one : many;
}

/** Shorter pieces occur in too many names to say which one was meant. */
const MIN_PIECE_CHARACTERS = 3;

/** The name of `known` that `typed` was likely meant to be, case and separators aside; none where all are far from it. */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  let best: { name: string; penalty: number } | undefined;
  for (const name of known) {
    const penalty = penaltyOf(letters(typed), letters(name));
    if (penalty !== undefined && (best === undefined || penalty < best.penalty)) best = { name, penalty };
  }
  return best?.name;
}

/**
 * Completes an error about a name that is not known: `did you mean value?` where one is near, else the names that are known.
 * @param suggest how the name that was meant is written. @param list the known names as a sentence names them.
 */
export function didYouMean(
  typed: string,
  known: readonly string[],
  { suggest = (name: string) => name, list = known.join(", ") } = {},
): string {
  const meant = nearest(typed, known);
  return meant === undefined ? `known are ${list}` : `did you mean ${suggest(meant)}?`;
}

/** The same after a sentence, where the known names are too many to list. */
export function perhapsMeant(typed: string, known: Iterable<string>, suggest = (name: string) => name): string {
  const meant = nearest(typed, known);
  return meant === undefined ? "" : `; did you mean ${suggest(meant)}?`;
}

/** Shorter words that differ may well be two. */
const MIN_WORD_CHARACTERS = 4;

/** Whether one word may be the other, misspelt. Equal words may; words that differ in a number may not. */
export function differsLittle(word: string, other: string): boolean {
  const [a, b] = [letters(word), letters(other)];
  if (a === b) return true;
  const isLong = Math.min(a.length, b.length) >= MIN_WORD_CHARACTERS;
  // Two letters that changed places are two edits.
  return isLong && a[0] === b[0] && a.replace(/\D/g, "") === b.replace(/\D/g, "") && distance(a, b) <= 2;
}

/** Case and separators aside: what people take for the same name. */
export function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/**
 * How far apart the two are; the whole part is the kind of likeness, of which an earlier one always wins: people leave off
 * a name's end (`maxWait`) more often than they write another name altogether.
 */
function penaltyOf(typed: string, name: string): number | undefined {
  if (typed === name) return 0;
  const edits = distance(typed, name);
  // Below 1: of several names of one kind of likeness, the one with the least difference.
  const difference = edits / (Math.max(typed.length, name.length) + 1);
  const mayBePiece = typed.length >= MIN_PIECE_CHARACTERS;
  if (mayBePiece && name.startsWith(typed)) return 1 + difference;
  if (edits <= Math.max(1, typed.length / 4) && edits < typed.length) return 2 + difference;
  if (mayBePiece && (name.includes(typed) || typed.startsWith(name))) return 3 + difference;
  if (mayBePiece && distance(typed, name.slice(0, typed.length)) <= typed.length / 3) return 4 + difference;
  return edits <= name.length / 2 ? 5 + difference : undefined;
}

/** As in `engines` of package.json. */
export const NEEDED_NODE = "22.19.0";

/**
 * Both halves and the commands check the version of Node.js first: npm only warns of an old one, which fails later.
 * @param running such as `22.19.0`.
 * @returns in words, why it is too old.
 */
export function whyTooOld(running: string): string | undefined {
  if (running.localeCompare(NEEDED_NODE, "en", { numeric: true }) >= 0) return undefined;
  return `Node.js ${NEEDED_NODE} or later is needed; this is ${running}. Install a newer one: https://nodejs.org/`;
}
