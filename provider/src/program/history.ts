/**
 * What earlier runs on this machine have noted about the stack, read before anything is registered: only the program's half
 * knows all that is declared, and so what is declared no longer.
 */

import { placesOf, readNow } from "../files/index.js";
import type { Settings } from "../settings/index.js";
import type { CreateRecord } from "../state/index.js";
import { inventoryPath, journalPath, type Live, readInventory, readNotes } from "../store/index.js";

export interface History {
  /** Creates that are not settled. */
  readonly open: readonly CreateRecord[];
  /** By journal key: what the last runs created. */
  readonly live: ReadonlyMap<string, Live>;
}

/** @param stack `<organization>/<project>/<stack>`. */
export function readHistory(settings: Settings, stack: string): History {
  const { journalFolder } = placesOf(settings, "", settings.cookieFile, process.cwd());
  return { open: openIn(journalPath(journalFolder, stack)), live: readInventory(inventoryPath(journalFolder, stack)) };
}

function openIn(path: string): CreateRecord[] {
  try {
    return [...readNotes(readNow(path) ?? "").values()];
  } catch {
    return []; // the provider reads it too, and says what is wrong with it
  }
}
