/** `pulumi-advertising compare`: what one stack declares and another does not. */
import { parseArgs } from "node:util";
import { COMPARISON_FORMATS, compare, isSame } from "./compare.js";
import { contentsOf } from "./contents.js";
import { chosen, stateOf, write } from "./report-input.js";
import { refuseUnknownOptions } from "./unknown.js";

export const COMPARE_HELP = `Usage: pulumi-advertising compare <stack> <stack> [options]

What one stack's state holds and the other's does not, and where arguments differ: by the names of resources in the program,
without ids. Sends nothing and changes nothing.

  --format FORMAT        text (default) or json
  --files                the two are files with what \`pulumi stack export\` printed, instead of stacks (- for standard input)
  --cwd FOLDER           the Pulumi program's folder
  --out FILE             writes to a file instead of standard output

Exit codes: 0 nothing differs, 1 something does, 2 called wrongly, or something could not be read.`;

const OPTIONS = {
  format: { type: "string" },
  files: { type: "boolean" },
  cwd: { type: "string" },
  out: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** @returns the exit code. @throws Error in words, for exit code 2. */
export async function compareCommand(args: readonly string[]): Promise<number> {
  refuseUnknownOptions(args, OPTIONS);
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (values.help) {
    console.log(COMPARE_HELP);
    return 0;
  }
  const [first, second, ...rest] = positionals;
  if (first === undefined || second === undefined || rest.length > 0) {
    throw new Error(`it takes two stacks; got ${positionals.join(" ") || "none"}`);
  }
  const { format = "text", files, cwd, out } = values;
  const inFormat = chosen(COMPARISON_FORMATS, format, "format");
  // One after the other: Pulumi may ask for a passphrase.
  const read = async (name: string) => {
    const { deployment } = await stateOf(files ? { state: name, cwd } : { stack: name, cwd });
    return contentsOf(deployment.resources ?? []);
  };
  const comparison = compare(await read(first), await read(second));
  write(inFormat(comparison, [first, second]), out);
  return isSame(comparison) ? 0 : 1;
}
