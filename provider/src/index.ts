/** The public names, and nothing else. Types apart: the compiler that Pulumi brings along (3.8) knows no `type` among names. */

export { Attribution, days, EventType, hours } from "./kinds/index.js";
export {
  Advertiser,
  type AdvertiserArgs,
  type AdvertiserReference,
  Catalog,
  type CatalogArgs,
  ConversionEvent,
  type ConversionEventArgs,
  type ConversionEventEntry,
  type ConversionEventReference,
  ConversionEventSet,
  type ConversionEventSetArgs,
  type ValidateOptions,
  validate,
} from "./program/index.js";
export type { Problem, Source } from "./rules/index.js";
