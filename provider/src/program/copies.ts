/**
 * What is known of a whole program is known in one copy of this package: a second one would delete what the first adopts. So two are refused.
 */
import type { Finding } from "./findings.js";

/** Where any copy finds what the others noted, whatever its version: so this form is a contract. */
const NOTED: unique symbol = Symbol.for("pulumi-advertising");
const here: { [NOTED]?: { readonly folders: Set<string> } } = globalThis as object;

/** @param folder of this copy. Loaded twice, it is one. */
export function noteCopy(folder: string): void {
  here[NOTED] ??= { folders: new Set() };
  here[NOTED].folders.add(folder);
}

/** @returns what is wrong if there are several. */
export function severalCopies(): Finding[] {
  const folders = [...(here[NOTED]?.folders ?? [])];
  if (folders.length < 2) return [];
  return [
    {
      title: `The program and its provider load ${folders.length} copies of pulumi-advertising, and each knows nothing of the others' resources`,
      lines: [
        ...folders,
        "The whole program needs one copy: the program has it in dependencies, and a library in peerDependencies alone.",
        "These show who brings which: `npm ls pulumi-advertising`, `pnpm why pulumi-advertising`, `yarn why pulumi-advertising`.",
        "npm: run `npm uninstall pulumi-advertising` in the library's folder, and write it into its peerDependencies after that.",
        "pnpm: move it there, give all the same versions of @pulumi/pulumi and typescript, and run `pnpm install`.",
        "yarn: move it there, and run `yarn install`.",
        "If the library is not yours: install a version that it accepts, then run `npm dedupe`, `pnpm dedupe` or `yarn dedupe`.",
      ],
      problems: 1,
    },
  ];
}
