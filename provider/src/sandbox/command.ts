#!/usr/bin/env node
/** `advertising-sandbox`: the sandbox as a command. */
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startSandbox } from "./index.js";
import type { SandboxOptions, SandboxSnapshot } from "./options.js";

const HELP = `Usage: advertising-sandbox [options]

A local stand-in for the advertising platform. Listens on 127.0.0.1 until it is interrupted.

  --port N           TCP port (default: any free one)
  --email TEXT       login name (default: ops@example.com)
  --password TEXT    password (default: sandbox-password)
  --latency-ms N     milliseconds that each answer takes (default: 0)
  --objects FILE     keeps what lives there in this JSON file
  --help             this text`;

/** @returns the exit code, or none while it runs. */
async function main(): Promise<number | undefined> {
  let values: {
    port?: string;
    email?: string;
    password?: string;
    "latency-ms"?: string;
    objects?: string;
    help?: boolean;
  };
  try {
    const text = { type: "string" } as const;
    const options = {
      port: text,
      email: text,
      password: text,
      "latency-ms": text,
      objects: text,
      help: { type: "boolean" },
    } as const;
    ({ values } = parseArgs({ options }));
  } catch (error) {
    return complain((error as Error).message);
  }
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  for (const [name, value, most] of [
    ["port", values.port, 65_535],
    ["latency-ms", values["latency-ms"], 3_600_000],
  ] as const) {
    if (value !== undefined && !(/^\d+$/.test(value) && Number(value) <= most)) {
      return complain(`--${name} takes a whole number from 0 to ${most}; got "${value}"`);
    }
  }

  const file = values.objects;
  let options: SandboxOptions = {
    port: Number(values.port ?? 0),
    latencyMs: Number(values["latency-ms"] ?? 0),
    ...(values.email === undefined ? {} : { email: values.email }),
    ...(values.password === undefined ? {} : { password: values.password }),
  };
  if (file !== undefined && existsSync(file)) {
    let content: unknown;
    try {
      content = JSON.parse(readFileSync(file, "utf8"));
    } catch (error) {
      return complain(`--objects ${file} can't be read: ${(error as Error).message}`);
    }
    // It will be overwritten: a file that is something else must not get that far.
    const fault = faultIn(content);
    if (fault !== undefined) return complain(`--objects ${file} holds no snapshot of a sandbox: ${fault}`);
    options = { ...options, objects: content as SandboxSnapshot };
  }
  if (file !== undefined) {
    try {
      claim(file);
    } catch (error) {
      return complain(`--objects ${file} can't be written: ${(error as Error).message}`);
    }
  }

  try {
    const sandbox = await startSandbox(options);
    const stop = async () => {
      const code = file === undefined ? 0 : save(file, sandbox.snapshot());
      console.log(
        `${sandbox.logins} logins, ${sandbox.advertisers.length} advertisers, ${sandbox.events.length} events.`,
      );
      await sandbox.close();
      process.exit(code);
    };
    // Before the greeting: whoever waits for that may end it at once.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
    console.log(`The sandbox listens on ${sandbox.url}. To use it from a stack:`);
    console.log(`  pulumi config set advertising:baseUrl ${sandbox.url}`);
    console.log(`  pulumi config set advertising:email ${sandbox.email}`);
    console.log("  pulumi config set --secret advertising:password      (as given with --password, or the default)");
    return undefined;
  } catch (error) {
    return complain((error as Error).message);
  }
}

/** Finds out now, and not when there is something to lose, whether `file` can be written; one that is there stays as it is. */
function claim(file: string): void {
  if (existsSync(file)) closeSync(openSync(file, "r+"));
  else write(file, { advertisers: [], events: [] });
}

function write(file: string, snapshot: SandboxSnapshot): void {
  writeFileSync(file, JSON.stringify(snapshot, undefined, 2));
}

/** @returns the exit code. */
function save(file: string, snapshot: SandboxSnapshot): number {
  try {
    write(file, snapshot);
    return 0;
  } catch (error) {
    // The folder may have gone since the start, or the disk be full: the terminal is the last place to keep it.
    console.error(`advertising-sandbox: --objects ${file} can't be written: ${(error as Error).message}`);
    console.error(`What lived there:\n${JSON.stringify(snapshot)}`);
    return 1;
  }
}

/** What keeps `content` from being a snapshot, as "expected …; got …"; nothing where it is one. */
function faultIn(content: unknown): string | undefined {
  if (!isObject(content)) return `expected an object with the lists advertisers and events; got ${kindOf(content)}`;
  for (const noun of ["advertisers", "events"]) {
    const list = content[noun];
    if (!Array.isArray(list)) return `expected ${noun} to be a list of objects; got ${kindOf(list)}`;
    const ids = new Set<unknown>();
    for (const [index, object] of list.entries()) {
      const place = `${noun}[${index}]`;
      if (!isObject(object)) return `expected ${place} to be an object with an id; got ${kindOf(object)}`;
      const { id } = object;
      const isId = Number.isSafeInteger(id) && (id as number) >= 0;
      if (!isId || ids.has(id)) {
        const twice = isId ? ", as an earlier one has" : "";
        return `expected ${place}.id to be an integer from 0 up, different in each; got ${kindOf(id)}${twice}`;
      }
      ids.add(id);
    }
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return "a text";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return String(value);
}

function complain(message: string): number {
  console.error(`advertising-sandbox: ${message}\nSee advertising-sandbox --help`);
  return 2;
}

void main().then((code) => {
  if (code !== undefined) process.exitCode = code;
});
