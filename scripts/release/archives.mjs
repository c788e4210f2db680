/** The plugin's self-contained archives: Node.js, the bundled plugin, and what starts it, flat, as Pulumi installs them; and the pages. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { inRoot, Problem } from "../lib/base.mjs";
import { writeBundle } from "./bundle.mjs";
import { pagesOf } from "./docs.mjs";
import { nodeFor, nodeLicense, windowsExecutable } from "./executables.mjs";
import { tarOf } from "./tar.mjs";

const LARGEST_BYTES = 45_000_000;
const EXECUTABLE = "pulumi-resource-advertising";
/** It needs no other program, but `readlink` where it's started by a symbolic link. */
export const LAUNCHER = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
exec "\${self%/*}/node" "\${self%/*}/plugin.cjs" "$@"
`;

/**
 * @param platforms such as `linux-amd64`. @param facts of the release. @param schema of the release, as text.
 * @param scratch a folder for files that aren't published. @returns the names of the archives in `out`.
 */
export async function writeArchives({ platforms, facts, schema, out, scratch }) {
  const program = join(scratch, "plugin.cjs");
  const licenses = await writeBundle(program, { facts, schema });
  const common = [
    { name: "LICENSE", content: readFileSync(inRoot("LICENSE")) },
    { name: "LICENSE.node", content: await nodeLicense() },
    { name: "LICENSES.txt", content: licenses },
    ...pagesOf(facts).map((page) => ({ ...page, name: `docs/${page.name}` })),
  ];
  const names = [];
  for (const platform of platforms) {
    const name = `${EXECUTABLE}-v${facts.version}-${platform}.tar.gz`;
    const tar = tarOf([...(await startersFor(platform, program)), ...common]);
    const archive = gzipSync(tar);
    console.log(`  ${name}: ${(archive.length / 1e6).toFixed(1)} MB`);
    if (archive.length > LARGEST_BYTES)
      throw new Problem(`${name} is larger than ${LARGEST_BYTES / 1e6} MB.`);
    writeFileSync(join(out, name), archive);
    names.push(name);
  }
  return names;
}

async function startersFor(platform, program) {
  if (platform.startsWith("windows")) {
    const content = await windowsExecutable(program);
    return [{ name: `${EXECUTABLE}.exe`, content, isExecutable: true }];
  }
  return [
    { name: EXECUTABLE, content: LAUNCHER, isExecutable: true },
    { name: "node", content: await nodeFor(platform), isExecutable: true },
    { name: "plugin.cjs", content: readFileSync(program) },
  ];
}
