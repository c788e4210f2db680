/** Where a release's files lie: what a language's people install in a folder of theirs, or all in one folder (`--flat`). */
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { succeed } from "./run.mjs";

const FOLDERS = {
  python: /^pulumi_advertising-/,
  nodejs: /^pulumi-advertising-sdk-\d/,
  go: /^pulumi-advertising-sdk-go-/,
  nuget: /\.nupkg$/,
};

/** @returns a file's path in the release's folder. */
export function placeOf(name, isFlat) {
  if (isFlat) return name;
  const folder = Object.keys(FOLDERS).find((each) => FOLDERS[each].test(name));
  return folder ? `${folder}/${name}` : name;
}

/** Moves the files of a flat folder to their places; the archive of the Go module becomes a folder. */
export async function arrange(out) {
  for (const name of readdirSync(out)) {
    const path = join(out, placeOf(name));
    mkdirSync(dirname(path), { recursive: true });
    renameSync(join(out, name), path);
    if (!FOLDERS.go.test(name)) continue;
    await succeed("tar", ["-xzf", name], { cwd: dirname(path) });
    rmSync(path);
  }
}
