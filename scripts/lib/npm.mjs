import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { Problem } from "./problem.mjs";
import { run } from "./run.mjs";

/** Runs npm by its script: npm.cmd would need a shell on Windows. */
export async function npm(args, options) {
  const script = findNpmScript();
  if (!script) {
    throw new Problem(
      "npm was not found. It comes with Node.js: install Node.js 24 from https://nodejs.org/, then run this command again.",
    );
  }
  return run(nodeOfNpm, [script, ...args], options);
}

/** The Node.js that npm runs on, which is not one inside the node_modules that npm may be about to replace. */
const nodeOfNpm = process.env.npm_node_execpath || process.execPath;

function findNpmScript() {
  const beside = (folder) => [
    join(folder, "node_modules", "npm", "bin", "npm-cli.js"), // Windows
    join(folder, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
    join(folder, "npm"), // a link to the script, wherever a distribution keeps it
  ];
  const folders = [dirname(nodeOfNpm), dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  return [process.env.npm_execpath, ...folders.filter(Boolean).flatMap(beside)]
    .filter((path) => path && existsSync(path))
    .map((path) => realpathSync(path))
    .find((path) => basename(path) === "npm-cli.js"); // under pnpm or yarn, npm_execpath is theirs
}
