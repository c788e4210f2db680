/**
 * The sandbox as a process: greets, logs, takes commands, and ends at a signal with what lived there kept.
 */
import { type Controls, carryOut, inWords } from "./control.js";
import type { ControlAnswer } from "./control-address.js";
import { openObjects, writeObjects } from "./objects-file.js";
import type { FaultRule, SandboxOptions } from "./options.js";
import { Sandbox } from "./server.js";
import { count, printable } from "./text.js";
import { readTypedCommands } from "./typed-commands.js";

interface ServeOptions {
  readonly port: number;
  readonly latencyMs: number;
  readonly email: string | undefined;
  readonly password: string | undefined;
  /** The file that keeps what lives there. */
  readonly objects: string | undefined;
  readonly faults: readonly FaultRule[];
  readonly operations: boolean;
  readonly quiet: boolean;
}

/** A reader of standard output that has stopped reading must not make the sandbox grow: the log has gaps then. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Resolves once it listens; the process then runs until it is stopped.
 * @throws Error in words for people.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { objects: file, email, password } = options;
  const objects = file === undefined ? undefined : openObjects(file);
  // Those who read the log may go away; the sandbox goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const log = (line: string) => {
    const time = new Date().toTimeString().slice(0, 8);
    if (!options.quiet && process.stdout.writableLength < MAX_WAITING_BYTES) console.log(`${time} ${line}`);
  };

  const sandboxOptions: SandboxOptions = {
    port: options.port,
    latencyMs: options.latencyMs,
    operations: options.operations,
    log,
    ...(email === undefined ? {} : { email }),
    ...(password === undefined ? {} : { password }),
    ...(objects === undefined ? {} : { objects }),
  };
  const sandbox = new Sandbox(sandboxOptions, (line) => {
    log(`command: ${printable(line, 200)}`);
    return carryOut(controls, line);
  });
  const controls: Controls = { sandbox, quit: () => void stop(sandbox, file) };
  for (const rule of options.faults) sandbox.fail(rule);
  await sandbox.listen();
  // Before the greeting: a process that waits for that may end it at once.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop(sandbox, file));
  const isTyped = readTypedCommands((line) => show(carryOut(controls, line)));
  console.log(greeting(sandbox, options, isTyped));
}

function greeting(sandbox: Sandbox, { password, faults }: ServeOptions, isTyped: boolean): string {
  return [
    `The sandbox listens on ${sandbox.url}. To use it from a stack:`,
    `  pulumi config set advertising:baseUrl ${sandbox.url}`,
    `  pulumi config set advertising:email ${sandbox.email}`,
    `  pulumi config set --secret advertising:password ${password === undefined ? sandbox.password : "     (asks for it: the one that was given with --password)"}`,
    ...faults.map(inWords),
    `Commands${isTyped ? " are typed here (`help` lists them), or sent" : " are sent"} from another terminal: npx advertising-sandbox list --port ${sandbox.port}`,
  ].join("\n");
}

function show({ isOk, text, afterwards }: ControlAnswer): void {
  if (text !== "") (isOk ? console.log : console.error)(text);
  afterwards?.();
}

let isStopping = false;

/** Ends the process, with exit code 1 where what lived there could not be kept. */
async function stop(sandbox: Sandbox, file: string | undefined): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  const code = file === undefined ? 0 : save(file, sandbox);
  console.log(
    `${count(sandbox.logins, "login")}, ${count(sandbox.advertisers.length, "advertiser")}, ${count(sandbox.events.length, "event")}.`,
  );
  await sandbox.close();
  process.exit(code);
}

/** @returns the exit code. */
function save(file: string, sandbox: Sandbox): number {
  const snapshot = sandbox.snapshot();
  try {
    writeObjects(file, snapshot);
    return 0;
  } catch (error) {
    // The folder may have gone since the start, or the disk be full: the terminal is the last place to keep it.
    console.error(`advertising-sandbox: --objects ${file} can't be written: ${(error as Error).message}`);
    console.error(`What lived there:\n${JSON.stringify(snapshot)}`);
    return 1;
  }
}
