/**
 * The journals of this machine, where there are any: what a user says of a create settles its note as well, so that the next
 * `up` does not stumble over it.
 */
import { journalsOnThisMachine } from "../files/places.js";
import { reviseNotes } from "../journal/revise.js";
import { aboutWhom } from "../schema/identity.js";

/**
 * Forgets the notes about these resources. A journal that can't be read is left to the next `up`, which says what is wrong
 * with it.
 * @param cookieFile the setting, where it is set; the journals stand beside it.
 * @returns how many notes that were.
 */
export function settleJournals(urns: readonly string[], cookieFile: string | undefined, folder: string): number {
  let forgotten = 0;
  for (const path of journalsOnThisMachine(cookieFile, folder)) {
    try {
      forgotten += reviseNotes(path, (entry) => (urns.includes(aboutWhom(entry.key).urn) ? undefined : entry));
    } catch {
      // see above
    }
  }
  return forgotten;
}
