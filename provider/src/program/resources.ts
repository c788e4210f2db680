/** The public resource classes, and `validate`. */
import * as pulumi from "@pulumi/pulumi";
import { ArgumentsError, asRecord, withPage } from "../base/index.js";
import {
  advertiser,
  checkArguments,
  conversionEvent,
  conversionEventSet,
  RESOURCES,
  THIRTY_DAYS_IN_SECONDS,
  typeTokenOf,
  warningsIn,
} from "../kinds/index.js";
import type { Attribution, EventType, ResourceName } from "../kinds/vocabulary.js";
import { exactId, LIVE_ID, show } from "../rules/index.js";
import type { Problem } from "../rules/problem.js";
import { holdsOutput, isOfType, readIdOf, withIds } from "./declaration.js";
import { registrationOf, stopAfter } from "./program.js";
import { pauseStackTraces } from "./pulumi-internals.js";

/** The arguments of an {@link Advertiser}. */
export interface AdvertiserArgs {
  /** The advertiser's name: at least 1 character, no control characters (`advertiser_name`). */
  advertiserName: pulumi.Input<string>;
  /**
   * Adopts the live advertiser with this id (a number, or a string of digits). You can remove it after an `up`. Nothing
   * is sent, and the other arguments only describe the advertiser. With a known read (setting `operations`), the
   * advertiser is read. If it differs, it is updated if an update is known; otherwise the resource fails.
   */
  existingId?: pulumi.Input<number | string | undefined>;
  /**
   * Request fields that this package doesn't know, by their wire names. They are merged into the request's body, such
   * as `{ active: true }` for installations that create inactive advertisers. `advertiser_name` isn't allowed.
   */
  additionalFields?: pulumi.Input<Record<string, unknown> | undefined>;
  /**
   * Whether the live object is deleted when its resource leaves the program or is replaced. With `"delete"`, and a known
   * delete (setting `operations`), it is deleted, unless another resource has it. That counts from the next `up` on: the
   * saved state and the program must both say so.
   * @default "retain"
   */
  deletionPolicy?: "retain" | "delete" | undefined;
}

/**
 * An advertiser of the platform, created by `POST rest/advertiser`.
 *
 * A change replaces it: another live advertiser is created, and another live event for each of its events. If you
 * remove it from the program, it stays live on the platform. The setting `operations` can switch on updates and
 * deletes.
 *
 * @example
 * const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
 */
export class Advertiser extends pulumi.CustomResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = typeTokenOf("Advertiser");

  /**
   * The platform's id, or `existingId`. In a preview it's unknown until the advertiser has been created. An id above
   * 2^53 - 1, which a number can't hold exactly, is a string of digits.
   */
  declare readonly advertiserId: pulumi.Output<number>;
  /** The name as declared (`advertiser_name`). */
  declare readonly advertiserName: pulumi.Output<string>;
  /** The adopted id, as declared; `undefined` if the advertiser was created. */
  declare readonly existingId: pulumi.Output<number | undefined>;
  /** The additional request fields as declared, by their wire names; `undefined` if there are none. */
  declare readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;
  /** `"delete"` if declared; otherwise absent. */
  declare readonly deletionPolicy: pulumi.Output<"delete" | undefined>;

  /** @param name unique among the stack's advertisers. @param options Pulumi's; `retainOnDelete` follows from `deletionPolicy`. */
  constructor(name: string, args: AdvertiserArgs, options?: pulumi.CustomResourceOptions) {
    const resume = pauseStackTraces(Advertiser);
    try {
      super(...registrationOf(advertiser, name, args, options));
    } catch (error) {
      throw stopAfter(resume(error));
    }
    resume();
    if (!pulumi.runtime.isDryRun()) return;
    // In a preview of an update, Pulumi knows the id, but not the output `advertiserId`.
    const { id, advertiserId } = this;
    this.advertiserId = id.apply((digits) => {
      if (!LIVE_ID.test(digits)) return advertiserId;
      return pulumi.output(exactId(digits) as number);
    });
  }

  /**
   * Refers to a live advertiser by its id. With a known read (setting `operations`), its arguments are read from the
   * platform, in a preview too if there's a password. Without a known read, no request is sent, and they are
   * `undefined`.
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

  /** Whether `value` is an Advertiser, of any copy of this package, or one that `get` returned. */
  static override isInstance(value: unknown): value is AdvertiserReference {
    return isOfType(value, Advertiser.__pulumiType);
  }
}

