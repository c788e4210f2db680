import * as pulumi from "@pulumi/pulumi";
import { conversionEventSet, typeTokenOf } from "../kinds/index.js";
import type { AdvertiserReference } from "./advertiser.js";
import type { ConversionEventArgs } from "./conversion-event.js";
import { isOfType } from "./ids.js";
import { pauseStackTraces } from "./place.js";
import { registrationOf } from "./registration.js";

/** One event of a set: the arguments of a `ConversionEvent` without the advertiser, which is the set's. */
export type ConversionEventEntry = Omit<ConversionEventArgs, "advertiserId">;

/** What a {@link ConversionEventSet} is declared with. The rules of each event are those of a `ConversionEvent`. */
export interface ConversionEventSetArgs {
  /** As of a `ConversionEvent`; a changed one replaces every event. */
  advertiserId: pulumi.Input<number | string | AdvertiserReference>;
  /**
   * Arguments for every event whose entry does not have them: all that are optional, except `existingId`. A changed one replaces each of those
   * events. `additionalFields` are merged, and those of the entry count before these.
   */
  defaults?: pulumi.Input<Omit<ConversionEventEntry, "eventName" | "value" | "existingId">>;
  /**
   * The events by key, an event's identity within the set: 1 to 100 characters, no control characters, none that Pulumi can't carry (`__proto__`,
   * `toString`, `__pulumi…`); in any order. A new key is created. For a changed entry another object is created, and the old one stays live, as does
   * the object of a removed key. Nothing else is sent.
   */
  events: pulumi.Input<Record<string, pulumi.Input<ConversionEventEntry>>>;
}

/**
 * Many conversion events of one advertiser as one resource: for hundreds and thousands, which as single resources take
 * the engine minutes. Each is created at most once over all runs, as a `ConversionEvent` is. The set is updated key by
 * key and never replaced. Where some events fail, the others are saved, and the next `pulumi up` sends the missing.
 *
 * @example
 * const funnel = new advertising.ConversionEventSet("funnel", {
 *     advertiserId: acme.advertiserId,
 *     defaults: { clickWindow: advertising.days(7) },
 *     events: {
 *         landing: { eventName: "Landing page", value: 0, eventTypeId: advertising.EventType.LandingPage },
 *         purchase: { eventName: "Purchase", value: 25 },
 *     },
 * });
 * export const ids = funnel.eventIds;
 */
export class ConversionEventSet extends pulumi.CustomResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = typeTokenOf("ConversionEventSet");

  /**
   * The platform's ids by key, or `existingId`: what tags fire. Unknown in a preview where anything in the set changes. One that a number could not
   * hold exactly (above 2^53 - 1) is its digits as a string.
   */
  declare public readonly eventIds: pulumi.Output<Record<string, number>>;
  /** The advertiser's id as a number, in whichever form it was declared; above 2^53 - 1 its digits as a string. */
  declare public readonly advertiserId: pulumi.Output<number>;
  /** What the events share: as declared, with the API's defaults for the rest. */
  declare public readonly defaults: pulumi.Output<Record<string, unknown>>;
  /** The entries as declared, by key, of those events that have an id. */
  declare public readonly events: pulumi.Output<Record<string, Record<string, unknown>>>;

  /**
   * @param name unique among the stack's sets.
   * @param options Pulumi's own; `retainOnDelete` is true by default. If it is false, which needs a known delete, the objects of removed keys and of
   *   replaced events are deleted too.
   */
  constructor(name: string, args: ConversionEventSetArgs, options?: pulumi.CustomResourceOptions) {
    const traces = pauseStackTraces();
    try {
      super(...registrationOf(conversionEventSet, name, args, options));
    } catch (error) {
      throw traces.retrace(error, ConversionEventSet);
    } finally {
      traces.resume();
    }
  }

  /** Whether `value` is a ConversionEventSet, of whichever copy of this package. */
  static override isInstance(value: unknown): value is ConversionEventSet {
    return isOfType(value, ConversionEventSet.__pulumiType);
  }
}
