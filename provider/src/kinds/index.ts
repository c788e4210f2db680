/**
 * `kinds/`: each kind of resource as data, with its rules, wire names and operations, and the list of all kinds. Only
 * data and pure functions. May import `base/` and `rules/`.
 *
 * To add a kind, write a file `*-kind.ts` and add its name in `vocabulary.ts`. The compiler then names the tables that
 * lack it, and `test/unit/kinds.test.ts` the other places. Code about certain kinds imports them by name.
 */
import { advertiser } from "./advertiser-kind.js";
import { conversionEvent, conversionEventSet } from "./event-kind.js";
import {
  type AnyKind,
  type Kind,
  pluginTokenOf,
  type SetKind,
  typeTokenOf,
} from "./kind.js";
import type { KindName, ResourceName } from "./vocabulary.js";

export * from "./advertiser-kind.js";
export * from "./event-kind.js";
export * from "./from-platform.js";
export * from "./kind.js";
export * from "./likely-mistakes.js";
export * from "./vocabulary.js";

export const kindsByName = {
  Advertiser: advertiser,
  ConversionEvent: conversionEvent,
} satisfies Record<KindName, Kind>;

export const KINDS: readonly Kind[] = Object.values(kindsByName);

export const SETS: readonly SetKind[] = [conversionEventSet];

export const resourcesByName: Readonly<Record<ResourceName, AnyKind>> = {
  ...kindsByName,
  ConversionEventSet: conversionEventSet,
};

export const RESOURCES = Object.values(resourcesByName);

/** @param token a resource's type token, of either provider. @returns undefined for another package's resource. */
export function resourceOfType(token: string) {
  return RESOURCES.find(({ name }) =>
    [typeTokenOf(name), pluginTokenOf(name)].includes(token),
  );
}

export function setNamed(name: string) {
  return SETS.find((set) => set.name === name);
}
