/**
 * Which known name a mistyped one was likely meant to be. The sandbox imports nothing of the rest of the package, so it
 * has its own.
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
