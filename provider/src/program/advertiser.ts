import * as pulumi from "@pulumi/pulumi";
import { advertiser, typeTokenOf } from "../kinds/index.js";
import { idInPreview, isOfType, readIdOf } from "./ids.js";
import { pauseStackTraces } from "./place.js";
import { currentProgram } from "./program.js";
import { registrationOf } from "./registration.js";

/** What an {@link Advertiser} is declared with. */
export interface AdvertiserArgs {
  /** The advertiser's name: at least 1 character, no control characters (`advertiser_name`). */
  advertiserName: pulumi.Input<string>;
  /**
   * Adopts the live advertiser with this id, a number or its digits. Nothing is sent, and the other arguments just describe it; but with a
   * known read (setting `operations`) it is read, and what differs is changed in place if an update is known, and refused otherwise.
   * May be taken away later without any effect.
   */
  existingId?: pulumi.Input<number | string>;
  /**
   * Request fields that the platform has and this package does not know, by their wire names, merged into the body:
   * `{ active: true }` where an installation creates advertisers inactive. `advertiser_name` is refused here.
   */
  additionalFields?: pulumi.Input<Record<string, unknown>>;
}

/**
 * An advertiser of the platform.
 *
 * Created by `POST rest/advertiser`. The API has no known update, read or delete, unless the setting `operations` names them:
 * every change is a replacement, which creates another live advertiser (and, for each event that follows it, another live event),
 * and whatever is removed from the program stays live on the platform.
 *
 * @example
 * const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
 */
export class Advertiser extends pulumi.CustomResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = typeTokenOf("Advertiser");

  /**
   * The platform's id, from its response to the create, or `existingId`. In a preview it is unknown until the advertiser was
   * created. An id that a number could not hold exactly (above 2^53 - 1) is its digits as a string.
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
      currentProgram().outputs.noteOwn(this.advertiserId);
    } catch (error) {
      throw traces.retrace(error, Advertiser);
    } finally {
      traces.resume();
    }
  }

  /**
   * Refers to an advertiser that exists, by its id. Without a known read nothing is asked of the platform: only `advertiserId` is known, and
   * the other outputs are `undefined`. With one (setting `operations`) the arguments are read, also in a preview that has a password.
   */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID | number>,
    options?: pulumi.CustomResourceOptions,
  ): AdvertiserReference {
    return new Advertiser(name, undefined as unknown as AdvertiserArgs, { ...options, id: readIdOf(id) });
  }

  /** Whether `value` is an Advertiser, one that `get` refers to included, of whichever copy of this package. */
  static override isInstance(value: unknown): value is Advertiser {
    return isOfType(value, Advertiser.__pulumiType);
  }
}

/** What {@link Advertiser.get} refers to: an {@link Advertiser} of which only the id is known, and with a known read the arguments. */
export interface AdvertiserReference extends pulumi.CustomResource {
  /** The id that was given; its digits as a string where a number could not hold it exactly (above 2^53 - 1). */
  readonly advertiserId: pulumi.Output<number>;
  /** `undefined` without a known read. */
  readonly advertiserName: pulumi.Output<string | undefined>;
  /** `undefined`: nothing was adopted. */
  readonly existingId: pulumi.Output<number | undefined>;
  /** `undefined`: nothing was declared. */
  readonly additionalFields: pulumi.Output<Record<string, unknown> | undefined>;
}
