/** Functions of Node's own modules, replaced for a test. */
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/**
 * Replaces functions of one of Node's modules until the test's end, also for imports by name.
 * @param module the module's default import, such as that of `node:fs/promises`.
 * @returns a function that restores the originals.
 */
export function replaceIn<T extends object>(
  module: T,
  replacements: Partial<Record<keyof T, unknown>>,
): () => void {
  const names = Object.keys(replacements) as (keyof T)[];
  const originals = Object.fromEntries(names.map((name) => [name, module[name]]));
  const assign = (functions: object) => {
    Object.assign(module, functions);
    syncBuiltinESMExports();
  };
  assign(replacements);
  const undo = () => assign(originals);
  onTestFinished(undo);
  return undo;
}