/** The id of a live object, as `get` takes it. */
export type ReadId = pulumi.Input<pulumi.ID | number>;

/** The result of `get`. Without a known read, all outputs except the id are `undefined`. */
type Referred<Resource, IdProperty extends keyof Resource> = pulumi.CustomResource & {
  readonly [Name in Exclude<keyof Resource, keyof pulumi.CustomResource>]: pulumi.Output<
    OutputOf<Resource[Name]> | (Name extends IdProperty ? never : undefined)
  >;
};
type OutputOf<Property> =
  Property extends pulumi.OutputInstance<infer Value> ? Value : never;

/** The result of {@link Advertiser.get}. Properties that only a declaration has, such as `existingId`, are `undefined`. */
export type AdvertiserReference = Referred<Advertiser, "advertiserId">;

/**
 * The arguments of a {@link ConversionEvent}. The rules are those of the platform's documentation (`POST rest/event`).
 */
export interface ConversionEventArgs {
  /** The event's name: 1 to 99 characters, no control characters (`event_name`). */
  eventName: pulumi.Input<string>;
  /** Its advertiser, valid and active: an {@link Advertiser}, or an id as a number or digits (`advertiser_id`). */
  advertiserId: pulumi.Input<number | string | AdvertiserReference>;
  /** The default value of a conversion: a finite number (`value`). */
  value: pulumi.Input<number>;
  /**
   * `EventType.Purchase` (0), `.LandingPage` (1), or any other integer from 0 (`event_type_id`). Not sent by default.
   */
  eventTypeId?: pulumi.Input<EventType | OtherNumber | undefined>;
  /** The id of the segment that users enter when the event fires (`segment_id`). Not sent by default. */
  segmentId?: pulumi.Input<number | string | undefined>;
  /** The platform accepts it, but doesn't use it today (`count_unique`). @default false */
  countUnique?: pulumi.Input<boolean | undefined>;
  /**
   * How far to look back for clicks, in whole seconds from 1 to the system's limit (`advertising:maxWindowSeconds`).
   * See `days()` and `hours()`.
   * @default 2592000 (30 days), or the limit if that's lower
   */
  clickWindow?: pulumi.Input<number | undefined>;
  /** How far to look back for impressions. The range and the default are those of `clickWindow`. */
  viewWindow?: pulumi.Input<number | undefined>;
  /** `"ALL"`: every line item of the advertiser is eligible; `"WHITELIST"`: only selected ones. @default "ALL" */
  attribution?: pulumi.Input<Attribution | undefined>;
  /**
   * Adopts the live event with this id (a number, or a string of digits). You can remove it after an `up`. Nothing is
   * sent, and the other arguments only describe the event. With a known read (setting `operations`), the event is read.
   * If it differs, it is updated if an update is known; otherwise the resource fails.
   */
  existingId?: pulumi.Input<number | string | undefined>;
  /** Request fields that this package doesn't know, by their wire names, merged into the request's body. */
  additionalFields?: pulumi.Input<Record<string, unknown> | undefined>;
  /** Whether the live event is deleted when its resource leaves the program or is replaced, as for an {@link Advertiser}. @default "retain" */
  deletionPolicy?: "retain" | "delete" | undefined;
}

/** Any number, without hiding from editors the named ones that it stands beside. */
export type OtherNumber = number & Record<never, never>;

