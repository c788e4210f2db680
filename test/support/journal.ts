/** Creates in the form in which a journal gets them. */
import { randomUUID } from "node:crypto";
import type { Journal, Sending, Unsent } from "../../provider/src/store/journal.js";

/** A create that is about to be sent, with its own mark. */
export function unsent(key: string, fingerprint = "f", mark: string = randomUUID()): Unsent {
  return { key, fingerprint, mark };
}

/** Begins a create that nothing prevents, and notes that it is sent. */
export async function sendNoted(
  journal: Journal,
  key: string,
  fingerprint = "f",
): Promise<Sending & { readonly mark: string }> {
  const create = unsent(key, fingerprint);
  const begun = await journal.begin(create);
  if (begun.kind !== "send") throw new Error(`${key} was sent before: ${begun.kind}`);
  await begun.sending("2026-01-01T00:00:00Z");
  return { ...begun, mark: create.mark };
}
