/**
 * The kinds `ConversionEvent` and `ConversionEventSet`: wire names, operations, and rules. The rules come from the
 * platform's API documentation of `POST rest/event`; a set's members and `defaults` have those of a single event.
 */
import { z } from "zod";
import {
  additionalFieldsBeside,
  booleanRule,
  choiceOf,
  expecting,
  finiteNumber,
  identifierOf,
  integerNamed,
  nameRule,
  type Rules,
  windowOf,
} from "../rules/index.js";
import { advertiser } from "./advertiser-kind.js";
import {
  createOf,
  type KindOf,
  memoized,
  outputsOf,
  type RuleSettings,
  type SetKind,
} from "./kind.js";
import { Attribution, EventType, THIRTY_DAYS_IN_SECONDS } from "./vocabulary.js";

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

/** The rules of every argument, without the API's defaults: a member's defaults are the set's `defaults`. */
const eventRules = memoized(({ maxWindowSeconds, markField }) => {
  const window = windowOf(maxWindowSeconds).optional();
  return z.strictObject({
    eventName: nameRule(99),
    advertiserId: identifierOf("an Advertiser or its id"),
    value: finiteNumber,
    eventTypeId: integerNamed(EventType).optional(),
    segmentId: identifierOf("the id of a segment", 0).optional(),
    countUnique: booleanRule.optional(),
    clickWindow: window,
    viewWindow: window,
    attribution: choiceOf(Attribution).optional(),
    existingId: identifierOf("the id of a live event").optional(),
    additionalFields: additionalFieldsBeside(wireNames, markField).optional(),
  });
});

/** The API's defaults. A window's default is capped at the installation's limit. */
function eventDefaults({ maxWindowSeconds }: RuleSettings) {
  const window = Math.min(THIRTY_DAYS_IN_SECONDS, maxWindowSeconds);
  return {
    countUnique: false,
    clickWindow: window,
    viewWindow: window,
    attribution: Attribution.All,
  };
}

export const conversionEvent: KindOf<typeof wireNames> = {
  name: "ConversionEvent",
  idProperty: "eventId",
  nameProperty: "eventName",
  identifyingProperties: ["advertiserId", "value"],
  unmanagedNotice: "stays live and unmanaged, and tags placed for it keep firing",
  wireNames,
  outputs: outputsOf("eventId", wireNames),
  create: createOf("event", wireNames),
  idArguments: new Set(["advertiserId", "segmentId"]),
  references: { advertiserId: advertiser },
  owner: "advertiserId",
  rules: memoized((limits) => {
    const fields: Rules = eventRules(limits);
    const rules: Record<string, z.ZodType> = {};
    for (const [name, value] of Object.entries(eventDefaults(limits)))
      rules[name] = (fields.shape[name] as z.ZodType).default(value);
    return fields.extend(rules);
  }),
};

/** A pattern against names that Pulumi reserves or can't print (seen with 3.259). */
export const NOT_RESERVED =
  "(?!(?:__proto__|toString|4dabf18193072939515e22adb298388d|__pulumi.*)$)";

/** A property name that every JavaScript object, and Pulumi, can carry. */
const key = expecting(
  "1 to 100 characters, not blank, without control characters, and not reserved by Pulumi, such as toString",
  nameRule(100, NOT_RESERVED),
  { form: "text" },
);

const memberRules = memoized((limits) =>
  eventRules(limits).omit({ advertiserId: true }).extend({ formerKey: key.optional() }),
);
const sharedRules = memoized((limits) =>
  eventRules(limits).omit({
    eventName: true,
    advertiserId: true,
    value: true,
    existingId: true,
  }),
);

export const conversionEventSet: SetKind = {
  name: "ConversionEventSet",
  outputs: ["eventIds", "advertiserId", "defaults", "events"],
  member: conversionEvent,
  idArguments: new Set(["advertiserId"]),
  references: conversionEvent.references,
  rules: memoized((limits) =>
    z.strictObject({
      advertiserId: eventRules(limits).shape.advertiserId,
      defaults: expecting(
        "an object of arguments that all events share",
        sharedRules(limits),
      ).optional(),
      events: expecting(
        "an object with each event under its key",
        z.record(key, expecting("an object", memberRules(limits))),
      ),
    }),
  ),
  memberRules,
  sharedRules,
  defaultsIn: eventDefaults,
};
