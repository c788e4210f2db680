#!/usr/bin/env node
/** The command `advertising-sandbox`: starts a sandbox, or sends a command to one that runs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { COMMAND_NAMES, CONTROL_HELP } from "./control.js";
import { ask } from "./control-address.js";
import { FAULT_LANGUAGE, NotUnderstood, parseFaults } from "./fault-language.js";
import type { FaultRule } from "./options.js";
import { serve } from "./serve.js";
import { didYouMean } from "./text.js";

const indented = (text: string) => text.replaceAll(/^/gm, "  ");

const HELP = `Usage: advertising-sandbox [options]
       advertising-sandbox COMMAND --port N

A local stand-in for the platform. Listens on 127.0.0.1, and prints a line for each request: method, path, status, and
what was created.

  --port N           TCP port (default: a free one)
  --email TEXT       login name (default: ops@example.com)
  --password TEXT    password (default: sandbox-password)
  --latency-ms N     milliseconds for each response (default: 0)
  --objects FILE     keeps what lives there in this JSON file
  --fail TARGET:FAULT[:TIMES]
                     makes the next requests fail, such as event:close-after-act:1 (created, response lost);
                     may be repeated
  --operations       can also read, update, delete and search
  --quiet            prints no lines about requests
  --version          prints the version
  --help, -h         this text

Commands, typed at a running sandbox, or given with its --port:

${indented(CONTROL_HELP)}

What can fail, and how:

${indented(FAULT_LANGUAGE)}`;

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean" } as const;
const OPTIONS = {
  port: TEXT,
  email: TEXT,
  password: TEXT,
  "latency-ms": TEXT,
  objects: TEXT,
  fail: { type: "string", multiple: true },
  operations: FLAG,
  quiet: FLAG,
  json: FLAG,
  version: FLAG,
  help: { ...FLAG, short: "h" },
} as const;

type Values = ReturnType<typeof readArguments>["values"];

/** @returns the exit code, or none while it runs. */
async function main(args: readonly string[]): Promise<number | undefined> {
  const { values, positionals } = readArguments(args);
  if (values.help || positionals[0] === "help") return say(HELP);
  if (values.version) return say(version());
  if (positionals.length > 0) return command(values, positionals);

  const problems: string[] = [];
  const port = wholeNumber("port", values.port, 65_535, problems) ?? 0;
  const latencyMs = wholeNumber("latency-ms", values["latency-ms"], 3_600_000, problems) ?? 0;
  if (values.json) problems.push("--json belongs to the command list");
  const faults = readFaults(values.fail ?? [], problems);
  if (problems.length > 0) throw new NotUnderstood(problems.join("\n"));
  const { email, password, objects, operations = false, quiet = false } = values;
  await serve({ port, latencyMs, email, password, objects, faults, operations, quiet });
  return undefined;
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const option = /'(-[^' ]+)/.exec(message)?.[1];
    if (code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION" || option === undefined) throw new NotUnderstood(message);
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    throw new NotUnderstood(`there is no option ${option}${didYouMean(option, known)}`);
  }
}

/** A command to a sandbox that runs. @returns the exit code */
async function command(values: Values, [name = "", ...words]: readonly string[]): Promise<number> {
  const problems: string[] = [];
  if (!COMMAND_NAMES.includes(name)) {
    problems.push(
      `there is no command "${name}"${didYouMean(name, COMMAND_NAMES)}; known: ${COMMAND_NAMES.join(", ")}`,
    );
  }
  for (const option of Object.keys(values)) {
    if (!["port", "json"].includes(option)) problems.push(`--${option} is for starting a sandbox, not for a command`);
  }
  const port = wholeNumber("port", values.port, 65_535, problems);
  if (values.port === undefined) problems.push("a command needs the --port of the sandbox that runs");
  if (port === undefined || problems.length > 0) throw new NotUnderstood(problems.join("\n"));
  const { isOk, text } = await ask(port, [name, ...words, ...(values.json ? ["--json"] : [])].join(" "));
  if (!isOk) throw new NotUnderstood(text);
  return say(text);
}

function wholeNumber(name: string, value: string | undefined, most: number, problems: string[]): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value) && Number(value) <= most) return Number(value);
  problems.push(`--${name} takes a whole number from 0 to ${most}; got "${value}"`);
  return undefined;
}

function readFaults(texts: readonly string[], problems: string[]): FaultRule[] {
  try {
    return parseFaults(texts);
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    problems.push(`--fail ${error.message}`);
    return [];
  }
}

function version(): string {
  // As a file, since it stands outside of what is compiled.
  const manifest = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as { version: string };
  return manifest.version;
}

function say(text: string): number {
  console.log(text);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    if (code !== undefined) process.exitCode = code;
  },
  (error: Error) => {
    console.error(`advertising-sandbox: ${error.message}\nSee advertising-sandbox --help`);
    process.exitCode = 2;
  },
);
