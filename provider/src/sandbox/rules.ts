/** The platform's own rules for a request's body, as its API page states them: fields, types, defaults. */
import { z } from "zod";
import type { Noun, SandboxObject } from "./options.js";

export interface FieldFault {
  readonly field: string;
  readonly reason: string;
}

export interface CheckedFields {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly faults: readonly FieldFault[];
  readonly unknown: readonly string[];
}

const MAX_WINDOW_SECONDS = 2_592_000;
const windowSeconds = z.int().min(1).max(MAX_WINDOW_SECONDS).default(MAX_WINDOW_SECONDS);
const wholeFromZero = z.int().min(0).optional();

/** Fields that installations of this kind keep in addition to the documented ones. */
const EXTRA_FIELDS = { active: z.unknown().optional(), alternative_id: z.unknown().optional() };

const FIELDS: Readonly<Record<Noun, z.ZodObject>> = {
  advertiser: z.object({ advertiser_name: z.string().min(1), ...EXTRA_FIELDS }),
  event: z.object({
    event_name: z
      .string()
      .min(1)
      .refine((name) => [...name].length < 100, "must have fewer than 100 characters"),
    advertiser_id: z.int(),
    value: z.number(),
    event_type_id: wholeFromZero,
    segment_id: wholeFromZero,
    count_unique: z.boolean().default(false),
    click_window: windowSeconds,
    view_window: windowSeconds,
    attribution: z.enum(["ALL", "WHITELIST"]).default("ALL"),
    ...EXTRA_FIELDS,
  }),
};

/** @param advertisers by id: an event needs an active one. */
export function checkFields(
  noun: Noun,
  body: Readonly<Record<string, unknown>>,
  advertisers: ReadonlyMap<number, SandboxObject>,
): CheckedFields {
  const present = Object.entries(body).filter(([, value]) => value !== null);
  const { data, error } = FIELDS[noun].safeParse(Object.fromEntries(present));
  const unknown = Object.keys(body).filter(
    (field) => !Object.hasOwn(FIELDS[noun].shape, field),
  );
  if (error !== undefined) {
    const faults = error.issues.map(({ path, message }) => ({
      field: String(path[0]),
      reason: message,
    }));
    return { fields: {}, faults, unknown };
  }
  const faults = noun === "event" ? advertiserFaults(data, advertisers) : [];
  return { fields: data, faults, unknown };
}

function advertiserFaults(
  { advertiser_id: id }: Readonly<Record<string, unknown>>,
  advertisers: ReadonlyMap<number, SandboxObject>,
): readonly FieldFault[] {
  const field = "advertiser_id";
  const advertiser = advertisers.get(Number(id));
  if (advertiser === undefined) return [{ field, reason: `there is no advertiser ${id}` }];
  if (advertiser.active !== false) return [];
  return [{ field, reason: `advertiser ${id} is not active` }];
}
