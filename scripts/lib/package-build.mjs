import { chmodSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { npm } from "./npm.mjs";
import { inRoot, readJson } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { run } from "./run.mjs";

/** Compiles provider/ into provider/dist, if anything in it changed, and makes its commands ready to be started. */
export async function buildPackage(node) {
  removeLeftovers();
  console.log("Package: compiling what changed in provider/ …");
  const { exitCode } = await run(node, [inRoot("node_modules", "typescript", "bin", "tsc"), "--build", "provider"], {
    cwd: inRoot(),
  });
  if (exitCode !== 0) throw new Problem("The package in provider/ does not compile: see the messages above.");

  const { name, bin = {} } = readJson(inRoot("provider", "package.json"));
  const commands = Object.entries(bin).filter(([, file]) => existsSync(inRoot("provider", file)));
  for (const [, file] of commands) {
    const path = inRoot("provider", file);
    if ((statSync(path).mode & 0o111) === 0) chmodSync(path, 0o755);
  }
  // npm links only commands whose files exist, and at installation dist did not. Without the link, npx would look in the registry.
  if (commands.some(([command]) => !existsSync(inRoot("node_modules", ".bin", command)))) {
    await npm(["rebuild", name, "--ignore-scripts", "--silent"], { cwd: inRoot() });
  }
}

/** What was compiled from sources that are gone would be published with the rest. */
function removeLeftovers() {
  const compiled = inRoot("provider", "dist");
  if (!existsSync(compiled)) return;
  for (const file of readdirSync(compiled, { recursive: true })) {
    const source = inRoot("provider", "src", file.replace(/(\.d)?\.[jt]s$/, ".ts"));
    if (/\.[jt]s$/.test(file) && !existsSync(source)) rmSync(inRoot("provider", "dist", file));
  }
}
