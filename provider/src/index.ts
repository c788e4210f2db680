/** The public names, and nothing else. */
export { Advertiser, type AdvertiserArgs } from "./resources/advertiser.js";
export { ConversionEvent, type ConversionEventArgs } from "./resources/conversion-event.js";
export { Attribution, days, EventType, hours } from "./schema/vocabulary.js";
