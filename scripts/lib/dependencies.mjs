import { existsSync } from "node:fs";
import { npm } from "./npm.mjs";
import { inRoot, isWindows, readJson } from "./paths.mjs";
import { Problem } from "./problem.mjs";

/** Installs what package-lock.json lists, unless it is there. */
export async function installDependencies() {
  if (areInstalled()) {
    console.log("Dependencies: as package-lock.json lists them.");
    return;
  }
  console.log("Dependencies: installing what package-lock.json lists …");
  // npm warns that packages want a newer Node than the one it runs on. That one only starts these scripts: all else runs on the
  // `node` package's (see node.mjs). So errors only.
  const { exitCode } = await npm([isOurNodeLocked() ? "install" : "ci", "--include=dev", "--loglevel=error"], {
    cwd: inRoot(),
  });
  if (exitCode !== 0) throw new Problem("npm could not install the dependencies: see its message above.");
}

/** npm's own note of what it installed, written at the end of an installation, compared with what should be there. */
function areInstalled() {
  const installedList = inRoot("node_modules", ".package-lock.json");
  if (!existsSync(installedList)) return false;
  const installed = readJson(installedList).packages;
  const wanted = Object.entries(readJson(inRoot("package-lock.json")).packages).filter(([path]) => path !== "");
  // Version and hash say what is installed; the rest of an entry only describes it. (A workspace's lags behind its package.json when
  // its commands change, and npm does not mind.) Optional packages for other systems are rightly missing.
  return wanted.every(([path, { version, integrity, optional }]) => {
    const entry = installed[path];
    return entry ? entry.version === version && entry.integrity === integrity : optional;
  });
}

/** On Windows a running program's file cannot be removed, as `npm ci` would; `npm install` replaces only what differs. */
function isOurNodeLocked() {
  return isWindows && process.execPath.startsWith(inRoot("node_modules"));
}
