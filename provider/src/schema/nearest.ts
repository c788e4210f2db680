/**
 * Which known name a mistyped one was likely meant to be.
 */
import { distance } from "fastest-levenshtein";

/** The name of `known` with the fewest edits from `typed`, case aside; none where half of it would have to change. */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  let best: { name: string; edits: number } | undefined;
  for (const name of known) {
    const edits = distance(typed.toLowerCase().replaceAll("_", ""), name.toLowerCase());
    if (best === undefined || edits < best.edits) best = { name, edits };
  }
  return best !== undefined && best.edits <= best.name.length / 2 ? best.name : undefined;
}
