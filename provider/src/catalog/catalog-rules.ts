/**
 * What may be written in a catalog: the rules of the resources that are made of it. What the platform or this package fills in
 * stays absent, so that a catalog's own defaults count.
 */
import type { z } from "zod";
import { advertiser, conversionEventSet, type Limits } from "../kinds/index.js";
import type { Group, Members } from "../rules/index.js";

type Fields = Readonly<Record<string, z.ZodType>>;

export interface CatalogRules {
  readonly advertiser: Fields;
  readonly event: Fields;
  /** What a catalog, or one of its advertisers, may set for all events. */
  readonly defaults: Fields;
}

export function catalogRules(limits: Limits): CatalogRules {
  const { events, defaults } = conversionEventSet.rules(limits);
  return {
    advertiser: advertiser.rules(limits) as Fields,
    event: (events as Members).members as Fields,
    defaults: (defaults as Group).fields as Fields,
  };
}
