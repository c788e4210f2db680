import { argumentsOf, inRoot, run, runMain } from "./lib/base.mjs";
import { commandOf } from "./lib/cli.mjs";
import { linesOf, ownNode, pathCommand } from "./lib/user-shell.mjs";
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
  if (exitCode === 0) showNext(commandOf(cli), node);
  return exitCode;
});

function showNext(pulumi, node) {
  // `npx` puts this repository's Node.js first.
  const own = pulumi.startsWith("npx ") ? [] : ownNode(node);
  const commands = [
    ...pathCommand(own),
    [`${pulumi} login`, "where your stacks' state is kept; `--local` for this machine"],
    [`${pulumi} stack init mine`],
    [`${pulumi} config set advertising:baseUrl https://your-platform.example.com`],
    [`${pulumi} config set advertising:email you@example.com`],
    [`${pulumi} config set --secret advertising:password`],
    [`${pulumi} preview`, "shows what would be created, sends nothing"],
    [`${pulumi} up`, "creates it; nothing can be deleted on the platform afterwards"],
  ];
  console.log(`
Next: change examples/shop/index.ts and run \`npm start\` again; or, for your own account, in this folder:
${linesOf(commands)}`);
}
