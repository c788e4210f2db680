/**
 * The kinds `ConversionEvent` and `ConversionEventSet`: names on the wire, operations, and the API page's rules (POST
 * rest/event). A set's rules are those of a single event, for each member and for what all members share.
 */
import { z } from "zod";
import { asRecord, lookAlike, own, quoted } from "../base/index.js";
import {
  additionalFieldsBeside,
  booleanRule,
  choiceOf,
  expecting,
  finiteNumber,
  identifierOf,
  integerNamed,
  isName,
  nameRule,
  type Problem,
  type Rules,
  windowOf,
} from "../rules/index.js";
import { advertiser } from "./advertiser-kind.js";
import {
  createOf,
  type KindOf,
  type Limits,
  onceFor,
  outputsOf,
  type SetKind,
} from "./kind.js";
import { likelyMistakes, roundedId } from "./likely-mistakes.js";
import { Attribution, EventType, THIRTY_DAYS_IN_SECONDS } from "./vocabulary.js";

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
    eventName: nameRule(MAX_NAME_CHARACTERS),
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

/** The API's defaults. An installation whose limit is lower than the default of a window must not refuse it. */
function eventDefaults({ maxWindowSeconds }: Limits) {
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
  exactIds: new Set(["advertiserId", "segmentId"]),
  references: { advertiserId: advertiser },
  owner: "advertiserId",
  rules: onceFor((limits) => {
    const fields: Rules = eventRules(limits);
    const rules: Record<string, z.ZodType> = {};
    for (const [name, value] of Object.entries(eventDefaults(limits)))
      rules[name] = (fields.shape[name] as z.ZodType).default(value);
    return fields.extend(rules);
  }),
  conflicts: () => [],
  warnings: (values) => likelyMistakes(conversionEvent, values),
};

const MAX_KEY_CHARACTERS = 100;

/** Pulumi takes an object with such a property for one of its own, or can't print it (seen with 3.259). */
const TAKEN_BY_PULUMI = ["__proto__", "toString", "4dabf18193072939515e22adb298388d"];
export function isTakenByPulumi(text: string): boolean {
  return TAKEN_BY_PULUMI.includes(text) || text.startsWith("__pulumi");
}

const taken = TAKEN_BY_PULUMI.map((text) => `"${text}"`).join(", ");
const readable = `1 to ${MAX_KEY_CHARACTERS} characters, not blank, without control characters`;

/** A property name that every JavaScript object, and Pulumi, can carry. */
const key = expecting(
  `${readable}, and not ${taken} or "__pulumi…", which Pulumi can't carry`,
  z.string().refine((text) => isName(text, MAX_KEY_CHARACTERS) && !isTakenByPulumi(text)),
  { form: "text" },
);

/** Texts that look the same and are not: names or keys of two live objects. @param texts by their property. */
function lookAlikes(
  texts: readonly { readonly property: string; readonly text: unknown }[],
): Problem[] {
  const known = new Map<string, string>();
  const problems: Problem[] = [];
  for (const { property, text } of texts) {
    if (typeof text !== "string") continue;
    const alike = lookAlike(known, text);
    if (alike !== undefined) problems.push({ property, reason: `is ${alike}` });
  }
  return problems;
}

/** A key of an event, and the one that it had before, as written. */
export interface RenamedKey {
  readonly key: string;
  readonly formerKey: unknown;
}

/** @param events those of a set. @returns what is wrong with a former key, by the key of its event. */
export function formerKeyConflicts(events: readonly RenamedKey[]): Map<string, string> {
  const conflicts = new Map<string, string>();
  const keys = new Set(events.map(({ key }) => key));
  const takenBy = new Map<string, string>();
  for (const { key, formerKey } of events) {
    if (typeof formerKey !== "string") continue;
    const conflict = formerKeyConflict(key, formerKey, keys, takenBy);
    if (conflict !== undefined) conflicts.set(key, `${quoted(formerKey)} ${conflict}`);
    takenBy.set(formerKey, key);
  }
  return conflicts;
}

function formerKeyConflict(
  key: string,
  formerKey: string,
  keys: ReadonlySet<string>,
  takenBy: ReadonlyMap<string, string>,
): string | undefined {
  if (formerKey === key) return "is its own key: leave formerKey out";
  if (keys.has(formerKey))
    return "is the key of another event: one of the two can't go on with its object";
  const other = takenBy.get(formerKey);
  if (other === undefined) return undefined;
  return `is also the formerKey of ${quoted(other)}: one object can't be two events`;
}

const memberRules = onceFor((limits) =>
  eventRules(limits).omit({ advertiserId: true }).extend({ formerKey: key.optional() }),
);
const sharedRules = onceFor((limits) =>
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
  exactIds: new Set(["advertiserId"]),
  references: conversionEvent.references,
  rules: onceFor((limits) =>
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
  conflicts: ({ events }) => {
    const entries = Object.entries(asRecord(events));
    const renamed = entries.map(([key, entry]) => ({
      key,
      formerKey: own(entry, "formerKey"),
    }));
    const conflicts = [...formerKeyConflicts(renamed)];
    return conflicts.map(([key, reason]) => ({ property: `${pathOf(key)}.formerKey`, reason }));
  },
  warnings: ({ advertiserId, defaults, events }) => {
    const entries = Object.entries(asRecord(events)).map(([key, event]) => ({
      key,
      event: asRecord(event),
    }));
    const rounded = roundedId(advertiserId);
    const problems =
      rounded === undefined ? [] : [{ property: "advertiserId", reason: rounded }];
    return [
      ...problems,
      ...likelyMistakes(conversionEvent, asRecord(defaults), "defaults."),
      ...entries.flatMap(({ key, event }) =>
        likelyMistakes(conversionEvent, event, `${pathOf(key)}.`),
      ),
      ...lookAlikes(entries.map(({ key }) => ({ property: pathOf(key), text: key }))),
      ...lookAlikes(
        entries.map(({ key, event }) => ({
          property: `${pathOf(key)}.eventName`,
          text: event.eventName,
        })),
      ),
    ];
  },
};

function pathOf(key: string): string {
  return `events[${JSON.stringify(key)}]`;
}
