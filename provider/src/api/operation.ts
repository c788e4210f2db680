/**
 * The API's operations, as data.
 */

export interface Operation {
  /** Below the base URL. */
  readonly path: string;
  /** The resource's name on the wire, under which or before `_id` its id may stand in an answer. */
  readonly noun: string;
  /** Every documented field of the request (a test holds them to the schema): a refusal may speak of one not sent. */
  readonly fields: readonly string[];
}

export const createAdvertiser: Operation = {
  path: "rest/advertiser",
  noun: "advertiser",
  fields: ["advertiser_name"],
};

export const createEvent: Operation = {
  path: "rest/event",
  noun: "event",
  fields: [
    "event_name",
    "advertiser_id",
    "event_type_id",
    "segment_id",
    "value",
    "count_unique",
    "click_window",
    "view_window",
    "attribution",
  ],
};
