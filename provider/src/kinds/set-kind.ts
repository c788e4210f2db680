/** The rules of a set of conversion events: those of a single one, for each member and for what all members share. */
import { z } from "zod";
import { count } from "../base/index.js";
import { expecting, isName, type Problem } from "../rules/index.js";
import { conversionEvent, eventDefaults, eventRules } from "./event-kind.js";
import { onceFor, type SetKind } from "./kind.js";

const MAX_KEY_CHARACTERS = 100;

/** More are counted. */
const MAX_WARNINGS = 5;

/** Pulumi takes an object with such a property for one of its own, or can't print it (seen with 3.259). */
const TAKEN_BY_PULUMI = ["__proto__", "toString", "4dabf18193072939515e22adb298388d"];
const isTakenByPulumi = (text: string) => TAKEN_BY_PULUMI.includes(text) || text.startsWith("__pulumi");

/** A property name that every JavaScript object, and Pulumi, can carry. */
const key = expecting(
  `1 to ${MAX_KEY_CHARACTERS} characters, not blank, without control characters, and not ${TAKEN_BY_PULUMI.map((text) => `"${text}"`).join(", ")} or "__pulumi…", which Pulumi can't carry`,
  z.string().refine((text) => isName(text, MAX_KEY_CHARACTERS) && !isTakenByPulumi(text)),
);

const memberRules = onceFor((limits) => eventRules(limits).omit({ advertiserId: true }));
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
        "an object that holds each event under its key",
        z.record(key, expecting("an object", memberRules(limits))),
      ),
    }),
  ),
  memberRules,
  sharedRules,
  defaultsIn: onceFor(eventDefaults),
  warnings({ defaults, events }) {
    const found: Problem[] = [...warningsAt("defaults", defaults)];
    if (typeof events === "object" && events !== null) {
      for (const [name, event] of Object.entries(events)) {
        found.push(...warningsAt(`events[${JSON.stringify(name)}]`, event));
      }
    }
    const more = found.length - MAX_WARNINGS;
    if (more <= 0) return found;
    return [
      ...found.slice(0, MAX_WARNINGS),
      { property: "events", reason: `has ${count(more, "more value")} like these` },
    ];
  },
};

function warningsAt(path: string, values: unknown): Problem[] {
  if (typeof values !== "object" || values === null) return [];
  return conversionEvent
    .warnings(values as Record<string, unknown>)
    .map(({ property, reason }) => ({ property: `${path}.${property}`, reason }));
}
