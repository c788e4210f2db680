import { argumentsOf, inRoot, run, runMain } from "./lib/base.mjs";
import { setUp } from "./setup.mjs";

/** Set-up, then the main job, on the Node.js that the package needs: this script itself may run on an older one. */
await runMain(async () => {
  argumentsOf(`Usage: npm start

Set-up, then a real \`pulumi up\` of Pulumi.yaml against a sandbox, and what then lives there.`);
  const { node, cli, env } = await setUp({ forTests: false });
  const { exitCode } = await run(node, [inRoot("scripts", "lib", "shop.mjs"), cli], {
    cwd: inRoot(),
    env,
  });
  return exitCode;
});
