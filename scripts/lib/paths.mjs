import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The repository's root folder. */
const root = fileURLToPath(new URL("../..", import.meta.url));

/** A path below the repository's root. */
export const inRoot = (...parts) => join(root, ...parts);

/**
 * What runs of ours keep (git-ignored): their stack, their Pulumi home, the sandbox's objects. Safe to delete at any time.
 * LOCAL_FOLDER names another place, for tests that must not touch the usual one.
 */
export const localFolder = resolve(root, process.env.LOCAL_FOLDER || ".pulumi-local");

export const isWindows = process.platform === "win32";

/** A program's file name on this system. */
export const programName = (name) => (isWindows ? `${name}.exe` : name);

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The command `pulumi-advertising`, as the package names it. */
export const commandFile = inRoot("provider", readJson(inRoot("provider", "package.json")).bin["pulumi-advertising"]);

/** Imports files of the package as they were compiled last. */
export const importCompiled = (...paths) =>
  Promise.all(paths.map((path) => import(pathToFileURL(inRoot("provider", "dist", path)).href)));

/** The exact version of the Pulumi CLI that this repository is written for. */
export const cliVersion = readJson(inRoot("package.json")).devDependencies.pulumi;

/**
 * Where the CLI stands that we fetched or built: the folder in which the npm package `pulumi` and Pulumi's Automation API look too.
 * Outside the repository, so that the next clone on this machine finds it.
 */
export const cliFolder = join(process.env.PULUMI_HOME || join(homedir(), ".pulumi"), "versions", cliVersion, "bin");
