/** The resource classes, and `validate`: what users see. */
import * as pulumi from "@pulumi/pulumi";
import { ArgumentsError, asRecord, withPage } from "../base/index.js";
import {
  advertiser,
  checkArguments,
  conversionEvent,
  conversionEventSet,
  KINDS,
  SETS,
  THIRTY_DAYS_IN_SECONDS,
  typeTokenOf,
} from "../kinds/index.js";
import type { Attribution, EventType, ResourceName } from "../kinds/vocabulary.js";
import { exactId, LIVE_ID, show } from "../rules/index.js";
import type { Problem } from "../rules/problem.js";
import { holdsOutput, idsOf, isOfType, readIdOf } from "./declaration.js";
import { registrationOf } from "./program.js";
import { pauseStackTraces } from "./pulumi-internals.js";

/** What an {@link Advertiser} is declared with. */
export interface AdvertiserArgs {
  /** The advertiser's name: at least 1 character, no control characters (`advertiser_name`). */
  advertiserName: pulumi.Input<string>;
  /**
   * Adopts the live advertiser with this id, a number or its digits; may be taken away later. Nothing is sent, and the
   * other arguments just describe it. But with a known read (setting `operations`) it is read, and what differs is
   * changed in place if an update is known, and refused otherwise.
   */
  existingId?: pulumi.Input<number | string | undefined>;
  /**
   * Request fields that this package does not know, by their wire names, merged into the body: `{ active: true }` where
   * an installation creates advertisers inactive. Not for `advertiser_name`.
   */
  additionalFields?: pulumi.Input<Record<string, unknown> | undefined>;
}

/**
 * An advertiser of the platform, created by `POST rest/advertiser`. Unless the setting `operations` names an update, a
 * read or a delete, every change is a replacement, which creates another live advertiser (and, for each event that
 * follows it, another live event), and whatever is removed from the program stays live on the platform.
 *
 * @example
 * const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
 */
export class Advertiser extends pulumi.CustomResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = typeTokenOf("Advertiser");

  /**
   * The platform's id, or `existingId`; unknown in a preview until the advertiser was created. One that a number could
   * not hold exactly (above 2^53 - 1) is its digits as a string.
   */
  declare readonly advertiserId: pulumi.Output<number>;
  /** The name as declared (`advertiser_name`). */
  declare readonly advertiserName: pulumi.Output<string>;
  /** The id that was adopted, as declared; `undefined` where the advertiser was created. */
  declare readonly existingId: pulumi.Output<number | undefined>;
  /** The additional request fields as declared, by their wire names; `undefined` without any. */
  declare readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;

  /** @param name in the stack, unique among advertisers. @param options Pulumi's; default `retainOnDelete: true`. */
  constructor(name: string, args: AdvertiserArgs, options?: pulumi.CustomResourceOptions) {
    const resume = pauseStackTraces(Advertiser);
    try {
      super(...registrationOf(advertiser, name, args, options));
    } catch (error) {
      throw resume(error);
    }
    resume();
    if (!pulumi.runtime.isDryRun()) return;
    // It is unknown in a preview of an update in place, which still knows the id.
    const { id, advertiserId } = this;
    this.advertiserId = id.apply((digits) => {
      if (!LIVE_ID.test(digits)) return advertiserId;
      return pulumi.output(exactId(digits) as number);
    });
  }

  /**
   * Refers to an advertiser that exists, by its id. With a known read (setting `operations`) its arguments are read,
   * also in a preview that has a password; without one nothing is asked of the platform, and they are `undefined`.
   */
  static get(
    name: string,
    id: ReadId,
    options?: pulumi.CustomResourceOptions,
  ): AdvertiserReference {
    return new Advertiser(name, undefined as never, {
      ...options,
      id: readIdOf(id),
    });
  }

  /** Whether `value` is an Advertiser, one that `get` refers to included, of whichever copy of this package. */
  static override isInstance(value: unknown): value is AdvertiserReference {
    return isOfType(value, Advertiser.__pulumiType);
  }
}

/** The id of what exists already, as `get` takes it. */
export type ReadId = pulumi.Input<pulumi.ID | number>;

/** What `get` refers to: without a known read, all of its outputs but the id are `undefined`. */
type Referred<Resource, IdProperty extends keyof Resource> = pulumi.CustomResource & {
  readonly [Name in Exclude<keyof Resource, keyof pulumi.CustomResource>]: pulumi.Output<
    OutputOf<Resource[Name]> | (Name extends IdProperty ? never : undefined)
  >;
};
type OutputOf<Property> =
  Property extends pulumi.OutputInstance<infer Value> ? Value : never;

/** What {@link Advertiser.get} refers to. `existingId` and `additionalFields` are always `undefined`. */
export type AdvertiserReference = Referred<Advertiser, "advertiserId">;

