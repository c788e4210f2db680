/** Reads what Pulumi has saved about a stack: its state, with the operations that are under way or were interrupted. */
import { type ExportedStack, readExport } from "./export.js";
import { type PulumiOptions, type RunPulumi, runPulumi } from "./pulumi.js";

/**
 * Prints a stack's state, whose secrets stay encrypted. The last three options are Pulumi's defaults: the environment
 * (`PULUMI_OPTION_FILE`) may have others.
 */
export const EXPORT = ["stack", "export", "--show-secrets=false", "--file=", "--version="];

/**
 * @param stack `<organization>/<project>/<stack>`, or as the engine's command line names it; undefined for the selected
 * one. @param where whom to ask, in which folder. @throws Error with the reason.
 */
export async function readRecord(
  stack: string | undefined,
  where: PulumiOptions,
  run: RunPulumi = runPulumi,
): Promise<ExportedStack> {
  const options = stack === undefined ? [] : ["--stack", stack];
  const printed = await run([...EXPORT, ...options], where);
  try {
    return readExport(printed);
  } catch {
    throw new Error("`pulumi stack export` printed no state");
  }
}
