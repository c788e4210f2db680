/**
 * The public names, and nothing else. Straight from their files, types apart: the compiler that Pulumi brings along
 * (3.8) knows no `type` among names, and can't read zod's types, which the `index.ts` files lead to.
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
