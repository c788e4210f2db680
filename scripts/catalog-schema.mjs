/** Writes provider/catalog.schema.json from the rules in provider/src/catalog, as they were built last. */

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { inRoot } from "./lib/base.mjs";

const { catalogJsonSchema } = createRequire(import.meta.url)(inRoot("provider", "dist", "catalog", "judge.js"));
writeFileSync(inRoot("provider", "catalog.schema.json"), `${JSON.stringify(catalogJsonSchema(), undefined, 2)}\n`);
