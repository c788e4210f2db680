/**
 * Reads a live object, where the installation is known to have a way to: for refreshes, for `get`, and before an adoption.
 */

import { ArgumentsError, count, enumerate } from "../base/index.js";
import type { WireRecord } from "../client/index.js";
import type { Kind } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import { argumentsFrom, differencesIn, withDifferences } from "./compare-record.js";
import type { Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";
import { canUpdate } from "./update.js";

/** Whether the platform can be asked for such an object. */
export function isReadable(kind: Kind, runtime: Runtime): boolean {
  return knownOperations(kind, runtime.reading.settings).read !== undefined;
}

/** @returns none where it is certain that there is none. @throws AdvertisingError nothing is known of it. */
export async function readLive(
  kind: Kind,
  runtime: Runtime,
  id: string,
  label: string,
): Promise<WireRecord | undefined> {
  const { read } = knownOperations(kind, runtime.reading.settings);
  if (read === undefined) throw new Error("read without the operation");
  return runtime.track(async (mayBegin) => {
    mayBegin();
    const record = await runtime.client().read({ kind, operation: read, id, label });
    runtime.noteRead();
    return record;
  });
}

/** What the program gets that refers to a live object by its id. @throws ArgumentsError there is none. */
export async function argumentsOfLive(kind: Kind, runtime: Runtime, id: string): Promise<Properties> {
  const label = `${kind.name} ${id}`;
  const record = await readLive(kind, runtime, id, label);
  if (record === undefined)
    throw new ArgumentsError(`${label}: there is no ${kind.create.noun} ${id} on the platform.`);
  return { ...argumentsFrom(kind, runtime.reading.settings, record), [kind.idProperty]: exactId(id) };
}

/**
 * Compares the state with the live object.
 * @returns what the state holds next: the very same where nothing differs; none where the object is gone.
 */
export async function refreshed(
  kind: Kind,
  runtime: Runtime,
  id: string,
  properties: Properties,
): Promise<Properties | undefined> {
  const label = `${kind.name} ${id}`;
  const record = await readLive(kind, runtime, id, label);
  if (record === undefined) {
    runtime.objects.of(kind, id).isGone = true;
    runtime.warnEach(
      "gone",
      "",
      `${label} is not on the platform any more, so it leaves the state; the next \`pulumi up\` creates another one.`,
      label,
      (amount) => `${count(amount, "more object")} that are not on the platform any more`,
    );
    return undefined;
  }
  const differences = differencesIn(kind, runtime.reading.settings, properties, record);
  if (differences.size === 0) return properties;
  const next = !canUpdate(kind, runtime)
    ? "replaces it, which creates another live object: to keep this one, take over in the program what the refresh shows"
    : "sets it back to what the program says";
  runtime.warnEach(
    "differs",
    "",
    `${label} was changed on the platform (${enumerate([...differences.keys()])}): the next \`pulumi up\` ${next}.`,
    label,
    (amount) => `${count(amount, "more object")} that were changed on the platform`,
  );
  return withDifferences(properties, differences);
}
