#!/usr/bin/env node
/** The command `advertising-sandbox`: starts a sandbox, or sends a command to one that runs. */
import { parseArgs } from "node:util";
import { answerCommand, CONTROL_HELP, sendCommand } from "./control.js";
import { FAULT_HELP, SandboxUsageError } from "./fault-language.js";
import { type Sandbox, startSandbox } from "./index.js";

const HELP = `Usage: advertising-sandbox [options]
       advertising-sandbox COMMAND --port N

A local stand-in for the platform. It listens on 127.0.0.1, and prints a line for each request.

  --port N           TCP port (default: a free one)
  --latency-ms N     milliseconds for each response (default: 0)
  --operations       can also read, update, delete and search
  --help, -h         this text

Commands to a running sandbox, with its --port:
${CONTROL_HELP}

${FAULT_HELP}`;

const START_OPTIONS = {
  port: { type: "string", default: "0" },
  "latency-ms": { type: "string", default: "0" },
  operations: { type: "boolean", default: false },
  help: { type: "boolean", short: "h" },
} as const;
const COMMAND_OPTIONS = { port: { type: "string" }, json: { type: "boolean" } } as const;

function runSandboxCommand(args: string[]): Promise<void> {
  const isCommand = args.length > 0 && !args[0]?.startsWith("-");
  return isCommand ? runTyped(args) : start(args);
}

async function runTyped(args: string[]): Promise<void> {
  const config = { args, options: COMMAND_OPTIONS, allowPositionals: true };
  const { values, positionals } = parseArgs(config);
  if (values.port === undefined)
    throw new SandboxUsageError("a command needs the --port of the sandbox");
  const flags = values.json ? ["--json"] : [];
  console.log(await sendCommand(Number(values.port), [...positionals, ...flags]));
}

/** The process then runs until it is stopped. */
async function start(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: START_OPTIONS });
  if (values.help) return console.log(HELP);

  // Whoever reads the log may go away; the sandbox goes on.
  process.stdout.on("error", () => undefined);
  const sandbox: Sandbox = await startSandbox({
    port: Number(values.port),
    latencyMs: Number(values["latency-ms"]),
    operations: values.operations,
    log: (line) => console.log(`${new Date().toTimeString().slice(0, 8)} ${line}`),
    answer: (answer, request) => answerCommand(sandbox, request) ?? answer,
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => sandbox.close());
  console.log(`The sandbox listens on ${sandbox.url}. To use it from a stack:
  pulumi config set advertising:baseUrl ${sandbox.url}
  pulumi config set advertising:email ${sandbox.email}
  pulumi config set --secret advertising:password ${sandbox.password}
Commands are sent from another terminal: npx advertising-sandbox list --port ${sandbox.port}`);
}

runSandboxCommand(process.argv.slice(2)).catch((error: Error) => {
  console.error(`advertising-sandbox: ${error.message}\nSee advertising-sandbox --help`);
  process.exitCode = 2;
});
