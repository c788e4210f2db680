/** Reads what Pulumi has saved about a stack: its state, with the operations that are under way or were interrupted. */
import type { Engine } from "./engine.js";
import { runOf } from "./engine-run.js";
import { type ExportedStack, readExport } from "./export.js";
import { type RunPulumi, runPulumi } from "./pulumi.js";

/**
 * Prints a stack's state, whose secrets stay encrypted. The last three options are Pulumi's defaults: the environment
 * (`PULUMI_OPTION_FILE`) may have others.
 */
export const EXPORT = ["stack", "export", "--show-secrets=false", "--file=", "--version="];

export interface RecordChoice {
  /** The engine that runs this process. */
  engine?: Engine | undefined;
  /** `<organization>/<project>/<stack>`, for an engine whose command line names none. */
  stack?: string | undefined;
  /** The folder in which `pulumi` runs if no engine is known. */
  folder: string;
}

/** @throws Error with the reason. */
export async function readRecord(
  { engine, stack, folder }: RecordChoice,
  run: RunPulumi = runPulumi,
): Promise<ExportedStack> {
  const name = runOf(engine?.args ?? []).stack ?? stack;
  const options = name === undefined ? [] : ["--stack", name];
  const printed = await run([...EXPORT, ...options], {
    executable: engine?.executable,
    cwd: engine?.folder ?? folder,
  });
  try {
    return readExport(printed);
  } catch {
    throw new Error("`pulumi stack export` printed no state");
  }
}