/**
 * The definition of a conversion event, created by `POST rest/event`.
 *
 * A change replaces it: another live event with another id is created, and placed tags keep firing the old one. If you
 * remove it from the program, it stays live on the platform. The setting `operations` can switch on updates and
 * deletes.
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
   * The platform's id, or `existingId`. Tags fire this id. In a preview it's unknown until the event has been created.
   * An id above 2^53 - 1, which a number can't hold exactly, is a string of digits.
   */
  declare readonly eventId: pulumi.Output<number>;
  /** The name as declared (`event_name`). */
  declare readonly eventName: pulumi.Output<string>;
  /** The advertiser's id as a number, even if it was declared as digits; above 2^53 - 1, a string of digits. */
  declare readonly advertiserId: pulumi.Output<number>;
  /** The default value of a conversion, as declared. The platform's documentation names no currency. */
  declare readonly value: pulumi.Output<number>;
  /** The event type as declared (see `EventType`); `undefined` if none was sent. */
  declare readonly eventTypeId: pulumi.Output<number | undefined>;
  /** The segment's id as a number; above 2^53 - 1, a string of digits; `undefined` if none was sent. */
  declare readonly segmentId: pulumi.Output<number | undefined>;
  /** As declared, or `false`. The platform doesn't use it today. */
  declare readonly countUnique: pulumi.Output<boolean>;
  /** How far to look back for clicks, in seconds: as declared, or the default. */
  declare readonly clickWindow: pulumi.Output<number>;
  /** How far to look back for impressions, in seconds: as declared, or the default. */
  declare readonly viewWindow: pulumi.Output<number>;
  /** Which line items are eligible: as declared, or `"ALL"`. */
  declare readonly attribution: pulumi.Output<Attribution>;
  /** The adopted id, as declared; `undefined` if the event was created. */
  declare readonly existingId: pulumi.Output<number | undefined>;
  /** The additional request fields as declared, by their wire names; `undefined` if there are none. */
  declare readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;
  /** `"delete"` if declared; otherwise absent. */
  declare readonly deletionPolicy: pulumi.Output<"delete" | undefined>;

  /** @param name unique among the stack's events. @param options Pulumi's; `retainOnDelete` follows from `deletionPolicy`. */
  constructor(
    name: string,
    args: ConversionEventArgs,
    options?: pulumi.CustomResourceOptions,
  ) {
    const resume = pauseStackTraces(ConversionEvent);
    try {
      super(...registrationOf(conversionEvent, name, args, options));
    } catch (error) {
      throw stopAfter(resume(error));
    }
    resume();
  }

  /**
   * Refers to a live event by its id. With a known read (setting `operations`), its arguments are read from the
   * platform, in a preview too if there's a password. Without a known read, no request is sent, and they are
   * `undefined`.
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

  /** Whether `value` is a ConversionEvent, of any copy of this package, or one that `get` returned. */
  static override isInstance(value: unknown): value is ConversionEventReference {
    return isOfType(value, ConversionEvent.__pulumiType);
  }
}

/** The result of {@link ConversionEvent.get}. Properties that only a declaration has, such as `existingId`, are `undefined`. */
export type ConversionEventReference = Referred<ConversionEvent, "eventId">;

/** One event of a set: the arguments of a `ConversionEvent`, without the advertiser. */
export interface ConversionEventEntry
  extends Omit<ConversionEventArgs, "advertiserId" | "deletionPolicy"> {
  /**
   * The key that this event had in the set before. The object stays managed, under the new key, and nothing is sent.
   * You can remove it once every stack of the program has had an `up`.
   */
  formerKey?: string | undefined;
}

