/** The rules of a conversion event's definition (API page, POST rest/event). */
import { z } from "zod";
import {
  additionalFieldsBeside,
  expecting,
  finiteNumber,
  identifierOf,
  integerFromZero,
  nameOf,
  truth,
  windowOf,
} from "../rules/index.js";
import { advertiser } from "./advertiser-kind.js";
import { type Kind, type Limits, onceFor, outputsOf } from "./kind.js";
import { createOf } from "./request.js";
import { Attribution, LIKELY_DAYS_BELOW_SECONDS, THIRTY_DAYS_IN_SECONDS } from "./vocabulary.js";

const MAX_NAME_CHARACTERS = 99;

const wireNames = {
  eventName: "event_name",
  advertiserId: "advertiser_id",
  eventTypeId: "event_type_id",
  segmentId: "segment_id",
  value: "value",
  countUnique: "count_unique",
  clickWindow: "click_window",
  viewWindow: "view_window",
  attribution: "attribution",
} as const;

/** The rules of every argument, without the API's defaults: in a set, a member's defaults are those of the set. */
export const eventRules = onceFor(({ maxWindowSeconds, traceField }) => {
  const window = windowOf(maxWindowSeconds).optional();
  return z.strictObject({
    eventName: nameOf(MAX_NAME_CHARACTERS),
    advertiserId: identifierOf("an Advertiser or its id"),
    value: finiteNumber,
    eventTypeId: integerFromZero.optional(),
    segmentId: identifierOf("the id of a segment", 0).optional(),
    countUnique: truth.optional(),
    clickWindow: window,
    viewWindow: window,
    attribution: expecting(`"ALL" or "WHITELIST"`, z.enum(Attribution)).optional(),
    existingId: identifierOf("the id of a live event").optional(),
    additionalFields: additionalFieldsBeside(new Set(Object.values(wireNames)), traceField).optional(),
  });
});

/** The API's defaults. An installation whose limit is lower than the default of a window must not refuse it. */
export function eventDefaults({ maxWindowSeconds }: Limits) {
  const window = Math.min(THIRTY_DAYS_IN_SECONDS, maxWindowSeconds);
  return { countUnique: false, clickWindow: window, viewWindow: window, attribution: Attribution.All };
}

export const conversionEvent: Kind = {
  name: "ConversionEvent",
  handler: "conversionEvent",
  idProperty: "eventId",
  nameProperty: "eventName",
  tellingProperties: ["advertiserId", "value"],
  afterlife: "stays live on the platform, and tags that were placed for it keep firing",
  wireNames,
  outputs: outputsOf("eventId", wireNames),
  create: createOf("event", wireNames),
  exactIds: new Set(["advertiserId", "segmentId"]),
  refersTo: { advertiserId: advertiser },
  rules: onceFor((limits) => {
    const fields = eventRules(limits);
    const { countUnique, clickWindow, viewWindow, attribution } = eventDefaults(limits);
    return fields.extend({
      countUnique: fields.shape.countUnique.default(countUnique),
      clickWindow: fields.shape.clickWindow.default(clickWindow),
      viewWindow: fields.shape.viewWindow.default(viewWindow),
      attribution: fields.shape.attribution.default(attribution),
    });
  }),
  warnings: (values) =>
    ["clickWindow", "viewWindow"].flatMap((property) => {
      const seconds = values[property];
      if (typeof seconds !== "number" || seconds >= LIKELY_DAYS_BELOW_SECONDS) return [];
      return [
        {
          property,
          reason: `is ${seconds} seconds; windows are seconds here. If days were meant, write advertising.days(${seconds})`,
        },
      ];
    }),
};
