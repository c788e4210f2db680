/**
 * Ids that a preview does not know: the engine takes an updated resource's outputs for unknown, although its id stays.
 */
import { own } from "../base/index.js";
import { type Told, UNKNOWN } from "../state/index.js";
import type { Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";

/**
 * The inputs with the ids of those of their owners that this run has seen and that keep their ids; the engine asks about an owner
 * first. The rules bring the digits into their form.
 */
export function withKeptOwners(runtime: Runtime, declared: Told | undefined, given: Properties): Properties {
  const known = Object.entries(declared?.owners ?? {}).flatMap(([property, key]) => {
    const id = own(given, property) === UNKNOWN ? runtime.learned.of(key).keeps : undefined;
    return id === undefined ? [] : [[property, id] as const];
  });
  return known.length === 0 ? given : { ...given, ...Object.fromEntries(known) };
}
