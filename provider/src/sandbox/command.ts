#!/usr/bin/env node
/** The command `advertising-sandbox`: starts a sandbox, or sends a command to one that runs. */
import { parseArgs } from "node:util";
import { quoted, withoutUndefined } from "../base/index.js";
import { answerCommand, CONTROL_HELP, sendCommand } from "./control.js";
import { FAULT_HELP, parseFault, UsageError } from "./fault-language.js";
import { type Sandbox, startSandbox } from "./index.js";
import type { SandboxOptions } from "./options.js";

const HELP = `Usage: advertising-sandbox [options]
       advertising-sandbox COMMAND --port N

A local stand-in for the platform. It listens on 127.0.0.1, and prints a line for each request.

  --port N           TCP port (default: a free one)
  --email TEXT       login name (default: ops@example.com)
  --password TEXT    password (default: sandbox-password)
  --latency-ms N     milliseconds for each response (default: 0)
  --fail TARGET:FAULT[:TIMES]
                     makes the next requests fail, such as event:close-after-act:1
                     (created, response lost); may be repeated
  --operations       can also read, update, delete and search
  --quiet            prints no lines about requests
  --help, -h         this text

Commands to a running sandbox, with its --port:
${CONTROL_HELP}

${FAULT_HELP}`;

const START_OPTIONS = {
  port: { type: "string" },
  email: { type: "string" },
  password: { type: "string" },
  "latency-ms": { type: "string" },
  fail: { type: "string", multiple: true },
  operations: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
const COMMAND_OPTIONS = { port: { type: "string" }, json: { type: "boolean" } } as const;

function main(args: string[]): Promise<void> {
  const isCommand = args.length > 0 && !args[0]?.startsWith("-");
  return isCommand ? runCommand(args) : start(args);
}

async function runCommand(args: string[]): Promise<void> {
  const config = { args, options: COMMAND_OPTIONS, allowPositionals: true };
  const { values, positionals } = parseArgs(config);
  const port = wholeNumber(values.port);
  if (port === undefined) throw new UsageError("a command needs the --port of the sandbox");
  const flags = values.json ? ["--json"] : [];
  console.log(await sendCommand(port, [...positionals, ...flags]));
}

/** The process then runs until it is stopped. */
async function start(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: START_OPTIONS });
  const { email, password, operations, fail = [], quiet, help } = values;
  if (help) return console.log(HELP);
  const port = wholeNumber(values.port);
  const latencyMs = wholeNumber(values["latency-ms"]);
  const rules = fail.map(parseFault);

  // Whoever reads the log may go away; the sandbox goes on.
  process.stdout.on("error", () => undefined);
  const log = (line: string) => {
    if (!quiet) console.log(`${new Date().toTimeString().slice(0, 8)} ${line}`);
  };
  const options: SandboxOptions = {
    ...withoutUndefined({ port, latencyMs, email, password, operations }),
    log,
    answer: (answer, request) => answerCommand(sandbox, request) ?? answer,
  };
  const sandbox: Sandbox = await startSandbox(options);
  for (const rule of rules) sandbox.fail(rule);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => sandbox.close());
  greet(sandbox, password === undefined);
}

/** @param showsPassword without it Pulumi asks for the password. */
function greet(sandbox: Sandbox, showsPassword: boolean): void {
  const password = showsPassword ? ` ${sandbox.password}` : "";
  console.log(`The sandbox listens on ${sandbox.url}. To use it from a stack:
  pulumi config set advertising:baseUrl ${sandbox.url}
  pulumi config set advertising:email ${sandbox.email}
  pulumi config set --secret advertising:password${password}
Commands are sent from another terminal: npx advertising-sandbox list --port ${sandbox.port}`);
}

function wholeNumber(typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined;
  if (/^\d{1,6}$/.test(typed)) return Number(typed);
  throw new UsageError(`a whole number is expected; got ${quoted(typed)}`);
}

main(process.argv.slice(2)).catch((error: Error) => {
  console.error(`advertising-sandbox: ${error.message}\nSee advertising-sandbox --help`);
  process.exitCode = 2;
});
