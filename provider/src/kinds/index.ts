/**
 * `kinds/`: each kind of resource as data, with its rules, wire names and operations, and the list of all kinds. Only
 * data and pure functions. May import `base/` and `rules/`.
 *
 * To add a kind, write a file `*-kind.ts` and add its name in `vocabulary.ts`. The compiler then names the tables that
 * lack it, and `test/unit/kinds.test.ts` the other places. Code about certain kinds imports them by name.
 */
import { advertiser } from "./advertiser-kind.js";
import { conversionEvent, conversionEventSet, NOT_RESERVED } from "./event-kind.js";
import { type Kind, pluginTokenOf, type SetKind, typeTokenOf } from "./kind.js";
import type { KindName } from "./vocabulary.js";

export * from "./from-platform.js";
export * from "./kind.js";
export { roundedIdWarning, warningsIn } from "./likely-mistakes.js";
export * from "./vocabulary.js";
export { advertiser, conversionEvent, conversionEventSet, NOT_RESERVED };

export const kindsByName = {
  Advertiser: advertiser,
  ConversionEvent: conversionEvent,
} satisfies Record<KindName, Kind>;

export const KINDS: readonly Kind[] = Object.values(kindsByName);

export const SETS: readonly SetKind[] = [conversionEventSet];

/** @param token a resource's type token, of either provider. @returns undefined for another package's resource. */
export function resourceOfType(token: string): Kind | SetKind | undefined {
  return [...KINDS, ...SETS].find(({ name }) => {
    return token === typeTokenOf(name) || token === pluginTokenOf(name);
  });
}

export function setNamed(name: string): SetKind | undefined {
  return SETS.find((set) => set.name === name);
}
