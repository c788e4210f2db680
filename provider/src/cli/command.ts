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
  count,
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
  say,
  TEXT,
} from "./harness.js";
import { pendingCommand as pending } from "./pending.js";
import { STACK_HELP, STACK_OPTIONS } from "./pulumi.js";
import { leftoversCommand as leftovers, reportCommand as report } from "./reports.js";

const login = command({
  help: `Usage: pulumi-advertising login [options]

Logs in with the settings of the stack, or of the environment if none is selected, and keeps
the session in the cookie file.

${STACK_HELP}`,
  options: STACK_OPTIONS,
  run: async (choice) => {
    const { logInAndReport } = await import("./platform.js");
    try {
      return say(await logInAndReport(choice));
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error;
      console.error(withPage(error.message, error.code));
      return 1;
    }
  },
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
    if (errors > 0) summary = withPage(summary, ArgumentsError.code);
    return `${lines.join("")}${summary}\n`;
  },
  /** A contract: fields are only added. */
  json: ({ advertisers, events, findings }, file, errors) => {
    const amounts = { advertisers: advertisers.length, events: events.length };
    const listed = findings.map(({ source, level, subject, property, reason }) => {
      return { level, ...source, subject, property, message: reason };
    });
    return jsonOf({ file, ok: errors === 0, ...amounts, findings: listed });
  },
};

const validateCommand = command({
  help: `Usage: pulumi-advertising validate <file> [options]

Lists every mistake in a catalog (.yaml, .yml, .json, .csv, .tsv) with its place. No stack
is needed. It uses ADVERTISING_MAX_WINDOW_SECONDS and ADVERTISING_MARK_FIELD.

  --format FORMAT        text (default) or json`,
  options: { format: { ...TEXT, default: "text" } },
  takesFile: true,
  run: async ({ format }, file) => {
    const inFormat = chosen(FINDINGS, format, "format");
    const { settings, problems } = readSettings({
      config: () => undefined,
      environment: process.env,
      mayLackPassword: true,
      mayLackAll: true,
    });
    const faults = problems.map(({ source, reason }) => `${source} ${reason}`);
    if (faults.length > 0) throw new SettingsError(faults.join("; "));
    const catalog = readCatalog(file, process.cwd(), settings);
    const errors = catalog.findings.filter(({ level }) => level === "error").length;
    process.stdout.write(inFormat(catalog, file, errors));
    return Math.min(errors, 1);
  },
});

const COMMANDS = { leftovers, login, pending, report, validate: validateCommand };

async function main([name = "", ...rest]: readonly string[]): Promise<number> {
  const old = versionProblem(process.versions.node);
  if (old !== undefined) throw new Error(old);
  if (["--help", "-h"].includes(name)) {
    const helps = Object.values(COMMANDS).map(({ help }) => help);
    return say([...helps, "Usage: pulumi-advertising --help | --version"].join("\n\n"));
  }
  // This package's package.json is two folders above the compiled file.
  if (name === "--version") return say(require("../../package.json").version);
  return chosen<Command>(COMMANDS, name, "command").run(rest);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error & { code?: string }) => {
    const { code } = error instanceof AdvertisingError ? error : UsageError;
    let text = `pulumi-advertising: ${error.message}`;
    // Errors of Node's `parseArgs` are wrong usage too.
    if (error instanceof UsageError || error.code?.startsWith("ERR_PARSE_ARGS"))
      text += "\nSee `npx pulumi-advertising --help`";
    console.error(withPage(text, code));
    process.exitCode = 2;
  },
);
