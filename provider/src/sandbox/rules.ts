/** The platform's own rules for a request's body, as its API page states them: fields, types, defaults. */
import { z } from "zod";
import type { Values } from "../base/index.js";
import type { Noun, SandboxObject } from "./options.js";

const MAX_WINDOW_SECONDS = 2_592_000;
const windowSeconds = z.int().min(1).max(MAX_WINDOW_SECONDS).default(MAX_WINDOW_SECONDS);
const wholeFromZero = z.int().min(0).optional();

export const FIELDS: Readonly<Record<Noun, z.ZodObject>> = {
  advertiser: z.looseObject({ advertiser_name: z.string().min(1) }),
  event: z.looseObject({
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
  }),
};

/**
 * Unknown fields are kept. @param advertisers by id: an event needs an active one.
 * @returns the fields with defaults, and what is wrong with them, each error with its field's name first.
 */
export function checkFields(
  noun: Noun,
  body: Values,
  advertisers: ReadonlyMap<number, SandboxObject>,
): { fields: Values; errors: readonly string[] } {
  // `null` is the default of a known field.
  const present = Object.entries(body).filter(
    ([field, value]) => value !== null || !Object.hasOwn(FIELDS[noun].shape, field),
  );
  const { data: fields, error } = FIELDS[noun].safeParse(Object.fromEntries(present));
  if (fields === undefined) {
    const errors = error.issues.map(({ path, message }) => `${String(path[0])} ${message}`);
    return { fields: {}, errors };
  }
  const { advertiser_id: id } = fields;
  const isActive = (advertisers.get(Number(id)) ?? { active: false }).active !== false;
  if (noun === "advertiser" || isActive) return { fields, errors: [] };
  return {
    fields,
    errors: [`advertiser_id advertiser ${id} is not active, or not there`],
  };
}
