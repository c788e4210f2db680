/** Which request fields belong to arguments. */
import { advertiserSchema } from "./advertiser.js";
import { conversionEventSchema } from "./conversion-event.js";

/** The argument that owns a request field, as `eventName of ConversionEvent`; none where the field is free. */
export function ownerOf(wireName: string): string | undefined {
  for (const { kind, wireNames } of [advertiserSchema, conversionEventSchema]) {
    const owner = Object.entries(wireNames).find(([, name]) => name === wireName);
    if (owner !== undefined) return `${owner[0]} of ${kind}`;
  }
  return undefined;
}
