import { expectInstalled, inRoot, run, runMain } from "./lib/base.mjs";

const BIOME = "@biomejs/biome";

/** Lint and format: `biome check` with this command's arguments, for `npm run check`, `fix` and `schema`. */
await runMain(async () => {
  expectInstalled(BIOME);
  const args = [inRoot("node_modules", BIOME, "bin", "biome"), "check"];
  const { exitCode } = await run(process.execPath, [...args, ...process.argv.slice(2)], {
    cwd: inRoot(),
  });
  return exitCode;
});
