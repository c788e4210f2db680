/**
 * Text on its way to people: fit for a terminal, in a sentence, and with what a mistyped name was meant to be. Pure,
 * but for what {@link commandsTake} notes.
 */

// C0 and C1 controls (escape sequences start with one), line and paragraph separators, and the marks that turn the
// reading direction of what follows: each could make a terminal show something else than was written.
// biome-ignore lint/suspicious/noControlCharactersInRegex: naming the control characters is the purpose
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g;

/** Replaces each run of control and direction characters, and each lone surrogate, by one space. */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll("\ufffd", " ").replace(UNPRINTABLE, " ").trim();
}

/** Characters that nobody sees, or that look like a space and are none. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** Names for the ones that programs write into tables. Any other is shown by its number alone. */
const UNSEEN_NAMES: Readonly<Record<string, string>> = {
  ...{ "000A": "line break", "0020": "space", "00A0": "no-break space", "00AD": "soft hyphen" },
  ...{ "200B": "zero-width space", "202F": "narrow no-break space", FEFF: "byte order mark" },
};

const codeOf = (character: string) => (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/** `U+200B (zero-width space) and U+0301`. */
function named(characters: Iterable<string>): string {
  const told = Array.from(characters, codeOf).map((code) => {
    const name = UNSEEN_NAMES[code];
    return `U+${code}${name === undefined ? "" : ` (${name})`}`;
  });
  return enumerate(told, 6);
}

/** The characters of `text` that nobody sees, by number and name; none without one. */
export function unseenIn(text: string): string | undefined {
  const found = text.match(UNSEEN);
  return found === null ? undefined : named(new Set(found));
}

/** Where characters that nobody sees belong to a name. */
const IN_PLACE = [
  // In an emoji.
  /(?<=[\p{Emoji}\p{Emoji_Modifier}])(?:\u200d|[\ufe0e\ufe0f]|[\u{e0020}-\u{e007f}])+/gu,
  // Between letters of a script that joins them, which Latin, Greek and Cyrillic are not.
  /(?<=[^\P{L}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}]|\p{M})(?:\u200c|\u200d)/gu,
  // A space beside French punctuation.
  /[\u00a0\u202f](?=[!?:;»%€])|(?<=«)[\u00a0\u202f]/gu,
];

/** As {@link unseenIn}, without those that belong there. */
export function strayIn(text: string): string | undefined {
  return unseenIn(IN_PLACE.reduce((rest, pattern) => rest.replace(pattern, ""), text));
}

/** JSON with an escape for each character that nobody sees. */
export function withEscapes(json: string): string {
  return json.replace(UNSEEN, (character) => {
    const code = codeOf(character).toLowerCase();
    return code.length === 4 ? `\\u${code}` : `\\u{${code}}`;
  });
}

export const SHOWN_CHARACTERS = 60;

/** A name or a cell in a sentence: its first characters, quoted as in JSON, with escapes for what nobody would see. */
export function quoted(text: string): string {
  return withEscapes(JSON.stringify(excerpt(text, SHOWN_CHARACTERS)));
}

/** Equal for texts that look the same. */
export function looksOf(text: string): string {
  return text.normalize("NFKC").replace(UNSEEN, "");
}

/** Why two texts that look the same are not; none if one sees the difference. */
export function unseenDifference(one: string, other: string): string | undefined {
  if (one === other || looksOf(one) !== looksOf(other)) return undefined;
  const differing = [...new Set(one + other)].filter((each) => one.split(each).length !== other.split(each).length);
  return `they look the same, and differ in ${named(differing) || "the order of their characters"}`;
}

/** What nobody sees between a text and a former one of a group: `"Bu\u200by" beside "Buy": …`; none without such a one. */
export function lookAlike(known: Map<string, string>, text: string, group = ""): string | undefined {
  const looks = `${group} ${looksOf(text)}`;
  const other = known.get(looks) ?? text;
  known.set(looks, other);
  const why = unseenDifference(text, other);
  return why && `${quoted(text)} beside ${quoted(other)}: ${why}`;
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

/** From now on, each command that this process prints takes these, to be about the same stack as the process. */
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
export function cut(items: readonly string[], most: number, describeOthers = (others: number) => `and ${others} more`) {
  const others = items.length - most;
  return others <= 0 ? [...items] : [...items.slice(0, most), describeOthers(others)];
}

/** Joins names, as `a, b and c`. @param most more than these are counted: `a, b and 3 more`. @default all */
export function enumerate(items: readonly string[], most = Number.POSITIVE_INFINITY): string {
  const told = cut(items, most, (others) => `${others} more`);
  return told.length < 2 ? told.join("") : `${told.slice(0, -1).join(", ")} and ${told.at(-1)}`;
}

/** Joins the parts of a sentence that there are. */
export function joined(separator: string, ...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(separator);
}

/** More of those that share a reason are counted. */
const MAX_SHARING = 3;

/**
 * What is wrong with many for one reason is said once: the first in full, the names of the next, how many more there
 * are. @param nameOf names one that is not said in full. @param reasonOf the text without the name.
 */
export function saidOnce<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  nameOf: (item: T) => string,
  reasonOf: (item: T) => string,
): string[] {
  return [...Map.groupBy(items, (item) => withoutValues(reasonOf(item))).values()].map(([first, ...others]) => {
    const also = others.length === 0 ? "" : ` (also in ${enumerate(others.map(nameOf), MAX_SHARING)})`;
    return first === undefined ? "" : `${textOf(first)}${also}`;
  });
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
export const natural = new Intl.Collator("en", { numeric: true }).compare;

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

/** The name in `known` that `typed` likely means or is a piece of, case and separators aside; none if none is near. */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  const word = letters(typed);
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const name of known) {
    const other = letters(name);
    const [short = "", long = ""] = word.length < other.length ? [word, other] : [other, word];
    const isPiece = short.length >= MIN_PIECE_CHARACTERS && long.includes(short);
    const most = isPiece ? long.length : Math.ceil(short.length / 3);
    if (short === "" || long.length - short.length > most) continue;
    const edits = editsBetween(short, long);
    if (edits <= most && edits < (best?.edits ?? Number.POSITIVE_INFINITY)) best = { name, edits };
  }
  return best?.name;
}

/** How many characters have to be added, removed or replaced to make the one text of the other. */
export function editsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let line = 1; line <= one.length; line++) {
    const row = [line];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (one[line - 1] === other[column - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[column] ?? 0) + 1, (row[column - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}

/**
 * Completes an error about an unknown name: `did you mean value?` where one is near, else the names that are known.
 * @param written how the name that was meant is written.
 */
export function didYouMean(typed: string, known: readonly string[], written = (name: string) => name): string {
  const meant = nearest(typed, known);
  return meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${written(meant)}?`;
}

/** Case and separators aside: what people take for the same name. */
export function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** As in `engines` of package.json. */
export const NEEDED_NODE = "22.19.0";

/**
 * Both halves and the commands check the version of Node.js first: npm only warns of an old one, which fails later.
 * @param running such as `22.19.0`.
 * @returns in words, why it is too old.
 */
export function versionProblem(running: string): string | undefined {
  if (running.localeCompare(NEEDED_NODE, "en", { numeric: true }) >= 0) return undefined;
  return `Node.js ${NEEDED_NODE} or later is needed; this is ${running}. Install a newer one: https://nodejs.org/`;
}
