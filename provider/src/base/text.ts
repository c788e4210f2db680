/**
 * Text from outside on its way to a terminal.
 */

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

/** Joins names for a sentence: `a`, `a and b`, `a, b and c`. */
export function enumerate(items: readonly string[]): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
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

/** `1 problem`, `2 problems`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
