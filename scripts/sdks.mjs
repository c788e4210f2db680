import { resolve } from "node:path";
import { inRoot, languagesFolder, programName, run, runMain } from "./lib/base.mjs";
import { buildLanguages } from "./lib/cli-build.mjs";

/** Writes the SDKs of the plugin's schema, each language in its folder: `npm run sdks`, or `npm run sdks -- FOLDER`. */
await runMain(async () => {
  await buildLanguages();
  const [folder = inRoot("sdks")] = process.argv.slice(2);
  const program = `${languagesFolder}/${programName("sdk-build")}`;
  const schema = inRoot("provider", "schema.json");
  const { exitCode } = await run(program, [schema, resolve(folder)]);
  return exitCode;
});
