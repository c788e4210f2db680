#!/usr/bin/env node
/** The command `advertising-sandbox`: starts a sandbox, or sends a command to one that runs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ask, CONTROL_HELP } from "./control.js";
import { FAULT_LANGUAGE, NotUnderstood, parseFault, quoted } from "./fault-language.js";
import { serve } from "./serve.js";

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

Commands to a running sandbox, with its --port:

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
  fail: { ...TEXT, multiple: true },
  operations: FLAG,
  quiet: FLAG,
  json: FLAG,
  version: FLAG,
  help: { ...FLAG, short: "h" },
} as const;

/** @returns what to print, or nothing while a sandbox runs. */
async function main(args: string[]): Promise<string | undefined> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help) return HELP;
  // As a file, since it stands outside of what is compiled.
  if (values.version) return JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")).version;
  const port = wholeNumber("port", values.port, 65_535);

  if (positionals.length > 0) {
    const { port: _, json, ...others } = values;
    const [other] = Object.keys(others);
    if (other !== undefined) throw new NotUnderstood(`--${other} is for starting a sandbox, not for a command`);
    const [name = ""] = positionals;
    if (port === undefined) throw new NotUnderstood(`${quoted(name)} needs the --port of the sandbox that runs`);
    return ask(port, [...positionals, ...(json ? ["--json"] : [])].join(" "));
  }

  const { email, password, objects, fail = [], operations = false, quiet = false, json } = values;
  if (json) throw new NotUnderstood("--json belongs to the command list");
  const latencyMs = wholeNumber("latency-ms", values["latency-ms"], 3_600_000) ?? 0;
  const faults = fail.map(parseFault);
  await serve({ port: port ?? 0, latencyMs, email, password, objects, faults, operations, quiet });
  return undefined;
}

function wholeNumber(name: string, value: string | undefined, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value) && Number(value) <= most) return Number(value);
  throw new NotUnderstood(`--${name} takes a whole number from 0 to ${most}; got ${quoted(value)}`);
}

main(process.argv.slice(2)).then(
  (text) => {
    if (text !== undefined) console.log(text);
  },
  (error: Error) => {
    const message = error.message.replace(/\. To specify .*/s, ""); // of parseArgs: about what nobody wants here
    console.error(`advertising-sandbox: ${message}\nSee advertising-sandbox --help`);
    process.exitCode = 2;
  },
);
