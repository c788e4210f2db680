/** The rules of a set of conversion events: those of a single one, for each member and for what all members share. */
import { z } from "zod";
import { count } from "../base/index.js";
import { expecting, isName, type Problem, type Rules } from "../rules/index.js";
import { conversionEvent } from "./event-kind.js";
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

export const conversionEventSet: SetKind = {
  name: "ConversionEventSet",
  handler: "conversionEventSet",
  outputs: ["eventIds", "advertiserId", "defaults", "events"],
  member: conversionEvent,
  exactIds: new Set(["advertiserId"]),
  refersTo: conversionEvent.refersTo,
  rules: onceFor((limits) => {
    const { advertiserId, ...own } = withoutDefaults(conversionEvent.rules(limits));
    const { existingId: _, ...shared } = optionalOf(own);
    return {
      advertiserId: advertiserId as z.ZodType,
      defaults: { expected: "an object of arguments that all events share", fields: shared },
      events: { expected: "an object that holds each event under its key", key, members: own },
    };
  }),
  defaultsIn: onceFor((limits) => {
    const rules = Object.entries(conversionEvent.rules(limits));
    return Object.fromEntries(
      rules.flatMap(([name, rule]) => (rule instanceof z.ZodDefault ? [[name, rule.parse(undefined)]] : [])),
    );
  }),
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

/** A member's default is the set's, where it has one: so each member is checked without. */
function withoutDefaults(rules: Rules): Rules {
  return Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [
      name,
      rule instanceof z.ZodDefault ? (rule.unwrap() as z.ZodType).optional() : rule,
    ]),
  );
}

function optionalOf(rules: Rules): Rules {
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule instanceof z.ZodOptional));
}
