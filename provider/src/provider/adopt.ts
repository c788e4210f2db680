/**
 * Takes on objects that users have named. Where the installation is known to have a way to read them, each is looked at first.
 */
import { AdvertisingError, ArgumentsError, type Values } from "../base/index.js";
import { type Kind, kindNamed } from "../kinds/index.js";
import { show } from "../rules/index.js";
import type { Adoption, Declared } from "../state/index.js";
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

/**
 * Looks at all objects that a program's `up` is to adopt, before any is: the first resource tells what is wrong with them, and
 * nothing is registered then.
 * @param isNew whether the state does not hold the resource that takes the list along.
 */
export async function adoptionProblems(
  runtime: Runtime,
  declared: Declared | undefined,
  isNew: boolean,
): Promise<string[]> {
  const { isUp, adopts } = declared?.run ?? {};
  if (declared === undefined || adopts === undefined || isUp !== true) return [];
  const { asItBegan } = runtime.inventory(declared.identity);
  // On a machine that knows nothing of a stack that exists, each is looked at when it is adopted: some may have been before.
  if (!isNew && asItBegan.size === 0) return [];
  return problemsOf(
    runtime,
    adopts.filter(({ key, id }) => asItBegan.get(key)?.id !== id),
  );
}

async function problemsOf(runtime: Runtime, adoptions: readonly Adoption[]): Promise<string[]> {
  const found = await Promise.all(
    adoptions.map(async ({ kind: name, id, label, values }) => {
      const kind = kindNamed(name);
      try {
        const { problem } = await lookAt(kind, runtime, id, label, values, new Set());
        return problem === undefined ? [] : [`${label}: ${problem}`];
      } catch (error) {
        if (!(error instanceof AdvertisingError)) throw error;
        return [error.message];
      }
    }),
  );
  return found.flat();
}

/** Reads an object once, however often it is looked at. */
async function lookAt(
  kind: Kind,
  runtime: Runtime,
  id: string,
  label: string,
  values: Values,
  secret: ReadonlySet<string>,
): Promise<{ readonly problem?: string; readonly differences: Differences }> {
  const object = runtime.objects.of(kind, id);
  object.looked ??= readLive(kind, runtime, id, label);
  const record = await object.looked;
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
