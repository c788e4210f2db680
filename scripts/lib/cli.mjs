import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { buildCli } from "./cli-build.mjs";
import { downloadCli } from "./cli-download.mjs";
import { cliFolder, cliVersion, localFolder, programName } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { ask } from "./run.mjs";
import { isAtLeast, readVersion } from "./version.mjs";

/** The folder of a Pulumi CLI that fits, with its language host for Node.js: one that is there, else downloaded, else built. */
export async function provideCli(node) {
  const found = [...foldersOnPath(), cliFolder].find(isFitting);
  if (found) {
    console.log(`Pulumi CLI: ${versionIn(found)} in ${found}.`);
    return found;
  }
  await downloadCli(node);
  if (!isFitting(cliFolder)) await buildCli();
  if (isFitting(cliFolder)) return cliFolder;
  throw new Problem(
    `The Pulumi CLI in ${cliFolder} does not answer as version ${cliVersion}. Delete that folder and run this command again.`,
  );
}

/** Folders on PATH that hold a real CLI. The npm package's command of the same name is a script that would start a download. */
function foldersOnPath() {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder || ".", programName("pulumi")))
    .filter((path) => existsSync(path) && !realpathSync(path).endsWith(".js"))
    .map(dirname);
}

function isFitting(folder) {
  const hasLanguageHost = [folder, ...(process.env.PATH ?? "").split(delimiter)].some(
    (place) => place && existsSync(join(place, programName("pulumi-language-nodejs"))),
  );
  const version = hasLanguageHost ? readVersion(versionIn(folder)) : undefined;
  const wanted = readVersion(cliVersion);
  return isAtLeast(version, wanted) && version[0] === wanted[0];
}

function versionIn(folder) {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_HOME: join(localFolder, "home") };
  return ask(join(folder, programName("pulumi")), ["version"], { env });
}
