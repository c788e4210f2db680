/**
 * The API's operations, as data.
 */

export interface Operation {
  /** Below the base URL. */
  readonly path: string;
  /** The resource's name on the wire, under which or before `_id` its id may stand in an answer. */
  readonly noun: string;
  /** What a refusal of this operation may well be about, added to the platform's own words. */
  readonly refusalHint?: string;
}

export const createAdvertiser: Operation = { path: "rest/advertiser", noun: "advertiser" };

export const createEvent: Operation = {
  path: "rest/event",
  noun: "event",
  // Seen at services of this kind (PLATFORM: no promise).
  refusalHint:
    "An event needs a valid and active advertiser; some installations create advertisers inactive unless they are sent " +
    "`active: true` (additionalFields: { active: true } of the Advertiser).",
};
