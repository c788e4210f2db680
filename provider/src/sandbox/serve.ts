/**
 * The sandbox as a process: greets, logs, takes commands, and ends at a signal with what lived there kept.
 */
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { answersCommand, faultMessage } from "./control.js";
import type { FaultRule, SandboxOptions, SandboxSnapshot } from "./options.js";
import { Sandbox } from "./server.js";
import { count } from "./shown.js";

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

/**
 * Resolves once it listens; the process then runs until it is stopped.
 * @throws Error in words for people.
 */
export async function serve({
  objects: file,
  email,
  password,
  faults,
  quiet,
  ...options
}: ServeOptions): Promise<void> {
  // Those who read the log may go away; the sandbox goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const log = (line: string) => console.log(`${new Date().toTimeString().slice(0, 8)} ${line}`);
  const sandboxOptions: SandboxOptions = {
    ...options,
    ...(quiet ? {} : { log }),
    ...(email === undefined ? {} : { email }),
    ...(password === undefined ? {} : { password }),
    ...(file === undefined ? {} : { objects: openObjects(file) }),
  };
  const sandbox: Sandbox = new Sandbox(sandboxOptions, (...exchange) => answersCommand(sandbox, ...exchange));
  for (const rule of faults) sandbox.fail(rule);
  await sandbox.listen();
  // Before the greeting: a process that waits for that may end it at once.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop(sandbox, file));
  const shown =
    password === undefined ? sandbox.password : "     (asks for it: the one that was given with --password)";
  const greeting = [
    `The sandbox listens on ${sandbox.url}. To use it from a stack:`,
    `  pulumi config set advertising:baseUrl ${sandbox.url}`,
    `  pulumi config set advertising:email ${sandbox.email}`,
    `  pulumi config set --secret advertising:password ${shown}`,
    ...faults.map(faultMessage),
    `Commands are sent from another terminal: npx advertising-sandbox list --port ${sandbox.port}`,
  ];
  console.log(greeting.join("\n"));
}

/** Ends the process, with exit code 1 where what lived there could not be kept. */
async function stop(sandbox: Sandbox, file: string | undefined): Promise<void> {
  try {
    if (file !== undefined) writeObjects(file, sandbox.snapshot());
  } catch (error) {
    console.error(`advertising-sandbox: ${(error as Error).message}`);
    process.exitCode = 1;
  }
  const { logins, advertisers, events } = sandbox;
  const counts = [count(logins, "login"), count(advertisers.length, "advertiser"), count(events.length, "event")];
  console.log(`${counts.join(", ")}.`);
  await sandbox.close();
  process.exit();
}

/**
 * Reads `file`, or makes it. Finds out at once, and not when there is something to lose, whether it can be written.
 * A file that is something else stays as it is: it must not be overwritten.
 */
function openObjects(file: string): SandboxSnapshot {
  const none: SandboxSnapshot = { advertisers: [], events: [] };
  if (!existsSync(file)) {
    writeObjects(file, none);
    return none;
  }
  let content: Partial<SandboxSnapshot>;
  try {
    closeSync(openSync(file, "r+"));
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`--objects ${file} can't be read and written: ${(error as Error).message}`);
  }
  const isList = (list: unknown) => Array.isArray(list) && list.every((object) => Number.isSafeInteger(object?.id));
  if (isList(content?.advertisers) && isList(content?.events)) return content as SandboxSnapshot;
  throw new Error(
    `--objects ${file} is no file of a sandbox: it needs the lists advertisers and events, each object with an id`,
  );
}

function writeObjects(file: string, snapshot: SandboxSnapshot): void {
  try {
    writeFileSync(file, JSON.stringify(snapshot, undefined, 2));
  } catch (error) {
    throw new Error(`--objects ${file} can't be written: ${(error as Error).message}`);
  }
}
