/** Reads what Pulumi has saved about a stack: its state, with the operations that are under way or were interrupted. */
import { DEFAULT_ORGANIZATION } from "../state/index.js";
import { allResources, readExport } from "./export.js";
import { type PulumiOptions, runPulumi } from "./pulumi.js";

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
  run = runPulumi,
) {
  const readStack = async (...options: readonly string[]) => {
    const printed = await run([...EXPORT, ...options], where);
    try {
      return readExport(printed);
    } catch {
      throw new Error("`pulumi stack export` printed no state");
    }
  };
  if (stack === undefined) return readStack();
  try {
    return await readStack("--stack", stack);
  } catch (error) {
    const [organization, project, name] = stack.split("/");
    // Perhaps the name comes from a URN, which has no organization. With a cause, Pulumi has given no answer.
    if (organization !== DEFAULT_ORGANIZATION || (error as Error).cause) throw error;
    const selected = await readStack().catch(() => undefined);
    const start = `urn:pulumi:${name}::${project}::`;
    const isMeant =
      selected && allResources(selected).some(({ urn }) => urn.startsWith(start));
    if (isMeant) return selected;
    throw error;
  }
}
