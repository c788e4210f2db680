/** The public names, and nothing else. Types apart: the compiler that Pulumi brings along (3.8) knows no `type` among names. */

export { Attribution, days, EventType, hours } from "./kinds/vocabulary.js";
export type { AdvertiserArgs, AdvertiserReference } from "./resources/advertiser.js";
export { Advertiser } from "./resources/advertiser.js";
export type { CatalogArgs } from "./resources/catalog.js";
export { Catalog } from "./resources/catalog.js";
export type { ConversionEventArgs, ConversionEventReference } from "./resources/conversion-event.js";
export { ConversionEvent } from "./resources/conversion-event.js";
export type { ConversionEventEntry, ConversionEventSetArgs } from "./resources/conversion-event-set.js";
export { ConversionEventSet } from "./resources/conversion-event-set.js";
export type { ValidateOptions } from "./resources/validate.js";
export { validate } from "./resources/validate.js";
export type { Problem, Source } from "./validation/problem.js";