/** What a {@link ConversionEvent} is declared with. The rules are those of the API page of `POST rest/event`. */
export interface ConversionEventArgs {
  /** The event's name: 1 to 99 characters, no control characters (`event_name`). */
  eventName: pulumi.Input<string>;
  /** Its advertiser, valid and active: an {@link Advertiser}, or its id, a number or its digits (`advertiser_id`). */
  advertiserId: pulumi.Input<number | string | AdvertiserReference>;
  /** The default value of a conversion: a finite number (`value`). */
  value: pulumi.Input<number>;
  /** `EventType.Purchase` (0), `.LandingPage` (1), or another integer from 0 (`event_type_id`). Not sent by default. */
  eventTypeId?: pulumi.Input<EventType | OtherNumber | undefined>;
  /** The id of its account's segment that users enter when the event is called (`segment_id`). Not sent by default. */
  segmentId?: pulumi.Input<number | string | undefined>;
  /** Accepted by the platform and not used today (`count_unique`). @default false */
  countUnique?: pulumi.Input<boolean | undefined>;
  /**
   * How far to look back for clicks: whole seconds from 1 to the system's limit (`advertising:maxWindowSeconds`); see
   * `days()` and `hours()`.
   * @default 2592000 (30 days), or the limit where that is lower
   */
  clickWindow?: pulumi.Input<number | undefined>;
  /** How far to look back for impressions; range and default as of `clickWindow`. */
  viewWindow?: pulumi.Input<number | undefined>;
  /** `"ALL"`: every line item of the advertiser is eligible; `"WHITELIST"`: only selected ones. @default "ALL" */
  attribution?: pulumi.Input<Attribution | undefined>;
  /**
   * Adopts the live event with this id, a number or its digits; may be taken away later. Nothing is sent, and the other
   * arguments just describe it. But with a known read (setting `operations`) it is read, and what differs is changed in
   * place if an update is known, and refused otherwise.
   */
  existingId?: pulumi.Input<number | string | undefined>;
  /** Request fields that this package does not know, by their wire names, merged into the body. Not for those above. */
  additionalFields?: pulumi.Input<Record<string, unknown> | undefined>;
}

/** Any number, without hiding from editors the named ones that it stands beside. */
export type OtherNumber = number & Record<never, never>;

/**
 * The definition of a conversion event, created by `POST rest/event`. Unless the setting `operations` names an update,
 * a read or a delete, every change is a replacement, which creates another live event with another id (tags that were
 * placed go on firing the old one), and whatever is removed from the program stays live on the platform.
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

  /**
   * The platform's id, or `existingId`: what tags fire. Unknown in a preview until the event was created. One that a
   * number could not hold exactly (above 2^53 - 1) is its digits as a string.
   */
  declare readonly eventId: pulumi.Output<number>;
  /** The name as declared (`event_name`). */
  declare readonly eventName: pulumi.Output<string>;
  /** The advertiser's id as a number, in whichever form it was declared; above 2^53 - 1 its digits as a string. */
  declare readonly advertiserId: pulumi.Output<number>;
  /** The default value of a conversion, as declared; the platform's documentation names no currency. */
  declare readonly value: pulumi.Output<number>;
  /** The event type as declared: see `EventType`; `undefined` where none was sent. */
  declare readonly eventTypeId: pulumi.Output<number | undefined>;
  /** The segment's id as a number, above 2^53 - 1 its digits as a string; `undefined` where none was sent. */
  declare readonly segmentId: pulumi.Output<number | undefined>;
  /** As declared, or the default `false`. Accepted by the platform and not used today. */
  declare readonly countUnique: pulumi.Output<boolean>;
  /** How far clicks are looked back for, in seconds: as declared, or the default. */
  declare readonly clickWindow: pulumi.Output<number>;
  /** How far impressions are looked back for, in seconds; as `clickWindow`. */
  declare readonly viewWindow: pulumi.Output<number>;
  /** Which line items are eligible: as declared, or the default `"ALL"`. */
  declare readonly attribution: pulumi.Output<Attribution>;
  /** The id that was adopted, as declared; `undefined` where the event was created. */
  declare readonly existingId: pulumi.Output<number | undefined>;
  /** The additional request fields as declared, by their wire names; `undefined` without any. */
  declare readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;

  /** @param name in the stack, unique among events. @param options Pulumi's own; default `retainOnDelete: true`. */
  constructor(
    name: string,
    args: ConversionEventArgs,
    options?: pulumi.CustomResourceOptions,
  ) {
    const resume = pauseStackTraces(ConversionEvent);
    try {
      super(...registrationOf(conversionEvent, name, args, options));
    } catch (error) {
      throw resume(error);
    }
    resume();
  }

  /**
   * Refers to an event that exists, by its id. With a known read (setting `operations`) its arguments are read, also in
   * a preview that has a password; without one nothing is asked of the platform, and they are `undefined`.
   */
  static get(
    name: string,
    id: ReadId,
    options?: pulumi.CustomResourceOptions,
  ): ConversionEventReference {
    return new ConversionEvent(name, undefined as never, {
      ...options,
      id: readIdOf(id),
    });
  }

  /** Whether `value` is a ConversionEvent, one that `get` refers to included, of whichever copy of this package. */
  static override isInstance(value: unknown): value is ConversionEventReference {
    return isOfType(value, ConversionEvent.__pulumiType);
  }
}

