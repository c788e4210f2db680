/**
 * The JSON Schema of a catalog in YAML or JSON, made of the rules that catalogs are checked against: for editors. It knows what is
 * wrong in one place. What is wrong between two, and the settings of an installation, only the rules themselves know.
 */
import { z } from "zod";
import { advertiser, conversionEventSet, type Limits } from "../kinds/index.js";
import type { Rules } from "../rules/index.js";
import { RULES } from "./lint.js";
import { fieldNamed } from "./spelling.js";
import { advertiserKey, eventKey } from "./written.js";

/** An editor knows no stack: the widest that any installation may have. */
const WIDEST: Limits = { maxWindowSeconds: 2_147_483_647, markField: undefined };

export function catalogJsonSchema(): object {
  const defaults = z.strictObject(written(conversionEventSet.sharedRules(WIDEST))).optional();
  const rules = z.strictObject(written(RULES)).optional();
  const advertisers = z.record(
    advertiserKey,
    z.strictObject({
      ...written(advertiser.rules(WIDEST)),
      defaults,
      events: z.record(eventKey, z.strictObject(written(conversionEventSet.memberRules(WIDEST)))).optional(),
    }),
  );
  const catalog = z
    .strictObject({
      $schema: z.string().optional(),
      defaults,
      rules: z.strictObject({ errors: rules, warnings: rules }).optional(),
      advertisers: advertisers.optional(),
      eventsFile: z
        .string()
        .regex(/\.(csv|tsv)$/)
        .optional(),
    })
    .meta({ title: "Advertisers and conversion events", anyOf: ["advertisers", "eventsFile"].map(required) });
  return z.toJSONSchema(catalog, {
    // The version that editors' plug-ins know.
    target: "draft-7",
    io: "input",
    // A rule that JSON Schema can't express is left out.
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { expected } = jsonSchema as { readonly expected?: string };
      if (expected === undefined) return;
      delete (jsonSchema as Record<string, unknown>).expected;
      jsonSchema.description = `Expected: ${expected}`;
    },
  });
}

function required(name: string) {
  return { required: [name] };
}

/** The rules of an object with the spellings that a file may use for each field. */
function written({ shape }: Rules): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(shape).map(([name, rule]) => {
      const may = fieldNamed(name)?.written(rule as z.ZodType) ?? rule;
      return [name, may as z.ZodType];
    }),
  );
}
