/**
 * What the engine's `read` finds: for a refresh, the objects of a resource, compared with what the state has of them; for `.get`, an object
 * of which only the id is known. Without a known read the state is given back as it is.
 */
import { AdvertisingError, ArgumentsError, count, printable, UnsupportedError, type Values } from "../base/index.js";
import {
  abilitiesOf,
  argumentsFrom,
  type Created,
  decide,
  differencesIn,
  knownAdoption,
  shownAction,
  withDifferences,
} from "../decision/index.js";
import { fingerprintOfBody, type Kind, type SetKind } from "../kinds/index.js";
import { exactId, isReadableId, READABLE_ID } from "../rules/index.js";
import {
  ACCOUNT,
  aboutWhom,
  eventIn,
  memberOf,
  readStoredSet,
  recordIn,
  type StoredSet,
  writeStoredSet,
} from "../state/index.js";
import type { Properties } from "./inputs.js";
import { createdIn, createdInSet, readLive, unproven } from "./known-operations.js";
import { expectSameAccount, expectSettled, Incomplete } from "./outcome.js";
import type { Calls, Runtime, Services } from "./services.js";
import { driftNotice, goneNotice, justCreatedNotice, nothingCompared, tellAll } from "./tell.js";

/**
 * @param properties what the state holds of a single resource; of `.get` hardly anything.
 * @returns what it holds next; none where the object is gone.
 */
export const readSingle: Calls<Kind>["read"] = async (kind, runtime, id, properties) => {
  const { settings } = runtime.reading;
  const label = `${kind.name} ${id}`;
  expectSameAccount(properties[ACCOUNT], runtime.account, label);
  expectSettled(kind, recordIn(kind, properties, id));
  if (!isReadableId(id)) {
    throw new UnsupportedError(`${kind.name}.get expected ${READABLE_ID}; got ${printable(id)}. Nothing was sent.`);
  }
  const isRefresh = properties[kind.nameProperty] !== undefined;
  const { read } = abilitiesOf(kind, settings);
  if (read && isRefresh)
    return refreshed(
      kind,
      runtime,
      { id, label, created: createdIn(properties) },
      properties,
      knownAdoption(properties),
    );
  // Without a password `.get` still works in a preview.
  if (read && settings.password !== undefined) return { ...properties, ...(await argumentsOfLive(kind, runtime, id)) };
  if (isRefresh) tellAll(runtime, [nothingCompared(kind.create.noun)]);
  return { ...properties, [kind.idProperty]: exactId(id) };
};

/** @param properties what the state holds of a set. @returns what it holds next. */
export const readSet: Calls<SetKind>["read"] = async ({ name, member: kind }, runtime, id, properties) => {
  expectSameAccount(properties[ACCOUNT], runtime.account, `${name} ${id}`);
  if (!abilitiesOf(kind, runtime.reading.settings).read) return properties;
  const stored = readStoredSet(properties);
  const now = await refreshedSet(kind, runtime, stored);
  if (now === stored) return properties;
  const { earlier: _, ...others } = properties; // written where there are any
  return { ...others, ...writeStoredSet(now, exactId, String(properties[ACCOUNT] ?? "")) };
};

/** What the program gets that refers to a live object by its id. @throws ArgumentsError there is none. */
async function argumentsOfLive(kind: Kind, services: Services, id: string): Promise<Properties> {
  const label = `${kind.name} ${id}`;
  const record = await readLive(kind, services, { id, label });
  if (record === undefined)
    throw new ArgumentsError(
      `${label}: there is no ${kind.create.noun} ${id} on the platform. Give \`get\` the id of one that is there.`,
    );
  return { ...argumentsFrom(kind, services.reading.settings, record), [kind.idProperty]: exactId(id) };
}

/**
 * Compares the state with the live object, and says what differs.
 * @param adopts the id that its `existingId` names.
 * @returns what the state has next: the very same if nothing differs; none if the object is gone.
 */
async function refreshed(
  kind: Kind,
  runtime: Runtime,
  named: { readonly id: string; readonly label: string; readonly created: Created | undefined },
  properties: Properties,
  adopts: string | undefined,
): Promise<Properties | undefined> {
  const { settings } = runtime.reading;
  const { id } = named;
  const record = await readLive(kind, runtime, named);
  const early = record === undefined ? unproven(kind, runtime, named) : undefined;
  if (early !== undefined) {
    tellAll(runtime, [justCreatedNotice(labelHere(kind, runtime, named), early)]);
    return properties;
  }
  if (record === undefined) {
    runtime.run.noteGone(kind, id);
    tellAll(runtime, [goneNotice(labelHere(kind, runtime, named), id, adopts === id)]);
    return undefined;
  }
  const differences = differencesIn(kind, settings, properties, record);
  if (differences.size === 0) return properties;
  const names = [...differences.keys()];
  const next = decide({
    kind,
    held: id,
    wanted: { adopts, values: properties },
    changed: { names, perhaps: false },
    replaceOn: [],
    deletes: false,
    can: abilitiesOf(kind, settings),
  });
  tellAll(runtime, [driftNotice(labelHere(kind, runtime, named), names, shownAction(next))]);
  return withDifferences(properties, differences);
}

/** A refresh does not know which resource has the object: the notes of this machine may say it. `ConversionEvent "purchase" (5)` */
function labelHere(
  kind: Kind,
  runtime: Runtime,
  { id, label }: { readonly id: string; readonly label: string },
): string {
  const [known, ...others] = runtime.rememberedOf(kind.name, id);
  return known === undefined || others.length > 0 ? label : `${aboutWhom(known.key).label} (${id})`;
}

/**
 * Compares a set's members with the live objects.
 * @returns what the state holds next: the very same where nothing differs. @throws Incomplete of a member nothing is known.
 */
async function refreshedSet(kind: Kind, runtime: Runtime, stored: StoredSet): Promise<StoredSet> {
  const [events, eventIds, earlier] = [new Map(stored.events), new Map(stored.eventIds), new Map(stored.earlier)];
  const created = createdInSet(stored);
  const troubles: AdvertisingError[] = [];
  let isChanged = false;
  await Promise.all(
    [...stored.eventIds].map(async ([key, id]) => {
      const entry = stored.events.get(key) ?? {};
      const values = { ...eventIn(stored, entry) };
      try {
        // What it was created with is not known any more where the set's own arguments are others since: it is looked at.
        const known = stored.earlier.has(key) ? {} : values;
        const label = `${kind.name} ${id} (${memberOf("events", key)})`;
        const now = await refreshed(kind, runtime, { id, label, created }, known, knownAdoption(entry));
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
    const others = troubles.length - 1;
    const more = others === 0 ? "" : ` (${count(others, "more event")} of this set failed too.)`;
    throw new Incomplete(`${first.message}${more}`, undefined, first.code);
  }
  return isChanged ? { ...stored, events, eventIds, earlier } : stored;
}

/** `null` for what has no value any more. */
function changedIn({ advertiserId: _, ...values }: Values, now: Values): Values {
  return Object.fromEntries(
    Object.keys(values).flatMap((property) =>
      now[property] === values[property] ? [] : [[property, now[property] ?? null]],
    ),
  );
}