/** What {@link ConversionEvent.get} refers to. `existingId` and `additionalFields` are always `undefined`. */
export type ConversionEventReference = Referred<ConversionEvent, "eventId">;

/** One event of a set: the arguments of a `ConversionEvent` without the advertiser, which is the set's. */
export interface ConversionEventEntry extends Omit<ConversionEventArgs, "advertiserId"> {
  /**
   * The key that this event had in the set before: it goes on under its new key, and nothing is sent. May be taken away
   * once every stack of the program has had an `up`.
   */
  formerKey?: string | undefined;
}

/** What a {@link ConversionEventSet} is declared with. The rules of each event are those of a `ConversionEvent`. */
export interface ConversionEventSetArgs {
  /** As of a `ConversionEvent`; a changed one replaces every event. */
  advertiserId: pulumi.Input<number | string | AdvertiserReference>;
  /**
   * Arguments for every event whose entry does not have them: all that are optional, except `existingId`. A changed one
   * replaces each of those events. `additionalFields` are merged, and those of the entry count before these.
   */
  defaults?: pulumi.Input<
    | Omit<ConversionEventEntry, "eventName" | "value" | "existingId" | "formerKey">
    | undefined
  >;
  /**
   * The events by key, an event's identity within the set: 1 to 100 characters, no control characters, none that Pulumi
   * can't carry (`__proto__`, `toString`, `__pulumi…`); in any order. A new key is created, unless its `formerKey` names
   * the event that goes on there. For a changed entry another object is created; the old one stays live, as does that of
   * a removed key. Nothing else is sent.
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
   * The platform's ids by key, or `existingId`: what tags fire. Unknown in a preview where anything in the set changes.
   * One that a number could not hold exactly (above 2^53 - 1) is its digits as a string.
   */
  declare readonly eventIds: pulumi.Output<Record<string, number>>;
  /** The advertiser's id as a number, in whichever form it was declared; above 2^53 - 1 its digits as a string. */
  declare readonly advertiserId: pulumi.Output<number>;
  /** What the events share: as declared, with the API's defaults for the rest. */
  declare readonly defaults: pulumi.Output<Record<string, unknown>>;
  /** The entries as declared, by key, of those events that have an id. */
  declare readonly events: pulumi.Output<Record<string, Record<string, unknown>>>;

  /**
   * @param name unique among the stack's sets.
   * @param options Pulumi's own; `retainOnDelete` is true by default. If it is false, which needs a known delete, the
   *   objects of removed keys and of replaced events are deleted too.
   */
  constructor(
    name: string,
    args: ConversionEventSetArgs,
    options?: pulumi.CustomResourceOptions,
  ) {
    const resume = pauseStackTraces(ConversionEventSet);
    try {
      super(...registrationOf(conversionEventSet, name, args, options));
    } catch (error) {
      throw resume(error);
    }
    resume();
  }

  /** Whether `value` is a ConversionEventSet, of whichever copy of this package. */
  static override isInstance(value: unknown): value is ConversionEventSet {
    return isOfType(value, ConversionEventSet.__pulumiType);
  }
}

/** What the rules depend on if an installation differs from the API's documentation. */
export interface ValidateOptions {
  /** The longest window in seconds, as the setting `maxWindowSeconds`. @default 2592000, which is 30 days */
  maxWindowSeconds?: number;
}

/**
 * Checks arguments against the rules of a resource, without a program: nothing is declared, sent or read. What is an
 * Output or a Promise is taken as given, as in a preview. What depends on more than one resource (an id that is adopted
 * twice) is left to the program.
 *
 * @param kind the resource's class: `"Advertiser"`, `"ConversionEvent"` or `"ConversionEventSet"`.
 * @param args as its constructor takes them.
 * @returns everything that is wrong, by property; empty where the arguments fit.
 * @throws an error with the code `ADVERTISING_ARGUMENTS` where `kind` is none of these.
 *
 * @example
 * for (const { property, reason } of advertising.validate("ConversionEvent", row)) console.error(property, reason);
 */
export function validate(
  kind: ResourceName,
  args: object,
  options: ValidateOptions = {},
): Problem[] {
  const kinds = [...KINDS, ...SETS];
  const found = kinds.find(({ name }) => name === kind);
  if (!found) {
    const names = kinds.map(({ name }) => `"${name}"`).join(", ");
    throw new ArgumentsError(
      withPage(
        `validate: expected one of ${names}; got ${show(kind)}`,
        ArgumentsError.code,
      ),
    );
  }
  const { maxWindowSeconds = THIRTY_DAYS_IN_SECONDS } = options;
  const ids = idsOf(found, asRecord(args));
  const limits = { maxWindowSeconds, markField: undefined };
  return [...checkArguments(found, ids, limits, { isUnknown: holdsOutput }).problems];
}
