import { spawn, spawnSync } from "node:child_process";
import { Problem } from "./problem.mjs";

/**
 * Runs a program to its end and answers `{ exitCode, output }`; `output` is empty unless `capture` is set.
 * Ctrl-C reaches the program by itself (the terminal sends it to the whole group), so here it only waits: `finally` blocks of the
 * callers run, and then the script ends with 130. `onOutput` sees captured text as it comes. An aborted `signal` asks the program to
 * end, as Ctrl-C would.
 * @param {string} program
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions & { capture?: boolean, onOutput?: (text: string) => void }} [options]
 */
export async function run(program, args, { capture = false, onOutput, signal, ...options } = {}) {
  if (signal?.aborted) throw stopped();
  const child = spawn(program, args, {
    stdio: capture ? ["ignore", "pipe", "pipe"] : "inherit",
    windowsHide: true,
    ...options,
  });
  let output = "";
  const collect = (text) => {
    output += text;
    onOutput?.(text);
  };
  child.stdout?.setEncoding("utf8").on("data", collect);
  child.stderr?.setEncoding("utf8").on("data", collect);

  let interrupted = false;
  const onInterrupt = () => {
    interrupted = true;
  };
  const onTerminate = () => {
    interrupted = true;
    child.kill("SIGTERM");
  };
  const onAbort = () => child.kill("SIGINT");
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate);
  signal?.addEventListener("abort", onAbort);
  try {
    const exitCode = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? 1));
    });
    // A script of ours that was interrupted has said so itself.
    if (interrupted) throw new Problem(exitCode === 130 ? "" : "Interrupted.", { exitCode: 130 });
    if (signal?.aborted) throw stopped();
    return { exitCode, output };
  } finally {
    signal?.removeEventListener("abort", onAbort);
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
  }
}

const stopped = () => new Problem("Stopped, since another part of this command failed.");

/**
 * Runs jobs side by side to their ends. When one fails, `controller` tells the others to stop, and what is thrown in the end is the
 * first failure.
 */
export async function together(controller, jobs) {
  const failures = [];
  const guard = async (job) => {
    try {
      await job();
    } catch (error) {
      failures.push(error);
      controller.abort();
    }
  };
  await Promise.all(jobs.map(guard));
  if (failures.length > 0) throw failures[0];
}

/** What a short-lived program prints, or undefined when it is missing, fails, or takes longer than 20 seconds. */
export function ask(program, args, options = {}) {
  const { status, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: 20_000,
    windowsHide: true,
    ...options,
  });
  return status === 0 ? stdout.trim() : undefined;
}
