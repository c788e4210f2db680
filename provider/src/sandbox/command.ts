#!/usr/bin/env node
/** The command `advertising-sandbox`: starts a sandbox, or sends a command to one that runs. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { plainShellWord } from "../base/index.js";
import { answerCommand, CONTROL_HELP, FAULT_HELP, sendCommand } from "./commands.js";
import { type Sandbox, type SandboxOptions, startSandbox } from "./index.js";

/** Where this file isn't installed, npx would ask a registry for a name that nobody owns. */
const isInstalledHere = process.argv[1]?.startsWith(resolve("node_modules"));
const OWN_COMMAND = isInstalledHere
  ? "npx advertising-sandbox"
  : `node ${plainShellWord(__filename)}`;

const HELP = `Usage: advertising-sandbox [options]
       advertising-sandbox COMMAND --port N

A local stand-in for the platform.

  --port N           TCP port (default: a free one)
  --latency-ms N     milliseconds for each response (default: 0)
  --account E:P      one more account: e-mail and password (repeatable)
  --operations       can also read, update, delete and search
  --help, -h         this text

Commands to a running sandbox, with its --port:
${CONTROL_HELP}

${FAULT_HELP}`;

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      port: { type: "string" },
      "latency-ms": { type: "string", default: "0" },
      account: { type: "string", multiple: true, default: [] },
      operations: { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  const { port = "0", account: accounts, operations, json, help } = values;
  if (help) return console.log(HELP);
  // A message must not show a password.
  if (!accounts.every((each) => /^[^:]+:./.test(each)))
    throw new Error("--account expects EMAIL:PASSWORD");
  const latencyMs = Number(values["latency-ms"]);
  if (positionals.length === 0)
    return start({ port: Number(port), latencyMs, accounts, operations });
  if (port === "0") throw new Error("a command needs the --port of the sandbox");
  if (json) positionals.push("--json");
  console.log(await sendCommand(Number(port), positionals));
}

/** Starts a sandbox; the process then runs until it is stopped. */
async function start(options: SandboxOptions) {
  const sandbox: Sandbox = await startSandbox({
    ...options,
    log: (line) => console.log(`${new Date().toTimeString().slice(0, 8)} ${line}`),
    answer: (answer, request) => answerCommand(sandbox, request) ?? answer,
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => sandbox.close());
  console.log(`The sandbox listens on ${sandbox.url}. To use it from a stack:
  pulumi config set advertising:baseUrl ${sandbox.url}
  pulumi config set advertising:email ${sandbox.email}
  pulumi config set --secret advertising:password ${sandbox.password}
Send commands from another terminal: ${OWN_COMMAND} list --port ${sandbox.port}`);
}

// The reader may close the pipe (`head`); a sandbox keeps running.
process.stdout.on("error", () => undefined);
main().catch(({ code, message }: NodeJS.ErrnoException) => {
  let advice = "See advertising-sandbox --help";
  if (code === "EADDRINUSE") advice = "End what listens there, or name another --port";
  console.error(`advertising-sandbox: ${message}\n${advice}`);
  process.exitCode = 2;
});
