import { inRoot, run, runMain } from "./lib/base.mjs";
import { setUp } from "./setup.mjs";

/**
 * Set-up, then what the provider costs, side by side with one that does nothing and with bare undici, on the Node.js that the package needs.
 * Prints a report, asserts nothing: times depend on the machine, and only ratios of one run can be compared.
 *
 *   npm run bench -- --parts start,client,sizes --rounds 3
 */
await runMain(async () => {
  const { node, cli, env } = await setUp();
  const script = inRoot("scripts", "lib", "bench.mjs");
  return (await run(node, [script, cli, ...process.argv.slice(2)], { cwd: inRoot(), env })).exitCode;
});
