/**
 * The journals of this machine, where there are any: what a user says of a create settles its note as well, so that the next
 * `up` does not stumble over it.
 */
import { journalsOnThisMachine } from "../files/places.js";
import { forget } from "../journal/forget.js";
import type { Remembered } from "../journal/notes.js";
import { urnOf } from "../schema/identity.js";
import { type ResourceSchema, typeTokenOf } from "../schema/resource.js";

/**
 * Forgets the notes about these resources. A journal that can't be read is left to the next `up`, which says what is wrong
 * with it.
 * @param cookieFile the setting, where it is set; the journals stand beside it.
 */
export function settleJournals(urns: readonly string[], cookieFile: string | undefined, folder: string): void {
  for (const path of journalsOnThisMachine(cookieFile, folder)) {
    try {
      forget(path, (entry) => urns.includes(urnIn(entry)));
    } catch {
      // see above
    }
  }
}

function urnIn({ key }: Remembered): string {
  const [kind = "", ...identity] = key.split("::");
  return urnOf(identity.join("::"), typeTokenOf(kind as ResourceSchema["kind"]));
}
