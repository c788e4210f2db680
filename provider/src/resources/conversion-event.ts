import * as pulumi from "@pulumi/pulumi";
import { conversionEventSchema } from "../schema/conversion-event.js";
import { typeTokenOf } from "../schema/resource.js";
import type { Attribution } from "../schema/vocabulary.js";
import { isOfType, registrationOf } from "./registration.js";
import { pauseStackTraces } from "./stack-traces.js";

/** What a {@link ConversionEvent} is declared with. The rules are those of the API page of `POST rest/event`. */
export interface ConversionEventArgs {
  /** The event's name: 1 to 99 characters, no control characters (`event_name`). */
  eventName: pulumi.Input<string>;
  /** A valid and active advertiser's id (`advertiser_id`). */
  advertiserId: pulumi.Input<number>;
  /** The default value of a conversion: a finite number (`value`). */
  value: pulumi.Input<number>;
  /** {@link EventType.Purchase} (0), {@link EventType.LandingPage} (1), or another integer from 0 up. Not sent by default. */
  eventTypeId?: pulumi.Input<number>;
  /** The segment that a user enters when the event is called; of the event's own account. Not sent by default. */
  segmentId?: pulumi.Input<number>;
  /** Accepted by the platform and not used today. @default false */
  countUnique?: pulumi.Input<boolean>;
  /**
   * How far to look back for clicks: whole seconds from 1 to the system's limit (`advertising:maxWindowSeconds`); see
   * `days()` and `hours()`. @default 2592000 (30 days), or the limit where that is lower
   */
  clickWindow?: pulumi.Input<number>;
  /** How far to look back for impressions; as `clickWindow`. */
  viewWindow?: pulumi.Input<number>;
  /** `"ALL"`: every line item of the advertiser is eligible; `"WHITELIST"`: only selected ones. @default "ALL" */
  attribution?: pulumi.Input<Attribution>;
  /**
   * Adopts the live event with this id: nothing is sent, and the other arguments just describe it. May be taken away
   * later without any effect.
   */
  existingId?: pulumi.Input<number>;
  /**
   * Request fields that the platform has and this package does not know, by their wire names, merged into the body. The
   * wire name of an argument above is refused here.
   */
  additionalFields?: pulumi.Input<Record<string, unknown>>;
}

/**
 * The definition of a conversion event of an advertiser.
 *
 * Created by `POST rest/event`. The API has no known update, read or delete: every change is a replacement, which
 * creates another live event with another id (tags that were placed go on firing the old one), and whatever is removed
 * from the program stays live on the platform.
 *
 * @example
 * const purchase = new advertising.ConversionEvent("purchase", {
 *     eventName: "Purchase",
 *     advertiserId: acme.advertiserId,
 *     value: 25,
 *     eventTypeId: advertising.EventType.Purchase,
 *     clickWindow: advertising.days(7),
 * });
 */
export class ConversionEvent extends pulumi.CustomResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = typeTokenOf("ConversionEvent");

  /** The platform's id; its digits as text where a number could not hold it exactly (above 2^53 - 1). */
  declare public readonly eventId: pulumi.Output<number>;
  declare public readonly eventName: pulumi.Output<string>;
  declare public readonly advertiserId: pulumi.Output<number>;
  declare public readonly value: pulumi.Output<number>;
  declare public readonly eventTypeId: pulumi.Output<number | undefined>;
  declare public readonly segmentId: pulumi.Output<number | undefined>;
  declare public readonly countUnique: pulumi.Output<boolean>;
  declare public readonly clickWindow: pulumi.Output<number>;
  declare public readonly viewWindow: pulumi.Output<number>;
  declare public readonly attribution: pulumi.Output<Attribution>;
  declare public readonly existingId: pulumi.Output<number | undefined>;
  declare public readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;

  /**
   * @param name unique among the stack's events; not the name on the platform.
   * @param options Pulumi's own; `retainOnDelete` is true by default.
   */
  constructor(name: string, args: ConversionEventArgs, options?: pulumi.CustomResourceOptions) {
    const traces = pauseStackTraces();
    try {
      super(...registrationOf(conversionEventSchema, name, args, options));
    } catch (error) {
      throw traces.retrace(error, ConversionEvent);
    } finally {
      traces.resume();
    }
  }

  /** Reads an event that exists, by its id. Nothing is asked of the platform: only `eventId` is known. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ConversionEvent {
    return new ConversionEvent(name, undefined as unknown as ConversionEventArgs, { ...options, id });
  }

  /** Whether `value` is a ConversionEvent, of whichever copy of this package. */
  static override isInstance(value: unknown): value is ConversionEvent {
    return isOfType(value, ConversionEvent.__pulumiType);
  }
}
