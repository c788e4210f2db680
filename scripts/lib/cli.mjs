import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { startCliBuild } from "./cli-build.mjs";
import { canDownload, downloadCli } from "./cli-download.mjs";
import { cliFolder, cliVersion, localFolder, programName } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { ask } from "./run.mjs";
import { isAtLeast, readVersion } from "./version.mjs";

/**
 * Looks for a Pulumi CLI that fits, with its language host for Node.js. Where there is none and no official release can be had, the
 * build from source starts at once, beside whatever the caller does next. Answers `{ finish, stop }`: `finish(node)` resolves to the
 * CLI's folder (found, else downloaded, else built), `stop()` ends a build that is no longer wanted.
 */
export async function prepareCli() {
  for (const folder of [...foldersOnPath(), cliFolder]) {
    const version = fittingVersion(folder);
    if (version) return { finish: async () => tell(folder, version), stop: async () => {} };
  }
  let build = (await canDownload()) ? undefined : startCliBuild();
  const finish = async (node) => {
    if (!build) {
      await downloadCli(node);
      if (fittingVersion(cliFolder)) return cliFolder;
      build = startCliBuild();
    }
    build.show();
    await build.finished;
    if (fittingVersion(cliFolder)) return cliFolder;
    throw new Problem(
      `The Pulumi CLI in ${cliFolder} does not answer as version ${cliVersion}. Delete that folder and run this command again.`,
    );
  };
  return { finish, stop: async () => build?.stop() };
}

function tell(folder, version) {
  console.log(`Pulumi CLI: ${version} in ${folder}.`);
  return folder;
}

/** Folders on PATH that hold a real CLI. The npm package's command of the same name is a script that would start a download. */
function foldersOnPath() {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder || ".", programName("pulumi")))
    .filter((path) => existsSync(path) && !realpathSync(path).endsWith(".js"))
    .map(dirname);
}

/** The version of the CLI in a folder, if that fits and a language host for Node.js is there or on PATH. */
function fittingVersion(folder) {
  const hasLanguageHost = [folder, ...(process.env.PATH ?? "").split(delimiter)].some(
    (place) => place && existsSync(join(place, programName("pulumi-language-nodejs"))),
  );
  const answer = hasLanguageHost ? versionIn(folder) : undefined;
  const version = readVersion(answer);
  const wanted = readVersion(cliVersion);
  return isAtLeast(version, wanted) && version[0] === wanted[0] ? answer : undefined;
}

function versionIn(folder) {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_HOME: join(localFolder, "home") };
  return ask(join(folder, programName("pulumi")), ["version"], { env });
}
