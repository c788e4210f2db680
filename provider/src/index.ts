/** The public names, and nothing else. */
export { Advertiser, type AdvertiserArgs, type AdvertiserReference } from "./resources/advertiser.js";
export {
  ConversionEvent,
  type ConversionEventArgs,
  type ConversionEventReference,
} from "./resources/conversion-event.js";
export { Attribution, days, EventType, hours } from "./schema/vocabulary.js";
