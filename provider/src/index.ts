/**
 * The public names, and nothing else. Exported from the files themselves, with types in `export type`: TypeScript 3.8,
 * which Pulumi bundles, understands neither `export { type X }` nor zod's types, which the `index.ts` files import.
 */

export { Attribution, days, EventType, hours } from "./kinds/vocabulary.js";
export type { CatalogArgs } from "./program/catalog.js";
export { Catalog } from "./program/catalog.js";
export type {
  AdvertiserArgs,
  AdvertiserReference,
  ConversionEventArgs,
  ConversionEventEntry,
  ConversionEventReference,
  ConversionEventSetArgs,
  ValidateOptions,
} from "./program/resources.js";
export {
  Advertiser,
  ConversionEvent,
  ConversionEventSet,
  validate,
} from "./program/resources.js";
export type { Problem } from "./rules/problem.js";
