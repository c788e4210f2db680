import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import {
  ask,
  cliFolder,
  cliVersion,
  inRoot,
  isAtLeast,
  isWindows,
  localFolder,
  Problem,
  programName,
  run,
} from "./base.mjs";
import { startCliBuild } from "./cli-build.mjs";
import { shellWord } from "./user-shell.mjs";

const INSTALLER = `https://get.pulumi.com/install.${isWindows ? "ps1" : "sh"}`;
const TEN_SECONDS_IN_MS = 10_000;
const TEN_MINUTES_IN_MS = 600_000;

/**
 * Looks for a Pulumi CLI that fits, with its language host for Node.js. Where there is none and its download cannot be
 * reached, a build from source starts at once, beside what the caller does next. Answers `{ finish, stop }`:
 * `finish(node)` resolves to the CLI's folder (found, else downloaded, else built), `stop()` ends an unwanted build.
 */
export async function prepareCli() {
  const found = [...foldersOnPath(), cliFolder].find(holdsFittingCli);
  if (found !== undefined) {
    console.log(`Pulumi CLI: ${versionIn(found)} in ${found}.`);
    return { finish: async () => found, stop: () => {} };
  }
  let build = (await canDownload()) ? undefined : startCliBuild();
  const finish = async (node) => {
    if (build === undefined) {
      await download(node);
      if (holdsFittingCli(cliFolder)) return cliFolder;
      build = startCliBuild();
    }
    await build.finished;
    if (holdsFittingCli(cliFolder)) return cliFolder;
    const advice = "Delete that folder and run this command again.";
    throw new Problem(
      `The Pulumi CLI in ${cliFolder} does not answer as version ${cliVersion}. ${advice}`,
    );
  };
  return { finish, stop: () => build?.stop() };
}

/** How users start this CLI from the repository's folder. `npx pulumi` would download another, unless it's in `cliFolder`. */
export function commandOf(cli) {
  if (foldersOnPath()[0] === cli) return "pulumi";
  return cli === cliFolder ? "npx pulumi" : shellWord(join(cli, programName("pulumi")));
}

/** Folders on PATH with a real CLI. The npm package's command of that name is a script that would start a download. */
function foldersOnPath() {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder || ".", programName("pulumi")))
    .filter((path) => existsSync(path) && !realpathSync(path).endsWith(".js"))
    .map(dirname);
}

/** Whether the CLI in a folder fits, and a language host for Node.js is there or on PATH. */
function holdsFittingCli(folder) {
  const hasLanguageHost = [folder, ...(process.env.PATH ?? "").split(delimiter)].some(
    (place) => place && existsSync(join(place, programName("pulumi-language-nodejs"))),
  );
  const version = hasLanguageHost ? versionIn(folder) : undefined;
  return (
    isAtLeast(version, cliVersion) && version.startsWith(`v${cliVersion.split(".")[0]}.`)
  );
}

function versionIn(folder) {
  const env = {
    ...process.env,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_HOME: join(localFolder, "home"),
  };
  return ask(join(folder, programName("pulumi")), ["version"], { env });
}

/** Whether the site that the npm package `pulumi` fetches from answers. */
async function canDownload() {
  // This Node.js may not know the proxy that this speaks of; the one of the download does.
  if (process.env.NODE_USE_ENV_PROXY) return true;
  try {
    const answer = await fetch(INSTALLER, {
      signal: AbortSignal.timeout(TEN_SECONDS_IN_MS),
    });
    await answer.body?.cancel();
    if (answer.ok) return true;
    tellUnreachable(`HTTP ${answer.status}`);
  } catch (error) {
    tellUnreachable(error.cause?.code ?? error.message);
  }
  return false;
}

/** Has the npm package `pulumi` fetch the official release into the folder where it looks. The caller checks for it. */
async function download(node) {
  console.log(`Pulumi CLI: downloading the official release ${cliVersion} …`);
  const env = {
    ...process.env,
    PULUMI_VERSION: cliVersion,
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  const options = { env, capture: true, timeout: TEN_MINUTES_IN_MS };
  const { exitCode, output } = await run(
    node,
    [inRoot("node_modules", "pulumi", "run.js"), "version"],
    options,
  );
  if (exitCode !== 0)
    tellUnreachable(output.trim().split("\n").at(-1) || "no answer in ten minutes");
}

function tellUnreachable(reason) {
  console.log(
    `Pulumi CLI: the download of the official release is not reachable (${reason}).`,
  );
}
