import { resolve } from "node:path";
import { argumentsOf, calledFrom, inRoot, runMain } from "./lib/base.mjs";
import { factsOf } from "./release/facts.mjs";
import { schemaOf } from "./release/schema.mjs";
import { writeSdks } from "./release/sdks.mjs";

const USAGE = `Usage: npm run sdks -- [FOLDER]

Writes the SDKs of the plugin's schema, each language in its folder (default: sdks).`;

await runMain(async () => {
  const { positionals } = argumentsOf(USAGE, { allowPositionals: true });
  const [folder = inRoot("sdks")] = positionals;
  await writeSdks(schemaOf(factsOf(process.env)), resolve(calledFrom, folder));
});
