/** The npm package `pulumi-advertising`, with the release's addresses. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inRoot, isWindows, readJson } from "../lib/base.mjs";
import { fetchTool } from "../lib/tools.mjs";
import { writePages } from "./docs.mjs";
import { succeed } from "./run.mjs";

/** @param facts of the release. @param schema of the release, as text. */
export async function packPackage({ facts, schema, out, scratch }) {
  const folder = join(scratch, "npm", "provider");
  const { files } = readJson(inRoot("provider", "package.json"));
  const names = files.filter((name) => !name.startsWith("!") && name !== "docs");
  for (const name of [...names, "package.json"])
    cpSync(inRoot("provider", name), join(folder, name), { recursive: true });
  writePages(join(folder, "docs"), facts);
  writeFileSync(join(folder, "schema.json"), schema);
  const manifest = join(folder, "package.json");
  const { scripts: _, ...published } = JSON.parse(readFileSync(manifest, "utf8"));
  writeFileSync(
    manifest,
    JSON.stringify({ ...published, ...addressesOf(facts) }, undefined, 2),
  );
  await packFolder(folder, out);
}

/** Packs a package's folder, and checks it with publint and attw. @returns the tarball's path. */
export async function packFolder(folder, out) {
  mkdirSync(out, { recursive: true });
  const pack = ["pack", "--silent", "--pack-destination", out];
  const printed = await succeed("npm", pack, { cwd: folder, shell: isWindows });
  const tarball = join(out, printed.trim().split("\n").at(-1));
  const publint = join(await fetchTool("publint"), "src", "cli.js");
  await succeed(process.execPath, [publint, tarball, "--strict"]);
  const attw = join(await fetchTool("@arethetypeswrong/cli"), "dist", "index.js");
  await succeed(process.execPath, [attw, tarball]);
  return tarball;
}

/** The addresses in a package.json. */
export function addressesOf({ repository, homepage }) {
  if (repository === undefined) return {};
  return {
    homepage,
    repository: { type: "git", url: `git+${repository}.git` },
    bugs: `${repository}/issues`,
  };
}
