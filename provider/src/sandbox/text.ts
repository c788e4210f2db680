/**
 * Text for people: fit for a terminal, and with the known name that a mistyped one was likely meant to be. The sandbox imports nothing of
 * the rest of the package, so it has its own.
 */
import { distance } from "fastest-levenshtein";

/** A half sentence to append to "there is no …", or nothing where no name is near. */
export function didYouMean(typed: string, known: Iterable<string>): string {
  let best: { name: string; edits: number } | undefined;
  for (const name of known) {
    const edits = distance(typed.toLowerCase(), name);
    if (best === undefined || edits < best.edits) best = { name, edits };
  }
  return best !== undefined && best.edits <= best.name.length / 2 ? `; did you mean "${best.name}"?` : "";
}

/** Control and direction characters could make a terminal show something else than was sent: each run becomes a space. */
export function printable(text: string, most: number): string {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return plain.length <= most ? plain : `${plain.slice(0, most - 1).toWellFormed()}…`;
}

/** `1 event`, `2 events`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
