/** `pulumi-advertising relocate`: the same platform and account under a new address. */
import { parseArgs } from "node:util";
import { count } from "../base/index.js";
import { moveNotes } from "../files/index.js";
import { accountOf, readSettings } from "../settings/index.js";
import { inventoryPath, journalPath } from "../store/index.js";
import { pulumi, settingOf } from "./pulumi.js";
import { relocate } from "./relocate.js";
import { readExport, stackIn } from "./stack-export.js";
import { refuseUnknownOptions } from "./unknown.js";

export const RELOCATE_HELP = `Usage: pulumi-advertising relocate '<host> <e-mail>' [options]

Declares that the platform and account which this stack's resources were created at, as previews name them, are the same
ones that the settings name now: under a new address, or with a changed e-mail. The state says so from then on; nothing is
sent. To use another platform or account, make a stack of its own instead.

  --stack NAME           another stack than the selected one
  --cwd FOLDER           the Pulumi program's folder

Exit codes: 0 done, 2 it could not be done, and nothing was changed.`;

/** @returns the exit code. @throws Error in words, for exit code 2. */
export async function relocateCommand(args: readonly string[]): Promise<number> {
  const one = { type: "string" } as const;
  const options = { stack: one, cwd: one, help: { type: "boolean", short: "h" } } as const;
  refuseUnknownOptions(args, options);
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) {
    console.log(RELOCATE_HELP);
    return 0;
  }
  const [from, ...rest] = positionals;
  if (from === undefined || rest.length > 0 || !/^\S+ \S+$/.test(from)) {
    throw new Error(
      `it takes '<host> <e-mail>' as the message names them; got ${positionals.length === 0 ? "nothing" : positionals.join(" ")}`,
    );
  }
  const passed = (["stack", "cwd"] as const).flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  );
  const [baseUrl, email, cookieFile] = await Promise.all(
    (["baseUrl", "email", "cookieFile"] as const).map((key) => settingOf(key, passed)),
  );
  const given: Record<string, string | undefined> = { baseUrl, email };
  const { settings, problems } = readSettings({ config: (key) => given[key], environment: {}, mayLackPassword: true });
  if (problems.length > 0) {
    throw new Error(problems.map(({ source, reason }) => `${source} ${reason}`).join("; "));
  }
  const to = accountOf(settings);
  const { stack, moved } = relocate(readExport(await pulumi(["stack", "export", ...passed])), from, to);
  await pulumi(["stack", "import", ...passed], JSON.stringify(stack));
  const name = stackIn(stack);
  const files = name === undefined ? [] : [journalPath("", name), inventoryPath("", name)];
  moveNotes(from, settings, files, cookieFile, values.cwd ?? process.cwd());
  console.log(
    `${count(moved, "resource")} of '${from}' ${moved === 1 ? "is" : "are"} at '${to}' now. Nothing was sent.`,
  );
  return 0;
}
