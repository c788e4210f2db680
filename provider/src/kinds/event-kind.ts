/**
 * The kinds `ConversionEvent` and `ConversionEventSet`: names on the wire, operations, and the API page's rules (POST
 * rest/event). A set's rules are those of a single event, for each member and for what all members share.
 */
import { z } from "zod";
import { asRecord, count, lookAlike, own, quoted, type Values } from "../base/index.js";
import {
  additionalFieldsBeside,
  expecting,
  finiteNumber,
  identifierOf,
  integerFromZero,
  isName,
  nameOf,
  type Problem,
  truth,
  windowOf,
  withUnit,
} from "../rules/index.js";
import { advertiser } from "./advertiser-kind.js";
import { createOf, type Kind, type Limits, oddName, onceFor, outputsOf, roundedId, type SetKind } from "./kind.js";
import { Attribution, days, LIKELY_DAYS_BELOW_SECONDS, THIRTY_DAYS_IN_SECONDS, WINDOWS } from "./vocabulary.js";

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
const eventRules = onceFor(({ maxWindowSeconds, markField }) => {
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
    additionalFields: additionalFieldsBeside(new Set(Object.values(wireNames)), markField).optional(),
  });
});

/** The API's defaults. An installation whose limit is lower than the default of a window must not refuse it. */
function eventDefaults({ maxWindowSeconds }: Limits) {
  const window = Math.min(THIRTY_DAYS_IN_SECONDS, maxWindowSeconds);
  return { countUnique: false, clickWindow: window, viewWindow: window, attribution: Attribution.All };
}

export const conversionEvent: Kind = {
  name: "ConversionEvent",
  handler: "conversionEvent",
  idProperty: "eventId",
  nameProperty: "eventName",
  identifyingProperties: ["advertiserId", "value"],
  unmanagedNotice: "stays live on the platform, and tags that were placed for it keep firing",
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
  conflicts: () => [],
  warnings: (values) => eventWarnings(values),
};

function eventWarnings(values: Values, at = ""): Problem[] {
  return [
    ...shortWindows(values, at),
    ...oddName(values, "eventName", at),
    ...["advertiserId", "segmentId", "existingId"].flatMap((property) => roundedId(values, property, at)),
  ];
}

function shortWindows(values: Values, at: string): Problem[] {
  return WINDOWS.flatMap((property) => {
    const seconds = values[property];
    if (typeof seconds !== "number" || seconds >= LIKELY_DAYS_BELOW_SECONDS) return [];
    const meant = withUnit(days(seconds));
    const reason = `is ${count(seconds, "second")}; windows are seconds here. If days were meant, write ${meant}`;
    return [{ property: `${at}${property}`, reason }];
  });
}

const MAX_KEY_CHARACTERS = 100;

/** Pulumi takes an object with such a property for one of its own, or can't print it (seen with 3.259). */
const TAKEN_BY_PULUMI = ["__proto__", "toString", "4dabf18193072939515e22adb298388d"];
export function isTakenByPulumi(text: string): boolean {
  return TAKEN_BY_PULUMI.includes(text) || text.startsWith("__pulumi");
}

/** A property name that every JavaScript object, and Pulumi, can carry. */
const key = expecting(
  `1 to ${MAX_KEY_CHARACTERS} characters, not blank, without control characters, and not ${TAKEN_BY_PULUMI.map((text) => `"${text}"`).join(", ")} or "__pulumi…", which Pulumi can't carry`,
  z.string().refine((text) => isName(text, MAX_KEY_CHARACTERS) && !isTakenByPulumi(text)),
);

/** Texts that look the same and are not: names or keys of two live objects. */
function lookAlikes(texts: readonly (readonly [property: string, text: unknown, ...rest: unknown[]])[]): Problem[] {
  const known = new Map<string, string>();
  return texts.flatMap(([property, text]) => {
    const alike = typeof text === "string" && lookAlike(known, text);
    return alike ? [{ property, reason: `is ${alike}` }] : [];
  });
}

/** @param formerKeys by the key of their event; those of a set. @returns what is wrong with one, by its event's key. */
export function formerKeyConflicts(formerKeys: readonly (readonly [key: string, formerKey: unknown])[]) {
  const conflicts = new Map<string, string>();
  const keys = new Set(formerKeys.map(([name]) => name));
  const takenBy = new Map<string, string>();
  for (const [name, formerKey] of formerKeys) {
    if (typeof formerKey !== "string") continue;
    const other = takenBy.get(formerKey);
    if (formerKey === name) {
      conflicts.set(name, `${quoted(formerKey)} is its own key: leave formerKey out`);
    } else if (keys.has(formerKey)) {
      conflicts.set(
        name,
        `${quoted(formerKey)} is the key of another event: one of the two can't go on with its object`,
      );
    } else if (other !== undefined) {
      conflicts.set(
        name,
        `${quoted(formerKey)} is also the formerKey of ${quoted(other)}: one object can't be two events`,
      );
    }
    takenBy.set(formerKey, name);
  }
  return conflicts;
}

const memberRules = onceFor((limits) =>
  eventRules(limits).omit({ advertiserId: true }).extend({ formerKey: key.optional() }),
);
const sharedRules = onceFor((limits) =>
  eventRules(limits).omit({ eventName: true, advertiserId: true, value: true, existingId: true }),
);

export const conversionEventSet: SetKind = {
  name: "ConversionEventSet",
  handler: "conversionEventSet",
  outputs: ["eventIds", "advertiserId", "defaults", "events"],
  member: conversionEvent,
  exactIds: new Set(["advertiserId"]),
  refersTo: conversionEvent.refersTo,
  rules: onceFor((limits) =>
    z.strictObject({
      advertiserId: eventRules(limits).shape.advertiserId,
      defaults: expecting("an object of arguments that all events share", sharedRules(limits)).optional(),
      events: expecting(
        "an object with each event under its key",
        z.record(key, expecting("an object", memberRules(limits))),
      ),
    }),
  ),
  memberRules,
  sharedRules,
  defaultsIn: eventDefaults,
  conflicts: ({ events }) => {
    const entries = Object.entries(asRecord(events));
    const formerKeys = entries.map(([name, entry]) => [name, own(entry, "formerKey")] as const);
    const found = [...formerKeyConflicts(formerKeys)];
    return found.map(([name, reason]) => ({ property: `events[${JSON.stringify(name)}].formerKey`, reason }));
  },
  warnings: (values) => {
    const { defaults, events } = values;
    const members = Object.entries(asRecord(events)).map(
      ([name, event]) => [`events[${JSON.stringify(name)}]`, name, asRecord(event)] as const,
    );
    return [
      ...roundedId(values, "advertiserId"),
      ...shortWindows(asRecord(defaults), "defaults."),
      ...roundedId(asRecord(defaults), "segmentId", "defaults."),
      ...members.flatMap(([path, , event]) => eventWarnings(event, `${path}.`)),
      ...lookAlikes(members),
      ...lookAlikes(members.map(([path, , { eventName }]) => [`${path}.eventName`, eventName])),
    ];
  },
};
