import { argumentsOf, inRoot, run, runMain } from "./lib/base.mjs";
import { setUp } from "./setup.mjs";

const USAGE = `Usage: npm run bench -- [options]

  --parts LIST   only these of start,client,sizes,failures
  --rounds N     each figure is the median of so many (default: 3)`;

/**
 * Set-up, then what the provider costs, beside one that does nothing and bare undici, on the Node.js the package needs.
 * Prints a report, asserts nothing: times depend on the machine, and only ratios of one run can be compared.
 *
 *   npm run bench -- --parts start,client,sizes,failures --rounds 3
 */
await runMain(async () => {
  const options = { parts: { type: "string" }, rounds: { type: "string" } };
  argumentsOf(USAGE, { options });
  const { node, cli, env } = await setUp();
  const script = inRoot("scripts", "lib", "bench.mjs");
  return (await run(node, [script, cli, ...process.argv.slice(2)], { cwd: inRoot(), env }))
    .exitCode;
});
