/**
 * The kinds `ConversionEvent` and `ConversionEventSet`: wire names, operations, and rules. The rules come from the
 * platform's API documentation of `POST rest/event`; a set's members and `defaults` have those of a single event.
 */
import { z } from "zod";
import { SIGNATURE_KEY } from "../base/index.js";
import {
  additionalFieldsBeside,
  booleanRule,
  expecting,
  finiteNumber,
  identifierOf,
  nameRule,
  withUnit,
} from "../rules/index.js";
import { advertiser } from "./advertiser-kind.js";
import { defineKind, deletionPolicy, memoized, type SetKind } from "./kind.js";
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
};

/** The rules of every argument, without the API's defaults: a member's defaults are the set's `defaults`. */
const eventRules = memoized(({ maxWindowSeconds, markField }) => {
  const window = expecting(
    `whole seconds from 1 to ${withUnit(maxWindowSeconds)}; see advertising:maxWindowSeconds`,
    z.int().min(1).max(maxWindowSeconds),
    { form: "seconds" },
  ).optional();
  return z.strictObject({
    eventName: nameRule(99),
    advertiserId: identifierOf("an Advertiser or its id"),
    value: finiteNumber,
    eventTypeId: expecting(
      `an integer from 0 to ${Number.MAX_SAFE_INTEGER}`,
      z.int().min(0),
      { form: "named number", names: EventType },
    ).optional(),
    segmentId: identifierOf("the id of a segment", 0).optional(),
    countUnique: booleanRule.optional(),
    clickWindow: window,
    viewWindow: window,
    attribution: expecting('"ALL" or "WHITELIST"', z.enum(Attribution), {
      form: "choice",
      names: Attribution,
    }).optional(),
    existingId: identifierOf("the id of a live event").optional(),
    additionalFields: additionalFieldsBeside(wireNames, markField).optional(),
  });
});

/** The rules with the API's defaults. A window's default is capped at the installation's limit. */
const completeRules = memoized((limits) => {
  const rules = eventRules(limits);
  const { countUnique, clickWindow, viewWindow, attribution } = rules.shape;
  const window = Math.min(THIRTY_DAYS_IN_SECONDS, limits.maxWindowSeconds);
  return rules.extend({
    countUnique: countUnique.unwrap().default(false),
    clickWindow: clickWindow.unwrap().default(window),
    viewWindow: viewWindow.unwrap().default(window),
    attribution: attribution.unwrap().default(Attribution.All),
  });
});

export const conversionEvent = defineKind({
  noun: "event",
  name: "ConversionEvent",
  idProperty: "eventId",
  nameProperty: "eventName",
  identifyingProperties: ["advertiserId", "value"],
  unmanagedNotice: "stays live and unmanaged, and tags placed for it keep firing",
  wireNames,
  idArguments: ["advertiserId", "segmentId"],
  owner: "advertiserId",
  ownerKind: advertiser,
  rules: memoized((limits) => completeRules(limits).extend({ deletionPolicy })),
});

/** A pattern against names that Pulumi reserves or can't print (seen with 3.259). */
export const NOT_RESERVED = `(?!(?:__proto__|toString|${SIGNATURE_KEY}|__pulumi.*)$)`;

/** A property name that every JavaScript object, and Pulumi, can carry. */
const key = expecting(
  "1 to 100 characters, not blank, without control characters, and not reserved by Pulumi, such as toString",
  nameRule(100, NOT_RESERVED),
  { form: "text" },
);

/** The rules of an event under its key, without defaults: those of its set or catalog come first. */
export const entryRules = memoized((limits) =>
  eventRules(limits).omit({ advertiserId: true }).extend({ formerKey: key.optional() }),
);

/** The arguments that events of a set or catalog don't share. */
const OWN = { eventName: true, advertiserId: true, value: true, existingId: true } as const;

/** The rules of the arguments that a catalog's events share. */
export const sharedRules = memoized((limits) => eventRules(limits).omit(OWN));

export const conversionEventSet: SetKind = {
  name: "ConversionEventSet",
  idProperty: "eventIds",
  outputs: ["eventIds", "advertiserId", "defaults", "events", "deletionPolicy"],
  member: conversionEvent,
  rules: memoized((limits) =>
    z.strictObject({
      advertiserId: eventRules(limits).shape.advertiserId,
      defaults: expecting(
        "an object of arguments that all events share",
        completeRules(limits).omit(OWN),
      ).prefault({}),
      events: expecting(
        "an object with each event under its key",
        z.record(key, expecting("an object", entryRules(limits))),
      ),
      deletionPolicy,
    }),
  ),
};
