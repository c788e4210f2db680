import { mkdirSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { prepareCli } from "./lib/cli.mjs";
import { installDependencies } from "./lib/dependencies.mjs";
import { runEnvironment } from "./lib/environment.mjs";
import { findNode } from "./lib/node.mjs";
import { buildPackage } from "./lib/package-build.mjs";
import { localFolder } from "./lib/paths.mjs";
import { Problem, runMain } from "./lib/problem.mjs";

/**
 * Makes a fresh clone ready to run; the second time it only looks. Answers `{ node, cli, env }`: the path of a Node.js that fits, the
 * folder of the Pulumi CLI, and the environment for runs. Throws a `Problem` that says what to install where something is missing.
 */
export async function setUp() {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Problem(`Node.js 20 or later is needed to start with (this is ${process.version}): https://nodejs.org/`);
  }
  mkdirSync(localFolder, { recursive: true });
  const preparation = await prepareCli();
  try {
    await installDependencies();
    const node = findNode();
    await buildPackage(node);
    const cli = await preparation.finish(node);
    return { node, cli, env: runEnvironment(node, cli) };
  } catch (error) {
    await preparation.stop();
    throw error;
  }
}

const isStartedDirectly = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isStartedDirectly) await runMain(async () => void (await setUp()));
