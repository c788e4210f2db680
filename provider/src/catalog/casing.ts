/** Whether a name is written in a style. Letters without case fit each one. */

/** As people name them in a catalog's rules. */
export const CASINGS = ["sentence", "title", "lower", "upper", "kebab", "snake", "camel", "pascal"] as const;
export type Casing = (typeof CASINGS)[number];

const isUpper = (text: string) => text === text.toUpperCase();
const isLower = (text: string) => text === text.toLowerCase();
const beginsUpper = (word: string) => isUpper([...word][0] ?? "");
/** An abbreviation or a product's name may stand anywhere: USA, B2B. */
const isLowerOrShort = (word: string) => isLower([...word][0] ?? "") || isUpper(word);

const FITS: Readonly<Record<Casing, (text: string) => boolean>> = {
  sentence: (text) => beginsUpper(wordsIn(text)[0] ?? "") && wordsIn(text).slice(1).every(isLowerOrShort),
  // Short words such as "of" and "and" are written either way.
  title: (text) => wordsIn(text).every((word, index) => (index > 0 && word.length <= 3) || beginsUpper(word)),
  lower: isLower,
  upper: isUpper,
  kebab: (text) => isLower(text) && /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u.test(text),
  snake: (text) => isLower(text) && /^[\p{L}\p{N}]+(_[\p{L}\p{N}]+)*$/u.test(text),
  camel: (text) => !beginsUpperLetter(text) && /^[\p{L}\p{N}]+$/u.test(text),
  pascal: (text) => beginsUpper(text) && /^[\p{L}\p{N}]+$/u.test(text),
};

export function fitsCasing(text: string, casing: Casing): boolean {
  return FITS[casing](text);
}

function wordsIn(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

function beginsUpperLetter(text: string): boolean {
  return beginsUpper(text) && !isLower([...text][0] ?? "");
}
