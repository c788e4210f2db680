/** Finds the known name that a mistyped one was probably meant to be. Pure. */
import { distance } from "fastest-levenshtein";

/** The name in `known` that `typed` likely means, case and separators aside; `undefined` if none is near. */
export function nearest(typed: string, known: Iterable<string>) {
  const word = letters(typed);
  let best: string | undefined;
  let fewestEdits = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const other = letters(name);
    const most = Math.ceil(Math.min(word.length, other.length) / 3);
    // There are too many edits for a slip or an abbreviation.
    if (Math.abs(word.length - other.length) > most) continue;
    const edits = distance(word, other);
    if (edits > most || edits >= fewestEdits) continue;
    best = name;
    fewestEdits = edits;
  }
  return best;
}

/** Completes an error about an unknown name: `did you mean value?` if a known name is near, else lists the known names. */
export function didYouMean(typed: string, known: readonly string[]) {
  const meant = nearest(typed, known);
  if (meant) return `did you mean ${meant}?`;
  return `expected one of ${known.join(", ")}`;
}

/** A name's letters and digits in lower case: to people, names with the same ones are the same name. */
export function letters(name: string) {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
