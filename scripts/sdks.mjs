import { resolve } from "node:path";
import { inRoot, runMain } from "./lib/base.mjs";
import { factsOf } from "./release/facts.mjs";
import { schemaOf } from "./release/schema.mjs";
import { writeSdks } from "./release/sdks.mjs";

/** Writes the SDKs of the plugin's schema, each language in its folder: `npm run sdks`, or `npm run sdks -- FOLDER`. */
await runMain(async () => {
  const [folder = inRoot("sdks")] = process.argv.slice(2);
  await writeSdks(schemaOf(factsOf(process.env)), resolve(folder));
});
