#!/usr/bin/env node
/** `pulumi-advertising`: what is needed beside `pulumi up`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError, whyTooOld, withCode } from "../base/index.js";
import { CHECK_HELP, checkCommand } from "./check-command.js";
import { COMPARE_HELP, compareCommand } from "./compare-command.js";
import { LEFTOVERS_HELP, leftoversCommand } from "./leftovers-command.js";
import { LOGIN_HELP, loginCommand } from "./login-command.js";
import { PENDING_HELP, pendingCommand } from "./pending-command.js";
import { RELOCATE_HELP, relocateCommand } from "./relocate-command.js";
import { REPORT_HELP, reportCommand } from "./report-command.js";
import { refuseUnknownOptions, unknownCommand } from "./unknown.js";

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  check: checkCommand,
  compare: compareCommand,
  leftovers: leftoversCommand,
  login: loginCommand,
  pending: pendingCommand,
  relocate: relocateCommand,
  report: reportCommand,
};

const HELP = [
  CHECK_HELP,
  COMPARE_HELP,
  LEFTOVERS_HELP,
  LOGIN_HELP,
  PENDING_HELP,
  RELOCATE_HELP,
  REPORT_HELP,
  "Usage: pulumi-advertising --help | --version",
].join("\n\n");

const FLAG = { type: "boolean" } as const;

async function main(args: readonly string[]): Promise<number> {
  const old = whyTooOld(process.versions.node);
  if (old !== undefined) throw new Error(old);
  const [command, ...rest] = args;
  if (command === undefined) throw new Error("a command is missing");
  if (["--help", "-h", "help"].includes(command)) return say(HELP);
  if (["--version", "-v"].includes(command)) return say(manifest().version);
  if (command.startsWith("-")) refuseUnknownOptions([command], { help: FLAG, version: FLAG });
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (run === undefined) throw unknownCommand(command, [...Object.keys(COMMANDS), "help"]);
  return run(rest);
}

/** The package's own, two folders above the compiled file. */
function manifest(): { readonly version: string } {
  return JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
}

function say(text: string): number {
  console.log(text);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    const message = `pulumi-advertising: ${error.message}\nSee pulumi-advertising --help`;
    console.error(withCode(message, UsageError.code));
    process.exitCode = 2;
  },
);
