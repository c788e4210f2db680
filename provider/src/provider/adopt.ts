/**
 * Takes on objects that users have named. Where the installation is known to have a way to read them, each is looked at first.
 */
import { AdvertisingError, ArgumentsError, type Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { show } from "../rules/index.js";
import { type Differences, differencesIn, withDifferences } from "./compare-record.js";
import type { Create } from "./create.js";
import type { Outcome } from "./outcome.js";
import { isReadable, readLive } from "./read.js";
import type { Runtime } from "./runtime.js";
import { canUpdate, updateLive } from "./update.js";

/** Nothing is created. Where an update is known, the object is given the arguments that differ; otherwise it must have them. */
export async function adoptExisting(kind: Kind, runtime: Runtime, create: Create): Promise<Outcome> {
  const { values, secret, subject } = create;
  const { label } = subject;
  const id = String(values.existingId);
  if (isReadable(kind, runtime)) {
    try {
      const { problem, differences } = await lookAt(kind, runtime, id, label, values, secret);
      if (problem !== undefined) return { kind: "not-created", error: new ArgumentsError(`${label}: ${problem}`) };
      if (differences.size > 0) {
        const theirs = withDifferences({ ...values }, differences);
        await updateLive(kind, runtime, { id, label }, theirs, { ...values }, [...differences.keys()]);
      }
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error;
      return { kind: "not-created", error };
    }
  }
  await settle(runtime, create, id);
  return { kind: "adopted", id };
}

/** Whatever was left open about it is answered by this id; it may have been noted under the resource's former name. */
async function settle(runtime: Runtime, { subject: { identity, key, label } }: Create, id: string): Promise<void> {
  if (identity === undefined) return;
  try {
    const journal = runtime.journal(identity);
    const noted = await journal.settle(key, id, runtime.learned.of(key).settles);
    for (const former of runtime.learned.of(key).formerly ?? []) noted.push(...(await journal.settle(former, id)));
    for (const other of noted.filter((known) => known !== id)) {
      runtime.say(
        `${label}: an interrupted run had created it as ${other}; that object stays live, and nothing manages it.`,
      );
    }
  } catch (error) {
    runtime.say(`${label} was taken over as ${id}. ${(error as Error).message}`);
  }
}

/** Holds what the program declares against the live object. Asked by the resource that is about to adopt it. */
async function lookAt(
  kind: Kind,
  runtime: Runtime,
  id: string,
  label: string,
  values: Values,
  secret: ReadonlySet<string>,
): Promise<{ readonly problem?: string; readonly differences: Differences }> {
  const record = await readLive(kind, runtime, id, label);
  const none: Differences = new Map();
  if (record === undefined) {
    return { problem: `existingId ${id}: there is no ${kind.create.noun} ${id} on the platform`, differences: none };
  }
  const differences = differencesIn(kind, runtime.reading.settings, values, record);
  const wrong = [...differences].filter(([property]) => !canUpdate(kind, runtime) || property in kind.refersTo);
  if (wrong.length === 0) return { differences };
  const told = wrong.map(([property, theirs]) =>
    secret.has(property) ? property : `${property} is ${show(theirs)} there, and ${show(values[property])} here`,
  );
  return { problem: `existingId ${id} differs: ${told.join("; ")}`, differences };
}
