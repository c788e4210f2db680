/** The pages of `docs/`, as a package or an archive has them: alone. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inRoot } from "../lib/base.mjs";

/**
 * @param facts of the release.
 * @returns `{ name, content }` of each page. A link that leaves the folder leads to the repository, if one is known; else
 * its text stays.
 */
export function pagesOf({ repository, version }) {
  const outside = repository ? `[$1](${repository}/blob/v${version}/$2)` : "$1";
  return readdirSync(inRoot("docs"))
    .sort()
    .map((name) => {
      const text = readFileSync(inRoot("docs", name), "utf8");
      return { name, content: text.replace(/\[([^\]]*)\]\(\.\.\/([^)]+)\)/g, outside) };
    });
}

/** Writes the pages into a folder that has nothing else; another process may do the same. @param facts of the release. */
export function writePages(folder, facts) {
  mkdirSync(folder, { recursive: true });
  const pages = pagesOf(facts);
  const others = readdirSync(folder).filter(
    (file) => !pages.some(({ name }) => name === file),
  );
  for (const file of others) rmSync(join(folder, file), { recursive: true, force: true });
  for (const { name, content } of pages) {
    const path = join(folder, name);
    if (!existsSync(path) || readFileSync(path, "utf8") !== content)
      writeFileSync(path, content);
  }
}
