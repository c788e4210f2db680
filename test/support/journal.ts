/** Creates as a journal sees them. */
import type { Attempt } from "../../provider/src/store/attempt.js";
import type { Journal } from "../../provider/src/store/journal.js";

/** Begins a create that nothing stands in the way of, and notes that it is sent. */
export async function sendNoted(journal: Journal, key: string, fingerprint = "f"): Promise<Attempt> {
  const begun = await journal.begin({ key, fingerprint, name: undefined });
  if (begun.kind !== "attempt") throw new Error(`${key} was sent before: ${begun.kind}`);
  await begun.attempt.sending("2026-01-01T00:00:00Z");
  return begun.attempt;
}
