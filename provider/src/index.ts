/**
 * The public names, and nothing else. Straight from their files, types apart: the compiler that Pulumi brings along (3.8) knows no `type`
 * among names, and can't read zod's types, which the front doors lead to.
 */

export { Attribution, days, EventType, hours } from "./kinds/vocabulary.js";
export type { AdvertiserArgs, AdvertiserReference } from "./program/advertiser.js";
export { Advertiser } from "./program/advertiser.js";
export type { CatalogArgs } from "./program/catalog.js";
export { Catalog } from "./program/catalog.js";
export type {
  ConversionEventArgs,
  ConversionEventEntry,
  ConversionEventReference,
  ConversionEventSetArgs,
} from "./program/conversion-event.js";
export { ConversionEvent, ConversionEventSet } from "./program/conversion-event.js";
export type { ValidateOptions } from "./program/public-validate.js";
export { validate } from "./program/public-validate.js";
export type { Problem } from "./rules/problem.js";
