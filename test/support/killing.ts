/**
 * Runs of Pulumi that are killed, with or without the processes that they started.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunResult, TestStack } from "./stack.js";

/** `tree`: every process of the run at once, as when a machine dies. `engine`: only Pulumi's own; its plugins go on. */
export type Victims = "tree" | "engine";

/**
 * The processes that get a signal: Pulumi's own; or also those of its group, as from a terminal; or all that it started,
 * plugins included, as from a service manager.
 */
export type Target = "process" | "group" | "tree";

/** What a run needs of its stack. */
type Startable = Pick<TestStack, "programFolder" | "environment">;

/** Resolves once each of these faults of the sandbox has met a request. */
export async function struck(
  ...faults: readonly { readonly hits: number }[]
): Promise<void> {
  while (faults.some(({ hits }) => hits === 0)) await sleep(10);
}

/**
 * Starts `pulumi up` and kills it without warning when `when` resolves.
 * @returns whether it was killed before it ended by itself.
 */
export async function upAndKill(
  stack: Startable,
  when: Promise<unknown>,
  victims: Victims,
  args: readonly string[] = [],
): Promise<boolean> {
  const { pid, ended } = startUp(stack, args);
  if (await Promise.race([ended.then(() => true), when.then(() => false)])) return false;
  for (const victim of victims === "engine" ? [pid] : [pid, ...sessionOf(pid)])
    kill(victim);
  await ended;
  return true;
}

/** Starts `pulumi up` and sends it each signal at its moment. */
export async function upAndSignal(
  stack: TestStack,
  signals: readonly { readonly when: Promise<unknown>; readonly signal: NodeJS.Signals }[],
  target: Target,
): Promise<RunResult> {
  const { pid, ended } = startUp(stack);
  for (const { when, signal } of signals) {
    await Promise.race([when, ended]);
    const others = target === "tree" ? sessionOf(pid) : [];
    for (const each of new Set([target === "group" ? -pid : pid, ...others]))
      kill(each, signal);
  }
  return ended;
}

/**
 * Starts `pulumi up` and pauses all of it when `when` resolves, as Ctrl-Z or a suspended machine do.
 * @returns a function that lets it go on to its end.
 */
export async function upAndStop(
  stack: TestStack,
  when: Promise<unknown>,
): Promise<() => Promise<RunResult>> {
  const { pid, ended } = startUp(stack);
  await Promise.race([when, ended]);
  const stopped = [pid, ...sessionOf(pid)];
  for (const member of stopped) kill(member, "SIGSTOP");
  return () => {
    for (const member of stopped) kill(member, "SIGCONT");
    return ended;
  };
}

/** Starts `pulumi up` and kills only the provider process. */
export async function upAndKillProvider(
  stack: TestStack,
  when: Promise<unknown>,
): Promise<RunResult> {
  const { pid, ended } = startUp(stack);
  await Promise.race([when, ended]);
  const providers = sessionOf(pid).filter((member) =>
    commandOf(member).includes("dynamic-provider"),
  );
  if (providers.length === 0) throw new Error("no provider process was found");
  for (const provider of providers) kill(provider);
  return ended;
}

function startUp(
  stack: Startable,
  args: readonly string[] = [],
): { readonly pid: number; readonly ended: Promise<RunResult> } {
  const child = spawn(
    "pulumi",
    ["up", "--yes", "--skip-preview", "--non-interactive", ...args],
    {
      cwd: stack.programFolder,
      env: stack.environment,
      detached: true, // a session of its own, so that all that it starts can be found
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  // Not "close", because processes that a killed engine leaves behind keep the pipes open.
  const ended = new Promise<RunResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve({ code, output }));
  });
  return { pid: child.pid ?? 0, ended };
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it has ended meanwhile
  }
}

/** Every process of the session that `leader` leads (Linux). */
function sessionOf(leader: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // The fields after the name in parentheses: state, parent, group, session.
        const status = readFileSync(`/proc/${pid}/stat`, "utf8");
        return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[3]) === leader;
      } catch {
        return false; // it has ended meanwhile
      }
    });
}

function kill(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
