/** Finds the known name that a mistyped one was probably meant to be. Pure. */

/** Shorter pieces occur in too many names to show which one was meant. */
const MIN_PIECE_CHARACTERS = 3;

/**
 * The name in `known` that `typed` likely means or is a piece of, case and separators aside; `undefined` if none is
 * near.
 */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewestEdits = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const edits = likelyEdits(letters(typed), letters(name));
    if (edits === undefined || edits >= fewestEdits) continue;
    best = name;
    fewestEdits = edits;
  }
  return best;
}

/** The number of edits between two names; `undefined` if there are too many for a slip or an abbreviation. */
function likelyEdits(one: string, other: string) {
  const length = Math.min(one.length, other.length);
  const difference = Math.abs(one.length - other.length);
  const isPiece = one.includes(other) || other.includes(one);
  if (isPiece && length >= MIN_PIECE_CHARACTERS) return difference;
  const most = Math.ceil(length / 3);
  if (length === 0 || difference > most) return undefined;
  const edits = editsBetween(one, other);
  if (edits <= most) return edits;
  return undefined;
}

/** How many characters must be added, removed or replaced to turn one text into the other. */
export function editsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let line = 1; line <= one.length; line++) {
    const row = [line];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[line - 1] === other[column - 1];
      const replaced = (above[column - 1] ?? 0) + Number(!isSame);
      const removed = (above[column] ?? 0) + 1;
      const added = (row[column - 1] ?? 0) + 1;
      row.push(Math.min(replaced, removed, added));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}

/**
 * Completes an error about an unknown name: `did you mean value?` if a known name is near, else lists the known names.
 * @param written returns the suggested name as it is written.
 */
export function didYouMean(
  typed: string,
  known: readonly string[],
  written = (name: string) => name,
): string {
  const meant = nearest(typed, known);
  if (meant) return `did you mean ${written(meant)}?`;
  return `expected one of ${known.join(", ")}`;
}

/** A name's letters and digits in lower case: to people, names with the same ones are the same name. */
export function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
