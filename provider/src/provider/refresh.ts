/**
 * The engine's `read`: for a refresh it compares the objects of a resource with the state; for `.get` it reads an object of which only the id
 * is known. Without a known read the state is returned unchanged.
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
import { createdIn, createdInSet, noteShown, readLive, unproven } from "./known-operations.js";
import { expectSameAccount, expectSettled, Incomplete } from "./outcome.js";
import type { Calls, Runtime, Services } from "./services.js";
import { driftNotice, goneNotice, justCreatedNotice, nothingCompared, tellAll } from "./tell.js";

/**
 * @param properties a single resource's in the state; for `.get` hardly any.
 * @returns the next properties; none if the object is gone.
 */
export const readSingle: Calls<Kind>["read"] = async (kind, runtime, id, properties) => {
  const { settings } = runtime.reading;
  const label = `${kind.name} ${id}`;
  expectSameAccount(properties[ACCOUNT], runtime.account, label, "read");
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

/** @param properties a set's in the state. @returns the next properties. */
export const readSet: Calls<SetKind>["read"] = async ({ name, member: kind }, runtime, id, properties) => {
  expectSameAccount(properties[ACCOUNT], runtime.account, `${name} ${id}`, "read");
  if (!abilitiesOf(kind, runtime.reading.settings).read) return properties;
  const stored = readStoredSet(properties);
  const now = await refreshedSet(kind, runtime, stored);
  if (now === stored) return properties;
  const { earlier: _, ...others } = properties; // written again if there are any
  return { ...others, ...writeStoredSet(now, exactId, String(properties[ACCOUNT] ?? "")) };
};

/** The arguments of a live object, for a program that refers to it by its id. @throws ArgumentsError if it does not exist. */
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
 * Compares the state with the live object, and reports what differs.
 * @param adopts the id in its `existingId`.
 * @returns the next properties: the same object if nothing differs; none if the live object is gone.
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
    runtime.run.noteUnseen(kind, id);
    tellAll(runtime, [justCreatedNotice(labelHere(kind, runtime, named), early)]);
    return properties;
  }
  if (record === undefined) {
    runtime.run.noteGone(kind, id);
    tellAll(runtime, [goneNotice(labelHere(kind, runtime, named), id, adopts === id)]);
    return undefined;
  }
  const differences = differencesIn(kind, settings, properties, record);
  const now = withDifferences(properties, differences);
  noteShown(kind, runtime, id, record, now);
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
  return now;
}

/** `ConversionEvent "purchase" (5)`: a refresh does not know which resource has the object, but this machine's notes may. */
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
 * @returns the next set: the same object if nothing differs. @throws Incomplete if nothing is known about a member.
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
        // If the set's own arguments have changed since, its former arguments are no longer known, and the live object counts.
        const known = stored.earlier.has(key) ? {} : values;
        const label = `${kind.name} ${id} (${memberOf("events", key)})`;
        const now = await refreshed(kind, runtime, { id, label, created }, known, knownAdoption(entry));
        if (now === undefined) for (const map of [events, eventIds, earlier]) map.delete(key);
        else if (now !== values && !stored.earlier.has(key)) {
          events.set(key, { ...entry, ...changedIn(values, now) });
          // Its owner is the set's, so a different one can only be noted.
          if (now.advertiserId !== values.advertiserId) earlier.set(key, { fingerprint: fingerprintOfBody(kind, now) });
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

/** The changed arguments; `null` for one that no longer has a value. */
function changedIn({ advertiserId: _, ...values }: Values, now: Values): Values {
  return Object.fromEntries(
    Object.keys(values).flatMap((property) =>
      now[property] === values[property] ? [] : [[property, now[property] ?? null]],
    ),
  );
}
