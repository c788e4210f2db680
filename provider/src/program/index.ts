/** The front door of `program/`. */
export { Advertiser, type AdvertiserArgs, type AdvertiserReference } from "./advertiser.js";
export { Catalog, type CatalogArgs } from "./catalog.js";
export { ConversionEvent, type ConversionEventArgs, type ConversionEventReference } from "./conversion-event.js";
export { type ConversionEventEntry, ConversionEventSet, type ConversionEventSetArgs } from "./conversion-event-set.js";
export { currentReading } from "./program.js";
export { programError, type Section, sectionOf } from "./program-error.js";
export { type ValidateOptions, validate } from "./public-validate.js";
