/** Guesses which known name a mistyped or shortened one was meant to be. */
import { distance } from "fastest-levenshtein";

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

/** Shorter words that differ may well be two. */
const MIN_WORD_CHARACTERS = 4;

/** Tells whether one word may be the other, misspelt. Equal words may; words that differ in a number may not. */
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
