/** Writes provider/catalog.schema.json, for editors, from the rules in provider/src (catalog, kinds) as last built. */

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { inRoot } from "./lib/base.mjs";

/** The widest limits that any installation may have, since an editor knows no stack. */
const WIDEST = { maxWindowSeconds: 2_147_483_647, markField: undefined };

/** @param modules of the package: zod, kinds, rules, and of the catalog: written and field-values. */
export function catalogJsonSchema(
  { z },
  kinds,
  rules,
  { advertiserKey, eventKey },
  { WINDOW_TEXT },
) {
  const { advertiserRules, entryRules, sharedRules } = kinds;
  /** A rule with the spellings that YAML and JSON may use. */
  const spelled = (rule) => {
    const { form, names } = rules.described(rule);
    const required = rules.unwrapped(rule);
    const union = {
      seconds: () => z.union([required, z.string().regex(WINDOW_TEXT)]),
      "named number": () => z.union([required, z.enum(Object.keys(names))]),
    }[form];
    return union === undefined ? rule : union().optional();
  };
  const written = ({ shape }) =>
    Object.fromEntries(Object.entries(shape).map(([name, rule]) => [name, spelled(rule)]));
  const defaults = z.strictObject(written(sharedRules(WIDEST))).optional();
  const events = z.record(eventKey, z.strictObject(written(entryRules(WIDEST)))).optional();
  const ofAdvertiser = z.strictObject({
    ...written(advertiserRules(WIDEST)),
    defaults,
    events,
  });
  const catalog = z
    .strictObject({
      $schema: z.string().optional(),
      defaults,
      advertisers: z.record(advertiserKey, ofAdvertiser).optional(),
      eventsFile: z.string().optional(),
    })
    .meta({
      title: "Advertisers and conversion events",
      anyOf: [{ required: ["advertisers"] }, { required: ["eventsFile"] }],
    });
  return z.toJSONSchema(catalog, {
    // The version that editors' plug-ins know.
    target: "draft-7",
    io: "input",
    // A rule that JSON Schema can't express is left out.
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { expected } = jsonSchema;
      if (expected === undefined) return;
      delete jsonSchema.expected;
      delete jsonSchema.form;
      delete jsonSchema.names;
      jsonSchema.description = `Expected: ${expected}`;
    },
  });
}

if (process.argv[1] === import.meta.filename) {
  const require = createRequire(inRoot("provider", "dist", "index.js"));
  const rooms = ["kinds/index", "rules/index", "catalog/written", "catalog/field-values"];
  const schema = catalogJsonSchema(
    require("zod"),
    ...rooms.map((room) => require(`./${room}.js`)),
  );
  writeFileSync(
    inRoot("provider", "catalog.schema.json"),
    `${JSON.stringify(schema, undefined, 2)}\n`,
  );
}
