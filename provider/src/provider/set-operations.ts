/**
 * What a set does with its members where the installation is known to have more than the documented operations: read them,
 * change them in place, and look for those of unknown outcome.
 */

import { AdvertisingError, type Values } from "../base/index.js";
import { abilitiesOf, type Circumstances, type Member } from "../decision/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { eventIn, type StoredSet } from "../state/index.js";
import { isHeldElsewhere } from "./delete.js";
import type { Outcome } from "./outcome.js";
import { isReadable, refreshed } from "./read.js";
import type { Runtime } from "./runtime.js";
import { memberSubject, type Subject } from "./subject.js";
import { toLookFor } from "./unsettled.js";
import { updateLive } from "./update.js";

/**
 * What decides of a set's members besides the state and the program.
 * @param deletes whether the set's objects are to be deleted when it lets go of them.
 */
export function circumstancesOf(kind: Kind, runtime: Runtime, set: Subject, deletes: boolean): Circumstances {
  const { adoptsUnknown, replacedOn = [] } = runtime.learned.of(set.key);
  // What it lets go of may be what something else adopts, whose id is not known before it is its turn.
  const mayDelete = deletes && adoptsUnknown !== true;
  return {
    can: abilitiesOf(kind, runtime.reading.settings),
    replaceOnChanges: replacedOn,
    deletes: (id, key) => mayDelete && !isHeldElsewhere(kind, runtime, id, memberSubject(set, key).urn),
  };
}

/** Changes the object of a member, whose arguments differ from what the state holds. */
export async function updateMember(
  kind: Kind,
  runtime: Runtime,
  set: Subject,
  stored: StoredSet,
  { key, id = "", values, action }: Member,
): Promise<Outcome> {
  const { label } = memberSubject(set, key);
  const olds = eventIn(stored, stored.events.get(key) ?? {});
  const { existingId: _, ...news } = values;
  try {
    await updateLive(kind, runtime, { id, label }, { ...olds }, news, action.do === "update" ? action.changed : []);
    return { kind: "adopted", id };
  } catch (error) {
    if (!(error instanceof AdvertisingError)) throw error;
    return { kind: "not-created", error };
  }
}

/** Remembers what the state holds of a member's unresolved create, for the create that is to settle it. */
export function noteUnsettledMember(runtime: Runtime, key: string, { unresolved }: Member): void {
  if (unresolved !== undefined) runtime.learned.of(key).unsettled = toLookFor(unresolved);
}

/**
 * Compares a set's members with the live objects.
 * @returns what the state holds next: the very same where nothing differs. @throws AdvertisingError of a member nothing is known.
 */
export async function refreshedSet(kind: Kind, runtime: Runtime, stored: StoredSet): Promise<StoredSet> {
  if (!isReadable(kind, runtime)) return stored;
  const [events, eventIds, earlier] = [new Map(stored.events), new Map(stored.eventIds), new Map(stored.earlier)];
  const troubles: AdvertisingError[] = [];
  let isChanged = false;
  await Promise.all(
    [...stored.eventIds].map(async ([key, id]) => {
      const entry = stored.events.get(key) ?? {};
      const values = { ...eventIn(stored, entry) };
      try {
        // What it was created with is not known any more where the set's own arguments are others since: it is looked at.
        const now = await refreshed(kind, runtime, id, stored.earlier.has(key) ? {} : values);
        if (now === undefined) for (const map of [events, eventIds, earlier]) map.delete(key);
        else if (now !== values && !stored.earlier.has(key)) {
          events.set(key, { ...entry, ...changedIn(values, now) });
          // Its owner is the set's: another one can only be remembered.
          if (now.advertiserId !== values.advertiserId) earlier.set(key, fingerprintOfBody(kind, now));
        } else return;
        isChanged = true;
      } catch (error) {
        if (!(error instanceof AdvertisingError)) throw error;
        troubles.push(error);
      }
    }),
  );
  const [first] = troubles;
  if (first !== undefined) {
    if (troubles.length > 1) first.message += ` (And ${troubles.length - 1} more events of this set met trouble.)`;
    throw first;
  }
  return isChanged ? { ...stored, events, eventIds, earlier } : stored;
}

function changedIn({ advertiserId: _, ...values }: Values, now: Values): Values {
  return Object.fromEntries(
    Object.keys(values).flatMap((property) => (now[property] === values[property] ? [] : [[property, now[property]]])),
  );
}