/** The arguments of a {@link ConversionEventSet}. The rules of each event are those of a `ConversionEvent`. */
export interface ConversionEventSetArgs {
  /** The advertiser of all events, as in a `ConversionEvent`. If it changes, every event is replaced. */
  advertiserId: pulumi.Input<number | string | AdvertiserReference>;
  /**
   * Optional arguments for every event that doesn't set them itself; `existingId` isn't allowed. If one changes, those
   * events are replaced. `additionalFields` are merged; an event's own fields win.
   */
  defaults?: pulumi.Input<
    | Omit<ConversionEventEntry, "eventName" | "value" | "existingId" | "formerKey">
    | undefined
  >;
  /**
   * The events by key, in any order. A key is the event's identity within the set: 1 to 100 characters, without control
   * characters, and not `__proto__`, `toString` or `__pulumi…`, which Pulumi can't carry. The event of a new key is
   * created, unless its `formerKey` names an event of the set. If an entry changes, another object is created, and the
   * old one stays live. The object of a removed key stays live too. Nothing else is sent.
   */
  events: pulumi.Input<Record<string, pulumi.Input<ConversionEventEntry>>>;
  /** Whether live events that leave the set or are replaced in it are deleted, as for an {@link Advertiser}. @default "retain" */
  deletionPolicy?: "retain" | "delete" | undefined;
}

/**
 * Many conversion events of one advertiser as one resource, for hundreds or thousands of events: as single resources,
 * these would take Pulumi minutes. Each event is created at most once, like a `ConversionEvent`. The set is updated key
 * by key and never replaced. If some events fail, the others are saved, and the next `pulumi up` sends what's missing.
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
   * The events' ids by key. Tags fire these ids. In a preview they are unknown if anything in the set changes. An id
   * above 2^53 - 1, which a number can't hold exactly, is a string of digits.
   */
  declare readonly eventIds: pulumi.Output<Record<string, number>>;
  /** The advertiser's id as a number, even if it was declared as digits; above 2^53 - 1, a string of digits. */
  declare readonly advertiserId: pulumi.Output<number>;
  /** The shared arguments: as declared, with the API's defaults for the rest. */
  declare readonly defaults: pulumi.Output<Record<string, unknown>>;
  /** The entries as declared, by key, of all events that have an id. */
  declare readonly events: pulumi.Output<Record<string, Record<string, unknown>>>;
  /** `"delete"` if declared; otherwise absent. */
  declare readonly deletionPolicy: pulumi.Output<"delete" | undefined>;

  /**
   * @param name unique among the stack's sets.
   * @param options Pulumi's; `retainOnDelete` follows from `deletionPolicy`.
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
      throw stopAfter(resume(error));
    }
    resume();
  }

  /** Whether `value` is a ConversionEventSet, of any copy of this package. */
  static override isInstance(value: unknown): value is ConversionEventSet {
    return isOfType(value, ConversionEventSet.__pulumiType);
  }
}

/** For installations that differ from the API's documentation. */
export interface ValidateOptions {
  /** The longest window in seconds, like the setting `maxWindowSeconds`. @default 2592000 (30 days) */
  maxWindowSeconds?: number;
}

/**
 * Checks arguments against the rules of a resource, without a program: nothing is declared, sent or read. An Output or
 * a Promise passes, as in a preview. Mistakes that involve two resources, such as an id that is adopted twice, are
 * found only in a program.
 *
 * @param kind the resource's class: `"Advertiser"`, `"ConversionEvent"` or `"ConversionEventSet"`.
 * @param args as its constructor takes them.
 * @returns all problems, by property; empty if there are none. Those with the `level` `"warning"` are accepted.
 * @throws an error with the code `ADVERTISING_ARGUMENTS` if `kind` is none of these.
 *
 * @example
 * for (const { property, reason } of advertising.validate("ConversionEvent", row)) console.error(property, reason);
 */
export function validate(
  kind: ResourceName,
  args: object,
  options: ValidateOptions = {},
): Problem[] {
  const found = RESOURCES.find(({ name }) => name === kind);
  if (!found) {
    const names = RESOURCES.map(({ name }) => `"${name}"`).join(", ");
    throw new ArgumentsError(
      withPage(`validate: expected one of ${names}; got ${show(kind)}`, ArgumentsError),
    );
  }
  const { maxWindowSeconds = THIRTY_DAYS_IN_SECONDS } = options;
  const { values, problems } = checkArguments(
    found,
    withIds(found, asRecord(args)),
    { maxWindowSeconds, markField: undefined },
    { isUnknown: holdsOutput },
  );
  return [...problems, ...warningsIn(values, maxWindowSeconds)];
}
