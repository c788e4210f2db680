import { inRoot, programName, readJson } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { ask } from "./run.mjs";
import { isAtLeast, readVersion } from "./version.mjs";

/** The path of a Node.js that the package's `engines` accept: the `node` package's, else (on systems it is not made for) the one in use. */
export function findNode() {
  const floor = readVersion(readJson(inRoot("provider", "package.json")).engines.node);
  for (const path of [inRoot("node_modules", "node", "bin", programName("node")), process.execPath]) {
    const version = ask(path, ["--version"]);
    if (isAtLeast(readVersion(version), floor)) {
      console.log(`Node.js: ${version} for the runs.`);
      return path;
    }
  }
  throw new Problem(
    `Node.js ${floor.join(".")} or later is needed. The npm package \`node\` should have brought it, but its install script did not run ` +
      "or has no build for this system.\nRun `npm rebuild node --ignore-scripts=false`, or install Node.js 24 from https://nodejs.org/; then run this command again.",
  );
}
