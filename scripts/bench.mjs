import { inRoot } from "./lib/paths.mjs";
import { runMain } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { setUp } from "./setup.mjs";

/**
 * Set-up, then what the provider costs, side by side with one that does nothing, on the Node.js that the package needs. Prints a report,
 * asserts nothing: times depend on the machine, and only ratios of one run can be compared.
 *
 *   npm run bench -- --parts floor,client --pairs 5 --events 300
 *   npm run bench -- --parts sizes --peer      with OpenTofu or Terraform and a generic REST provider, where they are on the PATH
 */
await runMain(async () => {
  const { node, cli, env } = await setUp();
  const script = inRoot("scripts", "lib", "bench-run.mjs");
  const { exitCode } = await run(node, [script, cli, ...process.argv.slice(2)], { cwd: inRoot(), env });
  return exitCode;
});
