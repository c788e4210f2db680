#!/usr/bin/env node
/** `advertising-sandbox`: the sandbox as a command. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startSandbox } from "./index.js";
import type { SandboxOptions } from "./options.js";

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
    try {
      options = {
        ...options,
        objects: JSON.parse(readFileSync(file, "utf8")) as NonNullable<SandboxOptions["objects"]>,
      };
    } catch (error) {
      return complain(`--objects ${file} can't be read: ${(error as Error).message}`);
    }
  }

  try {
    const sandbox = await startSandbox(options);
    console.log(`The sandbox listens on ${sandbox.url}. To use it from a stack:`);
    console.log(`  pulumi config set advertising:baseUrl ${sandbox.url}`);
    console.log(`  pulumi config set advertising:email ${sandbox.email}`);
    console.log("  pulumi config set --secret advertising:password      (as given with --password, or the default)");
    const stop = async () => {
      if (file !== undefined) writeFileSync(file, JSON.stringify(sandbox.snapshot(), undefined, 2));
      console.log(
        `${sandbox.logins} logins, ${sandbox.advertisers.length} advertisers, ${sandbox.events.length} events.`,
      );
      await sandbox.close();
      process.exit(0);
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
    return undefined;
  } catch (error) {
    return complain((error as Error).message);
  }
}

function complain(message: string): number {
  console.error(`advertising-sandbox: ${message}\nSee advertising-sandbox --help`);
  return 2;
}

void main().then((code) => {
  if (code !== undefined) process.exitCode = code;
});
