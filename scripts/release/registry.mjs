/** Packages of the npm registry that only a release needs: pinned, fetched when they are used, kept in `.pulumi-local`. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { isWindows, localFolder, Problem, run } from "../lib/base.mjs";

/** @param pinned `{ name, version, integrity }`. @returns the package's tar archive. */
export async function fetchPackage({ name, version, integrity }) {
  const folder = join(localFolder, "release");
  const file = join(folder, `${name}-${version}.tgz`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    console.log(`  fetching ${name} ${version}`);
    const args = ["pack", `${name}@${version}`, "--pack-destination", folder];
    const quiet = ["--prefer-offline", "--silent"];
    const { exitCode } = await run("npm", [...args, ...quiet], { shell: isWindows });
    if (exitCode !== 0) throw new Problem(`npm could not fetch ${name}@${version}.`);
  }
  const bytes = readFileSync(file);
  const actual = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (actual !== integrity)
    throw new Problem(`${file} isn't what is pinned: ${actual}. Remove it and try again.`);
  return gunzipSync(bytes);
}
