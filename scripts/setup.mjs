import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  argumentsOf,
  ask,
  cliFolder,
  inRoot,
  isAtLeast,
  isWindows,
  languagesFolder,
  localFolder,
  Problem,
  programName,
  readJson,
  run,
  runMain,
} from "./lib/base.mjs";
import { prepareCli } from "./lib/cli.mjs";

const manifest = readJson(inRoot("provider", "package.json"));

/**
 * Makes a fresh clone ready to run; later calls only check. Returns `{ node, cli, env }`: the path of a fitting Node.js,
 * the Pulumi CLI's folder, and the environment for runs. Throws a `Problem` that says what must be installed.
 * @param forTests also installs what only tests and changes of this repository need.
 */
export async function setUp({ forTests = true } = {}) {
  if (!isAtLeast(process.version, "20.0")) {
    throw new Problem(
      `Node.js 20 or later is needed to start with (this is ${process.version}): https://nodejs.org/`,
    );
  }
  mkdirSync(localFolder, { recursive: true });
  if (!areInstalled(forTests)) sayWhere(forTests);
  const preparation = await prepareCli();
  try {
    await installDependencies(forTests);
    const node = findNode();
    await buildPackage(node);
    const cli = await preparation.finish(node);
    return { node, cli, env: runEnvironment(node, cli) };
  } catch (error) {
    preparation.stop();
    throw error;
  }
}

/** Before anything is written, with sizes as measured. */
function sayWhere(forTests) {
  const folder = forTests ? "0.45 GB, and 0.2 GB for single tests" : "0.35 GB at most";
  console.log(`Set-up puts into this folder: ${folder}.
Into the home folder: npm's cache; without a fitting Pulumi CLI, this CLI (${cliFolder}, 0.1 to 0.4 GB); and Go's caches,
if that has to be built (2 GB).`);
}

async function installDependencies(forTests) {
  if (areInstalled(forTests)) {
    console.log("Dependencies: as package-lock.json lists them.");
    return;
  }
  console.log("Dependencies: installing what package-lock.json lists …");
  // Windows: `npm ci` would remove the program's file that runs this. Errors only: npm warns that packages want a newer
  // Node.js than the one that starts these scripts, but all else runs on the `node` package's.
  const { exitCode } = await npm(
    isWindows ? "install" : "ci",
    forTests ? "--include=dev" : "--omit=dev",
    ...["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"],
  );
  if (exitCode !== 0)
    throw new Problem("npm could not install the dependencies: see its message above.");
  // Headers and manuals of Node.js, and npm again: 70 MB that the `node` package leaves beside the program.
  rmSync(inRoot("node_modules", "node", "node_modules"), { recursive: true, force: true });
}

/** npm's own note of what it installed, written at the end of an installation, compared with what should be there. */
function areInstalled(forTests) {
  const installedList = inRoot("node_modules", ".package-lock.json");
  if (!existsSync(installedList)) return false;
  const installed = readJson(installedList).packages;
  const wanted = Object.entries(readJson(inRoot("package-lock.json")).packages).filter(
    ([path, { dev, devOptional }]) => path !== "" && (forTests || !(dev || devOptional)),
  );
  // Optional packages for other systems are rightly missing.
  return wanted.every(([path, { version, integrity, optional }]) => {
    const entry = installed[path];
    return entry ? entry.version === version && entry.integrity === integrity : optional;
  });
}

/** Runs npm: the one that started this script, if npm did. */
function npm(...args) {
  const { npm_execpath: script, npm_node_execpath: node = process.execPath } = process.env;
  if (script?.endsWith("npm-cli.js"))
    return run(node, [script, ...args], { cwd: inRoot() }); // under pnpm or yarn it is theirs
  return run("npm", args, { cwd: inRoot(), shell: isWindows });
}

/**
 * A Node.js that `engines` accepts: the `node` package's, else (on systems it is not made for) the one in use. With
 * OWN_NODE only the one in use, to test with each version that the package supports.
 */
function findNode() {
  const packaged = inRoot("node_modules", "node", "bin", programName("node"));
  const places = process.env.OWN_NODE ? [] : [packaged];
  for (const path of [...places, process.execPath]) {
    const version = ask(path, ["--version"]);
    if (!isAtLeast(version, manifest.engines.node)) continue;
    console.log(`Node.js: ${version} for the runs.`);
    return path;
  }
  throw new Problem(
    `Node.js ${manifest.engines.node} is needed. The npm package \`node\` should have brought it, but its install script did not run or ` +
      "has no build for this system.\nRun `npm rebuild node --ignore-scripts=false`, or install Node.js 24 from https://nodejs.org/; " +
      "then run this command again.",
  );
}

/** Compiles provider/ into provider/dist, if anything in it changed, and makes its commands ready to be started. */
async function buildPackage(node) {
  console.log("Package: compiling what changed in provider/ …");
  removeLeftovers();
  const tsc = inRoot("node_modules", "typescript", "bin", "tsc");
  const { exitCode } = await run(node, [tsc, "--build", "provider"], { cwd: inRoot() });
  if (exitCode !== 0)
    throw new Problem("The package in provider/ does not compile: see the messages above.");
  for (const file of Object.values(manifest.bin))
    chmodSync(inRoot("provider", file), 0o755);
  // npm links only commands whose files exist, and at installation dist did not. Without a link, npx asks the registry.
  const areLinked = Object.keys(manifest.bin).every((command) =>
    existsSync(inRoot("node_modules", ".bin", command)),
  );
  if (!areLinked) await npm("rebuild", manifest.name, "--ignore-scripts", "--silent");
}

/** Removes the output of deleted source files, which would be published with the rest. */
function removeLeftovers() {
  const compiled = inRoot("provider", "dist");
  for (const file of existsSync(compiled)
    ? readdirSync(compiled, { recursive: true })
    : []) {
    const source = inRoot("provider", "src", file.replace(/(\.d)?\.[jt]s$/, ".ts"));
    if (/\.[jt]s$/.test(file) && !existsSync(source)) rmSync(join(compiled, file));
  }
}

/**
 * The environment of runs of ours: Node.js and the CLI first on PATH, and none of the user's own Pulumi or advertising
 * settings, so that no run touches the user's login, stacks or ad account.
 */
function runEnvironment(node, cli) {
  const path = [
    dirname(node),
    cli,
    inRoot("node_modules", ".bin"),
    process.env.PATH,
    inRoot("node_modules", "@pulumi", "pulumi"), // pulumi-resource-pulumi-nodejs, for a CLI that came without it
  ];
  const isOthers = (name) => /^(PULUMI|ADVERTISING)_|^PATH$|^NO_PROXY$/i.test(name); // Windows spells it Path
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOthers(name))),
    // Pulumi's Node.js side would ask an https_proxy in small letters for its own engine on this machine.
    no_proxy: [process.env.no_proxy || process.env.NO_PROXY, "127.0.0.1", "localhost"]
      .filter(Boolean)
      .join(","),
    PATH: path.filter(Boolean).join(delimiter),
    PULUMI_HOME: join(localFolder, "home"),
    LANGUAGES_FOLDER: languagesFolder,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true", // all that is needed is there: a missing plugin is a mistake, not a download
  };
}

const isStartedDirectly = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isStartedDirectly)
  await runMain(async () => {
    argumentsOf(
      "Usage: npm run setup\n\nInstalls and builds what `npm start` and `npm test` need.",
    );
    await setUp();
  });
