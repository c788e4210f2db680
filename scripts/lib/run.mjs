import { spawn, spawnSync } from "node:child_process";
import { Problem } from "./problem.mjs";

/**
 * Runs a program to its end and answers `{ exitCode, output }`; `output` is empty unless `capture` is set.
 * Ctrl-C reaches the program by itself (the terminal sends it to the whole group), so here it only waits: `finally` blocks of the
 * callers run, and then the script ends with 130. `onOutput` sees captured text as it comes.
 */
export async function run(program, args, { capture = false, onOutput, ...options } = {}) {
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
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate);
  try {
    const exitCode = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? 1));
    });
    // A script of ours that was interrupted has said so itself.
    if (interrupted) throw new Problem(exitCode === 130 ? "" : "Interrupted.", { exitCode: 130 });
    return { exitCode, output };
  } finally {
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
  }
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
