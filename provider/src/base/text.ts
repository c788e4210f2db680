/** Text on its way to people: fit for a terminal, shortened, counted and listed. Pure. */

/**
 * Control characters (escape sequences start with one), line and paragraph separators, and the marks that turn the
 * reading direction of what follows: each could make a terminal show something else than was written.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff\ufffd]+/gu;

/** Replaces each run of control and direction characters, and each lone surrogate, by one space. */
export function printable(text: string) {
  return text.toWellFormed().replace(UNPRINTABLE, " ").trim();
}

/** The first `most` characters of `text`, with an ellipsis if it is longer. */
export function excerpt(text: string, most: number) {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Characters that are invisible, or look like a space but aren't one. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** Unseen characters that nobody means: in a word of Latin letters, or spaces that aren't beside French punctuation. */
export const STRAY =
  /(?<=\p{sc=Latn})\p{Default_Ignorable_Code_Point}|[\u00ad\u200b\u2060\ufeff\p{Bidi_Control}]|(?<!«)[\u00a0\u202f](?![!?:;»%€])/u;

/** Returns the same text for texts that look the same. */
export function looksOf(text: string) {
  return text.normalize("NFKC").replace(UNSEEN, "");
}

/** JSON with an escape for each unseen character. */
export function withEscapes(json: string) {
  return json.replace(UNSEEN, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return code.length === 4 ? `\\u${code}` : `\\u{${code}}`;
  });
}

export const SHOWN_CHARACTERS = 60;

/** The first characters of a name or a cell, quoted as in JSON, with escapes for unseen characters. */
export function quoted(text: string) {
  return withEscapes(JSON.stringify(excerpt(text, SHOWN_CHARACTERS)));
}

/** The first `most` of `items`, plus an entry that counts the others, if any. */
export function cut(items: readonly string[], most: number, before = "and ") {
  const others = items.length - most;
  if (others <= 0) return [...items];
  return [...items.slice(0, most), `${before}${others} more`];
}

/** Joins names: `a, b and c`. @param most how many are named, before `and 3 more`. @default all */
export function enumerate(items: readonly string[], most = Number.POSITIVE_INFINITY) {
  // Without a comma before `and`. Made here, since the first one takes 15 ms, and most runs need none.
  return new Intl.ListFormat("en-GB").format(cut(items, most, ""));
}

/** Joins the parts that are neither undefined nor empty. */
export function joined(separator: string, ...parts: readonly (string | undefined)[]) {
  return parts.filter(Boolean).join(separator);
}

/** How many other items with the same reason are named; the rest are counted. */
const MAX_OTHERS_NAMED = 3;

/**
 * One sentence for all items with the same reason: the first item's text, then the names of the others. Another value,
 * suggestion or place makes another reason; only the keys in a property's path don't.
 * @param nameOf an item's name. @param reasonOf an item's property and reason.
 */
export function saidOnce<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  nameOf: (item: T) => string,
  reasonOf: (item: T) => string,
) {
  const groups = Map.groupBy(items, (item) => reasonOf(item).replaceAll(KEYS, ""));
  return Array.from(groups.values(), (group) => {
    const [text = ""] = group.map(textOf);
    const others = enumerate(group.slice(1).map(nameOf), MAX_OTHERS_NAMED);
    if (others === "") return text;
    return `${text} (the same in ${others})`;
  });
}

/** The keys in a path: `["buy"]` in `events["buy"].value`. */
const KEYS = /\["(?:[^"\\]|\\.)*"\]/g;

/** Ids in numeric order, neighbours together: `3, 7–12`. */
export function idRanges(ids: readonly string[]) {
  const ranges: { first: string; last: string }[] = [];
  for (const id of [...new Set(ids)].sort(natural)) {
    const current = ranges.at(-1);
    if (current && BigInt(current.last) + 1n === BigInt(id)) current.last = id;
    else ranges.push({ first: id, last: id });
  }
  return ranges
    .map(({ first, last }) => (first === last ? first : `${first}–${last}`))
    .join(", ");
}

/** The ids that {@link idRanges} lists. */
export function idsIn(ranges: string) {
  return [...ranges.matchAll(/(\d+)(?:–(\d+))?/g)].flatMap(
    ([, first = "", last = first]) => {
      const length = Number(BigInt(last) - BigInt(first)) + 1;
      return Array.from({ length }, (_, at) => String(BigInt(first) + BigInt(at)));
    },
  );
}

/** Compares texts as people count: `event-2` before `event-10`. For `toSorted`. */
export const natural = new Intl.Collator("en", { numeric: true }).compare;

/** `1 problem`, `2 problems`; with a verb: `1 object leaves`, `2 objects leave`. */
export function count(amount: number, one: string, many = `${one}s`) {
  return `${amount} ${agree(amount, one, many)}`;
}

/** A word that agrees with an amount elsewhere in the sentence: `is` or `are`, `it` or `them`. */
export function agree(amount: number, one: string, many: string) {
  return amount === 1 ? one : many;
}

/** The same version as `engines` in package.json. */
export const NEEDED_NODE = "22.19.0";

/**
 * Why the running version of Node.js is too old, or undefined. Both processes and the commands check this first: npm
 * only warns about an old version, which fails later. Which `node` it is depends on the PATH of whatever starts it.
 */
export function versionProblem() {
  const running = process.versions.node;
  if (natural(running, NEEDED_NODE) >= 0) return undefined;
  return `Node.js ${NEEDED_NODE} or later is needed; this is ${running} (${process.execPath}). Nothing was sent. Install it from https://nodejs.org/`;
}
