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
import { leftoversCommand as leftovers } from "./leftovers.js";
import { loginCommand as login } from "./login-command.js";
import { pendingCommand as pending } from "./pending.js";
import { reportCommand as report } from "./report-command.js";
import { validateCommand as validate } from "./validate-command.js";

const COMMANDS: Readonly<Record<string, Command>> = { leftovers, login, pending, report, validate };

const HELPS = [...Object.values(COMMANDS).map(({ help }) => help), "Usage: pulumi-advertising --help | --version"];

async function main([name, ...rest]: readonly string[]): Promise<number> {
  const old = whyTooOld(process.versions.node);
  if (old !== undefined) throw new Error(old);
  if (name === undefined) throw new UsageError("a command is missing");
  if (["--help", "-h", "help"].includes(name)) return say(HELPS.join("\n\n"));
  if (["--version", "-v"].includes(name)) {
    // The package's own, two folders above the compiled file.
    return say(JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")).version);
  }
  return chosen(COMMANDS, name, "command").run(rest);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    const text = `pulumi-advertising: ${error.message}`;
    const { code } = UsageError;
    const usage = () => withCode(`${text}\nSee \`npx pulumi-advertising --help\``, code);
    console.error(error instanceof UsageError ? usage() : withPage(text, code));
    process.exitCode = 2;
  },
);
