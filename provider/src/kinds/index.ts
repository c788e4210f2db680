/**
 * `kinds/`: each kind of resource as data, with its rules, its names on the wire and its operations,
 * and the list of all kinds. It promises to hold data and pure functions, and may import `base/` and `rules/`.
 *
 * Another kind of resource begins here: a file `*-kind.ts`, its name and handler in the unions of `kind.ts`, a place in
 * {@link KINDS} (a set: in {@link SETS}); then its class in `program/`, its provider in `handlers.ts`, and its route in
 * `sandbox/`. What is about certain kinds imports them by name.
 */
import { advertiser } from "./advertiser-kind.js";
import { conversionEvent, conversionEventSet, formerKeyConflicts, isTakenByPulumi } from "./event-kind.js";
import { type Kind, type SetKind, typeTokenOf } from "./kind.js";

export * from "./from-platform.js";
export * from "./kind.js";
export * from "./vocabulary.js";
export { advertiser, conversionEvent, conversionEventSet, formerKeyConflicts, isTakenByPulumi };

export const KINDS: readonly Kind[] = [advertiser, conversionEvent];

/** @param token a resource's type token; none for a resource of another package. */
export function kindOfType(token: string): Kind | undefined {
  return KINDS.find(({ name }) => typeTokenOf(name) === token);
}

export const SETS: readonly SetKind[] = [conversionEventSet];

export function setOfType(token: string): SetKind | undefined {
  return SETS.find(({ name }) => typeTokenOf(name) === token);
}

export function setNamed(name: string): SetKind | undefined {
  return SETS.find((set) => set.name === name);
}

export function kindNamed(name: Kind["name"]): Kind {
  return KINDS.find((kind) => kind.name === name) as Kind;
}

/** The argument that owns a request field, as `eventName of ConversionEvent`; none where the field is free. */
export function ownerOf(wireName: string): string | undefined {
  for (const { name, wireNames } of KINDS) {
    const owner = Object.entries(wireNames).find(([, field]) => field === wireName);
    if (owner !== undefined) return `${owner[0]} of ${name}`;
  }
  return undefined;
}
