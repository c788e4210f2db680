/**
 * Takes on an object that users have named. Where the installation is known to have a way to read it, it is looked at first.
 */
import { ArgumentsError, type Values } from "../base/index.js";
import { abilitiesOf, settles } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { show } from "../rules/index.js";
import { aboutWhom } from "../state/index.js";
import { type Differences, differencesIn, withDifferences } from "./compare-record.js";
import { readLive, updateLive } from "./optional.js";
import type { Outcome } from "./outcome.js";
import type { Services } from "./services.js";
import type { Subject } from "./subject.js";

export interface Adoption {
  readonly subject: Subject;
  readonly id: string;
  /** The checked arguments. */
  readonly values: Values;
  /** Arguments whose values must not be told. */
  readonly secret: ReadonlySet<string>;
  /** The mark of a create of unknown outcome that the state holds, and that this settles. */
  readonly settles: string | undefined;
  /** Journal keys of what the program declares no longer, and what may be this under its former name. */
  readonly formerly: readonly string[];
}

/**
 * Nothing is created. Where an update is known, the object is given the arguments that differ; otherwise it must have them.
 * @throws AdvertisingError it is not there, differs, or could not be looked at. Nothing has changed, but perhaps by an update.
 */
export async function adoptExisting(kind: Kind, services: Services, adoption: Adoption): Promise<Outcome> {
  const { subject, id, values } = adoption;
  const { label } = subject;
  if (abilitiesOf(kind, services.reading.settings).read) {
    const differences = await lookAt(kind, services, adoption);
    if (differences.size > 0) {
      const theirs = withDifferences({ ...values }, differences);
      await updateLive(kind, services, { id, label }, theirs, values, [...differences.keys()]);
    }
  }
  await settle(kind, services, adoption);
  return { kind: "adopted", id };
}

/**
 * Whatever was left open about it is answered by this id. It may have been noted under the resource's former name: then only where
 * it was sent as what is adopted now. Otherwise it stays unresolved.
 */
async function settle(kind: Kind, services: Services, adoption: Adoption): Promise<void> {
  const { subject, id, values, formerly } = adoption;
  const { identity, key, label } = subject;
  if (identity === undefined) return;
  try {
    const journal = services.journal(identity);
    const noted = await journal.settle(key, id, adoption.settles);
    for (const former of formerly) {
      const sent = await journal.leftover(former);
      if (sent !== undefined && !settles(kind, values, { ...sent, kind: aboutWhom(former).kind })) continue;
      noted.push(...(await journal.settle(former, id)));
    }
    for (const other of noted.filter((known) => known !== id)) {
      services.say(
        `${label}: an interrupted run had created it as ${other}; that object stays live, and nothing manages it.`,
      );
    }
  } catch (error) {
    services.say(`${label} was taken over as ${id}. ${(error as Error).message}`);
  }
}

/**
 * Holds what the program declares against the live object.
 * @returns the arguments that differ, as the platform has them: all can be changed in place.
 * @throws ArgumentsError the object is not there, or differs where it can't be changed. @throws AdvertisingError nothing is known of it.
 */
async function lookAt(
  kind: Kind,
  services: Services,
  { subject: { label }, id, values, secret }: Adoption,
): Promise<Differences> {
  const { settings } = services.reading;
  const record = await readLive(kind, services, { id, label });
  if (record === undefined) {
    throw new ArgumentsError(`${label}: existingId ${id}: there is no ${kind.create.noun} ${id} on the platform`);
  }
  const differences = differencesIn(kind, settings, values, record);
  const { update } = abilitiesOf(kind, settings);
  const wrong = [...differences].filter(([property]) => !update || property in kind.refersTo);
  if (wrong.length === 0) return differences;
  const told = wrong.map(([property, theirs]) =>
    secret.has(property) ? property : `${property} is ${show(theirs)} there, and ${show(values[property])} here`,
  );
  throw new ArgumentsError(`${label}: existingId ${id} differs: ${told.join("; ")}`);
}
