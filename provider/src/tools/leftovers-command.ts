/** `pulumi-advertising leftovers`: takes what somebody has tidied up off the list of what was left live. */
import { parseArgs } from "node:util";
import { printable } from "../base/index.js";
import { markDone } from "./leftovers-done.js";
import { pulumi } from "./pulumi.js";
import { passed } from "./report-input.js";
import { readExport } from "./stack-export.js";
import { refuseUnknownOptions } from "./unknown.js";

export const LEFTOVERS_HELP = `Usage: pulumi-advertising leftovers --done ID [options]

Takes an object off the list that \`report leftovers\` prints, once somebody has tidied it up in the platform's own interface. The state
says so from then on; nothing is sent, and no preview shows a change.

  --done ID              the object's id, as the list has it; ConversionEvent:ID or Advertiser:ID where both have the same one;
                         may be given several times
  --stack NAME           another stack than the selected one
  --cwd FOLDER           the Pulumi program's folder

Exit codes: 0 done, 2 it could not be done, and nothing was changed.`;

/** @returns the exit code. @throws Error in words, for exit code 2. */
export async function leftoversCommand(args: readonly string[]): Promise<number> {
  const one = { type: "string" } as const;
  const options = {
    done: { type: "string", multiple: true, default: [] as string[] },
    stack: one,
    cwd: one,
    help: { type: "boolean", short: "h" },
  } as const;
  refuseUnknownOptions(args, options);
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) {
    console.log(LEFTOVERS_HELP);
    return 0;
  }
  if (values.done.length === 0) {
    throw new Error("it takes --done ID; the list is what `pulumi-advertising report leftovers` prints");
  }
  const where = passed(values);
  const exported = readExport(await pulumi(["stack", "export", ...where]));
  const { stack, done } = markDone(exported, values.done, new Date().toISOString());
  await pulumi(["stack", "import", ...where], JSON.stringify(stack));
  for (const { kind, id, name, key } of done) {
    console.log(`Off the list: ${kind} ${id}${name === "" ? "" : ` "${printable(name)}"`}, which ${key} had left live`);
  }
  return 0;
}
