/**
 * What may be written in a catalog: the rules of the resources that are made of it. What the platform or this package fills in
 * stays absent, so that a catalog's own defaults count.
 */
import { advertiser, conversionEventSet, type Limits } from "../kinds/index.js";
import type { Rules } from "../rules/index.js";

export interface CatalogRules {
  readonly advertiser: Rules;
  readonly event: Rules;
  /** What a catalog, or one of its advertisers, may set for all events. */
  readonly defaults: Rules;
}

export function catalogRules(limits: Limits): CatalogRules {
  return {
    advertiser: advertiser.rules(limits),
    event: conversionEventSet.memberRules(limits),
    defaults: conversionEventSet.sharedRules(limits),
  };
}
