/** The platform's own rules for a request's body, as its API page states them: fields, types, defaults. */
import { z } from "zod";
import type { Values } from "../base/index.js";
import type { Noun, SandboxObject } from "./options.js";

const MAX_WINDOW_SECONDS = 2_592_000;
const windowSeconds = z.int().min(1).max(MAX_WINDOW_SECONDS).default(MAX_WINDOW_SECONDS);
const wholeFromZero = z.int().min(0).optional();

/** Fields that installations of this kind keep in addition to the documented ones. */
const EXTRA_FIELDS = { active: z.unknown().optional(), alternative_id: z.unknown().optional() };

const FIELDS: Readonly<Record<Noun, z.ZodObject>> = {
  advertiser: z.looseObject({ advertiser_name: z.string().min(1), ...EXTRA_FIELDS }),
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
    ...EXTRA_FIELDS,
  }),
};

/**
 * @param advertisers by id: an event needs an active one. @param isStrict refuses unknown fields, which are kept else.
 * @returns the fields with defaults, and what is wrong with them, each error with its field's name first.
 */
export function checkFields(
  noun: Noun,
  body: Values,
  advertisers: ReadonlyMap<number, SandboxObject>,
  isStrict = false,
): { readonly fields: Values; readonly errors: readonly string[] } {
  const rules = FIELDS[noun];
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(rules.shape, field));
  // `null` is the default of a known field.
  const present = Object.entries(body).filter(
    ([field, value]) => value !== null || unknown.includes(field),
  );
  const { data: fields = {}, error } = rules.safeParse(Object.fromEntries(present));
  const issues = error?.issues ?? [];
  const errors = issues.map(({ path, message }) => `${String(path[0])} ${message}`);
  if (isStrict) errors.push(...unknown.map((field) => `${field} is not a known field`));
  if (noun === "event" && error === undefined) {
    const id = Number(fields.advertiser_id);
    const advertiser = advertisers.get(id);
    if (advertiser === undefined) errors.push(`advertiser_id there is no advertiser ${id}`);
    if (advertiser?.active === false)
      errors.push(`advertiser_id advertiser ${id} is not active`);
  }
  return { fields, errors };
}
