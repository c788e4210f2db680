/** SHA256SUMS of a folder's files, as `sha256sum --check` reads it. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";

export const SUMS = "SHA256SUMS";

/** @returns the paths of all files below a folder, with slashes, in order. */
export function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => !lstatSync(join(folder, file)).isDirectory())
    .map((file) => file.replaceAll(sep, "/"))
    .sort();
}

export function writeSums(folder) {
  const lines = filesIn(folder).map((file) => {
    const sum = createHash("sha256").update(readFileSync(join(folder, file)));
    return `${sum.digest("hex")}  ${file}\n`;
  });
  writeFileSync(join(folder, SUMS), lines.join(""));
}
