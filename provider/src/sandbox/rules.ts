/**
 * The platform's own rules for a request's body, as its API page states them: fields, types, defaults.
 */
import type { SandboxObject } from "./options.js";

/** A fault in one field. */
export interface FieldFault {
  readonly field: string;
  readonly sentence: string;
}

export interface CheckedFields {
  readonly fields: Record<string, unknown>;
  readonly faults: readonly FieldFault[];
  readonly unknown: readonly string[];
}

interface FieldRule {
  readonly required?: true;
  readonly default?: unknown;
  readonly fits: (value: unknown) => boolean;
  readonly says: string;
}

const isInteger = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);

/** Fields that installations of this kind keep in addition to the documented ones. */
const EXTRA_FIELDS = new Set(["active", "alternative_id"]);

const advertiserRules: Readonly<Record<string, FieldRule>> = {
  advertiser_name: {
    required: true,
    fits: (value) => typeof value === "string" && value !== "",
    says: "must be a text",
  },
};

function eventRules(maxWindowSeconds: number): Readonly<Record<string, FieldRule>> {
  const window: FieldRule = {
    default: maxWindowSeconds < 2_592_000 ? maxWindowSeconds : 2_592_000,
    fits: (value) => isInteger(value) && value > 0 && value <= maxWindowSeconds,
    says: `must be a positive number of seconds, at most ${maxWindowSeconds}`,
  };
  return {
    event_name: {
      required: true,
      fits: (value) => typeof value === "string" && value !== "" && [...value].length < 100,
      says: "must have fewer than 100 characters",
    },
    advertiser_id: { required: true, fits: isInteger, says: "must be a valid advertiser" },
    event_type_id: { fits: (value) => isInteger(value) && value >= 0, says: "must be a known event type" },
    segment_id: { fits: (value) => isInteger(value) && value >= 0, says: "must be a valid segment" },
    value: { required: true, fits: (value) => typeof value === "number", says: "must be a number" },
    count_unique: { default: false, fits: (value) => typeof value === "boolean", says: "must be true or false" },
    click_window: window,
    view_window: window,
    attribution: {
      default: "ALL",
      fits: (value) => value === "ALL" || value === "WHITELIST",
      says: "must be ALL or WHITELIST",
    },
  };
}

export function checkAdvertiser(body: Readonly<Record<string, unknown>>): CheckedFields {
  return checkFields(body, advertiserRules);
}

/** @param advertisers those that exist, to be looked up by `advertiser_id`. */
export function checkEvent(
  body: Readonly<Record<string, unknown>>,
  maxWindowSeconds: number,
  advertisers: ReadonlyMap<number, SandboxObject>,
): CheckedFields {
  const checked = checkFields(body, eventRules(maxWindowSeconds));
  const id = body.advertiser_id;
  const faults = [...checked.faults];
  if (isInteger(id)) {
    const advertiser = advertisers.get(id);
    if (advertiser === undefined) faults.push({ field: "advertiser_id", sentence: `there is no advertiser ${id}` });
    else if (advertiser.active === false) {
      faults.push({ field: "advertiser_id", sentence: `advertiser ${id} is not active` });
    }
  }
  return { ...checked, faults };
}

function checkFields(
  body: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, FieldRule>>,
): CheckedFields {
  const fields: Record<string, unknown> = {};
  const faults: FieldFault[] = [];
  for (const [field, rule] of Object.entries(rules)) {
    const value = body[field] ?? rule.default;
    if (value === undefined) {
      if (rule.required) faults.push({ field, sentence: "is required" });
    } else if (rule.fits(value)) fields[field] = value;
    else faults.push({ field, sentence: rule.says });
  }
  const others = Object.keys(body).filter((field) => !Object.hasOwn(rules, field));
  for (const field of others) if (EXTRA_FIELDS.has(field)) fields[field] = body[field];
  return { fields, faults, unknown: others.filter((field) => !EXTRA_FIELDS.has(field)) };
}
