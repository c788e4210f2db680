#!/usr/bin/env node
/**
 * `pulumi-advertising`: what is needed beside `pulumi up`. This room holds the commands. It promises that none of them sends
 * anything that creates, and that only `pending` settles creates: in the state by `pulumi refresh`, and in this machine's memory. It may import
 * every other room but `program`; whatever loads an HTTP or cookie library is loaded when a command needs it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError, whyTooOld, withCode, withPage } from "../base/index.js";
import { type Command, chosen, say } from "./harness.js";
import { leftoversCommand } from "./leftovers.js";
import { loginCommand } from "./login-command.js";
import { pendingCommand } from "./pending.js";
import { reportCommand } from "./report-command.js";
import { validateCommand } from "./validate-command.js";

const COMMANDS: Readonly<Record<string, Command>> = {
  leftovers: leftoversCommand,
  login: loginCommand,
  pending: pendingCommand,
  report: reportCommand,
  validate: validateCommand,
};

const HELP = [...Object.values(COMMANDS).map(({ help }) => help), "Usage: pulumi-advertising --help | --version"].join(
  "\n\n",
);

async function main(args: readonly string[]): Promise<number> {
  const old = whyTooOld(process.versions.node);
  if (old !== undefined) throw new Error(old);
  const [name, ...rest] = args;
  if (name === undefined) throw new UsageError("a command is missing");
  if (["--help", "-h", "help"].includes(name)) return say(HELP);
  if (["--version", "-v"].includes(name)) return say(manifest().version);
  return chosen(COMMANDS, name, "command").run(rest);
}

/** The package's own, two folders above the compiled file. */
function manifest(): { readonly version: string } {
  return JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    const text = `pulumi-advertising: ${error.message}`;
    const isUsage = error instanceof UsageError;
    const { code } = UsageError;
    console.error(isUsage ? withCode(`${text}\nSee \`npx pulumi-advertising --help\``, code) : withPage(text, code));
    process.exitCode = 2;
  },
);
