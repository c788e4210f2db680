/** The folders of a release: the one it's written into, which it replaces if that is an earlier release, and the checkout. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { ask, inRoot, Problem } from "../lib/base.mjs";
import { filesIn, SUMS } from "./sums.mjs";

/** The first line of a release's README begins so. */
export const TITLE = "# pulumi-advertising ";

/** @throws Problem if replacing the folder would remove anything but an earlier release. */
export function expectReplaceable(folder) {
  if (!existsSync(folder)) return;
  const reason = whyKept(realpathSync(folder));
  if (reason !== undefined)
    throw new Problem(
      `${folder} ${reason}. Name a new folder, an empty one, or one with an earlier release.`,
    );
}

function whyKept(folder) {
  if (!statSync(folder).isDirectory()) return "is a file";
  const toRoot = relative(folder, realpathSync(inRoot()));
  if (toRoot !== ".." && !toRoot.startsWith(`..${sep}`) && !isAbsolute(toRoot))
    return "holds this repository";
  if (readdirSync(folder).length === 0) return undefined;
  const textOf = (name) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "";
  if (!textOf("README.md").startsWith(TITLE) || textOf(SUMS) === "")
    return "isn't empty, and isn't an earlier release";
  const listed = new Set(
    textOf(SUMS)
      .split("\n")
      .map((line) => line.replace(/^\S+ +/, "")),
  );
  const others = filesIn(folder).filter((file) => file !== SUMS && !listed.has(file));
  if (others.length === 0) return undefined;
  return `has files that its ${SUMS} doesn't list (${others.slice(0, 5).join(", ")})`;
}

/** Puts a release in its place. If that fails, the former one stays. @param beside an own folder next to that place. */
export function replaceFolder(folder, made, beside) {
  expectReplaceable(folder);
  const former = join(beside, "former");
  const hasFormer = existsSync(folder);
  if (hasFormer) renameSync(folder, former);
  try {
    renameSync(made, folder);
  } catch (error) {
    if (hasFormer) renameSync(former, folder);
    throw error;
  }
}

const MOST_LISTED = 10;

/** @returns a warning that names what isn't committed, and so is released all the same; undefined without git. */
export function uncommittedWarning() {
  const args = ["status", "--porcelain", "--untracked-files=all"];
  const lines = (ask("git", args, { cwd: inRoot() }) ?? "").split("\n").filter(Boolean);
  if (lines.length === 0) return undefined;
  const shown = lines.slice(0, MOST_LISTED).map((line) => `  ${line.trim()}`);
  const more = lines.length - shown.length;
  return [
    "Warning: this checkout has changes that aren't committed. They are released too:",
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join("\n");
}
