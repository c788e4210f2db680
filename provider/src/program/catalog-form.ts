/**
 * Whether a catalog's events are single resources or members of sets: what changes its form changes every event's identity, and
 * would create each a second time.
 */

import { count, cut } from "../base/index.js";
import type { Catalog } from "../catalog/index.js";
import { CATALOG_SEPARATOR } from "../kinds/index.js";
import { type Identity, identityText, journalKeyOf, memberOf } from "../state/index.js";
import type { Live } from "../store/index.js";

/** More are counted. */
const MAX_SHOWN = 5;

/**
 * @param live what runs on this machine have created. @param place the catalog's resources', with its own name.
 * @returns what is wrong with the form, as far as this machine knows: events that live in the other one, and that the file does
 *   not name by their ids.
 */
export function formProblem(
  { events }: Catalog,
  sets: boolean,
  live: ReadonlyMap<string, Live>,
  place: Identity,
): string | undefined {
  const known = events.flatMap(({ key, advertiser, args }) => {
    const below = (...keys: string[]) =>
      identityText({ ...place, name: [place.name, ...keys].join(CATALOG_SEPARATOR) });
    const single = journalKeyOf("ConversionEvent", below(advertiser, key));
    const member = memberOf(journalKeyOf("ConversionEventSet", below(advertiser)), key);
    const [own, other] = sets ? [member, single] : [single, member];
    const found = live.get(other);
    if (found === undefined || live.has(own) || args.existingId !== undefined) return [];
    return [`${advertiser}${CATALOG_SEPARATOR}${key} (${found.id})`];
  });
  if (known.length === 0) return undefined;
  const shown = cut(known, MAX_SHOWN, (others) => `${others} more`).join(", ");
  const [is, are] = sets ? ["is true", "resources of their own"] : ["is not set", "members of sets"];
  return (
    `${is}, and ${count(known.length, "event")} of the catalog ${known.length === 1 ? "is" : "are"} ${are} in this stack: ${shown}. ` +
    "Each would be created a second time, with another id. Leave the option as it was; or write each one's id as existingId in the file, which adopts it"
  );
}
