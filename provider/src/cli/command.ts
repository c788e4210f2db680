#!/usr/bin/env node
/**
 * `pulumi-advertising`, the command for everything beside `pulumi up`. This file has the entry point, and the commands
 * that read no state: `login` and `validate`. `cli/` promises that no command sends a create, and that only `pending`
 * resolves creates: in the state by `pulumi refresh`, and in this machine's journal. It may import every other module
 * but `program`; an HTTP or cookie library is loaded only when a command needs it.
 */
import {
  AdvertisingError,
  ArgumentsError,
  COMMAND,
  count,
  packageVersion,
  SettingsError,
  UsageError,
  versionProblem,
  withPage,
} from "../base/index.js";
import { type CatalogContent, describeAlike, readCatalog } from "../catalog/index.js";
import { readSettings } from "../settings/index.js";
import {
  type Command,
  chosen,
  command,
  type Formats,
  jsonOf,
  SEVERAL,
  TEXT,
} from "./harness.js";
import { pendingCommand as pending } from "./pending.js";
import { STACK_OPTIONS } from "./pulumi.js";
import { leftovers, PLACEHOLDERS, report } from "./reports.js";

const HELP_TEXT = `Usage: ${COMMAND} <command> [options]
       ${COMMAND} --help | --version

login                    logs in, and keeps the session
pending                  lists the unresolved creates, and resolves them; X is a name from a
                         message, a URN, or (not for --created) a set
  --created X=ID         X was created, with the id ID
  --not-created X        X was not created: the next up creates it
  --forget X             drops the record of X; nothing changes on the platform
  --search               resolves what a known search finds or rules out
  --clear                clears Pulumi's record of interrupted creates
leftovers                lists the stack's unmanaged live objects
  --before EXPORT        also what left since this export (repeatable)
  --format FORMAT        text (default), json or csv
report ids               the ids of advertisers and events
  --format FORMAT        json (default) or csv
  --template URL         adds the address of each event's tag; the URL can contain
                         ${PLACEHOLDERS}
report page              one HTML file of all objects
report comment           Markdown for a pull request, from \`pulumi preview --json --show-sames\`
  --preview FILE         instead of standard input
  --fail-on WHAT         exit code 1 on rename, replace or rename,replace
validate FILE            lists every mistake in a catalog
  --ignore-column NAME   skips this column (repeatable)
  --format FORMAT        text (default) or json

For login, pending, leftovers and reports:
  --stack NAME           default: the selected one
  --cwd FOLDER           the program's folder
For pending, leftovers and reports:
  --state FILE           what \`pulumi stack export\` printed (- for standard input)
For leftovers and reports:
  --out FILE             writes to FILE`;

const login = command(STACK_OPTIONS, async (choice) => {
  const { logInAndReport } = await import("./platform.js");
  try {
    console.log(await logInAndReport(choice));
    return 0;
  } catch (error) {
    if (!(error instanceof AdvertisingError)) throw error;
    console.error(withPage(error.message, error));
    return 1;
  }
});

const FINDINGS: Formats<CatalogContent, [file: string, errors: number]> = {
  text: ({ advertisers, events, findings }, file, errors) => {
    const lines = ["error", "warning"].flatMap((level) => {
      const alike = findings.filter((finding) => finding.level === level);
      return describeAlike(alike).map((line) => `${level}: ${line}\n`);
    });
    const counts = [
      count(advertisers.length, "advertiser"),
      count(events.length, "conversion event"),
      count(errors, "error"),
      count(findings.length - errors, "warning"),
    ];
    let summary = `${file}: ${counts.join(", ")}`;
    if (errors > 0) summary = withPage(summary, ArgumentsError);
    return `${lines.join("")}${summary}\n`;
  },
  /** A contract: fields are only added. */
  json: ({ advertisers, events, findings }, file, errors) => {
    const listed = findings.map(({ source, level, subject, property, reason }) => ({
      level,
      ...source,
      subject,
      property,
      message: reason,
    }));
    return jsonOf({
      file,
      ok: errors === 0,
      advertisers: advertisers.length,
      events: events.length,
      findings: listed,
    });
  },
};

const validate = command(
  { format: { ...TEXT, default: "text" }, "ignore-column": SEVERAL },
  async ({ format, "ignore-column": ignored }, file) => {
    const inFormat = chosen(FINDINGS, format, "format");
    const { settings, problems } = readSettings({
      config: () => undefined,
      environment: process.env,
      mayLackAll: true,
    });
    const faults = problems.map(({ source, reason }) => `${source} ${reason}`);
    if (faults.length > 0) throw new SettingsError(faults.join("; "));
    const catalog = readCatalog(file, settings, ignored);
    const errors = catalog.findings.filter(({ level }) => level === "error").length;
    process.stdout.write(inFormat(catalog, file, errors));
    return Math.min(errors, 1);
  },
  true,
);

const COMMANDS = { leftovers, login, pending, report, validate };

/** The parts of the text that are about this command; all of it if there is none. */
function helpOn(name: string) {
  if (!Object.hasOwn(COMMANDS, name)) return HELP_TEXT;
  const parts = HELP_TEXT.split(/^(?! )/m);
  return parts
    .filter((part) => RegExp(`^(For.*)?${name}`).test(part))
    .join("")
    .trim();
}

async function main(args: readonly string[]) {
  const old = versionProblem();
  if (old !== undefined) throw new Error(old);
  const [name = "", ...rest] = args;
  if (args.includes("--help") || args.includes("-h")) console.log(helpOn(name));
  else if (name === "--version") console.log(packageVersion());
  else return chosen<Command>(COMMANDS, name, "command")(rest);
  return 0;
}

function fail(error: Error & { code?: string }) {
  const cause = error instanceof AdvertisingError ? error : UsageError;
  let text = `pulumi-advertising: ${error.message}`;
  // Errors of Node's `parseArgs` are wrong usage too.
  if (error instanceof UsageError || error.code?.startsWith("ERR_PARSE_ARGS"))
    text += `\nSee \`${COMMAND} --help\``;
  console.error(withPage(text, cause));
  process.exitCode = 2;
}

// The reader may need no more than the first lines (`head`): the command ends as it would have.
process.stdout.on("error", (error: Error & { code?: string }) => {
  if (error.code !== "EPIPE") fail(error);
});
main(process.argv.slice(2)).then((code) => {
  process.exitCode ??= code;
}, fail);
