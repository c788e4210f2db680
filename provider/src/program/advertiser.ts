import * as pulumi from "@pulumi/pulumi";
import { advertiser, typeTokenOf } from "../kinds/index.js";
import { idInPreview, isOfType, readIdOf } from "./ids.js";
import { pauseStackTraces } from "./place.js";
import { registrationOf } from "./program.js";

/** What an {@link Advertiser} is declared with. */
export interface AdvertiserArgs {
  /** The advertiser's name: at least 1 character, no control characters (`advertiser_name`). */
  advertiserName: pulumi.Input<string>;
  /**
   * Adopts the live advertiser with this id, a number or its digits; may be taken away later. Nothing is sent, and the other arguments just describe
   * it. But with a known read (setting `operations`) it is read, and what differs is changed in place if an update is known, and refused otherwise.
   */
  existingId?: pulumi.Input<number | string>;
  /**
   * Request fields that this package does not know, by their wire names, merged into the body: `{ active: true }` where an installation creates
   * advertisers inactive. Not for `advertiser_name`.
   */
  additionalFields?: pulumi.Input<Record<string, unknown>>;
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
   * The platform's id, or `existingId`; unknown in a preview until the advertiser was created. One that a number could not hold exactly (above 2^53 -
   * 1) is its digits as a string.
   */
  declare public readonly advertiserId: pulumi.Output<number>;
  /** The name as declared (`advertiser_name`). */
  declare public readonly advertiserName: pulumi.Output<string>;
  /** The id that was adopted, as declared; `undefined` where the advertiser was created. */
  declare public readonly existingId: pulumi.Output<number | undefined>;
  /** The additional request fields as declared, by their wire names; `undefined` without any. */
  declare public readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;

  /**
   * @param name unique among the stack's advertisers; not the name on the platform.
   * @param options Pulumi's own; `retainOnDelete` is true by default.
   */
  constructor(name: string, args: AdvertiserArgs, options?: pulumi.CustomResourceOptions) {
    const traces = pauseStackTraces();
    try {
      super(...registrationOf(advertiser, name, args, options));
      if (pulumi.runtime.isDryRun()) this.advertiserId = idInPreview(this, this.advertiserId);
    } catch (error) {
      throw traces.retrace(error, Advertiser);
    } finally {
      traces.resume();
    }
  }

  /**
   * Refers to an advertiser that exists, by its id. With a known read (setting `operations`) its arguments are read, also in a preview that has a
   * password; without one nothing is asked of the platform, and they are `undefined`.
   */
  static get(name: string, id: ReadId, options?: pulumi.CustomResourceOptions): AdvertiserReference {
    return new Advertiser(name, undefined as unknown as AdvertiserArgs, { ...options, id: readIdOf(id) });
  }

  /** Whether `value` is an Advertiser, one that `get` refers to included, of whichever copy of this package. */
  static override isInstance(value: unknown): value is Advertiser {
    return isOfType(value, Advertiser.__pulumiType);
  }
}

/** The id of what exists already, as `get` takes it. */
export type ReadId = pulumi.Input<pulumi.ID | number>;

/** What {@link Advertiser.get} refers to. `existingId` and `additionalFields` are always `undefined`. */
export interface AdvertiserReference extends pulumi.CustomResource {
  readonly advertiserId: pulumi.Output<number>;
  readonly advertiserName: pulumi.Output<string | undefined>;
  readonly existingId: pulumi.Output<number | undefined>;
  readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;
}
